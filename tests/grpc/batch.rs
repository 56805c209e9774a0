//! Batches: many decisions that are each as good as one.

use std::time::{Duration, Instant};

use tonic::{Code, Request};
use understudy::pb;
use understudy::pb::batch_decide_result::Outcome;

use crate::harness::{ask, config, connect, end, metric, reason, run, serve, views, within};

fn batch(items: Vec<pb::DecideRequest>) -> pb::BatchDecideRequest {
    pb::BatchDecideRequest { items }
}

/// What stays when ids and times are cleared.
fn bare(mut reply: pb::DecideResponse) -> pb::DecideResponse {
    reply.request_id.clear();
    reply.timing = None;
    reply
}

#[test]
fn items_fail_one_by_one_and_keep_their_order() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let mut items = vec![ask("easy"); 100];
        items[3].policy = "nobody".to_owned();
        items[50].view = None;
        items[99].budget = Some(pb::Budget { max_nodes: Some(0), ..Default::default() });
        items[7].request_id = "mine".to_owned();
        let mut request = Request::new(batch(items));
        request.metadata_mut().insert("x-request-id", "call".parse().expect("ascii"));
        let results = client.batch_decide(request).await.expect("a batch").into_inner().results;
        assert_eq!(results.len(), 100);
        let mut good = 0;
        for (place, result) in results.into_iter().enumerate() {
            match result.outcome.expect("an outcome") {
                Outcome::Decision(reply) => {
                    good += 1;
                    let id = if place == 7 { "mine".to_owned() } else { format!("call.{place}") };
                    assert_eq!(reply.request_id, id);
                }
                Outcome::Error(status) => {
                    let code = if place == 3 { Code::NotFound } else { Code::InvalidArgument };
                    assert_eq!(status.code, code as i32, "item {place}: {status:?}");
                    assert!([3, 50, 99].contains(&place));
                    assert!(!status.details.is_empty());
                }
            }
        }
        assert_eq!(good, 97);
    });
    assert_eq!(metric(&server, "understudy_rpc_total{code=\"OK\",method=\"BatchDecide\"}"), 1.0);
    assert_eq!(metric(&server, "understudy_rejected_total{reason=\"REQUEST_INVALID\"}"), 2.0);
    end(server);
}

#[test]
fn only_an_empty_or_too_long_batch_fails_whole() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        for items in [0, 129] {
            let status = client.batch_decide(batch(vec![ask("easy"); items])).await.expect_err("refused");
            assert_eq!(reason(&status), (Code::InvalidArgument, "REQUEST_INVALID".to_owned()));
        }
        let results = client.batch_decide(batch(vec![ask("easy"); 128])).await.expect("a batch").into_inner().results;
        assert_eq!(results.len(), 128);
    });
    end(server);
}

#[test]
fn an_item_is_the_unary_call_byte_for_byte() {
    let one = serve(understudy::service::config::Config { workers: 1, ..config() });
    let many = serve(understudy::service::config::Config { workers: 3, ..config() });
    run(async {
        let mut items = Vec::new();
        for game in ["lexio", "wallgo", "apple", "hoola"] {
            for (place, view) in views(game).into_iter().enumerate().take(4) {
                for policy in ["easy", "hard"] {
                    items.push(pb::DecideRequest {
                        view: Some(view.clone()),
                        policy: policy.to_owned(),
                        seed: (place % 2 == 0).then_some(place as u64),
                        budget: Some(pb::Budget { max_nodes: Some(300), ..Default::default() }),
                        detail: pb::Detail::All as i32,
                        ..Default::default()
                    });
                }
            }
        }
        let (mut first, mut second) = (connect(&one).await, connect(&many).await);
        let results = second.batch_decide(batch(items.clone())).await.expect("a batch").into_inner().results;
        let mut equal = 0;
        for (item, result) in items.into_iter().zip(results) {
            match (first.decide(item.clone()).await, result.outcome.expect("an outcome")) {
                (Ok(reply), Outcome::Decision(decision)) => {
                    let (alone, mut together) = (bare(reply.into_inner()), bare(decision));
                    // A batch shares the cap on rows; what is shown is the same.
                    together.truncated = alone.truncated;
                    assert_eq!(alone.candidates[..together.candidates.len()], together.candidates);
                    together.candidates.clone_from(&alone.candidates);
                    assert_eq!(alone, together);
                    equal += 1;
                }
                (Err(status), Outcome::Error(error)) => assert_eq!(status.code() as i32, error.code),
                (alone, together) => panic!("{alone:?} alone, {together:?} in a batch"),
            }
        }
        assert!(equal >= 16, "{equal}");
    });
    end(one);
    end(many);
}

#[test]
fn a_batch_shares_the_rows_and_leaves_in_time() {
    let server = serve(understudy::service::config::Config { workers: 1, ..config() });
    run(async {
        let mut client = connect(&server).await;
        let all = pb::DecideRequest { detail: pb::Detail::All as i32, ..ask("easy") };
        let results = client.batch_decide(batch(vec![all; 128])).await.expect("a batch").into_inner().results;
        for result in results {
            let Some(Outcome::Decision(reply)) = result.outcome else { panic!("{result:?}") };
            assert_eq!(reply.candidates.len(), reply.candidates_total.min(16) as usize);
            assert_eq!(reply.truncated, reply.candidates_total > 16);
        }

        // 60 items of 5 ms do not fit into 100 ms: those that do are answered, the others say so, and it leaves in time.
        let start = Instant::now();
        let request = within(batch(vec![ask("five_ms"); 60]), Duration::from_millis(100));
        let results = client.batch_decide(request).await.expect("a batch").into_inner().results;
        assert!(start.elapsed() < Duration::from_millis(115), "{:?}", start.elapsed());
        let late = |result: &&pb::BatchDecideResult| match &result.outcome {
            Some(Outcome::Error(status)) => {
                let code = Code::from(status.code);
                assert!(matches!(code, Code::DeadlineExceeded | Code::ResourceExhausted), "{status:?}");
                true
            }
            _ => false,
        };
        let late = results.iter().filter(late).count();
        assert!((1..60).contains(&late), "{late} of 60 late");
    });
    end(server);
}

#[test]
fn a_batch_does_not_stand_in_front_of_a_player() {
    let server = serve(understudy::service::config::Config { workers: 1, ..config() });
    run(async {
        let mut client = connect(&server).await;
        let mut player = client.clone();
        let long = tokio::spawn(async move { client.batch_decide(batch(vec![ask("five_ms"); 60])).await });
        tokio::time::sleep(Duration::from_millis(30)).await;
        for _ in 0..5 {
            let reply = player.decide(ask("five_ms")).await.expect("a decision").into_inner();
            let timing = reply.timing.expect("timing");
            // At most the item that is being thought about stands before it.
            assert!(timing.queue_us < 40_000, "{timing:?}");
        }
        let results = long.await.expect("a task").expect("a batch").into_inner().results;
        assert!(results.iter().all(|result| matches!(result.outcome, Some(Outcome::Decision(_)))));
    });
    end(server);
}
