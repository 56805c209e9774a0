//! R7: changed views, in this process and over the wire, and random bytes on the port.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use prost::Message;
use understudy::bot::Rng;
use understudy::{games, pb};

use crate::decision::{Kitchen, Verdict};
use crate::load::runtime;
use crate::mutate::Mutator;
use crate::positions::positions;
use crate::process::{Program, Server};
use crate::report::Report;
use crate::source::Source;
use crate::wire::{Channel, DECIDE, Ending, HEALTH, frame};
use crate::{Context, Trouble, raw};

/// R7.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let server = Server::start(Program::Product, &[], &context.scratch)?;
    views(context, report, &server)?;
    noise(context, report, &server)?;
    let panics = server.metric("understudy_panics_total")?;
    report.check(panics == 0.0, format!("{panics} panics"), "0");
    let alive = runtime().block_on(async {
        Channel::new(&server.target()).call(HEALTH, None, frame(&()), Duration::from_secs(2)).await
    });
    report.check(alive.ending == Ending::OK, format!("health afterwards: {}", alive.ending), "Ok");
    let mut server = server;
    server.terminate();
    let status = server.wait(Duration::from_secs(30))?;
    report.check(status.is_some_and(|status| status.success()), format!("exit {status:?}"), "0");
    Ok(())
}

/// Views changed in a few places: each is decided or refused by name, and the server agrees with the library.
fn views(context: &Context, report: &mut Report, server: &Server) -> Result<(), Trouble> {
    let kitchen = Kitchen::default();
    let mutator = Mutator::default();
    let mut rng = Rng::new(context.seed).split("views");
    let seeds: Vec<(&str, Vec<pb::View>)> =
        games::KEYS.iter().map(|key| (*key, positions(key, 200, context.seed))).collect();
    let total = context.pick(1_000_000, 20_000);
    // Every hundredth goes over the wire too.
    let over_the_wire = context.pick(100, 20);
    let mut seen: BTreeMap<(&str, Verdict), u64> = BTreeMap::new();
    let mut flipped: BTreeMap<Verdict, u64> = BTreeMap::new();
    let mut disagreements = Vec::new();
    let runtime = runtime();
    let channel = Channel::new(&server.target());
    for n in 0..total {
        let (game, positions) = &seeds[n % seeds.len()];
        let noise: Vec<u8> = (0..16).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
        let view = mutator.view(&positions[rng.below(positions.len() as u64) as usize], &mut Source(&noise));
        let bots: Vec<_> = kitchen.bots().iter().filter(|bot| bot.game() == *game).collect();
        // Deciding costs; refusing is what most of these are for.
        let bot = if n % 16 == 0 { bots[rng.below(bots.len() as u64) as usize] } else { bots[0] };
        let request = pb::DecideRequest { view: Some(view), policy: bot.name().to_owned(), ..Default::default() };
        let mut bytes = request.encode_to_vec();
        let place = rng.below(bytes.len() as u64) as usize;
        bytes[place] ^= 1 << rng.below(8);
        *flipped.entry(kitchen.bytes(&bytes)).or_default() += 1;
        let verdict = kitchen.decide(request.clone());
        *seen.entry((game, verdict)).or_default() += 1;
        if n % over_the_wire == 0 {
            let mut request = request;
            request.budget = Some(pb::Budget { max_nodes: Some(300), max_time_us: Some(20_000), ..Default::default() });
            let body = frame(&request);
            let answer = runtime.block_on(channel.call(DECIDE, None, body, Duration::from_secs(20)));
            let expected = match verdict {
                Verdict::Decided => 0,
                Verdict::Refused => 3,
                Verdict::Unknown => 5,
                Verdict::Nothing => 9,
            };
            // Above the request limit the message is refused before anybody reads it.
            let too_large = frame(&request).len() > 256 << 10 && answer.ending == Ending::REFUSED;
            if answer.ending != Ending::Status(expected) && !too_large {
                disagreements.push(format!(
                    "{game} {}: {expected} here, {} {} there",
                    request.policy, answer.ending, answer.text
                ));
            }
        }
    }
    for ((game, verdict), count) in &seen {
        report.line(format!("{game:<8} {verdict:?}: {count}"));
    }
    report.line(format!("the same with a bit of their bytes turned: {flipped:?}"));
    disagreements.iter().take(5).for_each(|text| report.line(text));
    let both = games::KEYS
        .iter()
        .all(|game| seen.contains_key(&(*game, Verdict::Decided)) && seen.contains_key(&(*game, Verdict::Refused)));
    report.check(both, format!("{total} changed views without a crash"), "of every game some decided, some refused");
    let asked = total / over_the_wire;
    let figure = format!("{} of {asked} over the wire answered otherwise", disagreements.len());
    report.check(disagreements.is_empty(), figure, "0: bad views get 3");
    Ok(())
}

/// Random bytes from four connections at a time, half of them behind a proper preface.
fn noise(context: &Context, report: &mut Report, server: &Server) -> Result<(), Trouble> {
    let lasts = Duration::from_secs(context.pick(60, 3));
    let address = server.grpc;
    let seed = context.seed;
    let sent: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                scope.spawn(move || {
                    let mut rng = Rng::new(seed).fork(thread);
                    let began = Instant::now();
                    let mut sent = 0;
                    while began.elapsed() < lasts {
                        sent += pester(address, &mut rng).unwrap_or(0);
                    }
                    sent
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a noise thread")).sum()
    });
    report.check(sent > 0, format!("{sent} random bytes in {} s", lasts.as_secs()), "the server stands");
    Ok(())
}

fn pester(address: std::net::SocketAddr, rng: &mut Rng) -> std::io::Result<u64> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_millis(20)))?;
    stream.set_write_timeout(Some(Duration::from_millis(200)))?;
    if rng.below(2) == 0 {
        stream.write_all(&raw::preface())?;
        if rng.below(2) == 0 {
            stream.write_all(&raw::headers(1, false))?;
        }
    }
    let mut sent = 0;
    for _ in 0..rng.below(20) {
        let length = 1 + rng.below(2000) as usize;
        let noise: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| rng.next_u64().to_le_bytes()).take(length).collect();
        // Half of the chunks are frames with a sound head and a random body.
        let chunk = if rng.below(2) == 0 {
            raw::frame(rng.below(12) as u8, rng.next_u64() as u8, rng.below(8) as u32, &noise).to_vec()
        } else {
            noise
        };
        stream.write_all(&chunk)?;
        sent += chunk.len() as u64;
    }
    let _ = stream.read(&mut [0; 512]);
    Ok(sent)
}
