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

#[cfg(test)]
mod tests {
    use super::super::budget::{Budget, Limits};
    use super::super::evaluation::decide;
    use super::super::evaluation::tests::{Toy, row};
    use super::super::rng::Rng;
    use super::*;

    fn run(budget: &Budget, nodes_a_round: u64, rounds: u32) -> Evaluated<Toy> {
        let mut rng = Rng::new(1);
        let floor = Evaluated::new(vec![row(1, 0.0), row(2, 0.0)]);
        deepen(floor, &mut Turn { budget, rng: &mut rng }, |depth, best, turn| {
            assert_eq!(best.rows().len(), 2);
            for _ in 0..nodes_a_round {
                turn.budget.tick()?;
            }
            let table = Evaluated::new(vec![row(1, 0.0), row(2, f64::from(depth) / 10.0)]);
            Ok(if depth == rounds { Round::Last(table) } else { Round::Deeper(table) })
        })
    }

    #[test]
    fn only_finished_rounds_are_published() {
        let table = run(&Budget::new(Limits::nodes(25)), 10, 9);
        assert_eq!((decide(&table).mv(), decide(&table).total()), (&2, 0.4));
        assert_eq!((table.work.depth, table.work.nodes, table.completion), (2, 25, Completion::Nodes));
    }

    #[test]
    fn the_last_round_ends_it() {
        let table = run(&Budget::unlimited(), 10, 3);
        assert_eq!((table.work.depth, table.work.nodes, table.completion), (3, 30, Completion::Full));
    }

    #[test]
    fn a_depth_limit_is_named() {
        let table = run(&Budget::new(Limits { depth: Some(2), ..Limits::NONE }), 10, 9);
        assert_eq!((table.work.depth, table.completion), (2, Completion::Depth));
    }

    #[test]
    fn a_spent_budget_leaves_the_floor() {
        let table = run(&Budget::spent(), 10, 9);
        assert_eq!((decide(&table).mv(), table.work.depth, table.completion), (&1, 0, Completion::Time));
    }
}
