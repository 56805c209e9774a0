//! Every meld that a set of tiles holds: all tile sets, not one per Key, because the kicker of a four, the pair of a
//! full house and the inside of a straight are a choice of the policy.

use super::meld::{Meld, MeldKind};
use super::tile::{Deck, Straight, Tile, TileSet};

/// Every meld in `hand`, each once.
pub fn all(hand: TileSet, deck: &Deck, mut found: impl FnMut(Meld)) {
    small(hand, 1, &mut found);
    small(hand, 2, &mut found);
    small(hand, 3, &mut found);
    fives(hand, deck, &mut found);
}

/// Every meld in `hand` that answers `table`.
pub fn answers(hand: TileSet, deck: &Deck, table: &Meld, mut found: impl FnMut(Meld)) {
    let mut check = |meld: Meld| {
        if meld.key() > table.key() {
            found(meld);
        }
    };
    match table.count() {
        5 => fives(hand, deck, &mut check),
        count => small(hand, count, &mut check),
    }
}

/// Every single, pair or triple in `hand`.
pub fn small(hand: TileSet, count: u32, found: &mut impl FnMut(Meld)) {
    let (kind, mut lanes) = match count {
        1 => (MeldKind::Single, hand.lanes()),
        2 => (MeldKind::Pair, hand.lanes_by_count()[0]),
        _ => (MeldKind::Triple, hand.lanes_by_count()[1]),
    };
    while lanes != 0 {
        let order = (lanes.trailing_zeros() / 4) as u8;
        lanes &= lanes - 1;
        choose(hand.rank(order), kind.count(), TileSet::EMPTY, &mut |tiles| found(Meld::same_rank(tiles, kind)));
    }
}

/// Every five-tile meld in `hand`, weakest category first except that straight flushes come among the straights.
pub fn fives(hand: TileSet, deck: &Deck, found: &mut impl FnMut(Meld)) {
    if hand.len() < 5 {
        return;
    }
    straights(hand, deck, found);
    flushes(hand, deck, found);
    full_houses(hand, found);
    fours(hand, found);
}

/// Straights and straight flushes, by rank sets, weakest first.
pub fn straights(hand: TileSet, deck: &Deck, found: &mut impl FnMut(Meld)) {
    for straight in deck.straights {
        of_straight(hand, straight, found);
    }
}

/// Straights and straight flushes with these ranks.
pub fn of_straight(hand: TileSet, straight: &Straight, found: &mut impl FnMut(Meld)) {
    if hand.lanes() & straight.lanes == straight.lanes {
        one_a_rank(hand, straight.lanes, TileSet::EMPTY, &mut |tiles| found(Meld::straight(tiles, straight)));
    }
}

/// Flushes that are no straights.
pub fn flushes(hand: TileSet, deck: &Deck, found: &mut impl FnMut(Meld)) {
    for suit in 0..4 {
        let held = hand.suit(suit);
        if held.len() >= 5 {
            choose(held, 5, TileSet::EMPTY, &mut |tiles| {
                let lanes = tiles.lanes();
                if deck.straights.iter().all(|straight| straight.lanes != lanes) {
                    found(Meld::flush(tiles));
                }
            });
        }
    }
}

/// Full houses: every triple with every pair of another rank.
pub fn full_houses(hand: TileSet, found: &mut impl FnMut(Meld)) {
    let [pairs, triples, _] = hand.lanes_by_count();
    each_lane(triples, |three| {
        choose(hand.rank(three), 3, TileSet::EMPTY, &mut |triple| {
            each_lane(pairs & !(1 << (4 * three)), |two| {
                choose(hand.rank(two), 2, triple, &mut |tiles| {
                    found(Meld::same_rank(tiles, MeldKind::FullHouse));
                });
            });
        });
    });
}

/// Four of a rank with every other tile of the hand.
pub fn fours(hand: TileSet, found: &mut impl FnMut(Meld)) {
    each_lane(hand.lanes_by_count()[2], |order| {
        let four = hand.rank(order);
        for kicker in hand.minus(four) {
            found(Meld::same_rank(four.with(kicker), MeldKind::FourPlusOne));
        }
    });
}

/// Calls `visit` with the order of every rank in `lanes`, weakest first.
pub fn each_lane(mut lanes: u64, mut visit: impl FnMut(u8)) {
    while lanes != 0 {
        visit((lanes.trailing_zeros() / 4) as u8);
        lanes &= lanes - 1;
    }
}

/// Every choice of `count` tiles of `from`, each joined to `chosen`.
fn choose(from: TileSet, count: u32, chosen: TileSet, visit: &mut dyn FnMut(TileSet)) {
    if from.len() == count {
        return visit(chosen.or(from));
    }
    for tile in from {
        let with = chosen.with(tile);
        if count == 1 {
            visit(with);
        } else if from.above(tile).len() >= count - 1 {
            choose(from.above(tile), count - 1, with, visit);
        }
    }
}

/// Every choice of one tile in each rank of `lanes`, joined to `chosen`.
fn one_a_rank(hand: TileSet, lanes: u64, chosen: TileSet, visit: &mut dyn FnMut(TileSet)) {
    if lanes == 0 {
        return visit(chosen);
    }
    let order = (lanes.trailing_zeros() / 4) as u8;
    for tile in hand.rank(order) {
        one_a_rank(hand, lanes & (lanes - 1), chosen.with(tile), visit);
    }
}

/// The strongest meld of `count` tiles inside `set`; `None` when it holds none.
pub fn strongest(set: TileSet, deck: &Deck, count: u32) -> Option<Meld> {
    match count {
        1 => set.highest().map(|tile| Meld::same_rank(TileSet::of(tile), MeldKind::Single)),
        2 => top_group(set, set.lanes_by_count()[0], MeldKind::Pair),
        3 => top_group(set, set.lanes_by_count()[1], MeldKind::Triple),
        _ => strongest_five(set, deck),
    }
}

/// The highest tiles of the highest rank in `lanes`.
fn top_group(set: TileSet, lanes: u64, kind: MeldKind) -> Option<Meld> {
    let order = top_lane(lanes)?;
    Some(Meld::same_rank(top(set.rank(order), kind.count()), kind))
}

/// Order of the highest rank in `lanes`.
const fn top_lane(lanes: u64) -> Option<u8> {
    if lanes == 0 { None } else { Some((63 - lanes.leading_zeros()) as u8 / 4) }
}

/// The `count` strongest tiles of a set that has as many.
fn top(set: TileSet, count: u32) -> TileSet {
    (count..set.len()).fold(set, |kept, _| kept.lowest().map_or(kept, |tile: Tile| kept.minus(TileSet::of(tile))))
}

fn strongest_five(set: TileSet, deck: &Deck) -> Option<Meld> {
    strongest_straight_flush(set, deck)
        .or_else(|| strongest_four(set))
        .or_else(|| strongest_full_house(set))
        .or_else(|| (0..4).filter_map(|suit| strongest_flush(set.suit(suit))).max())
        .or_else(|| strongest_straight(set, deck))
}

fn strongest_straight_flush(set: TileSet, deck: &Deck) -> Option<Meld> {
    let suits = [set.suit(0), set.suit(1), set.suit(2), set.suit(3)];
    if suits.iter().all(|suit| suit.len() < 5) {
        return None;
    }
    deck.straights.iter().rev().find_map(|straight| {
        suits.iter().rev().find(|suit| suit.lanes() & straight.lanes == straight.lanes).map(|suit| {
            let tiles = TileSet::from_bits(suit.bits() & (straight.lanes * 15));
            Meld::straight(tiles, straight)
        })
    })
}

fn strongest_four(set: TileSet) -> Option<Meld> {
    let four = set.rank(top_lane(set.lanes_by_count()[2])?);
    let kicker = set.minus(four).lowest()?;
    Some(Meld::same_rank(four.with(kicker), MeldKind::FourPlusOne))
}

fn strongest_full_house(set: TileSet) -> Option<Meld> {
    let [pairs, triples, _] = set.lanes_by_count();
    let three = top_lane(triples)?;
    let two = top_lane(pairs & !(1 << (4 * three)))?;
    Some(Meld::same_rank(top(set.rank(three), 3).or(top(set.rank(two), 2)), MeldKind::FullHouse))
}

/// Only asked when there is no straight flush, so the five highest are a flush.
fn strongest_flush(suit: TileSet) -> Option<Meld> {
    (suit.len() >= 5).then(|| Meld::flush(top(suit, 5)))
}

fn strongest_straight(set: TileSet, deck: &Deck) -> Option<Meld> {
    let lanes = set.lanes();
    let straight = deck.straights.iter().rev().find(|straight| lanes & straight.lanes == straight.lanes)?;
    // No straight flush exists, so the best suit on top with anything below is a plain straight.
    let mut tiles = TileSet::EMPTY;
    each_lane(straight.lanes, |order| tiles = tiles.or(top(set.rank(order), 1)));
    Some(Meld::straight(tiles, straight))
}
