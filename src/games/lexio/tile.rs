//! Tiles and sets of tiles. A tile's id is its strength, a set is one integer, a rank is one nibble of it.

use std::cmp::Ordering;
use std::fmt;

/// One tile, 0..=59: `order * 4 + suit`. A larger id is a stronger tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile(u8);

/// Letters of the suits, weakest first: cloud, star, moon, sun.
const SUITS: [char; 4] = ['C', 'T', 'M', 'S'];

impl Tile {
    /// Cloud 3, the weakest tile: its holder leads the first trick.
    pub const C3: Self = Self(0);

    /// The tile with this id, if there is one.
    pub const fn new(id: u32) -> Option<Self> {
        if id < 60 { Some(Self(id as u8)) } else { None }
    }

    /// 0..=59.
    pub const fn id(self) -> u8 {
        self.0
    }

    /// Strength of its rank, 0..=14: ranks 3, 4, ... 15, 1, 2.
    pub const fn order(self) -> u8 {
        self.0 / 4
    }

    /// Cloud 0, star 1, moon 2, sun 3.
    pub const fn suit(self) -> u8 {
        self.0 % 4
    }

    /// The number printed on it, 1..=15.
    pub const fn rank(self) -> u8 {
        if self.order() <= 12 { self.order() + 3 } else { self.order() - 12 }
    }

    /// The tile that a text like `S2` or `C13` names.
    pub fn parse(text: &str) -> Option<Self> {
        let mut chars = text.chars();
        let letter = chars.next()?;
        let suit = SUITS.iter().position(|&s| s == letter)? as u32;
        let digits = chars.as_str();
        if digits.starts_with(['0', '+']) {
            return None;
        }
        let rank: u32 = digits.parse().ok()?;
        let order = match rank {
            1 | 2 => rank + 12,
            3..=15 => rank - 3,
            _ => return None,
        };
        Self::new(order * 4 + suit)
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", SUITS[self.suit() as usize], self.rank())
    }
}

/// A set of tiles: bit i is the tile with id i. Bits 60..64 stay clear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TileSet(u64);

/// One bit per rank: the lowest bit of each nibble. `0x0111_1111_1111_1111`.
const LANES: u64 = 0x0111_1111_1111_1111;

impl TileSet {
    /// No tile.
    pub const EMPTY: Self = Self(0);

    /// The set with these bits; those beyond the sixty tiles are dropped.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & ((1 << 60) - 1))
    }

    /// One tile.
    pub const fn of(tile: Tile) -> Self {
        Self(1 << tile.0)
    }

    /// The bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether `tile` is in it.
    pub const fn has(self, tile: Tile) -> bool {
        self.0 >> tile.0 & 1 == 1
    }

    /// The same and `tile`.
    #[must_use]
    pub const fn with(self, tile: Tile) -> Self {
        Self(self.0 | 1 << tile.0)
    }

    /// All tiles of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The tiles of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The tiles that are not in `other`.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether they share a tile.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every tile of it is in `other`.
    pub const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// How many tiles.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it holds none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its tiles as text, weakest first, with `gap` between them.
    pub fn joined(self, gap: char) -> String {
        // Letter, two digits and a gap at most.
        let mut text = String::with_capacity(4 * self.len() as usize);
        for tile in self {
            if !text.is_empty() {
                text.push(gap);
            }
            text.push(SUITS[tile.suit() as usize]);
            let rank = tile.rank();
            if rank >= 10 {
                text.push('1');
            }
            text.push((b'0' + rank % 10) as char);
        }
        text
    }

    /// The weakest tile.
    pub const fn lowest(self) -> Option<Tile> {
        if self.0 == 0 { None } else { Some(Tile(self.0.trailing_zeros() as u8)) }
    }

    /// The strongest tile.
    pub const fn highest(self) -> Option<Tile> {
        if self.0 == 0 { None } else { Some(Tile(63 - self.0.leading_zeros() as u8)) }
    }

    /// Its tiles stronger than `tile`.
    #[must_use]
    pub const fn above(self, tile: Tile) -> Self {
        Self(self.0 & (!1 << tile.0))
    }

    /// Its tiles weaker than `tile`.
    #[must_use]
    pub const fn below(self, tile: Tile) -> Self {
        Self(self.0 & ((1 << tile.0) - 1))
    }

    /// Its tiles of one rank, as that rank's nibble: bit s is suit s.
    pub const fn nibble(self, order: u8) -> usize {
        (self.0 >> (4 * order) & 15) as usize
    }

    /// Its tiles of one rank.
    #[must_use]
    pub const fn rank(self, order: u8) -> Self {
        Self(self.0 & (15 << (4 * order)))
    }

    /// Its tiles of one suit.
    #[must_use]
    pub const fn suit(self, suit: u8) -> Self {
        Self(self.0 & (LANES << suit))
    }

    /// The ranks it holds, one bit each at `4 * order`.
    pub const fn lanes(self) -> u64 {
        let pairs = self.0 | self.0 >> 1;
        (pairs | pairs >> 2) & LANES
    }

    /// The ranks it holds at least twice, at least three times and in full, as [`Self::lanes`].
    pub const fn lanes_by_count(self) -> [u64; 3] {
        // Counts per nibble: 0..=4 in three bits.
        let pairs = self.0 - (self.0 >> 1 & 0x5555_5555_5555_5555);
        let counts = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
        let four = counts >> 2 & LANES;
        let two = counts >> 1 & LANES;
        [two | four, (two & counts) | four, four]
    }

    /// Sum of the ids.
    pub fn id_sum(self) -> u32 {
        self.into_iter().map(|tile| u32::from(tile.0)).sum()
    }

    /// Order of the ascending id lists, as a dictionary has it.
    pub fn list_cmp(self, other: Self) -> Ordering {
        let differ = self.0 ^ other.0;
        if differ == 0 {
            return Ordering::Equal;
        }
        let first = 1 << differ.trailing_zeros();
        // The list that goes on with the first differing id is the smaller one, unless the other ends there.
        let (has, lacks, smaller) =
            if self.0 & first != 0 { (self.0, other.0, Ordering::Less) } else { (other.0, self.0, Ordering::Greater) };
        debug_assert!(has & first != 0);
        if lacks > first { smaller } else { smaller.reverse() }
    }
}

impl FromIterator<Tile> for TileSet {
    fn from_iter<I: IntoIterator<Item = Tile>>(tiles: I) -> Self {
        tiles.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl IntoIterator for TileSet {
    type Item = Tile;
    type IntoIter = Tiles;

    fn into_iter(self) -> Tiles {
        Tiles(self.0)
    }
}

/// The tiles of a set, weakest first.
#[derive(Clone, Debug)]
pub struct Tiles(u64);

impl Iterator for Tiles {
    type Item = Tile;

    fn next(&mut self) -> Option<Tile> {
        let tile = TileSet(self.0).lowest()?;
        self.0 &= self.0 - 1;
        Some(tile)
    }
}

impl fmt::Display for TileSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined(' '))
    }
}

/// Five ranks in a row that count as a straight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Straight {
    /// Its ranks, as [`TileSet::lanes`].
    pub lanes: u64,
    /// Their orders from high to low, four bits each: the Key's rank part.
    pub orders: u32,
    /// Order of its highest rank.
    pub top: u8,
}

impl Straight {
    const fn of(orders: [u8; 5]) -> Self {
        let mut straight = Self { lanes: 0, orders: 0, top: orders[0] };
        let mut i = 0;
        while i < 5 {
            straight.lanes |= 1 << (4 * orders[i]);
            straight.orders = straight.orders << 4 | orders[i] as u32;
            i += 1;
        }
        straight
    }

    /// The ranks a, a+1, ... a+4 that start at order `a`.
    const fn run(a: u8) -> Self {
        Self::of([a + 4, a + 3, a + 2, a + 1, a])
    }
}

/// The tiles that are in the game, by number of players.
#[derive(Debug, PartialEq, Eq)]
pub struct Deck {
    /// Players.
    pub seats: u8,
    /// Every tile. Ids keep the numbering of sixty tiles, so small decks have holes.
    pub tiles: TileSet,
    /// Tiles in a hand at the deal.
    pub hand_size: u8,
    /// Straights, weakest first.
    pub straights: &'static [Straight],
}

// Ranks s..=s+4 for s = 3.., then the wrap up to the 1, then 2-6, then 1-5. A 2 never stands above a 1.
const TWO_TO_SIX: Straight = Straight::of([14, 3, 2, 1, 0]);
const ONE_TO_FIVE: Straight = Straight::of([14, 13, 2, 1, 0]);

static DECK_3: Deck = Deck {
    seats: 3,
    tiles: TileSet(0x0FF0_0000_0FFF_FFFF),
    hand_size: 12,
    straights: &[
        Straight::run(0),
        Straight::run(1),
        Straight::run(2),
        Straight::of([13, 6, 5, 4, 3]),
        TWO_TO_SIX,
        ONE_TO_FIVE,
    ],
};

static DECK_4: Deck = Deck {
    seats: 4,
    tiles: TileSet(0x0FF0_0FFF_FFFF_FFFF),
    hand_size: 13,
    straights: &[
        Straight::run(0),
        Straight::run(1),
        Straight::run(2),
        Straight::run(3),
        Straight::run(4),
        Straight::run(5),
        Straight::run(6),
        Straight::of([13, 10, 9, 8, 7]),
        TWO_TO_SIX,
        ONE_TO_FIVE,
    ],
};

static DECK_5: Deck = Deck {
    seats: 5,
    tiles: TileSet(0x0FFF_FFFF_FFFF_FFFF),
    hand_size: 12,
    straights: &[
        Straight::run(0),
        Straight::run(1),
        Straight::run(2),
        Straight::run(3),
        Straight::run(4),
        Straight::run(5),
        Straight::run(6),
        Straight::run(7),
        Straight::run(8),
        Straight::run(9),
        TWO_TO_SIX,
        ONE_TO_FIVE,
    ],
};

impl Deck {
    /// The deck for so many players, if they can play.
    pub const fn of(seats: usize) -> Option<&'static Self> {
        match seats {
            3 => Some(&DECK_3),
            4 => Some(&DECK_4),
            5 => Some(&DECK_5),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tiles_are_named_by_suit_and_rank() {
        for (id, name) in [(0, "C3"), (5, "T4"), (51, "S15"), (52, "C1"), (54, "M1"), (59, "S2")] {
            let tile = Tile::new(id).unwrap();
            assert_eq!(tile.to_string(), name);
            assert_eq!(Tile::parse(name), Some(tile));
        }
        assert_eq!(Tile::new(60), None);
        for bad in ["", "C", "C0", "C16", "X3", "C03", "C+3", "3C", "C-3"] {
            assert_eq!(Tile::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn decks_hold_what_the_table_says() {
        for (seats, tiles, hand, straights, missing) in [(3, 36, 12, 6, 24), (4, 52, 13, 10, 8), (5, 60, 12, 12, 0)] {
            let deck = Deck::of(seats).unwrap();
            assert_eq!(deck.tiles.len(), tiles);
            assert_eq!(u32::from(deck.hand_size) * seats as u32, tiles);
            assert_eq!(deck.hand_size, hand);
            assert_eq!(deck.straights.len(), straights);
            assert_eq!(60 - deck.tiles.len(), missing);
            assert!(deck.straights.windows(2).all(|pair| pair[0].orders < pair[1].orders), "weakest first");
            assert!(deck.straights.iter().all(|s| s.lanes & !deck.tiles.lanes() == 0), "ranks that exist");
        }
        assert!(Deck::of(2).is_none() && Deck::of(6).is_none());
    }

    proptest! {
        #[test]
        fn sets_agree_with_lists(a in any::<u64>(), b in any::<u64>()) {
            let (a, b) = (TileSet::from_bits(a & a.rotate_left(13)), TileSet::from_bits(b & a));
            let list = |set: TileSet| set.into_iter().collect::<Vec<_>>();
            prop_assert_eq!(a.list_cmp(b), list(a).cmp(&list(b)));
            prop_assert_eq!(a.id_sum(), list(a).iter().map(|t| u32::from(t.id())).sum::<u32>());
            prop_assert_eq!((a.lowest(), a.highest()), (list(a).first().copied(), list(a).last().copied()));
            let [two, three, four] = a.lanes_by_count();
            for order in 0..15 {
                let held = a.rank(order).len();
                let bit = |lanes: u64| lanes >> (4 * order) & 1 == 1;
                prop_assert_eq!(
                    [bit(a.lanes()), bit(two), bit(three), bit(four)],
                    [held >= 1, held >= 2, held >= 3, held >= 4]
                );
                prop_assert_eq!(a.nibble(order).count_ones(), held);
            }
            if let Some(tile) = b.highest() {
                prop_assert_eq!(list(a.above(tile)), list(a).into_iter().filter(|t| *t > tile).collect::<Vec<_>>());
                prop_assert_eq!(list(a.below(tile)), list(a).into_iter().filter(|t| *t < tile).collect::<Vec<_>>());
            }
        }
    }
}
