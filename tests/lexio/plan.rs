//! The plan: fewest melds and fewest losers, against golden data and against the definition.

use std::collections::HashMap;

use crate::load::{cases, deck, set, tiles};
use proptest::prelude::*;
use understudy::bot::Rng;
use understudy::games::lexio::chances::Chances;
use understudy::games::lexio::meld::Meld;
use understudy::games::lexio::melds;
use understudy::games::lexio::plan::Plan;
use understudy::games::lexio::tile::{Deck, Tile, TileSet};
use understudy::games::lexio::unseen::Unseen;

/// Fewest melds that use up `hand`, by the definition: one meld around the lowest tile after the other.
fn fewest_melds(hand: TileSet, deck: &Deck, known: &mut HashMap<u64, u8>) -> u8 {
    let Some(lowest) = hand.lowest() else { return 0 };
    if let Some(&turns) = known.get(&hand.bits()) {
        return turns;
    }
    let mut around = Vec::new();
    melds::all(hand, deck, |meld| {
        if meld.tiles().has(lowest) {
            around.push(meld.tiles());
        }
    });
    let turns = around.into_iter().map(|meld| 1 + fewest_melds(hand.minus(meld), deck, known)).min().unwrap();
    known.insert(hand.bits(), turns);
    turns
}

/// Fewest losers by the definition: every choice of at most two disjoint fives, and the ranks of the rest.
fn fewest_losers(hand: TileSet, deck: &Deck, chances: &Chances) -> f64 {
    let mut fives: Vec<Meld> = Vec::new();
    melds::fives(hand, deck, &mut |meld| fives.push(meld));
    let ranks = |rest: TileSet| -> f64 {
        (0..15)
            .map(|order| {
                let held: Vec<Tile> = rest.rank(order).into_iter().collect();
                let lose = |part: &[Tile]| 1.0 - chances.same_rank(part.iter().copied().collect(), order);
                match held.len() {
                    0 => 0.0,
                    4 => lose(&held[..2]) + lose(&held[2..]),
                    _ => lose(&held),
                }
            })
            .sum()
    };
    let mut best = ranks(hand);
    for (i, a) in fives.iter().enumerate() {
        let rest = hand.minus(a.tiles());
        best = best.min(1.0 - chances.win(a) + ranks(rest));
        for b in fives[i + 1..].iter().filter(|b| b.tiles().within(rest)) {
            best = best.min(2.0 - chances.win(a) - chances.win(b) + ranks(rest.minus(b.tiles())));
        }
    }
    best
}

/// The rest of the deck, spread over the others.
fn against(hand: TileSet, deck: &'static Deck) -> Unseen {
    let rest = deck.tiles.minus(hand);
    let mut counts = [0; 4];
    for (i, _) in rest.into_iter().enumerate() {
        counts[i % (usize::from(deck.seats) - 1)] += 1;
    }
    Unseen::new(rest, deck, counts)
}

#[test]
fn turns_are_golden() {
    for case in cases("hands") {
        let (hand, deck) = (set(&case["hand"]), deck(&case));
        let plan = Plan::of(hand, &against(hand, deck));
        assert_eq!(u64::from(plan.whole().turns), case["min_plays"].as_u64().unwrap(), "{case}");
    }
}

fn check(hand: TileSet, deck: &'static Deck, rng: &mut Rng) {
    let unseen = against(hand, deck);
    let mut plan = Plan::of(hand, &unseen);
    let chances = Chances::of(&unseen, true);
    let mut known = HashMap::new();
    let mut found: Vec<TileSet> = vec![TileSet::EMPTY];
    melds::all(hand, deck, |meld| found.push(meld.tiles()));
    rng.shuffle(&mut found[1..]);
    for gone in found.into_iter().take(25) {
        let left = hand.minus(gone);
        let outlook = plan.without(gone);
        assert_eq!(outlook.turns, fewest_melds(left, deck, &mut known), "{hand} without {gone}");
        let losers = fewest_losers(left, deck, &chances);
        assert!((outlook.losers - losers).abs() < 1e-9, "{hand} without {gone}: {} {losers}", outlook.losers);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    #[test]
    fn plans_are_what_the_definition_says(seats in 3usize..=5, seed in any::<u64>(), size in 1usize..=13) {
        let deck = Deck::of(seats).unwrap();
        let mut rng = Rng::new(seed);
        let mut from: Vec<Tile> = deck.tiles.into_iter().collect();
        rng.shuffle(&mut from);
        check(from[..size.min(usize::from(deck.hand_size))].iter().copied().collect(), deck, &mut rng);
    }
}

/// Hands with very many fives, which are planned by subset: one suit, two suits, runs of pairs, fours.
#[test]
fn crowded_hands_are_planned_right() {
    for (seats, hand) in [
        (4, "S3 S4 S5 S6 S7 S8 S9 S10 S11 S12 S13 S1 S2"),
        (5, "C3 C4 C5 C6 C7 C8 C9 C10 C11 C12 C13 C14"),
        (3, "C3 T3 C4 T4 C5 T5 C6 T6 C7 T7 C8 T8"),
        (3, "C3 T3 M3 S3 C4 T4 M4 S4 C5 T5 M5 S5"),
        (4, "C3 C4 C5 C6 C7 C8 C9 T3 T4 T5 T6 T7 T8"),
        (3, "C5 T5 M5 C6 T6 M6 C7 T7 C8 M8 C9 T9"),
    ] {
        check(tiles(hand), Deck::of(seats).unwrap(), &mut Rng::new(3));
    }
}
