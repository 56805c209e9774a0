//! Counting: what the others hold together, and what that proves.

use super::flow::SEATS;
use super::meld::{Key, Meld};
use super::melds;
use super::tile::{Deck, Tile, TileSet};
use super::view::View;

/// The union of the others' hands, and how many tiles each of them holds.
#[derive(Clone, Copy, Debug)]
pub struct Unseen {
    tiles: TileSet,
    deck: &'static Deck,
    counts: [u8; SEATS - 1],
    /// Strongest meld of 1, 2, 3 and 5 tiles inside it.
    best: [Option<Key>; 4],
}

/// Where melds of this many tiles stand in a list of the four sizes.
const fn place(count: u32) -> usize {
    match count {
        5 => 3,
        count => count as usize - 1,
    }
}

impl Unseen {
    /// What the owner of this view has not seen.
    pub fn of(view: &View) -> Self {
        let mut counts = [0; SEATS - 1];
        for (count, seat) in counts.iter_mut().zip(view.rivals()) {
            *count = view.counts()[usize::from(seat)];
        }
        Self::new(view.unseen(), view.deck(), counts)
    }

    /// These tiles in hands of these sizes; 0 where there are fewer rivals.
    pub fn new(tiles: TileSet, deck: &'static Deck, counts: [u8; SEATS - 1]) -> Self {
        let best = [1, 2, 3, 5].map(|count| melds::strongest(tiles, deck, count).map(|meld| meld.key()));
        Self { tiles, deck, counts, best }
    }

    /// The tiles.
    pub const fn tiles(&self) -> TileSet {
        self.tiles
    }

    /// The deck.
    pub const fn deck(&self) -> &'static Deck {
        self.deck
    }

    /// Tiles of each rival, in the order in which they act.
    pub fn counts(&self) -> &[u8] {
        &self.counts[..usize::from(self.deck.seats) - 1]
    }

    /// Tiles in the shortest of their hands.
    pub fn theirs(&self) -> u8 {
        self.counts().iter().copied().min().unwrap_or(0)
    }

    /// How many unseen tiles are stronger than `tile`.
    pub const fn above(&self, tile: Tile) -> u32 {
        self.tiles.above(tile).len()
    }

    /// Whether some meld of unseen tiles is stronger. Its pieces may sit in different hands.
    pub fn beats(&self, meld: &Meld) -> bool {
        self.best[place(meld.count())].is_some_and(|best| best > meld.key())
    }

    /// Whether nobody can answer this meld for certain: no hand has as many tiles, or no stronger meld is unseen. For
    /// singles exact, for larger melds sufficient.
    pub fn certain(&self, meld: &Meld) -> bool {
        !self.beats(meld) || self.counts().iter().all(|&count| u32::from(count) < meld.count())
    }
}
