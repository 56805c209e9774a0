//! The policies on offer, with what the service has measured about each.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::deadline::{micros, now};
use crate::bot::registry::{Bots, Unknown, describe, hex};
use crate::bot::{Bot, Limits, PolicyKind, Registry};
use crate::pb;

/// One policy.
pub struct Entry {
    /// How it plays.
    pub bot: Arc<dyn Bot>,
    /// `hard@3`.
    pub title: String,
    /// Over its weights, 16 hex digits.
    pub weights_hash: String,
    /// Place of its game in [`Book::games`].
    pub game: usize,
    /// Depth-0 table, p95, microseconds.
    floor_us: AtomicU32,
    /// The same with the first whole round.
    start_us: AtomicU32,
    inline: AtomicBool,
    costs: Mutex<Costs>,
    listed: pb::Policy,
}

impl Entry {
    /// The depth-0 table takes this long.
    pub fn floor(&self) -> Duration {
        Duration::from_micros(self.floor_us.load(Ordering::Relaxed).into())
    }

    /// Depth 0 and the first whole round take this long.
    pub fn start(&self) -> Duration {
        Duration::from_micros(self.start_us.load(Ordering::Relaxed).into())
    }

    /// It runs on the RPC thread.
    pub fn runs_inline(&self) -> bool {
        self.inline.load(Ordering::Relaxed)
    }

    /// What the self-test found.
    pub fn tested(&self, floor: Duration, start: Duration, slowest: Duration, inline_below: Duration) {
        self.floor_us.store(micros(floor).max(1), Ordering::Relaxed);
        self.start_us.store(micros(start).max(1), Ordering::Relaxed);
        let searches = self.bot.about().kind == PolicyKind::Search;
        self.inline.store(!searches && slowest < inline_below, Ordering::Relaxed);
    }

    /// The least time in which the policy does what its name promises.
    pub fn need(&self, limits: &Limits) -> Duration {
        if self.bot.about().anytime { self.start() } else { self.cost(limits).p90 }
    }

    /// What a decision under these limits is expected to cost.
    pub fn cost(&self, limits: &Limits) -> Cost {
        let known = self.costs.lock().unwrap_or_else(PoisonError::into_inner).of(limits);
        known.unwrap_or_else(|| {
            let start = self.start();
            Cost { mean: start, p90: start }
        })
    }

    /// A decision under these limits took this long.
    pub fn observe(&self, limits: &Limits, took: Duration) {
        self.costs.lock().unwrap_or_else(PoisonError::into_inner).observe(limits, took, now());
    }

    /// The first whole round of a live decision took this long.
    pub fn observe_start(&self, took: Duration) {
        let old = f64::from(self.start_us.load(Ordering::Relaxed));
        let new = quantile_step(old, took.as_secs_f64() * 1e6, 0.95);
        self.start_us.store((new as u32).max(1), Ordering::Relaxed);
    }

    /// A call was refused because the policy is believed to need more time than is left. A belief that is too high
    /// would never be tested again, so one that nothing has confirmed for a second gives way a little.
    pub fn doubt(&self, limits: &Limits) {
        if !self.costs.lock().unwrap_or_else(PoisonError::into_inner).doubt(limits, now()) {
            return;
        }
        let start = self.start_us.load(Ordering::Relaxed);
        let floor = self.floor_us.load(Ordering::Relaxed);
        self.start_us.store((start - start / 20).max(floor), Ordering::Relaxed);
    }

    /// As ListPolicies shows it.
    pub fn listed(&self) -> pb::Policy {
        pb::Policy {
            floor_us: self.floor_us.load(Ordering::Relaxed),
            start_us: self.start_us.load(Ordering::Relaxed),
            runs_inline: self.runs_inline(),
            ..self.listed.clone()
        }
    }
}

/// One game.
pub struct GameEntry {
    /// `lexio`.
    pub key: &'static str,
    /// Its kinds of move.
    pub kinds: &'static [&'static str],
}

/// Every policy of a registry.
pub struct Book {
    registry: Registry,
    bots: Bots,
    entries: Vec<Entry>,
    games: Vec<GameEntry>,
}

impl Book {
    /// All public policies.
    pub fn of(registry: Registry) -> Self {
        let bots = Bots::of(&registry);
        let games: Vec<_> = registry.games().map(|game| GameEntry { key: game.key(), kinds: game.kinds() }).collect();
        let entries = bots.all().iter().map(|bot| {
            let place = games.iter().position(|game| game.key == bot.game()).unwrap_or(0);
            let rulesets = registry.games().nth(place).map_or(&[][..], |game| game.rulesets());
            Entry {
                bot: Arc::clone(bot),
                title: format!("{}@{}", bot.name(), bot.about().version),
                weights_hash: hex(bot.weights_hash()),
                game: place,
                floor_us: AtomicU32::new(1),
                start_us: AtomicU32::new(1),
                inline: AtomicBool::new(false),
                costs: Mutex::default(),
                listed: describe(bot.as_ref(), rulesets),
            }
        });
        let entries = entries.collect();
        Self { registry, bots, entries, games }
    }

    /// The policies, by game, easiest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The games.
    pub fn games(&self) -> &[GameEntry] {
        &self.games
    }

    /// The registry it was made of.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The key of the game that a view belongs to.
    pub fn game_of(&self, view: &pb::View) -> Option<&'static str> {
        self.registry.game_of(view).map(|game| game.key())
    }

    /// The policy of a game by name; its place in [`Self::entries`].
    ///
    /// # Errors
    /// What there is instead.
    pub fn find(&self, game: &str, name: &str) -> Result<usize, Unknown> {
        let bot = self.bots.find(game, name)?;
        let place = self.entries.iter().position(|entry| Arc::ptr_eq(&entry.bot, bot));
        place.ok_or_else(|| Unknown { text: format!("no policy {name:?} for {game}"), known: String::new() })
    }
}

/// What a decision is expected to cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// On average: for the length of the queue.
    pub mean: Duration,
    /// Smoothed 90th percentile: for promises.
    pub p90: Duration,
}

/// Costs of one policy by the size of the budget: who asks for 20,000 nodes must not be planned as who asks for 100.
#[derive(Debug, Default)]
struct Costs {
    classes: Vec<(BudgetClass, f64, f64)>,
    /// When anything here last changed.
    touched: Option<Instant>,
}

/// The limits, each to a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BudgetClass([u8; 4]);

impl BudgetClass {
    fn of(limits: &Limits) -> Self {
        let class = |limit: Option<u64>| limit.map_or(0, |limit| limit.checked_ilog2().unwrap_or(0) as u8 + 1);
        Self([
            class(limits.time.map(|time| time.as_micros() as u64)),
            class(limits.nodes),
            class(limits.worlds.map(u64::from)),
            class(limits.depth.map(u64::from)),
        ])
    }
}

/// Budget classes that are kept apart; the oldest makes room.
const CLASSES: usize = 32;

impl Costs {
    fn of(&self, limits: &Limits) -> Option<Cost> {
        let class = BudgetClass::of(limits);
        let (_, mean, p90) = self.classes.iter().find(|(known, ..)| *known == class)?;
        Some(Cost { mean: Duration::from_secs_f64(*mean), p90: Duration::from_secs_f64(*p90) })
    }

    fn observe(&mut self, limits: &Limits, took: Duration, present: Instant) {
        self.touched = Some(present);
        let took = took.as_secs_f64();
        let class = BudgetClass::of(limits);
        match self.classes.iter_mut().find(|(known, ..)| *known == class) {
            Some((_, mean, p90)) => {
                *mean += (took - *mean) * 0.1;
                *p90 = quantile_step(*p90, took, 0.9);
            }
            None => {
                if self.classes.len() == CLASSES {
                    self.classes.remove(0);
                }
                self.classes.push((class, took, took));
            }
        }
    }

    /// Lowers a belief that nothing has confirmed for a second; whether that was so.
    fn doubt(&mut self, limits: &Limits, present: Instant) -> bool {
        if self.touched.is_some_and(|touched| present < touched + Duration::from_secs(1)) {
            return false;
        }
        self.touched = Some(present);
        let class = BudgetClass::of(limits);
        if let Some((_, mean, p90)) = self.classes.iter_mut().find(|(known, ..)| *known == class) {
            *p90 *= 0.95;
            *mean = mean.min(*p90);
        }
        true
    }
}

/// One step of a stochastic quantile: up by `q` parts of a tenth where the sample is above, down by the rest where it
/// is not. Steps are a share of the estimate, so one absurd sample moves it no further than any other.
fn quantile_step(estimate: f64, sample: f64, q: f64) -> f64 {
    let step = 0.1 * estimate.max(sample * 0.05);
    if sample > estimate { estimate + step * q } else { estimate - step * (1.0 - q) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot::Rng;

    #[test]
    fn the_quantile_settles_where_nine_in_ten_are_below() {
        let mut rng = Rng::new(3);
        let mut estimate = 1.0;
        let mut sum = 0.0;
        for step in 0..20_000 {
            estimate = quantile_step(estimate, rng.unit(), 0.9);
            sum += if step >= 10_000 { estimate } else { 0.0 };
        }
        let mean = sum / 10_000.0;
        assert!((0.87..0.93).contains(&mean), "{mean}");
    }

    #[test]
    fn budgets_of_another_size_have_costs_of_their_own() {
        let mut costs = Costs::default();
        costs.observe(&Limits::nodes(100), Duration::from_millis(1), now());
        costs.observe(&Limits::nodes(100_000), Duration::from_millis(900), now());
        assert_eq!(costs.of(&Limits::nodes(120)).map(|cost| cost.mean), Some(Duration::from_millis(1)));
        assert_eq!(costs.of(&Limits::worlds(5)), None);
        for nodes in 0..60 {
            costs.observe(&Limits::nodes(1 << nodes), Duration::from_millis(1), now());
        }
        assert_eq!(costs.classes.len(), CLASSES);
    }

    #[test]
    fn a_belief_gives_way_once_a_second_and_not_while_it_is_confirmed() {
        let (mut costs, limits, start) = (Costs::default(), Limits::NONE, now());
        costs.observe(&limits, Duration::from_millis(100), start);
        let second = Duration::from_secs(1);
        assert!(!costs.doubt(&limits, start + second / 2));
        let doubts = (0..5000).filter(|ms| costs.doubt(&limits, start + second + Duration::from_millis(*ms))).count();
        assert_eq!(doubts, 5);
        let p90 = costs.of(&limits).map(|cost| cost.p90.as_millis());
        assert_eq!(p90, Some(77), "100 ms less 5 % five times");
    }
}
