//! R14: certificates and tokens replaced under load; then a bad file of each kind.

use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use crate::load::{Flow, run, run_all};
use crate::process::{Program, Server, signal};
use crate::report::Report;
use crate::requests::{easiest, first_game, frames, requests};
use crate::tls::{self, Authority};
use crate::wire::{DECIDE, Ending, Target};
use crate::{Context, Trouble};

const OLD: &str = "a-token-that-was-there-first";
const NEW: &str = "a-token-that-came-afterwards";

/// R14.
pub fn run_proof(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let authority = Authority::new()?;
    let (certificate, key) = tls::files(&context.scratch);
    let tokens = context.scratch.join("tokens");
    authority.issue(&certificate, &key)?;
    let both = format!("first {OLD}\nsecond {NEW}\n");
    tls::replace(&tokens, &format!("first {OLD}\n"))?;
    let path = |path: &std::path::Path| path.display().to_string();
    let (certificate_flag, key_flag, tokens_flag) = (path(&certificate), path(&key), path(&tokens));
    let flags = [
        "--tls-cert",
        &certificate_flag,
        "--tls-key",
        &key_flag,
        "--auth-tokens",
        &tokens_flag,
        "--reload-interval",
        "200ms",
        // Many handshakes while files change.
        "--max-connection-age",
        "400ms",
    ];
    let server = Server::start(Program::Product, &flags, &context.scratch)?;
    let game = first_game()?;
    let bodies = frames(&requests(game, &easiest(game)?, 64, context.seed));
    let flow = |token: &str, seconds: u64, seed: u64| -> Result<Flow, Trouble> {
        Ok(Flow {
            target: Target {
                address: server.grpc,
                token: Some(token.into()),
                tls: Some(authority.connector()?),
                extra: Vec::new(),
            },
            path: DECIDE,
            bodies: bodies.clone(),
            connections: 8,
            rate: 100.0,
            lasts: Duration::from_secs(seconds),
            timeout: Some(Duration::from_secs(5)),
            patience: Duration::from_secs(5),
            seed,
        })
    };

    // The old token stays valid while the new one joins it; certificates change every half second.
    let seconds = context.pick(30, 5);
    let rounds = seconds * 2 - 2;
    let under_load = flow(OLD, seconds, context.seed)?;
    let rotations = thread::scope(|scope| -> Result<_, Trouble> {
        let load = scope.spawn(|| run(&under_load));
        for round in 0..rounds {
            thread::sleep(Duration::from_millis(500));
            authority.issue(&certificate, &key)?;
            let mut text = both.clone();
            writeln!(text, "# round {round}")?;
            tls::replace(&tokens, &text)?;
            signal(server.pid(), "HUP");
        }
        load.join().map_err(|_| "the load failed".into())
    })?;
    report.line(format!("{rounds} rotations under load: {}", rotations.summary()));
    rotations.broken.iter().for_each(|text| report.line(text));
    report.check(rotations.failed() == 0, format!("{} of {} calls failed", rotations.failed(), rotations.due), "0");
    let reloads = server.metric("understudy_reloads_total{")?;
    report.line(format!("reloads counted: {reloads}"));

    // Both tokens count now, another does not.
    let tallies = run_all(&[flow(NEW, 1, 2)?, flow("no-such-token-anywhere", 1, 3)?]);
    report.check(tallies[0].failed() == 0, format!("new token: {}", tallies[0].summary()), "all Ok");
    let refused = tallies[1].count(Ending::Status(16));
    report.check(refused == tallies[1].due, format!("wrong token: {}", tallies[1].summary()), "all Unauthenticated");

    // Bad files: what was there stays.
    let failed = server.metric("understudy_reloads_total")?;
    tls::replace(&certificate, "no certificate")?;
    tls::replace(&tokens, "# nobody at all\n")?;
    thread::sleep(Duration::from_secs(1));
    let tallies = run_all(&[flow(OLD, 1, 4)?, flow(NEW, 1, 5)?]);
    let bad = tallies.iter().map(crate::load::Tally::failed).sum::<u64>();
    report.check(bad == 0, format!("{bad} calls failed after bad files"), "0: the old ones stay");
    let counted = server.metric("understudy_reloads_total")? - failed;
    report.check(counted >= 2.0, format!("{counted} failed reloads counted"), "at least 2");
    let log = std::fs::read_to_string(&server.log)?;
    let leaks =
        [OLD, NEW, "no-such-token-anywhere", "PRIVATE KEY"].iter().filter(|secret| log.contains(**secret)).count();
    report.check(leaks == 0, format!("{leaks} secrets in the log"), "0");
    Ok(())
}
