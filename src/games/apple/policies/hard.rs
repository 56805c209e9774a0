//! The best of randomised restarts.

use crate::bot::policy::Heeds;
use crate::bot::{About, Evaluated, Limits, Policy, PolicyKind, TermSet, Turn, Weights};
use crate::games::apple::lines::Lines;
use crate::games::apple::restarts::restarts;
use crate::games::apple::terms::{self, AppleTerm, AppleTerms};
use crate::games::apple::{Apple, View};

/// Plays about a hundred games to the end, each taking few apples a move, and keeps the best.
#[derive(Clone, Copy, Debug)]
pub struct Hard {
    weights: Weights<AppleTerms>,
}

impl Default for Hard {
    fn default() -> Self {
        Self { weights: terms::search_weights() }
    }
}

impl Hard {
    /// The same with other weights of its terms.
    pub const fn weighing(weights: Weights<AppleTerms>) -> Self {
        Self { weights }
    }
}

/// The terms that searching policies show.
pub(super) const TERMS: TermSet =
    TermSet::of(&[AppleTerm::Finish as usize, AppleTerm::Largest as usize, AppleTerm::Kept as usize]);

/// About a hundred restarts on a fresh board.
const NODES: u64 = 5_400;

impl Policy<Apple> for Hard {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Plays games to the end, always taking few apples, with random ties; keeps the best line for each move.",
            kind: PolicyKind::Search,
            anytime: true,
            uses_seed: true,
            default_limits: Limits::nodes(NODES),
            heeds: Heeds { time: true, nodes: true, ..Heeds::default() },
            terms: TERMS,
            aliases: &[],
            stages: &[],
        }
    }

    fn evaluate(&self, view: &View, turn: &mut Turn<'_>) -> Evaluated<Apple> {
        let mut lines = Lines::floor(view, turn.budget);
        let finished = restarts(&mut lines, view, turn.budget, turn.rng);
        let mut table = lines.table(view, &self.weights).spent(turn.budget);
        table.work.depth = finished;
        table
    }

    fn weights(&self) -> Vec<Weights<AppleTerms>> {
        vec![self.weights]
    }
}
