//! Forty-nine cells as bits, and everything that can be read off walls and pieces with a few shifts.

/// Rows, and columns.
pub const SIDE: u8 = 7;
/// How many cells there are.
pub const CELLS: u32 = 49;
/// Every cell: bits 0..49.
pub const ALL: u64 = (1 << CELLS) - 1;
/// Cells with an inner edge on their east side: columns 0..=5.
pub const EAST_EDGES: u64 = {
    let mut mask = 0;
    let mut cell = 0;
    while cell < CELLS {
        if cell % 7 != 6 {
            mask |= 1 << cell;
        }
        cell += 1;
    }
    mask
};
/// Cells with an inner edge on their south side: rows 0..=5.
pub const SOUTH_EDGES: u64 = ALL >> 7;
/// The inner edges of the board.
pub const EDGES: u32 = 84;

/// A set of cells; bit 7*row+col. Bits 49..64 stay clear.
pub type Cells = u64;

/// One cell, 0..49: 7*row+col.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(pub u8);

impl Cell {
    /// The cell in this row and column, if the board has it.
    pub fn at(row: u32, col: u32) -> Option<Self> {
        (row < 7 && col < 7).then(|| Self((row * 7 + col) as u8))
    }

    /// Row from the top, 0..7.
    pub const fn row(self) -> u8 {
        self.0 / SIDE
    }

    /// Column from the left, 0..7.
    pub const fn col(self) -> u8 {
        self.0 % SIDE
    }

    /// The set of this cell alone.
    pub const fn bit(self) -> Cells {
        1 << self.0
    }
}

/// The cells of a set, ascending.
pub fn each(mut cells: Cells) -> impl Iterator<Item = Cell> {
    std::iter::from_fn(move || {
        let next = (cells != 0).then(|| Cell(cells.trailing_zeros() as u8))?;
        cells &= cells - 1;
        Some(next)
    })
}

/// Where to build: a side of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Side {
    /// Towards row 0.
    North = 0,
    /// Towards column 6.
    East = 1,
    /// Towards row 6.
    South = 2,
    /// Towards column 0.
    West = 3,
}

impl Side {
    /// In the order of the slots.
    pub const ALL: [Self; 4] = [Self::North, Self::East, Self::South, Self::West];
}

/// Pieces and open edges. Each edge is stored once, as the east or the south side of a cell. The border is closed by
/// never being in a set of open edges, so no shift can leave the board or wrap around a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    /// The pieces of A and of B.
    pub pieces: [Cells; 2],
    /// Cells whose east side is open.
    pub east: Cells,
    /// Cells whose south side is open.
    pub south: Cells,
}

impl Board {
    /// No wall and no piece.
    pub const EMPTY: Self = Self { pieces: [0, 0], east: EAST_EDGES, south: SOUTH_EDGES };

    /// Cells with a wall on their east side.
    pub const fn east_walls(&self) -> Cells {
        EAST_EDGES & !self.east
    }

    /// Cells with a wall on their south side.
    pub const fn south_walls(&self) -> Cells {
        SOUTH_EDGES & !self.south
    }

    /// Walls on the board, 0..=84.
    pub const fn walls(&self) -> u32 {
        EDGES - self.east.count_ones() - self.south.count_ones()
    }

    /// Cells without a piece.
    #[inline]
    pub const fn empty(&self) -> Cells {
        ALL & !(self.pieces[0] | self.pieces[1])
    }

    /// The cells one step from any of `cells`, through open sides; pieces do not block.
    #[inline(always)]
    pub const fn step(&self, cells: Cells) -> Cells {
        ((cells & self.east) << 1)
            | ((cells >> 1) & self.east)
            | ((cells & self.south) << 7)
            | ((cells >> 7) & self.south)
    }

    /// Every cell connected to `cells`. Regions run through pieces.
    #[inline]
    pub const fn flood(&self, cells: Cells) -> Cells {
        let mut reached = cells;
        loop {
            let next = reached | self.step(reached);
            if next == reached {
                return reached;
            }
            reached = next;
        }
    }

    /// Those of `cells` whose side `side` is open.
    #[inline(always)]
    pub const fn open(&self, cells: Cells, side: Side) -> Cells {
        match side {
            Side::North => cells & (self.south << 7),
            Side::East => cells & self.east,
            Side::South => cells & self.south,
            Side::West => cells & (self.east << 1),
        }
    }

    /// Those of `cells` without an open side.
    #[inline]
    pub const fn boxed(&self, cells: Cells) -> Cells {
        cells & !(self.east | (self.east << 1) | self.south | (self.south << 7))
    }

    /// The same with a wall on a side of a cell.
    #[inline(always)]
    #[must_use]
    pub const fn walled(mut self, cell: Cells, side: Side) -> Self {
        match side {
            Side::North => self.south &= !(cell >> 7),
            Side::East => self.east &= !cell,
            Side::South => self.south &= !cell,
            Side::West => self.east &= !(cell >> 1),
        }
        self
    }

    /// Where a piece on `from` can stand after one or two steps into empty cells; its own cell is not among them.
    #[inline(always)]
    pub const fn destinations(&self, from: Cells, empty: Cells) -> Cells {
        let one = self.step(from) & empty;
        one | (self.step(one) & empty)
    }

    /// What each side reaches: whole regions.
    #[inline]
    pub const fn territory(&self) -> Territory {
        let reach = [self.flood(self.pieces[0]), self.flood(self.pieces[1])];
        Territory { pure: [reach[0] & !reach[1], reach[1] & !reach[0]], mixed: reach[0] & reach[1] }
    }

    /// The regions that `cells` consist of; `cells` must be whole regions.
    pub fn regions(&self, mut cells: Cells) -> impl Iterator<Item = Cells> {
        let board = *self;
        std::iter::from_fn(move || {
            let seed = cells & cells.wrapping_neg();
            let region = board.flood(seed);
            cells &= !region;
            (seed != 0).then_some(region)
        })
    }

    /// Open edges inside a region.
    pub const fn edges_in(&self, region: Cells) -> u32 {
        (self.east & region).count_ones() + (self.south & region).count_ones()
    }
}

/// The regions of the board by owner. What is in none of the three is neutral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Territory {
    /// Cells in regions with pieces of exactly one player.
    pub pure: [Cells; 2],
    /// Cells in regions with pieces of both.
    pub mixed: Cells,
}

impl Territory {
    /// Cells of `player` minus cells of the other.
    pub const fn lead(&self, player: usize) -> i32 {
        self.pure[player].count_ones() as i32 - self.pure[1 - player].count_ones() as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_never_wrap() {
        let board = Board::EMPTY;
        assert_eq!(EAST_EDGES.count_ones() + SOUTH_EDGES.count_ones(), EDGES);
        for cell in each(ALL) {
            let neighbours: Vec<Cell> = each(board.step(cell.bit())).collect();
            let expected = each(ALL)
                .filter(|other| cell.row().abs_diff(other.row()) + cell.col().abs_diff(other.col()) == 1)
                .collect::<Vec<_>>();
            assert_eq!(neighbours, expected);
        }
    }

    #[test]
    fn a_wall_has_two_sides_and_one_spelling() {
        let cell = Cell(24);
        assert_eq!(Board::EMPTY.walled(cell.bit(), Side::East), Board::EMPTY.walled(Cell(25).bit(), Side::West));
        assert_eq!(Board::EMPTY.walled(cell.bit(), Side::South), Board::EMPTY.walled(Cell(31).bit(), Side::North));
        let boxed = Side::ALL.iter().fold(Board::EMPTY, |board, side| board.walled(cell.bit(), *side));
        assert_eq!(boxed.boxed(ALL), cell.bit());
        assert_eq!(boxed.walls(), 4);
        assert_eq!(boxed.flood(cell.bit()), cell.bit());
    }
}
