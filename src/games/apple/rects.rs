//! Rectangles that sum to ten: all of them by a sweep, and only the new ones after a move.
//!
//! A rectangle is canonical when each of its four sides touches an apple (corners may be empty); then it belongs to
//! exactly one set of apples, and two moves never share a name.

use super::board::Board;
use super::cells::{Cells, WIDE};
use super::moves::Move;
use super::scan::Scan;

/// Row and column limits, zero-based and inclusive. Its order is the order of moves everywhere ("row-major").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rectangle {
    /// First row.
    pub row_min: u8,
    /// First column.
    pub col_min: u8,
    /// Last row.
    pub row_max: u8,
    /// Last column.
    pub col_max: u8,
}

impl Rectangle {
    /// The rectangle between two corners.
    pub const fn new(row_min: u8, col_min: u8, row_max: u8, col_max: u8) -> Self {
        Self { row_min, col_min, row_max, col_max }
    }

    /// Its cells, cleared ones included.
    pub const fn area(self) -> u32 {
        (self.row_max - self.row_min + 1) as u32 * (self.col_max - self.col_min + 1) as u32
    }

    /// One number that orders like the rectangle itself.
    #[inline]
    pub const fn place(self) -> u32 {
        u32::from_be_bytes([self.row_min, self.col_min, self.row_max, self.col_max])
    }
}

/// A legal move as searches hold it.
#[derive(Clone, Copy, Debug)]
pub struct Spot<const N: usize> {
    /// Exactly the apples it clears.
    pub cells: Cells<N>,
    /// Its canonical rectangle.
    pub rectangle: Rectangle,
    /// How many apples it clears, 2..=10.
    pub apples: u8,
    /// The largest digit among them, 1..=9.
    pub largest: u8,
}

/// A board prepared for finding rectangles, and for clearing and restoring them. There are two: [`Lanes`] for boards of
/// up to ten rows and [`Scan`] for any; tests hold one against the other.
pub trait Ground<const N: usize>: Clone {
    /// The board, which must have at most `64 * N` cells.
    fn new(board: &Board) -> Self;

    /// Puts exactly these apples on the board; digits are those of the board it was made from.
    fn set(&mut self, apples: &Cells<N>);

    /// Becomes a copy of another position on the same board, at the cost of the columns in use.
    fn copy(&mut self, other: &Self);

    /// Number of columns.
    fn columns(&self) -> usize;

    /// Per row, the columns that hold an apple.
    fn occupied(&self) -> &[u64];

    /// The digit a cell has or had.
    fn digit(&self, cell: usize) -> u8;

    /// Every canonical legal rectangle, as limits `(row_min, col_min, row_max, col_max)`, in no order.
    fn each(&self, found: impl FnMut(usize, usize, usize, usize));

    /// Clears the apples of a rectangle.
    fn clear(&mut self, rectangle: Rectangle);

    /// Puts back what the last [`Self::clear`], with this rectangle, took.
    fn restore(&mut self, rectangle: Rectangle);

    /// The legal rectangles that the last [`Self::clear`], with this rectangle, made possible, in no order. A rectangle
    /// is new exactly when it holds a cell that was just cleared: before, it summed to more than ten. All others stay
    /// legal unless they shared an apple with the move.
    fn fresh(&self, cleared: Rectangle, found: impl FnMut(usize, usize, usize, usize));

    /// Every canonical legal rectangle into `places` as [`Rectangle::place`], ascending: in row-major order.
    fn places(&self, places: &mut Vec<u32>) {
        places.clear();
        self.each(|row_min, col_min, row_max, col_max| {
            places.push(Rectangle::new(row_min as u8, col_min as u8, row_max as u8, col_max as u8).place());
        });
        places.sort_unstable();
    }

    /// Every canonical legal rectangle with what it holds into `out`, in row-major order.
    fn sweep(&self, places: &mut Vec<u32>, out: &mut Vec<Spot<N>>) {
        self.places(places);
        out.clear();
        out.extend(places.iter().map(|&place| {
            let [row_min, col_min, row_max, col_max] = place.to_be_bytes().map(usize::from);
            self.spot(row_min, col_min, row_max, col_max)
        }));
    }

    /// A rectangle with what it holds.
    #[inline]
    fn spot(&self, row_min: usize, col_min: usize, row_max: usize, col_max: usize) -> Spot<N> {
        let window = span(col_min, col_max);
        let (mut cells, mut apples, mut largest) = (Cells::default(), 0, 0);
        let mut start = row_min * self.columns();
        for occupied in &self.occupied()[row_min..=row_max] {
            let mut bits = occupied & window;
            if bits != 0 {
                cells.insert_run(start, bits);
            }
            while bits != 0 {
                largest = largest.max(self.digit(start + bits.trailing_zeros() as usize));
                bits &= bits - 1;
                apples += 1;
            }
            start += self.columns();
        }
        let rectangle = Rectangle::new(row_min as u8, col_min as u8, row_max as u8, col_max as u8);
        Spot { cells, rectangle, apples, largest }
    }

    /// The apples in a rectangle as a set.
    #[inline]
    fn covered(&self, row_min: usize, col_min: usize, row_max: usize, col_max: usize) -> Cells<N> {
        let window = span(col_min, col_max);
        let mut cells = Cells::default();
        let mut start = row_min * self.columns();
        for occupied in &self.occupied()[row_min..=row_max] {
            let bits = occupied & window;
            if bits != 0 {
                cells.insert_run(start, bits);
            }
            start += self.columns();
        }
        cells
    }
}

/// The columns `left..=right`.
#[inline]
pub const fn span(left: usize, right: usize) -> u64 {
    (u64::MAX >> (63 - right)) & (u64::MAX << left)
}

/// A position with its legal moves, kept up to date move by move.
#[derive(Clone, Debug)]
pub struct Play<const N: usize, G> {
    position: G,
    spots: Vec<Spot<N>>,
    fresh: Vec<Spot<N>>,
}

impl<const N: usize, G: Ground<N>> Play<N, G> {
    /// A game that starts from this board.
    pub fn new(board: &Board) -> Self {
        let position = G::new(board);
        let mut spots = Vec::with_capacity(128);
        position.sweep(&mut Vec::with_capacity(128), &mut spots);
        Self { position, spots, fresh: Vec::with_capacity(32) }
    }

    /// Becomes a copy of another game, reusing memory.
    pub fn copy(&mut self, other: &Self) {
        self.position.copy(&other.position);
        self.spots.clone_from(&other.spots);
    }

    /// The position.
    pub const fn position(&self) -> &G {
        &self.position
    }

    /// The legal moves, in row-major order (or in none, after [`Self::advance_unordered`]).
    pub fn spots(&self) -> &[Spot<N>] {
        &self.spots
    }

    /// Plays a legal move; the list stays in row-major order.
    pub fn advance(&mut self, spot: &Spot<N>) {
        self.renew(spot);
        self.fresh.sort_unstable_by_key(|spot| spot.rectangle.place());
        merge(&mut self.spots, &self.fresh);
    }

    /// Plays a legal move; the list loses its order, which those who look for a minimum do not need.
    pub fn advance_unordered(&mut self, spot: &Spot<N>) {
        self.renew(spot);
        self.spots.extend_from_slice(&self.fresh);
    }

    /// Drops the moves that shared an apple with `spot` and finds those it makes possible.
    #[inline]
    fn renew(&mut self, spot: &Spot<N>) {
        self.spots.retain(|other| !other.cells.meets(&spot.cells));
        self.position.clear(spot.rectangle);
        self.fresh.clear();
        let (position, fresh) = (&self.position, &mut self.fresh);
        position.fresh(spot.rectangle, |row_min, col_min, row_max, col_max| {
            fresh.push(position.spot(row_min, col_min, row_max, col_max));
        });
    }
}

/// Merges two lists in row-major order into the first, from the back.
fn merge<const N: usize>(into: &mut Vec<Spot<N>>, from: &[Spot<N>]) {
    let mut kept = into.len();
    into.extend_from_slice(from);
    let mut taken = from.len();
    while taken > 0 {
        let end = kept + taken - 1;
        if kept > 0 && into[kept - 1].rectangle.place() > from[taken - 1].rectangle.place() {
            into[end] = into[kept - 1];
            kept -= 1;
        } else {
            into[end] = from[taken - 1];
            taken -= 1;
        }
    }
}

/// Every canonical legal rectangle of a board, in row-major order.
pub fn legal(board: &Board) -> Vec<Move> {
    fn run<const N: usize, G: Ground<N>>(board: &Board) -> Vec<Move> {
        let (mut places, mut spots) = (Vec::with_capacity(128), Vec::with_capacity(128));
        G::new(board).sweep(&mut places, &mut spots);
        spots.iter().map(Move::from).collect()
    }
    sized!(board, run(board))
}

/// Whether any move is left.
pub fn any(board: &Board) -> bool {
    fn run<const N: usize, G: Ground<N>>(board: &Board) -> bool {
        let mut found = false;
        G::new(board).each(|_, _, _, _| found = true);
        found
    }
    sized!(board, run(board))
}

/// A rectangle with what it holds on a board, as far as it lies on the board.
pub fn read_off(board: &Board, rectangle: Rectangle) -> Move {
    let inside = usize::from(rectangle.row_max) < board.rows() && usize::from(rectangle.col_max) < board.columns();
    if !inside {
        return Move::named(rectangle);
    }
    let [row_min, col_min, row_max, col_max] = rectangle.place().to_be_bytes().map(usize::from);
    let ground = <Scan as Ground<WIDE>>::new(board);
    Move::from(&<Scan as Ground<WIDE>>::spot(&ground, row_min, col_min, row_max, col_max))
}
