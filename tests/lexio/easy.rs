//! `easy`: its order, its shortcut against its table.

use crate::load::{cases, deck, key, mv, scene, set, table, view};
use understudy::bot::{Budget, Game, Policy, Referee, Rng, Seat, Terms, Turn, decide};
use understudy::games::lexio::policies::{Easy, easy_move};
use understudy::games::lexio::rules::Ruleset;
use understudy::games::lexio::state::State;
use understudy::games::lexio::{Lexio, Move};

#[test]
fn leads_and_follows_are_golden() {
    for case in cases("hands") {
        let lead = easy_move(set(&case["hand"]), deck(&case), None).unwrap();
        assert_eq!(lead.tiles(), set(&case["easy_lead"]), "{case}");
    }
    for case in cases("follows") {
        let deck = deck(&case);
        let table = understudy::games::lexio::meld::Meld::read(set(&case["table"]), deck).unwrap();
        let follow = easy_move(set(&case["hand"]), deck, Some(&table)).map_or(Move::Pass, Move::Play);
        assert_eq!(follow, mv(&case["easy"], deck), "{case}");
    }
    for case in cases("positions").iter().chain(&cases("golden")) {
        let view = view(&case["view"]);
        assert_eq!(decide(&table(&Easy, &view)).mv(), &mv(&case["easy"], view.deck()), "{case}");
    }
}

/// Its table says what it prefers: 1 - i/n, best first.
#[test]
fn the_table_is_its_order() {
    let view = scene("C7 T7 M7 S7 C4 T4 C12", None, &[7, 5, 5, 5, 5], &all_but("C7 T7 M7 S7 C4 T4 C12", 20));
    let table = table(&Easy, &view);
    let ranked: Vec<String> = table.ranked().iter().map(|row| Lexio::key(row.mv())).collect();
    // With the cloud 4 first, most tiles first: two-sevens full houses, its fours, the pair, the single; then the rest.
    assert_eq!(ranked[0], "C4-T4-C7-T7-M7");
    assert_eq!(ranked[4..7], ["C4-C7-T7-M7-S7", "C4-T4", "C4"]);
    assert_eq!(ranked[7], "T4-C7-T7-M7-S7");
    let n = table.rows().len() as f64;
    for (i, row) in table.ranked().iter().enumerate() {
        assert!((row.terms().values()[0] - (1.0 - i as f64 / n)).abs() < 1e-12);
        assert!((row.total() - row.terms().values()[0]).abs() < 1e-12);
    }
}

/// Tiles of the five-player deck outside `hand`, without `keep` of them, as text.
fn all_but(hand: &str, keep: usize) -> String {
    let rest = understudy::games::lexio::tile::Deck::of(5).unwrap().tiles.minus(crate::load::tiles(hand));
    let kept: Vec<String> = rest.into_iter().skip(keep).map(|tile| tile.to_string()).collect();
    kept.join(" ")
}

/// The last lead tie: same Key, same sum, the smaller list wins (C4 T5 before T4 C5).
#[test]
fn ties_are_broken_by_the_list() {
    let view = scene("C3 C4 T4 C5 T5 C6 S7 S9", None, &[8, 12, 12, 12, 12], "C8 T8 M8 S8");
    let lead = *decide(&table(&Easy, &view)).mv();
    assert_eq!(lead, key("C3-C4-C5-C6-S7"));
    let (a, b) = (key("C3-C4-T5-C6-S7"), key("C3-T4-C5-C6-S7"));
    assert!(a < b && lead < a);
}

#[test]
fn the_shortcut_is_the_decision() {
    for seed in 0..120 {
        let seats = 3 + (seed % 3) as u8;
        let mut state = State::deal(Ruleset::default(), seats, seed);
        while state.flow().winner().is_none() {
            let seat = Seat(state.flow().to_act);
            let view = Lexio::view(&state, seat);
            let mut rng = Rng::new(1);
            let mut turn = Turn { budget: &Budget::unlimited(), rng: &mut rng };
            let shortcut = Easy.shortcut(&view, &mut turn).unwrap();
            assert_eq!(&shortcut, decide(&Easy.evaluate(&view, &mut turn)).mv(), "{view:?}");
            Lexio::resolve(&mut state, &[(seat, shortcut)]).unwrap();
        }
    }
}
