//! Rectangles on a board of up to ten rows, all pairs of rows at once.
//!
//! A board of ten rows has 55 pairs of rows, so one byte for each pair fits into 64 bytes. Per column such a block holds
//! the column's sum between the two rows of every pair. Adding the blocks of neighbouring columns gives the sums of all
//! rectangles over these columns in one step, and comparing with ten finds the legal ones without a branch.
//!
//! ```text
//! pair    0    1    2  ..   9   10   11 ..  54
//! rows   0-0  0-1  0-2 ..  0-9  1-1  1-2 .. 9-9
//! ```

use super::board::{Board, MAX_SIDE};
use super::bytes::Bytes;
use super::cells::Cells;
use super::rects::{Ground, Rectangle, span};

/// Rows at most.
pub const MAX_ROWS: usize = 10;
/// Cells at most: what three words of a set hold.
pub const LANE_CELLS: usize = 192;
const PAIRS: usize = MAX_ROWS * (MAX_ROWS + 1) / 2;

/// First and last row of each pair.
const ROWS: [(u8, u8); PAIRS] = {
    let mut rows = [(0, 0); PAIRS];
    let (mut pair, mut first) = (0, 0);
    while first < MAX_ROWS {
        let mut last = first;
        while last < MAX_ROWS {
            rows[pair] = (first as u8, last as u8);
            pair += 1;
            last += 1;
        }
        first += 1;
    }
    rows
};

/// What a row is to the pairs, one bit each.
#[derive(Clone, Copy)]
struct Bits {
    /// Pairs whose first row it is.
    first: u64,
    /// Pairs whose last row it is.
    last: u64,
    /// Pairs that hold it.
    holds: u64,
}

const BITS: [Bits; MAX_ROWS] = {
    let mut bits = [Bits { first: 0, last: 0, holds: 0 }; MAX_ROWS];
    let mut row = 0;
    while row < MAX_ROWS {
        let mut pair = 0;
        while pair < PAIRS {
            let (first, last) = (ROWS[pair].0 as usize, ROWS[pair].1 as usize);
            let bit = 1 << pair;
            if first == row {
                bits[row].first |= bit;
            }
            if last == row {
                bits[row].last |= bit;
            }
            if first <= row && row <= last {
                bits[row].holds |= bit;
            }
            pair += 1;
        }
        row += 1;
    }
    bits
};

/// Bits as bytes of 0 and 255.
const fn bytes_of(bits: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 64 {
        if bits >> i & 1 == 1 {
            bytes[i] = 255;
        }
        i += 1;
    }
    bytes
}

/// Per row: 255 for the pairs that hold it.
static HOLDS: [[u8; 64]; MAX_ROWS] = {
    let mut rows = [[0; 64]; MAX_ROWS];
    let mut row = 0;
    while row < MAX_ROWS {
        rows[row] = bytes_of(BITS[row].holds);
        row += 1;
    }
    rows
};

/// Per row: 255 for the pairs that start or end with it.
static EDGES: [[u8; 64]; MAX_ROWS] = {
    let mut rows = [[0; 64]; MAX_ROWS];
    let mut row = 0;
    while row < MAX_ROWS {
        rows[row] = bytes_of(BITS[row].first | BITS[row].last);
        row += 1;
    }
    rows
};

/// 255 for the bytes that stand for no pair.
static UNUSED: [u8; 64] = bytes_of(u64::MAX << PAIRS);

/// Sums start here, so that ten is 254 and everything above saturates to 255.
const START: u8 = 244;
/// Ten apples' worth.
const TEN: u8 = 254;

/// One column.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// Its sum for each pair of rows; at most 90.
    sums: Bytes,
    /// Pairs whose first row has an apple here.
    first: u64,
    /// Pairs whose last row has an apple here.
    last: u64,
}

/// The sums of every column between every pair of rows.
#[derive(Clone, Debug)]
pub struct Lanes {
    columns: Vec<Column>,
    rows: usize,
    digits: [u8; LANE_CELLS],
    /// Per row, the columns that hold an apple.
    occupied: [u64; MAX_ROWS],
    /// Per row of the move cleared last, the columns it emptied.
    gone: [u64; MAX_ROWS],
}

impl Lanes {
    /// Whether a board fits.
    pub fn fits(board: &Board) -> bool {
        board.rows() <= MAX_ROWS && board.cells().len() <= LANE_CELLS
    }

    /// 255 for the pairs with an empty first or last row: no canonical rectangle has one.
    #[inline]
    fn idle(&self) -> Bytes {
        let mut idle = Bytes::from_array(&UNUSED);
        for (row, edges) in EDGES.iter().enumerate() {
            if self.occupied[row] == 0 {
                idle = idle.or(&Bytes::from_array(edges));
            }
        }
        idle
    }

    /// Tells the rectangles over the columns `left..=right` for each pair in `pairs`.
    #[inline]
    fn tell(mut pairs: u64, left: usize, right: usize, found: &mut impl FnMut(usize, usize, usize, usize)) {
        while pairs != 0 {
            let (first, last) = ROWS[pairs.trailing_zeros() as usize];
            pairs &= pairs - 1;
            found(first.into(), left, last.into(), right);
        }
    }

    /// Takes an apple away.
    #[inline]
    fn take(&mut self, row: usize, column: usize, digit: u8) {
        let column = &mut self.columns[column];
        column.sums = column.sums.minus(&Bytes::splat(digit).and(&Bytes::from_array(&HOLDS[row])));
        column.first &= !BITS[row].first;
        column.last &= !BITS[row].last;
    }

    /// Puts an apple down.
    #[inline]
    fn put(&mut self, row: usize, column: usize, digit: u8) {
        let column = &mut self.columns[column];
        column.sums = column.sums.plus(&Bytes::splat(digit).and(&Bytes::from_array(&HOLDS[row])));
        column.first |= BITS[row].first;
        column.last |= BITS[row].last;
    }
}

impl Ground<3> for Lanes {
    fn new(board: &Board) -> Self {
        debug_assert!(Self::fits(board), "a board too large for lanes; this is a bug of the caller");
        let empty = Column { sums: Bytes::splat(0), first: 0, last: 0 };
        let mut lanes = Self {
            columns: vec![empty; board.columns()],
            rows: board.rows(),
            digits: [0; LANE_CELLS],
            occupied: [0; MAX_ROWS],
            gone: [0; MAX_ROWS],
        };
        lanes.digits[..board.cells().len()].copy_from_slice(board.cells());
        for row in 0..board.rows() {
            for column in 0..board.columns() {
                let digit = board.at(row, column);
                if digit != 0 {
                    lanes.occupied[row] |= 1 << column;
                    lanes.put(row, column, digit);
                }
            }
        }
        lanes
    }

    fn set(&mut self, apples: &Cells<3>) {
        self.columns.fill(Column { sums: Bytes::splat(0), first: 0, last: 0 });
        let columns = self.columns.len();
        for row in 0..self.rows {
            let bits = apples.run(row * columns, columns);
            self.occupied[row] = bits;
            let mut left = bits;
            while left != 0 {
                let column = left.trailing_zeros() as usize;
                left &= left - 1;
                self.put(row, column, self.digits[row * columns + column]);
            }
        }
    }

    #[inline]
    fn copy(&mut self, other: &Self) {
        self.columns.clone_from(&other.columns);
        self.rows = other.rows;
        self.digits = other.digits;
        self.occupied = other.occupied;
    }

    #[inline]
    fn columns(&self) -> usize {
        self.columns.len()
    }

    #[inline]
    fn occupied(&self) -> &[u64] {
        &self.occupied[..self.rows]
    }

    #[inline]
    fn digit(&self, cell: usize) -> u8 {
        self.digits[cell]
    }

    /// For each left column, columns are added on the right until every pair of rows holds more than ten. The tops and
    /// bottoms that the window touches grow with it, so what is left of the tens is canonical.
    #[inline]
    fn each(&self, mut found: impl FnMut(usize, usize, usize, usize)) {
        let idle = self.idle();
        for (left, start) in self.columns.iter().enumerate() {
            // A pair without an apple in the left column has no canonical rectangle that starts here.
            let mut sums = start.sums.plus(&Bytes::splat(START)).or(&start.sums.matching(0)).or(&idle);
            let (mut first, mut last) = (start.first, start.last);
            let tens = sums.equal(TEN) & first & last;
            Self::tell(tens, left, left, &mut found);
            for (right, column) in self.columns.iter().enumerate().skip(left + 1) {
                if sums.is_full() {
                    break;
                }
                sums = sums.plus(&column.sums);
                first |= column.first;
                last |= column.last;
                let tens = sums.equal(TEN) & first & last;
                if tens != 0 {
                    Self::tell(tens & !column.sums.equal(0), left, right, &mut found);
                }
            }
        }
    }

    #[inline]
    fn clear(&mut self, rectangle: Rectangle) {
        let window = span(rectangle.col_min as usize, rectangle.col_max as usize);
        let columns = self.columns.len();
        for row in rectangle.row_min as usize..=rectangle.row_max as usize {
            let mut bits = self.occupied[row] & window;
            self.gone[row] = bits;
            self.occupied[row] ^= bits;
            while bits != 0 {
                let column = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.take(row, column, self.digits[row * columns + column]);
            }
        }
    }

    #[inline]
    fn restore(&mut self, rectangle: Rectangle) {
        let columns = self.columns.len();
        for row in rectangle.row_min as usize..=rectangle.row_max as usize {
            let mut bits = self.gone[row];
            self.occupied[row] ^= bits;
            while bits != 0 {
                let column = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.put(row, column, self.digits[row * columns + column]);
            }
        }
    }

    /// As [`Self::each`], over the windows that hold an emptied column and, in them, the pairs that hold an emptied cell.
    #[inline]
    fn fresh(&self, cleared: Rectangle, mut found: impl FnMut(usize, usize, usize, usize)) {
        let (near, far) = (cleared.col_min as usize, cleared.col_max as usize);
        let mut emptied = [0u64; MAX_SIDE];
        let mut touched = Bytes::splat(0);
        for row in cleared.row_min as usize..=cleared.row_max as usize {
            let mut bits = self.gone[row];
            touched = touched.or(&Bytes::from_array(&HOLDS[row]));
            while bits != 0 {
                emptied[bits.trailing_zeros() as usize] |= BITS[row].holds;
                bits &= bits - 1;
            }
        }
        let idle = self.idle().or(&touched.matching(0));
        // The part of the window from the left column to `near`, which grows to the left.
        let mut base = Bytes::splat(START).or(&idle);
        let (mut base_first, mut base_last) = (0, 0);
        for left in (0..=far).rev() {
            let start = &self.columns[left];
            let absent = start.sums.matching(0);
            let (mut sums, mut first, mut last, mut holds);
            if left > near {
                sums = start.sums.plus(&Bytes::splat(START)).or(&idle);
                (first, last, holds) = (start.first, start.last, emptied[left]);
            } else {
                base = base.plus(&start.sums);
                if base.is_full() {
                    return;
                }
                base_first |= start.first;
                base_last |= start.last;
                sums = base;
                (first, last, holds) = (base_first, base_last, emptied[near]);
            }
            sums = sums.or(&absent);
            let mut right = left.max(near);
            loop {
                let tens = sums.equal(TEN) & first & last & holds;
                if tens != 0 {
                    Self::tell(tens & !self.columns[right].sums.equal(0), left, right, &mut found);
                }
                right += 1;
                if right == self.columns.len() || sums.is_full() {
                    break;
                }
                let column = &self.columns[right];
                sums = sums.plus(&column.sums);
                first |= column.first;
                last |= column.last;
                holds |= emptied[right];
            }
        }
    }
}
