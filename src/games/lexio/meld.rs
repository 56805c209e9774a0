//! Melds: what may be laid down together, and the Key that compares them.

use std::cmp::Ordering;

use super::tile::{Deck, Straight, TileSet};

/// The shape of a meld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MeldKind {
    /// One tile (싱글).
    Single,
    /// Two of a rank (페어).
    Pair,
    /// Three of a rank (트리플).
    Triple,
    /// Five ranks in a row (스트레이트).
    Straight,
    /// Five of a suit (플러시).
    Flush,
    /// Three of a rank and two of another (풀하우스).
    FullHouse,
    /// Four of a rank and any fifth tile (포카드+1).
    FourPlusOne,
    /// A straight of one suit (스트레이트 플러시).
    StraightFlush,
}

impl MeldKind {
    /// Tiles in such a meld.
    pub const fn count(self) -> u32 {
        match self {
            Self::Single => 1,
            Self::Pair => 2,
            Self::Triple => 3,
            _ => 5,
        }
    }

    /// Place among the five-tile melds, weakest 0; 0 for smaller melds, which meet only their like.
    const fn category(self) -> u32 {
        match self {
            Self::Single | Self::Pair | Self::Triple | Self::Straight => 0,
            Self::Flush => 1,
            Self::FullHouse => 2,
            Self::FourPlusOne => 3,
            Self::StraightFlush => 4,
        }
    }
}

/// Strength of a meld among those of the same number of tiles:
/// `category << 22 | five 4-bit orders, left-aligned, << 2 | suit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u32);

impl Key {
    /// A Key whose rank part is one order.
    const fn ranked(kind: MeldKind, order: u8, suit: u8) -> Self {
        Self(kind.category() << 22 | (order as u32) << 18 | suit as u32)
    }

    /// A Key whose rank part is five orders from high to low.
    const fn listed(kind: MeldKind, orders: u32, suit: u8) -> Self {
        Self(kind.category() << 22 | orders << 2 | suit as u32)
    }

    /// The Key of a full house, four or flush as far as its first order says: enough to estimate its chances.
    pub(super) const fn of_order(kind: MeldKind, order: u8) -> Self {
        Self::ranked(kind, order, 0)
    }

    /// The weakest Key of a straight.
    pub(super) const fn of_straight(straight: &Straight) -> Self {
        Self::listed(MeldKind::Straight, straight.orders, 0)
    }

    /// The 25 bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The highest order of its rank part, 0..=14.
    pub const fn order(self) -> u8 {
        (self.0 >> 18 & 15) as u8
    }

    /// The whole rank part.
    pub const fn orders(self) -> u32 {
        self.0 >> 2 & 0xF_FFFF
    }
}

/// Tiles that may be laid down together, with their shape and strength.
#[derive(Clone, Copy, Debug)]
pub struct Meld {
    tiles: TileSet,
    key: Key,
    kind: MeldKind,
}

impl Meld {
    /// What these tiles are, if they are a meld in this deck. Straight flush comes before flush and straight.
    pub fn read(tiles: TileSet, deck: &Deck) -> Option<Self> {
        let lanes = tiles.lanes();
        if !tiles.within(deck.tiles) {
            return None;
        }
        let kind = match (tiles.len(), lanes.count_ones()) {
            (1, 1) => MeldKind::Single,
            (2, 1) => MeldKind::Pair,
            (3, 1) => MeldKind::Triple,
            (5, 2) if tiles.lanes_by_count()[2] != 0 => MeldKind::FourPlusOne,
            (5, 2) => MeldKind::FullHouse,
            (5, 5) => return Self::read_five_ranks(tiles, deck),
            _ => return None,
        };
        Some(Self::same_rank(tiles, kind))
    }

    fn read_five_ranks(tiles: TileSet, deck: &Deck) -> Option<Self> {
        let flush = (0..4).any(|suit| tiles.within(tiles.suit(suit)));
        match deck.straights.iter().find(|straight| straight.lanes == tiles.lanes()) {
            Some(straight) => Some(Self::straight(tiles, straight)),
            None if flush => Some(Self::flush(tiles)),
            None => None,
        }
    }

    /// A meld that is ranked by its largest group of equal ranks.
    pub(super) fn same_rank(tiles: TileSet, kind: MeldKind) -> Self {
        let group = match kind {
            MeldKind::FullHouse => tiles.lanes_by_count()[1],
            MeldKind::FourPlusOne => tiles.lanes_by_count()[2],
            _ => tiles.lanes(),
        };
        let order = (group.trailing_zeros() / 4) as u8;
        let top = tiles.rank(order).highest().expect("a meld holds its own rank; this is a bug of Meld");
        Self { tiles, key: Key::ranked(kind, order, top.suit()), kind }
    }

    /// Five tiles with the ranks of `straight`.
    pub(super) fn straight(tiles: TileSet, straight: &Straight) -> Self {
        let top = tiles.highest().expect("a straight holds five tiles; this is a bug of Meld").suit();
        let kind = if tiles.within(tiles.suit(top)) { MeldKind::StraightFlush } else { MeldKind::Straight };
        Self { tiles, key: Key::listed(kind, straight.orders, top), kind }
    }

    /// Five tiles of one suit that are no straight.
    pub(super) fn flush(tiles: TileSet) -> Self {
        let (mut orders, mut suit) = (0, 0);
        for (i, tile) in tiles.into_iter().enumerate() {
            orders |= u32::from(tile.order()) << (4 * i);
            suit = tile.suit();
        }
        Self { tiles, key: Key::listed(MeldKind::Flush, orders, suit), kind: MeldKind::Flush }
    }

    /// Its tiles.
    pub const fn tiles(&self) -> TileSet {
        self.tiles
    }

    /// How many tiles: 1, 2, 3 or 5.
    pub const fn count(&self) -> u32 {
        self.kind.count()
    }

    /// Its strength.
    pub const fn key(&self) -> Key {
        self.key
    }

    /// Its shape.
    pub const fn kind(&self) -> MeldKind {
        self.kind
    }

    /// Whether it may be played on `table`: as many tiles, and stronger.
    pub fn answers(&self, table: &Self) -> bool {
        self.count() == table.count() && self.key > table.key
    }
}

impl PartialEq for Meld {
    fn eq(&self, other: &Self) -> bool {
        self.tiles == other.tiles
    }
}

impl Eq for Meld {}

impl PartialOrd for Meld {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of the table, spec section 4: smaller Key, smaller id sum, smaller ascending id list.
impl Ord for Meld {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.tiles == other.tiles {
            return Ordering::Equal;
        }
        (self.key.cmp(&other.key))
            .then_with(|| self.tiles.id_sum().cmp(&other.tiles.id_sum()))
            .then_with(|| self.tiles.list_cmp(other.tiles))
    }
}
