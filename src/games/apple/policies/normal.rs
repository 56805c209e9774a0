//! The greedy rule.

use std::sync::Arc;

use crate::bot::policy::Heeds;
use crate::bot::{
    About, Evaluated, Evaluation, Limits, Policy, PolicyKind, TermSet, Turn, WeightTable, Weights, WeightsError,
};
use crate::games::apple::greedy::greedy_move;
use crate::games::apple::terms::{self, AppleTerm, AppleTerms};
use crate::games::apple::{Apple, Move, View, rects};

/// Clears the biggest apple it can, with as few cells as it can: tie v1 of the greedy rule, as a weighted sum.
#[derive(Clone, Copy, Debug)]
pub struct Normal {
    weights: Weights<AppleTerms>,
}

impl Default for Normal {
    fn default() -> Self {
        Self { weights: terms::greedy_weights() }
    }
}

const TERMS: TermSet = TermSet::of(&[AppleTerm::Largest as usize, AppleTerm::Kept as usize]);

impl Policy<Apple> for Normal {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "The greedy rule: biggest apple first, then fewest cells, then the first found.",
            kind: PolicyKind::Terms,
            anytime: false,
            uses_seed: false,
            default_limits: Limits::NONE,
            heeds: Heeds::default(),
            terms: TERMS,
            aliases: &["greedy"],
            stages: &[],
        }
    }

    fn evaluate(&self, view: &View, _turn: &mut Turn<'_>) -> Evaluated<Apple> {
        let row = |mv: Move| {
            let terms =
                AppleTerms { largest: terms::largest(&mv), kept: terms::kept(view, &mv), ..AppleTerms::default() };
            Evaluation::weigh(mv, terms, &self.weights)
        };
        Evaluated::new(rects::legal(view.board()).into_iter().map(row).collect())
    }

    fn shortcut(&self, view: &View, _turn: &mut Turn<'_>) -> Option<Move> {
        // The rule and the sum agree for the built-in weights only.
        if self.weights != terms::greedy_weights() {
            return None;
        }
        greedy_move(view.board(), view.ruleset().count)
    }

    fn weights(&self) -> Vec<Weights<AppleTerms>> {
        vec![self.weights]
    }

    fn tunable(&self) -> TermSet {
        TERMS
    }

    fn with_weights(
        &self,
        table: &WeightTable,
        _players: Option<u8>,
    ) -> Result<Arc<dyn Policy<Apple>>, WeightsError> {
        let rows = table.resolve(&["all"], TERMS)?;
        Ok(Arc::new(Self { weights: rows[0] }))
    }
}
