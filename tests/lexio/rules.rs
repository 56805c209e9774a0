//! Melds, Keys, answers, straights, settlements, the flow of tricks.

use std::collections::{BTreeMap, BTreeSet};

use crate::load::{cases, deck, ids, set, tiles};
use proptest::prelude::*;
use serde_json::Value;
use understudy::games::lexio::flow::{Claim, Flow};
use understudy::games::lexio::meld::{Meld, MeldKind};
use understudy::games::lexio::melds;
use understudy::games::lexio::rules::{Ruleset, Settle, TwoMult};
use understudy::games::lexio::tile::{Deck, Tile, TileSet};

const KINDS: [(MeldKind, &str); 8] = [
    (MeldKind::Single, "single"),
    (MeldKind::Pair, "pair"),
    (MeldKind::Triple, "triple"),
    (MeldKind::Straight, "straight"),
    (MeldKind::Flush, "flush"),
    (MeldKind::FullHouse, "full_house"),
    (MeldKind::FourPlusOne, "four_plus_one"),
    (MeldKind::StraightFlush, "straight_flush"),
];

fn all(hand: TileSet, deck: &Deck) -> Vec<Meld> {
    let mut found = Vec::new();
    melds::all(hand, deck, |meld| found.push(meld));
    found
}

/// Every choice of 1, 2, 3 or 5 tiles, classified one by one: the obvious way.
fn brute_force(hand: TileSet, deck: &Deck) -> Vec<Meld> {
    let held: Vec<Tile> = hand.into_iter().collect();
    (1u32..1 << held.len())
        .filter(|choice| matches!(choice.count_ones(), 1 | 2 | 3 | 5))
        .map(|choice| (0..held.len()).filter(|i| choice >> i & 1 == 1).map(|i| held[i]).collect::<TileSet>())
        .filter_map(|tiles| Meld::read(tiles, deck))
        .collect()
}

#[test]
fn hands_hold_the_golden_melds() {
    for case in cases("hands") {
        let found = all(set(&case["hand"]), deck(&case));
        for (kind, name) in KINDS {
            let of_kind: Vec<&Meld> = found.iter().filter(|meld| meld.kind() == kind).collect();
            let sets: BTreeSet<u64> = of_kind.iter().map(|meld| meld.tiles().bits()).collect();
            let keys: BTreeSet<u32> = of_kind.iter().map(|meld| meld.key().bits()).collect();
            assert_eq!(of_kind.len(), sets.len(), "each once");
            assert_eq!(sets.len() as u64, case["sets"][name].as_u64().unwrap(), "{name} of {case}");
            assert_eq!(keys.len() as u64, case["keys"][name].as_u64().unwrap(), "{name} of {case}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_generator_finds_what_brute_force_finds(seats in 3usize..=5, seed in any::<u64>(), size in 1usize..=11) {
        let deck = Deck::of(seats).unwrap();
        let mut rng = understudy::bot::Rng::new(seed);
        let mut from: Vec<Tile> = deck.tiles.into_iter().collect();
        rng.shuffle(&mut from);
        let hand: TileSet = from[..size].iter().copied().collect();
        let rest: TileSet = from[size..].iter().copied().collect();
        let (mut fast, mut slow) = (all(hand, deck), brute_force(hand, deck));
        fast.sort();
        slow.sort();
        prop_assert_eq!(&fast, &slow);
        for (a, b) in fast.iter().zip(&slow) {
            prop_assert_eq!((a.key(), a.kind()), (b.key(), b.kind()));
        }
        // The strongest meld of each size is the maximum of all; in a larger set too.
        for count in [1, 2, 3, 5] {
            let most = slow.iter().filter(|meld| meld.count() == count).map(Meld::key).max();
            prop_assert_eq!(melds::strongest(hand, deck, count).map(|meld| meld.key()), most);
            let most = all(rest, deck).iter().filter(|meld| meld.count() == count).map(Meld::key).max();
            prop_assert_eq!(melds::strongest(rest, deck, count).map(|meld| meld.key()), most);
        }
        // Answers are the melds of the same size with a higher Key.
        if let Some(table) = melds::strongest(rest, deck, 5).or_else(|| melds::strongest(rest, deck, 2)) {
            let mut answers = Vec::new();
            melds::answers(hand, deck, &table, |meld| answers.push(meld));
            answers.sort();
            let expected: Vec<Meld> = slow.iter().filter(|meld| meld.answers(&table)).copied().collect();
            prop_assert_eq!(answers, expected);
        }
    }
}

#[test]
fn comparisons_are_golden() {
    for case in cases("compare") {
        let deck = deck(&case);
        let read = |side: &str| Meld::read(set(&case[side]), deck);
        for side in ["a", "b"] {
            let meld = read(side);
            let key = meld.map(|meld| u64::from(meld.key().bits()));
            assert_eq!(key, case[format!("{side}_key")].as_u64(), "{case}");
            let name = meld.map(|meld| KINDS.iter().find(|(kind, _)| *kind == meld.kind()).unwrap().1);
            assert_eq!(name, case[format!("{side}_kind")].as_str(), "{case}");
        }
        let answers = |a: Option<Meld>, b: Option<Meld>| a.is_some_and(|a| b.is_some_and(|b| a.answers(&b)));
        assert_eq!(answers(read("b"), read("a")), case["b_answers_a"].as_bool().unwrap(), "{case}");
        assert_eq!(answers(read("a"), read("b")), case["a_answers_b"].as_bool().unwrap(), "{case}");
    }
}

#[test]
fn follows_are_golden() {
    for case in cases("follows") {
        let deck = deck(&case);
        let table = Meld::read(set(&case["table"]), deck).unwrap();
        let mut found = Vec::new();
        melds::answers(set(&case["hand"]), deck, &table, |meld| found.push(meld.tiles().bits()));
        found.sort_unstable();
        let mut legal: Vec<u64> = case["legal"].as_array().unwrap().iter().map(|tiles| set(tiles).bits()).collect();
        legal.sort_unstable();
        assert_eq!(found, legal, "{case}");
    }
}

#[test]
fn straights_are_golden() {
    for case in cases("straights") {
        let deck = deck(&case);
        // All clouds but the weakest tile, so that it is no straight flush.
        let read = |ranks: &Value| {
            let orders: Vec<u32> =
                ids(ranks).into_iter().map(|rank| if rank < 3 { rank + 12 } else { rank - 3 }).collect();
            let low = *orders.iter().min().unwrap();
            let tile = |order: &u32| Tile::new(order * 4 + u32::from(*order == low)).unwrap();
            Meld::read(orders.iter().map(tile).collect(), deck)
        };
        let straights: Vec<Meld> =
            case["strongest_first"].as_array().unwrap().iter().map(|ranks| read(ranks).expect("a straight")).collect();
        assert!(straights.windows(2).all(|pair| pair[0].answers(&pair[1])));
        let keys: Vec<u32> = straights.iter().map(|meld| meld.key().bits()).collect();
        assert_eq!(keys, ids(&case["keys_cloud_top"]));
        assert_eq!(straights.len(), deck.straights.len());
        for ranks in case["not_straights"].as_array().unwrap() {
            assert_eq!(read(ranks), None, "{ranks}");
        }
    }
}

/// Mistakes of public projects, spec section 8.
#[test]
fn known_mistakes_are_not_made() {
    let five = Deck::of(5).unwrap();
    let meld = |text: &str, deck: &Deck| Meld::read(tiles(text), deck).unwrap();
    let answers = |answer: &str, table: &str| meld(answer, five).answers(&meld(table, five));
    // 2 and 8: flushes compare all ranks from high to low, and only then the suit.
    assert!(!answers("S3 S5 S7 S9 S11", "C15 C14 C13 C12 C10"));
    assert!(!answers("S1 S8 S6 S5 S4", "M1 M9 M7 M5 M3"));
    // 14: every other tile is a kicker, and all of them are one Key; 777+88 is a full house.
    let hand = tiles("C7 T7 M7 S7 C8 T8 C9 C10 T11 M12 S13 C15");
    let fours: Vec<Meld> = all(hand, five).into_iter().filter(|m| m.kind() == MeldKind::FourPlusOne).collect();
    assert_eq!(fours.len(), 8);
    assert_eq!(fours.iter().map(|meld| meld.key()).collect::<BTreeSet<_>>().len(), 1);
    assert_eq!(meld("C7 T7 M7 C8 T8", five).kind(), MeldKind::FullHouse);
    // 18: a straight flush beats a four, a flush beats the best straight.
    assert!(answers("C3 C4 C5 C6 C7", "C2 T2 M2 S2 C9"));
    assert!(answers("C3 C4 C5 C6 C8", "C1 T2 M3 S4 C5"));
    // Ranks before the suit: 1-5 with the cloud 2 beats 2-6 with the sun 2, and that with the cloud 2 beats 12-1.
    assert!(answers("C1 C2 T3 T4 T5", "S2 M3 M4 M5 M6"));
    assert!(answers("C2 M3 M4 M5 M6", "T12 M13 M14 M15 S1"));
    // Part 1: only M5 and S5 answer a pair with the star 5.
    assert!(answers("M5 S5", "C5 T5"));
    // No four-tile meld; in a three-player deck 6-7-8-9-1 is a straight and no tile 10 exists.
    assert_eq!(Meld::read(tiles("C7 T7 M7 S7"), five), None);
    let three = Deck::of(3).unwrap();
    assert_eq!(meld("C6 T7 C8 C9 C1", three).kind(), MeldKind::Straight);
    assert_eq!(Meld::read(tiles("C10"), three), None);
}

/// Equal ranks: a straight flush stays a candidate beside its plain twins.
#[test]
fn the_plain_twin_of_a_straight_flush_survives() {
    let found = all(tiles("C3 C4 C5 C6 C7 T5"), Deck::of(5).unwrap());
    let kinds: BTreeMap<u64, MeldKind> = found.iter().map(|meld| (meld.tiles().bits(), meld.kind())).collect();
    assert_eq!(kinds[&tiles("C3 C4 C5 C6 C7").bits()], MeldKind::StraightFlush);
    assert_eq!(kinds[&tiles("C3 C4 T5 C6 C7").bits()], MeldKind::Straight);
    assert_eq!(found.len(), 6 + 1 + 2);
}

#[test]
fn four_of_a_kind_is_also_three_two_and_one() {
    let found = all(tiles("C7 T7 M7 S7 C4 T4"), Deck::of(5).unwrap());
    let count = |kind| found.iter().filter(|meld| meld.kind() == kind).count();
    assert_eq!(KINDS.map(|(kind, _)| count(kind)), [6, 7, 4, 0, 0, 4, 2, 0]);
}

#[test]
fn settlements_are_golden() {
    for case in cases("settlement") {
        let rules = Ruleset {
            two_mult: TwoMult::parse(case["two_mult"].as_str().unwrap()).unwrap(),
            settle: Settle::parse(case["settle"].as_str().unwrap()).unwrap(),
            ..Ruleset::default()
        };
        let counts: Vec<i32> = case["left"]
            .as_array()
            .unwrap()
            .iter()
            .map(|left| {
                let left = ids(left);
                rules.count_of(left[0], left[1])
            })
            .collect();
        let nets: Vec<i64> = (0..counts.len()).map(|me| i64::from(rules.net(&counts, me))).collect();
        let golden: Vec<i64> = case["net"].as_array().unwrap().iter().map(|net| net.as_i64().unwrap()).collect();
        assert_eq!(nets, golden, "{case}");
        assert_eq!(nets.iter().sum::<i64>(), 0);
    }
}

#[test]
fn tricks_flow_as_scripted() {
    for case in cases("flow") {
        let deck = deck(&case);
        let mut left = [0; 5];
        left.iter_mut().zip(ids(&case["tiles_left_before"])).for_each(|(to, from)| *to = from as u8);
        let mut flow = Flow::start(deck.seats, case["first"].as_u64().unwrap() as u8, left);
        for step in case["steps"].as_array().unwrap() {
            let claim = Claim {
                seat: step["seat"].as_u64().unwrap() as u32,
                trick: u32::from(flow.trick),
                pass: step["pass"].as_bool().unwrap_or(false),
                tiles: ids(&step["tiles"]),
            };
            let admitted = flow.admit(deck, &claim);
            if let Some(reason) = step["refused"].as_str() {
                assert_eq!(admitted.unwrap_err().code(), reason, "{step}");
                continue;
            }
            flow.apply(admitted.unwrap());
            let over = step["over"].as_bool().unwrap();
            assert_eq!(flow.winner().is_some(), over, "{step}");
            if !over {
                assert_eq!(u64::from(flow.to_act), step["to_act"].as_u64().unwrap(), "{step}");
                assert_eq!(u64::from(flow.passes), step["passes"].as_u64().unwrap(), "{step}");
                assert_eq!(u64::from(flow.trick), step["trick"].as_u64().unwrap(), "{step}");
                let table = flow.table.map(|meld| meld.tiles());
                assert_eq!(table, (!step["table"].is_null()).then(|| set(&step["table"])), "{step}");
                let owner = table.map(|_| u64::from(flow.owner));
                assert_eq!(owner, step["owner"].as_u64(), "{step}");
            }
        }
    }
}

/// Exact: P(a 12-of-60 hand holds a four) = 1.52062 %, by inclusion and exclusion over one, two and three fours.
#[test]
fn counting_facts_hold() {
    let choose = |n: u64, k: u64| (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64);
    let exact = (15.0 * choose(56, 8) - choose(15, 2) * choose(52, 4) + choose(15, 3)) / choose(60, 12);
    assert!((exact - 0.015_206_2).abs() < 1e-7, "{exact}");
    // Random deals against the spec's figures for five players, 4,000 hands: within four standard errors.
    let five = Deck::of(5).unwrap();
    let mut rng = understudy::bot::Rng::new(5);
    let mut deck: Vec<Tile> = five.tiles.into_iter().collect();
    let hands = 4_000;
    let (mut with_five, mut straights, mut keys) = (0, 0, 0);
    for _ in 0..hands {
        rng.shuffle(&mut deck);
        let found = all(deck[..12].iter().copied().collect(), five);
        with_five += u32::from(found.iter().any(|meld| meld.count() == 5));
        let of: Vec<&Meld> = found.iter().filter(|meld| meld.kind() == MeldKind::Straight).collect();
        straights += of.len();
        keys += of.iter().map(|meld| meld.key()).collect::<BTreeSet<_>>().len();
    }
    let share = f64::from(with_five) / f64::from(hands);
    assert!((share - 0.804).abs() < 0.025, "{share}");
    let per_key = straights as f64 / keys as f64;
    assert!((per_key - 2.24).abs() < 0.15, "{per_key}");
}
