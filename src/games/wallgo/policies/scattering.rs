//! An opponent for the arena: places its stones at random, then plays like another.

use super::searching::Searching;
use crate::bot::{self, About, Evaluated, Evaluation, Policy, Unit, Weights};
use crate::games::wallgo::Wallgo;
use crate::games::wallgo::state::legal;
use crate::games::wallgo::terms::{Term, WallgoTerms};
use crate::games::wallgo::view::{Phase, View};

/// `expert` with random free stones: what placing by search is measured against.
pub struct Scattering(Searching);

impl Default for Scattering {
    fn default() -> Self {
        Self(Searching::expert())
    }
}

impl Policy<Wallgo> for Scattering {
    fn about(&self) -> About {
        About { summary: "Places its stones at random, then plays like expert.", uses_seed: true, ..self.0.about() }
    }

    fn evaluate(&self, view: &View, turn: &mut bot::Turn<'_>) -> Evaluated<Wallgo> {
        if view.phase() == Phase::Play {
            return self.0.evaluate(view, turn);
        }
        // The draw is a visible column: one cell has it all.
        let cells = legal(view);
        let drawn = turn.rng.below(cells.len() as u64) as usize;
        let shown = self.0.about().terms;
        let weights = shown.iter().fold(Weights::zero(shown), |weights, place| weights.set(place, 0.0));
        let weights = weights.set(Term::Territory as usize, 1.0);
        let row = |(at, mv)| {
            let terms = WallgoTerms { territory: Unit::flag(at == drawn), ..WallgoTerms::default() };
            Evaluation::weigh(mv, terms, &weights)
        };
        Evaluated::new(cells.into_iter().enumerate().map(row).collect())
    }

    fn weights(&self) -> Vec<Weights<WallgoTerms>> {
        self.0.weights()
    }
}
