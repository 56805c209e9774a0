//! A move as the rest of the program sees it.

use std::cmp::Ordering;

use super::cells::{Cells, WIDE};
use super::rects::{Rectangle, Spot};

/// A canonical rectangle with what it clears. Two moves are the same when their rectangles are: on one board a canonical
/// rectangle belongs to exactly one set of apples.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// Its one name.
    pub rectangle: Rectangle,
    /// Apples it clears, its points; 0 in a move that was only named, not found on a board.
    pub apples: u8,
    /// The largest digit in it.
    pub largest: u8,
    /// Exactly the apples it clears, when its turn comes.
    pub cells: Cells<WIDE>,
}

impl Move {
    /// A rectangle without a board.
    pub const fn named(rectangle: Rectangle) -> Self {
        Self { rectangle, apples: 0, largest: 0, cells: Cells([0; WIDE]) }
    }
}

impl<const N: usize> From<&Spot<N>> for Move {
    fn from(spot: &Spot<N>) -> Self {
        Self {
            rectangle: spot.rectangle,
            apples: spot.apples,
            largest: spot.largest,
            cells: spot.cells.widen(),
        }
    }
}

impl PartialEq for Move {
    fn eq(&self, other: &Self) -> bool {
        self.rectangle == other.rectangle
    }
}

impl Eq for Move {}

impl PartialOrd for Move {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Move {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rectangle.cmp(&other.rectangle)
    }
}
