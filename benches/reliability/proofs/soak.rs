//! R11: 20 minutes at 70 % of the capacity.

use std::time::Duration;

use crate::load::{Flow, closed_loop, ms, run};
use crate::peers::BUSY;
use crate::process::{Program, Server};
use crate::report::Report;
use crate::requests::{first_game, frames, requests};
use crate::wire::DECIDE;
use crate::{Context, Trouble};

/// R11.
pub fn run_proof(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(Program::WithTestPolicies, &[], &context.scratch)?;
    let flow = |rate: f64, seconds: u64, seed: u64, bodies| Flow {
        target: server.target(),
        path: DECIDE,
        bodies,
        connections: 4,
        rate,
        lasts: Duration::from_secs(seconds),
        timeout: Some(Duration::from_millis(500)),
        patience: Duration::from_millis(500),
        seed,
    };
    let bodies = frames(&requests(first_game()?, BUSY, 64, context.seed));
    let workers = crate::process::default_workers();
    let capacity = closed_loop(&flow(1.0, 3, 0, bodies.clone()), 2 * workers).goodput();
    // The first slice warms up: allocator, estimates, buffers.
    let (slices, seconds) = context.pick((20, 60), (4, 4));
    let mut samples = Vec::new();
    for slice in 0..=slices {
        let tally = run(&flow(0.7 * capacity, seconds, slice, bodies.clone()));
        // The connections of the slice have to be seen to close.
        std::thread::sleep(Duration::from_secs(1));
        let reading = server.reading()?;
        report.line(format!(
            "slice {slice:>2}: {:>6} calls, {} failed, p99 {:>6.1} ms, RSS {:.1} MB, {} descriptors",
            tally.due,
            tally.failed(),
            ms(&tally.all_us, 0.99),
            reading.rss_mb,
            reading.descriptors
        ));
        if slice > 0 {
            samples.push((slice as f64 * seconds as f64 / 600.0, reading, ms(&tally.all_us, 0.99)));
        }
    }
    let slope = slope(&samples.iter().map(|(time, reading, _)| (*time, reading.rss_mb)).collect::<Vec<_>>());
    if context.quick {
        report.line(format!("RSS slope {slope:.2} MB per 10 min; too short to judge"));
    } else {
        report.check(slope <= 1.0, format!("RSS slope {slope:.2} MB per 10 min"), "<= 1");
    }
    let descriptors: Vec<usize> = samples.iter().map(|(_, reading, _)| reading.descriptors).collect();
    let spread = descriptors.iter().max().zip(descriptors.iter().min()).map_or(0, |(most, least)| most - least);
    report.check(spread == 0, format!("descriptors vary by {spread}"), "constant");
    let half = samples.len() / 2;
    let median = |part: &[(f64, crate::process::Reading, f64)]| {
        let mut all: Vec<f64> = part.iter().map(|(_, _, p99)| *p99).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let drift = median(&samples[half..]) / median(&samples[..half]) - 1.0;
    if context.quick {
        report.line(format!("p99 drift {:.0} %; too short to judge", 100.0 * drift));
    } else {
        report.check(drift <= 0.2, format!("p99 drift {:.0} %, second half against first", 100.0 * drift), "<= 20 %");
    }
    Ok(())
}

/// Least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let above: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let below: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    above / below
}
