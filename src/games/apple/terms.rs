//! What a move is weighed by.

use super::greedy::cells;
use super::moves::Move;
use super::view::View;
use crate::bot::{Unit, Weights};
use crate::terms;

terms! {
    /// The terms of all Apple policies; each policy shows those it weighs.
    pub AppleTerms, AppleTerm {
        Early early: Good, "1 for the first move in row-major order, falling evenly to almost 0 for the last.";
        Finish finish: Good, "Apples cleared by the best complete line found so far that starts with this move, as a share of the board's cells: a true lower bound.";
        Largest largest: Good, "The biggest digit cleared as a share of nine: big digits find the fewest partners.";
        Kept kept: Good, "Share of the board's cells that the move leaves alone: few apples spent on a ten, or little area, as the ruleset counts.";
    }
}

/// What `normal` weighs: the greedy rule. One step of `largest` is worth 0.111, all of `kept` less than 0.1, so the sum
/// orders exactly like "largest first, then fewest cells".
pub fn greedy_weights() -> Weights<AppleTerms> {
    Weights::of(&[(AppleTerm::Largest as usize, 1.0), (AppleTerm::Kept as usize, 0.1)])
}

/// What the searching policies weigh: one apple more is worth at least 1/400 = 0.0025, both tie terms together less than
/// 0.0022, so lines come first and the greedy rule only breaks ties.
pub fn search_weights() -> Weights<AppleTerms> {
    Weights::of(&[
        (AppleTerm::Finish as usize, 1.0),
        (AppleTerm::Largest as usize, 0.002),
        (AppleTerm::Kept as usize, 0.0002),
    ])
}

/// The `index`-th of `moves` in row-major order.
pub fn early(index: usize, moves: usize) -> Unit {
    Unit::ratio(index as u32, moves as u32).complement()
}

/// Whoever clears a nine early keeps the small digits for others.
pub fn largest(mv: &Move) -> Unit {
    Unit::ratio(u32::from(mv.largest), 9)
}

/// The share is of the view's size, not of the apples left: it must not change its meaning during a game.
pub fn kept(view: &View, mv: &Move) -> Unit {
    Unit::ratio(cells(mv.apples, mv.rectangle, view.ruleset().count), view.board().cells().len() as u32).complement()
}

/// `apples` of a line on this board.
pub fn finish(view: &View, apples: u32) -> Unit {
    Unit::ratio(apples, view.board().cells().len() as u32)
}
