//! Rectangles on a board of any size, found with two pointers over the columns between each pair of rows.

use super::board::{Board, MAX_CELLS, MAX_SIDE};
use super::cells::Cells;
use super::rects::{Ground, Rectangle, span};

/// The sums of every column above every row.
#[derive(Clone, Debug)]
pub struct Scan {
    rows: usize,
    columns: usize,
    /// Digits of the fresh board; they count only where an apple still is.
    digits: [u8; MAX_CELLS],
    /// `above[r * columns + c]`: sum of the apples of column c in the rows above r. Two of these rows give the sums of
    /// every column between them.
    above: [u16; MAX_CELLS + MAX_SIDE],
    /// Per row, the columns that hold an apple.
    occupied: [u64; MAX_SIDE],
    /// Per row of the move cleared last, the columns it emptied.
    gone: [u64; MAX_SIDE],
}

impl Scan {
    #[inline]
    fn sweep_rows(&self, row_min: usize, row_max: usize, mut found: impl FnMut(usize, usize)) {
        let columns = self.columns;
        let top = &self.above[row_min * columns..][..columns];
        let bottom = &self.above[(row_max + 1) * columns..][..columns];
        let (mut left, mut sum) = (0, 0);
        for right in 0..columns {
            let height = bottom[right] - top[right];
            if height == 0 {
                continue;
            }
            sum += height;
            while sum > 10 {
                sum -= bottom[left] - top[left];
                left += 1;
            }
            if sum == 10 {
                while bottom[left] == top[left] {
                    left += 1;
                }
                let window = span(left, right);
                if self.occupied[row_min] & window != 0 && self.occupied[row_max] & window != 0 {
                    found(left, right);
                }
            }
        }
    }

    /// The first and last emptied column whose apples between two rows sum to at most ten.
    #[inline]
    fn low_enough(&self, row_min: usize, row_max: usize, gone: u64) -> Option<(usize, usize)> {
        let (top, bottom) = (row_min * self.columns, (row_max + 1) * self.columns);
        let low = |bit: usize| self.above[bottom + bit] - self.above[top + bit] <= 10;
        let mut left = gone;
        while left != 0 && !low(left.trailing_zeros() as usize) {
            left &= left - 1;
        }
        if left == 0 {
            return None;
        }
        let from = left.trailing_zeros() as usize;
        let mut to = 63 - left.leading_zeros() as usize;
        while !low(to) {
            left ^= 1 << to;
            to = 63 - left.leading_zeros() as usize;
        }
        Some((from, to))
    }

    /// The sweep of [`Self::sweep_rows`], over the windows that hold an emptied column only.
    #[inline]
    fn fresh_in_rows(
        &self,
        (row_min, row_max): (usize, usize),
        (from, to): (usize, usize),
        gone: u64,
        found: &mut impl FnMut(usize, usize, usize, usize),
    ) {
        let columns = self.columns;
        let top = &self.above[row_min * columns..][..columns];
        let bottom = &self.above[(row_max + 1) * columns..][..columns];
        let (mut left, mut right) = (from, from);
        let mut sum = bottom[from] - top[from];
        while left > 0 {
            let wider = sum + bottom[left - 1] - top[left - 1];
            if wider > 10 {
                break;
            }
            sum = wider;
            left -= 1;
        }
        loop {
            if sum == 10 && bottom[right] != top[right] {
                while bottom[left] == top[left] {
                    left += 1;
                }
                let window = span(left, right);
                if window & gone != 0 && self.occupied[row_min] & window != 0 && self.occupied[row_max] & window != 0 {
                    found(row_min, left, row_max, right);
                }
            }
            right += 1;
            if right == columns {
                return;
            }
            sum += bottom[right] - top[right];
            while sum > 10 {
                sum -= bottom[left] - top[left];
                left += 1;
            }
            if left > to {
                return;
            }
        }
    }
}


impl<const N: usize> Ground<N> for Scan {
    fn new(board: &Board) -> Self {
        let (rows, columns) = (board.rows(), board.columns());
        debug_assert!(rows * columns <= 64 * N, "the set is too narrow for the board; this is a bug of the caller");
        let mut position = Self {
            rows,
            columns,
            digits: [0; MAX_CELLS],
            above: [0; MAX_CELLS + MAX_SIDE],
            occupied: [0; MAX_SIDE],
            gone: [0; MAX_SIDE],
        };
        position.digits[..rows * columns].copy_from_slice(board.cells());
        let mut all = Cells::<N>::default();
        for (cell, &digit) in board.cells().iter().enumerate() {
            if digit != 0 {
                all.insert(cell);
            }
        }
        <Self as Ground<N>>::set(&mut position, &all);
        position
    }

    fn set(&mut self, apples: &Cells<N>) {
        let columns = self.columns;
        for row in 0..self.rows {
            let mut bits = 0;
            for column in 0..columns {
                let cell = row * columns + column;
                let here = apples.contains(cell);
                bits |= u64::from(here) << column;
                let digit = if here { u16::from(self.digits[cell]) } else { 0 };
                self.above[cell + columns] = self.above[cell] + digit;
            }
            self.occupied[row] = bits;
        }
    }

    fn copy(&mut self, other: &Self) {
        self.clone_from(other);
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn occupied(&self) -> &[u64] {
        &self.occupied[..self.rows]
    }

    fn digit(&self, cell: usize) -> u8 {
        self.digits[cell]
    }

    /// For each pair of rows one sweep over the columns: digits are not negative, so a window that holds more than ten
    /// only ever moves its left end on.
    fn each(&self, mut found: impl FnMut(usize, usize, usize, usize)) {
        for row_min in (0..self.rows).filter(|&row| self.occupied[row] != 0) {
            for row_max in (row_min..self.rows).filter(|&row| self.occupied[row] != 0) {
                self.sweep_rows(row_min, row_max, |left, right| found(row_min, left, row_max, right));
            }
        }
    }

    #[inline]
    fn clear(&mut self, rectangle: Rectangle) {
        let columns = self.columns;
        let window = span(rectangle.col_min as usize, rectangle.col_max as usize);
        for row in rectangle.row_min as usize..=rectangle.row_max as usize {
            let mut bits = self.occupied[row] & window;
            self.gone[row] = bits;
            self.occupied[row] ^= bits;
            while bits != 0 {
                let column = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let cell = row * columns + column;
                let digit = u16::from(self.digits[cell]);
                let mut below = cell + columns;
                for _ in row..self.rows {
                    self.above[below] -= digit;
                    below += columns;
                }
            }
        }
    }

    #[inline]
    fn restore(&mut self, rectangle: Rectangle) {
        let columns = self.columns;
        for row in rectangle.row_min as usize..=rectangle.row_max as usize {
            let mut bits = self.gone[row];
            self.occupied[row] ^= bits;
            while bits != 0 {
                let column = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let cell = row * columns + column;
                let digit = u16::from(self.digits[cell]);
                let mut below = cell + columns;
                for _ in row..self.rows {
                    self.above[below] += digit;
                    below += columns;
                }
            }
        }
    }

    #[inline]
    fn fresh(&self, cleared: Rectangle, mut found: impl FnMut(usize, usize, usize, usize)) {
        let (first, last) = (cleared.row_min as usize, cleared.row_max as usize);
        for row_min in (0..=last).rev() {
            if self.occupied[row_min] == 0 {
                continue;
            }
            let mut viable = false;
            let mut gone = 0;
            for row_max in row_min.max(first)..self.rows {
                if row_max <= last {
                    gone |= self.gone[row_max];
                }
                let Some((from, to)) = self.low_enough(row_min, row_max, gone) else {
                    if row_max >= last {
                        break;
                    }
                    continue;
                };
                viable = true;
                if self.occupied[row_max] != 0 {
                    self.fresh_in_rows((row_min, row_max), (from, to), gone, &mut found);
                }
            }
            // More rows above only make every column higher.
            if !viable && row_min <= first {
                break;
            }
        }
    }
}
