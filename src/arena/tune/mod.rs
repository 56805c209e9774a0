//! Weights from self-play, the same way for every game with a referee.
//!
//! At sampled decisions of one seat the rows of the policy's table are played on over common hidden worlds. Differences
//! of payments are regressed on differences of terms (ridge, each sign kept to its term's direction, one table for each
//! stage). The next generation plays its own seat by the table before it. Everything random comes from one seed, and
//! sums are taken in the order of the deals, so the same seed gives the same table on any number of threads.

pub mod fit;
pub mod gather;

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::bot::{Direction, MatchStyle, Policy, Referee, Rng, TermSet, Terms, Tuning, WeightTable, WeightsError};

use super::ordered::ordered;
use super::report::Report;
use super::run::{Blind, Schedule, Setup, Shard, run};
use super::{Broken, Mind, Player};
use crate::arena::match_::Options;
use crate::arena::player::limits_for;
use crate::arena::stats::{Interval, interval};
use crate::bot::Limits;
use fit::Normal;
use gather::Gather;

/// What is tuned.
pub struct Task<G: Referee> {
    /// The rules.
    pub rules: G::Rules,
    /// Their name.
    pub rules_name: String,
    /// The policy, with the weights to start from.
    pub policy: Arc<dyn Policy<G>>,
    /// The number of players, as the command names it: which of a policy's tables is meant.
    pub players: Option<u8>,
    /// Seats at the table.
    pub seats: u8,
    /// Settings.
    pub tuning: Tuning,
    /// Where everything random comes from.
    pub seed: u64,
    /// Threads; the result does not depend on it.
    pub threads: usize,
}

/// One generation's equations and table.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// Deals played.
    pub deals: u64,
    /// Decisions gathered.
    pub decisions: u64,
    /// Equations.
    pub equations: u64,
    /// The weights that fit them.
    pub table: WeightTable,
}

/// Weights are rounded to this: what is judged is what is written.
const ROUND: f64 = 1000.0;
/// Deals in a piece of work.
const BLOCK: u64 = 4;

/// The stages of a policy, as a weight table names them.
pub fn stages<G: Referee>(policy: &dyn Policy<G>) -> Vec<&'static str> {
    let stages = policy.about().stages;
    if stages.is_empty() { vec!["all"] } else { stages.to_vec() }
}

/// Weights that know nothing but directions: every good term +1, every cost -1, constants +1.
pub fn broken<T: Terms>(stages: &[&str], terms: TermSet) -> WeightTable {
    let row: Vec<f64> =
        terms.iter().map(|place| if T::SPECS[place].direction == Direction::Cost { -1.0 } else { 1.0 }).collect();
    WeightTable::new::<T>(stages, terms, &vec![row; stages.len()])
}

impl<G: Referee> Task<G> {
    /// Learns a table, generation by generation. `heard` is told of each, and of decisions as they are gathered.
    ///
    /// # Errors
    /// When the policy does not take the weights it is given.
    pub fn learn(&self, mut heard: impl FnMut(u64, Option<&Generation>)) -> Result<Vec<Generation>, WeightsError> {
        let roster = G::roster();
        let easiest = &roster.entries.first().ok_or(WeightsError::Fixed)?.policy;
        let stages = stages(self.policy.as_ref());
        let terms = self.policy.tunable();
        if terms == TermSet::default() {
            return Err(WeightsError::Fixed);
        }
        let mut policy = Arc::clone(&self.policy);
        let mut generations = Vec::new();
        for number in 0..self.tuning.generations {
            let gather = Gather {
                rules: &self.rules,
                seats: self.seats,
                policy: &policy,
                hero: if number == 0 { easiest } else { &policy },
                easiest,
                terms,
                tuning: &self.tuning,
                stages: stages.len(),
                rng: Rng::new(self.seed).split("tune").fork(u64::from(number)),
            };
            let (deals, normal) = self.gather(&gather, |decisions| heard(decisions, None));
            let table = solve::<G>(&normal, &self.tuning, &stages, terms);
            policy = self.policy.with_weights(&table, self.players)?;
            let generation = Generation { deals, decisions: normal.decisions, equations: normal.equations, table };
            heard(normal.decisions, Some(&generation));
            generations.push(generation);
        }
        Ok(generations)
    }

    fn gather(&self, gather: &Gather<'_, G>, mut heard: impl FnMut(u64)) -> (u64, Normal) {
        let wanted = u64::from(self.tuning.decisions);
        let mut all = Normal::new(gather.unknowns());
        let mut deals = 0;
        let block = |(): &mut (), number: u64| {
            let mut part = Normal::new(gather.unknowns());
            for deal in number * BLOCK..(number + 1) * BLOCK {
                part.merge(&gather.deal(deal));
            }
            part
        };
        // A deal without a single decision would make this endless; so many deals never come to that.
        ordered(
            self.threads,
            wanted * 4 + 64,
            || (),
            block,
            |part| {
                all.merge(&part);
                deals += BLOCK;
                heard(all.decisions);
                if all.decisions >= wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        (deals, all)
    }

    /// Lets the arena compare two versions of the policy on fresh deals.
    ///
    /// # Errors
    /// An illegal or missing move.
    pub fn judge(&self, new: &Arc<dyn Policy<G>>, old: &Arc<dyn Policy<G>>, deals: u64) -> Result<Judgement, Broken> {
        let roster = G::roster();
        let easiest = roster.entries.first().map_or_else(|| Arc::clone(old), |entry| Arc::clone(&entry.policy));
        let (direct, _) = self.play(new, old, deals)?;
        let (new_easy, new_deals) = self.play(new, &easiest, deals)?;
        let (old_easy, old_deals) = self.play(old, &easiest, deals)?;
        let gain: Vec<f64> = new_deals.iter().zip(&old_deals).map(|(new, old)| new - old).collect();
        Ok(Judgement { deals, direct, new_easy, old_easy, gain: interval(&gain) })
    }

    /// One hero against a field of the other: the hero's mean, and its mean on each deal.
    fn play(
        &self,
        hero: &Arc<dyn Policy<G>>,
        field: &Arc<dyn Policy<G>>,
        deals: u64,
    ) -> Result<(Interval, Vec<f64>), Broken> {
        let player = |label: &str, policy: &Arc<dyn Policy<G>>| Player {
            label: label.to_owned(),
            limits: limits_for(policy.as_ref(), Limits::NONE, Limits::NONE),
            mind: Mind::Policy(Arc::clone(policy)),
        };
        let mut seats = vec![1; usize::from(self.seats)];
        seats[0] = 0;
        if G::STYLE == MatchStyle::Solo {
            seats = vec![0, 1];
        }
        let setup = Setup {
            rules: self.rules.clone(),
            rules_name: self.rules_name.clone(),
            players: vec![player("hero", hero), player("field", field)],
            seats,
            rotate: true,
            options: Options::default(),
        };
        // Deals of the arena are consecutive seeds, those of the learning are drawn: they do not meet.
        let seed = Rng::new(self.seed).split("judge").next_u64();
        let schedule = Schedule { seed, deals, shard: Shard::WHOLE, threads: self.threads, sprt: None };
        let finished = run(&setup, &schedule, &mut Blind)?;
        let report = Report::of(&setup.header(&schedule), &finished.samples, &[], None);
        let means = |player: usize| {
            let side = |sample: &super::Sample| {
                let side = &sample.sides[player];
                if side.seats == 0 { 0.0 } else { side.payment as f64 / side.seats as f64 }
            };
            finished.samples.iter().map(side).collect::<Vec<f64>>()
        };
        let hero = means(0);
        if G::STYLE == MatchStyle::Solo {
            // Everybody plays alone: what counts is how much more the hero got on the same deals.
            let more: Vec<f64> = hero.iter().zip(means(1)).map(|(hero, field)| hero - field).collect();
            return Ok((interval(&more), hero));
        }
        let first = &report.policies[0];
        Ok((Interval { mean: first.mean, half_width: first.half_width }, hero))
    }
}

fn solve<G: Referee>(normal: &Normal, tuning: &Tuning, stages: &[&str], terms: TermSet) -> WeightTable {
    let directions: Vec<Direction> =
        stages.iter().flat_map(|_| terms.iter().map(|place| G::Terms::SPECS[place].direction)).collect();
    let found = normal.solve(tuning.ridge, &directions);
    // Adding 0.0 makes the zero of a cost a plain one.
    let rounded: Vec<f64> = found.iter().map(|weight| (weight * ROUND).round() / ROUND + 0.0).collect();
    let rows: Vec<Vec<f64>> = rounded.chunks(terms.iter().count()).map(<[f64]>::to_vec).collect();
    WeightTable::new::<G::Terms>(stages, terms, &rows)
}

/// What the arena says about a new version beside the old one.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Deals of each comparison.
    pub deals: u64,
    /// The new version against a field of the old one.
    pub direct: Interval,
    /// The new version against a field of the easiest policy.
    pub new_easy: Interval,
    /// The old version against the same.
    pub old_easy: Interval,
    /// The difference of the two, deal by deal.
    pub gain: Interval,
}

impl Judgement {
    /// Whether the new version wins: against the old one with its whole interval, and not at the price of losing
    /// against the easiest.
    pub fn won(&self) -> bool {
        let low = |interval: &Interval| interval.mean - interval.half_width.unwrap_or(f64::INFINITY);
        let high = |interval: &Interval| interval.mean + interval.half_width.unwrap_or(f64::INFINITY);
        low(&self.direct) > 0.0 && high(&self.gain) > 0.0
    }
}
