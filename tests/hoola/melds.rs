//! What is a meld, under each wrap convention.

use crate::data::{cards, file, int, list};
use serde_json::Value;
use understudy::games::hoola::card::{Card, Cards};
use understudy::games::hoola::meld::{MeldKind, RunWrap, each_group, fits, in_order, lay_off, new_kind, table_kind};

const WRAPS: [(&str, RunWrap); 3] =
    [("RING", RunWrap::Ring), ("ACE_HIGH_OR_LOW", RunWrap::AceHighOrLow), ("ACE_LOW", RunWrap::AceLow)];

fn name(kind: Option<MeldKind>) -> Value {
    match kind {
        None => Value::Null,
        Some(MeldKind::Set) => "SET".into(),
        Some(MeldKind::Run) => "RUN".into(),
        Some(MeldKind::Seven) => "SEVEN".into(),
    }
}

#[test]
fn classes_from_the_hand_and_on_the_table() {
    for case in list(&file("melds"), "cases") {
        let set = cards(&case["cards"]);
        assert_eq!(i64::from(set.sum(7)), int(&case["value"]), "{case}");
        for (key, wrap) in WRAPS {
            let found = [name(new_kind(set, wrap)), name(table_kind(set, wrap))];
            assert_eq!(Value::from(found.to_vec()), case[key], "{key} {case}");
        }
    }
}

#[test]
fn single_lay_offs() {
    for case in list(&file("melds"), "layoffs") {
        let (meld, add) = (cards(&case["cards"]), cards(&case["add"]));
        for (key, wrap) in WRAPS {
            let before = table_kind(meld, wrap);
            let after = before.and_then(|kind| lay_off(kind, meld, add, wrap));
            assert_eq!(Value::from(vec![name(before), name(after)]), case[key], "{key} {case}");
        }
    }
}

/// Every set of cards that may lie on the table, found by trying every line and every part of a rank.
fn every_table_meld(wrap: RunWrap) -> Vec<(MeldKind, Cards)> {
    let mut all = Vec::new();
    for bits in 0u64..1 << 13 {
        for suit in 0..4 {
            let cards = Cards::from_bits(bits << (13 * suit));
            all.extend(table_kind(cards, wrap).map(|kind| (kind, cards)));
        }
    }
    for rank in 1..=13 {
        for left_out in Cards::rank(rank).iter() {
            all.push((MeldKind::Set, Cards::rank(rank).without(left_out)));
        }
        all.push((MeldKind::Set, Cards::rank(rank)));
    }
    all
}

#[test]
fn what_fits_is_what_makes_a_longer_meld() {
    for (_, wrap) in WRAPS {
        for (kind, meld) in every_table_meld(wrap) {
            let grows = (!meld).iter().filter(|&card| {
                let after = table_kind(meld.with(card), wrap);
                match kind {
                    MeldKind::Seven => after == Some(MeldKind::Run),
                    kind => after == Some(kind),
                }
            });
            assert_eq!(fits(kind, meld, wrap), grows.collect(), "{wrap:?} {kind:?} {meld:?}");
        }
    }
}

#[test]
fn there_are_593_melds_on_the_ring() {
    for (wrap, runs) in [(RunWrap::Ring, 524), (RunWrap::AceHighOrLow, 304), (RunWrap::AceLow, 264)] {
        let mut groups = Vec::new();
        each_group(Cards::ALL, wrap, |group| groups.push(group));
        let kinds: Vec<_> = groups.iter().map(|&group| new_kind(group, wrap).expect("a meld")).collect();
        assert_eq!(kinds.iter().filter(|&&kind| kind == MeldKind::Run).count(), runs);
        assert_eq!(kinds.iter().filter(|&&kind| kind == MeldKind::Set).count(), 65);
        groups.sort();
        groups.dedup();
        assert_eq!(groups.len(), runs + 65, "no meld twice");
        let table = every_table_meld(wrap);
        let laid = table.iter().filter(|(_, cards)| new_kind(*cards, wrap).is_some()).count();
        assert_eq!(laid, runs + 65 + 4);
    }
}

#[test]
fn a_run_is_shown_from_its_low_end() {
    assert_eq!(shown(&[13, 14, 25]), [25, 13, 14]);
    assert_eq!(shown(&[31, 32, 33]), [31, 32, 33]);
    let suit: Vec<u32> = (26..39).collect();
    assert_eq!(shown(&suit), suit);
}

fn shown(ids: &[u32]) -> Vec<u32> {
    let cards = ids.iter().map(|&id| Card::new(id).expect("a card")).collect();
    in_order(MeldKind::Run, cards).into_iter().map(|card| u32::from(card.id())).collect()
}
