//! `expert`: plays every good move out in sampled worlds, and adds what it wins there to the terms of `hard`. A certain
//! finishing line ends the search before it starts.

use std::sync::Arc;

use super::super::lines::Lines;
use super::super::meld::{Key, Meld};
use super::super::reading::{Reading, STAGES};
use super::super::rollout::{Hand, Table, Wins};
use super::super::terms::{LexioTerm, LexioTerms};
use super::super::view::View;
use super::super::worlds::Worlds;
use super::super::{Lexio, Move};
use super::hard::{self, Hard, weigh_all};
use crate::bot::policy::Heeds;
use crate::bot::{
    About, Budget, Completion, Evaluated, Evaluation, Limits, Payoff, Policy, PolicyKind, Proof, Standing, Stopped,
    TermSet, Terms, Turn, Unit, WeightTable, Weights, WeightsError,
};

/// What the terms of `hard` weigh beside a chip.
const HARD_SHARE: f64 = 0.3;
/// Moves that are played out.
const CANDIDATES: usize = 12;
/// Worlds where no limit is named.
const WORLDS: u32 = 100;
/// Worlds at most where only time or nodes are limited.
const MANY_WORLDS: u32 = 20_000;
/// `settlement` is 0.5 + chips / SPAN, its weight SPAN: a total then reads in chips.
const SPAN: f64 = 2048.0;

const SETTLEMENT: usize = LexioTerm::Settlement as usize;
const OFFSET: usize = LexioTerm::Offset as usize;
const TERMS: TermSet = hard::TERMS.union(TermSet::of(&[SETTLEMENT, OFFSET]));

/// The policy `expert`.
#[derive(Clone, Debug, Default)]
pub struct Expert {
    hard: Hard,
}

/// A move that is played out, and what came of it.
struct Trial {
    row: usize,
    play: Option<Meld>,
    left: Hand,
    dropped: bool,
    worlds: u32,
    sum: f64,
    squares: f64,
}

impl Trial {
    fn add(&mut self, net: f64) {
        self.worlds += 1;
        self.sum += net;
        self.squares += net * net;
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.worlds)
    }

    fn payoff(&self) -> Payoff {
        let worlds = f64::from(self.worlds);
        let spread = (self.squares / worlds - self.mean() * self.mean()).max(0.0);
        let standard_error = if self.worlds > 1 { (spread / (worlds - 1.0)).sqrt() } else { 0.0 };
        Payoff { mean: self.mean(), standard_error, samples: self.worlds }
    }
}

impl Expert {
    /// With the weights of `hard`, and what the sampled settlement weighs.
    fn in_force(&self, reading: &Reading<'_>, settlement: bool) -> Weights<LexioTerms> {
        let mut weights = self.hard.in_force(reading);
        for place in hard::TERMS.iter() {
            weights = weights.set(place, HARD_SHARE * weights.base(place));
        }
        let on = if settlement { 1.0 } else { 0.0 };
        weights.set(SETTLEMENT, SPAN).times(SETTLEMENT, on).set(OFFSET, -SPAN / 2.0).times(OFFSET, on)
    }
}

impl Policy<Lexio> for Expert {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Plays the best moves of hard out in sampled worlds that fit the log; proves certain finishing lines.",
            kind: PolicyKind::Search,
            anytime: true,
            uses_seed: true,
            default_limits: Limits::worlds(WORLDS),
            heeds: Heeds { time: true, nodes: true, worlds: true, depth: false },
            terms: TERMS,
            aliases: &[],
            stages: &STAGES,
        }
    }

    fn evaluate(&self, view: &View, turn: &mut Turn<'_>) -> Evaluated<Lexio> {
        let mut reading = Reading::of(view);
        let weights = self.in_force(&reading, false);
        let floor = weigh_all(&mut reading, view, &weights);
        let floor = prove(view, &reading, floor);
        let proven = floor.iter().any(|row| row.get_standing() != Standing::Open);
        let (rows, completion) = if proven || floor.len() == 1 {
            (floor, Completion::Full)
        } else {
            let weights = self.in_force(&reading, true);
            sample(view, &reading, floor, &weights, turn)
        };
        let mut table = reading.facts(Evaluated::new(rows)).fact("stage", f64::from(reading.stage()), "").spent(turn.budget);
        table.completion = completion;
        table.work.depth = u32::from(table.work.worlds > 0);
        table
    }

    fn weights(&self) -> Vec<Weights<LexioTerms>> {
        let row = |weights: Weights<LexioTerms>| {
            let scaled = hard::TERMS.iter().fold(weights, |row, place| row.set(place, HARD_SHARE * row.base(place)));
            scaled.set(SETTLEMENT, SPAN).set(OFFSET, -SPAN / 2.0)
        };
        self.hard.weights().into_iter().map(row).collect()
    }

    fn with_weights(&self, table: &WeightTable, _players: Option<u8>) -> Result<Arc<dyn Policy<Lexio>>, WeightsError> {
        Ok(Arc::new(Self { hard: Hard::with(table)? }))
    }
}

/// The rows with what is proven about certain finishing lines.
fn prove(view: &View, reading: &Reading<'_>, rows: Vec<Evaluation<Lexio>>) -> Vec<Evaluation<Lexio>> {
    let Some(mut lines) = Lines::of(view, reading) else { return rows };
    let proven = |row: Evaluation<Lexio>| {
        let line = row.mv().meld().and_then(|meld| lines.from(view, reading, meld));
        match line {
            Some(line) if line.len() > 1 => {
                let proof = Proof { in_plies: Some(line.len() as u16), margin: 0, how: "certain_line" };
                row.standing(Standing::Won(proof)).line(line)
            }
            _ => row,
        }
    };
    rows.into_iter().map(proven).collect()
}

/// The table after playing candidates out, as many worlds as the budget allows; `floor` itself if that is none.
fn sample(
    view: &View,
    reading: &Reading<'_>,
    floor: Vec<Evaluation<Lexio>>,
    weights: &Weights<LexioTerms>,
    turn: &mut Turn<'_>,
) -> (Vec<Evaluation<Lexio>>, Completion) {
    let wins = Wins::of(&reading.chances_with_fives(), view.deck());
    let mut scratch = Vec::new();
    let mut trials = candidates(view, &floor, &wins, &mut scratch);
    let completion = play_out(view, &mut trials, &wins, &mut scratch, &floor, turn);
    if trials.iter().all(|trial| trial.worlds == 0) {
        return (floor, completion);
    }
    let mut tried: Vec<Option<Trial>> = floor.iter().map(|_| None).collect();
    for trial in trials {
        let row = trial.row;
        tried[row] = Some(trial);
    }
    let rows = floor.into_iter().zip(tried).map(|(row, trial)| searched(row, trial, weights)).collect();
    (rows, completion)
}

/// A row with the result of its trial; without one it is barred.
fn searched(row: Evaluation<Lexio>, trial: Option<Trial>, weights: &Weights<LexioTerms>) -> Evaluation<Lexio> {
    let share = trial.as_ref().map_or(Unit::ZERO, |trial| Unit::clamp(0.5 + trial.mean() / SPAN));
    let terms = row.terms().with(SETTLEMENT, share).with(OFFSET, Unit::ONE);
    let mut next = Evaluation::weigh(*row.mv(), terms, weights);
    for fact in row.get_facts() {
        next = next.fact(fact.id, fact.value, fact.unit);
    }
    match trial {
        None => next.barred("not_searched"),
        Some(trial) if trial.dropped => next.payoff(trial.payoff()).barred("dropped"),
        Some(trial) => next.payoff(trial.payoff()),
    }
}

/// The moves to play out: of each Key the best by the terms, of those the best twelve; the pass always.
fn candidates(view: &View, floor: &[Evaluation<Lexio>], wins: &Wins, scratch: &mut Vec<Meld>) -> Vec<Trial> {
    let mut order: Vec<usize> = (0..floor.len()).collect();
    order.sort_by(|&a, &b| floor[b].rank(&floor[a]));
    let mut keys: Vec<(u32, Key)> = Vec::new();
    let mut chosen = Vec::new();
    for row in order {
        let new = floor[row].mv().meld().is_none_or(|meld| {
            let key = (meld.count(), meld.key());
            let new = !keys.contains(&key);
            if new {
                keys.push(key);
            }
            new
        });
        if new {
            chosen.push(row);
        }
    }
    if let Some(pass) = chosen.iter().position(|&row| *floor[row].mv() == Move::Pass)
        && pass >= CANDIDATES
    {
        chosen.swap(pass, CANDIDATES - 1);
    }
    chosen.truncate(CANDIDATES);
    let trial = |row: usize| {
        let play = floor[row].mv().meld().copied();
        let left = play.map_or(view.hand(), |meld| view.hand().minus(meld.tiles()));
        let left = Hand::planned(left, wins, scratch);
        Trial { row, play, left, dropped: false, worlds: 0, sum: 0.0, squares: 0.0 }
    };
    chosen.into_iter().map(trial).collect()
}

/// Plays all live candidates out in world after world. A world counts only when all of them finished it; after an
/// eighth, a quarter and a half of the worlds the worse half of the candidates is dropped.
fn play_out(
    view: &View,
    trials: &mut [Trial],
    wins: &Wins,
    scratch: &mut Vec<Meld>,
    floor: &[Evaluation<Lexio>],
    turn: &mut Turn<'_>,
) -> Completion {
    let limits = turn.budget.limits();
    let named = limits.worlds.unwrap_or(if limits.any() { MANY_WORLDS } else { WORLDS });
    let halving = limits.worlds.unwrap_or(WORLDS);
    let mut worlds = Worlds::of(view);
    let (passes, owner) = standing_table(view);
    let mut nets = [0.0; CANDIDATES];
    for index in 0..named {
        let mut rng = turn.rng.fork(u64::from(index));
        let mut whole = |budget: &Budget| -> Result<(), Stopped> {
            budget.world()?;
            let world = worlds.draw(&mut rng);
            let table =
                Table::of(&world, view.rules(), passes, owner, view.table().map(|(_, meld)| *meld), wins, scratch);
            for (net, trial) in nets.iter_mut().zip(trials.iter()).filter(|(_, trial)| !trial.dropped) {
                budget.tick()?;
                *net = f64::from(table.play_out(trial.play, trial.left));
            }
            Ok(())
        };
        if let Err(stopped) = whole(turn.budget) {
            return stopped.into();
        }
        for (net, trial) in nets.iter().zip(trials.iter_mut()).filter(|(_, trial)| !trial.dropped) {
            trial.add(*net);
        }
        let done = index + 1;
        if [halving / 8, halving / 4, halving / 2].contains(&done) {
            halve(trials, floor);
        }
    }
    if limits.worlds.is_some() { Completion::Worlds } else { Completion::Full }
}

/// Drops the worse half of the live candidates, but never below two.
fn halve(trials: &mut [Trial], floor: &[Evaluation<Lexio>]) {
    let value = |trial: &Trial| trial.mean() + floor[trial.row].total();
    let mut live: Vec<usize> = (0..trials.len()).filter(|&i| !trials[i].dropped).collect();
    live.sort_by(|&a, &b| value(&trials[b]).total_cmp(&value(&trials[a])).then(a.cmp(&b)));
    let keep = live.len().div_ceil(2).max(2);
    for &i in live.iter().skip(keep) {
        trials[i].dropped = true;
    }
}

/// Passes since the last play, and its owner counted from me. Without a log as many as the seats in between.
fn standing_table(view: &View) -> (u8, u8) {
    let Some((seat, _)) = view.table() else { return (0, 0) };
    let owner = (seat + view.seats() - view.me()) % view.seats();
    // Nobody plays between the owner and me: all in between have passed.
    (view.seats() - 1 - owner, owner)
}
