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
    /// Amount where the game defines one, else 0: guaranteed, or that of the row's line, as the game's proofs say.
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
#[derive(Clone, Debug)]
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

// By hand, as a derive would ask the marker type of the game to be comparable.
impl<G: Game> PartialEq for Evaluation<G> {
    fn eq(&self, other: &Self) -> bool {
        let Self { mv, terms, weights, total, standing, barred, bound, line, payoff, facts } = self;
        *mv == other.mv
            && *terms == other.terms
            && *weights == other.weights
            && *total == other.total
            && *standing == other.standing
            && *barred == other.barred
            && *bound == other.bound
            && *line == other.line
            && *payoff == other.payoff
            && *facts == other.facts
    }
}

impl<G: Game> PartialEq for Evaluated<G> {
    fn eq(&self, other: &Self) -> bool {
        let Self { rows, facts, work, completion } = self;
        *rows == other.rows && *facts == other.facts && *work == other.work && *completion == other.completion
    }
}

impl<G: Game> Evaluation<G> {
    // A row is half a kilobyte: the makers are inlined so that it is built in place.

    /// The sole maker: the total is the sum of weight times value over the shown terms.
    #[inline]
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
    #[inline]
    #[must_use]
    pub fn standing(mut self, standing: Standing) -> Self {
        self.standing = standing;
        self
    }

    /// Refused by a rule of the policy. It stays in the table, behind every row that is not.
    #[inline]
    #[must_use]
    pub fn barred(mut self, why: &'static str) -> Self {
        self.barred = Some(why);
        self
    }

    /// With a bound other than exact.
    #[inline]
    #[must_use]
    pub fn bound(mut self, bound: Bound) -> Self {
        self.bound = bound;
        self
    }

    /// With the line it leads to: this move first, then the expected continuation.
    #[inline]
    #[must_use]
    pub fn line(mut self, line: Vec<G::Move>) -> Self {
        debug_assert!(line.is_empty() || line[0] == self.mv, "a line starts with its own move");
        self.line = line;
        self
    }

    /// With an expected amount.
    #[inline]
    #[must_use]
    pub fn payoff(mut self, payoff: Payoff) -> Self {
        self.payoff = Some(payoff);
        self
    }

    /// With one more fact.
    #[inline]
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
#[derive(Clone, Debug)]
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

#[cfg(test)]
pub(super) mod tests {
    use super::super::budget::Limits;
    use super::super::policy::{About, Heeds, Policy, PolicyKind, Turn};
    use super::super::roster::Roster;
    use super::super::terms::{TermSet, Unit};
    use super::*;

    crate::terms! {
        /// Two terms are enough to weigh.
        pub ToyTerms, ToyTerm {
            Good good: Good, "Speaks for the move.";
            Bad bad: Cost, "Speaks against it.";
        }
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Toy;

    impl Game for Toy {
        const KEY: &'static str = "toy";
        const KINDS: &'static [&'static str] = &["number"];
        const RULESETS: &'static [&'static str] = &["toy.v1"];
        const UNIT: &'static str = "points";
        type View = ();
        type Move = u8;
        type Terms = ToyTerms;

        fn legal((): &()) -> Vec<u8> {
            vec![1, 2]
        }
        fn kind(_: &u8) -> &'static str {
            "number"
        }
        fn key(mv: &u8) -> String {
            mv.to_string()
        }
        fn parse_key(key: &str) -> Option<u8> {
            key.parse().ok()
        }
        fn picture((): &()) -> String {
            String::new()
        }
        fn roster() -> Roster<Self> {
            Roster::default().bot("flat", Flat)
        }
    }

    pub struct Flat;

    impl Policy<Toy> for Flat {
        fn about(&self) -> About {
            About {
                version: 1,
                summary: "Every move alike.",
                kind: PolicyKind::Rules,
                anytime: false,
                uses_seed: false,
                default_limits: Limits::NONE,
                heeds: Heeds::default(),
                terms: TermSet::default(),
                aliases: &["even"],
                stages: &[],
            }
        }
        fn evaluate(&self, (): &(), _: &mut Turn<'_>) -> Evaluated<Toy> {
            Evaluated::new(vec![row(2, 0.0), row(1, 0.0)])
        }
        fn weights(&self) -> Vec<Weights<ToyTerms>> {
            Vec::new()
        }
    }

    pub fn row(mv: u8, good: f64) -> Evaluation<Toy> {
        let weights = Weights::of(&[(ToyTerm::Good as usize, 2.0), (ToyTerm::Bad as usize, -1.0)]);
        Evaluation::weigh(mv, ToyTerms { good: Unit::clamp(good), ..ToyTerms::default() }, &weights)
    }

    fn proof(in_plies: Option<u16>, margin: i32) -> Proof {
        Proof { in_plies, margin, how: "test" }
    }

    #[test]
    fn the_total_is_the_sum_of_weight_times_value() {
        let weights = Weights::of(&[(ToyTerm::Good as usize, 2.0), (ToyTerm::Bad as usize, -1.5)]);
        let terms = ToyTerms { good: Unit::clamp(0.25), bad: Unit::clamp(0.5) };
        assert_eq!(Evaluation::<Toy>::weigh(1, terms, &weights).total(), 0.5 - 0.75);
        let urgent = weights.times(ToyTerm::Bad as usize, 0.5);
        assert_eq!(Evaluation::<Toy>::weigh(1, terms, &urgent).total(), 0.5 - 0.375);
        let only_good = Weights::of(&[(ToyTerm::Good as usize, 2.0)]);
        assert_eq!(Evaluation::<Toy>::weigh(1, terms, &only_good).total(), 0.5);
    }

    #[test]
    fn a_sum_of_negative_zeros_is_zero() {
        let weights = Weights::of(&[(ToyTerm::Bad as usize, -1.0)]);
        let zero = Evaluation::<Toy>::weigh(1, ToyTerms::default(), &weights);
        assert!(zero.total().is_sign_positive());
    }

    /// From best to worst; every neighbour pair differs in one step of the order.
    #[test]
    fn rows_stand_in_the_order_of_the_specification() {
        let ladder = [
            row(9, 0.0).standing(Standing::Won(proof(Some(1), 0))),
            row(9, 0.0).standing(Standing::Won(proof(Some(3), 5))),
            row(9, 0.1).standing(Standing::Won(proof(Some(3), 4))),
            row(9, 1.0).standing(Standing::Won(proof(None, 9))),
            row(9, 1.0).standing(Standing::Drawn(proof(None, 0))),
            row(9, 0.9),
            row(1, 0.5),
            row(2, 0.5),
            row(1, 0.5).bound(Bound::AtMost),
            row(9, 0.4).standing(Standing::Drawn(proof(Some(1), 0))),
            row(9, 0.0).standing(Standing::Lost(proof(None, 0))),
            row(9, 1.0).standing(Standing::Lost(proof(Some(8), -2))),
            row(9, 1.0).standing(Standing::Lost(proof(Some(8), -3))),
            row(9, 1.0).standing(Standing::Lost(proof(Some(2), 0))),
            row(0, 1.0).standing(Standing::Won(proof(Some(1), 9))).barred("by the test"),
        ];
        for (i, better) in ladder.iter().enumerate() {
            assert_eq!(better.rank(better), Ordering::Equal);
            for worse in &ladder[i + 1..] {
                assert_eq!(better.rank(worse), Ordering::Greater, "{better:?} over {worse:?}");
                assert_eq!(worse.rank(better), Ordering::Less);
            }
        }
        let mut rows = ladder.to_vec();
        rows.reverse();
        let table = Evaluated::new(rows);
        assert_eq!(decide(&table), &ladder[0]);
        assert!(table.ranked().into_iter().eq(&ladder));
    }

    #[test]
    fn equal_rows_fall_to_the_smaller_move() {
        let budget = Budget::unlimited();
        let table = Flat.evaluate(&(), &mut Turn { budget: &budget, rng: &mut crate::bot::Rng::new(0) });
        assert_eq!(decide(&table).mv(), &1);
        assert_eq!(table.row(&2).map(Evaluation::mv), Some(&2));
        assert!(table.row(&3).is_none());
    }

    #[test]
    fn what_is_built_on_a_row_is_read_back() {
        let payoff = Payoff { mean: 1.5, standard_error: 0.5, samples: 9 };
        let built = row(1, 1.0).line(vec![1, 2]).payoff(payoff).fact("depth", 3.0, "plies").barred("so");
        assert_eq!((built.get_line(), built.get_payoff()), (&[1, 2][..], Some(payoff)));
        assert_eq!((built.get_fact("depth"), built.get_fact("nodes")), (Some(3.0), None));
        assert_eq!((built.get_barred(), built.get_bound()), (Some("so"), Bound::Exact));
        assert_eq!(built.get_facts().len(), 1);
        assert_eq!(built.total(), 2.0);
    }

    #[test]
    fn a_table_says_what_it_cost_and_why_it_ended() {
        let budget = Budget::new(Limits { nodes: Some(2), worlds: Some(5), ..Limits::NONE });
        assert!(budget.world().is_ok());
        while budget.tick().is_ok() {}
        let table = Evaluated::new(vec![row(1, 0.0)]).fact("lead", 4.0, "cells").spent(&budget);
        assert_eq!(table.work, Work { nodes: 2, worlds: 1, depth: 0, effective_worlds: 1.0 });
        assert_eq!(table.completion, Completion::Nodes);
        assert_eq!((table.get_fact("lead"), table.get_fact("other")), (Some(4.0), None));
        assert_eq!(Evaluated::new(vec![row(1, 0.0)]).spent(&Budget::unlimited()).completion, Completion::Full);
        assert_eq!(Completion::from(Stopped::Cancelled), Completion::Time);
        assert_eq!(Completion::from(Stopped::Depth), Completion::Depth);
        assert_eq!(Completion::from(Stopped::Worlds), Completion::Worlds);
    }

    #[test]
    fn a_roster_finds_names_and_aliases() {
        let roster = Toy::roster().sparring("shadow", Flat);
        assert!(roster.find("even").is_some_and(|entry| entry.name == "flat" && !entry.arena_only));
        assert!(roster.find("shadow").is_some_and(|entry| entry.arena_only));
        assert!(roster.find("none").is_none());
    }
}
