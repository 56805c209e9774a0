//! Alpha-beta over whole turns. Values are those of the deciding side everywhere; a node negates them for the other.
//!
//! A node is one successor, made and judged with the fast terms or searched further; each is one tick of the budget.

use super::action::{Move, Turn};
use super::board::Cells;
use super::family::Family;
use super::leaf::{FastWeights, Judge, Kind, Leaf, PROVED};
use super::rules::{Position, Rules, Stay};
use super::survey::each_gate;
use super::table::{Known, Memory, Table, key};
use crate::bot::{Budget, Stopped};

/// What a search does beside alpha-beta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Remembers positions, and tries their best turn first.
    pub table: bool,
    /// Tries first what refuted the neighbouring lines.
    pub killers: bool,
    /// Times a line may be searched two plies further at its end.
    pub stretches: u8,
    /// Mixed cells up to which an end of a line is searched further.
    pub stretch_mixed: u8,
    /// Also searches on where closing a bridge changes the lead by this many cells; 0: nowhere. Looked at on the main
    /// line only, so values depend on the order of the turns.
    pub bridge: u8,
    /// Searches late quiet turns shallower first.
    pub reduce: bool,
    /// A lead that cannot be caught ends a line.
    pub counting: bool,
    /// How many turns of the second and third ply are looked into; none: all.
    pub widths: Option<[usize; 2]>,
}

impl Settings {
    /// Alpha-beta and nothing else.
    pub const PLAIN: Self = Self {
        table: false,
        killers: false,
        stretches: 0,
        stretch_mixed: 0,
        bridge: 0,
        reduce: false,
        counting: false,
        widths: None,
    };
}

/// How near the window a value must lie for bridges to be looked at.
const BRIDGE_WINDOW: f64 = 0.005;
/// No line is longer.
pub const LONGEST: usize = 48;
/// Beyond every value.
pub const INFINITE: f64 = 100.0;
/// More turns than a position can have: 4 pieces, 13 cells, 4 walls.
const MOST_TURNS: usize = 216;
/// Stands for the skip where a turn is expected.
const SKIP: Turn = Turn::from_bits(u16::MAX);
/// Turns from this place on are late.
const LATE: usize = 6;
/// Turns that leave the other side the fewest answers: tried early, never reduced.
const PREPARING: usize = 4;

/// The move that a turn of a line stands for.
pub fn as_move(turn: Turn) -> Move {
    if turn == SKIP { Move::Skip } else { Move::Turn(turn) }
}

#[derive(Clone, Copy)]
struct Item {
    turn: Turn,
    leaf: Leaf,
    /// To the side to move; what it is ordered by.
    score: f64,
}

/// The turns of a node, each successor once.
struct Turns {
    all: [Turn; MOST_TURNS],
    len: usize,
    /// A pass exists, and was left out because the deciding side can build.
    left_out: bool,
}

impl Turns {
    fn new() -> Self {
        Self { all: [Turn::from_bits(0); MOST_TURNS], len: 0, left_out: false }
    }

    #[inline(always)]
    fn push(&mut self, turn: Turn) {
        if self.len < MOST_TURNS {
            self.all[self.len] = turn;
            self.len += 1;
        }
    }

    fn listed(&self) -> &[Turn] {
        &self.all[..self.len]
    }
}

/// The search of one decision.
pub struct Search<'a> {
    /// Judges every position.
    pub judge: Judge<'a>,
    weights: FastWeights,
    settings: Settings,
    budget: &'a Budget,
    table: Option<Table>,
    killers: [[u16; 2]; LONGEST + 2],
    history: Box<[[u32; 256]; 2]>,
    lines: Box<[[Turn; LONGEST + 2]; LONGEST + 2]>,
    lengths: [usize; LONGEST + 2],
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        if let Some(table) = self.table.take() {
            table.give_back();
        }
    }
}

impl<'a> Search<'a> {
    /// A search for the side `me`.
    pub fn new(
        rules: &'a Rules,
        me: usize,
        weights: FastWeights,
        settings: Settings,
        budget: &'a Budget,
        nodes: Option<u64>,
    ) -> Self {
        Self {
            judge: Judge { rules, me, counting: settings.counting && rules.stay == Stay::Always },
            weights,
            settings,
            budget,
            table: settings.table.then(|| Table::borrow(nodes)),
            killers: [[0; 2]; LONGEST + 2],
            history: Box::new([[0; 256]; 2]),
            lines: Box::new([[SKIP; LONGEST + 2]; LONGEST + 2]),
            lengths: [0; LONGEST + 2],
        }
    }

    /// Forgets half of what the history knows; between two rounds.
    pub fn age(&mut self) {
        self.history.iter_mut().flatten().for_each(|count| *count /= 2);
    }

    /// What a leaf is worth to the deciding side.
    pub fn value(&self, leaf: Leaf) -> f64 {
        self.weights.value(leaf)
    }

    /// The turns after the root's move on the line that the last call of [`Self::node`] found.
    pub fn line(&self) -> &[Turn] {
        &self.lines[1][..self.lengths[1]]
    }

    /// Continues a line, which may have ended at a remembered position, to its leaf: as far as the table still knows.
    pub fn complete(&self, from: &Position, line: &mut Vec<Turn>, leaf: Leaf) {
        let Some(table) = &self.table else { return };
        let reached = |position: &Position| self.judge.leaf(position, 0).counts() == leaf.counts();
        let mut position = line.iter().fold(*from, |position, turn| position.after(as_move(*turn)));
        let mut more = Vec::new();
        while !reached(&position) && line.len() + more.len() < LONGEST {
            let known = table.get(key(&position)).filter(|known| known.turn != 0);
            let Some(turn) = known.map(|known| Turn::from_bits(known.turn)) else { return };
            if turn == SKIP || !position.allows(self.judge.rules, Move::Turn(turn)) {
                return;
            }
            more.push(turn);
            position = position.after(Move::Turn(turn));
        }
        if reached(&position) {
            line.extend(more);
        }
    }

    /// The turns of the side to move. The deciding side does not pass while it can build; the other may.
    fn turns(&self, position: &Position, turns: &mut Turns) {
        let rules = self.judge.rules;
        let own = position.mover() == self.judge.me;
        let mut pass = None;
        position.each_turn(rules, position.mover(), |turn| {
            if position.repeats_a_lower(rules, turn) {
                return;
            }
            if own && turn.wall().is_none() {
                pass = pass.or(Some(turn));
            } else {
                turns.push(turn);
            }
        });
        match pass {
            Some(pass) if turns.len == 0 => turns.push(pass),
            Some(_) => turns.left_out = true,
            None if turns.len == 0 => turns.push(SKIP),
            None => {}
        }
    }

    #[inline(always)]
    fn after(position: &Position, turn: Turn) -> Position {
        if turn == SKIP { position.after(Move::Skip) } else { position.after(Move::Turn(turn)) }
    }

    /// The value of a position to its side to move, and the leaf it comes from. `ply` counts from the root; a line may be
    /// stretched `stretches` times more. Values outside `alpha..beta` are bounds (fail-soft).
    ///
    /// # Errors
    /// The budget is spent.
    pub fn node(
        &mut self,
        position: &Position,
        depth: u8,
        alpha: f64,
        beta: f64,
        ply: usize,
        stretches: u8,
    ) -> Result<(f64, Leaf), Stopped> {
        self.lengths[ply] = 0;
        let own = position.mover() == self.judge.me;
        let sign = if own { 1.0 } else { -1.0 };
        let narrow = beta <= alpha.next_up();
        let reach = depth * 4 + stretches;

        // What is known already.
        let remembers = depth >= 2 && self.table.is_some();
        let hash = if remembers { key(position) } else { 0 };
        let mut first = 0;
        if let Some(known) = self.table.as_ref().filter(|_| remembers).and_then(|table| table.get(hash)) {
            first = known.turn;
            let leaf = from_here(known.leaf, ply as u32);
            let score = sign * self.weights.value(leaf);
            let tells = match known.known {
                Known::Exactly => true,
                Known::AtLeast => score >= beta,
                Known::AtMost => score <= alpha,
            };
            if narrow && known.reach >= reach && tells {
                return Ok((score, leaf));
            }
        }

        if self.settings.widths.is_some() {
            return self.narrowed(position, depth, alpha, beta, ply);
        }
        let mut best = (-INFINITE, Leaf(0));
        if own && self.may_pass(position) {
            // A loss behind a pass that is not looked at is no proof: it counts as 0.
            best = (0.0, self.judge.leaf(position, ply as u32).of_kind(Kind::Zero));
        }
        let lower = alpha;
        let mut best_turn = 0;
        let mut alpha = alpha.max(best.0);

        // What is likely to refute, without listing anything.
        let [one, two] = if self.settings.killers { self.killers[ply] } else { [0; 2] };
        let staged = [first, if one == first { 0 } else { one }, if two == first { 0 } else { two }];
        let mut tried = 0;
        // Only what was really looked at: a remembered pass is no building action and waits for the list.
        let mut seen = [0; 3];
        for bits in staged {
            let turn = Turn::from_bits(bits);
            let fits = bits != 0 && best.0 < beta && turn != SKIP && position.may_build(self.judge.rules, turn);
            if !fits || position.repeats_a_lower(self.judge.rules, turn) {
                continue;
            }
            self.budget.tick()?;
            let judged = self.judge.judged(&self.weights, &position.after(Move::Turn(turn)), ply as u32 + 1);
            let found = self.look(position, turn, judged, sign, depth, alpha, beta, ply, stretches, tried)?;
            seen[tried] = bits;
            tried += 1;
            self.keep(found, turn, ply, &mut best, &mut best_turn);
            alpha = alpha.max(best.0);
        }
        if best.0 < beta {
            let mut turns = Turns::new();
            self.turns(position, &mut turns);
            let done = |turn: Turn| seen.contains(&turn.bits());
            if depth == 1 {
                self.bring_history_forward(position.mover(), &mut turns);
                let family = Family::of(self.judge, self.weights, position);
                for &turn in turns.listed() {
                    if done(turn) {
                        continue;
                    }
                    self.budget.tick()?;
                    let judged = family.judged(turn, ply as u32 + 1);
                    let found = self.look(position, turn, judged, sign, depth, alpha, beta, ply, stretches, tried)?;
                    tried += 1;
                    self.keep(found, turn, ply, &mut best, &mut best_turn);
                    alpha = alpha.max(best.0);
                    if best.0 >= beta {
                        break;
                    }
                }
            } else {
                let blank = Item { turn: SKIP, leaf: Leaf(0), score: 0.0 };
                let mut items = [blank; MOST_TURNS];
                let mut len = 0;
                for &turn in turns.listed() {
                    if !done(turn) {
                        items[len].turn = turn;
                        len += 1;
                    }
                }
                let items = &mut items[..len];
                self.sort(position, items, sign, ply)?;
                if self.settings.reduce && depth >= 3 {
                    self.prepare(position, items);
                }
                for item in items.iter() {
                    let judged = (sign * item.score, item.leaf);
                    let found = self.look(position, item.turn, judged, sign, depth, alpha, beta, ply, stretches, tried)?;
                    tried += 1;
                    self.keep(found, item.turn, ply, &mut best, &mut best_turn);
                    alpha = alpha.max(best.0);
                    if best.0 >= beta {
                        break;
                    }
                }
            }
        }
        if best.0 >= beta && best_turn != 0 {
            self.refuted_by(position.mover(), best_turn, ply, depth);
        }
        if remembers {
            let known = if best.0 >= beta {
                Known::AtLeast
            } else if best.0 <= lower {
                Known::AtMost
            } else {
                Known::Exactly
            };
            let memory = Memory { leaf: to_here(best.1, ply as u32), known, reach, turn: best_turn };
            if let Some(table) = &mut self.table {
                table.put(hash, memory);
            }
        }
        Ok(best)
    }

    /// Whether the side to move has a pass beside its building actions.
    #[inline]
    fn may_pass(&self, position: &Position) -> bool {
        let boxed = position.board.boxed(position.board.pieces[position.mover()]) != 0;
        boxed && self.judge.rules.passes() && position.can_build(self.judge.rules, position.mover())
    }

    /// The value of the judged child after `turn` to the side that moved there.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn look(
        &mut self,
        position: &Position,
        turn: Turn,
        (value, leaf): (f64, Leaf),
        sign: f64,
        depth: u8,
        alpha: f64,
        beta: f64,
        ply: usize,
        stretches: u8,
        tried: usize,
    ) -> Result<(f64, Leaf), Stopped> {
        let score = sign * value;
        self.lengths[ply + 1] = 0;
        let ended = leaf.kind() != Kind::Open || turn.wall().is_none() && position.passes >= 1 || ply + 3 >= LONGEST;
        if ended || depth == 1 && !(stretches > 0 && self.unquiet(position, turn, leaf, score, alpha, beta)) {
            return Ok((score, leaf));
        }
        let after = Self::after(position, turn);
        if depth == 1 {
            return Ok(negate(self.node(&after, 2, -beta, -alpha, ply + 1, stretches - 1)?));
        }
        let quiet = self.settings.reduce && depth >= 3 && tried >= LATE + PREPARING;
        self.child(&after, depth, alpha, beta, ply, stretches, tried == 0, quiet)
    }

    #[inline(always)]
    fn keep(&mut self, found: (f64, Leaf), turn: Turn, ply: usize, best: &mut (f64, Leaf), best_turn: &mut u16) {
        if found.0 > best.0 {
            *best = found;
            *best_turn = turn.bits();
            self.extend_line(ply, turn);
        }
    }

    /// A child of an inner node: the whole window for the first, a null window and a second look for the others.
    #[allow(clippy::too_many_arguments)]
    fn child(
        &mut self,
        after: &Position,
        depth: u8,
        alpha: f64,
        beta: f64,
        ply: usize,
        stretches: u8,
        first: bool,
        quiet: bool,
    ) -> Result<(f64, Leaf), Stopped> {
        if first || beta <= alpha.next_up() && !quiet {
            return Ok(negate(self.node(after, depth - 1, -beta, -alpha, ply + 1, stretches)?));
        }
        let above = alpha.next_up();
        let mut found = negate(self.node(after, depth - 1 - u8::from(quiet), -above, -alpha, ply + 1, stretches)?);
        if quiet && found.0 > alpha {
            found = negate(self.node(after, depth - 1, -above, -alpha, ply + 1, stretches)?);
        }
        if found.0 > alpha && found.0 < beta {
            found = negate(self.node(after, depth - 1, -beta, -alpha, ply + 1, stretches)?);
        }
        Ok(found)
    }

    /// Judges the turns and sorts them, best first.
    fn sort(&self, position: &Position, items: &mut [Item], sign: f64, ply: usize) -> Result<(), Stopped> {
        let family = Family::of(self.judge, self.weights, position);
        for item in items.iter_mut() {
            self.budget.tick()?;
            let (value, leaf) = family.judged(item.turn, ply as u32 + 1);
            (item.score, item.leaf) = (sign * value, leaf);
        }
        items.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.turn.cmp(&b.turn)));
        Ok(())
    }

    /// A node of a search that looks into the best few turns only. What it cannot prove it does not claim.
    fn narrowed(
        &mut self,
        position: &Position,
        depth: u8,
        alpha: f64,
        beta: f64,
        ply: usize,
    ) -> Result<(f64, Leaf), Stopped> {
        let sign = if position.mover() == self.judge.me { 1.0 } else { -1.0 };
        let mut turns = Turns::new();
        self.turns(position, &mut turns);
        let mut items: Vec<Item> =
            turns.listed().iter().map(|turn| Item { turn: *turn, leaf: Leaf(0), score: 0.0 }).collect();
        self.sort(position, &mut items, sign, ply)?;
        // Turns that end the game are in front, or hopeless.
        let width = self.settings.widths.map_or(items.len(), |widths| widths[(ply - 1).min(1)]);
        let whole = items.len() <= width && !turns.left_out;
        let mut best = (-INFINITE, Leaf(0));
        for (at, item) in items.iter().take(width).enumerate() {
            let after = Self::after(position, item.turn);
            self.lengths[ply + 1] = 0;
            let found = if item.leaf.kind() != Kind::Open || depth == 1 || after.passes >= 2 {
                (item.score, item.leaf)
            } else {
                self.child(&after, depth, alpha.max(best.0), beta, ply, 0, at == 0, false)?
            };
            if found.0 > best.0 {
                best = found;
                self.extend_line(ply, item.turn);
            }
            if best.0 >= beta {
                return Ok(best);
            }
        }
        // One ply above the leaves every turn was looked at: the best is the first.
        if best.0 <= -PROVED && (!whole && depth > 1 || turns.left_out) {
            // The side to move loses by all turns looked into, but not all were.
            let leaf = best.1.of_kind(if sign > 0.0 { Kind::Zero } else { Kind::One });
            best = (sign * self.weights.value(leaf), leaf);
        }
        Ok(best)
    }

    /// Brings the turns that leave the other side the fewest building actions behind the first.
    fn prepare(&self, position: &Position, items: &mut [Item]) {
        let other = 1 - position.mover();
        let mut fewest = [(u32::MAX, usize::MAX); PREPARING];
        for (at, item) in items.iter().enumerate().skip(1) {
            let after = Self::after(position, item.turn);
            let (turns, passes) = after.count_turns(self.judge.rules, other);
            let entry = (turns - passes, at);
            if entry < fewest[PREPARING - 1] {
                fewest[PREPARING - 1] = entry;
                fewest.sort_unstable();
            }
        }
        // Moved forward one by one, lowest place first, so that the others keep their order.
        let mut places: Vec<usize> = fewest.iter().map(|(_, at)| *at).filter(|at| *at < items.len()).collect();
        places.sort_unstable();
        for (done, at) in places.into_iter().enumerate() {
            items[1 + done..=at].rotate_right(1);
        }
    }

    /// Whether the end of a line asks for a closer look: few mixed cells, or a bridge that decides much.
    #[inline]
    fn unquiet(&self, position: &Position, turn: Turn, leaf: Leaf, score: f64, alpha: f64, beta: f64) -> bool {
        if leaf.counts().mixed <= self.settings.stretch_mixed {
            return true;
        }
        // A null window asks whether a turn is better, not what it is worth: bridges are for the main line.
        let inside = beta > alpha.next_up() && score > alpha - BRIDGE_WINDOW && score < beta + BRIDGE_WINDOW;
        self.settings.bridge > 0 && inside && self.bridged(&Self::after(position, turn))
    }

    #[inline(never)]
    fn bridged(&self, after: &Position) -> bool {
        let board = &after.board;
        let mixed: Cells = board.territory().mixed;
        let mut largest = 0;
        each_gate(board, mixed, |change| largest = largest.max(change.abs()));
        largest >= i32::from(self.settings.bridge)
    }

    fn extend_line(&mut self, ply: usize, turn: Turn) {
        let length = self.lengths[ply + 1];
        let (here, below) = self.lines.split_at_mut(ply + 1);
        here[ply][0] = turn;
        here[ply][1..=length].copy_from_slice(&below[0][..length]);
        self.lengths[ply] = length + 1;
    }

    fn refuted_by(&mut self, mover: usize, turn: u16, ply: usize, depth: u8) {
        let killers = &mut self.killers[ply];
        if killers[0] != turn {
            killers[1] = killers[0];
            killers[0] = turn;
        }
        let count = &mut self.history[mover][usize::from(target(turn))];
        *count = count.saturating_add(u32::from(depth) * u32::from(depth));
    }

    /// Brings the two turns forward whose kind has refuted most.
    fn bring_history_forward(&self, mover: usize, turns: &mut Turns) {
        if !self.settings.killers {
            return;
        }
        let history = &self.history[mover];
        let count = |turn: Turn| history[usize::from(target(turn.bits()))];
        let mut most = [(0, 0); 2];
        // The first of equals, so that the order is the slots'.
        for (at, &turn) in turns.listed().iter().enumerate() {
            let here = (count(turn), at);
            if here.0 > most[0].0 {
                most = [here, most[0]];
            } else if here.0 > most[1].0 {
                most[1] = here;
            }
        }
        if most[0].0 > 0 {
            turns.all.swap(0, most[0].1);
        }
        if most[1].0 > 0 && turns.len > 1 {
            // What stood in front has moved to where the first came from.
            let from = if most[1].1 == 0 { most[0].1 } else { most[1].1 };
            turns.all.swap(1, from);
        }
    }
}

/// Cell and side of a turn's wall, 0..256.
const fn target(bits: u16) -> u8 {
    ((bits >> 3 & 63) << 2 | bits & 3) as u8
}

#[inline(always)]
fn negate((score, leaf): (f64, Leaf)) -> (f64, Leaf) {
    (-score, leaf)
}

/// Distances of ends count from the root in the tree and from the position in the table.
#[inline]
fn from_here(leaf: Leaf, ply: u32) -> Leaf {
    match leaf.kind() {
        Kind::EndWon | Kind::EndLost | Kind::EndDrawn => leaf.farther(ply),
        _ => leaf,
    }
}

#[inline]
fn to_here(leaf: Leaf, ply: u32) -> Leaf {
    match leaf.kind() {
        Kind::EndWon | Kind::EndLost | Kind::EndDrawn => leaf.nearer(ply),
        _ => leaf,
    }
}
