//! The first move found.

use crate::bot::policy::Heeds;
use crate::bot::{About, Evaluated, Evaluation, Limits, Policy, PolicyKind, TermSet, Turn, Weights};
use crate::games::apple::terms::{self, AppleTerm, AppleTerms};
use crate::games::apple::{Apple, Move, View, rects};

/// Plays the first move in row-major order: what is found by reading the board like a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Easy;

fn weights() -> Weights<AppleTerms> {
    Weights::of(&[(AppleTerm::Early as usize, 1.0)])
}

impl Policy<Apple> for Easy {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Plays the first move it finds, reading the board from top left.",
            kind: PolicyKind::Terms,
            anytime: false,
            uses_seed: false,
            default_limits: Limits::NONE,
            heeds: Heeds::default(),
            terms: TermSet::of(&[AppleTerm::Early as usize]),
            aliases: &[],
            stages: &[],
        }
    }

    fn evaluate(&self, view: &View, _turn: &mut Turn<'_>) -> Evaluated<Apple> {
        let weights = weights();
        let moves = rects::legal(view.board());
        let row = |(i, mv): (usize, &Move)| {
            let terms = AppleTerms { early: terms::early(i, moves.len()), ..AppleTerms::default() };
            Evaluation::weigh(*mv, terms, &weights)
        };
        Evaluated::new(moves.iter().enumerate().map(row).collect())
    }

    fn shortcut(&self, view: &View, _turn: &mut Turn<'_>) -> Option<Move> {
        rects::legal(view.board()).first().copied()
    }

    fn weights(&self) -> Vec<Weights<AppleTerms>> {
        vec![weights()]
    }
}
