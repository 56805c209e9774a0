//! Messages: every violation and warning, and the way there and back.

use serde_json::Value;
use understudy::bot::{Game, Reject, Wire};
use understudy::games::apple::board::MAX_CELLS;
use understudy::games::apple::{Apple, Board, Count, Ruleset, View};
use understudy::pb;
use understudy::pb::apple as wire;

use crate::cases::{list, numbers};

/// As the loader of the data files translates: short names to numbers, an unknown one to 99.
fn switch(value: &Value, names: &[&str]) -> i32 {
    match value.as_str() {
        None => 0,
        Some(name) => names.iter().position(|known| *known == name).map_or(99, |i| i as i32 + 1),
    }
}

fn view(case: &Value) -> wire::View {
    let view = &case["view"];
    let ruleset = &view["ruleset"];
    wire::View {
        ruleset: Some(wire::Ruleset {
            name: ruleset["name"].as_str().expect("a name").to_owned(),
            count: switch(&ruleset["count"], &["APPLES", "AREA"]),
            sum_check: switch(&ruleset["sum_check"], &["WARN", "REQUIRE"]),
        }),
        rows: view["rows"].as_u64().expect("rows") as u32,
        columns: view["columns"].as_u64().expect("columns") as u32,
        cells: numbers(&view["cells"]),
        score: view["score"].as_u64().map(|score| score as u32),
    }
}

fn wrap(message: wire::View) -> pb::View {
    pb::View { game: Some(pb::view::Game::Apple(message)) }
}

/// Field paths and sentences of the violations; none when the view is valid.
fn violations(message: wire::View) -> Vec<(String, String)> {
    match Apple::read(wrap(message)) {
        Err(Reject::Invalid(list)) => list.into_iter().map(|v| (v.field, v.text)).collect(),
        Ok(_) | Err(Reject::NothingToDecide(_)) => Vec::new(),
    }
}

fn fields(message: wire::View) -> Vec<String> {
    violations(message).into_iter().map(|(field, _)| field).collect()
}

#[test]
fn validation_cases() {
    for case in list("validation.json", "cases") {
        let name = case["name"].as_str().expect("a name");
        let message = view(&case);
        let expected: Vec<(String, String)> = case["violations"]
            .as_array()
            .expect("violations")
            .iter()
            .map(|v| (v["field"].as_str().unwrap().to_owned(), v["reason"].as_str().unwrap().to_owned()))
            .map(|(field, reason)| (field.replacen("view", "view.apple", 1), reason))
            .collect();
        assert_eq!(violations(message.clone()), expected, "{name}");
        if case["expect"] == "ok" {
            let digits: Vec<u8> = message.cells.iter().map(|&digit| digit as u8).collect();
            let board = Board::new(message.rows as usize, message.columns as usize, &digits).expect(name);
            let warnings = understudy::games::apple::view::warnings("view.apple", &board, message.score);
            let codes: Vec<&str> = warnings.iter().map(|warning| warning.code).collect();
            let expected: Vec<&str> =
                case["warnings"].as_array().expect("warnings").iter().map(|code| code.as_str().unwrap()).collect();
            assert_eq!(codes, expected, "{name}");
            if let Ok(checked) = Apple::read(wrap(message)) {
                assert_eq!(checked.warnings, warnings, "{name}");
            }
        }
    }
}

fn good() -> wire::View {
    let cells: Vec<u32> = (0..12).map(|i| i % 9 + 1).collect();
    let ruleset = wire::Ruleset { name: "fruitbox.v1".to_owned(), count: 0, sum_check: 0 };
    wire::View { ruleset: Some(ruleset), rows: 3, columns: 4, cells, score: None }
}

fn with_ruleset(name: &str, count: i32, sum_check: i32) -> wire::View {
    wire::View { ruleset: Some(wire::Ruleset { name: name.to_owned(), count, sum_check }), ..good() }
}

#[test]
fn violations_stand_in_the_order_of_the_table() {
    let mut message = with_ruleset("nonsense", 99, -3);
    message.rows = 65;
    message.columns = 0;
    message.cells = vec![10, 3, 4_000_000_000];
    assert_eq!(
        violations(message),
        [
            ("view.apple.ruleset.name", "unknown ruleset \"nonsense\""),
            ("view.apple.ruleset.count", "unknown value 99"),
            ("view.apple.ruleset.sum_check", "unknown value -3"),
            ("view.apple.rows", "65 is outside 1..=64"),
            ("view.apple.columns", "0 is outside 1..=64"),
            ("view.apple.cells[0]", "10 is not a digit 0..=9"),
            ("view.apple.cells[2]", "4000000000 is not a digit 0..=9"),
        ]
        .map(|(field, text)| (field.to_owned(), text.to_owned()))
    );
}

#[test]
fn violations_by_table_row() {
    let missing = wire::View { ruleset: None, ..good() };
    assert_eq!(fields(missing), ["view.apple.ruleset.name"]);
    // Bad rows with good cells: nothing is said about the length.
    assert_eq!(fields(wire::View { rows: 70, ..good() }), ["view.apple.rows"]);
    assert_eq!(fields(wire::View { columns: 0, ..good() }), ["view.apple.columns"]);
    // Sizes good, product too large: no word about the length either.
    assert_eq!(fields(wire::View { rows: 21, columns: 20, ..good() }), ["view.apple"]);
    // Wrong length, and a bad digit beside it.
    let mut long = good();
    long.cells = vec![1; MAX_CELLS + 5];
    long.cells[399] = 10;
    long.cells[400] = 10;
    assert_eq!(fields(long), ["view.apple.cells", "view.apple.cells[399]"]);
    // REQUIRE speaks only when everything else is good.
    let sum: u32 = good().cells.iter().sum();
    assert_ne!(sum % 10, 0);
    assert_eq!(violations(with_ruleset("fruitbox.v1", 0, 2))[0].1, format!("sum is {sum}, not a multiple of 10"));
    assert_eq!(fields(with_ruleset("fruitbox-strict.v1", 0, 0)), ["view.apple.cells"]);
    assert_eq!(fields(with_ruleset("fruitbox.v1", 99, 2)), ["view.apple.ruleset.count"]);
    let short = wire::View { rows: 4, ..with_ruleset("fruitbox.v1", 0, 2) };
    assert_eq!(fields(short), ["view.apple.cells"]);
    // A view of no game at all.
    assert!(matches!(Apple::read(pb::View { game: None }), Err(Reject::Invalid(list)) if !list.is_empty()));
}

#[test]
fn every_switch_can_be_overridden_and_is_echoed() {
    let cases = [
        ("fruitbox.v1", 0, 0, "fruitbox.v1 count=APPLES sum_check=WARN"),
        ("fruitbox.v1", 2, 0, "fruitbox.v1 count=AREA sum_check=WARN"),
        ("fruitbox-area.v1", 0, 0, "fruitbox-area.v1 count=AREA sum_check=WARN"),
        ("fruitbox-area.v1", 1, 1, "fruitbox-area.v1 count=APPLES sum_check=WARN"),
        ("fruitbox-strict.v1", 0, 1, "fruitbox-strict.v1 count=APPLES sum_check=WARN"),
    ];
    for (name, count, sum_check, echo) in cases {
        let checked = Apple::read(wrap(with_ruleset(name, count, sum_check))).expect("a good view");
        assert_eq!(checked.ruleset, format!("{echo} target=10 max_digit=9 gaps=OPEN tie=v1"));
    }
    let mut even = with_ruleset("fruitbox-strict.v1", 0, 0);
    even.cells = vec![5; 12];
    let checked = Apple::read(wrap(even)).expect("sixty is a multiple of ten");
    assert_eq!(
        checked.ruleset,
        "fruitbox-strict.v1 count=APPLES sum_check=REQUIRE target=10 max_digit=9 gaps=OPEN tie=v1"
    );
}

#[test]
fn the_view_hash_is_the_board_hash() {
    let board = Board::parse("9551").expect("a board");
    let message = wire::View { ruleset: good().ruleset, rows: 1, columns: 4, cells: vec![9, 5, 5, 1], score: Some(7) };
    let checked = Apple::read(wrap(message)).expect("a good view");
    // FNV-1a over 1, 4, 9, 5, 5, 1.
    assert_eq!(checked.view_hash, understudy::bot::fnv(&[1, 4, 9, 5, 5, 1]));
    assert_eq!(checked.view_hash, board.hash());
    let warning = &checked.warnings[0];
    assert_eq!((warning.field.as_str(), warning.code), ("view.apple.score", "SCORE_MISMATCH"));
}

#[test]
fn what_is_over_says_how_many_apples_are_left() {
    for (cells, left) in [(vec![9, 9, 0, 9], "3 apples"), (vec![0, 0, 0, 0], "0 apples")] {
        let message = wire::View { rows: 2, columns: 2, cells, ..good() };
        let Err(Reject::NothingToDecide(text)) = Apple::read(wrap(message)) else { panic!("no move is left") };
        assert!(text.contains(left), "{text}");
    }
}

#[test]
fn views_and_moves_go_there_and_back() {
    let board = Board::parse("4000/0000/0006").expect("a board");
    for name in Ruleset::NAMES {
        let ruleset = Ruleset::named(name).expect("known").switched("count=AREA").expect("known");
        let view = View::new(ruleset, board).expect("ten is a multiple of ten").scored(Some(10));
        assert_eq!(view.ruleset().count, Count::Area);
        let back = Apple::read(Apple::write_view(&view)).expect("a good view");
        assert_eq!(back.view, view);
        let mv = &Apple::legal(&view)[0];
        let key = Apple::key(mv);
        assert_eq!(key, "0,0,2,3");
        let named = Apple::parse_key(&key).expect("a key");
        assert_eq!(&named, mv);
        let expected = wire::Move {
            rectangle: Some(wire::Rectangle { row_min: 0, col_min: 0, row_max: 2, col_max: 3 }),
            apples: 2,
            largest: 6,
            area: 12,
            cells: vec![0, 11],
        };
        for mv in [mv, &named] {
            assert_eq!(Apple::write_move(&view, mv).game, Some(pb::r#move::Game::Apple(expected.clone())));
        }
    }
    for key in ["", "1,2,3", "1,2,3,4,5", "3,0,2,0", "0,0,0,64", "a,b,c,d", "-1,0,0,0"] {
        assert_eq!(Apple::parse_key(key), None, "{key:?}");
    }
    assert_eq!(Apple::picture(&View::new(Ruleset::default(), board).expect("valid")), "4...\n....\n...6");
}
