//! `hard`: a weighted sum of terms over every legal move, with weights by stage. Part 5 of the series, with a plan term
//! that counts losing melds (`control_gain`), and weights learned from self-play.

use std::sync::{Arc, LazyLock};

use super::super::reading::{Reading, STAGES};
use super::super::terms::{LexioTerm, LexioTerms};
use super::super::view::View;
use super::super::{Lexio, Move};
use crate::bot::policy::Heeds;
use crate::bot::weights_file::WeightsFile;
use crate::bot::{
    About, Evaluated, Evaluation, Game, Limits, Policy, PolicyKind, Standing, TermSet, Turn, WeightTable, Weights,
    WeightsError,
};

/// The terms of `hard`.
pub const TERMS: TermSet = TermSet::of(&[
    LexioTerm::Progress as usize,
    LexioTerm::PlanGain as usize,
    LexioTerm::Lead as usize,
    LexioTerm::StrongTileCost as usize,
    LexioTerm::TempoRisk as usize,
    LexioTerm::TwosShed as usize,
    LexioTerm::Deny as usize,
    LexioTerm::ControlGain as usize,
    LexioTerm::TileCost as usize,
    LexioTerm::SingleStrength as usize,
    LexioTerm::PassBaseline as usize,
]);

/// The weights that ship with the program.
const SHIPPED: &str = include_str!("../weights/hard.json");

/// The policy `hard`.
#[derive(Clone, Debug)]
pub struct Hard {
    stages: Vec<Weights<LexioTerms>>,
}

static BUILT_IN: LazyLock<Hard> = LazyLock::new(|| {
    let file = WeightsFile::parse(SHIPPED).expect("the weights in the tree are a weights file; this is a bug of it");
    Hard::with(&file.table).expect("the weights in the tree fit hard; this is a bug of the file")
});

impl Default for Hard {
    fn default() -> Self {
        BUILT_IN.clone()
    }
}

impl Hard {
    /// `hard` with the weights of a table.
    ///
    /// # Errors
    /// What does not fit.
    pub fn with(table: &WeightTable) -> Result<Self, WeightsError> {
        Ok(Self { stages: table.resolve(&STAGES, TERMS)? })
    }

    /// The weights in force: the stage's row, its endgame terms times the urgency.
    pub fn in_force(&self, reading: &Reading<'_>) -> Weights<LexioTerms> {
        let urgency = reading.urgency();
        self.stages[usize::from(reading.stage())]
            .times(LexioTerm::TwosShed as usize, urgency)
            .times(LexioTerm::Deny as usize, urgency)
    }
}

impl Policy<Lexio> for Hard {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Weighs every move by what it sheds, what it leaves of the plan and how likely it wins the trick.",
            kind: PolicyKind::Terms,
            anytime: false,
            uses_seed: false,
            default_limits: Limits::NONE,
            heeds: Heeds::default(),
            terms: TERMS,
            aliases: &[],
            stages: &STAGES,
        }
    }

    fn evaluate(&self, view: &View, _turn: &mut Turn<'_>) -> Evaluated<Lexio> {
        let mut reading = Reading::of(view);
        let weights = self.in_force(&reading);
        let rows = weigh_all(&mut reading, view, &weights);
        reading.facts(Evaluated::new(rows)).fact("stage", f64::from(reading.stage()), "")
    }

    fn shortcut(&self, view: &View, _turn: &mut Turn<'_>) -> Option<Move> {
        let mut reading = Reading::of(view);
        let weights = self.in_force(&reading);
        Some(best(&mut reading, view, &weights))
    }

    fn weights(&self) -> Vec<Weights<LexioTerms>> {
        self.stages.clone()
    }

    fn tunable(&self) -> TermSet {
        TERMS
    }

    fn with_weights(&self, table: &WeightTable, _players: Option<u8>) -> Result<Arc<dyn Policy<Lexio>>, WeightsError> {
        Ok(Arc::new(Self::with(table)?))
    }
}

/// A row for every legal move.
pub(super) fn weigh_all(
    reading: &mut Reading<'_>,
    view: &View,
    weights: &Weights<LexioTerms>,
) -> Vec<Evaluation<Lexio>> {
    let mut row = |mv: Move| {
        let (terms, remaining) = reading.terms(&mv);
        let row = Evaluation::weigh(mv, terms, weights).standing(reading.standing(&mv));
        match remaining {
            Some(melds) => row.fact("remaining", f64::from(melds), "melds"),
            None => row,
        }
    };
    Lexio::legal(view).into_iter().map(&mut row).collect()
}

/// The move of the best row, without the rows: going out, else the largest total, then the smaller move.
pub(super) fn best(reading: &mut Reading<'_>, view: &View, weights: &Weights<LexioTerms>) -> Move {
    let mut best: Option<(f64, Move)> = None;
    for mv in Lexio::legal(view) {
        if reading.standing(&mv) != Standing::Open {
            return mv;
        }
        let total = weights.total(&reading.terms(&mv).0);
        let better = best.as_ref().is_none_or(|(most, first)| {
            total.total_cmp(most).then_with(|| first.cmp(&mv)) == std::cmp::Ordering::Greater
        });
        if better {
            best = Some((total, mv));
        }
    }
    best.map_or(Move::Pass, |(_, mv)| mv)
}
