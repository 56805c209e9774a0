//! The successors of one position, judged together: what a wall does not change is measured once for all of them.
//!
//! A wall that an open square goes around parts no region, so territory and all that is counted from it stay. A wall that
//! no shortest path of the other side needs leaves its distances, so only the mover's are measured again. Any other turn
//! is judged from scratch. All ways give the same bits; a test holds them to that.

use std::cell::Cell;

use super::action::Turn;
use super::board::{Board, Cells, Side};
use super::leaf::{FastWeights, Fixed, Judge, Kind, Leaf};
use super::rules::{Position, Stay};
use super::search::as_move;
use super::survey::{Counts, Survey, degrees, thin_edges};

/// Steps within which the other side must have reached every mixed cell; longer mazes are judged from scratch.
const STEPS: usize = 24;

/// The successors of a position.
pub struct Family<'a> {
    judge: Judge<'a>,
    weights: FastWeights,
    position: &'a Position,
    shared: Option<Shared>,
}

/// What most of them share.
struct Shared {
    mixed: Cells,
    /// East and south edges whose wall may part a region, until somebody has looked.
    thin: Cell<[Cells; 2]>,
    /// Those whose wall does, as far as somebody has looked.
    bridges: Cell<[Cells; 2]>,
    /// East and south edges that some shortest path of the other side needs.
    needed: [Cells; 2],
    /// Mixed cells that the other side reaches within so many steps.
    reached: [Cells; STEPS + 2],
    /// Open sides of every cell, as a binary number.
    degrees: [Cells; 3],
    /// Those of the position itself with the turn handed over.
    counts: Counts,
    fixed: Fixed,
}

impl<'a> Family<'a> {
    /// The successors of `position`.
    #[inline]
    pub fn of(judge: Judge<'a>, weights: FastWeights, position: &'a Position) -> Self {
        // Under the other switches a turn can end the game without parting a region.
        let plain = judge.rules.stay == Stay::Always && judge.rules.wall_limit == 0;
        let shared = if plain { Shared::of(&judge, &weights, position) } else { None };
        Self { judge, weights, position, shared }
    }

    /// The worth of the board after `turn` to the deciding side, and the leaf it is; `ply` plies from the root.
    #[inline(always)]
    pub fn judged(&self, turn: Turn, ply: u32) -> (f64, Leaf) {
        if let (Some(shared), Some(side)) = (&self.shared, turn.wall()) {
            let to = turn.to().bit();
            let [east, south, far] = match side {
                Side::North => [0, to >> 7, to >> 7],
                Side::East => [to, 0, to << 1],
                Side::South => [0, to, to << 7],
                Side::West => [to >> 1, 0, to >> 1],
            };
            let board = &self.position.board;
            let board = Board { east: board.east & !east, south: board.south & !south, ..*board };
            if !shared.parts(&board, [east, south], to, far) {
                let needed = (shared.needed[0] & east) | (shared.needed[1] & south) != 0;
                let counts = shared.counts(self, &board, turn, far, needed);
                return (self.weights.with(&shared.fixed, &counts), Leaf::new(Kind::Open, &counts, 0));
            }
        }
        self.afresh(turn, ply)
    }

    #[inline(never)]
    fn afresh(&self, turn: Turn, ply: u32) -> (f64, Leaf) {
        self.judge.judged(&self.weights, &self.position.after(as_move(turn)), ply)
    }
}

impl Shared {
    #[inline]
    fn of(judge: &Judge<'_>, weights: &FastWeights, position: &Position) -> Option<Self> {
        let (board, mover) = (&position.board, position.mover());
        let survey = Survey::of(board);
        let mixed = survey.territory.mixed;
        let counts = survey.counts(board, judge.me, mover != judge.me);
        if mixed == 0 || judge.counting && counts.decided() != 0 {
            return None;
        }
        let mut reached = [mixed; STEPS + 2];
        let mut needed = [0; 2];
        let mut within = board.pieces[1 - mover] & mixed;
        let mut rim = within;
        for cells in &mut reached[..STEPS] {
            *cells = within;
            if within == mixed {
                break;
            }
            let next = board.step(within) & !within;
            let (north, south) = (((rim & board.south) << 7) & next, (rim >> 7) & board.south & next);
            let (west, east) = (((rim & board.east) << 1) & next, (rim >> 1) & board.east & next);
            let once = next & !((north & south) | (west & east) | ((north | south) & (west | east)));
            needed[0] |= ((west & once) >> 1) | (east & once);
            needed[1] |= ((north & once) >> 7) | (south & once);
            (within, rim) = (within | next, next);
        }
        let shared = Self {
            mixed,
            thin: Cell::new(thin_edges(board)),
            bridges: Cell::new([0; 2]),
            needed,
            reached,
            degrees: degrees(board),
            counts,
            fixed: weights.fixed(&counts),
        };
        (within == mixed).then_some(shared)
    }

    /// Whether the wall on an edge, which `board` has already, parts the cells on its sides. Looked at once an edge.
    #[inline(always)]
    fn parts(&self, board: &Board, edge: [Cells; 2], near: Cells, far: Cells) -> bool {
        let among = |edges: [Cells; 2]| (edges[0] & edge[0]) | (edges[1] & edge[1]) != 0;
        if !among(self.thin.get()) {
            return false;
        }
        among(self.bridges.get()) || self.look(board, edge, near, far)
    }

    #[inline(never)]
    fn look(&self, board: &Board, [east, south]: [Cells; 2], near: Cells, far: Cells) -> bool {
        let (mut reached, mut before) = (near, 0);
        while reached & far == 0 {
            if reached == before {
                let bridges = self.bridges.get();
                self.bridges.set([bridges[0] | east, bridges[1] | south]);
                return true;
            }
            before = reached;
            reached |= board.step(reached);
        }
        let thin = self.thin.get();
        self.thin.set([thin[0] & !east, thin[1] & !south]);
        false
    }

    /// The counts after a turn that parts no region; `board` has its wall, `far` is the cell behind it. `needed`: the
    /// distances of the other side change as well.
    #[inline(always)]
    fn counts(&self, family: &Family<'_>, board: &Board, turn: Turn, far: Cells, needed: bool) -> Counts {
        let mut counts = self.counts;
        let (from, to) = (turn.from(), turn.to());
        // At home nothing changes that counts.
        if from.bit() & self.mixed == 0 {
            return counts;
        }
        let mover = family.position.mover();
        let mine = (board.pieces[mover] & !from.bit() | to.bit()) & self.mixed;
        let yours = self.reached[0];
        let [nearer, sooner] = if needed {
            race(board, self.mixed, mine, yours, |cells, _| cells | board.step(cells))
        } else {
            race(board, self.mixed, mine, yours, |_, steps| self.reached[steps % (STEPS + 2)])
        };
        let own = mover == family.judge.me;
        (counts.nearer, counts.sooner) = if own { (nearer, sooner) } else { (-nearer, -sooner) };
        let degree = |cell: u8| {
            let bit = |place: usize| (self.degrees[place] >> cell & 1) as u8;
            bit(0) + 2 * bit(1) + 4 * bit(2)
        };
        let [one, two] = counts.exits;
        let [mut movers, mut others] = if own { [one, two] } else { [two, one] };
        movers = movers + degree(to.0) - degree(from.0) - 1 - u8::from(far & mine != 0);
        others -= u8::from(far & yours != 0);
        counts.exits = if own { [movers, others] } else { [others, movers] };
        counts
    }
}

/// How many more mixed cells are nearer to `mine` than to `yours`, by steps and by turns of two. `reach` is what the
/// other side reaches in one step more, given what it reaches now and the number of steps. Whoever has reached every
/// cell ends it: whatever the other one has not is nearer to him.
#[inline(always)]
fn race(board: &Board, mixed: Cells, mine: Cells, yours: Cells, reach: impl Fn(Cells, usize) -> Cells) -> [i8; 2] {
    let (mut a, mut b) = (mine, yours);
    let (mut near_a, mut near_b) = (a, b);
    let (mut soon_a, mut soon_b) = (a, b);
    let mut steps = 1;
    loop {
        let (a1, b1) = (a | board.step(a), reach(b, steps));
        near_a |= a1 & !b1;
        near_b |= b1 & !a1;
        let (a2, b2) = (a1 | board.step(a1), reach(b1, steps + 1));
        near_a |= a2 & !b2;
        near_b |= b2 & !a2;
        soon_a |= a2 & !b2;
        soon_b |= b2 & !a2;
        if a2 == mixed || b2 == mixed {
            break;
        }
        (a, b) = (a2, b2);
        steps += 2;
    }
    let [near_a, near_b, soon_a, soon_b] =
        [near_a.count_ones(), near_b.count_ones(), soon_a.count_ones(), soon_b.count_ones()];
    [near_a as i8 - near_b as i8, soon_a as i8 - soon_b as i8]
}
