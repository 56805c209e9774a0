//! What can be counted on a board at sight.

use super::board::Board;
use super::cells::Cells;
use super::rects::{Ground, Play};

/// Counts that a person could make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Sum of the digits.
    pub sum: u32,
    /// Sum of their squares: large digits weigh more.
    pub sum_of_squares: u32,
    /// Apples on the board.
    pub apples: u32,
    /// How many show each digit 1..=9.
    pub counts: [u32; 9],
    /// Canonical legal rectangles.
    pub legal_moves: u32,
    /// Apples that at least one of them covers.
    pub reachable_apples: u32,
    /// Neighbours, side by side or one above the other, both present, that sum to ten.
    pub adjacent_pairs: u32,
}

impl Features {
    /// Those of a board whose legal moves are known already.
    pub fn of<const N: usize, G: Ground<N>>(board: &Board, play: &Play<N, G>) -> Self {
        let digits = board.cells().iter().map(|&digit| u32::from(digit));
        let reachable = play.spots().iter().fold(Cells::<N>::default(), |all, spot| all.union(&spot.cells));
        Self {
            sum: board.sum(),
            sum_of_squares: digits.map(|digit| digit * digit).sum(),
            apples: board.apples(),
            counts: board.counts(),
            legal_moves: play.spots().len() as u32,
            reachable_apples: reachable.len(),
            adjacent_pairs: adjacent_pairs(board),
        }
    }
}

/// The features of a board.
pub fn features(board: &Board) -> Features {
    fn run<const N: usize, G: Ground<N>>(board: &Board) -> Features {
        Features::of(board, &Play::<N, G>::new(board))
    }
    sized!(board, run(board))
}

fn adjacent_pairs(board: &Board) -> u32 {
    let columns = board.columns();
    // Digits are at most nine, so ten needs two apples.
    let tens = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(a, b)| **a + **b == 10).count() as u32;
    let rows = board.cells().chunks(columns);
    let beside: u32 = rows.clone().map(|row| tens(row, &row[1..])).sum();
    let above: u32 = rows.clone().zip(rows.skip(1)).map(|(row, below)| tens(row, below)).sum();
    beside + above
}
