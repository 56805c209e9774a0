//! Beam search by number of moves.
//!
//! All states of a level have removed the same sum, so that what tells them apart is what they left. Never let the score
//! so far lead: such a beam ends below random play.

use super::board::Board;
use super::cells::Cells;
use super::greedy::Line;
use super::rects::{Ground, Rectangle};
use crate::bot::{Budget, Rng, Stopped};

/// What a round of the beam found.
#[derive(Debug)]
pub struct Round {
    /// Complete lines, each for its first move; only those that clear more than what was known.
    pub lines: Vec<Line>,
    /// New states per level: what the next round is planned by.
    pub states: Vec<u64>,
    /// Whether a state was left out anywhere. If not, every reachable position was seen.
    pub dropped: bool,
}

/// What a round starts from.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The board.
    pub board: &'a Board,
    /// Its legal moves as [`Rectangle::place`], ascending.
    pub firsts: &'a [u32],
    /// Apples cleared by the best line known for each of them.
    pub known: &'a [u32],
    /// How positions are valued.
    pub taste: Taste,
}

/// How wide a round may be.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// States kept per level, unless a share of the nodes says otherwise.
    pub width: usize,
    /// Spend the rest of this many nodes, shared out like the states of a narrow round of the given width.
    pub spend: Option<(u64, &'a [u64], usize)>,
}

/// A position as the beam keeps it.
#[derive(Clone, Copy, Debug)]
struct State<const N: usize> {
    apples: Cells<N>,
    hash: u64,
    removed: u32,
}

/// A position one move on, not yet chosen.
#[derive(Clone, Copy, Debug)]
struct Child<const N: usize> {
    state: State<N>,
    link: Link,
    /// What it offers: what its parent's moves leave at first, then all of it.
    glance: Glance<N>,
    /// What that is worth; [`OVER`] where no move is left, [`UNSEEN`] where nobody looked closely.
    worth: i32,
}

const OVER: i32 = i32::MIN;
const UNSEEN: i32 = i32::MIN + 1;

/// Children looked at closely, for each state that may be kept. What a move leaves of its parent's moves tells most; only
/// for the best by that are the moves found that it makes possible.
const CLOSE: usize = 8;

/// Which move led here, and from which state of the level before.
#[derive(Clone, Copy, Debug)]
struct Link {
    parent: u32,
    place: u32,
}

/// What is remembered of a level: for each kept state all links that lead to it, and all first moves.
#[derive(Debug, Default)]
struct Level {
    links: Vec<Link>,
    /// More links, with the state they belong to, ascending.
    merged: Vec<(u32, Link)>,
    /// `words` words for each state: first moves that lead to it.
    firsts: Vec<u64>,
}

/// A table from positions to children, by open addressing. It is asked for membership only, and whole sets are compared.
#[derive(Debug, Default)]
struct Seen {
    slots: Vec<u32>,
}

impl Seen {
    const FREE: u32 = u32::MAX;

    fn clear(&mut self, expected: usize) {
        let size = (expected * 2).next_power_of_two().max(256);
        self.slots.clear();
        self.slots.resize(size, Self::FREE);
    }

    /// The child at this position, or the slot where it belongs.
    #[inline]
    fn find<const N: usize>(&self, children: &[Child<N>], apples: &Cells<N>, hash: u64) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.slots[slot];
            if found == Self::FREE {
                return Err(slot);
            }
            let state = &children[found as usize].state;
            if state.hash == hash && state.apples == *apples {
                return Ok(found);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow<const N: usize>(&mut self, children: &[Child<N>]) {
        self.clear(children.len() * 2);
        for (i, child) in children.iter().enumerate() {
            if let Err(slot) = self.find(&children[..i], &child.state.apples, child.state.hash) {
                self.slots[slot] = i as u32;
            }
        }
    }
}

/// What a position offers, as far as a glance tells: how the beam chooses.
#[derive(Clone, Copy, Debug)]
struct Glance<const N: usize> {
    moves: i32,
    /// Apples that at least one move covers.
    reachable: Cells<N>,
}

/// The legal moves of the state being expanded, and who covers what: a child keeps most of them.
#[derive(Debug)]
struct Offer<const N: usize> {
    places: Vec<u32>,
    moves: Vec<Cells<N>>,
    /// Words of a set of moves.
    words: usize,
    /// `words` words for each cell: the moves that cover it.
    coverers: Vec<u64>,
    /// How many moves cover a cell.
    cover: Vec<u16>,
    reachable: Cells<N>,
}

impl<const N: usize> Offer<N> {
    fn new() -> Self {
        Self {
            places: Vec::new(),
            moves: Vec::new(),
            words: 0,
            coverers: Vec::new(),
            cover: vec![0; 64 * N],
            reachable: Cells::default(),
        }
    }

    fn take(&mut self, ground: &impl Ground<N>) {
        ground.places(&mut self.places);
        let Self { places, moves, words, coverers, cover, reachable } = self;
        *words = places.len().div_ceil(64);
        moves.clear();
        coverers.clear();
        coverers.resize(64 * N * *words, 0);
        cover.fill(0);
        *reachable = Cells::default();
        for (i, place) in places.iter().enumerate() {
            let [row_min, col_min, row_max, col_max] = place.to_be_bytes().map(usize::from);
            let cells = ground.covered(row_min, col_min, row_max, col_max);
            cells.each(|cell| {
                coverers[cell * *words + i / 64] |= 1 << (i % 64);
                cover[cell] += 1;
            });
            *reachable = reachable.union(&cells);
            moves.push(cells);
        }
    }

    /// The moves that share no apple with this one.
    #[inline]
    fn without(&mut self, cells: &Cells<N>) -> Glance<N> {
        let mut glance = Glance { moves: self.moves.len() as i32, reachable: self.reachable };
        for word in 0..self.words {
            let mut lost = 0;
            cells.each(|cell| lost |= self.coverers[cell * self.words + word]);
            glance.moves -= lost.count_ones() as i32;
            // Taken from the counts and put back: an apple nobody covers any more is out of reach.
            let mut left = lost;
            while left != 0 {
                self.moves[word * 64 + left.trailing_zeros() as usize].each(|cell| {
                    self.cover[cell] -= 1;
                    let gone = u64::from(self.cover[cell] == 0);
                    glance.reachable.0[cell / 64] &= !(gone << (cell % 64));
                });
                left &= left - 1;
            }
            while lost != 0 {
                self.moves[word * 64 + lost.trailing_zeros() as usize].each(|cell| self.cover[cell] += 1);
                lost &= lost - 1;
            }
        }
        glance
    }
}

/// How a round values what a position offers.
#[derive(Clone, Copy, Debug)]
pub struct Taste {
    /// Cells of the board.
    cells: u32,
    /// Cells cleared before the search began.
    cleared: u32,
    /// Stirs the worth of every position a little, differently for each number; 0 does not.
    stir: u64,
}

impl Taste {
    /// For a board, with a number for the stir.
    pub fn new(board: &Board, stir: u64) -> Self {
        let cells = board.cells().len() as u32;
        Self { cells, cleared: cells - board.apples(), stir }
    }

    /// Weight of an apple removed, on a level. All states of a level have removed the same sum. Early on, few apples for
    /// it means that small digits are left, which fit everywhere: that is worth more than two apples in reach. At the end
    /// an apple cleared is a point and no longer a loss. A fresh 10 x 17 board turns round after 50 moves.
    fn removed(&self, level: usize) -> i32 {
        let moves = (level as u32 * 170 + self.cleared * 71) / self.cells;
        moves.min(70) as i32 - 50
    }

    #[inline]
    fn worth<const N: usize>(&self, glance: &Glance<N>, state: &State<N>, removed_weight: i32) -> i32 {
        let stirred = match self.stir {
            0 => 0,
            stir => ((state.hash ^ stir).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as i32 - 32,
        };
        20 * glance.reachable.len() as i32 + 4 * glance.moves + removed_weight * state.removed as i32 + stirred
    }
}

struct Beam<'a, const N: usize, G> {
    task: Task<'a>,
    ground: G,
    /// A random number for each cell; a position's hash is what they come to for the cells cleared.
    keys: Vec<u64>,
    /// Words of a set of first moves.
    words: usize,
    levels: Vec<Level>,
    states: Vec<State<N>>,
    children: Vec<Child<N>>,
    /// Further ways to a child.
    merged: Vec<(u32, Link)>,
    seen: Seen,
    /// For each first move the best end found: apples, level, and a link to it.
    ends: Vec<Option<(u32, usize, Link)>>,
}

/// Worth first, then age: one number, the greatest is the best.
fn rank<const N: usize>((i, child): (usize, &Child<N>)) -> i64 {
    (i64::from(child.worth) << 32) | i64::from(!(i as u32))
}

/// The child that a rank belongs to.
const fn place_of(rank: i64) -> usize {
    !(rank as u32) as usize
}

/// One round of the beam.
///
/// # Errors
/// The budget ran out; the round leaves no trace.
pub fn round<const N: usize, G: Ground<N>>(task: Task<'_>, plan: Plan<'_>, budget: &Budget) -> Result<Round, Stopped> {
    Beam::<N, G>::new(task).run(plan, budget)
}

impl<'a, const N: usize, G: Ground<N>> Beam<'a, N, G> {
    fn new(task: Task<'a>) -> Self {
        let mut all = Cells::default();
        let digits = task.board.cells().iter().enumerate();
        digits.filter(|(_, digit)| **digit != 0).for_each(|(cell, _)| all.insert(cell));
        let mut rng = Rng::new(0);
        let words = task.firsts.len().div_ceil(64);
        Self {
            ground: G::new(task.board),
            keys: (0..N * 64).map(|_| rng.next_u64()).collect(),
            words,
            levels: vec![Level { firsts: vec![0; words], ..Level::default() }],
            states: vec![State { apples: all, hash: 0, removed: 0 }],
            children: Vec::new(),
            merged: Vec::new(),
            seen: Seen::default(),
            ends: vec![None; task.firsts.len()],
            task,
        }
    }

    fn run(mut self, plan: Plan<'_>, budget: &Budget) -> Result<Round, Stopped> {
        let mut round = Round { lines: Vec::new(), states: Vec::new(), dropped: false };
        let mut offer = Offer::new();
        while !self.states.is_empty() {
            let level = round.states.len();
            self.children.clear();
            self.merged.clear();
            self.seen.clear(self.states.len() * 32);
            for parent in 0..self.states.len() {
                budget.poll()?;
                self.expand(parent, level, &mut offer);
            }
            let width = plan.width_at(level, budget);
            round.dropped |= self.look_closely(level, width.saturating_mul(CLOSE), budget)?;
            round.states.push(self.children.iter().filter(|child| child.worth != UNSEEN).count() as u64);
            round.dropped |= self.select(width);
        }
        round.lines = self.lines();
        Ok(round)
    }

    /// Every position one move on from a state, unless it is there already, with what is left of the state's moves.
    fn expand(&mut self, parent: usize, level: usize, offer: &mut Offer<N>) {
        let state = self.states[parent];
        let removed_weight = self.task.taste.removed(level);
        self.ground.set(&state.apples);
        offer.take(&self.ground);
        for i in 0..offer.places.len() {
            let (place, cells) = (offer.places[i], offer.moves[i]);
            let link = Link { parent: parent as u32, place };
            let mut next = State { apples: state.apples.without(&cells), ..state };
            cells.each(|cell| {
                next.hash ^= self.keys[cell];
                next.removed += 1;
            });
            let slot = match self.seen.find(&self.children, &next.apples, next.hash) {
                Ok(child) => {
                    self.merged.push((child, link));
                    continue;
                }
                Err(slot) => slot,
            };
            let glance = offer.without(&cells);
            let worth = self.task.taste.worth(&glance, &next, removed_weight);
            self.seen.slots[slot] = self.children.len() as u32;
            self.children.push(Child { state: next, link, glance, worth });
            if self.children.len() * 4 > self.seen.slots.len() * 3 {
                self.seen.grow(&self.children);
            }
        }
    }

    /// Finds all moves of the `most` children that look best. Whether any other was left out.
    fn look_closely(&mut self, level: usize, most: usize, budget: &Budget) -> Result<bool, Stopped> {
        let removed_weight = self.task.taste.removed(level);
        let mut ranks: Vec<i64> = self.children.iter().enumerate().map(rank).collect();
        let dropped = ranks.len() > most;
        if dropped {
            ranks.select_nth_unstable_by(most - 1, |a, b| b.cmp(a));
            for &rank in &ranks[most..] {
                self.children[place_of(rank)].worth = UNSEEN;
            }
        }
        let mut parent = u32::MAX;
        for i in 0..self.children.len() {
            let Child { state, link, glance, worth } = self.children[i];
            if worth == UNSEEN {
                continue;
            }
            budget.tick()?;
            if link.parent != parent {
                parent = link.parent;
                self.ground.set(&self.states[parent as usize].apples);
            }
            let glance = self.look(link.place, glance);
            self.children[i].worth =
                if glance.moves == 0 { OVER } else { self.task.taste.worth(&glance, &state, removed_weight) };
        }
        Ok(dropped)
    }

    /// Adds what a move makes possible to what it leaves.
    #[inline]
    fn look(&mut self, place: u32, mut glance: Glance<N>) -> Glance<N> {
        let [row_min, col_min, row_max, col_max] = place.to_be_bytes();
        let rectangle = Rectangle::new(row_min, col_min, row_max, col_max);
        self.ground.clear(rectangle);
        self.ground.fresh(rectangle, |row_min, col_min, row_max, col_max| {
            glance.moves += 1;
            glance.reachable = glance.reachable.union(&self.ground.covered(row_min, col_min, row_max, col_max));
        });
        self.ground.restore(rectangle);
        glance
    }

    /// Keeps the best children as the next level; equal ones by their parent's place, then by their move. Whether any
    /// was left out.
    fn select(&mut self, width: usize) -> bool {
        let open = self.children.iter().enumerate().filter(|(_, child)| child.worth > UNSEEN);
        let mut ranks: Vec<i64> = open.map(rank).collect();
        let dropped = ranks.len() > width;
        if dropped {
            ranks.select_nth_unstable_by(width - 1, |a, b| b.cmp(a));
            ranks.truncate(width);
        }
        ranks.sort_unstable_by(|a, b| b.cmp(a));
        let kept: Vec<u32> = ranks.iter().map(|&rank| place_of(rank) as u32).collect();
        self.keep(&kept);
        dropped
    }

    /// Makes these children the next level, and takes in the games that ended.
    fn keep(&mut self, kept: &[u32]) {
        const NONE: u32 = u32::MAX;
        let mut at = vec![NONE; self.children.len()];
        let mut level = Level::default();
        level.firsts.resize(kept.len() * self.words, 0);
        self.states.clear();
        for (new, &child) in (0..).zip(kept) {
            let Child { state, link, .. } = self.children[child as usize];
            at[child as usize] = new;
            self.states.push(state);
            level.links.push(link);
            self.lead(link, &mut level.firsts[new as usize * self.words..][..self.words]);
        }
        for i in 0..self.merged.len() {
            let (child, link) = self.merged[i];
            let new = at[child as usize];
            if new != NONE {
                level.merged.push((new, link));
                self.lead(link, &mut level.firsts[new as usize * self.words..][..self.words]);
            }
        }
        level.merged.sort_by_key(|(state, _)| *state);
        self.take_ends();
        self.levels.push(level);
    }

    /// Adds the first moves that a link brings along: those of its parent, and its own move where that was legal at
    /// the root. Such a move can be played first: it keeps its apples until its turn comes, so no move before it
    /// touches them, and none of those changes by their absence.
    fn lead(&self, link: Link, firsts: &mut [u64]) {
        let from = &self.levels[self.levels.len() - 1].firsts[link.parent as usize * self.words..][..self.words];
        firsts.iter_mut().zip(from).for_each(|(word, more)| *word |= more);
        if let Ok(first) = self.task.firsts.binary_search(&link.place) {
            firsts[first / 64] |= 1 << (first % 64);
        }
    }

    /// Notes the games that ended on this level, for each first move that leads to them.
    fn take_ends(&mut self) {
        let level = self.levels.len();
        let mut firsts = vec![0; self.words];
        let ended = |child: u32| self.children[child as usize].worth == OVER;
        let ways = (0..self.children.len() as u32).map(|child| (child, self.children[child as usize].link));
        let ways: Vec<(u32, Link)> = ways.chain(self.merged.iter().copied()).filter(|(child, _)| ended(*child)).collect();
        for (child, link) in ways {
            let removed = self.children[child as usize].state.removed;
            firsts.fill(0);
            self.lead(link, &mut firsts);
            for (word, &bits) in firsts.iter().enumerate() {
                let mut left = bits;
                while left != 0 {
                    let first = word * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    let best = self.ends[first].map_or(self.task.known[first], |(most, _, _)| most);
                    if removed > best {
                        self.ends[first] = Some((removed, level, link));
                    }
                }
            }
        }
    }

    /// The lines to the ends found.
    fn lines(&self) -> Vec<Line> {
        let ends = self.ends.iter().enumerate();
        ends.filter_map(|(first, end)| end.map(|(score, level, link)| Line { score, moves: self.line(first, level, link) }))
            .collect()
    }

    /// The line that ends with `link` on `level` and holds the first move numbered `first`, with that move in front.
    fn line(&self, first: usize, mut level: usize, mut link: Link) -> Vec<Rectangle> {
        let wanted = self.task.firsts[first];
        let mut places = vec![link.place];
        let mut found = link.place == wanted;
        while level > 1 {
            level -= 1;
            link = self.way(level, link.parent, (!found).then_some(first));
            found |= link.place == wanted;
            places.push(link.place);
        }
        places.reverse();
        if let Some(at) = places.iter().position(|&place| place == wanted) {
            places[..=at].rotate_right(1);
        }
        let rectangle = |place: u32| {
            let [row_min, col_min, row_max, col_max] = place.to_be_bytes();
            Rectangle::new(row_min, col_min, row_max, col_max)
        };
        places.into_iter().map(rectangle).collect()
    }

    /// A link to a state of a level, one that `first` leads to where it is asked for.
    fn way(&self, level: usize, state: u32, first: Option<usize>) -> Link {
        let Level { links, merged, .. } = &self.levels[level];
        let main = links[state as usize];
        let Some(first) = first else { return main };
        let from = &self.levels[level - 1].firsts;
        let leads = |link: &Link| {
            let bit = from[link.parent as usize * self.words + first / 64] >> (first % 64) & 1;
            bit == 1 || link.place == self.task.firsts[first]
        };
        let start = merged.partition_point(|(other, _)| *other < state);
        let more = merged[start..].iter().take_while(|(other, _)| *other == state).map(|(_, link)| *link);
        std::iter::once(main).chain(more).find(leads).unwrap_or(main)
    }
}

impl Plan<'_> {
    /// States that a level may keep.
    fn width_at(&self, level: usize, budget: &Budget) -> usize {
        let Some((limit, profile, narrow)) = self.spend else { return self.width };
        let left = limit.saturating_sub(budget.nodes());
        // A tail longer than the narrow round's costs little a level.
        let ahead: u64 = profile.iter().skip(level).sum::<u64>().max(8);
        let width = (left as u128 * narrow as u128 * 31 / 32 / u128::from(ahead)) as usize;
        // Whatever the plan says, a level may not take more than half of what is left: a tail always fits.
        width.min(left as usize / (2 * CLOSE)).clamp(1, self.width)
    }
}
