//! Every limit at its edge and one above.

use std::io::Write as _;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt as _;
use understudy::pb;
use understudy::service::config::Config;

use crate::harness::{ask, channel, config, connect, end, metric, reason, run, serve, until};
use crate::raw::{DECIDE, Raw, frame, framed, reply};

#[test]
fn calls_in_flight_are_counted_before_the_body() {
    let server = serve(Config { max_in_flight: 3, ..config() });
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        let body = framed(&ask("easy"));
        let mut open = Vec::new();
        for _ in 0..3 {
            open.push(raw.open(DECIDE, &[]).await);
        }
        while server.metrics().in_flight.get() < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // Refused though its body never comes.
        let (response, _stream) = raw.open(DECIDE, &[]).await;
        let status = reply(response).await.status.expect("a status");
        assert_eq!(reason(&status), (Code::ResourceExhausted, "IN_FLIGHT".to_owned()));
        assert!(status.get_details_retry_info().is_some());
        // Health has places of its own.
        let health = frame(0, b"");
        let checked = raw.call("/grpc.health.v1.Health/Check", &[], &health).await;
        assert_eq!(checked.status.expect("a status").code(), Code::Ok);
        for (response, mut stream) in open {
            stream.send_data(body.clone().into(), true).expect("sent");
            assert_eq!(reply(response).await.status.expect("a status").code(), Code::Ok);
        }
        assert_eq!(raw.call(DECIDE, &[], &body).await.status.expect("a status").code(), Code::Ok);
    });
    end(server);
}

#[test]
fn half_received_bytes_are_limited_process_wide() {
    let server = serve(Config { max_request_bytes: 64 << 10, max_receive_bytes: 100 << 10, ..config() });
    run(async {
        let mut one = Raw::connect(server.address()).await;
        let mut two = Raw::connect(server.address()).await;
        let half = frame(0, &vec![0; 60 << 10])[..50 << 10].to_vec();
        let (_first, mut stream) = one.open(DECIDE, &[]).await;
        stream.send_data(half.clone().into(), false).expect("sent");
        while server.metrics().receive_bytes.get() < 50 << 10 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let (second, mut stream) = two.open(DECIDE, &[]).await;
        stream.send_data([&half[..], &[0; 4 << 10]].concat().into(), false).expect("sent");
        let status = reply(second).await.status.expect("a status");
        assert_eq!(reason(&status), (Code::ResourceExhausted, "RECEIVE_MEMORY".to_owned()), "the newest is refused");
        assert!(status.get_details_retry_info().is_some());
        let good = two.call(DECIDE, &[], &framed(&ask("easy"))).await;
        assert_eq!(good.status.expect("a status").code(), Code::Ok);
        one.connection.abort();
    });
    assert!(until(Duration::from_secs(2), || server.metrics().receive_bytes.get() == 0).is_some());
    end(server);
}

#[test]
fn a_body_that_does_not_come_ends_its_call() {
    let server = serve(Config { body_timeout: Duration::from_millis(60), ..config() });
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        let (response, mut stream) = raw.open(DECIDE, &[]).await;
        stream.send_data(vec![0, 0].into(), false).expect("sent");
        let status = reply(response).await.status.expect("a status");
        assert_eq!(reason(&status), (Code::DeadlineExceeded, "DEADLINE".to_owned()));
        assert_eq!(crate::harness::metadata(&status, "stage"), "receive");
    });
    end(server);
}

#[test]
fn replies_nobody_takes_are_limited_and_reset() {
    let config = Config { max_send_bytes: 1, stall_timeout: Duration::from_millis(800), ..config() };
    let server = serve(config);
    run(async {
        // A peer that gives a stream no window takes nothing.
        let tcp = TcpStream::connect(server.address()).await.expect("the server accepts");
        let (mut send, connection) =
            h2::client::Builder::new().initial_window_size(0).handshake::<_, bytes::Bytes>(tcp).await.expect("HTTP/2");
        tokio::spawn(connection);
        let request = http::Request::post(format!("http://test{DECIDE}")).header("content-type", "application/grpc");
        send = send.ready().await.expect("open");
        let (response, mut stream) = send.send_request(request.body(()).expect("a request"), false).expect("a stream");
        stream.send_data(framed(&ask("easy")).into(), true).expect("sent");
        let response = response.await.expect("headers");
        assert!(response.headers().get("grpc-status").is_none(), "{response:?}");
        let mut body = response.into_body();
        assert!(server.metrics().send_bytes.get() > 100, "counted until it is taken");
        let mut good = connect(&server).await;
        let status = good.decide(ask("easy")).await.expect_err("no room for another reply");
        assert_eq!(reason(&status), (Code::ResourceExhausted, "SEND_MEMORY".to_owned()));
        assert!(status.get_details_retry_info().is_some());
        // It takes nothing for too long: its stream is reset, and there is room again.
        let ended = tokio::time::timeout(Duration::from_secs(3), body.data()).await.expect("the stream ends");
        assert!(matches!(ended, None | Some(Err(_))), "{ended:?}");
        while server.metrics().send_bytes.get() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        good.decide(ask("easy")).await.expect("there is room again");
    });
    assert!(until(Duration::from_secs(1), || server.metrics().in_flight.get() == 0).is_some());
    end(server);
}

#[test]
fn a_peer_that_takes_nothing_is_refused_before_the_others_are() {
    let server = serve(Config { max_send_bytes: 40_000, ..config() });
    run(async {
        let tcp = TcpStream::connect(server.address()).await.expect("the server accepts");
        let (mut send, connection) =
            h2::client::Builder::new().initial_window_size(0).handshake::<_, bytes::Bytes>(tcp).await.expect("HTTP/2");
        tokio::spawn(connection);
        let mut good = connect(&server).await;
        let mut held = Vec::new();
        let refused = loop {
            let request =
                http::Request::post(format!("http://test{DECIDE}")).header("content-type", "application/grpc");
            send = send.ready().await.expect("open");
            let sent = send.send_request(request.body(()).expect("a request"), false);
            let (response, mut stream) = sent.expect("a stream");
            stream.send_data(framed(&ask("easy")).into(), true).expect("sent");
            let response = response.await.expect("headers");
            if let Some(status) = response.headers().get("grpc-status") {
                break status.clone();
            }
            held.push(response);
            good.decide(ask("easy")).await.expect("the others are served");
        };
        assert_eq!(refused, "8");
        let untaken = server.metrics().send_bytes.get();
        assert!((10_000..20_000).contains(&untaken), "{untaken} bytes: a quarter, and one reply more");
        good.decide(ask("easy")).await.expect("the others are served");
    });
    end(server);
}

#[test]
fn watches_leave_room_for_checks() {
    let server = serve(Config { max_in_flight: 8, ..config() });
    run(async {
        let mut health = HealthClient::new(channel(&server).await);
        let mut watches = Vec::new();
        while let Ok(watch) = health.watch(HealthCheckRequest::default()).await {
            watches.push(watch);
        }
        assert_eq!(watches.len(), 8);
        let status = health.check(HealthCheckRequest::default()).await.expect("an answer").into_inner().status();
        assert_eq!(status, ServingStatus::Serving);
    });
    end(server);
}

#[test]
fn gzip_only_where_it_is_wanted_and_never_above_the_limit() {
    let server = serve(Config { gzip: true, max_request_bytes: 4096, ..config() });
    let packed = |plain: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(plain).expect("packed");
        frame(1, &encoder.finish().expect("packed"))
    };
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        let gzip = [("grpc-encoding", "gzip"), ("grpc-accept-encoding", "gzip")];
        let message = prost::Message::encode_to_vec(&ask("easy"));
        let answer = raw.call(DECIDE, &gzip, &packed(&message)).await;
        assert_eq!(answer.status.expect("a status").code(), Code::Ok);
        assert_eq!(answer.data[0], 1, "the reply is packed");
        let bomb = raw.call(DECIDE, &gzip, &packed(&vec![0; 1 << 20])).await.status.expect("a status");
        assert_eq!(reason(&bomb), (Code::ResourceExhausted, "REQUEST_TOO_LARGE".to_owned()));
        let other = raw.call(DECIDE, &[("grpc-encoding", "br")], &packed(&message)).await.status.expect("a status");
        assert_eq!(other.code(), Code::Unimplemented);
    });
    end(server);
}

#[test]
fn streams_and_connections_have_their_limits() {
    let server = serve(Config { max_streams: 10, max_connections: 2, ..config() });
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        // The settings have to arrive first.
        raw.call(DECIDE, &[], &framed(&ask("easy"))).await;
        let mut open = Vec::new();
        for _ in 0..10 {
            open.push(raw.open(DECIDE, &[]).await);
        }
        // The eleventh waits in the client: the server has told it how many there may be.
        let _eleventh = raw.open(DECIDE, &[]).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(server.metrics().in_flight.get(), 10);
        let _second = Raw::connect(server.address()).await;
        let mut third = TcpStream::connect(server.address()).await.expect("accepted");
        let mut byte = [0];
        let read = tokio::time::timeout(Duration::from_secs(2), third.read(&mut byte)).await.expect("closed at once");
        assert!(matches!(read, Ok(0) | Err(_)));
    });
    let refused = || metric(&server, "understudy_connections_total{end=\"refused\"}") == 1.0;
    assert!(until(Duration::from_secs(1), refused).is_some());
    assert!(until(Duration::from_secs(2), || server.metrics().connections.get() == 0).is_some());
    end(server);
}

#[test]
fn honest_resets_do_not_cost_the_connection() {
    let server = serve(config());
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        for n in 0..1500 {
            let (response, mut stream) = raw.open(DECIDE, &[]).await;
            stream.send_reset(h2::Reason::CANCEL);
            drop(response);
            if n % 100 == 99 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        let status = raw.call(DECIDE, &[], &framed(&ask("easy"))).await.status.expect("a status");
        assert_eq!(status.code(), Code::Ok, "1,500 opened and reset, and the connection lives");
    });
    end(server);
}

#[test]
fn who_says_nothing_or_nonsense_is_shown_the_door() {
    let server = serve(Config { handshake_timeout: Duration::from_millis(80), ..config() });
    run(async {
        let mut silent = TcpStream::connect(server.address()).await.expect("accepted");
        let mut byte = [0];
        let read = tokio::time::timeout(Duration::from_secs(2), silent.read(&mut byte)).await.expect("closed");
        assert!(matches!(read, Ok(0) | Err(_)));
        let mut browser = TcpStream::connect(server.address()).await.expect("accepted");
        browser.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").await.expect("sent");
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(2), browser.read_to_end(&mut rest)).await.expect("closed");
        assert!(rest.is_empty());
    });
    for how in ["idle", "hostile"] {
        let ended = || metric(&server, &format!("understudy_connections_total{{end=\"{how}\"}}")) == 1.0;
        assert!(until(Duration::from_secs(1), ended).is_some(), "{how}");
    }
    end(server);
}

#[test]
fn old_connections_are_told_to_go_and_their_calls_finish() {
    let server = serve(Config { max_connection_age: Some(Duration::from_millis(150)), ..config() });
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        let long = pb::DecideRequest {
            budget: Some(pb::Budget { max_time_us: Some(400_000), ..Default::default() }),
            ..ask("spin")
        };
        let status = raw.call(DECIDE, &[], &framed(&long)).await.status.expect("a status");
        assert_eq!(status.code(), Code::Ok, "in flight when the GOAWAY came");
        let closed = tokio::time::timeout(Duration::from_secs(2), raw.connection).await.expect("the connection ends");
        assert!(closed.expect("a task").is_ok(), "a clean end");
    });
    assert!(
        until(Duration::from_secs(1), || metric(&server, "understudy_connections_total{end=\"age\"}") == 1.0).is_some()
    );
    end(server);
}

#[test]
fn a_peer_that_does_not_answer_pings_is_let_go() {
    let server = serve(Config {
        keepalive_interval: Duration::from_millis(50),
        keepalive_timeout: Duration::from_millis(50),
        ..config()
    });
    run(async {
        let mut dead = TcpStream::connect(server.address()).await.expect("accepted");
        dead.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.expect("sent");
        let gone =
            until(Duration::from_secs(3), || metric(&server, "understudy_connections_total{end=\"idle\"}") == 1.0);
        assert!(gone.is_some(), "{}", server.metrics().text());
    });
    end(server);
}
