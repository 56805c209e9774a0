//! Setup placements by search: alpha-beta over the stones that are still to come.

use super::board::{Board, Cell};
use super::leaf::FastWeights;
use super::rules::{Rules, placements};
use super::survey::{Counts, Survey};
use crate::bot::{Budget, Stopped};

/// Where a line of placements leads.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Worth to the deciding side, 0..=1.
    pub value: f64,
    /// The counts of the last board.
    pub counts: Counts,
    /// The placements after the first.
    line: [Cell; 8],
    length: usize,
}

impl Placed {
    /// The placements after the first.
    pub fn line(&self) -> &[Cell] {
        &self.line[..self.length]
    }
}

/// A search of one decision.
pub struct Placing<'a> {
    /// The switches.
    pub rules: &'a Rules,
    /// The deciding side.
    pub me: usize,
    /// Weighs the last board.
    pub weights: FastWeights,
    /// When to stop.
    pub budget: &'a Budget,
}

impl Placing<'_> {
    /// The board as it stands, `placed` stones beyond the fixed ones on it.
    pub fn still(&self, board: &Board, placed: usize) -> Placed {
        let next = self.rules.setup.order().get(placed).copied().unwrap_or(self.rules.first_player());
        let counts = Survey::of(board).counts(board, self.me, usize::from(next) == self.me);
        Placed { value: self.weights.total(&counts), counts, line: [Cell(0); 8], length: 0 }
    }

    /// The value of a board after `depth` more placements, best for each side. Bounds outside `low..high`.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn value(&self, board: &Board, placed: usize, depth: u32, low: f64, high: f64) -> Result<Placed, Stopped> {
        let order = self.rules.setup.order();
        let Some(&placer) = order.get(placed).filter(|_| depth > 0) else {
            return Ok(self.still(board, placed));
        };
        let (own, player) = (usize::from(placer) == self.me, usize::from(placer));
        let mut cells: Vec<(f64, Cell)> = Vec::with_capacity(49);
        for cell in placements(board) {
            let mut value = 0.0;
            if depth > 1 {
                self.budget.tick()?;
                value = self.still(&with(board, player, cell), placed + 1).value;
            }
            cells.push((if own { -value } else { value }, cell));
        }
        if depth > 1 {
            cells.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        let (mut low, mut high) = (low, high);
        let mut best: Option<Placed> = None;
        for (_, cell) in cells {
            self.budget.tick()?;
            let found = self.value(&with(board, player, cell), placed + 1, depth - 1, low, high)?;
            let better = best.is_none_or(|best| if own { found.value > best.value } else { found.value < best.value });
            if better {
                let mut longer = found;
                longer.line[0] = cell;
                longer.line[1..].copy_from_slice(&found.line[..7]);
                longer.length = found.length + 1;
                best = Some(longer);
            }
            if own {
                low = low.max(found.value);
            } else {
                high = high.min(found.value);
            }
            if low >= high {
                break;
            }
        }
        Ok(best.unwrap_or_else(|| self.still(board, placed)))
    }
}

/// The board with one more stone.
pub fn with(board: &Board, player: usize, cell: Cell) -> Board {
    let mut next = *board;
    next.pieces[player] |= cell.bit();
    next
}
