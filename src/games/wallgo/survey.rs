//! The cheap measurements of a board: what a leaf of a search is judged by.

use super::board::{ALL, Board, Cells, Territory};

/// Who reaches what, and who is nearer. Made by two breadth-first floods in lockstep, from all pieces of each side at
/// once; pieces do not block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Pure and mixed regions.
    pub territory: Territory,
    /// Cells to which the nearest piece is mine, by steps: one set a player. Means something in mixed regions only.
    pub nearer: [Cells; 2],
    /// The same by turns of up to two steps.
    pub sooner: [Cells; 2],
}

impl Survey {
    /// Measures a board.
    #[inline]
    pub const fn of(board: &Board) -> Self {
        let [mut a, mut b] = board.pieces;
        let (mut near_a, mut near_b) = (a, b);
        let (mut soon_a, mut soon_b) = (a, b);
        loop {
            let (a1, b1) = (a | board.step(a), b | board.step(b));
            near_a |= a1 & !b1;
            near_b |= b1 & !a1;
            let (a2, b2) = (a1 | board.step(a1), b1 | board.step(b1));
            near_a |= a2 & !b2;
            near_b |= b2 & !a2;
            soon_a |= a2 & !b2;
            soon_b |= b2 & !a2;
            let settled = ((a1 ^ a2) | (b1 ^ b2)) == 0;
            (a, b) = (a2, b2);
            if settled {
                break;
            }
        }
        let mixed = a & b;
        Self {
            territory: Territory { pure: [a & !b, b & !a], mixed },
            nearer: [near_a & mixed, near_b & mixed],
            sooner: [soon_a & mixed, soon_b & mixed],
        }
    }

    /// The numbers `me` is judged by; `next` when `me` moves next.
    #[inline(always)]
    pub fn counts(&self, board: &Board, me: usize, next: bool) -> Counts {
        let you = 1 - me;
        let mixed = self.territory.mixed;
        let (mine, yours) = (board.pieces[me] & mixed, board.pieces[you] & mixed);
        let [my_ones, my_twos] = exits(board, mine);
        let [your_ones, your_twos] = exits(board, yours);
        let count = |cells: Cells| cells.count_ones() as u8;
        let (near_mine, near_yours) = (count(self.nearer[me]), count(self.nearer[you]));
        let (soon_mine, soon_yours) = (count(self.sooner[me]), count(self.sooner[you]));
        let (my_ones, your_ones) = (count(my_ones), count(your_ones));
        let (my_twos, your_twos) = (count(my_twos), count(your_twos));
        let (my_north, your_north) = (count(mine & (board.south << 7)), count(yours & (board.south << 7)));
        Counts {
            mine: count(self.territory.pure[me]),
            yours: count(self.territory.pure[you]),
            mixed: count(mixed),
            nearer: near_mine as i8 - near_yours as i8,
            sooner: soon_mine as i8 - soon_yours as i8,
            exits: [my_ones + 2 * my_twos + my_north, your_ones + 2 * your_twos + your_north],
            active: [count(mine), count(yours)],
            next,
        }
    }
}

/// Open sides of the cells of `pieces` but the north ones, each piece counted on its own: ones and twos of their sum.
#[inline(always)]
const fn exits(board: &Board, pieces: Cells) -> [Cells; 2] {
    let (a, b, c) = (pieces & board.east, pieces & (board.east << 1), pieces & board.south);
    [a ^ b ^ c, (a & b) | (c & (a ^ b))]
}

/// What a leaf is judged by, in small whole numbers, from one side's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Cells of my pure regions.
    pub mine: u8,
    /// Cells of theirs.
    pub yours: u8,
    /// Cells of mixed regions.
    pub mixed: u8,
    /// Mixed cells nearer to me minus those nearer to them, in steps.
    pub nearer: i8,
    /// The same in turns.
    pub sooner: i8,
    /// Open sides of my and of their pieces in mixed regions.
    pub exits: [u8; 2],
    /// My and their pieces in mixed regions.
    pub active: [u8; 2],
    /// Whether I move next.
    pub next: bool,
}

impl Counts {
    /// My pure cells minus theirs.
    #[inline]
    pub const fn lead(&self) -> i32 {
        self.mine as i32 - self.yours as i32
    }

    /// The side that can no longer be caught: 1 me, -1 they, 0 nobody. A lead larger than the number of mixed cells is a
    /// forced win for a leader who does not build at home (L5).
    #[inline]
    pub const fn decided(&self) -> i32 {
        let lead = self.lead();
        if lead > self.mixed as i32 {
            1
        } else if -lead > self.mixed as i32 {
            -1
        } else {
            0
        }
    }

    /// Packs everything into 56 bits.
    #[inline]
    pub const fn pack(&self) -> u64 {
        self.mine as u64
            | (self.yours as u64) << 6
            | (self.mixed as u64) << 12
            | ((self.nearer + 64) as u64) << 18
            | ((self.sooner + 64) as u64) << 25
            | (self.exits[0] as u64) << 32
            | (self.exits[1] as u64) << 37
            | (self.active[0] as u64) << 42
            | (self.active[1] as u64) << 45
            | (self.next as u64) << 48
    }

    /// The counts that [`Self::pack`] packed; bits above 49 are ignored.
    pub const fn unpack(bits: u64) -> Self {
        Self {
            mine: (bits & 63) as u8,
            yours: (bits >> 6 & 63) as u8,
            mixed: (bits >> 12 & 63) as u8,
            nearer: (bits >> 18 & 127) as i8 - 64,
            sooner: (bits >> 25 & 127) as i8 - 64,
            exits: [(bits >> 32 & 31) as u8, (bits >> 37 & 31) as u8],
            active: [(bits >> 42 & 7) as u8, (bits >> 45 & 7) as u8],
            next: bits >> 48 & 1 == 1,
        }
    }
}

/// The number of open sides of every cell, in binary: the cells with ones, with twos and with fours.
pub const fn degrees(board: &Board) -> [Cells; 3] {
    let (east, west, south, north) = (board.east, board.east << 1, board.south, board.south << 7);
    let (across, along) = (east ^ west, south ^ north);
    let (pair, couple, carry) = (east & west, south & north, across & along);
    [across ^ along, pair ^ couple ^ carry, (pair & couple) | (carry & (pair ^ couple))]
}

/// Open edges that no open square beside them goes around: every bridge is among them. East edges, then south edges.
pub const fn thin_edges(board: &Board) -> [Cells; 2] {
    let (east, south) = (board.east, board.south);
    let below = south & (south >> 1) & (east >> 7);
    let above = (south & (south >> 1) & east) << 7;
    let right = east & (east >> 7) & (south >> 1);
    let left = (east & (east >> 7) & south) << 1;
    [east & !(below | above), south & !(right | left) & ALL]
}

/// Calls `visit` with the change of A's lead over B for every open edge of a mixed region whose closing splits it.
pub fn each_gate(board: &Board, mixed: Cells, mut visit: impl FnMut(i32)) {
    let [east, south] = thin_edges(board);
    let mut try_edge = |cell: u64, far: u64, cut: Board| {
        let near_side = cut.flood(cell);
        if near_side & far != 0 {
            return;
        }
        visit(signed(board, near_side) + signed(board, cut.flood(far)));
    };
    let mut edges = east & mixed;
    while edges != 0 {
        let cell = edges & edges.wrapping_neg();
        edges ^= cell;
        try_edge(cell, cell << 1, Board { east: board.east & !cell, ..*board });
    }
    let mut edges = south & mixed;
    while edges != 0 {
        let cell = edges & edges.wrapping_neg();
        edges ^= cell;
        try_edge(cell, cell << 7, Board { south: board.south & !cell, ..*board });
    }
}

/// Cells of a region with A's sign when it is purely A's, with B's when it is purely B's, else 0.
fn signed(board: &Board, region: Cells) -> i32 {
    let cells = region.count_ones() as i32;
    match (board.pieces[0] & region != 0, board.pieces[1] & region != 0) {
        (true, false) => cells,
        (false, true) => -cells,
        _ => 0,
    }
}
