//! R9: a policy that panics costs its own caller one INTERNAL, and nobody anything else.

use std::time::Duration;

use understudy::pb;

use crate::load::runtime;
use crate::peers::{BUSY, FATAL, FRAGILE};
use crate::process::{Program, Server};
use crate::report::Report;
use crate::requests::{first_game, frames, requests};
use crate::wire::{Channel, DECIDE, Ending, frame};
use crate::{Context, Trouble};

/// R9.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(Program::WithTestPolicies, &[], &context.scratch)?;
    let game = first_game()?;
    let neighbours = frames(&requests(game, BUSY, 40, context.seed));
    let mut fatal = requests(game, FRAGILE, 1, context.seed).remove(0);
    fatal.budget = Some(pb::Budget { max_nodes: Some(FATAL), ..Default::default() });
    let workers = server.metric("understudy_workers")?;
    let before = server.metric("understudy_panics_total")?;
    let (answer, fine) = runtime().block_on(async {
        let channel = Channel::new(&server.target());
        let wait = Duration::from_secs(10);
        let mut calls = tokio::task::JoinSet::new();
        for (n, body) in neighbours.iter().enumerate() {
            let (channel, body) = (channel.clone(), body.clone());
            calls.spawn(async move {
                tokio::time::sleep(Duration::from_millis(5 * n as u64)).await;
                channel.call(DECIDE, None, body, wait).await.ending
            });
        }
        tokio::time::sleep(Duration::from_millis(60)).await;
        let answer = channel.call(DECIDE, None, frame(&fatal), wait).await;
        let endings = calls.join_all().await;
        (answer, endings.iter().filter(|ending| **ending == Ending::OK).count())
    });
    let panics = server.metric("understudy_panics_total")? - before;
    report.line(format!("the fragile call: {} {}", answer.ending, answer.text));
    report.check(answer.ending == Ending::Status(13), format!("{}", answer.ending), "one Internal");
    report.check(answer.reason() == "BUG", format!("reason {:?}", answer.reason()), "BUG");
    report.check(!answer.text.contains("fragile"), "the panic's text stays in the log", "nothing of it on the wire");
    report.check(fine == 40, format!("{fine} of 40 neighbours on its connection fine"), "40");
    report.check(panics == 1.0, format!("panics_total moved by {panics}"), "1");
    let now = server.metric("understudy_workers")?;
    report.check(now == workers && workers > 0.0, format!("{now} workers, {workers} before"), "replaced");
    let log = std::fs::read_to_string(&server.log)?;
    let lines = log.lines().filter(|line| line.contains("panic")).count();
    report.check(lines == 1, format!("{lines} log line(s) name the panic"), "1");
    Ok(())
}
