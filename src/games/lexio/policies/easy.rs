//! `easy`: no counting, no weighing. It leads the largest meld around its weakest tile and follows as cheaply as it
//! can. Part 1 of the series; the order below is total where the series leaves ties.

use std::cmp::Reverse;

use super::super::meld::{Meld, MeldKind};
use super::super::terms::{LexioTerm, LexioTerms};
use super::super::tile::{Deck, Tile, TileSet};
use super::super::view::View;
use super::super::{Lexio, Move, melds};
use crate::bot::policy::Heeds;
use crate::bot::{About, Evaluated, Evaluation, Game, Limits, Policy, PolicyKind, TermSet, Terms, Turn, Unit, Weights};

/// The policy `easy`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Easy;

const PREFERENCE: usize = LexioTerm::Preference as usize;

impl Policy<Lexio> for Easy {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Leads the largest meld around its weakest tile, follows as cheaply as possible, counts nothing.",
            kind: PolicyKind::Rules,
            anytime: false,
            uses_seed: false,
            default_limits: Limits::NONE,
            heeds: Heeds::default(),
            terms: TermSet::of(&[PREFERENCE]),
            aliases: &[],
            stages: &[],
        }
    }

    fn evaluate(&self, view: &View, _turn: &mut Turn<'_>) -> Evaluated<Lexio> {
        let lowest = view.table().is_none().then(|| view.hand().lowest()).flatten();
        let mut moves: Vec<_> = Lexio::legal(view).into_iter().map(|mv| (preference(&mv, lowest), mv)).collect();
        moves.sort_unstable();
        let weights = Weights::of(&[(PREFERENCE, 1.0)]);
        let count = moves.len() as u32;
        let row = |(i, (_, mv))| {
            let value = Unit::ratio(count - i as u32, count);
            Evaluation::weigh(mv, LexioTerms::default().with(PREFERENCE, value), &weights)
        };
        Evaluated::new(moves.into_iter().enumerate().map(row).collect())
    }

    fn shortcut(&self, view: &View, _turn: &mut Turn<'_>) -> Option<Move> {
        let table = view.table().map(|(_, meld)| meld);
        Some(easy_move(view.hand(), view.deck(), table).map_or(Move::Pass, Move::Play))
    }

    fn weights(&self) -> Vec<Weights<LexioTerms>> {
        vec![Weights::of(&[(PREFERENCE, 1.0)])]
    }
}

/// The order of preference, as far as it differs from that of the table, in which the pass comes last. `lowest` is the
/// weakest tile of a leader: melds with it come first, larger ones before smaller ones.
fn preference(mv: &Move, lowest: Option<Tile>) -> (bool, Reverse<u32>) {
    match (mv, lowest) {
        (Move::Play(meld), Some(lowest)) => (!meld.tiles().has(lowest), Reverse(meld.count())),
        _ => (false, Reverse(0)),
    }
}

/// The move of `easy` without its table: `None` is a pass. The hand must not be empty.
pub fn easy_move(hand: TileSet, deck: &Deck, table: Option<&Meld>) -> Option<Meld> {
    match table {
        None => hand.lowest().map(|lowest| lead(hand, deck, lowest)),
        Some(table) => follow(hand, deck, table),
    }
}

/// The largest meld that contains the weakest tile; among those of equal size the weakest.
fn lead(hand: TileSet, deck: &Deck, lowest: Tile) -> Meld {
    let mates = hand.rank(lowest.order());
    five_around(hand, deck, lowest, mates).unwrap_or_else(|| {
        let kind = match mates.len() {
            1 => MeldKind::Single,
            2 => MeldKind::Pair,
            _ => MeldKind::Triple,
        };
        Meld::same_rank(weakest(mates, kind.count()), kind)
    })
}

/// The weakest five-tile meld with the weakest tile of the hand, category by category.
fn five_around(hand: TileSet, deck: &Deck, lowest: Tile, mates: TileSet) -> Option<Meld> {
    if hand.len() < 5 {
        return None;
    }
    let lane = 1 << (4 * lowest.order());
    let with_lowest = hand.minus(mates).with(lowest);
    let straights = || deck.straights.iter().filter(move |straight| straight.lanes & lane != 0);
    let plain = straights().find_map(|straight| {
        let mut best = None;
        melds::of_straight(with_lowest, straight, &mut |meld| keep(&mut best, meld, MeldKind::Straight));
        best
    });
    plain
        .or_else(|| {
            let mut best = None;
            melds::flushes(hand.suit(lowest.suit()), deck, &mut |meld| {
                if meld.tiles().has(lowest) {
                    keep(&mut best, meld, MeldKind::Flush);
                }
            });
            best
        })
        .or_else(|| full_house_around(hand, mates))
        .or_else(|| {
            let four = if mates.len() == 4 { mates } else { lowest_of(hand, 2)? };
            let kicker = if mates.len() == 4 { hand.minus(mates).lowest()? } else { lowest };
            Some(Meld::same_rank(four.with(kicker), MeldKind::FourPlusOne))
        })
        .or_else(|| {
            straights().find_map(|straight| {
                let mut best = None;
                let suit = hand.suit(lowest.suit());
                melds::of_straight(suit, straight, &mut |meld| keep(&mut best, meld, MeldKind::StraightFlush));
                best
            })
        })
}

fn full_house_around(hand: TileSet, mates: TileSet) -> Option<Meld> {
    let others = hand.minus(mates);
    let (triple, pair) = match mates.len() {
        1 => return None,
        2 => (lowest_of(others, 1)?, mates),
        _ => (mates, lowest_of(others, 0)?),
    };
    Some(Meld::same_rank(weakest(triple, 3).or(weakest(pair, 2)), MeldKind::FullHouse))
}

/// The tiles of the weakest rank that is held at least `2 + index` times.
fn lowest_of(set: TileSet, index: usize) -> Option<TileSet> {
    let lanes = set.lanes_by_count()[index];
    (lanes != 0).then(|| set.rank((lanes.trailing_zeros() / 4) as u8))
}

/// The `count` weakest tiles of a set that has as many.
fn weakest(set: TileSet, count: u32) -> TileSet {
    let mut bits = set.bits();
    for _ in 0..count {
        bits &= bits - 1;
    }
    TileSet::from_bits(set.bits() & !bits)
}

fn keep(best: &mut Option<Meld>, meld: Meld, kind: MeldKind) {
    if meld.kind() == kind && best.is_none_or(|best| meld < best) {
        *best = Some(meld);
    }
}

/// The weakest meld that answers `table`.
fn follow(hand: TileSet, deck: &Deck, table: &Meld) -> Option<Meld> {
    match table.kind() {
        MeldKind::Single => {
            let tile = hand.above(table.tiles().lowest()?).lowest()?;
            Some(Meld::same_rank(TileSet::of(tile), MeldKind::Single))
        }
        MeldKind::Pair => weaker_pair(hand, table),
        // Two triples of one rank cannot meet, so only higher ranks answer.
        MeldKind::Triple => {
            let lanes = lanes_above(hand.lanes_by_count()[1], table.key().order());
            let mates = (lanes != 0).then(|| hand.rank((lanes.trailing_zeros() / 4) as u8))?;
            Some(Meld::same_rank(weakest(mates, 3), MeldKind::Triple))
        }
        _ if hand.len() < 5 => None,
        kind => (FIVES.into_iter().filter(|next| *next >= kind))
            .find_map(|next| weakest_five(hand, deck, next, (next == kind).then_some(table))),
    }
}

/// The weakest pair that answers: of the same rank if both tiles left of it are held and hold the better suit.
fn weaker_pair(hand: TileSet, table: &Meld) -> Option<Meld> {
    let order = table.key().order();
    let pairs = hand.lanes_by_count()[0];
    let same = hand.rank(order);
    if pairs >> (4 * order) & 1 == 1 && same.highest() > table.tiles().highest() {
        return Some(Meld::same_rank(same, MeldKind::Pair));
    }
    let lanes = lanes_above(pairs, order);
    let mates = (lanes != 0).then(|| hand.rank((lanes.trailing_zeros() / 4) as u8))?;
    Some(Meld::same_rank(weakest(mates, 2), MeldKind::Pair))
}

/// The ranks of `lanes` above `order`.
const fn lanes_above(lanes: u64, order: u8) -> u64 {
    lanes & (!1 << (4 * order))
}

const FIVES: [MeldKind; 5] =
    [MeldKind::Straight, MeldKind::Flush, MeldKind::FullHouse, MeldKind::FourPlusOne, MeldKind::StraightFlush];

/// The weakest five-tile meld of one category, above `table` if that is of the same.
fn weakest_five(hand: TileSet, deck: &Deck, kind: MeldKind, table: Option<&Meld>) -> Option<Meld> {
    let above = |lanes| table.map_or(lanes, |table| lanes_above(lanes, table.key().order()));
    let floor = table.map_or(0, |table| table.key().orders());
    let mut best = None;
    let mut check = |meld: Meld| {
        if table.is_none_or(|table| meld.key() > table.key()) {
            keep(&mut best, meld, kind);
        }
    };
    match kind {
        MeldKind::Straight | MeldKind::StraightFlush => {
            for straight in deck.straights.iter().filter(|straight| straight.orders >= floor) {
                melds::of_straight(hand, straight, &mut check);
            }
            best
        }
        MeldKind::Flush => {
            melds::flushes(hand, deck, &mut check);
            best
        }
        MeldKind::FullHouse => {
            let triples = above(hand.lanes_by_count()[1]);
            let mut found = None;
            melds::each_lane(triples, |order| {
                let triple = hand.rank(order);
                if found.is_none() {
                    let pair = lowest_of(hand.minus(triple), 0);
                    found = pair.map(|pair| {
                        Meld::same_rank(weakest(triple, 3).or(weakest(pair, 2)), MeldKind::FullHouse)
                    });
                }
            });
            found
        }
        _ => {
            let lanes = above(hand.lanes_by_count()[2]);
            let four = (lanes != 0).then(|| hand.rank((lanes.trailing_zeros() / 4) as u8))?;
            let kicker = hand.minus(four).lowest()?;
            Some(Meld::same_rank(four.with(kicker), MeldKind::FourPlusOne))
        }
    }
}
