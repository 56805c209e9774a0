//! The server as seen from outside: metrics with closed labels, counts that agree with the client's, health,
//! reflection, the admin port, records.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_stream::StreamExt as _;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use understudy::pb;
use understudy::service::Server;
use understudy::service::config::Config;

use crate::harness::{ask, channel, config, connect, end, metric, run, serve, until, view};
use crate::raw::{Raw, framed};

/// One plain HTTP request to the admin port: status and body.
async fn get(server: &Server, path: &str) -> (u16, String) {
    let address = server.admin_address().expect("an admin port");
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("accepted");
    let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("read");
    let (head, body) = text.split_once("\r\n\r\n").expect("a response");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, body.to_owned())
}

fn series(server: &Server) -> Vec<String> {
    let text = server.metrics().text();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.rsplit_once(' ').map(|(name, _)| name.to_owned())).collect()
}

#[test]
fn invented_names_make_no_new_series() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        client.decide(ask("easy")).await.expect("a decision");
        let before = series(&server);
        assert!(before.len() < 3000, "{} series", before.len());
        let mut raw = Raw::connect(server.address()).await;
        for n in 0..5000 {
            let reply = raw.call(&format!("/understudy.v1.BotService/Method{n}"), &[], b"").await;
            assert_eq!(reply.status.expect("a status").code(), Code::Unimplemented);
        }
        let body = |n: i32| framed(&ask(&format!("policy{n}")));
        for n in 0..5000 {
            let reply = raw.call(crate::raw::DECIDE, &[], &body(n)).await;
            assert_eq!(reply.status.expect("a status").code(), Code::NotFound);
        }
        assert_eq!(series(&server), before);
        assert_eq!(metric(&server, "understudy_rpc_total{code=\"UNIMPLEMENTED\",method=\"other\"}"), 5000.0);
        assert_eq!(
            metric(&server, "understudy_decide_duration_seconds_count{game=\"lexio\",policy=\"unknown\"}"),
            5000.0
        );
    });
    end(server);
}

#[test]
fn the_age_of_the_queue_is_that_of_its_oldest_job() {
    let server = serve(config());
    run(async {
        let age = async |class: &str| -> f64 {
            let (_, text) = get(&server, "/metrics").await;
            let name = format!("understudy_queue_age_seconds{{priority=\"{class}\"}} ");
            text.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok()).expect("a series")
        };
        assert_eq!((age("interactive").await, age("bulk").await), (0.0, 0.0));
        let client = connect(&server).await;
        let mut calls = Vec::new();
        for n in 1..=4 {
            let budget = Some(pb::Budget { max_time_us: Some(1_000_000), ..Default::default() });
            let mut client = client.clone();
            calls.push(tokio::spawn(async move { client.decide(pb::DecideRequest { budget, ..ask("spin") }).await }));
            while metric(&server, "understudy_jobs_admitted_total") < f64::from(n) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        // Two workers have two of them; the others wait.
        let first = age("interactive").await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        let second = age("interactive").await;
        assert!(second >= first + 0.2 && second < 1.1, "{first} then {second}");
        assert_eq!(age("bulk").await, 0.0);
        for call in calls {
            call.await.expect("a task").expect("a decision");
        }
        assert_eq!(age("interactive").await, 0.0);
    });
    end(server);
}

#[test]
fn what_the_client_counts_is_what_we_count() {
    let server = serve(config());
    let mut counted: BTreeMap<&str, u32> = BTreeMap::new();
    run(async {
        let mut client = connect(&server).await;
        let mut raw = Raw::connect(server.address()).await;
        for n in 0..1000 {
            let request = match n % 8 {
                4 => ask("nobody"),
                5 => pb::DecideRequest::default(),
                6 if n % 64 == 6 => ask("panic"),
                _ => ask("easy"),
            };
            let code = if n % 8 == 7 {
                // A client library would tell itself CANCELLED before the server has answered.
                let reply = raw.call(crate::raw::DECIDE, &[("grpc-timeout", "1n")], &framed(&request)).await;
                reply.status.expect("a status").code()
            } else {
                client.decide(request).await.map_or_else(|status| status.code(), |_| Code::Ok)
            };
            *counted.entry(understudy::service::metrics::code_name(code)).or_default() += 1;
        }
        for _ in 0..20 {
            let long = pb::DecideRequest { budget: None, ..ask("spin") };
            let mut client = client.clone();
            let call = tokio::spawn(async move { client.decide(long).await });
            while server.metrics().workers_busy.get() == 0 {
                tokio::time::sleep(Duration::from_micros(300)).await;
            }
            call.abort();
            let _ = call.await;
            while server.metrics().workers_busy.get() > 0 {
                tokio::time::sleep(Duration::from_micros(300)).await;
            }
            *counted.entry("CANCELLED").or_default() += 1;
        }
    });
    assert!(counted.len() >= 5, "{counted:?}");
    for (code, count) in &counted {
        let name = format!("understudy_rpc_total{{code=\"{code}\",method=\"Decide\"}}");
        let same = until(Duration::from_secs(1), || metric(&server, &name) == f64::from(*count));
        assert!(same.is_some(), "{name}: {} here, {count} at the client", metric(&server, &name));
    }
    let calls: u32 = counted.values().sum();
    assert_eq!(calls, 1020);
    end(server);
}

#[test]
fn decisions_and_moves_are_counted_by_kind() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        for _ in 0..10 {
            client.decide(ask("easy")).await.expect("a decision");
        }
    });
    let text = server.metrics().text();
    let sum = |prefix: &str| -> f64 {
        let lines = text.lines().filter(|line| line.starts_with(prefix) && line.contains("policy=\"easy\""));
        lines.filter_map(|line| line.rsplit_once(' ')).filter_map(|(_, n)| n.parse::<f64>().ok()).sum()
    };
    assert_eq!(sum("understudy_moves_total{game=\"lexio\""), 10.0);
    assert_eq!(sum("understudy_decisions_total{completion=\"FULL\",game=\"lexio\""), 10.0);
    assert!(text.contains("understudy_rpc_duration_seconds_bucket{method=\"Decide\",outcome=\"ok\",le=\"0.00005\"}"));
    assert!(text.contains("understudy_think_duration_seconds_bucket{game=\"lexio\",policy=\"easy\",le=\"0.000005\"}"));
    assert!(text.contains("process_resident_memory_bytes"));
    end(server);
}

#[test]
fn health_follows_the_life_of_the_server() {
    let server = serve(Config { drain_delay: Duration::from_millis(300), ..config() });
    run(async {
        let mut health = HealthClient::new(channel(&server).await);
        let names = ["", "understudy.v1.BotService", "understudy.apple.v1.BoardService"];
        for name in names {
            let request = HealthCheckRequest { service: name.to_owned() };
            let status = health.check(request).await.expect("an answer").into_inner().status();
            assert_eq!(status, ServingStatus::Serving, "{name:?}");
        }
        let request = HealthCheckRequest { service: "chess".to_owned() };
        assert_eq!(health.check(request).await.expect_err("unknown").code(), Code::NotFound);

        let address = format!("http://{}", server.admin_address().expect("an admin port"));
        let endpoint = tonic::transport::Endpoint::from_shared(address).expect("an address");
        let mut admin = HealthClient::new(endpoint.connect().await.expect("the admin port speaks HTTP/2"));
        let status = admin.check(HealthCheckRequest::default()).await.expect("an answer").into_inner().status();
        assert_eq!(status, ServingStatus::Serving);
        assert_eq!(get(&server, "/readyz").await.0, 200);
        assert_eq!(get(&server, "/livez").await.0, 200);
        for unknown in ["/", "/healthz", "/livez/", "/metrics/", "/chess.Health/Check"] {
            assert_eq!(get(&server, unknown).await.0, 404, "{unknown}: a mistyped probe is not green");
        }

        let mut watch = health.watch(HealthCheckRequest::default()).await.expect("a watch").into_inner();
        let heard = watch.next().await.expect("a message").expect("a status").status();
        assert_eq!(heard, ServingStatus::Serving);
        server.drain();
        let heard = watch.next().await.expect("a message").expect("a status").status();
        assert_eq!(heard, ServingStatus::NotServing, "watchers hear it");
        assert_eq!(get(&server, "/readyz").await.0, 503);
        assert_eq!(get(&server, "/livez").await.0, 200);
        let mut client = connect(&server).await;
        client.decide(ask("easy")).await.expect("it serves on while balancers look away");
        let ended = watch.next().await.expect("an end").expect_err("closed");
        assert_eq!(ended.code(), Code::Unavailable);
    });
    assert_eq!(server.join().cut_off, 0);
}

#[test]
fn reflection_lists_what_is_public() {
    let server = serve(config());
    run(async {
        let channel = channel(&server).await;
        let ask = |request| {
            tokio_stream::once(ServerReflectionRequest { host: String::new(), message_request: Some(request) })
        };
        let mut client = ServerReflectionClient::new(channel);
        let list = ask(MessageRequest::ListServices(String::new()));
        let mut replies = client.server_reflection_info(list).await.expect("a stream").into_inner();
        let reply = replies.next().await.expect("a reply").expect("a reply").message_response;
        let Some(MessageResponse::ListServicesResponse(list)) = reply else { panic!("{reply:?}") };
        let names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
        for name in ["understudy.v1.BotService", "grpc.health.v1.Health"] {
            assert!(names.contains(&name.to_owned()), "{names:?}");
        }
        let file = ask(MessageRequest::FileContainingSymbol("understudy.v1.DecideRequest".to_owned()));
        let mut replies = client.server_reflection_info(file).await.expect("a stream").into_inner();
        let reply = replies.next().await.expect("a reply").expect("a reply").message_response;
        assert!(matches!(reply, Some(MessageResponse::FileDescriptorResponse(_))));
    });
    end(server);
    let server = serve(Config { reflection: false, ..config() });
    run(async {
        let mut client = ServerReflectionClient::new(channel(&server).await);
        let request = ServerReflectionRequest { host: String::new(), message_request: None };
        let status = client.server_reflection_info(tokio_stream::once(request)).await.expect_err("off");
        assert_eq!(status.code(), Code::Unimplemented);
    });
    end(server);
}

#[test]
fn the_admin_port_tells_about_the_server() {
    let server = serve(config());
    run(async {
        let (status, text) = get(&server, "/info").await;
        let info: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(status, 200);
        assert_eq!(info["server"]["state"], "SERVER_STATE_SERVING");
        assert!(info["policies"].as_array().is_some_and(|policies| policies.iter().any(|p| p["name"] == "hard")));
        let (status, text) = get(&server, "/metrics").await;
        assert_eq!(status, 200);
        assert!(text.contains("understudy_build_info"));
    });
    end(server);
}

#[test]
fn a_recorded_call_can_be_made_again() {
    let directory = std::env::temp_dir().join(format!("understudy-record-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let file = directory.join("calls.jsonl");
    let server = serve(Config { record: Some(file.clone()), record_share: 1.0, ..config() });
    run(async {
        let mut client = connect(&server).await;
        for policy in ["easy", "hard"] {
            let request =
                pb::DecideRequest { view: Some(view("lexio")), policy: policy.to_owned(), ..Default::default() };
            client.decide(request).await.expect("a decision");
        }
        client.decide(ask("nobody")).await.expect_err("not recorded");
    });
    end(server);
    assert_eq!(lines(&file).len(), 2, "what was answered is written before the server has ended");
    for line in lines(&file) {
        let pair: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert!(pair["request"]["view"]["lexio"].is_object());
        assert!(!pair["reply"]["moveKey"].as_str().expect("a key").is_empty());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    std::fs::remove_dir_all(&directory).expect("removed");
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_full_disk_does_not_take_is_counted() {
    let server = serve(Config { record: Some("/dev/full".into()), record_share: 1.0, ..config() });
    run(async {
        let mut client = connect(&server).await;
        for _ in 0..50 {
            client.decide(ask("easy")).await.expect("a decision");
        }
    });
    let counted = || metric(&server, "understudy_record_dropped_total") == 50.0;
    assert!(until(Duration::from_secs(5), counted).is_some(), "every line, not only those that found no room");
    end(server);
}

/// The lines that are there whole; the writer may be in the middle of the next one.
fn lines(file: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect()
}
