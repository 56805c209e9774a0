//! A policy: from a view and a budget to a table of evaluated moves.

use super::budget::{Budget, Limits};
use super::evaluation::Evaluated;
use super::game::Game;
use super::rng::Rng;
use super::terms::{TermSet, Terms};
use super::tuning::Tuning;
use super::weights::{WeightTable, Weights, WeightsError};
use std::sync::Arc;

/// What is lent to a policy for one decision.
pub struct Turn<'a> {
    /// When to stop.
    pub budget: &'a Budget,
    /// Where its randomness comes from: the request's seed, never the dealer's stream.
    pub rng: &'a mut Rng,
}

/// What a policy is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKind {
    /// A list of preferences, no weighing.
    Rules,
    /// A weighted sum of terms.
    Terms,
    /// Looks ahead or samples.
    Search,
}

/// What everybody may know about a policy.
#[derive(Clone, Debug)]
pub struct About {
    /// Counts up whenever its play changes.
    pub version: u32,
    /// One sentence for a backend engineer.
    pub summary: &'static str,
    /// Rules, terms or search.
    pub kind: PolicyKind,
    /// It always has an answer and improves it while time lasts.
    pub anytime: bool,
    /// Whether the seed changes its decisions.
    pub uses_seed: bool,
    /// What applies when a request names no limit.
    pub default_limits: Limits,
    /// Which limits mean anything to it: a request that names another gets `BUDGET_IGNORED`.
    pub heeds: Heeds,
    /// The terms its rows show.
    pub terms: TermSet,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// Names of the stages its weights depend on; empty where they do not.
    pub stages: &'static [&'static str],
}

/// Which limits a policy heeds beside cancellation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heeds {
    /// `max_time_us`.
    pub time: bool,
    /// `max_nodes`.
    pub nodes: bool,
    /// `max_worlds`.
    pub worlds: bool,
    /// `max_depth`.
    pub depth: bool,
}

impl Heeds {
    /// The limits among these that mean something.
    #[must_use]
    pub const fn of(self, limits: Limits) -> Limits {
        Limits {
            time: if self.time { limits.time } else { None },
            nodes: if self.nodes { limits.nodes } else { None },
            worlds: if self.worlds { limits.worlds } else { None },
            depth: if self.depth { limits.depth } else { None },
        }
    }
}

/// A way to play one game. Stateless between calls: the view is everything it knows.
pub trait Policy<G: Game>: Send + Sync + 'static {
    /// What to tell about it.
    fn about(&self) -> About;

    /// Every legal move, judged; never empty. Always returns, even with the budget already spent: then the static table.
    fn evaluate(&self, view: &G::View, turn: &mut Turn<'_>) -> Evaluated<G>;

    /// The move that `decide(evaluate(..))` gives, without the table, where that is much cheaper; else `None`. Only the
    /// arena and rollouts ask; the conformance test holds it equal to the decision.
    fn shortcut(&self, _view: &G::View, _turn: &mut Turn<'_>) -> Option<G::Move> {
        None
    }

    /// The weights by stage, without the position's multipliers: what ListPolicies shows and the hash is made of.
    /// One row unless the policy has stages; empty where it has no weights.
    fn weights(&self) -> Vec<Weights<G::Terms>>;

    /// The terms whose weights a file may replace and `tune` may learn; empty: none.
    fn tunable(&self) -> TermSet {
        TermSet::default()
    }

    /// How its weights are learned.
    fn tuning(&self) -> Tuning {
        Tuning::default()
    }

    /// The same policy with other weights for the tunable terms. `players` picks the table where a policy has one for
    /// each number of players.
    ///
    /// # Errors
    /// What does not fit, by name.
    fn with_weights(&self, _table: &WeightTable, _players: Option<u8>) -> Result<Arc<dyn Policy<G>>, WeightsError> {
        Err(WeightsError::Fixed)
    }

    /// The tunable weights as a table, for the given number of players.
    fn table(&self, _players: Option<u8>) -> Option<WeightTable> {
        let terms = self.tunable();
        if terms == TermSet::default() {
            return None;
        }
        let weights = self.weights();
        let about = self.about();
        let stages = if about.stages.is_empty() { &["all"][..] } else { about.stages };
        let rows: Vec<Vec<f64>> =
            weights.iter().map(|row| terms.iter().map(|place| row.base(place)).collect()).collect();
        Some(WeightTable::new::<G::Terms>(stages, terms, &rows))
    }
}

/// FNV-1a over the shown terms and base weights of every stage; 0 for a policy without weights.
pub fn weights_hash<T: Terms>(weights: &[Weights<T>]) -> u64 {
    if weights.is_empty() {
        return 0;
    }
    let mut hash = super::rng::Fnv::default();
    for row in weights {
        for place in row.shown().iter() {
            hash.write(T::SPECS[place].id.as_bytes());
            hash.write(&row.base(place).to_bits().to_le_bytes());
        }
    }
    hash.finish()
}
