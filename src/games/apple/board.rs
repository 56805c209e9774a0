//! The board: a grid of digits, 0 where an apple has been cleared.

use std::fmt;

use crate::bot::Fnv;

/// The longest side a board may have.
pub const MAX_SIDE: usize = 64;
/// The most cells a board may have.
pub const MAX_CELLS: usize = 400;

/// A grid of digits 0..=9; 0 = cleared. The whole state of the game.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Board {
    rows: u8,
    columns: u8,
    cells: [u8; MAX_CELLS],
}

impl Board {
    /// A board of these digits, row by row; `None` when a side is outside 1..=64, the product is above 400, the length
    /// does not fit or a digit is above 9.
    pub fn new(rows: usize, columns: usize, digits: &[u8]) -> Option<Self> {
        let sides = (1..=MAX_SIDE).contains(&rows) && (1..=MAX_SIDE).contains(&columns);
        if !sides || rows * columns > MAX_CELLS || digits.len() != rows * columns || digits.iter().any(|&d| d > 9) {
            return None;
        }
        let mut cells = [0; MAX_CELLS];
        cells[..digits.len()].copy_from_slice(digits);
        Some(Self { rows: rows as u8, columns: columns as u8, cells })
    }

    /// Reads `123/456`: rows joined by `/`, 0 = cleared.
    pub fn parse(text: &str) -> Option<Self> {
        let rows: Vec<&[u8]> = text.split('/').map(str::as_bytes).collect();
        if rows.iter().any(|row| row.len() != rows[0].len()) {
            return None;
        }
        let digits: Vec<u8> = rows.concat().iter().map(|byte| byte.wrapping_sub(b'0')).collect();
        Self::new(rows.len(), rows[0].len(), &digits)
    }

    /// Number of rows, 1..=64.
    pub const fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Number of columns, 1..=64.
    pub const fn columns(&self) -> usize {
        self.columns as usize
    }

    /// The digits, row by row.
    pub fn cells(&self) -> &[u8] {
        &self.cells[..self.rows() * self.columns()]
    }

    /// The digit at a place; 0 = cleared.
    pub fn at(&self, row: usize, column: usize) -> u8 {
        self.cells[row * self.columns() + column]
    }

    /// Clears a cell by its row-major index.
    pub fn clear(&mut self, index: usize) {
        self.cells[index] = 0;
    }

    /// Apples on the board.
    pub fn apples(&self) -> u32 {
        self.cells().iter().filter(|&&digit| digit != 0).count() as u32
    }

    /// Sum of the digits.
    pub fn sum(&self) -> u32 {
        self.cells().iter().map(|&digit| u32::from(digit)).sum()
    }

    /// How many apples show each digit 1..=9.
    pub fn counts(&self) -> [u32; 9] {
        let mut counts = [0; 9];
        for &digit in self.cells().iter().filter(|&&digit| digit != 0) {
            counts[usize::from(digit) - 1] += 1;
        }
        counts
    }

    /// Whether every cell holds an apple: a board nobody has played on.
    pub fn is_fresh(&self) -> bool {
        self.cells().iter().all(|&digit| digit != 0)
    }

    /// The board seen in a mirror: the first column becomes the last.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let mut mirrored = *self;
        for row in mirrored.cells[..self.rows() * self.columns()].chunks_mut(self.columns()) {
            row.reverse();
        }
        mirrored
    }

    /// FNV-1a over the bytes rows, columns, then all cells. A list of moves without the board it belongs to is
    /// worthless, so every plan and assessment carries this.
    pub fn hash(&self) -> u64 {
        let mut hash = Fnv::default();
        hash.write(&[self.rows, self.columns]);
        hash.write(self.cells());
        hash.finish()
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, row) in self.cells().chunks(self.columns()).enumerate() {
            if i > 0 {
                f.write_str("/")?;
            }
            for digit in row {
                write!(f, "{digit}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_reads_as_it_is_written() {
        let board = Board::parse("9551/0010").expect("two rows of four");
        assert_eq!((board.rows(), board.columns(), board.sum(), board.apples()), (2, 4, 21, 5));
        assert_eq!(board.to_string(), "9551/0010");
        assert_eq!(board.mirrored().to_string(), "1559/0100");
        assert_eq!(board.counts(), [2, 0, 0, 0, 2, 0, 0, 0, 1]);
    }

    #[test]
    fn what_is_no_board_is_refused() {
        for text in ["", "12/3", "1a", "12/", "1:"] {
            assert_eq!(Board::parse(text), None, "{text:?}");
        }
        assert_eq!(Board::new(21, 20, &[1; 420]), None);
        assert_eq!(Board::new(1, 65, &[1; 65]), None);
        assert_eq!(Board::new(2, 2, &[1, 2, 3]), None);
    }

    #[test]
    fn one_differing_cell_gives_another_hash() {
        let board = Board::parse("5005").expect("one row");
        let mut other = board;
        other.clear(0);
        assert_ne!(board.hash(), other.hash());
    }
}
