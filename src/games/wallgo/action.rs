//! Moves and their texts.

use super::board::{Board, Cell, Side};

/// One turn: from, to and a wall (or the pass). Two bytes; their order is the order of the slots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn(u16);

/// Place of "no wall" among the sides: the pass.
const NO_WALL: u16 = 4;
/// Slots of one origin: 13 offsets times 5 walls.
const SLOTS_PER_CELL: u32 = 65;
/// Offsets (rows, columns) of at most two steps, lexicographic.
const OFFSETS: [(i8, i8); 13] = [
    (-2, 0),
    (-1, -1),
    (-1, 0),
    (-1, 1),
    (0, -2),
    (0, -1),
    (0, 0),
    (0, 1),
    (0, 2),
    (1, -1),
    (1, 0),
    (1, 1),
    (2, 0),
];

impl Turn {
    /// Moves and builds.
    pub const fn build(from: Cell, to: Cell, wall: Side) -> Self {
        Self((from.0 as u16) << 9 | (to.0 as u16) << 3 | wall as u16)
    }

    /// Stays and builds nothing: what a boxed piece may do.
    pub const fn pass(from: Cell) -> Self {
        Self((from.0 as u16) << 9 | (from.0 as u16) << 3 | NO_WALL)
    }

    /// Where the piece stood.
    pub const fn from(self) -> Cell {
        Cell((self.0 >> 9) as u8)
    }

    /// Where it stands afterwards.
    pub const fn to(self) -> Cell {
        Cell((self.0 >> 3 & 63) as u8)
    }

    /// The side of `to` that is built on; `None` is the pass.
    pub const fn wall(self) -> Option<Side> {
        match self.0 & 7 {
            0 => Some(Side::North),
            1 => Some(Side::East),
            2 => Some(Side::South),
            3 => Some(Side::West),
            _ => None,
        }
    }

    /// The sixteen bits it is made of: 0 is `00>00N`, which no board allows, so 0 can stand for "none".
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The turn with these bits.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Its place among the 3,185 slots, 0..3185; `None` when `to` is more than two steps from `from`.
    pub fn slot(self) -> Option<u32> {
        let (from, to) = (self.from(), self.to());
        let offset = (to.row() as i8 - from.row() as i8, to.col() as i8 - from.col() as i8);
        let place = OFFSETS.iter().position(|known| *known == offset)?;
        Some(u32::from(from.0) * SLOTS_PER_CELL + place as u32 * 5 + u32::from(self.0 & 7))
    }

    /// The board after this turn of `player`.
    #[inline(always)]
    pub const fn apply(self, board: &Board, player: usize) -> Board {
        let mut next = *board;
        let (from, to) = (self.from().bit(), self.to().bit());
        let [a, b] = board.pieces;
        // No index that only the machine knows: the pieces stay in registers.
        next.pieces = if player == 0 { [a & !from | to, b] } else { [a, b & !from | to] };
        match self.wall() {
            Some(side) => next.walled(to, side),
            None => next,
        }
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&Move::Turn(*self).key())
    }
}

/// What a player can do. The order breaks ties: lower cell, lower slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Move {
    /// A stone onto an empty cell, during the setup.
    Place(Cell),
    /// Move a piece, then build.
    Turn(Turn),
    /// Nothing: the only thing left to do.
    Skip,
}

impl Move {
    /// `11>12E`, `00>00-` (the pass), `@24`, `skip`.
    pub fn key(&self) -> String {
        let name = |cell: Cell| format!("{}{}", cell.row(), cell.col());
        match self {
            Self::Place(cell) => format!("@{}", name(*cell)),
            Self::Turn(turn) => {
                let wall = match turn.wall() {
                    Some(Side::North) => 'N',
                    Some(Side::East) => 'E',
                    Some(Side::South) => 'S',
                    Some(Side::West) => 'W',
                    None => '-',
                };
                format!("{}>{}{wall}", name(turn.from()), name(turn.to()))
            }
            Self::Skip => "skip".to_owned(),
        }
    }

    /// The move with this key.
    pub fn parse(key: &str) -> Option<Self> {
        match key.as_bytes() {
            b"skip" => Some(Self::Skip),
            [b'@', row, col] => Some(Self::Place(cell(*row, *col)?)),
            [r0, c0, b'>', r1, c1, wall] => {
                let (from, to) = (cell(*r0, *c0)?, cell(*r1, *c1)?);
                let turn = match wall {
                    b'N' => Turn::build(from, to, Side::North),
                    b'E' => Turn::build(from, to, Side::East),
                    b'S' => Turn::build(from, to, Side::South),
                    b'W' => Turn::build(from, to, Side::West),
                    b'-' if from == to => Turn::pass(from),
                    _ => return None,
                };
                turn.slot().map(|_| Self::Turn(turn))
            }
            _ => None,
        }
    }
}

fn cell(row: u8, col: u8) -> Option<Cell> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    Cell::at(digit(row)?, digit(col)?)
}
