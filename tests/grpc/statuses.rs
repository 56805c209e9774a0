//! Every row of the table of statuses, over a real connection, with its details decoded.

use std::time::{Duration, Instant};

use tonic::{Code, Request};
use tonic_types::StatusExt as _;
use understudy::pb;
use understudy::service::assemble;

use crate::harness::{ask, config, connect, end, metadata, metric, reason, run, serve, until, view, within};
use crate::raw::{DECIDE, Raw, frame, framed};
use crate::{drill, harness};

#[test]
fn a_sound_request_is_answered() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let mut request = Request::new(ask("easy"));
        request.metadata_mut().insert("x-request-id", "from-header".parse().expect("ascii"));
        let response = client.decide(request).await.expect("a decision");
        let headers = response.metadata().clone();
        let reply = response.into_inner();
        assert_eq!(reply.request_id, "from-header");
        assert_eq!(headers.get("x-request-id").expect("echoed"), "from-header");
        let effective = reply.effective.expect("effective");
        assert_eq!(headers.get("x-understudy-policy").expect("named"), effective.policy.as_str());
        assert!(headers.get("server-timing").expect("timed").to_str().is_ok_and(|t| t.starts_with("queue;dur=")));
        assert!(!reply.candidates.is_empty() && reply.candidates.len() <= 5);
        assert_eq!(reply.candidates[0].rank, 1);
        assert_eq!(reply.candidates[0].key, reply.move_key);
        assert_eq!(format!("{:016x}", effective.seed), reply.view_hash, "no seed: derived from the view");

        let own = pb::DecideRequest { request_id: "field".to_owned(), ..ask("easy") };
        let mut request = Request::new(own);
        request.metadata_mut().insert("x-request-id", "header".parse().expect("ascii"));
        let response = client.decide(request).await.expect("a decision");
        assert_eq!(response.metadata().get("x-request-id").expect("echoed"), "field", "the field wins");
    });
    end(server);
}

#[test]
fn bad_requests_name_every_field() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let request = pb::DecideRequest {
            request_id: "two words".to_owned(),
            budget: Some(pb::Budget { max_nodes: Some(0), max_time_us: Some(10_000_001), ..Default::default() }),
            detail: 77,
            priority: 9,
            ..Default::default()
        };
        let status = client.decide(request).await.expect_err("refused");
        assert_eq!(reason(&status), (Code::InvalidArgument, "REQUEST_INVALID".to_owned()));
        let bad = status.get_details_bad_request().expect("a bad request");
        let fields: Vec<_> = bad.field_violations.iter().map(|violation| violation.field.as_str()).collect();
        for field in ["request_id", "view", "policy", "detail", "priority", "budget.max_nodes", "budget.max_time_us"] {
            assert!(fields.contains(&field), "{field} is missing in {fields:?}");
        }

        let mut broken = view("lexio");
        if let Some(pb::view::Game::Lexio(lexio)) = &mut broken.game {
            lexio.hand = vec![61; 40];
            lexio.ruleset = None;
        }
        let request = pb::DecideRequest { view: Some(broken), policy: "easy".to_owned(), ..Default::default() };
        let status = client.decide(request).await.expect_err("refused");
        assert_eq!(reason(&status), (Code::InvalidArgument, "VIEW_INVALID".to_owned()));
        let bad = status.get_details_bad_request().expect("a bad request");
        assert_eq!(bad.field_violations.len(), 16, "the first sixteen");
        assert!(status.message().contains(" more"), "{}", status.message());
        assert!(bad.field_violations.iter().all(|violation| violation.field.starts_with("view.lexio")));
        assert!(metric(&server, "understudy_view_violations_total{game=\"lexio\"}") >= 17.0);
    });
    end(server);
}

#[test]
fn a_view_of_bad_walls_is_counted_to_the_last_and_told_by_the_first() {
    const WALLS: usize = 130_000;
    let server = serve(config());
    run(async {
        let mut wrong = view("wallgo");
        let Some(pb::view::Game::Wallgo(message)) = &mut wrong.game else { panic!("a view of Wall Go") };
        message.compact = None;
        message.east_walls = vec![pb::wallgo::Cell::default(); WALLS];
        message.south_walls.clear();
        let mut client = connect(&server).await;
        let request = pb::DecideRequest { view: Some(wrong), ..ask("easy") };
        let status = client.decide(request).await.expect_err("refused");
        assert_eq!(reason(&status), (Code::InvalidArgument, "VIEW_INVALID".to_owned()));
        let counted = metric(&server, "understudy_view_violations_total{game=\"wallgo\"}") as usize;
        assert!(counted >= WALLS - 1, "{counted}: all but the first stand there already");
        assert!(status.message().starts_with(&format!("{counted} problems in the view: ")), "{}", status.message());
        assert!(status.message().ends_with(&format!("; and {} more", counted - 16)), "{}", status.message());
        assert_eq!(status.get_details_bad_request().expect("a bad request").field_violations.len(), 16);
    });
    end(server);
}

#[test]
fn what_is_no_message_is_undecodable() {
    let server = serve(config());
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        let good = framed(&ask("easy"));
        let two = [good.clone(), good.clone()].concat();
        let bodies: [&[u8]; 7] = [
            b"",
            &good[..3],
            &good[..good.len() - 1],
            &frame(0, b"\xff\xff\xff\xff"),
            &frame(1, &good[5..]),
            &two,
            &frame(0, b"\x0a\x05\xff\xfe\xfd\xfc\xfb"),
        ];
        for body in bodies {
            let status = raw.call(DECIDE, &[], body).await.status.expect("a status");
            assert_eq!(reason(&status), (Code::InvalidArgument, "UNDECODABLE".to_owned()), "{body:?}");
        }
        let status = raw.call(DECIDE, &[], &good).await.status.expect("a status");
        assert_eq!(status.code(), Code::Ok, "the connection lives on");
    });
    assert_eq!(metric(&server, "understudy_rejected_total{reason=\"UNDECODABLE\"}"), 7.0);
    end(server);
}

#[test]
fn malformed_timeouts_are_refused_with_their_text() {
    let server = serve(config());
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        let body = framed(&ask("easy"));
        for text in ["50ms", "+5m", "123456789m", "", "5", "m", "5x"] {
            let reply = raw.call(DECIDE, &[("grpc-timeout", text)], &body).await;
            let status = reply.status.expect("a status");
            assert_eq!(reason(&status), (Code::InvalidArgument, "TIMEOUT_MALFORMED".to_owned()), "{text:?}");
            assert_eq!(metadata(&status, "received"), text);
        }
        let long = "9".repeat(500);
        let status = raw.call(DECIDE, &[("grpc-timeout", &long)], &body).await.status.expect("a status");
        assert_eq!(metadata(&status, "received").len(), 32);
        let twice = [("grpc-timeout", "5S"), ("grpc-timeout", "5S")];
        let status = raw.call(DECIDE, &twice, &body).await.status.expect("a status");
        assert_eq!(reason(&status).1, "TIMEOUT_MALFORMED");
        let status = raw.call(DECIDE, &[("grpc-timeout", "5S")], &body).await.status.expect("a status");
        assert_eq!(status.code(), Code::Ok);
    });
    end(server);
}

#[test]
fn unknown_names_are_not_found_with_the_known_ones() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        for name in ["nobody", "easy@99", "easy@", "easy@x"] {
            let status = client.decide(ask(name)).await.expect_err("refused");
            assert_eq!(reason(&status), (Code::NotFound, "POLICY_UNKNOWN".to_owned()), "{name}");
            assert!(metadata(&status, "known").contains("easy@"), "{status:?}");
        }
        let request = pb::ListPoliciesRequest { game: "chess".to_owned() };
        let status = client.list_policies(request).await.expect_err("refused");
        assert_eq!(reason(&status), (Code::NotFound, "POLICY_UNKNOWN".to_owned()));
        assert!(metadata(&status, "known").contains("lexio"));
        let lexio = pb::ListPoliciesRequest { game: "lexio".to_owned() };
        let listed = client.list_policies(lexio).await.expect("a list").into_inner().policies;
        let easy = listed.iter().find(|policy| policy.name == "easy").expect("easy");
        assert!(easy.floor_us >= 1 && easy.start_us >= easy.floor_us);
        let five = listed.iter().find(|policy| policy.name == "five_ms").expect("five_ms");
        assert!(five.floor_us >= 5000 && !five.runs_inline, "{five:?}");
    });
    end(server);
}

#[test]
fn what_only_the_first_decision_costs_refuses_no_deadline() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let listed = client.list_policies(pb::ListPoliciesRequest::default()).await.expect("a list").into_inner();
        let cold = listed.policies.iter().find(|policy| policy.name == "cold").expect("cold");
        assert!(cold.start_us < 50_000, "{cold:?}: it was slow once");
    });
    end(server);
}

#[test]
fn a_finished_board_leaves_nothing_to_decide() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let mut view = view("apple");
        if let Some(pb::view::Game::Apple(apple)) = &mut view.game {
            // Nines alone: no rectangle sums to ten.
            apple.cells.iter_mut().for_each(|cell| *cell = 9);
        }
        let request = pb::DecideRequest { view: Some(view), policy: "easy".to_owned(), ..Default::default() };
        let status = client.decide(request).await.expect_err("refused");
        assert_eq!(reason(&status), (Code::FailedPrecondition, "NOTHING_TO_DECIDE".to_owned()), "{status:?}");
    });
    end(server);
}

#[test]
fn too_large_a_message_is_refused_from_its_prefix() {
    let server = serve(harness::config());
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        let limit = 256 << 10;
        // Five bytes are enough: nothing is allocated, nothing more is read.
        let (response, mut stream) = raw.open(DECIDE, &[]).await;
        let mut prefix = vec![0];
        prefix.extend((limit as u32 + 1).to_be_bytes());
        stream.send_data(prefix.into(), false).expect("sent");
        let status = crate::raw::reply(response).await.status.expect("a status");
        assert_eq!(reason(&status), (Code::ResourceExhausted, "REQUEST_TOO_LARGE".to_owned()));
        assert_eq!(metadata(&status, "limit_bytes"), limit.to_string());
        assert!(status.get_details_retry_info().is_none(), "a retry cannot help");
        let full = raw.call(DECIDE, &[], &frame(0, &vec![0xff; limit])).await.status.expect("a status");
        assert_eq!(reason(&full).1, "UNDECODABLE", "at the limit it is read");
    });
    end(server);
}

#[test]
fn deadlines_name_their_stage() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let mut raw = Raw::connect(server.address()).await;
        let body = framed(&ask("easy"));
        let status = raw.call(DECIDE, &[("grpc-timeout", "0n")], &body).await.status.expect("a status");
        assert_eq!(reason(&status), (Code::DeadlineExceeded, "DEADLINE".to_owned()));
        assert_eq!((metadata(&status, "stage"), metadata(&status, "budget_us")), ("admission".into(), "0".into()));

        // five_ms is known to need five: two are too short to start.
        let status = raw.call(DECIDE, &[("grpc-timeout", "2m")], &framed(&ask("five_ms"))).await.status;
        assert_eq!(metadata(&status.expect("a status"), "stage"), "admission");

        let (response, mut stream) = raw.open(DECIDE, &[("grpc-timeout", "40m")]).await;
        stream.send_data(body[..10].to_vec().into(), false).expect("sent");
        let status = crate::raw::reply(response).await.status.expect("a status");
        assert_eq!(metadata(&status, "stage"), "receive");

        // Usually a millisecond, this time 200: nobody waits past the deadline for it.
        client.decide(ask("moody")).await.expect("a decision");
        let start = Instant::now();
        let request = pb::DecideRequest { seed: Some(13), ..ask("moody") };
        let status = raw.call(DECIDE, &[("grpc-timeout", "60m")], &framed(&request)).await.status.expect("a status");
        assert_eq!(metadata(&status, "stage"), "think");
        assert!(start.elapsed() < Duration::from_millis(150), "{:?}", start.elapsed());
    });
    assert!(until(Duration::from_secs(2), || metric(&server, "understudy_workers_busy") == 0.0).is_some());
    assert_eq!(metric(&server, "understudy_jobs_total{end=\"expired\"}"), 1.0);
    end(server);
}

#[test]
fn whoever_waits_too_long_is_taken_back_in_time() {
    // A wide reserve: the answer must reach a client on a busy machine before the client's own clock runs out.
    let reply_reserve = Duration::from_millis(20);
    let server = serve(understudy::service::config::Config { workers: 1, reply_reserve, ..config() });
    run(async {
        let mut client = connect(&server).await;
        let mut other = client.clone();
        client.decide(ask("moody")).await.expect("a decision");
        let moody = pb::DecideRequest { seed: Some(13), ..ask("moody") };
        let busy = tokio::spawn(async move { other.decide(moody).await });
        tokio::time::sleep(Duration::from_millis(10)).await;
        // The worker is believed to be free in a millisecond, and is not.
        let start = Instant::now();
        let status = client.decide(within(ask("spin"), Duration::from_millis(80))).await.expect_err("too late");
        assert_eq!(reason(&status), (Code::DeadlineExceeded, "DEADLINE".to_owned()));
        assert_eq!(metadata(&status, "stage"), "queue");
        let took = start.elapsed();
        assert!((Duration::from_millis(60)..Duration::from_millis(160)).contains(&took), "{took:?}");
        // The depth-0 table is better than nothing: taken back with an answer.
        let request = pb::DecideRequest { fallback: true, ..ask("spin") };
        let reply = client.decide(within(request, Duration::from_millis(60))).await.expect("an answer").into_inner();
        assert_eq!(reply.completion(), pb::Completion::Fallback);
        assert!(!reply.effective.expect("effective").deterministic);
        busy.await.expect("a task").expect("a decision");
    });
    end(server);
}

#[test]
fn panics_cost_their_own_call_and_nothing_else() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let mut neighbour = client.clone();
        let long = tokio::spawn(async move { neighbour.decide(ask("deaf")).await });
        tokio::time::sleep(Duration::from_millis(20)).await;
        let status = client.decide(ask("panic")).await.expect_err("a bug");
        assert_eq!(reason(&status), (Code::Internal, "BUG".to_owned()));
        assert!(!status.message().contains("drill"), "nothing of the inside is told");
        let inline = pb::DecideRequest { seed: Some(13), ..ask("touchy") };
        let status = client.decide(inline).await.expect_err("a bug");
        assert_eq!(reason(&status), (Code::Internal, "BUG".to_owned()));
        assert!(!metadata(&status, "request_id").is_empty());
        long.await.expect("a task").expect("the neighbour on the same connection is answered");
        // Both workers still work: two calls of 120 ms take less than two in a row.
        let (mut one, mut two) = (client.clone(), client.clone());
        let both = tokio::join!(one.decide(ask("deaf")), two.decide(ask("deaf")));
        assert!(both.0.is_ok() && both.1.is_ok());
        client.decide(ask("touchy")).await.expect("another seed is fine");
    });
    assert_eq!(metric(&server, "understudy_panics_total"), 2.0);
    assert_eq!(metric(&server, "understudy_jobs_total{end=\"panicked\"}"), 1.0);
    assert!(until(Duration::from_secs(2), || metric(&server, "understudy_workers_busy") == 0.0).is_some());
    end(server);
}

#[test]
fn what_is_not_ours_is_12_or_415() {
    let server = serve(config());
    run(async {
        let mut raw = Raw::connect(server.address()).await;
        let body = framed(&ask("easy"));
        for path in ["/understudy.v1.BotService/Cheat", "/chess.v1.Bot/Decide", "/", "/x"] {
            let reply = raw.call(path, &[], &body).await;
            assert_eq!(reply.status.expect("a status").code(), Code::Unimplemented, "{path}");
        }
        for kind in ["application/json", "application/grpc-web", "text/plain", "application/grpcx"] {
            let reply = raw.call(DECIDE, &[("content-type", kind)], &body).await;
            assert_eq!((reply.http, reply.status.is_none()), (415, true), "{kind}");
        }
        let proto = raw.call(DECIDE, &[("content-type", "application/grpc+proto")], &body).await;
        assert_eq!(proto.status.expect("a status").code(), Code::Ok);
        let gzip = raw.call(DECIDE, &[("grpc-encoding", "gzip")], &body).await;
        assert_eq!(gzip.status.expect("a status").code(), Code::Unimplemented);
    });
    assert_eq!(metric(&server, "understudy_rpc_total{code=\"UNKNOWN\",method=\"Decide\"}"), 4.0);
    end(server);
}

#[test]
fn before_the_self_test_is_over_calls_are_told_to_come_back() {
    let server = assemble(config(), drill::registry_with(Duration::from_secs(2))).expect("the server starts");
    run(async {
        let mut client = connect(&server).await;
        let status = client.decide(ask("easy")).await.expect_err("too early");
        assert_eq!(reason(&status), (Code::Unavailable, "STARTING".to_owned()));
        assert!(status.get_details_retry_info().is_some());
        let info = client.get_server_info(pb::GetServerInfoRequest {}).await.expect("it says where it is").into_inner();
        assert_eq!(info.state(), pb::ServerState::Starting);
        assert!(server.wait_until_serving(Duration::from_secs(20)));
        client.decide(ask("easy")).await.expect("now it serves");
        let info = client.get_server_info(pb::GetServerInfoRequest {}).await.expect("info").into_inner();
        assert_eq!(info.state(), pb::ServerState::Serving);
        let limits = info.limits.expect("limits");
        assert_eq!((limits.request_bytes, limits.queue, limits.in_flight), (262_144, 256, 2048));
    });
    end(server);
}

#[test]
fn a_full_queue_and_a_long_one_say_when_to_come_back() {
    let server = serve(understudy::service::config::Config { workers: 1, queue: 2, ..config() });
    run(async {
        let client = connect(&server).await;
        let send = |request: pb::DecideRequest, timeout: Duration| {
            let mut client = client.clone();
            tokio::spawn(async move { client.decide(within(request, timeout)).await })
        };
        let second = Duration::from_secs(5);
        let spin = |ms: u32, priority: pb::Priority| pb::DecideRequest {
            budget: Some(pb::Budget { max_time_us: Some(ms * 1000), ..Default::default() }),
            priority: priority as i32,
            ..ask("spin")
        };
        let running = send(spin(400, pb::Priority::Interactive), second);
        tokio::time::sleep(Duration::from_millis(30)).await;
        let bulk = send(spin(20, pb::Priority::Bulk), second);
        tokio::time::sleep(Duration::from_millis(10)).await;
        let player = send(spin(20, pb::Priority::Interactive), second);
        tokio::time::sleep(Duration::from_millis(10)).await;

        // A bulk arrival finds the queue full; a player's pushes the bulk entry out.
        let refused = send(spin(20, pb::Priority::Bulk), second).await.expect("a task").expect_err("full");
        assert_eq!(reason(&refused), (Code::ResourceExhausted, "QUEUE_FULL".to_owned()));
        let retry = refused.get_details_retry_info().and_then(|info| info.retry_delay).expect("a time");
        assert!((Duration::from_millis(5)..=Duration::from_secs(1)).contains(&retry), "{retry:?}");
        assert!(refused.metadata().get("grpc-retry-pushback-ms").is_some());
        let third = send(spin(20, pb::Priority::Interactive), second);
        let evicted = bulk.await.expect("a task").expect_err("evicted");
        assert_eq!(reason(&evicted), (Code::ResourceExhausted, "QUEUE_FULL".to_owned()));

        for answered in [running, player, third] {
            answered.await.expect("a task").expect("a decision");
        }
        assert_eq!(metric(&server, "understudy_jobs_total{end=\"evicted\"}"), 1.0);

        // Now 400 ms of work are known to stand before a call that has 100.
        let running = send(spin(400, pb::Priority::Interactive), second);
        tokio::time::sleep(Duration::from_millis(30)).await;
        let start = Instant::now();
        let status = send(spin(20, pb::Priority::Interactive), Duration::from_millis(100)).await.expect("a task");
        assert_eq!(reason(&status.expect_err("too long")), (Code::ResourceExhausted, "QUEUE_ESTIMATE".to_owned()));
        assert!(start.elapsed() < Duration::from_millis(60), "refused at once, not at the deadline");
        running.await.expect("a task").expect("a decision");
    });
    end(server);
}
