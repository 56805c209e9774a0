//! R2: every policy under every deadline, one call at a time.

use std::time::{Duration, Instant};

use understudy::games;

use crate::load::runtime;
use crate::peers::DEAF;
use crate::process::{Program, Server};
use crate::quiet::Quiet;
use crate::report::Report;
use crate::requests::{first_game, requests};
use crate::wire::{Channel, DECIDE, Ending, frame};
use crate::{Context, Trouble};

const LATEST: Duration = Duration::from_millis(15);

#[derive(Default)]
struct Row {
    calls: u32,
    ok: u32,
    in_time: u32,
    worst_over: Duration,
    thought_past: u32,
    odd: Vec<String>,
}

/// R2.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(Program::Product, &[], &context.scratch)?;
    let quiet = Quiet::listen();
    let deadlines: &[u64] = context.pick(&[5, 10, 20, 50, 200], &[10, 50]);
    let calls = context.pick(20, 4);
    report.line(format!(
        "{:<20} {:>8} {:>6} {:>6} {:>9} {:>12}",
        "policy", "deadline", "calls", "OK", "in time", "worst over"
    ));
    let mut all = Row::default();
    for bot in games::registry().bots() {
        let asked = requests(bot.game(), bot.name(), calls, context.seed);
        for deadline in deadlines {
            let row = calls_of(&server, &asked, Duration::from_millis(*deadline));
            report.line(format!(
                "{:<20} {:>5} ms {:>6} {:>6} {:>9} {:>9.1} ms  {}",
                format!("{} {}", bot.game(), bot.name()),
                deadline,
                row.calls,
                row.ok,
                row.in_time,
                row.worst_over.as_secs_f64() * 1e3,
                row.odd.join(", ")
            ));
            all.calls += row.calls;
            all.in_time += row.in_time;
            all.ok += row.ok;
            all.thought_past += row.thought_past;
            all.worst_over = all.worst_over.max(row.worst_over);
        }
    }
    let late = LATEST + overshoot(context, report)?.max(quiet.allowance(context, report));
    let share = f64::from(all.in_time) / f64::from(all.calls.max(1));
    let figure = format!("{:.2} % of {} calls answered before their deadline, {} OK", 100.0 * share, all.calls, all.ok);
    let enough = context.pick(0.99, 0.9);
    report.check(share >= enough, figure, ">= 99 % on a quiet core (short form: 90 %)");
    let worst = all.worst_over.as_secs_f64() * 1e3;
    report.check(all.worst_over <= late, format!("the latest came {worst:.1} ms after its deadline"), "<= 15 ms");
    report.check(all.thought_past == 0, format!("{} code 4 after thinking past the deadline", all.thought_past), "0");
    Ok(())
}

/// A policy that does not look at its budget for 400 ms, under 50 ms: the handler answers in its stead.
fn overshoot(context: &Context, report: &mut Report) -> Result<Duration, Trouble> {
    let quiet = Quiet::listen();
    let server = Server::start(Program::WithTestPolicies, &["--workers", "4"], &context.scratch)?;
    let asked = requests(first_game()?, DEAF, 4, context.seed);
    let row = calls_of(&server, &asked[..1], Duration::from_millis(50));
    let over = row.worst_over.as_secs_f64() * 1e3;
    let figure = format!("a deaf policy is answered for {over:.1} ms after the deadline: {}", row.odd.join(", "));
    let slack = quiet.allowance(context, report);
    let told = row.odd == ["DEADLINE/think"] || row.odd == ["DEADLINE/admission"];
    report.check(told && row.worst_over <= LATEST + slack, figure, "<= 15 ms, code 4");
    Ok(slack)
}

fn calls_of(server: &Server, asked: &[understudy::pb::DecideRequest], deadline: Duration) -> Row {
    let mut row = Row::default();
    runtime().block_on(async {
        let channel = Channel::new(&server.target());
        for request in asked {
            let body = frame(request);
            let sent = Instant::now();
            let answer = channel.call(DECIDE, Some(deadline), body, deadline + Duration::from_secs(2)).await;
            let took = sent.elapsed();
            row.calls += 1;
            row.ok += u32::from(answer.ending == Ending::OK);
            row.in_time += u32::from(took <= deadline && matches!(answer.ending, Ending::Status(0 | 4 | 8)));
            row.worst_over = row.worst_over.max(took.saturating_sub(deadline));
            let reason = answer.reason();
            row.thought_past += u32::from(reason == "DEADLINE/think");
            if answer.ending != Ending::OK && !row.odd.contains(&reason) {
                row.odd.push(reason);
            }
        }
    });
    row
}
