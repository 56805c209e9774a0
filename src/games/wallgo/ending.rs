//! Exact endings: what can be enforced when few mixed cells are left.
//!
//! Two trees, both finite because one side never passes in each. *Floor*: the deciding side never passes, the other may.
//! *Ceiling*: the other way round. Where the rules know no pass, nobody passes in either.
//!
//! Pure regions are collapsed to their waiting moves ([`Reserve`]). Those of a large region are known within limits only, so
//! each tree has a favoured side, the one it proves against: that side can do all it might, the other what it surely can.
//! What is enforced then lies at the floor or above, at the ceiling or below.

use std::cell::RefCell;

use super::action::Turn;
use super::board::{Board, Cells, each};
use super::reserve::{NEVER, Reserve};
use super::rules::{Pass, Position, Rules, Stay, TieBreak};
use crate::bot::{Budget, Stopped};

/// Whether the trees know these rules: a switch that takes moves away would need its own.
pub const fn knows(rules: &Rules) -> bool {
    matches!(rules.stay, Stay::Always)
        && matches!(rules.tie_break, TieBreak::Draw)
        && rules.wall_limit == 0
        && rules.sealed_may_act
}

/// The mixed regions alone, everything else closed and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    board: Board,
    reserves: [Reserve; 2],
    to_move: usize,
}

/// Which of the two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// The deciding side never passes.
    Floor,
    /// The other side never passes.
    Ceiling,
}

/// What is known of a state: its marked key, then the lowest and highest gain (a byte each) and the best turn. Plain
/// words, so that a fresh table costs nothing until it is used.
type Entry = [u64; 2];

const fn pack(low: i32, high: i32, turn: u16) -> u64 {
    (low as u8) as u64 | ((high as u8) as u64) << 8 | (turn as u64) << 16
}

const fn unpack(word: u64) -> (i32, i32, u16) {
    ((word as u8 as i8) as i32, ((word >> 8) as u8 as i8) as i32, (word >> 16) as u16)
}

/// Entries of the table: 8 MiB.
const ENTRIES: usize = 1 << 19;
const MOST_TURNS: usize = 216;
/// Nodes between two looks at the clock. One of these costs as much as fifty of the search, which is what the budget
/// counts on.
const POLL_EVERY: u64 = 32;

/// Tables of a thread. Emptying one, or handing it back to the system, takes longer than many a decision has.
#[derive(Default)]
struct Kept {
    spare: Vec<Vec<Entry>>,
    uses: u64,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

impl Kept {
    /// A table, and a mark that no entry of an earlier use carries: what they left is as good as nothing.
    fn take(&mut self) -> (Vec<Entry>, u64) {
        self.uses += 1;
        let entries = self.spare.pop().unwrap_or_else(|| vec![[0; 2]; ENTRIES]);
        (entries, self.uses.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// Why a tree is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Its own share of nodes is used up; what is stored makes the next try cheaper.
    Share,
    /// The decision's budget is.
    Stopped(Stopped),
}

impl From<Stopped> for Halt {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// Solves endings of one decision, for one tree.
pub struct Ending<'a> {
    budget: &'a Budget,
    /// Nodes it may still use.
    share: u64,
    me: usize,
    /// The side that is proved against: it may pass where the rules let it, and its homes hold all they might.
    favoured: usize,
    /// Whether it may pass.
    passes: bool,
    entries: Vec<Entry>,
    /// Marks the keys of this use.
    mark: u64,
    /// Distinct positions met; counted for the tests.
    pub stored: u64,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let entries = std::mem::take(&mut self.entries);
        KEPT.with_borrow_mut(|kept| kept.spare.push(entries));
    }
}

impl<'a> Ending<'a> {
    /// A solver for the side `me`. The rules must be ones it [`knows`].
    pub fn new(rules: &Rules, me: usize, tree: Tree, budget: &'a Budget, share: u64) -> Self {
        let favoured = match tree {
            Tree::Floor => 1 - me,
            Tree::Ceiling => me,
        };
        let passes = matches!(rules.pass, Pass::SealedOnly);
        let (entries, mark) = KEPT.with_borrow_mut(Kept::take);
        Self { budget, share, me, favoured, passes, entries, mark, stored: 0 }
    }

    /// Grants so many nodes from now on.
    pub fn grant(&mut self, share: u64) {
        self.share = share;
    }

    /// The margin in cells that the deciding side reaches from `position` with best play of both, in this tree.
    ///
    /// # Errors
    /// The share or the budget is spent.
    pub fn margin(&mut self, position: &Position) -> Result<i32, Halt> {
        self.margin_within(position, -49, 49)
    }

    /// The same, exact only inside `low..high`; else a bound on the right side of it.
    ///
    /// # Errors
    /// The share or the budget is spent.
    pub fn margin_within(&mut self, position: &Position, low: i32, high: i32) -> Result<i32, Halt> {
        let lead = position.board.territory().lead(self.me);
        let state = State { board: position.board, reserves: [Reserve::NONE; 2], to_move: position.mover() };
        let (state, _) = self.settled(state);
        let sign = if state.to_move == self.me { 1 } else { -1 };
        let (alpha, beta) = if sign > 0 { (low - lead, high - lead) } else { (lead - high, lead - low) };
        Ok(lead + sign * self.gain(&state, alpha, beta)?)
    }

    const fn may_pass(&self, player: usize) -> bool {
        self.passes && self.favoured == player
    }

    /// Collapses the pure regions of a board, and says what they add to the lead of A.
    fn settled(&self, mut state: State) -> (State, i32) {
        let territory = state.board.territory();
        let mut lead = 0;
        for player in 0..2 {
            for region in state.board.regions(territory.pure[player]) {
                let pieces = state.board.pieces[player] & region;
                let reserve = if self.favoured == player {
                    Reserve::at_most(&state.board, region, pieces)
                } else {
                    Reserve::at_least(&state.board, region, pieces)
                };
                state.reserves[player] = state.reserves[player].and(reserve);
            }
            let reserve = &mut state.reserves[player];
            if self.may_pass(player) {
                // What it costs to pass for good is all that matters after the free walls.
                reserve.extra = 0;
                if reserve.boxing == 0 {
                    reserve.free = 0;
                }
            } else {
                reserve.boxing = NEVER;
            }
            let cells = territory.pure[player].count_ones() as i32;
            lead += if player == 0 { cells } else { -cells };
        }
        let mixed = territory.mixed;
        state.board.pieces = state.board.pieces.map(|pieces| pieces & mixed);
        state.board.east &= mixed;
        state.board.south &= mixed;
        (state, lead)
    }

    /// Cells that the side to move gains from here on, with best play.
    fn gain(&mut self, state: &State, mut alpha: i32, mut beta: i32) -> Result<i32, Halt> {
        let mixed = mixed_cells(&state.board);
        if mixed == 0 {
            return Ok(0);
        }
        self.budget.tick()?;
        self.share = self.share.checked_sub(1).ok_or(Halt::Share)?;
        if self.share.is_multiple_of(POLL_EVERY) {
            self.budget.poll()?;
        }
        // Nobody gains more than all mixed cells.
        let most = mixed.count_ones() as i32;
        if alpha >= most {
            return Ok(most);
        }
        if beta <= -most {
            return Ok(-most);
        }
        let key = key(state);
        let place = key as usize & (ENTRIES - 1);
        let key = key ^ self.mark;
        let [stored, word] = self.entries[place];
        let (mut low, mut high, mut first) = (-most, most, 0);
        if stored == key {
            (low, high, first) = unpack(word);
            if low >= beta || low == high {
                return Ok(low);
            }
            if high <= alpha {
                return Ok(high);
            }
        } else {
            self.stored += 1;
        }
        let (window_low, window_high) = (alpha, beta);
        alpha = alpha.max(low);
        beta = beta.min(high);

        let mut best = i32::MIN;
        let mut best_turn = 0;
        let mut children = self.children(state, mixed, first);
        // Waiting comes first when it is free: it leaves everything open to answer.
        let mut order = [0usize; MOST_TURNS];
        let count = children.sorted(&mut order);
        for &at in &order[..count] {
            let child = children.all[at];
            let gain = child.gain - self.gain(&child.state, child.gain - beta, child.gain - alpha)?;
            if gain > best {
                best = gain;
                best_turn = child.turn;
            }
            alpha = alpha.max(gain);
            if alpha >= beta {
                break;
            }
        }
        if best >= window_high.min(beta) {
            low = low.max(best);
        }
        if best <= window_low {
            high = high.min(best);
        }
        if best > window_low && best < window_high {
            (low, high) = (best.max(low), best.min(high));
            (low, high) = if low > high { (best, best) } else { (low, high) };
        }
        self.entries[place] = [key, pack(low, high, best_turn)];
        Ok(best)
    }

    fn children(&self, state: &State, mixed: Cells, first: u16) -> Children {
        let mover = state.to_move;
        let mut children = Children { all: Vec::with_capacity(64) };
        let sign = if mover == 0 { 1 } else { -1 };
        if let Some((reserves, cost)) = self.wait(state) {
            let next = State { reserves, to_move: 1 - mover, ..*state };
            children.all.push(Child { state: next, gain: -cost, turn: WAIT, rank: if cost == 0 { 1 } else { -20 } });
        }
        let empty = mixed & !(state.board.pieces[0] | state.board.pieces[1]);
        for from in each(state.board.pieces[mover]) {
            for to in each(state.board.destinations(from.bit(), empty) | from.bit()) {
                for side in super::board::Side::ALL {
                    if state.board.open(to.bit(), side) == 0 {
                        continue;
                    }
                    let turn = Turn::build(from, to, side);
                    let raw = State { board: turn.apply(&state.board, mover), to_move: 1 - mover, ..*state };
                    let (next, lead) = self.settled(raw);
                    let gain = sign * lead;
                    children.all.push(Child { state: next, gain, turn: turn.bits(), rank: 2 * gain });
                }
            }
        }
        if let Some(child) = children.all.iter_mut().find(|child| child.turn == first && first != 0) {
            child.rank = i32::MAX;
        }
        children
    }

    /// A move at home, or a pass: what is left, and its cost in cells.
    fn wait(&self, state: &State) -> Option<([Reserve; 2], i32)> {
        let mover = state.to_move;
        let mut reserves = state.reserves;
        let reserve = &mut reserves[mover];
        if self.may_pass(mover) && reserve.boxing == 0 {
            return Some((reserves, 0));
        }
        if reserve.free > 0 {
            reserve.free -= 1;
            return Some((reserves, 0));
        }
        if self.may_pass(mover) {
            if reserve.boxing == NEVER {
                return None;
            }
            reserve.boxing -= 1;
            return Some((reserves, 1));
        }
        if reserve.extra == 0 {
            return None;
        }
        reserve.extra -= 1;
        Some((reserves, 1))
    }
}

/// Bits of a turn that no turn has: a wait.
const WAIT: u16 = u16::MAX;

#[derive(Clone, Copy)]
struct Child {
    state: State,
    /// What the mover gains at once.
    gain: i32,
    turn: u16,
    rank: i32,
}

struct Children {
    all: Vec<Child>,
}

impl Children {
    /// Places of the children, best rank first, then in the order they were made.
    fn sorted(&mut self, order: &mut [usize; MOST_TURNS]) -> usize {
        let count = self.all.len().min(MOST_TURNS);
        for (at, place) in order[..count].iter_mut().enumerate() {
            *place = at;
        }
        order[..count].sort_by_key(|at| (-i64::from(self.all[*at].rank), *at));
        count
    }
}

/// The cells of a collapsed board: those with a piece or an open side. A mixed region has no other.
const fn mixed_cells(board: &Board) -> Cells {
    board.east | (board.east << 1) | board.south | (board.south << 7)
}

fn key(state: &State) -> u64 {
    const fn mix(hash: u64, word: u64) -> u64 {
        let mixed = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    }
    let pack = |reserve: &Reserve| {
        u64::from(reserve.free) | u64::from(reserve.extra) << 8 | u64::from(reserve.boxing) << 16
    };
    let rest = pack(&state.reserves[0]) | pack(&state.reserves[1]) << 24 | (state.to_move as u64) << 48 | 1 << 63;
    let mut hash = mix(rest, state.board.pieces[0]);
    hash = mix(hash, state.board.pieces[1]);
    hash = mix(hash, state.board.east);
    hash = mix(hash, state.board.south);
    mix(hash, hash >> 32) | 1
}
