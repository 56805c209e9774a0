//! R6: floods of every kind, each against a server of its own; peak memory while it lasts, and what is left after.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use understudy::pb;
use understudy::pb::apple::{AssessBoardsRequest, Board};
use understudy::pb::view::Game;

use crate::load::runtime;
use crate::process::{Program, Server};
use crate::report::Report;
use crate::requests::{easiest, first_game, frames, requests};
use crate::wire::{self, BATCH, Channel, DECIDE, Ending, HEALTH, frame, head};
use crate::{Context, Trouble, raw};

const ASSESS: &str = "/understudy.apple.v1.BoardService/AssessBoards";
const PEAK_MB: f64 = 150.0;
const LEFT_MB: f64 = 20.0;

/// A share of the full flood in quick runs.
fn size(context: &Context, full: usize) -> usize {
    context.pick(full, full / 10)
}

/// R6.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    report.line(format!("{:<44} {:>8} {:>8} {:>8}", "flood", "idle MB", "peak MB", "after MB"));
    let flood = |report: &mut Report, name: &str, flags: &[&str], act: &dyn Fn(&Server) -> Result<(), Trouble>| {
        one(context, report, name, flags, act).map_err(|error| Trouble::from(format!("{name}: {error}")))
    };
    let n = |full| size(context, full);
    flood(report, &format!("{} streams tried", n(20_000)), &[], &|server| streams(server, n(20_000)))?;
    flood(report, &format!("{} streams against SETTINGS", n(20_000)), &[], &|server| rude(server, n(20_000)))?;
    flood(report, &format!("{} idle connections", n(1000)), &[], &|server| idle(server, n(1000)))?;
    flood(report, &format!("{} slow senders", n(10_000)), &[], &|server| senders(server, n(10_000)))?;
    flood(report, &format!("{} slow readers of ALL", n(1000)), &[], &|server| readers(context, server, n(1000)))?;
    flood(report, &format!("{} batches of 128, ALL", n(1000)), &[], &|server| batches(context, server, n(1000)))?;
    flood(report, &format!("{} times 256 boards", n(200)), &[], &|server| boards(context, server, n(200)))?;
    flood(report, "gzip bombs, --gzip", &["--gzip"], &|server| bombs(server, n(400), 8))?;
    flood(report, "gzip bombs, gzip off", &[], &|server| bombs(server, n(400), 12))?;
    flood(report, &format!("{} resets", n(64_000)), &[], &|server| resets(server, n(64_000)))?;
    Ok(())
}

fn one(
    context: &Context,
    report: &mut Report,
    name: &str,
    flags: &[&str],
    act: &dyn Fn(&Server) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let server = Server::start(Program::Product, flags, &context.scratch)?;
    // A few honest calls first, so that idle is the idle of a server in use.
    honest(context, &server)?;
    let idle = server.reading()?.rss_mb;
    act(&server)?;
    let peak = server.reading()?.peak_mb;
    let mut after = server.reading()?.rss_mb;
    for _ in 0..20 {
        if after - idle <= LEFT_MB {
            break;
        }
        std::thread::sleep(Duration::from_millis(500));
        after = server.reading()?.rss_mb;
    }
    report.line(format!("{name:<44} {idle:>8.1} {peak:>8.1} {after:>8.1}"));
    report.check(peak <= PEAK_MB, format!("{name}: peak {peak:.0} MB"), "<= 150 MB");
    let left = after - idle;
    report.check(left <= LEFT_MB, format!("{name}: {left:.1} MB above idle within 10 s"), "<= 20 MB");
    honest(context, &server)
}

/// Honest calls are served as ever.
fn honest(context: &Context, server: &Server) -> Result<(), Trouble> {
    let game = first_game()?;
    let bodies = frames(&requests(game, &easiest(game)?, 20, context.seed));
    runtime().block_on(async {
        let channel = Channel::new(&server.target());
        for body in bodies.iter() {
            let answer = channel.call(DECIDE, None, body.clone(), Duration::from_secs(10)).await;
            if answer.ending != Ending::OK {
                return Err(format!("an honest call got {} {}", answer.ending, answer.text).into());
            }
        }
        let answer = channel.call(HEALTH, None, frame(&()), Duration::from_secs(10)).await;
        if answer.ending == Ending::OK { Ok(()) } else { Err(format!("health says {}", answer.ending).into()) }
    })
}

/// Streams that are opened and never go on, as many as the server lets a connection have.
fn streams(server: &Server, count: usize) -> Result<(), Trouble> {
    runtime().block_on(async {
        let target = server.target();
        let (mut held, mut senders) = (Vec::new(), Vec::new());
        while held.len() < count {
            let before = held.len();
            let mut sender = wire::connect(&target).await?;
            for _ in 0..1000.min(count - held.len()) {
                // The server may refuse a connection's later streams; then the next connection goes on.
                let Ok(Ok(ready)) = tokio::time::timeout(Duration::from_secs(1), sender.clone().ready()).await else {
                    break;
                };
                sender = ready;
                let Ok(stream) = sender.send_request(head(&target, DECIDE, None), false) else { break };
                held.push(stream);
            }
            senders.push(sender);
            if held.len() == before {
                return Err("the server opens no stream at all".into());
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(())
    })
}

/// The same from a peer that does not care about SETTINGS: frames by hand.
fn rude(server: &Server, count: usize) -> Result<(), Trouble> {
    let mut stream = std::net::TcpStream::connect(server.grpc)?;
    stream.set_write_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(&raw::preface())?;
    for n in 0..count as u32 {
        // The server is free to hang up on us.
        if stream.write_all(&raw::headers(2 * n + 1, false)).is_err() {
            break;
        }
    }
    std::thread::sleep(Duration::from_secs(1));
    Ok(())
}

fn idle(server: &Server, count: usize) -> Result<(), Trouble> {
    runtime().block_on(async {
        let target = server.target();
        let mut held = Vec::new();
        for _ in 0..count {
            held.push(wire::connect(&target).await?);
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok(())
    })
}

/// Bodies that announce a full message and then come a byte at a time.
fn senders(server: &Server, count: usize) -> Result<(), Trouble> {
    runtime().block_on(async {
        let target = server.target();
        let per_connection = 100;
        let mut held = Vec::new();
        for _ in 0..count.div_ceil(per_connection) {
            let mut sender = wire::connect(&target).await?;
            for _ in 0..per_connection {
                let Ok(ready) = sender.ready().await else { return Ok(()) };
                sender = ready;
                let (_, mut stream) = sender.send_request(head(&target, DECIDE, None), false)?;
                stream.send_data(Bytes::from_static(&[0, 0, 3, 0, 0]), false)?;
                held.push(stream);
            }
        }
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(500)).await;
            // Those whose time was up are refused by now; the write then fails, and that is fine.
            held.iter_mut().for_each(|stream| drop(stream.send_data(Bytes::from_static(b"x"), false)));
        }
        Ok(())
    })
}

/// Whole tables asked for and never taken: windows of 0.
fn readers(context: &Context, server: &Server, count: usize) -> Result<(), Trouble> {
    let game = first_game()?;
    let mut asked = requests(game, &easiest(game)?, 64, context.seed);
    asked.iter_mut().for_each(|request| request.detail = pb::Detail::All as i32);
    let bodies = frames(&asked);
    runtime().block_on(async {
        let target = server.target();
        let mut held = Vec::new();
        for n in 0..count.div_ceil(10) {
            let mut sender = wire::connect_with(&target, h2::client::Builder::new().initial_window_size(0)).await?;
            for k in 0..10 {
                sender = sender.ready().await?;
                let (reply, mut stream) = sender.send_request(head(&target, DECIDE, None), false)?;
                stream.send_data(bodies[(n * 10 + k) % bodies.len()].clone(), true)?;
                held.push((reply, stream));
            }
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        Ok(())
    })
}

/// Whole tables of many positions at once, taken as fast as they come: what is decided is more than what is sent.
fn batches(context: &Context, server: &Server, count: usize) -> Result<(), Trouble> {
    let game = first_game()?;
    let mut items = requests(game, &easiest(game)?, 128, context.seed);
    items.iter_mut().for_each(|request| request.detail = pb::Detail::All as i32);
    many(server, BATCH, frame(&pb::BatchDecideRequest { items }), count)
}

/// Boards with all their numbers.
fn boards(context: &Context, server: &Server, count: usize) -> Result<(), Trouble> {
    let boards =
        requests("apple", "easy", 256, context.seed).into_iter().filter_map(|request| match request.view?.game? {
            Game::Apple(view) => Some(Board { rows: view.rows, columns: view.columns, cells: view.cells }),
            _ => None,
        });
    let request =
        AssessBoardsRequest { boards: boards.collect(), ruleset: "fruitbox.v1".to_owned(), ..Default::default() };
    many(server, ASSESS, frame(&request), count)
}

/// The same call many times at once, over a connection for each hundred. A refusal is an answer.
fn many(server: &Server, path: &'static str, body: Bytes, count: usize) -> Result<(), Trouble> {
    runtime().block_on(async {
        let channels: Vec<_> = (0..count.div_ceil(100)).map(|_| Channel::new(&server.target())).collect();
        let mut calls = tokio::task::JoinSet::new();
        for n in 0..count {
            let (channel, body) = (Arc::clone(&channels[n % channels.len()]), body.clone());
            calls.spawn(async move { channel.call(path, None, body, Duration::from_secs(60)).await.ending });
        }
        let endings = calls.join_all().await;
        let fine = endings.iter().filter(|ending| **ending == Ending::OK).count();
        if fine == 0 { Err(format!("none of {count} calls was answered").into()) } else { Ok(()) }
    })
}

/// 200 KB that inflate to 200 MB.
fn bombs(server: &Server, count: usize, expected: u8) -> Result<(), Trouble> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..200 {
        packer.write_all(&zeros)?;
    }
    let bomb = wire::frame_bytes(1, &packer.finish()?);
    runtime().block_on(async {
        let mut target = server.target();
        target.extra.push(("grpc-encoding", "gzip".to_owned()));
        let mut calls = tokio::task::JoinSet::new();
        let channels: Vec<_> = (0..4).map(|_| Channel::new(&target)).collect();
        for n in 0..count {
            let (channel, bomb) = (channels[n % 4].clone(), bomb.clone());
            calls.spawn(async move { channel.call(DECIDE, None, bomb, Duration::from_secs(30)).await.ending });
        }
        let endings = calls.join_all().await;
        match endings.iter().find(|ending| **ending != Ending::Status(expected)) {
            None => Ok(()),
            Some(other) => Err(format!("a bomb got {other}, not {expected}").into()),
        }
    })
}

/// Streams opened and reset in one breath.
fn resets(server: &Server, count: usize) -> Result<(), Trouble> {
    runtime().block_on(async {
        let mut sent = 0;
        while sent < count {
            let mut stream = TcpStream::connect(server.grpc).await?;
            let (mut read, mut write) = stream.split();
            let mut page = Vec::with_capacity(64 << 10);
            page.extend_from_slice(&raw::preface());
            let mut next = 1;
            let flood = async {
                while sent < count {
                    for _ in 0..50 {
                        page.extend_from_slice(&raw::headers(next, true));
                        page.extend_from_slice(&raw::reset(next));
                        next += 2;
                    }
                    if write.write_all(&page).await.is_err() {
                        break;
                    }
                    sent += 50;
                    page.clear();
                }
            };
            let drain = async {
                let mut sink = [0; 4096];
                while read.read(&mut sink).await.is_ok_and(|length| length > 0) {}
            };
            // The server may end the connection; what it says is read and dropped meanwhile.
            tokio::select! { () = flood => {}, () = drain => {} }
            if next == 1 {
                sent += 50;
            }
        }
        Ok(())
    })
}
