//! The anytime driver: only finished rounds are published.

use super::budget::Stopped;
use super::evaluation::{Completion, Evaluated};
use super::game::Game;
use super::policy::Turn;

/// What a finished round says about the next.
pub enum Round<G: Game> {
    /// A better table; another round may better it again.
    Deeper(Evaluated<G>),
    /// A better table, and nothing left to find.
    Last(Evaluated<G>),
    /// Nothing to add to the table that stands.
    Done,
}

/// Starts from the static table `floor` and runs rounds 1, 2, ... until the budget stops one or a round says it is the
/// last. A finished round replaces the table whole; an interrupted one leaves no trace in it. Work and completion are
/// filled in from the budget; `work.depth` counts finished rounds unless the round's table says more.
pub fn deepen<G: Game>(
    floor: Evaluated<G>,
    turn: &mut Turn<'_>,
    mut round: impl FnMut(u32, &Evaluated<G>, &mut Turn<'_>) -> Result<Round<G>, Stopped>,
) -> Evaluated<G> {
    let mut best = floor;
    let mut completion = Completion::Full;
    for depth in 1.. {
        let finished = turn.budget.depth(depth).and_then(|()| round(depth, &best, turn));
        match finished {
            Ok(Round::Deeper(table)) => {
                best = table;
                best.work.depth = best.work.depth.max(depth);
            }
            Ok(Round::Last(table)) => {
                best = table;
                best.work.depth = best.work.depth.max(depth);
                break;
            }
            Ok(Round::Done) => break,
            Err(stopped) => {
                completion = stopped.into();
                break;
            }
        }
    }
    best.work.nodes = turn.budget.nodes();
    best.work.worlds = turn.budget.worlds();
    if best.work.effective_worlds == 0.0 {
        best.work.effective_worlds = f64::from(best.work.worlds);
    }
    best.completion = completion;
    best
}
