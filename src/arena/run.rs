//! A whole run: deals over threads, in the same order on any number of them.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::durations::Durations;
use super::match_::{Broken, Match, Options, Played, Tally, Timer};
use super::ordered::ordered;
use super::player::{Player, Shown};
use super::record;
use super::report::{Header, PlayerHeader, Sample, Side, Style, tested};
use super::seating::seatings;
use super::stats::{Sprt, Verdict};
use crate::bot::registry::hex;
use crate::bot::{MatchStyle, Outcome, Referee, Seat};

/// Who plays what.
pub struct Setup<G: Referee> {
    /// The rules.
    pub rules: G::Rules,
    /// The rules, as they were named.
    pub rules_name: String,
    /// The players, each once.
    pub players: Vec<Player<G>>,
    /// The player of each seat; in a one-seat game, every player that plays.
    pub seats: Vec<usize>,
    /// Replay every deal with the seats rotated.
    pub rotate: bool,
    /// How games are played.
    pub options: Options,
}

/// How much is played, and by how many threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Deal i is dealt from seed + i.
    pub seed: u64,
    /// Deals of the whole run.
    pub deals: u64,
    /// Which of them are played here.
    pub shard: Shard,
    /// Threads; the numbers do not depend on it.
    pub threads: usize,
    /// Stop as soon as this is decided.
    pub sprt: Option<Sprt>,
}

/// A part of a run: the deals whose index leaves `index` when divided by `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 0.
    pub index: u64,
    /// How many shards there are.
    pub of: u64,
}

impl Shard {
    /// All deals.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// How many of `deals` deals are in this part.
    pub const fn len(self, deals: u64) -> u64 {
        deals / self.of + (self.index < deals % self.of) as u64
    }

    /// Whether it holds none of them.
    pub const fn is_empty(self, deals: u64) -> bool {
        self.len(deals) == 0
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, of)) if index < of => Ok(Self { index, of }),
            _ => Err(format!("{text:?} is not I/N with I from 0 to N-1")),
        }
    }
}

/// Told about progress, in the order of the deals.
pub trait Watch {
    /// One more deal is done; `records` are its games as JSON lines, when they are kept.
    fn deal(&mut self, records: &str);
}

/// Watches nothing.
pub struct Blind;

impl Watch for Blind {
    fn deal(&mut self, _records: &str) {}
}

/// What a run found.
#[derive(Clone, Debug)]
pub struct Finished {
    /// One entry a deal, in the order of the deals.
    pub samples: Vec<Sample>,
    /// Think times, one entry a player.
    pub think: Vec<Durations>,
}

impl<G: Referee> Setup<G> {
    /// What the run is.
    pub fn header(&self, schedule: &Schedule) -> Header {
        let label = |&player: &usize| self.players[player].label.clone();
        let players = self.players.iter().map(|player| PlayerHeader {
            label: player.label.clone(),
            version: player.version(),
            weights_hash: hex(player.weights_hash()),
            budget: Shown(&player.limits).to_string(),
        });
        Header {
            game: G::KEY.to_owned(),
            unit: G::UNIT.to_owned(),
            style: match G::STYLE {
                MatchStyle::Table => Style::Table,
                MatchStyle::TwoSided => Style::TwoSided,
                MatchStyle::Solo => Style::Solo,
            },
            rules: self.rules_name.clone(),
            seats: self.seats.iter().map(label).collect(),
            players: players.collect(),
            seed: schedule.seed,
            deals: schedule.deals,
            rotate: self.rotate,
            follow_plan: self.options.follow_plan,
            repeatable: self.players.iter().all(|player| player.limits.time.is_none()),
            kinds: if self.options.kinds {
                G::KINDS.iter().map(|kind| (*kind).to_owned()).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// One deal in all its seatings.
    fn deal(&self, index: u64, seed: u64, timers: &mut [Timer]) -> Result<(Sample, String), Broken> {
        let mut sample = Sample { index, sides: vec![Side::default(); self.players.len()], ..Sample::default() };
        let mut records = String::new();
        let seatings = seatings(G::STYLE, &self.seats, self.rotate);
        let state = G::deal(&self.rules, seatings[0].len() as u8, seed);
        let mut tallies = vec![Tally::default(); self.players.len()];
        for (rotation, seating) in seatings.iter().enumerate() {
            let table = Match::new(&self.players, seating, self.options, seed, rotation);
            let played = table.play(state.clone(), &mut tallies, timers)?;
            sample.rounds += 1;
            sample.plies += u64::from(played.plies);
            settle(&mut sample.sides, seating, &played);
            if self.options.record {
                let labels = seating.iter().map(|&player| self.players[player].label.clone()).collect();
                records.push_str(&record::line(&self.rules_name, seed, rotation, labels, &played));
            }
        }
        for (side, tally) in sample.sides.iter_mut().zip(tallies) {
            side.decisions = tally.decisions;
            side.nodes = tally.nodes;
            side.worlds = tally.worlds;
            side.depth = tally.depth;
            side.choices = tally.choices;
            side.kinds = tally.kinds;
        }
        Ok((sample, records))
    }
}

fn settle<G: Referee>(sides: &mut [Side], seating: &[usize], played: &Played<G>) {
    for (seat, &player) in seating.iter().enumerate() {
        let side = &mut sides[player];
        let Outcome::Known(settlement) = &played.outcome else {
            side.truncated += 1;
            continue;
        };
        let won = settlement.winners.contains(Seat(seat as u8));
        let winners = settlement.winners.len();
        side.seats += 1;
        side.payment += settlement.payments[seat];
        side.share += if won { 1.0 / f64::from(winners) } else { 0.0 };
        let result = match (won, winners) {
            (true, 1) => 0,
            (false, _) => 2,
            (true, _) => 1,
        };
        side.results[result] += 1;
    }
}

/// Plays a run. `watch` hears of every deal in order; a sequential test stops after the same deal on any number of
/// threads.
///
/// # Errors
/// The first illegal or missing move, by the order of the deals.
pub fn run<G: Referee>(setup: &Setup<G>, schedule: &Schedule, watch: &mut dyn Watch) -> Result<Finished, Broken> {
    let total = schedule.shard.len(schedule.deals);
    let style = setup.header(schedule).style;
    let mut samples = Vec::new();
    let mut broken = None;
    let take = |deals: Result<Vec<(Sample, String)>, Broken>| {
        let deals = match deals {
            Ok(deals) => deals,
            Err(found) => {
                broken = Some(found);
                return ControlFlow::Break(());
            }
        };
        for (sample, records) in deals {
            watch.deal(&records);
            samples.push(sample);
            let look = schedule.sprt.filter(|_| samples.len().is_multiple_of(LOOK));
            if look.is_some_and(|test| test.verdict(&tested(style, &samples)) != Verdict::Open) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    };
    let timers = || vec![Timer::default(); setup.players.len()];
    let block = |timers: &mut Vec<Timer>, number: u64| {
        let from = number * BLOCK;
        (from..total.min(from + BLOCK)).map(|place| setup.guarded(schedule, place, timers)).collect()
    };
    let timers = ordered(schedule.threads, total.div_ceil(BLOCK), timers, block, take);
    let mut think = vec![Durations::default(); setup.players.len()];
    for (all, timer) in timers.into_iter().flat_map(|timers| timers.into_iter().enumerate()) {
        think[all].merge(&timer.into_durations());
    }
    broken.map_or(Ok(Finished { samples, think }), Err)
}

/// Deals that a thread takes at a time.
const BLOCK: u64 = 8;
/// How often the sequential test looks, in deals.
const LOOK: usize = 20;

impl<G: Referee> Setup<G> {
    /// The deal at a place of the shard. A policy that panics has no move: the run ends with a complaint like any
    /// other missing move.
    fn guarded(&self, schedule: &Schedule, place: u64, timers: &mut [Timer]) -> Result<(Sample, String), Broken> {
        let index = place * schedule.shard.of + schedule.shard.index;
        let seed = schedule.seed.wrapping_add(index);
        catch_unwind(AssertUnwindSafe(|| self.deal(index, seed, timers)))
            .unwrap_or_else(|panic| Err(panicked(seed, panic.as_ref())))
    }
}

fn panicked(deal: u64, panic: &(dyn std::any::Any + Send)) -> Broken {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let what = format!("panicked instead of moving: {}", text.unwrap_or("no message"));
    Broken { policy: "a policy".to_owned(), seat: Seat(0), deal, rotation: 0, ply: 0, what }
}
