//! The exact counts of every 7-card and 8-card hand, sampled; `cargo bench --bench hoola -- counts` enumerates them all.

use crate::data::{file, int, ints};
use serde_json::Value;
use understudy::bot::Rng;
use understudy::games::hoola::card::Cards;
use understudy::games::hoola::cover::left_over;
use understudy::games::hoola::meld::{RunWrap, completions, grouped, holds_group};
use understudy::games::hoola::state::deck;

const HANDS: u32 = 300_000;

/// Random hands of this size.
fn hands(size: usize) -> impl Iterator<Item = Cards> {
    let mut rng = Rng::new(size as u64).split("hands");
    let mut cards = deck();
    (0..HANDS).map(move |_| {
        rng.shuffle(&mut cards);
        cards[..size].iter().copied().collect()
    })
}

/// The sampled share is as near the exact one as such a sample is in all but one of 10,000 cases.
fn near(what: &str, sampled: u64, exact: f64, out_of: f64) {
    let (share, n) = (exact / out_of, f64::from(HANDS));
    let off = (sampled as f64 / n - share).abs();
    assert!(off <= 3.9 * (share * (1.0 - share) / n).sqrt() + 2.0 / n, "{what}: {sampled} of {HANDS} for {share}");
}

fn exact(value: &Value) -> f64 {
    int(value) as f64
}

const WRAPS: [(&str, RunWrap); 3] =
    [("RING", RunWrap::Ring), ("ACE_HIGH_OR_LOW", RunWrap::AceHighOrLow), ("ACE_LOW", RunWrap::AceLow)];

#[derive(Default)]
struct Found {
    sevens: [u64; 5],
    group: u64,
    run: u64,
    placed: u64,
    hoola: u64,
    set: u64,
    both: u64,
    registrable: u64,
    claims: u64,
}

fn count(size: usize, wrap: RunWrap) -> Found {
    let mut found = Found::default();
    for hand in hands(size) {
        let set = hand.meets(hand.tripled_ranks());
        let one_rank_at_a_time = hand & !hand.tripled_ranks();
        let run = [hand, one_rank_at_a_time].iter().any(|&cards| runs(cards, wrap));
        let group = holds_group(hand, wrap);
        assert_eq!(group, !grouped(hand, wrap).is_empty());
        assert_eq!(group, set || run);
        found.sevens[hand.sevens() as usize] += 1;
        found.group += u64::from(group);
        found.set += u64::from(set);
        found.run += u64::from(run);
        found.both += u64::from(set && run);
        found.registrable += u64::from(group || hand.sevens() > 0);
        let left = left_over(hand, Cards::NONE, false, wrap);
        found.placed += u64::from(left == 0);
        found.hoola += u64::from(left <= 1);
        found.claims += u64::from(completions(hand, wrap).len());
    }
    found
}

/// Whether three in line of one suit are held, found one card at a time.
fn runs(cards: Cards, wrap: RunWrap) -> bool {
    cards.iter().any(|low| {
        let next = |rank: u8| Cards::rank((rank - 1) % 13 + 1) & Cards::from_bits(0x1FFF << (13 * low.suit()));
        let top = match wrap {
            RunWrap::Ring => 15,
            RunWrap::AceHighOrLow => 14,
            RunWrap::AceLow => 13,
        };
        low.rank() + 2 <= top && cards.covers(next(low.rank() + 1) | next(low.rank() + 2))
    })
}

#[test]
fn seven_card_hands() {
    let counts = file("counts");
    let all = exact(&counts["hands7"]);
    for (key, wrap) in WRAPS {
        let found = count(7, wrap);
        near(key, found.group, exact(&counts["set_or_run7"][key]), all);
        near(key, found.run, exact(&counts["run7"][key]), all);
        near(key, found.placed, exact(&counts["all_placeable7"][key]), all);
        // Up to ten cards complete a hand, so the pairs vary more than hands do.
        let pairs = exact(&counts["claim_pairs"][key]) / all;
        let sampled = found.claims as f64 / f64::from(HANDS);
        assert!((sampled - pairs).abs() < 0.06, "{key}: {sampled} claims a hand for {pairs}");
        if wrap == RunWrap::Ring {
            for (sevens, exact) in found.sevens.iter().zip(ints(&counts["sevens7"])) {
                near("sevens", *sevens, exact as f64, all);
            }
            near("set", found.set, exact(&counts["set7"]), all);
            near("both", found.both, exact(&counts["set_and_run7_ring"]), all);
            near("registrable", found.registrable, exact(&counts["registrable7_ring"]), all);
        }
    }
}

#[test]
fn eight_card_hands() {
    let counts = file("counts");
    let all = exact(&counts["hands8"]);
    for (key, wrap) in WRAPS {
        let found = count(8, wrap);
        near(key, found.group, exact(&counts["set_or_run8"][key]), all);
        near(key, found.run, exact(&counts["run8"][key]), all);
        near(key, found.placed, exact(&counts["all_placeable8"][key]), all);
        near(key, found.hoola, exact(&counts["hoola_from_own_cards8"][key]), all);
        if wrap == RunWrap::Ring {
            near("registrable", found.registrable, exact(&counts["registrable8_ring"]), all);
        }
    }
}

#[test]
fn sums_of_seven_cards_mirror_each_other() {
    let counts = file("counts");
    let all = exact(&counts["hands7"]);
    let mut sums = [0u64; 99];
    hands(7).for_each(|hand| sums[hand.sum(7) as usize] += 1);
    let first = int(&counts["sum7"]["first"]) as usize;
    for (i, exact) in ints(&counts["sum7"]["count"]).into_iter().enumerate() {
        near("sum", sums[first + i], exact as f64, all);
        near("mirrored sum", sums[98 - first - i], exact as f64, all);
    }
}
