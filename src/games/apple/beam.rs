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
    /// Its worth; [`OVER`] where no move is left.
    worth: i32,
    link: Link,
}

const OVER: i32 = i32::MIN;

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

/// What is left on the board, as far as a glance tells: how the beam chooses.
#[derive(Clone, Copy, Debug)]
struct Glance<const N: usize> {
    moves: u32,
    /// Apples that at least one move covers.
    once: Cells<N>,
    /// Apples that at least two moves cover.
    twice: Cells<N>,
}

impl<const N: usize> Glance<N> {
    #[inline]
    fn new() -> Self {
        Self { moves: 0, once: Cells::default(), twice: Cells::default() }
    }

    /// Takes in a move, if it is `there`.
    #[inline]
    fn see(&mut self, move_cells: &Cells<N>, there: bool) {
        let mask = u64::from(there).wrapping_neg();
        self.moves += u32::from(there);
        for i in 0..N {
            let cells = move_cells.0[i] & mask;
            self.twice.0[i] |= self.once.0[i] & cells;
            self.once.0[i] |= cells;
        }
    }

    #[inline]
    fn worth(&self, removed: u32) -> i32 {
        let (reachable, moves, removed) = (self.once.len() as i32, self.moves as i32, removed as i32);
        10 * reachable + 2 * moves - 5 * removed
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
        let (mut places, mut moves) = (Vec::new(), Vec::new());
        while !self.states.is_empty() {
            let level = round.states.len();
            self.children.clear();
            self.merged.clear();
            self.seen.clear(self.states.len() * 32);
            for parent in 0..self.states.len() {
                if parent > 0 && !plan.can_afford(level, budget) {
                    round.dropped = true;
                    break;
                }
                self.expand(parent, &mut places, &mut moves, budget)?;
            }
            round.states.push(self.children.len() as u64);
            round.dropped |= self.select(plan.width_at(level + 1, budget));
        }
        round.lines = self.lines();
        Ok(round)
    }

    /// Every position one move on from a state, unless it is there already.
    fn expand(
        &mut self,
        parent: usize,
        places: &mut Vec<u32>,
        moves: &mut Vec<Cells<N>>,
        budget: &Budget,
    ) -> Result<(), Stopped> {
        let state = self.states[parent];
        self.ground.set(&state.apples);
        self.ground.places(places);
        moves.clear();
        moves.extend(places.iter().map(|place| {
            let [row_min, col_min, row_max, col_max] = place.to_be_bytes().map(usize::from);
            self.ground.covered(row_min, col_min, row_max, col_max)
        }));
        for (&place, cells) in places.iter().zip(moves.iter()) {
            let link = Link { parent: parent as u32, place };
            let apples = state.apples.without(cells);
            let (mut hash, mut removed) = (state.hash, state.removed);
            for cell in cells.iter() {
                hash ^= self.keys[cell];
                removed += 1;
            }
            let slot = match self.seen.find(&self.children, &apples, hash) {
                Ok(child) => {
                    self.merged.push((child, link));
                    continue;
                }
                Err(slot) => slot,
            };
            budget.tick()?;
            let glance = self.look(place, cells, moves);
            let worth = if glance.moves == 0 { OVER } else { glance.worth(removed) };
            self.seen.slots[slot] = self.children.len() as u32;
            self.children.push(Child { state: State { apples, hash, removed }, worth, link });
            if self.children.len() * 4 > self.seen.slots.len() * 3 {
                self.seen.grow(&self.children);
            }
        }
        Ok(())
    }

    /// What is left after a move: those of `moves` that share no apple with it, and those it makes possible.
    #[inline]
    fn look(&mut self, place: u32, cells: &Cells<N>, moves: &[Cells<N>]) -> Glance<N> {
        let mut glance = Glance::new();
        for other in moves {
            glance.see(other, !other.meets(cells));
        }
        let [row_min, col_min, row_max, col_max] = place.to_be_bytes();
        let rectangle = Rectangle::new(row_min, col_min, row_max, col_max);
        self.ground.clear(rectangle);
        self.ground.fresh(rectangle, |row_min, col_min, row_max, col_max| {
            glance.see(&self.ground.covered(row_min, col_min, row_max, col_max), true);
        });
        self.ground.restore(rectangle);
        glance
    }

    /// Keeps the best children as the next level; equal ones by their parent's place, then by their move. Whether any
    /// was left out.
    fn select(&mut self, width: usize) -> bool {
        let open = self.children.iter().enumerate().filter(|(_, child)| child.worth != OVER);
        // Worth first, then age: one number, the greatest is the best.
        let rank = |(i, child): (usize, &Child<N>)| (i64::from(child.worth) << 32) | i64::from(!(i as u32));
        let mut ranks: Vec<i64> = open.map(rank).collect();
        let dropped = ranks.len() > width;
        if dropped {
            ranks.select_nth_unstable_by(width - 1, |a, b| b.cmp(a));
            ranks.truncate(width);
        }
        ranks.sort_unstable_by(|a, b| b.cmp(a));
        let kept: Vec<u32> = ranks.iter().map(|&rank| !(rank as u32)).collect();
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
        ((left as u128 * narrow as u128 * 31 / 32 / u128::from(ahead)) as usize).clamp(1, self.width)
    }

    /// Whether one more state of a level can be expanded, so that a narrow tail still fits.
    fn can_afford(&self, level: usize, budget: &Budget) -> bool {
        let Some((limit, profile, narrow)) = self.spend else { return true };
        let tail: u64 = profile.iter().skip(level).sum::<u64>() / narrow as u64 * 2 + 512;
        limit.saturating_sub(budget.nodes()) > tail
    }
}
