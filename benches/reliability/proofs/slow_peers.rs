//! R13: connections that send a byte a second, half of them not even finishing the HTTP/2 preface. Quiet and slow spells
//! alternate, so that whatever else the machine does falls on both.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::load::{Flow, histogram, ms, run, runtime};
use crate::process::{Program, Server};
use crate::report::Report;
use crate::requests::{easiest, first_game, frames, requests};
use crate::wire::DECIDE;
use crate::{Context, Trouble, raw};

/// R13.
pub fn run_proof(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(Program::Product, &[], &context.scratch)?;
    let game = first_game()?;
    let spells = context.pick(6, 3);
    let mut flow = Flow {
        target: server.target(),
        path: DECIDE,
        bodies: frames(&requests(game, &easiest(game)?, 64, context.seed)),
        connections: 2,
        rate: 400.0,
        lasts: Duration::from_secs(context.pick(10, 2)),
        timeout: Some(Duration::from_secs(1)),
        patience: Duration::from_secs(1),
        seed: context.seed,
    };
    let slow = context.pick(500, 50);
    let (mut quiet, mut beset) = (histogram(), histogram());
    let mut failed = 0;
    run(&Flow { lasts: Duration::from_secs(1), ..flow.clone() });
    for _ in 0..spells {
        flow.seed += 1;
        let tally = run(&flow);
        failed += tally.failed();
        quiet.add(&tally.ok_us)?;
        let address = server.grpc;
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let peers = std::thread::spawn(move || {
            runtime().block_on(async {
                let mut peers = tokio::task::JoinSet::new();
                (0..slow).for_each(|n| drop(peers.spawn(drip(address, n % 2 == 0))));
                let _ = stopped.await;
                peers.abort_all();
            });
        });
        std::thread::sleep(Duration::from_secs(1));
        let tally = run(&flow);
        failed += tally.failed();
        beset.add(&tally.ok_us)?;
        let _ = stop.send(());
        let _ = peers.join();
    }
    report.line(format!(
        "{} calls in {spells} quiet and {spells} slow spells, {slow} slow connections",
        quiet.len() + beset.len()
    ));
    for (name, spell) in [("quiet", &quiet), ("slow peers", &beset)] {
        report.line(format!("{name:<12} p50 {:>7.2} ms, p99 {:>7.2} ms", ms(spell, 0.5), ms(spell, 0.99)));
    }
    let ratio = ms(&beset, 0.99) / ms(&quiet, 0.99);
    report.check(ratio <= 1.3, format!("p99 of good clients x {ratio:.2}"), "<= 1.3");
    report.check(failed == 0, format!("{failed} good calls failed"), "0");
    Ok(())
}

/// A byte a second, over and over: of the preface, or of a message that was announced.
async fn drip(address: std::net::SocketAddr, polite_start: bool) {
    loop {
        let Ok(mut stream) = TcpStream::connect(address).await else { return };
        if polite_start {
            let mut start = raw::preface().to_vec();
            start.extend_from_slice(&raw::headers(1, false));
            if stream.write_all(&start).await.is_err() {
                continue;
            }
        }
        let bytes = if polite_start { raw::frame(0, 0, 1, &[0; 200]) } else { raw::preface() };
        for byte in bytes {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if stream.write_all(&[byte]).await.is_err() {
                break;
            }
        }
    }
}
