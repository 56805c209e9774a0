//! The table a decision is made from, and the decision: its maximum.

use std::cmp::Ordering;

use super::budget::{Budget, Stopped};
use super::game::Game;
use super::weights::Weights;

/// How something is known, and how far away it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Plies to the end as the game counts them; `None`: not known, and ordered as the longest.
    pub in_plies: Option<u16>,
    /// Guaranteed amount where the game defines one, else 0.
    pub margin: i32,
    /// Id of the proof, from the game's list.
    pub how: &'static str,
}

/// What is proven about a move. Proof outranks opinion; a proved draw is placed by its total, like an open row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Loses against best play.
    Lost(Proof),
    /// Nothing is proven.
    #[default]
    Open,
    /// Draws with best play.
    Drawn(Proof),
    /// Wins.
    Won(Proof),
}

/// Whether a total is what the line is worth, or an upper limit of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// The total is the value.
    #[default]
    Exact,
    /// The value is at most the total.
    AtMost,
}

/// An expected amount in the game's own unit. Never part of the total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Payoff {
    /// The amount; [`Game::UNIT`].
    pub mean: f64,
    /// Of the mean, same unit.
    pub standard_error: f64,
    /// Worlds it was sampled over; 0: computed.
    pub samples: u32,
}

/// A count, a chance or an amount worth seeing. Never scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fact {
    /// snake_case, from the game's list.
    pub id: &'static str,
    /// Finite.
    pub value: f64,
    /// May be empty.
    pub unit: &'static str,
}

/// One legal move, judged. Private fields and one maker: a total that disagrees with its terms cannot be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation<G: Game> {
    mv: G::Move,
    terms: G::Terms,
    weights: Weights<G::Terms>,
    total: f64,
    standing: Standing,
    barred: Option<&'static str>,
    bound: Bound,
    line: Vec<G::Move>,
    payoff: Option<Payoff>,
    facts: Vec<Fact>,
}

impl<G: Game> Evaluation<G> {
    /// The sole maker: the total is the sum of weight times value over the shown terms.
    pub fn weigh(mv: G::Move, terms: G::Terms, weights: &Weights<G::Terms>) -> Self {
        Self {
            mv,
            total: weights.total(&terms),
            terms,
            weights: *weights,
            standing: Standing::Open,
            barred: None,
            bound: Bound::Exact,
            line: Vec::new(),
            payoff: None,
            facts: Vec::new(),
        }
    }

    /// With what is proven about it.
    #[must_use]
    pub fn standing(mut self, standing: Standing) -> Self {
        self.standing = standing;
        self
    }

    /// Refused by a rule of the policy. It stays in the table, behind every row that is not.
    #[must_use]
    pub fn barred(mut self, why: &'static str) -> Self {
        self.barred = Some(why);
        self
    }

    /// With a bound other than exact.
    #[must_use]
    pub fn bound(mut self, bound: Bound) -> Self {
        self.bound = bound;
        self
    }

    /// With the line it leads to: this move first, then the expected continuation.
    #[must_use]
    pub fn line(mut self, line: Vec<G::Move>) -> Self {
        debug_assert!(line.is_empty() || line[0] == self.mv, "a line starts with its own move");
        self.line = line;
        self
    }

    /// With an expected amount.
    #[must_use]
    pub fn payoff(mut self, payoff: Payoff) -> Self {
        self.payoff = Some(payoff);
        self
    }

    /// With one more fact.
    #[must_use]
    pub fn fact(mut self, id: &'static str, value: f64, unit: &'static str) -> Self {
        self.facts.push(Fact { id, value, unit });
        self
    }

    /// The move.
    pub const fn mv(&self) -> &G::Move {
        &self.mv
    }

    /// The values it was weighed by.
    pub const fn terms(&self) -> &G::Terms {
        &self.terms
    }

    /// The weights in force.
    pub const fn weights(&self) -> &Weights<G::Terms> {
        &self.weights
    }

    /// Sum of the contributions.
    pub const fn total(&self) -> f64 {
        self.total
    }

    /// What is proven.
    pub const fn get_standing(&self) -> Standing {
        self.standing
    }

    /// Why it is barred, if it is.
    pub const fn get_barred(&self) -> Option<&'static str> {
        self.barred
    }

    /// Exact, or an upper limit.
    pub const fn get_bound(&self) -> Bound {
        self.bound
    }

    /// Its line; empty means the move alone.
    pub fn get_line(&self) -> &[G::Move] {
        &self.line
    }

    /// Its expected amount.
    pub const fn get_payoff(&self) -> Option<Payoff> {
        self.payoff
    }

    /// Its facts.
    pub fn get_facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The value of a fact.
    pub fn get_fact(&self, id: &str) -> Option<f64> {
        self.facts.iter().find(|fact| fact.id == id).map(|fact| fact.value)
    }

    /// The order of rows; the greatest is played. Not barred > barred; proven win (sooner, then larger margin) > open
    /// and drawn > proven loss (later, then larger margin); larger total; exact > at most; smaller move.
    pub fn rank(&self, other: &Self) -> Ordering {
        (other.barred.is_some().cmp(&self.barred.is_some()))
            .then_with(|| self.standing.rank(&other.standing))
            .then_with(|| self.total.total_cmp(&other.total))
            .then_with(|| (self.bound == Bound::Exact).cmp(&(other.bound == Bound::Exact)))
            .then_with(|| other.mv.cmp(&self.mv))
    }
}

impl Standing {
    /// The greater is the better for the seat that decides.
    fn rank(&self, other: &Self) -> Ordering {
        let plies = |proof: &Proof| proof.in_plies.map_or(u32::MAX, u32::from);
        match (self, other) {
            (Self::Won(a), Self::Won(b)) => plies(b).cmp(&plies(a)).then(a.margin.cmp(&b.margin)),
            (Self::Lost(a), Self::Lost(b)) => plies(a).cmp(&plies(b)).then(a.margin.cmp(&b.margin)),
            _ => self.class().cmp(&other.class()),
        }
    }

    const fn class(&self) -> u8 {
        match self {
            Self::Lost(_) => 0,
            Self::Open | Self::Drawn(_) => 1,
            Self::Won(_) => 2,
        }
    }
}

/// Why a policy stopped thinking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// It had nothing left to do.
    #[default]
    Full,
    /// Node limit.
    Nodes,
    /// World limit.
    Worlds,
    /// Depth limit.
    Depth,
    /// The clock, or nobody waited any more.
    Time,
}

impl From<Stopped> for Completion {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Deadline | Stopped::Cancelled => Self::Time,
            Stopped::Nodes => Self::Nodes,
            Stopped::Worlds => Self::Worlds,
            Stopped::Depth => Self::Depth,
        }
    }
}

/// What the thinking cost, in the search's own units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Nodes.
    pub nodes: u64,
    /// Worlds.
    pub worlds: u32,
    /// Completed rounds of deepening, or plies.
    pub depth: u32,
    /// (sum w)^2 / sum w^2 over world weights; = worlds when unweighted.
    pub effective_worlds: f64,
}

/// The whole table: never empty, legal moves only.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated<G: Game> {
    rows: Vec<Evaluation<G>>,
    /// Facts about the position as a whole.
    pub facts: Vec<Fact>,
    /// What it cost.
    pub work: Work,
    /// Why it ended.
    pub completion: Completion,
}

impl<G: Game> Evaluated<G> {
    /// A table of these rows, in any order.
    ///
    /// # Panics
    /// Without a row: a view without a legal move is never handed to a policy, so that is a bug of the policy.
    pub fn new(rows: Vec<Evaluation<G>>) -> Self {
        assert!(!rows.is_empty(), "a table without rows: this is a bug of the policy");
        Self { rows, facts: Vec::new(), work: Work::default(), completion: Completion::Full }
    }

    /// With one more fact about the position.
    #[must_use]
    pub fn fact(mut self, id: &'static str, value: f64, unit: &'static str) -> Self {
        self.facts.push(Fact { id, value, unit });
        self
    }

    /// With nodes and worlds as the budget counted them, and the reason it stopped, if it did.
    #[must_use]
    pub fn spent(mut self, budget: &Budget) -> Self {
        self.work.nodes = budget.nodes();
        self.work.worlds = budget.worlds();
        self.work.effective_worlds = f64::from(budget.worlds());
        self.completion = budget.stopped().map_or(Completion::Full, Completion::from);
        self
    }

    /// The rows, in the order the policy made them.
    pub fn rows(&self) -> &[Evaluation<G>] {
        &self.rows
    }

    /// The rows taken out, to make the next round's table from.
    pub fn into_rows(self) -> Vec<Evaluation<G>> {
        self.rows
    }

    /// The row of a move.
    pub fn row(&self, mv: &G::Move) -> Option<&Evaluation<G>> {
        self.rows.iter().find(|row| row.mv() == mv)
    }

    /// The rows best first; the first is the decision.
    pub fn ranked(&self) -> Vec<&Evaluation<G>> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by(|a, b| b.rank(a));
        rows
    }

    /// The value of a fact about the position.
    pub fn get_fact(&self, id: &str) -> Option<f64> {
        self.facts.iter().find(|fact| fact.id == id).map(|fact| fact.value)
    }
}

/// The decision: the maximum of the table. A free function, so that no policy can override it.
pub fn decide<G: Game>(all: &Evaluated<G>) -> &Evaluation<G> {
    let (first, rest) = all.rows.split_first().expect("a table is never empty; this is a bug of Evaluated::new");
    rest.iter().fold(first, |best, row| if row.rank(best) == Ordering::Greater { row } else { best })
}
