//! How much of a hand can be laid: covering it with groups.

use std::sync::LazyLock;

use super::card::{Card, Cards};
use super::meld::{RunWrap, completions, each_group, grouped};

/// The groups that contain a card, by card: SETs, RUNs of 3 to 5 (longer ones split), and what a lone 7 starts: the 7,
/// and the 7 with its 6 or its 8 laid off on it.
struct Groups([Vec<Cards>; 52]);

/// RUNs longer than this are two RUNs to a covering.
const LONGEST: u32 = 5;

impl Groups {
    fn new(wrap: RunWrap) -> Self {
        let mut by_card: [Vec<Cards>; 52] = std::array::from_fn(|_| Vec::new());
        let mut add = |group: Cards| group.iter().for_each(|card| by_card[usize::from(card.id())].push(group));
        each_group(Cards::ALL, wrap, |group| {
            if group.len() <= LONGEST {
                add(group);
            }
        });
        for seven in Cards::SEVENS.iter().map(Cards::of) {
            add(seven);
            add(seven | seven.down());
            add(seven | seven.up());
        }
        Self(by_card)
    }

    fn with(&self, card: Card) -> &[Cards] {
        &self.0[usize::from(card.id())]
    }

    /// Most cards of `wanted` that disjoint groups within `pool` can hold.
    fn most(&self, pool: Cards, wanted: Cards) -> u32 {
        let Some(card) = wanted.first() else { return 0 };
        let all = wanted.len();
        let mut most = 0;
        for &group in self.with(card) {
            if !pool.covers(group) {
                continue;
            }
            most = most.max((group & wanted).len() + self.most(pool - group, wanted - group));
            if most == all {
                return most;
            }
        }
        // Without this card, one less is the best there can be.
        if most + 1 < all {
            most = most.max(self.most(pool.without(card), wanted.without(card)));
        }
        most
    }
}

fn groups(wrap: RunWrap) -> &'static Groups {
    static RING: LazyLock<Groups> = LazyLock::new(|| Groups::new(RunWrap::Ring));
    static HIGH_OR_LOW: LazyLock<Groups> = LazyLock::new(|| Groups::new(RunWrap::AceHighOrLow));
    static LOW: LazyLock<Groups> = LazyLock::new(|| Groups::new(RunWrap::AceLow));
    match wrap {
        RunWrap::Ring => &RING,
        RunWrap::AceHighOrLow => &HIGH_OR_LOW,
        RunWrap::AceLow => &LOW,
    }
}

/// The cards of the hand that some group within it holds.
fn layable(hand: Cards, wrap: RunWrap) -> Cards {
    let sevens = hand & Cards::SEVENS;
    grouped(hand, wrap) | sevens | (hand & (sevens.up() | sevens.down()))
}

/// Cards left over when as many as possible are laid: groups, and single cards that fit the table once the seat is
/// registered or one of the groups registers it.
pub fn left_over(hand: Cards, fits: Cards, registered: bool, wrap: RunWrap) -> u32 {
    let pool = layable(hand, wrap);
    if pool.is_empty() && !registered {
        return hand.len();
    }
    let wanted = hand - fits;
    if pool.is_empty() {
        return wanted.len();
    }
    wanted.len() - groups(wrap).most(pool, wanted & pool)
}

/// How far the hand is from being laid whole, one card left free: the cheapest split into groups, where a pair that one
/// of the `unseen` cards would complete costs 1 and single cards cost 2 or more. Capped at 2, which stands for farther.
pub fn distance(hand: Cards, fits: Cards, registered: bool, unseen: Cards, wrap: RunWrap) -> u32 {
    if left_over(hand, fits, registered, wrap) <= 1 {
        return 0;
    }
    let pool = layable(hand, wrap);
    let lone = if registered || !pool.is_empty() { hand - fits - pool } else { hand };
    // A pair takes at most two of the cards that no group holds, and one more is free.
    if lone.len() > 3 {
        return 2;
    }
    for low in hand.iter() {
        let one = Cards::of(low);
        let near = one.up() | one.up().up() | one.down() | one.down().down() | Cards::rank(low.rank());
        for high in (hand & near).iter().filter(|&high| high > low) {
            let pair = one.with(high);
            let left = (lone - pair).len();
            if left <= 1
                && completions(pair, wrap).meets(unseen)
                && left_over(hand - pair, fits, registered, wrap) <= 1
            {
                return 1;
            }
        }
    }
    2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::hoola::meld::new_kind;
    use proptest::prelude::*;

    /// Every split of the hand into parts, the plain way: the cost of the cheapest, one single card free.
    fn cheapest(hand: Cards, fits: Cards, registered: bool, unseen: Cards, wrap: RunWrap) -> u32 {
        fn splits(hand: Cards, parts: &mut Vec<Cards>, seen: &mut impl FnMut(&[Cards])) {
            let Some(first) = hand.first() else { return seen(parts) };
            let rest: Vec<Card> = hand.without(first).iter().collect();
            for bits in 0u32..1 << rest.len() {
                let with = rest.iter().enumerate().filter(|&(i, _)| bits >> i & 1 == 1).map(|(_, &card)| card);
                let part = with.fold(Cards::of(first), Cards::with);
                parts.push(part);
                splits(hand - part, parts, seen);
                parts.pop();
            }
        }
        let registers = |part: Cards| {
            let chain = part.len() == 2 && part.meets(Cards::SEVENS) && (part & part.up()).is_single();
            new_kind(part, wrap).is_some() || chain
        };
        let mut best = u32::MAX;
        splits(hand, &mut Vec::new(), &mut |parts| {
            let on_table = registered || parts.iter().any(|&part| registers(part));
            let mut free = 0;
            let mut total = 0;
            for &part in parts {
                let short = part.len() == 2 && completions(part, wrap).meets(unseen);
                let two_more = || {
                    let cards: Vec<Card> = unseen.iter().collect();
                    let pairs = cards.iter().flat_map(|&a| cards.iter().map(move |&b| (a, b)));
                    pairs.into_iter().any(|(a, b)| a < b && new_kind(part.with(a).with(b), wrap).is_some())
                };
                let cost = if registers(part) || part.is_single() && fits.covers(part) && on_table {
                    0
                } else if short {
                    1
                } else if part.is_single() {
                    if two_more() { 2 } else { 3 }
                } else {
                    return;
                };
                if part.is_single() {
                    free = free.max(cost);
                }
                total += cost;
            }
            best = best.min(total - free);
        });
        best
    }

    /// Small hands close together, so that groups are common.
    fn hand() -> impl Strategy<Value = Cards> {
        proptest::collection::vec((0u32..4, 4u32..10), 2..=6)
            .prop_map(|cards| cards.into_iter().filter_map(|(suit, rank)| Card::new(suit * 13 + rank)).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn the_distance_is_that_of_the_cheapest_split(
            hand in hand(), fits in 0u64..1 << 52, unseen in 0u64..1 << 52, sparse in any::<u64>(), registered: bool,
        ) {
            let unseen = Cards::from_bits(unseen & sparse) - hand;
            let fits = Cards::from_bits(fits & sparse.rotate_left(13));
            for wrap in [RunWrap::Ring, RunWrap::AceHighOrLow, RunWrap::AceLow] {
                let expected = cheapest(hand, fits, registered, unseen, wrap).min(2);
                prop_assert_eq!(distance(hand, fits, registered, unseen, wrap), expected);
                prop_assert_eq!(left_over(hand, fits, registered, wrap) <= 1, expected == 0);
            }
        }
    }
}
