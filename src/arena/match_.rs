//! One game between players who see nothing but views.

use std::sync::Arc;

use super::durations::Durations;
use super::player::{Mind, Player};
use crate::bot::{Ask, Budget, Game, Outcome, Policy, Referee, Rng, Seat, Stopwatch, Turn, decide};

/// A referee that asks more often than this never ends its game: a bug of the game.
const ENDLESS: u32 = 1_000_000;

/// What ended a run: a move that is illegal or missing. It is a bug of a policy, so it is never forfeited or skipped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{policy} as seat {} of deal {deal}, rotation {rotation}, decision {ply}: {what}", seat.0)]
pub struct Broken {
    /// Label of the player.
    pub policy: String,
    /// Where it sat.
    pub seat: Seat,
    /// Seed of the deal.
    pub deal: u64,
    /// Which seating of the deal.
    pub rotation: usize,
    /// Decisions taken before it.
    pub ply: u32,
    /// What was wrong.
    pub what: String,
}

/// What one player did in a game or a deal; all counts, so that they add up in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Decisions taken.
    pub decisions: u64,
    /// Nodes searched.
    pub nodes: u64,
    /// Worlds sampled.
    pub worlds: u64,
    /// Sum of the depths reached.
    pub depth: u64,
    /// Decisions with more than one legal move; counted on request only.
    pub choices: u64,
    /// What was chosen in them, by place in [`Game::KINDS`].
    pub kinds: Vec<u64>,
}

/// How a game went.
pub struct Played<G: Game> {
    /// How it ended.
    pub outcome: Outcome,
    /// Decisions taken.
    pub plies: u32,
    /// Every answer, grouped by question; empty unless asked for.
    pub steps: Vec<Vec<(Seat, G::Move)>>,
}

/// How games are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A row's line is played to its end as long as nobody else moves, instead of asking for every move.
    pub follow_plan: bool,
    /// Count kinds of moves among decisions with a choice.
    pub kinds: bool,
    /// Keep every move.
    pub record: bool,
}

/// Times decisions. Cheap policies are timed once in [`STRIDE`] decisions, so that the clock does not cost more than
/// the thinking.
#[derive(Clone, Debug, Default)]
pub struct Timer {
    durations: Durations,
    seen: u64,
    timed: u64,
    timed_ns: u64,
}

const STRIDE: u64 = 64;
/// Mean think time from which on every decision is timed.
const DEAR_NS: u64 = 10_000;

impl Timer {
    fn start(&mut self) -> Option<Stopwatch> {
        self.seen += 1;
        let dear = self.timed < STRIDE || self.timed_ns >= DEAR_NS * self.timed;
        (dear || self.seen.is_multiple_of(STRIDE)).then(Stopwatch::start)
    }

    fn stop(&mut self, watch: Option<Stopwatch>) {
        if let Some(time) = watch.map(|watch| watch.elapsed()) {
            self.timed += 1;
            self.timed_ns += u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.durations.add(time);
        }
    }

    /// The times taken so far.
    pub fn into_durations(self) -> Durations {
        self.durations
    }
}

/// A line being followed: whose it is, and what is left of it (the next move last).
struct Plan<G: Game> {
    seat: Seat,
    rest: Vec<G::Move>,
}

/// One game at a table. `seating[s]` is the player of seat s.
pub struct Match<'a, G: Referee> {
    players: &'a [Player<G>],
    seating: &'a [usize],
    options: Options,
    thinking: Rng,
    /// Deal and rotation, for complaints.
    place: (u64, usize),
}

impl<'a, G: Referee> Match<'a, G> {
    /// A table of `players`, on the deal with this seed. The seed of the thinking comes from the deal's, by another
    /// stream than the cards.
    pub fn new(players: &'a [Player<G>], seating: &'a [usize], options: Options, deal: u64, rotation: usize) -> Self {
        Self { players, seating, options, thinking: Rng::new(deal).split("think"), place: (deal, rotation) }
    }

    /// Plays to the end. Tallies and timers have one entry a player.
    ///
    /// # Errors
    /// The first illegal or missing move.
    pub fn play(&self, mut state: G::State, tallies: &mut [Tally], timers: &mut [Timer]) -> Result<Played<G>, Broken> {
        let mut answers: Vec<(Seat, G::Move)> = Vec::with_capacity(1);
        let mut steps = Vec::new();
        let mut plan = None;
        let mut ply = 0;
        loop {
            answers.clear();
            match G::ask(&state) {
                Ask::Over(outcome) => return Ok(Played { outcome, plies: ply, steps }),
                Ask::One(seat) => {
                    answers.push((seat, self.answer(&state, seat, ply, &mut plan, tallies, timers)));
                    ply += 1;
                }
                Ask::Window(seats) => {
                    plan = None;
                    for seat in seats.iter() {
                        answers.push((seat, self.answer(&state, seat, ply, &mut plan, tallies, timers)));
                        plan = None;
                        ply += 1;
                    }
                }
            }
            G::resolve(&mut state, &answers).map_err(|illegal| {
                let mv = answers.iter().find(|(seat, _)| *seat == illegal.seat).map(|(_, mv)| G::key(mv));
                let what = format!("{} is illegal: {}", mv.as_deref().unwrap_or("no move"), illegal.reason);
                self.broken(illegal.seat, ply, what)
            })?;
            if self.options.record {
                steps.push(answers.clone());
            }
            if ply > ENDLESS {
                return Err(self.broken(Seat(0), ply, "the game does not end".to_owned()));
            }
        }
    }

    fn broken(&self, seat: Seat, ply: u32, what: String) -> Broken {
        let policy = self.seating.get(seat.index()).map_or("?", |&player| self.players[player].label.as_str());
        Broken { policy: policy.to_owned(), seat, deal: self.place.0, rotation: self.place.1, ply, what }
    }

    fn answer(
        &self,
        state: &G::State,
        seat: Seat,
        ply: u32,
        plan: &mut Option<Plan<G>>,
        tallies: &mut [Tally],
        timers: &mut [Timer],
    ) -> G::Move {
        let view = G::view(state, seat);
        if let Some(next) = followed::<G>(plan, seat, &view) {
            return next;
        }
        let index = self.seating[seat.index()];
        let (player, tally, timer) = (&self.players[index], &mut tallies[index], &mut timers[index]);
        let seed = self.thinking.fork(u64::from(ply) << 8 | u64::from(seat.0));
        let watch = timer.start();
        let mv = match &player.mind {
            Mind::Random => at_random::<G>(&view, seed),
            Mind::Policy(policy) if self.options.follow_plan => {
                let (mv, line) = thought(policy, &view, player, seed, tally);
                *plan = line.map(|rest| Plan { seat, rest });
                mv
            }
            Mind::Policy(policy) => {
                let mut rng = seed.clone();
                let budget = Budget::new(player.limits);
                match policy.shortcut(&view, &mut Turn { budget: &budget, rng: &mut rng }) {
                    Some(mv) => mv,
                    None => thought(policy, &view, player, seed, tally).0,
                }
            }
        };
        timer.stop(watch);
        tally.decisions += 1;
        if self.options.kinds {
            count_kind::<G>(tally, &view, &mv);
        }
        mv
    }
}

/// The next move of a line that this seat is following, while it is legal.
fn followed<G: Referee>(plan: &mut Option<Plan<G>>, seat: Seat, view: &G::View) -> Option<G::Move> {
    let mut line = plan.take()?;
    if line.seat != seat {
        return None;
    }
    let next = line.rest.pop()?;
    if !G::legal(view).contains(&next) {
        return None;
    }
    *plan = Some(line);
    Some(next)
}

/// The decision by the whole table, and the rest of its line, next move last.
fn thought<G: Game>(
    policy: &Arc<dyn Policy<G>>,
    view: &G::View,
    player: &Player<G>,
    mut seed: Rng,
    tally: &mut Tally,
) -> (G::Move, Option<Vec<G::Move>>) {
    let budget = Budget::new(player.limits);
    let table = policy.evaluate(view, &mut Turn { budget: &budget, rng: &mut seed });
    tally.nodes += table.work.nodes;
    tally.worlds += u64::from(table.work.worlds);
    tally.depth += u64::from(table.work.depth);
    let row = decide(&table);
    let line = row.get_line();
    let rest = (line.len() > 1).then(|| line[1..].iter().rev().cloned().collect());
    (row.mv().clone(), rest)
}

/// Any legal move, each as likely.
pub fn at_random<G: Game>(view: &G::View, mut rng: Rng) -> G::Move {
    let mut legal = G::legal(view);
    let chosen = rng.below(legal.len() as u64) as usize;
    legal.swap_remove(chosen)
}

fn count_kind<G: Game>(tally: &mut Tally, view: &G::View, mv: &G::Move) {
    if G::legal(view).len() < 2 {
        return;
    }
    tally.choices += 1;
    tally.kinds.resize(G::KINDS.len(), 0);
    if let Some(place) = G::KINDS.iter().position(|kind| *kind == G::kind(mv)) {
        tally.kinds[place] += 1;
    }
}
