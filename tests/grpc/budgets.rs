//! What a budget means: the default, or exactly what is named.

use std::time::Duration;

use understudy::pb;

use crate::harness::{ask, config, connect, end, run, serve, within};

fn budget(max_time_us: Option<u32>, max_nodes: Option<u32>) -> Option<pb::Budget> {
    Some(pb::Budget { max_time_us, max_nodes, ..Default::default() })
}

#[test]
fn named_limits_hold_exactly_and_the_default_otherwise() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let spin = |budget| pb::DecideRequest { budget, ..ask("spin") };

        // The least of five: another process may hold our core when the time is up.
        let mut least = u32::MAX;
        for _ in 0..5 {
            let reply = client.decide(spin(None)).await.expect("a decision").into_inner();
            assert_eq!(reply.completion(), pb::Completion::Time);
            let effective = reply.effective.expect("effective");
            assert_eq!(effective.budget, budget(Some(30_000), None));
            assert!(!effective.deterministic);
            least = least.min(reply.timing.expect("timing").think_us);
        }
        assert!((29_000..35_000).contains(&least), "{least} us of 30,000");

        let reply = client.decide(spin(budget(None, Some(500)))).await.expect("a decision").into_inner();
        assert_eq!((reply.completion(), reply.work.expect("work").nodes), (pb::Completion::Nodes, 500));
        let effective = reply.effective.expect("effective");
        assert_eq!(effective.budget, budget(None, Some(500)));
        assert!(effective.deterministic);

        let mut least = u32::MAX;
        for _ in 0..3 {
            let reply = client.decide(spin(budget(Some(100_000), None))).await.expect("a decision").into_inner();
            least = least.min(reply.timing.expect("timing").think_us);
        }
        assert!((99_000..110_000).contains(&least), "{least} us of 100,000");

        let depth = pb::Budget { max_depth: Some(7), ..Default::default() };
        let reply = client.decide(spin(Some(depth))).await.expect("a decision").into_inner();
        assert_eq!((reply.completion(), reply.work.expect("work").depth), (pb::Completion::Depth, 7));
    });
    end(server);
}

#[test]
fn thinking_ends_before_the_deadline_whatever_the_budget() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        // Another process may hold our core when it matters; one undisturbed call of five shows it.
        let mut totals = Vec::new();
        for _ in 0..5 {
            let request = pb::DecideRequest { budget: budget(Some(5_000_000), None), ..ask("spin") };
            let start = std::time::Instant::now();
            let Ok(reply) = client.decide(within(request, Duration::from_millis(100))).await else { continue };
            let took = start.elapsed();
            let reply = reply.into_inner();
            assert_eq!(reply.completion(), pb::Completion::Time);
            let total = reply.timing.expect("timing").total_us;
            assert!(total >= 90_000, "{total} us: the reserve is five milliseconds, not more");
            totals.push((took, total));
        }
        assert!(totals.iter().any(|(took, _)| *took < Duration::from_millis(100)), "{totals:?}");
    });
    end(server);
}

#[test]
fn a_limit_that_means_nothing_is_told() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let request = pb::DecideRequest { budget: budget(Some(1000), Some(7)), ..ask("five_ms") };
        let reply = client.decide(request).await.expect("a decision").into_inner();
        let ignored: Vec<_> =
            reply.warnings.iter().filter(|w| w.code == "BUDGET_IGNORED").map(|w| w.field.as_str()).collect();
        assert_eq!(ignored, ["budget.max_time_us", "budget.max_nodes"]);
        let alone = reply.effective.expect("what applied").budget;
        let reply = client.decide(ask("five_ms")).await.expect("a decision").into_inner();
        assert_eq!(reply.effective.as_ref().expect("what applied").budget, alone, "the default stays in force");
        assert!(reply.warnings.iter().all(|warning| warning.code != "BUDGET_IGNORED"));
    });
    end(server);
}

#[test]
fn detail_changes_what_is_shown_and_nothing_else() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let mut replies = Vec::new();
        for detail in [pb::Detail::None, pb::Detail::Top, pb::Detail::All, pb::Detail::Unspecified] {
            let request = pb::DecideRequest { detail: detail as i32, seed: Some(5), ..ask("hard") };
            replies.push(client.decide(request).await.expect("a decision").into_inner());
        }
        let [none, top, all, default] = &replies[..] else { panic!("four replies") };
        assert!(none.candidates.is_empty() && none.plan.is_empty() && none.facts.is_empty() && none.refused.is_empty());
        assert_eq!(all.candidates.len(), all.candidates_total as usize);
        assert_eq!(top.candidates[..], all.candidates[..top.candidates.len()]);
        assert_eq!(top.candidates, default.candidates);
        for reply in &replies {
            assert_eq!((&reply.move_key, reply.candidates_total), (&all.move_key, all.candidates_total));
            assert!(!reply.truncated);
        }
    });
    end(server);
}
