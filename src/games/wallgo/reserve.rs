//! Waiting moves at home: a pure region collapsed to a few numbers.
//!
//! In a pure region nobody interferes, so only three numbers matter: how many walls its owner can build there without
//! losing a cell (`free`), how many further ones at one cell each (`extra`), and how many cells it costs to box a piece,
//! which is the right to pass for good.

use super::board::{Board, Cells, Side, each};

/// No piece can be boxed.
pub const NEVER: u8 = u8::MAX;

/// The waiting moves of one player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reserve {
    /// Walls that cost nothing.
    pub free: u8,
    /// Further walls, one cell each.
    pub extra: u8,
    /// Cells it costs to have a boxed piece once the free walls are built; 0: nothing; [`NEVER`]: no pure region.
    pub boxing: u8,
}

/// Regions of at most this many cells reach the bound of L7 wherever their pieces stand; a test plays many of them out.
pub const EXACT_CELLS: u32 = 6;

impl Reserve {
    /// No pure region.
    pub const NONE: Self = Self { free: 0, extra: 0, boxing: NEVER };

    /// The most the owner of a pure region can hope for: of `n` cells, `e` open edges and `p` pieces, `e - (n - p)` free
    /// walls (L7), then one cell a wall. Two pieces can box one of them for nothing; a lone one needs the region to be
    /// its cell.
    pub const fn at_most(board: &Board, region: Cells, pieces: Cells) -> Self {
        let (cells, edges, pieces) = (region.count_ones(), board.edges_in(region), pieces.count_ones());
        Self {
            free: (edges + pieces - cells) as u8,
            extra: (cells - pieces) as u8,
            boxing: if pieces >= 2 { 0 } else { (cells - 1) as u8 },
        }
    }

    /// What the owner can do for certain without passing: the bound where it is always reached, else as many free walls
    /// as a simple plan builds, and nothing further.
    pub fn at_least(board: &Board, region: Cells, pieces: Cells) -> Self {
        let most = Self::at_most(board, region, pieces);
        if region.count_ones() <= EXACT_CELLS {
            return most;
        }
        Self { free: planned(board, region, pieces, most.free), extra: 0, boxing: NEVER }
    }

    /// With another region of the same player.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            free: self.free.saturating_add(other.free),
            extra: self.extra.saturating_add(other.extra),
            boxing: self.boxing.min(other.boxing),
        }
    }
}

/// Walls that a plain plan builds in a region without losing a cell, at most `wanted`: always the first wall, in the
/// order of the slots, that goes around or parts two pieces.
fn planned(board: &Board, region: Cells, mut pieces: Cells, wanted: u8) -> u8 {
    let mut board = *board;
    for built in 0..wanted {
        let Some((next, moved)) = harmless(&board, region, pieces) else { return built };
        (board, pieces) = (next, moved);
    }
    wanted
}

fn harmless(board: &Board, region: Cells, pieces: Cells) -> Option<(Board, Cells)> {
    for from in each(pieces) {
        let others = pieces & !from.bit();
        let targets = board.destinations(from.bit(), region & !pieces) | from.bit();
        for to in each(targets) {
            let moved = others | to.bit();
            for side in Side::ALL {
                if board.open(to.bit(), side) == 0 {
                    continue;
                }
                let next = board.walled(to.bit(), side);
                if next.flood(moved) & region == region {
                    return Some((next, moved));
                }
            }
        }
    }
    None
}
