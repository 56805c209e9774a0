//! BoardService through the same admission and workers.

use std::time::Duration;

use tonic::Code;
use tonic::transport::Channel;
use understudy::bot::Registry;
use understudy::games::apple::wire::{write_assessment, write_board};
use understudy::games::apple::{Distribution, assess};
use understudy::pb::apple as pb;
use understudy::pb::apple::assess_boards_result::Outcome;
use understudy::pb::apple::board_service_client::BoardServiceClient;

use crate::harness::{channel, config, end, metadata, reason, run, serve, within};

async fn client(server: &understudy::service::Server) -> BoardServiceClient<Channel> {
    BoardServiceClient::new(channel(server).await)
}

fn boards(count: u64) -> pb::AssessBoardsRequest {
    pb::AssessBoardsRequest {
        boards: (1..=count).map(|seed| write_board(&Distribution::Sum10.board(seed))).collect(),
        ruleset: "fruitbox.v1".to_owned(),
        ..Default::default()
    }
}

#[test]
fn boards_are_assessed_as_without_a_server_and_a_bad_one_fails_alone() {
    let server = serve(config());
    run(async {
        let mut client = client(&server).await;
        let mut request = boards(40);
        request.boards[7].cells.truncate(3);
        request.request_id = "mine".to_owned();
        let reply = client.assess_boards(request).await.expect("an answer").into_inner();
        assert_eq!((reply.request_id.as_str(), reply.results.len()), ("mine", 40));
        assert!(reply.think_us > 0 && reply.total_us >= reply.queue_us);
        for (place, result) in reply.results.into_iter().enumerate() {
            match result.outcome.expect("an outcome") {
                Outcome::Assessment(found) => {
                    let board = Distribution::Sum10.board(place as u64 + 1);
                    let path = format!("boards[{place}]");
                    let alone = assess::assess(&path, board, &assess::Options::default());
                    assert_eq!(found, write_assessment(&alone, false), "board {place}");
                }
                Outcome::Error(status) => {
                    assert_eq!((place, status.code), (7, Code::InvalidArgument as i32), "{status:?}");
                }
            }
        }
    });
    end(server);
}

#[test]
fn what_spoils_a_call_of_boards() {
    let server = serve(config());
    run(async {
        let mut client = client(&server).await;
        let invalid = (Code::InvalidArgument, "REQUEST_INVALID".to_owned());
        for request in [
            boards(0),
            pb::AssessBoardsRequest { ruleset: "none".to_owned(), ..boards(1) },
            pb::AssessBoardsRequest { runs: Some(257), ..boards(1) },
            pb::AssessBoardsRequest { reference: "none".to_owned(), ..boards(1) },
            pb::AssessBoardsRequest { request_id: "two words".to_owned(), ..boards(1) },
        ] {
            assert_eq!(reason(&client.assess_boards(request).await.expect_err("refused")), invalid);
        }
        let best = pb::BestOptions { policy: "nobody".to_owned(), max_nodes: None };
        let request = pb::AssessBoardsRequest { best: Some(best), ..boards(1) };
        let status = client.assess_boards(request).await.expect_err("refused");
        assert_eq!(reason(&status), (Code::NotFound, "POLICY_UNKNOWN".to_owned()));
    });
    end(server);
}

#[test]
fn a_deadline_leaves_what_was_done() {
    let server = serve(understudy::service::config::Config { workers: 1, ..config() });
    run(async {
        let mut client = client(&server).await;
        let request = pb::AssessBoardsRequest { runs: Some(256), ..boards(800) };
        // Another process may hold our core when it matters; one undisturbed call of five shows it.
        let mut results = None;
        for _ in 0..5 {
            let request = within(request.clone(), Duration::from_millis(600));
            results = results.or(client.assess_boards(request).await.ok());
        }
        let results = results.expect("it leaves in time").into_inner().results;
        let (mut partial, mut late) = (0, 0);
        for result in &results {
            match result.outcome.as_ref().expect("an outcome") {
                Outcome::Assessment(found) if found.partial => {
                    assert!(found.greedy.is_some() && found.features.is_some() && found.upper_bound.is_none());
                    partial += 1;
                }
                Outcome::Assessment(_) => {}
                Outcome::Error(status) => {
                    assert!([4, 8].contains(&status.code), "{status:?}");
                    late += 1;
                }
            }
        }
        assert!(partial > 100, "{partial} partial, {late} late");
    });
    end(server);
}

#[test]
fn boards_are_made_to_measure() {
    let server = serve(config());
    run(async {
        let mut client = client(&server).await;
        let wish = |low: f64, high: f64| pb::GenerateBoardRequest {
            seed: Some(1),
            band: Some(pb::PercentileBand { low, high }),
            ..Default::default()
        };
        let found = client.generate_board(wish(95.0, 100.0)).await.expect("a board").into_inner();
        assert_eq!((found.seed, found.tries), (1, 1));
        let found = client.generate_board(wish(50.0, 50.5)).await.expect("a board").into_inner();
        assert_eq!((found.tries, found.assessment.expect("assessed").board_hash.as_str()), (51, "7033b0ed0d79af04"));
        let status = client.generate_board(wish(99.99, 100.0)).await.expect_err("none in 500");
        assert_eq!(reason(&status), (Code::FailedPrecondition, "BAND_NOT_FOUND".to_owned()));
        assert_eq!(metadata(&status, "tries"), "500");
        assert!(metadata(&status, "nearest").parse::<f64>().is_ok_and(|nearest| nearest > 90.0));
        let hurry = pb::GenerateBoardRequest { max_tries: Some(10_000), ..wish(99.99, 100.0) };
        let status = client.generate_board(within(hurry, Duration::from_millis(60))).await.expect_err("no time");
        if status.code() == Code::DeadlineExceeded && !status.details().is_empty() {
            assert!(metadata(&status, "tries").parse::<u32>().is_ok_and(|tries| tries > 0));
        } else {
            // The client library's own timer was first.
            assert!(matches!(status.code(), Code::Cancelled | Code::DeadlineExceeded), "{status:?}");
        }
        let drawn = client.generate_board(pb::GenerateBoardRequest::default()).await.expect("a board").into_inner();
        let again = pb::GenerateBoardRequest { seed: Some(drawn.seed), ..Default::default() };
        assert_eq!(client.generate_board(again).await.expect("a board").into_inner().board, drawn.board);
    });
    end(server);
}

#[test]
fn boards_need_no_enrolled_game() {
    let server = understudy::service::assemble(config(), Registry::default()).expect("it starts");
    assert!(server.wait_until_serving(Duration::from_secs(5)));
    run(async {
        client(&server).await.assess_boards(boards(1)).await.expect("an answer");
    });
    end(server);
}
