//! R8: calls that are cancelled, running and queued, free what they held.

use std::time::{Duration, Instant};

use understudy::pb;

use crate::load::runtime;
use crate::peers::ENDLESS;
use crate::process::{Program, Server, cpu};
use crate::quiet::Quiet;
use crate::report::Report;
use crate::requests::{first_game, frames, requests};
use crate::wire::{Channel, DECIDE};
use crate::{Context, Trouble};

/// R8.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(Program::WithTestPolicies, &["--queue", "1024"], &context.scratch)?;
    one_search(context, report, &server)?;
    thousand(context, report, &server)?;
    let admitted = server.metric("understudy_jobs_admitted_total")?;
    let ended = server.metric("understudy_jobs_total")?;
    let cancelled = server.metric("understudy_jobs_total{end=\"cancelled\"")?;
    report.line(format!("jobs admitted {admitted}, ended {ended}, of them cancelled {cancelled}"));
    report.check(admitted == ended, format!("{admitted} jobs admitted, {ended} ended"), "equal");
    Ok(())
}

fn asked(context: &Context, think_us: u32, count: usize) -> Result<Vec<pb::DecideRequest>, Trouble> {
    let mut asked = requests(first_game()?, ENDLESS, count, context.seed);
    let budget = pb::Budget { max_time_us: Some(think_us), ..Default::default() };
    asked.iter_mut().for_each(|request| request.budget = Some(budget));
    Ok(asked)
}

/// A search that would take 10 s, cancelled after 0.3 s: CPU burnt later than 5 ms after the reset.
fn one_search(context: &Context, report: &mut Report, server: &Server) -> Result<(), Trouble> {
    let bodies = frames(&asked(context, 10_000_000, 8)?);
    let mut worst = Duration::ZERO;
    let mut least_busy = 1.0f64;
    for round in 0..context.pick(20, 4) {
        let body = bodies[round % bodies.len()].clone();
        let target = server.target();
        let (busy, burnt) = runtime().block_on(async {
            let channel = Channel::new(&target);
            let minute = Duration::from_secs(60);
            let call = tokio::spawn(async move { channel.call(DECIDE, Some(minute), body, minute).await });
            tokio::time::sleep(Duration::from_millis(200)).await;
            let before = cpu(server.pid())?;
            tokio::time::sleep(Duration::from_millis(100)).await;
            let busy = (cpu(server.pid())? - before).as_secs_f64() / 0.1;
            call.abort();
            let _ = call.await;
            tokio::time::sleep(Duration::from_millis(5)).await;
            let idle_from = cpu(server.pid())?;
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok::<_, std::io::Error>((busy, cpu(server.pid())? - idle_from))
        })?;
        least_busy = least_busy.min(busy);
        worst = worst.max(burnt);
    }
    report.line(format!("one search: its core {:.0} % busy before the reset, at the least", 100.0 * least_busy));
    let worst = worst.as_secs_f64() * 1e3;
    report.check(least_busy > 0.02, format!("a core {:.0} % busy before", 100.0 * least_busy), "> 2 %, or nothing ran");
    report.check(worst <= 2.0, format!("CPU in the 100 ms that begin 5 ms after the reset: {worst:.2} ms"), "<= 2 ms");
    Ok(())
}

/// 1,000 searches of which one runs a worker and the rest wait, all reset at once.
fn thousand(context: &Context, report: &mut Report, server: &Server) -> Result<(), Trouble> {
    let bodies = frames(&asked(context, 50_000, 64)?);
    let target = server.target();
    let quiet = Quiet::listen();
    let mut worst = Duration::ZERO;
    let mut fewest = f64::INFINITY;
    for _ in 0..context.pick(5, 1) {
        let before = server.metric("understudy_jobs_admitted_total")?;
        let freed = runtime().block_on(async {
            let channels: Vec<_> = (0..4).map(|_| Channel::new(&target)).collect();
            let minute = Duration::from_secs(60);
            let mut calls = tokio::task::JoinSet::new();
            for n in 0..1000 {
                let (channel, body) = (channels[n % 4].clone(), bodies[n % bodies.len()].clone());
                calls.spawn(async move { channel.call(DECIDE, Some(minute), body, minute).await });
            }
            tokio::time::sleep(Duration::from_millis(700)).await;
            let held = server.metric("understudy_jobs_admitted_total")? - before;
            fewest = fewest.min(held);
            calls.abort_all();
            while calls.join_next().await.is_some() {}
            let reset = Instant::now();
            // The resets leave with this runtime's next turns.
            tokio::time::sleep(Duration::from_millis(1)).await;
            loop {
                let page = crate::admin::get(server.admin, "/metrics")?.body;
                let value = |name| crate::admin::series(&page, name);
                if value("understudy_workers_busy") == 0.0 && value("understudy_queue_depth") == 0.0 {
                    return Ok::<_, std::io::Error>(reset.elapsed());
                }
                if reset.elapsed() > Duration::from_secs(5) {
                    return Ok(reset.elapsed());
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })?;
        worst = worst.max(freed);
    }
    report.check(fewest >= 1000.0, format!("{fewest} searches admitted before the reset"), "1,000");
    // Three threads have to get their turn: the client's, the RPC thread, the worker.
    let limit = Duration::from_millis(20) + 3 * quiet.allowance(context, report);
    let holds = worst <= limit;
    let worst = worst.as_secs_f64() * 1e3;
    report.check(holds, format!("busy and queue gauges at 0 after {worst:.1} ms, scrape included"), "<= 20 ms");
    Ok(())
}
