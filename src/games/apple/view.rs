//! What the one seat sees, and the checks that make it true.

use super::board::{Board, MAX_CELLS, MAX_SIDE};
use super::rules::{Ruleset, SumCheck};
use crate::bot::{Violations, Warning};

/// A board under a ruleset. The whole state is the board; the clock is the backend's business.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    ruleset: Ruleset,
    board: Board,
    score: Option<u32>,
}

impl View {
    /// A board under a ruleset that accepts it; `None` where the sum is refused.
    pub fn new(ruleset: Ruleset, board: Board) -> Option<Self> {
        sum_fits(&board, ruleset.sum_check).then_some(Self { ruleset, board, score: None })
    }

    /// With the points that the backend counted so far. No policy reads them.
    #[must_use]
    pub const fn scored(mut self, score: Option<u32>) -> Self {
        self.score = score;
        self
    }

    /// The rules in force.
    pub const fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }

    /// The board.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Points so far, if the backend told.
    pub const fn score(&self) -> Option<u32> {
        self.score
    }
}

fn sum_fits(board: &Board, check: SumCheck) -> bool {
    check == SumCheck::Warn || board.sum().is_multiple_of(10)
}

/// A board as a message claims it to be.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// Any number.
    pub rows: u32,
    /// Any number.
    pub columns: u32,
    /// Any numbers, any length.
    pub cells: &'a [u32],
}

/// The board that is claimed, or every reason against it, in the order in which they are documented. Sizes are checked
/// before anything is made from them. `sum_check` is `None` where the ruleset itself is in doubt.
pub fn check_board(claim: Claim<'_>, sum_check: Option<SumCheck>, wrong: &mut Violations) -> Option<Board> {
    let before = wrong.len();
    let Claim { rows, columns, cells } = claim;
    let side = |path: &str, value: u32, wrong: &mut Violations| {
        let good = (1..=MAX_SIDE as u32).contains(&value);
        if !good {
            wrong.add(path, "", format!("{value} is outside 1..={MAX_SIDE}"));
        }
        good
    };
    let good_rows = side("rows", rows, wrong);
    if side("columns", columns, wrong) && good_rows {
        check_size(claim, wrong);
    }
    for (i, &digit) in cells.iter().take(MAX_CELLS).enumerate() {
        if digit > 9 {
            wrong.add(format_args!("cells[{i}]"), "", format_args!("{digit} is not a digit 0..=9"));
        }
    }
    if wrong.len() > before {
        return None;
    }
    let digits: Vec<u8> = cells.iter().map(|&digit| digit as u8).collect();
    let board = Board::new(rows as usize, columns as usize, &digits)?;
    if sum_check.is_some_and(|check| !sum_fits(&board, check)) {
        wrong.add("cells", "", format!("sum is {}, not a multiple of 10", board.sum()));
        return None;
    }
    Some(board)
}

fn check_size(Claim { rows, columns, cells }: Claim<'_>, wrong: &mut Violations) {
    let product = u64::from(rows) * u64::from(columns);
    if product > MAX_CELLS as u64 {
        wrong.add("", "", format!("{rows} x {columns} = {product} cells, the limit is {MAX_CELLS}"));
    } else if cells.len() as u64 != product {
        wrong.add("cells", "", format!("{} cells, but {rows} x {columns} needs {product}", cells.len()));
    }
}

/// 0.1 % point of the chi-square distribution with 8 degrees of freedom. A board misread by a camera usually exceeds it;
/// 0.16 % of fair boards do.
const HISTOGRAM_LIMIT: f64 = 26.12;

/// What is worth a look on an accepted board. `prefix` is the field path of the board: `view.apple`, `boards[3]`.
pub fn warnings(prefix: &str, board: &Board, score: Option<u32>) -> Vec<Warning> {
    let mut list = Vec::new();
    let mut warn = |field: &str, code, text: String| {
        let field = if field.is_empty() { prefix.to_owned() } else { format!("{prefix}.{field}") };
        list.push(Warning { field, code, text });
    };
    let (sum, apples) = (board.sum(), board.apples());
    let zeros = board.cells().len() as u32 - apples;
    if !sum.is_multiple_of(10) {
        let text = format!("sum is {sum}: at least one apple stays, whatever is played");
        warn("cells", "SUM_NOT_MULTIPLE_OF_TEN", text);
    }
    if (board.rows(), board.columns()) == (17, 10) {
        warn("", "LOOKS_TRANSPOSED", "17 rows by 10 columns; the game has 10 by 17".to_owned());
    }
    if apples == 0 {
        warn("cells", "NO_APPLES", "every cell is 0".to_owned());
    }
    if let Some(score) = score.filter(|&score| score != zeros) {
        warn("score", "SCORE_MISMATCH", format!("score {score}, but {zeros} cells are cleared"));
    }
    if zeros == 0 && board.cells().len() >= 100 && imbalance(board) > HISTOGRAM_LIMIT {
        let text = format!("digits 1..9 appear {:?} times: a fair board is rarely that uneven", board.counts());
        warn("cells", "DIGIT_HISTOGRAM", text);
    }
    list
}

/// Chi-square statistic of the digit counts against even ones.
fn imbalance(board: &Board) -> f64 {
    let even = board.cells().len() as f64 / 9.0;
    board.counts().iter().map(|&count| (f64::from(count) - even) * (f64::from(count) - even) / even).sum()
}
