//! R4: three times the capacity, a fifth of it from players.

use std::time::Duration;

use understudy::pb;

use crate::load::{Flow, closed_loop, ms, run_all};
use crate::peers::BUSY;
use crate::process::{Program, Server};
use crate::report::Report;
use crate::requests::{first_game, frames, requests};
use crate::wire::{DECIDE, Ending};
use crate::{Context, Trouble};

/// R4.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(Program::WithTestPolicies, &[], &context.scratch)?;
    let players = requests(first_game()?, BUSY, 64, context.seed);
    let mut bulk = players.clone();
    bulk.iter_mut().for_each(|request| request.priority = pb::Priority::Bulk as i32);
    let flow = |asked: &[pb::DecideRequest], rate: f64, seed: u64| Flow {
        target: server.target(),
        path: DECIDE,
        bodies: frames(asked),
        connections: 4,
        rate,
        lasts: Duration::from_secs(context.pick(15, 3)),
        timeout: Some(Duration::from_millis(200)),
        patience: Duration::from_millis(200),
        seed,
    };
    let workers = crate::process::default_workers();
    let probe = Flow { lasts: Duration::from_secs(2), ..flow(&players, 1.0, 0) };
    let capacity = closed_loop(&probe, 2 * workers).goodput();
    let flows = [flow(&players, 0.6 * capacity, context.seed), flow(&bulk, 2.4 * capacity, context.seed + 1)];
    let tallies = run_all(&flows);
    report.line(format!("capacity {capacity:.0} calls/s"));
    for (name, tally) in ["players, 0.6x", "bulk, 2.4x"].iter().zip(&tallies) {
        report.line(format!(
            "{name:<14} {:>6} calls, in time {:>6}, OK p99 {:>6.1} ms, client lag p99 {:.1} ms: {}",
            tally.due,
            tally.in_time,
            ms(&tally.ok_us, 0.99),
            ms(&tally.lag_us, 0.99),
            tally.summary()
        ));
    }
    let share = tallies[0].count(Ending::OK) as f64 / tallies[0].due as f64;
    report.check(share >= 0.99, format!("players served: {:.2} %", 100.0 * share), ">= 99 %");
    Ok(())
}
