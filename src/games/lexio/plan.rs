//! The hand as a plan: how few melds use it up, and how many of them would lose their trick.
//!
//! At most two disjoint fives fit in thirteen tiles, and without fives a hand goes rank by rank: one meld for up to
//! three tiles, two for four. So a plan is none, one or two disjoint fives, and the ranks of the rest. What changes when
//! a meld is taken away is then a matter of its own ranks.

use super::chances::Chances;
use super::meld::Meld;
use super::melds;
use super::tile::TileSet;
use super::unseen::Unseen;

/// What is left to do with some tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Fewest melds that use them up.
    pub turns: u8,
    /// Fewest expected losers: the sum of (1 - win) over the melds of a plan.
    pub losers: f64,
}

impl Outlook {
    const NONE: Self = Self { turns: u8::MAX, losers: f64::INFINITY };

    fn least(&mut self, turns: u8, losers: f64) {
        self.turns = self.turns.min(turns);
        self.losers = self.losers.min(losers);
    }
}

/// What to know about a choice of fives: the tiles they take, and the outlook of the whole hand with them.
#[derive(Clone, Copy, Debug)]
struct Packing {
    tiles: TileSet,
    turns: u8,
    losers: f64,
}

/// Expected losers of the ranks of one hand.
#[derive(Clone, Debug)]
struct Ranks {
    /// `losers[order][nibble]`: of that part of the rank, played as one meld (four tiles: the low and the high pair).
    losers: [[f64; 16]; 15],
}

/// Melds that use up a nibble.
const MELDS: [u8; 16] = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2];

impl Ranks {
    fn of(hand: TileSet, chances: &Chances) -> Self {
        let mut losers = [[0.0; 16]; 15];
        melds::each_lane(hand.lanes(), |order| {
            let held = hand.nibble(order);
            let row = &mut losers[usize::from(order)];
            let lose = |nibble: usize| {
                1.0 - chances.same_rank(TileSet::from_bits((nibble as u64) << (4 * order)), order)
            };
            let mut part = held;
            while part != 0 {
                row[part] = if part == 15 { lose(0b0011) + lose(0b1100) } else { lose(part) };
                part = (part - 1) & held;
            }
        });
        Self { losers }
    }

    fn outlook(&self, tiles: TileSet) -> Outlook {
        let mut outlook = Outlook { turns: 0, losers: 0.0 };
        melds::each_lane(tiles.lanes(), |order| {
            let nibble = tiles.nibble(order);
            outlook.turns += MELDS[nibble];
            outlook.losers += self.losers[usize::from(order)][nibble];
        });
        outlook
    }

    /// `outlook` of `tiles` once `gone`, a part of them with these lanes, is taken away.
    fn less(&self, outlook: (u8, f64), tiles: TileSet, gone: TileSet, lanes: u64) -> (u8, f64) {
        let (mut turns, mut losers) = outlook;
        let mut lanes = lanes;
        while lanes != 0 {
            let order = (lanes.trailing_zeros() / 4) as u8;
            lanes &= lanes - 1;
            let row = &self.losers[usize::from(order)];
            let (before, after) = (tiles.nibble(order), tiles.minus(gone).nibble(order));
            turns = turns + MELDS[after] - MELDS[before];
            losers += row[after] - row[before];
        }
        (turns, losers)
    }
}

/// Where the fives of a hand are kept: listed with all disjoint pairs, or, when there are many, by subset.
#[derive(Clone, Debug)]
enum Fives {
    Few(Vec<Packing>),
    Many(Box<Dense>),
}

/// The plan of one hand against one set of unseen tiles.
#[derive(Clone, Debug)]
pub struct Plan {
    hand: TileSet,
    ranks: Ranks,
    bare: Outlook,
    fives: Fives,
    whole: Outlook,
    chances: Chances,
}

/// From this many packings on, looking them all up costs more than the tables of [`Dense`].
const MANY: usize = 160;

impl Plan {
    /// Plans `hand` against what is unseen.
    pub fn of(hand: TileSet, unseen: &Unseen) -> Self {
        let deck = unseen.deck();
        let mut held: Vec<Meld> = Vec::new();
        melds::fives(hand, deck, &mut |meld| held.push(meld));
        let chances = Chances::of(unseen, !held.is_empty());
        let ranks = Ranks::of(hand, &chances);
        let bare = ranks.outlook(hand);
        let fives = Self::pack(hand, &held, &ranks, bare, &chances);
        let mut plan = Self { hand, ranks, bare, fives, whole: Outlook::NONE, chances };
        plan.whole = plan.without(TileSet::EMPTY);
        plan
    }

    fn pack(hand: TileSet, held: &[Meld], ranks: &Ranks, bare: Outlook, chances: &Chances) -> Fives {
        let mut packings: Vec<Packing> = Vec::with_capacity(held.len());
        for meld in held {
            let tiles = meld.tiles();
            let (turns, losers) = ranks.less((bare.turns, bare.losers), hand, tiles, tiles.lanes());
            packings.push(Packing { tiles, turns: turns + 1, losers: losers + 1.0 - chances.win(meld) });
        }
        for a in 0..held.len() {
            for b in a + 1..held.len() {
                let (first, second) = (packings[a], packings[b].tiles);
                if !first.tiles.meets(second) {
                    let rest = hand.minus(first.tiles);
                    let (turns, losers) = ranks.less((first.turns, first.losers), rest, second, second.lanes());
                    let losers = losers + 1.0 - chances.win(&held[b]);
                    packings.push(Packing { tiles: first.tiles.or(second), turns: turns + 1, losers });
                }
            }
            if packings.len() > MANY {
                return Fives::Many(Box::new(Dense::of(hand, held, ranks, chances)));
            }
        }
        Fives::Few(packings)
    }

    /// The outlook of the whole hand: `turns` is the fact of that name.
    pub const fn whole(&self) -> Outlook {
        self.whole
    }

    /// The chances it was made with.
    pub const fn chances(&self) -> &Chances {
        &self.chances
    }

    /// The outlook once `gone`, some tiles of the hand, is played.
    pub fn without(&mut self, gone: TileSet) -> Outlook {
        let lanes = gone.lanes();
        let (turns, losers) = self.ranks.less((self.bare.turns, self.bare.losers), self.hand, gone, lanes);
        let mut outlook = Outlook { turns, losers };
        match &mut self.fives {
            Fives::Few(packings) => {
                for packing in packings.iter().filter(|packing| !packing.tiles.meets(gone)) {
                    let rest = self.hand.minus(packing.tiles);
                    let (turns, losers) = self.ranks.less((packing.turns, packing.losers), rest, gone, lanes);
                    outlook.least(turns, losers);
                }
            }
            Fives::Many(dense) => outlook = dense.best(self.hand.minus(gone)),
        }
        // Taking away adds and subtracts the same numbers in another order: nothing left is nothing to lose.
        outlook.losers = outlook.losers.max(0.0);
        outlook
    }
}

/// Plans by subset, for hands with very many fives (one suit only: 1,287). A set of the hand's tiles is a number below
/// 2^13: bit i is the i-th tile.
#[derive(Clone, Debug)]
struct Dense {
    tiles: Vec<TileSet>,
    /// Outlook of each subset without fives.
    bare: Vec<(u8, f64)>,
    /// Expected losers of each five; infinite where the subset is none.
    five: Vec<f64>,
    /// Outlook of subsets that hold at most one five, filled on demand; `None` in `turns` is 0.
    one: Vec<(u8, f64)>,
}

impl Dense {
    fn of(hand: TileSet, held: &[Meld], ranks: &Ranks, chances: &Chances) -> Self {
        let tiles: Vec<TileSet> = hand.into_iter().map(TileSet::of).collect();
        let size = 1 << tiles.len();
        let mut dense = Self { tiles, bare: vec![(0, 0.0); size], five: Vec::new(), one: vec![(0, 0.0); size] };
        dense.five = vec![f64::INFINITY; size];
        for meld in held {
            let index = dense.index(meld.tiles());
            dense.five[index] = 1.0 - chances.win(meld);
        }
        dense.fill_bare(ranks);
        dense
    }

    /// Each subset is a smaller one and all it holds of its lowest rank.
    fn fill_bare(&mut self, ranks: &Ranks) {
        let order = |i: usize| self.tiles[i].lowest().map_or(0, |tile| tile.order());
        let mates: Vec<usize> = (0..self.tiles.len())
            .map(|i| (0..self.tiles.len()).filter(|&j| order(j) == order(i)).fold(0, |mask, j| mask | 1 << j))
            .collect();
        for set in 1..self.bare.len() {
            let lowest = set.trailing_zeros() as usize;
            let group = set & mates[lowest];
            let held = self.tiles_of(group).nibble(order(lowest));
            let (turns, losers) = self.bare[set & !group];
            self.bare[set] = (turns + MELDS[held], losers + ranks.losers[usize::from(order(lowest))][held]);
        }
    }

    fn index(&self, set: TileSet) -> usize {
        self.tiles.iter().enumerate().fold(0, |index, (i, tile)| index | usize::from(set.meets(*tile)) << i)
    }

    fn tiles_of(&self, mut set: usize) -> TileSet {
        let mut tiles = TileSet::EMPTY;
        while set != 0 {
            tiles = tiles.or(self.tiles[set.trailing_zeros() as usize]);
            set &= set - 1;
        }
        tiles
    }

    /// Fewest turns and losers of `tiles` with up to two fives.
    fn best(&mut self, tiles: TileSet) -> Outlook {
        let set = self.index(tiles);
        let (turns, losers) = self.bare[set];
        let mut outlook = Outlook { turns, losers };
        let mut fives = Subsets::of(set);
        while let Some(five) = fives.next() {
            let lose = self.five[five];
            if lose.is_finite() {
                let (turns, losers) = self.with_one(set & !five);
                outlook.least(turns + 1, losers + lose);
            }
        }
        outlook
    }

    /// The same with at most one five.
    fn with_one(&mut self, set: usize) -> (u8, f64) {
        if set.count_ones() < 5 {
            return self.bare[set];
        }
        if self.one[set].0 == 0 {
            let (turns, losers) = self.bare[set];
            let mut outlook = Outlook { turns, losers };
            let mut fives = Subsets::of(set);
            while let Some(five) = fives.next() {
                if self.five[five].is_finite() {
                    let (turns, losers) = self.bare[set & !five];
                    outlook.least(turns + 1, losers + self.five[five]);
                }
            }
            self.one[set] = (outlook.turns, outlook.losers);
        }
        self.one[set]
    }
}

/// The subsets of five of a set of at most 13.
struct Subsets {
    bits: [usize; 13],
    count: usize,
    /// Places of the next subset, ascending; past the end when done.
    at: [usize; 5],
}

impl Subsets {
    fn of(mut set: usize) -> Self {
        let (mut bits, mut count) = ([0; 13], 0);
        while set != 0 {
            bits[count] = set & set.wrapping_neg();
            set &= set - 1;
            count += 1;
        }
        Self { bits, count, at: [0, 1, 2, 3, 4] }
    }

    fn next(&mut self) -> Option<usize> {
        if self.at[4] >= self.count {
            return None;
        }
        let subset = self.at.iter().fold(0, |set, &place| set | self.bits[place]);
        // The last place that can still move on does, those behind it follow close.
        let mut moving = 4;
        while moving > 0 && self.at[moving] + 5 - moving >= self.count {
            moving -= 1;
        }
        self.at[moving] += 1;
        for place in moving + 1..5 {
            self.at[place] = self.at[place - 1] + 1;
        }
        Some(subset)
    }
}
