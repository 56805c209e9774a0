//! CPU: server CPU per call for the easiest policy with tokens, metrics and logs at info, against a bare tonic echo of
//! the same sizes in the same run; TLS and refusals beside it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::load::{Flow, Tally, closed_loop, ms, run_all};
use crate::peers::ENDLESS;
use crate::process::{Program, Server, cpu};
use crate::report::Report;
use crate::requests::{easiest, first_game, frames, requests};
use crate::tls::{self, Authority};
use crate::wire::{DECIDE, Ending, Target};
use crate::{Context, Trouble};

const TOKEN: &str = "a-token-of-decent-length";

struct Figure {
    us_per_call: f64,
    calls: u64,
    p50_ms: f64,
}

/// CPU.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let game = first_game()?;
    let policy = easiest(game)?;
    let bodies = frames(&requests(game, &policy, 64, context.seed));
    let tokens = context.scratch.join("cost-tokens");
    tls::replace(&tokens, &format!("bench {TOKEN}\n"))?;
    let tokens = tokens.display().to_string();
    let authority = Authority::new()?;
    let (certificate, key) = tls::files(&context.scratch);
    authority.issue(&certificate, &key)?;
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());

    let echo = Server::plain(Duration::ZERO, &context.scratch)?;
    let product = Server::start(Program::Product, &["--auth-tokens", &tokens], &context.scratch)?;
    let secure_flags = ["--auth-tokens", &tokens, "--tls-cert", &certificate, "--tls-key", &key];
    let secure = Server::start(Program::Product, &secure_flags, &context.scratch)?;
    let with_token = Target { token: Some(TOKEN.into()), ..product.target() };
    let with_tls = Target { address: secure.grpc, tls: Some(authority.connector()?), ..with_token.clone() };

    let mut rows: Vec<(&str, Vec<Figure>, Vec<f64>)> = Vec::new();
    let peers = [("echo", &echo, echo.target()), ("easy", &product, with_token), ("easy over TLS", &secure, with_tls)];
    for (name, _, _) in &peers {
        rows.push((name, Vec::new(), Vec::new()));
    }
    // In turn, several times, so that other load falls on all of them; the median counts.
    for _ in 0..context.pick(5, 3) {
        for ((_, server, target), (_, figures, single)) in peers.iter().zip(&mut rows) {
            figures.push(measure(context, server, target, &bodies, 2, 16)?);
            single.push(measure(context, server, target, &bodies, 1, 1)?.p50_ms);
        }
    }
    report.line(format!("{game} {policy}, requests of about {} bytes", bodies[0].len()));
    report.line(format!("{:<16} {:>12} {:>12} {:>12}", "", "CPU us/call", "p50 1x1 us", "calls"));
    let mut medians = Vec::new();
    for (name, figures, single) in &rows {
        let cost = median(figures.iter().map(|figure| figure.us_per_call));
        let p50 = median(single.iter().copied()) * 1e3;
        let calls: u64 = figures.iter().map(|figure| figure.calls).sum();
        report.line(format!("{name:<16} {cost:>12.1} {p50:>12.0} {calls:>12}"));
        medians.push((cost, p50));
    }
    let ratio = medians[1].0 / medians[0].0;
    report.check(ratio <= 2.0, format!("easy costs {ratio:.2} x echo in CPU"), "<= 2.0");
    report.line(format!("easy over TLS costs {:.2} x echo (reported only)", medians[2].0 / medians[0].0));
    let p50 = medians[1].1 / medians[0].1;
    report.check(p50 <= 1.6, format!("p50 at 1 x 1 is {p50:.2} x echo"), "<= 1.6");
    let refusal = refusal(context)?;
    report.line(format!("{:<16} {:>12.1} {:>12} {:>12}", "refusal", refusal.us_per_call, "", refusal.calls));
    let ratio = refusal.us_per_call / medians[0].0;
    report.check(ratio <= 1.2, format!("a refusal costs {ratio:.2} x echo in CPU"), "<= 1.2");
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn flow(target: &Target, bodies: &Arc<[Bytes]>, connections: usize, lasts: Duration) -> Flow {
    Flow {
        target: target.clone(),
        path: DECIDE,
        bodies: Arc::clone(bodies),
        connections,
        rate: 1.0,
        lasts,
        timeout: Some(Duration::from_secs(5)),
        patience: Duration::from_secs(5),
        seed: 0,
    }
}

fn measure(
    context: &Context,
    server: &Server,
    target: &Target,
    bodies: &Arc<[Bytes]>,
    connections: usize,
    in_flight: usize,
) -> Result<Figure, Trouble> {
    let lasts = Duration::from_millis(context.pick(2000, 700));
    closed_loop(&flow(target, bodies, connections, lasts / 4), in_flight);
    let before = cpu(server.pid())?;
    let tally: Tally = closed_loop(&flow(target, bodies, connections, lasts), in_flight);
    let spent = cpu(server.pid())? - before;
    if tally.failed() > 0 {
        return Err(format!("calls failed: {} {:?}", tally.summary(), tally.broken).into());
    }
    Ok(Figure {
        us_per_call: spent.as_secs_f64() * 1e6 / tally.due as f64,
        calls: tally.due,
        p50_ms: ms(&tally.ok_us, 0.5),
    })
}

/// Calls refused because the queue is full. The one worker sits in an endless search whose own CPU is known: it fills a
/// core, so the rest of the process is what refusals cost.
fn refusal(context: &Context) -> Result<Figure, Trouble> {
    let flags = ["--workers", "1", "--queue", "1"];
    let server = Server::start(Program::WithTestPolicies, &flags, &context.scratch)?;
    let bodies = frames(&requests(first_game()?, ENDLESS, 64, context.seed));
    let holders = Flow {
        patience: Duration::from_secs(8),
        timeout: None,
        ..flow(&server.target(), &bodies, 1, Duration::from_secs(1))
    };
    let holders = Flow { rate: 20.0, ..holders };
    std::thread::scope(|scope| {
        let held = scope.spawn(|| run_all(std::slice::from_ref(&holders)));
        std::thread::sleep(Duration::from_secs(2));
        let lasts = Duration::from_millis(context.pick(3000, 1000));
        let before = beside_worker(server.pid())?;
        let tally = closed_loop(&flow(&server.target(), &bodies, 2, lasts), 16);
        let spent = beside_worker(server.pid())? - before;
        let refused = tally.count(Ending::REFUSED);
        drop(held);
        if refused < tally.due * 9 / 10 {
            return Err(format!("the queue was not full: {}", tally.summary()).into());
        }
        Ok(Figure { us_per_call: spent.as_secs_f64() * 1e6 / tally.due as f64, calls: tally.due, p50_ms: 0.0 })
    })
}

/// CPU of all threads but the one that burnt most: the worker in its search.
fn beside_worker(pid: u32) -> Result<Duration, Trouble> {
    let mut each = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        each.push(text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0));
    }
    each.sort_unstable();
    each.pop();
    Ok(Duration::from_nanos(each.iter().sum()))
}
