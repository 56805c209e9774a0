//! Views from the wire: what is refused, what is warned about, what comes back the same.

use crate::load::{cases, checked, message, scene};
use understudy::bot::{Ask, Game, Referee, Reject, Seat, Wire};
use understudy::games::lexio::policies::easy_move;
use understudy::games::lexio::rules::Ruleset;
use understudy::games::lexio::state::State;
use understudy::games::lexio::{Lexio, Move};
use understudy::pb;

#[test]
fn good_and_bad_views_are_golden() {
    for case in cases("validation") {
        let read = Lexio::read(message(&case["view"]));
        let pairs = |list: &serde_json::Value| {
            let pair = |entry: &serde_json::Value| {
                (format!("view.lexio.{}", entry[0].as_str().unwrap()), entry[1].as_str().unwrap().to_owned())
            };
            list.as_array().unwrap().iter().map(pair).collect::<Vec<_>>()
        };
        match read {
            Ok(checked) => {
                assert!(case["ok"].as_bool().unwrap(), "accepted: {case}");
                let warnings: Vec<(String, String)> =
                    checked.warnings.into_iter().map(|w| (w.field, w.code.to_owned())).collect();
                assert_eq!(warnings, pairs(&case["warnings"]), "{case}");
            }
            Err(Reject::Invalid(violations)) => {
                assert!(!case["ok"].as_bool().unwrap(), "refused: {violations:?} {case}");
                let found: Vec<(String, String)> =
                    violations.into_iter().map(|v| (v.field, v.code.to_owned())).collect();
                assert_eq!(found, pairs(&case["violations"]), "{case}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// Changes one thing in the golden follow and looks at what is said.
fn violations(change: impl FnOnce(&mut pb::lexio::View)) -> Vec<(String, &'static str)> {
    let golden = &cases("golden")[0]["view"];
    let Some(pb::view::Game::Lexio(mut view)) = message(golden).game else { panic!("a Lexio view") };
    change(&mut view);
    match Lexio::read(pb::View { game: Some(pb::view::Game::Lexio(view)) }) {
        Ok(_) => Vec::new(),
        Err(Reject::Invalid(list)) => {
            list.into_iter().map(|v| (v.field.trim_start_matches("view.lexio.").to_owned(), v.code)).collect()
        }
        Err(other) => panic!("{other:?}"),
    }
}

fn only(field: &str, code: &'static str) -> Vec<(String, &'static str)> {
    vec![(field.to_owned(), code)]
}

/// What the golden file has no case for.
#[test]
fn further_violations_are_named() {
    assert_eq!(violations(|_| {}), []);
    let rules = |view: &mut pb::lexio::View| view.ruleset.take().unwrap();
    assert_eq!(
        violations(|view| view.ruleset = None),
        [only("ruleset.name", "unknown_ruleset"), only("ruleset.version", "unknown_version")].concat()
    );
    for (field, value) in [("must_play_c3", 2), ("must_play_c3", 99), ("pass_lock", 2), ("two_mult", 3), ("settle", -1)]
    {
        let found = violations(|view| {
            let mut set = rules(view);
            match field {
                "must_play_c3" => set.must_play_c3 = value,
                "pass_lock" => set.pass_lock = value,
                "two_mult" => set.two_mult = value,
                _ => set.settle = value,
            }
            view.ruleset = Some(set);
        });
        assert_eq!(found, only(&format!("ruleset.{field}"), "unknown_value"));
    }
    assert_eq!(violations(|view| view.played.push(20)), only("played[1]", "duplicate"));
    assert_eq!(violations(|view| view.played.push(4_000_000_000)), only("played[1]", "no_such_tile"));
    assert_eq!(violations(|view| view.log[0].tiles = vec![20, 20]), only("log[0].tiles", "tile_repeated"));
    assert_eq!(violations(|view| view.log[0].tiles = vec![60]), only("log[0].tiles", "tile_not_in_deck"));
    assert_eq!(violations(|view| view.log[0].seat = 7), only("log[0].seat", "out_of_turn"));
    assert_eq!(violations(|view| view.log[0].trick = 70_000), only("log[0].trick", "wrong_trick"));
    // A table with a tile twice is no meld, even if the set of its tiles were one.
    assert_eq!(violations(|view| view.table.as_mut().unwrap().tiles = vec![20, 20]), only("table.tiles", "not_a_meld"));
    // A fault of the table does not hide one of the log.
    let found = violations(|view| {
        view.table.as_mut().unwrap().seat = 9;
        view.log[0].tiles = vec![20, 24];
    });
    assert_eq!(found, [only("table.seat", "no_such_seat"), only("log[0].tiles", "not_a_meld")].concat());
    // Somebody who went out cannot be followed: five tens of tiles played by one seat, then an action.
    let found = violations(|view| {
        view.log.clear();
        view.seats[2].tile_count = 13;
        view.seats[3].tile_count = 0;
    });
    assert_eq!(
        found,
        [only("seats[2].tile_count", "above_hand_size"), only("seats[3].tile_count", "round_over")].concat()
    );
}

/// After a seat has gone out, the log has nothing more to tell.
#[test]
fn nothing_follows_the_end_of_a_round() {
    let mut state = State::deal(Ruleset::default(), 3, 7);
    let mut last = None;
    while let Ask::One(seat) = Lexio::ask(&state) {
        let view = Lexio::view(&state, seat);
        last = Some(view.clone());
        let play = easy_move(view.hand(), view.deck(), view.table().map(|(_, meld)| meld));
        Lexio::resolve(&mut state, &[(seat, play.map_or(Move::Pass, Move::Play))]).unwrap();
    }
    // The view before the last action, with the log of the finished round and one pass more.
    let Some(pb::view::Game::Lexio(mut view)) = Lexio::write_view(&last.unwrap()).game else { panic!() };
    let end = state.log().last().unwrap();
    let tiles = end.play.unwrap().tiles().into_iter().map(|tile| u32::from(tile.id())).collect();
    view.log.push(pb::lexio::Action { seat: u32::from(end.seat), trick: u32::from(end.trick), pass: false, tiles });
    view.log.push(pb::lexio::Action { seat: 0, trick: 0, pass: true, tiles: vec![] });
    let Err(Reject::Invalid(list)) = Lexio::read(pb::View { game: Some(pb::view::Game::Lexio(view)) }) else {
        panic!()
    };
    assert_eq!(
        (list.kept()[0].field.as_str(), list.kept()[0].code),
        (format!("view.lexio.log[{}]", state.log().len()).as_str(), "after_round_end")
    );
}

/// Every view of the referee passes the checks of the wire and comes back the same, without a warning.
#[test]
fn the_referees_views_survive_the_wire() {
    for seed in 0..60 {
        let mut state = State::deal(Ruleset::default(), 3 + (seed % 3) as u8, seed);
        while let Ask::One(seat) = Lexio::ask(&state) {
            let view = Lexio::view(&state, seat);
            let read = Lexio::read(Lexio::write_view(&view)).unwrap_or_else(|reject| panic!("{reject:?}"));
            assert_eq!(read.view, view);
            assert_eq!(read.warnings, []);
            let play = easy_move(view.hand(), view.deck(), view.table().map(|(_, meld)| meld));
            Lexio::resolve(&mut state, &[(seat, play.map_or(Move::Pass, Move::Play))]).unwrap();
        }
    }
}

/// The bytes that are hashed never change: pinned over the golden follow.
#[test]
fn the_view_hash_is_pinned() {
    let golden = checked(&cases("golden")[0]["view"]);
    assert_eq!(format!("{:016x}", golden.view_hash), "f84d57a5b1535c92");
    assert_eq!(
        golden.ruleset,
        "lexio.standard.v1 first_lead=previous_winner two_mult=pow2 settle=pairwise must_play_c3=off pass_lock=off"
    );
    // Order of tiles and spelled-out defaults do not matter; everything else does.
    let hash = |change: &dyn Fn(&mut pb::lexio::View)| {
        let Some(pb::view::Game::Lexio(mut view)) = message(&cases("golden")[0]["view"]).game else { panic!() };
        change(&mut view);
        Lexio::read(pb::View { game: Some(pb::view::Game::Lexio(view)) }).unwrap().view_hash
    };
    assert_eq!(hash(&|view| view.hand.reverse()), golden.view_hash);
    assert_eq!(hash(&|view| view.ruleset.as_mut().unwrap().pass_lock = 1), golden.view_hash);
    let others = [
        hash(&|view| view.round = 3),
        hash(&|view| view.money.clear()),
        hash(&|view| view.money[0] = 1),
        hash(&|view| view.log.clear()),
        hash(&|view| view.ruleset.as_mut().unwrap().settle = 2),
    ];
    for (i, a) in others.iter().enumerate() {
        assert_ne!(*a, golden.view_hash, "{i}");
        assert!(others[..i].iter().all(|b| a != b), "{i}");
    }
}

#[test]
fn moves_are_written_with_their_kind_and_named_by_their_key() {
    let view = scene("C3 C4 C5 C6 C7 T7 M7 S7 T4", None, &[9, 12, 12, 12, 12], "C8 T8 M8");
    for mv in Lexio::legal(&view) {
        assert_eq!(Lexio::parse_key(&Lexio::key(&mv)), Some(mv));
        let Some(pb::r#move::Game::Lexio(written)) = Lexio::write_move(&view, &mv).game else { panic!() };
        let kinds = [0, 1, 2, 3, 4, 5].map(|count| count.to_string());
        assert!(kinds.contains(&written.tiles.len().to_string()) && !written.pass);
        assert!(written.tiles.is_sorted());
    }
    let kind = |key: &str| {
        let written = Lexio::write_move(&view, &Lexio::parse_key(key).unwrap());
        let Some(pb::r#move::Game::Lexio(written)) = written.game else { panic!() };
        written.kind()
    };
    use pb::lexio::MeldKind as Kind;
    assert_eq!(kind("pass"), Kind::Unspecified);
    assert_eq!(kind("C3"), Kind::Single);
    assert_eq!(kind("C4-T4"), Kind::Pair);
    assert_eq!(kind("C7-T7-M7"), Kind::Triple);
    assert_eq!(kind("C3-C4-C5-C6-T7"), Kind::Straight);
    assert_eq!(kind("C3-C4-C5-C6-C9"), Kind::Flush);
    assert_eq!(kind("C4-T4-C7-T7-M7"), Kind::FullHouse);
    assert_eq!(kind("C3-C7-T7-M7-S7"), Kind::FourPlusOne);
    assert_eq!(kind("C3-C4-C5-C6-C7"), Kind::StraightFlush);
    for bad in ["", "C3-C3", "T4-C4", "C3-T4", "PASS", "C3 T3", "C4-T4-"] {
        assert_eq!(Lexio::parse_key(bad), None, "{bad}");
    }
}

#[test]
fn the_picture_shows_what_the_seat_knows() {
    let view = scene(
        "S4 M7 S7",
        Some((3, "T6 M6")),
        &[3, 10, 10, 10, 10],
        "T6 M6 C3 T3 M3 S3 C4 T4 M4 C5 T5 M5 S5 C6 S6 C7 T7",
    );
    let text = Lexio::picture(&view);
    for part in ["T6 M6 of seat 3", "S4 M7 S7", "seat 4  10 tiles"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(Lexio::view(&State::deal(Ruleset::default(), 5, 1), Seat(0)).seats(), 5);
}
