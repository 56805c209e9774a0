//! R3 and R5: offered load from half to ten times the capacity, deadlines of 200 ms; what is answered in time, how fast
//! the rest hears no, and whether probes notice. A plain tonic server takes the same load for contrast.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hdrhistogram::Histogram;
use understudy::bot::{Budget, Limits, Rng, Stopwatch, Turn};
use understudy::{games, pb};

use crate::load::{Flow, Tally, closed_loop, histogram, ms, run_all};
use crate::peers::{BUSY, BUSY_TIME};
use crate::plot::{Curve, goodput};
use crate::process::{Program, Server};
use crate::quiet::Quiet;
use crate::report::Report;
use crate::requests::{first_game, frames, requests, searcher};
use crate::wire::{DECIDE, Ending, HEALTH, frame};
use crate::{Context, Trouble, admin};

const DEADLINE: Duration = Duration::from_millis(200);

/// R3.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let mut curves = Vec::new();
    let bodies = frames(&requests(first_game()?, BUSY, 64, context.seed));
    let server = Server::start(Program::WithTestPolicies, &[], &context.scratch)?;
    let name = format!("a policy of {} ms", BUSY_TIME.as_millis());
    let capacity = climb(context, report, &server, &name, &bodies, &mut curves)?;
    drop(server);
    if !context.quick {
        search(context, report, &mut curves)?;
        contrast(context, report, &bodies, capacity, &mut curves)?;
    }
    if let Some(file) = &context.svg {
        goodput(file, &curves)?;
        report.line(format!("curve written to {}", file.display()));
    }
    Ok(())
}

/// R5 alone: the top of R3's climb.
pub fn run_probes(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let bodies = frames(&requests(first_game()?, BUSY, 64, context.seed));
    let server = Server::start(Program::WithTestPolicies, &[], &context.scratch)?;
    let capacity = capacity(&server, &bodies);
    let quiet = Quiet::listen();
    let step = step(context, &server, &bodies, capacity * 10.0, context.pick(10, 3));
    let slack = quiet.allowance(context, report).as_secs_f64() * 1e3;
    step.check_probes(report, slack);
    Ok(())
}

/// A real search, its world or node budget set so that one decision takes about 5 ms here.
fn search(context: &Context, report: &mut Report, curves: &mut Vec<Curve>) -> Result<(), Trouble> {
    let (game, policy) = searcher().ok_or("no searching policy has landed yet")?;
    let mut asked = requests(game, policy, 64, context.seed);
    let budget = calibrate(game, policy, &asked)?;
    for request in &mut asked {
        request.budget = Some(budget);
    }
    let server = Server::start(Program::Product, &[], &context.scratch)?;
    let name = format!("{game} {policy}, {budget:?}");
    climb(context, report, &server, &name, &frames(&asked), curves)?;
    Ok(())
}

/// The budget under which the mean decision over these views takes about 5 ms.
fn calibrate(game: &str, policy: &str, asked: &[pb::DecideRequest]) -> Result<pb::Budget, Trouble> {
    let bots = games::registry().bots();
    let bot = bots.iter().find(|bot| bot.game() == game && bot.name() == policy).ok_or("gone")?;
    let worlds = bot.about().heeds.worlds;
    let limits = |size: u32| match worlds {
        true => Limits::worlds(size),
        false => Limits::nodes(u64::from(size)),
    };
    let mut size = 1;
    loop {
        let watch = Stopwatch::start();
        for request in asked {
            let prepared = bot.prepare(request.view.clone().unwrap_or_default()).map_err(|_| "a view is refused")?;
            let budget = Budget::new(limits(size));
            let mut rng = Rng::new(1);
            (prepared.thought)(&mut Turn { budget: &budget, rng: &mut rng }, understudy::bot::Rows::Top);
        }
        let mean = watch.elapsed() / asked.len() as u32;
        if mean >= Duration::from_millis(4) || size >= 1 << 24 {
            break;
        }
        size = (size * 5 / 4).max(size + 1);
    }
    let (max_worlds, max_nodes) = if worlds { (Some(size), None) } else { (None, Some(size)) };
    Ok(pb::Budget { max_worlds, max_nodes, ..Default::default() })
}

fn flow(server: &Server, bodies: &Arc<[Bytes]>, rate: f64, seconds: u64, seed: u64) -> Flow {
    Flow {
        target: server.target(),
        path: DECIDE,
        bodies: Arc::clone(bodies),
        connections: 4,
        rate,
        lasts: Duration::from_secs(seconds),
        timeout: Some(DEADLINE),
        patience: DEADLINE,
        seed,
    }
}

/// Calls a second that two calls in flight a worker get through.
fn capacity(server: &Server, bodies: &Arc<[Bytes]>) -> f64 {
    let workers = crate::process::default_workers();
    closed_loop(&flow(server, bodies, 1.0, 2, 0), 2 * workers).goodput()
}

struct Step {
    load: Tally,
    health: Histogram<u64>,
    health_failed: u64,
    metrics: Histogram<u64>,
}

impl Step {
    /// `slack` is what a short form on a busy machine adds to the pass lines.
    fn check_probes(&self, report: &mut Report, slack: f64) {
        report.check(self.health_failed == 0, format!("{} probes failed", self.health_failed), "0");
        let health = ms(&self.health, 0.99);
        report.check(health <= 20.0 + slack, format!("health p99 {health:.1} ms meanwhile"), "<= 20 ms");
        let metrics = ms(&self.metrics, 0.99);
        report.check(metrics <= 50.0 + slack, format!("/metrics p99 {metrics:.1} ms meanwhile"), "<= 50 ms");
    }
}

fn step(context: &Context, server: &Server, bodies: &Arc<[Bytes]>, rate: f64, seconds: u64) -> Step {
    let health = Flow {
        path: HEALTH,
        bodies: [frame(&())].into(),
        connections: 1,
        rate: 50.0,
        timeout: None,
        patience: Duration::from_secs(2),
        ..flow(server, bodies, 1.0, seconds, context.seed)
    };
    let flows = [flow(server, bodies, rate, seconds, context.seed), health];
    let scraper = {
        let (admin, lasts) = (server.admin, Duration::from_secs(seconds));
        thread::spawn(move || scrape(admin, lasts))
    };
    let mut tallies = run_all(&flows).into_iter();
    let load = tallies.next().expect("two flows");
    let health = tallies.next().expect("two flows");
    let metrics = scraper.join().expect("a scraper");
    Step { load, health_failed: health.failed(), health: health.all_us, metrics }
}

fn scrape(address: std::net::SocketAddr, lasts: Duration) -> Histogram<u64> {
    let mut histogram = histogram();
    let began = Instant::now();
    while began.elapsed() < lasts {
        let asked = Instant::now();
        let took = match admin::get(address, "/metrics") {
            Ok(_) => asked.elapsed(),
            Err(_) => Duration::from_secs(5),
        };
        histogram.saturating_record(took.as_micros() as u64);
        thread::sleep(Duration::from_millis(100));
    }
    histogram
}

fn head() -> String {
    format!(
        "{:>6} {:>8} {:>9} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "load", "offered", "goodput", "of cap", "ok p50", "ok p99", "no p50", "no p99", "lag p99", "health"
    )
}

fn row(factor: f64, capacity: f64, step: &Step) -> String {
    let load = &step.load;
    format!(
        "{factor:>5}x {:>6.0}/s {:>7.1}/s {:>6.0}% {:>8.1} {:>8.1} {:>8.2} {:>8.2} {:>8.1} {:>8.1}  {}",
        load.due as f64 / load.lasted.as_secs_f64(),
        load.goodput(),
        100.0 * load.goodput() / capacity,
        ms(&load.ok_us, 0.5),
        ms(&load.ok_us, 0.99),
        ms(&load.refused_us, 0.5),
        ms(&load.refused_us, 0.99),
        ms(&load.lag_us, 0.99),
        ms(&step.health, 0.99),
        load.summary()
    )
}

/// The whole climb against one server. Gives the capacity.
fn climb(
    context: &Context,
    report: &mut Report,
    server: &Server,
    name: &str,
    bodies: &Arc<[Bytes]>,
    curves: &mut Vec<Curve>,
) -> Result<f64, Trouble> {
    let capacity = capacity(server, bodies);
    let workers = crate::process::default_workers();
    report.line(format!("{name}: {capacity:.0} calls/s with {workers} worker(s); times in ms"));
    report.line(head());
    let quiet = Quiet::listen();
    let factors: &[f64] = context.pick(&[0.5, 1.0, 2.0, 4.0, 10.0], &[1.0, 3.0]);
    let seconds = context.pick(10, 3);
    let steps: Vec<(f64, Step)> = factors
        .iter()
        .map(|factor| {
            let step = step(context, server, bodies, capacity * factor, seconds);
            report.line(row(*factor, capacity, &step));
            (*factor, step)
        })
        .collect();
    thread::sleep(Duration::from_secs(2));
    let after = step(context, server, bodies, capacity * 0.5, 3);
    report.line(row(0.5, capacity, &after));

    let slack = quiet.allowance(context, report).as_secs_f64() * 1e3;
    let once = steps.iter().find(|(factor, _)| *factor == 1.0).map_or(capacity, |(_, step)| step.load.goodput());
    let (factor, last) = steps.last().ok_or("no steps")?;
    let kept = last.load.goodput() / once;
    report.check(kept >= 0.85, format!("goodput at {factor}x is {:.1} % of 1x", 100.0 * kept), ">= 85 %");
    let slowest = ms(&last.load.ok_us, 0.99);
    report.check(slowest <= 200.0, format!("accepted p99 {slowest:.1} ms"), "<= the deadline, 200 ms");
    let refused = ms(&last.load.refused_us, 0.99);
    report.check(refused < 5.0 + slack, format!("refusals p99 {refused:.2} ms"), "< 5 ms");
    let calm = after.load.count(Ending::OK) as f64 / after.load.due as f64;
    report.check(calm >= 0.99, format!("2 s after: {:.1} % OK at 0.5x", 100.0 * calm), ">= 99 %");
    last.check_probes(report, slack);
    let points = steps.iter().map(|(factor, step)| (*factor, step.load.goodput() / capacity)).collect();
    curves.push(Curve { name: format!("understudy, {name}"), points });
    Ok(capacity)
}

/// The same work in a plain handler: shown, not judged.
fn contrast(
    context: &Context,
    report: &mut Report,
    bodies: &Arc<[Bytes]>,
    capacity: f64,
    curves: &mut Vec<Curve>,
) -> Result<(), Trouble> {
    let plain = Server::plain(BUSY_TIME, &context.scratch)?;
    report.line("plain tonic, the same 5 ms in its handler, at the same rates:");
    report.line(head());
    let mut points = Vec::new();
    for factor in [0.5, 1.0, 2.0, 4.0, 10.0] {
        let load = crate::load::run(&flow(&plain, bodies, capacity * factor, 10, context.seed));
        points.push((factor, load.goodput() / capacity));
        report.line(row(factor, capacity, &Step { load, health: histogram(), health_failed: 0, metrics: histogram() }));
    }
    curves.push(Curve { name: "plain tonic, the same 5 ms".to_owned(), points });
    Ok(())
}
