//! Boards by number: the same on every machine and in every release.

use super::board::{Board, MAX_CELLS};
use crate::bot::Rng;

/// How boards are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Every cell on its own, 1..=9.
    #[default]
    Uniform,
    /// Like that, but whole boards are drawn until the sum is a multiple of ten, as in the original game.
    Sum10,
}

/// At most this many boards are drawn in search of one whose sum is a multiple of ten.
pub const MAX_DRAWS: u32 = 10_000;

/// [`MAX_DRAWS`] boards were drawn, and no sum was a multiple of ten (a single cell can never be).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_DRAWS} boards drawn, and the sum of none is a multiple of ten")]
pub struct NoBoard;

impl Distribution {
    /// The names, in the order of the variants.
    pub const NAMES: &'static [&'static str] = &["uniform.v1", "sum10.v1"];

    /// The distribution with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "uniform.v1" => Some(Self::Uniform),
            "sum10.v1" => Some(Self::Sum10),
            _ => None,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform.v1",
            Self::Sum10 => "sum10.v1",
        }
    }

    /// The next board of a stream. Sides must be within the limits of a board.
    ///
    /// # Errors
    /// No board within [`MAX_DRAWS`] draws.
    pub fn next(self, rng: &mut Rng, rows: usize, columns: usize) -> Result<Board, NoBoard> {
        let cells = (rows * columns).min(MAX_CELLS);
        let mut digits = [0; MAX_CELLS];
        for _ in 0..MAX_DRAWS {
            let mut sum = 0;
            for digit in &mut digits[..cells] {
                *digit = 1 + rng.below(9) as u8;
                sum += u32::from(*digit);
            }
            if self == Self::Uniform || sum.is_multiple_of(10) {
                return Board::new(rows, columns, &digits[..cells]).ok_or(NoBoard);
            }
        }
        Err(NoBoard)
    }

    /// The board of a seed, 10 x 17: the first of the stream that starts there.
    pub fn board(self, seed: u64) -> Board {
        self.next(&mut Rng::new(seed), 10, 17).expect("a tenth of all 10 x 17 boards fits; this is a bug of the draw")
    }
}
