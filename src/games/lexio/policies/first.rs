//! `first`: the term sum of part 5 as it was first built, with hand-found weights. Kept as the arena's baseline: what
//! `hard` is worth is measured against it.

use super::super::reading::Reading;
use super::super::terms::{LexioTerm, LexioTerms};
use super::super::view::View;
use super::super::{Lexio, Move};
use super::hard::{best, weigh_all};
use crate::bot::policy::Heeds;
use crate::bot::{About, Evaluated, Limits, Policy, PolicyKind, TermSet, Turn, Weights};

/// The policy `first`.
#[derive(Clone, Copy, Debug, Default)]
pub struct First;

/// Its terms and weights: the last set of the spec's section 5.2. `lead` and `twos_shed` weigh nothing in it.
const WEIGHTS: [(usize, f64); 8] = [
    (LexioTerm::Progress as usize, 2.0),
    (LexioTerm::PlanGain as usize, 2.5),
    (LexioTerm::Lead as usize, 0.0),
    (LexioTerm::StrongTileCost as usize, -0.3),
    (LexioTerm::TempoRisk as usize, -2.0),
    (LexioTerm::TwosShed as usize, 0.0),
    (LexioTerm::Deny as usize, 0.5),
    (LexioTerm::PassBaseline as usize, -1.5),
];

impl First {
    fn in_force(reading: &Reading<'_>) -> Weights<LexioTerms> {
        let urgency = reading.urgency();
        Weights::of(&WEIGHTS)
            .times(LexioTerm::TwosShed as usize, urgency)
            .times(LexioTerm::Deny as usize, urgency)
    }
}

impl Policy<Lexio> for First {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "The first term sum, by hand-found weights: the baseline that hard is measured against.",
            kind: PolicyKind::Terms,
            anytime: false,
            uses_seed: false,
            default_limits: Limits::NONE,
            heeds: Heeds::default(),
            terms: TermSet::of(&WEIGHTS.map(|(place, _)| place)),
            aliases: &[],
            stages: &[],
        }
    }

    fn evaluate(&self, view: &View, _turn: &mut Turn<'_>) -> Evaluated<Lexio> {
        let mut reading = Reading::of(view);
        let weights = Self::in_force(&reading);
        let rows = weigh_all(&mut reading, view, &weights);
        reading.facts(Evaluated::new(rows))
    }

    fn shortcut(&self, view: &View, _turn: &mut Turn<'_>) -> Option<Move> {
        let mut reading = Reading::of(view);
        let weights = Self::in_force(&reading);
        Some(best(&mut reading, view, &weights))
    }

    fn weights(&self) -> Vec<Weights<LexioTerms>> {
        vec![Weights::of(&WEIGHTS)]
    }
}
