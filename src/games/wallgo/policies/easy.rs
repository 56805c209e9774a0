//! `easy`: looks at the board after each of its actions, and no further.

use crate::bot::{
    self, About, Evaluated, Evaluation, Limits, Policy, PolicyKind, Proof, Standing, TermSet, WeightTable, Weights,
    WeightsError,
};
use crate::games::wallgo::Wallgo;
use crate::games::wallgo::action::Move;
use crate::games::wallgo::rules::{Position, Rules, score};
use crate::games::wallgo::survey::Survey;
use crate::games::wallgo::terms::{ALL_THIRTEEN, WallgoTerms, shown};
use crate::games::wallgo::view::{Phase, View};
use std::sync::Arc;

/// Thirteen terms, one ply.
pub struct Easy {
    weights: Weights<WallgoTerms>,
}

impl Default for Easy {
    fn default() -> Self {
        Self { weights: Weights::of(&ALL_THIRTEEN) }
    }
}

/// A pass although a wall could be built.
pub const PASSES_WHILE_BUILDING: &str = "passes_while_building";

impl Policy<Wallgo> for Easy {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Weighs thirteen facts of the board after each of its actions; sees no reply.",
            kind: PolicyKind::Terms,
            anytime: false,
            uses_seed: false,
            default_limits: Limits::NONE,
            heeds: bot::policy::Heeds::default(),
            terms: shown(&ALL_THIRTEEN),
            aliases: &[],
            stages: &[],
        }
    }

    fn evaluate(&self, view: &View, _turn: &mut bot::Turn<'_>) -> Evaluated<Wallgo> {
        let (rules, position) = (view.rules(), view.position());
        let rows = match view.phase() {
            Phase::Setup => crate::games::wallgo::state::legal(view)
                .into_iter()
                .map(|mv| Evaluation::weigh(mv, placed_terms(view, mv), &self.weights))
                .collect(),
            Phase::Play => {
                let building = position.can_build(rules, position.mover());
                let candidates = position.candidates(rules).into_iter();
                candidates.map(|mv| self.row(rules, position, building, mv)).collect()
            }
        };
        position_facts(Evaluated::new(rows), position)
    }

    fn weights(&self) -> Vec<Weights<WallgoTerms>> {
        vec![self.weights]
    }

    fn tunable(&self) -> TermSet {
        shown(&ALL_THIRTEEN)
    }

    fn with_weights(&self, table: &WeightTable, _players: Option<u8>) -> Result<Arc<dyn Policy<Wallgo>>, WeightsError> {
        let rows = table.resolve::<WallgoTerms>(&["all"], self.tunable())?;
        Ok(Arc::new(Self { weights: rows[0] }))
    }
}

impl Easy {
    fn row(&self, rules: &Rules, position: &Position, building: bool, mv: Move) -> Evaluation<Wallgo> {
        let (me, after) = (position.mover(), position.after(mv));
        let standing = ending(rules, &after, me);
        let terms = match standing {
            Standing::Drawn(_) => WallgoTerms::level(bot::Unit::HALF),
            _ => WallgoTerms::full(rules, &after, me),
        };
        let row = Evaluation::weigh(mv, terms, &self.weights).standing(standing);
        if building && is_pass(mv) { row.barred(PASSES_WHILE_BUILDING) } else { row }
    }
}

/// Whether nothing is built.
pub fn is_pass(mv: Move) -> bool {
    matches!(mv, Move::Turn(turn) if turn.wall().is_none())
}

/// What a position one ply away proves when the game is over there.
pub fn ending(rules: &Rules, after: &Position, me: usize) -> Standing {
    if after.end(rules).is_none() {
        return Standing::Open;
    }
    let result = score(rules, &after.board, &after.board.territory());
    let margin = result.cells[me] as i32 - result.cells[1 - me] as i32;
    let proof = Proof { in_plies: Some(1), margin, how: END };
    match result.winner {
        Some(winner) if winner as usize == me => Standing::Won(proof),
        Some(_) => Standing::Lost(proof),
        None => Standing::Drawn(proof),
    }
}

/// Proof id: the game reaches its end.
pub const END: &str = "end";

/// The thirteen terms after placing a stone, board as it stands.
fn placed_terms(view: &View, mv: Move) -> WallgoTerms {
    let mut position = *view.position();
    let me = position.mover();
    if let Move::Place(cell) = mv {
        position.board.pieces[me] |= cell.bit();
    }
    position.to_move = view.rules().setup.order().get(view.placed() + 1).copied().unwrap_or(view.rules().first_player());
    WallgoTerms::full(view.rules(), &position, me)
}

/// With the facts of the position: `lead`, `mixed`, `decided_by_count`.
pub fn position_facts(table: Evaluated<Wallgo>, position: &Position) -> Evaluated<Wallgo> {
    let territory = Survey::of(&position.board).territory;
    let lead = territory.lead(position.mover());
    let mixed = territory.mixed.count_ones();
    table
        .fact("lead", f64::from(lead), "cells")
        .fact("mixed", f64::from(mixed), "cells")
        .fact("decided_by_count", f64::from(u8::from(lead.unsigned_abs() > mixed)), "")
}
