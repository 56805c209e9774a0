//! The best complete line known for each candidate, and the table it makes.

use super::Apple;
use super::board::Board;
use super::bound::upper_bound;
use super::cells::Cells;
use super::greedy::{Line, finish_greedily};
use super::moves::Move;
use super::rects::{self, Ground, Play, Rectangle};
use super::terms::{self, AppleTerms};
use super::view::View;
use crate::bot::{Budget, Evaluated, Evaluation, Payoff, Proof, Standing, Weights};

/// Fact of a searched position: apples cleared by the plan, the line of the chosen move.
pub const PLAN_SCORE: &str = "plan_score";
/// Proof: the line clears as many apples as the upper bound allows.
pub const BOUND: &str = "bound";
/// Proof: the search saw every reachable position.
pub const EXHAUSTED: &str = "exhausted";

/// For each candidate the best line found so far that starts with it: a true lower bound of what it is worth.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The candidates, in row-major order.
    pub moves: Vec<Move>,
    best: Vec<Line>,
    /// No play clears more than this.
    pub bound: u32,
    /// Every reachable position was seen, so the best lines are the best there are.
    pub exhausted: bool,
}

impl Lines {
    /// Depth 0: one greedy game, which counts for its first move; every other candidate starts with its own apples.
    /// Never interrupted, but its positions are counted: the root and all of the game.
    pub fn floor(view: &View, budget: &Budget) -> Self {
        let board = view.board();
        let moves = rects::legal(board);
        let alone = |mv: &Move| Line { score: mv.apples.into(), moves: vec![mv.rectangle] };
        let best = moves.iter().map(alone).collect();
        let mut lines = Self { moves, best, bound: upper_bound(&board.counts()), exhausted: false };
        // Counting may fail, playing may not: the floor is always there.
        let _ = budget.tick();
        let game = greedy_counted(board, view, budget);
        lines.offer(game);
        lines
    }

    /// The place of a candidate.
    pub fn find(&self, first: Rectangle) -> Option<usize> {
        self.moves.binary_search_by(|mv| mv.rectangle.cmp(&first)).ok()
    }

    /// Takes in a complete line for its first move, if it clears more than the one known.
    pub fn offer(&mut self, line: Line) {
        if let Some(place) = line.moves.first().and_then(|first| self.find(*first))
            && line.score > self.best[place].score
        {
            self.best[place] = line;
        }
    }

    /// Apples cleared by the best line of the candidate at a place.
    pub fn score(&self, place: usize) -> u32 {
        self.best[place].score
    }

    /// The most apples that any known line clears.
    pub fn best_score(&self) -> u32 {
        self.best.iter().map(|line| line.score).max().unwrap_or(0)
    }

    /// Whether a line is known that no play can better.
    pub fn is_settled(&self) -> bool {
        self.exhausted || self.best_score() == self.bound
    }

    /// One row for each candidate.
    pub fn table(&self, view: &View, weights: &Weights<AppleTerms>) -> Evaluated<Apple> {
        let most = self.best_score();
        let row = |(mv, line): (&Move, &Line)| {
            let terms = AppleTerms {
                finish: terms::finish(view, line.score),
                largest: terms::largest(mv),
                kept: terms::kept(view, mv),
                ..AppleTerms::default()
            };
            Evaluation::weigh(*mv, terms, weights)
                .line(replay(view.board(), &line.moves))
                .payoff(Payoff { mean: line.score.into(), standard_error: 0.0, samples: 0 })
                .standing(self.standing(line, most))
        };
        let table = Evaluated::new(self.moves.iter().zip(&self.best).map(row).collect());
        let plan = crate::bot::decide(&table).get_payoff().map_or(0.0, |payoff| payoff.mean);
        table.fact(PLAN_SCORE, plan, "apples")
    }

    /// Won means: proven that no play from here clears more than this line.
    fn standing(&self, line: &Line, most: u32) -> Standing {
        let how = match line.score {
            score if score == self.bound => BOUND,
            score if score == most && self.exhausted => EXHAUSTED,
            _ => return Standing::Open,
        };
        Standing::Won(Proof { in_plies: Some(line.moves.len() as u16), margin: 0, how })
    }
}

fn greedy_counted(board: &Board, view: &View, budget: &Budget) -> Line {
    fn run<const N: usize, G: Ground<N>>(board: &Board, view: &View, budget: &Budget) -> Line {
        let mut line = Line::default();
        finish_greedily(&mut Play::<N, G>::new(board), view.ruleset().count, |spot| {
            line.push(spot);
            let _ = budget.tick();
        });
        line
    }
    sized!(board, run(board, view, budget))
}

/// The moves of a line with what each clears when its turn comes.
pub fn replay(board: &Board, moves: &[Rectangle]) -> Vec<Move> {
    let mut left = *board;
    moves
        .iter()
        .map(|&rectangle| {
            let (mut cells, mut apples, mut largest) = (Cells::default(), 0, 0);
            for row in rectangle.row_min..=rectangle.row_max {
                for column in rectangle.col_min..=rectangle.col_max {
                    let digit = left.at(row.into(), column.into());
                    if digit != 0 {
                        let cell = usize::from(row) * left.columns() + usize::from(column);
                        cells.insert(cell);
                        left.clear(cell);
                        apples += 1;
                        largest = digit.max(largest);
                    }
                }
            }
            Move { rectangle, apples, largest, cells }
        })
        .collect()
}
