//! The message: validation cases, both forms, hash, ruleset, moves.

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::{Value, json};
use understudy::bot::{Checked, Game, Reject, Wire};
use understudy::games::wallgo::Wallgo;
use understudy::games::wallgo::action::Move;
use understudy::games::wallgo::rules::Rules;
use understudy::pb;

use crate::cases::{list, load, position, text, view_of};

/// The message of a view in the short spelling of the data files.
fn message(view: &Value) -> pb::View {
    let mut view = view.clone();
    let mut prefix = |pointer: &str, prefix: &str| {
        if let Some(Value::String(name)) = view.pointer_mut(pointer) {
            *name = format!("{prefix}{name}");
        }
    };
    prefix("/phase", "PHASE_");
    for (name, prefixed) in [
        ("setup", "SETUP_"),
        ("first_mover", "FIRST_MOVER_"),
        ("stay", "STAY_"),
        ("pass", "PASS_"),
        ("tie_break", "TIE_BREAK_"),
    ] {
        prefix(&format!("/switches/{name}"), prefixed);
    }
    let pool = DescriptorPool::decode(pb::DESCRIPTORS).unwrap();
    let kind = pool.get_message_by_name("understudy.wallgo.v1.View").unwrap();
    let dynamic = DynamicMessage::deserialize(kind, view).unwrap();
    let wallgo = pb::wallgo::View::decode(dynamic.encode_to_vec().as_slice()).unwrap();
    pb::View { game: Some(pb::view::Game::Wallgo(wallgo)) }
}

fn read(view: &Value) -> Result<Checked<Wallgo>, Reject> {
    Wallgo::read(message(view))
}

#[test]
fn validation_cases_are_answered_as_told() {
    for case in list(&load("validation")["cases"]) {
        let id = text(&case["id"]);
        let expected: Vec<String> = list(&case["fields"])
            .iter()
            .map(|field| match text(field) {
                "" => "view.wallgo".to_owned(),
                field => format!("view.wallgo.{field}"),
            })
            .collect();
        match (text(&case["expect"]), read(&case["view"])) {
            ("accept", Ok(checked)) => assert_eq!(checked.warnings, [], "{id}"),
            ("warn", Ok(checked)) => {
                let fields: Vec<_> = checked.warnings.iter().map(|warning| warning.field.clone()).collect();
                // One wall too few is one wall too many for the parity, too.
                let expected = match id {
                    "limit-sum" => vec!["view.wallgo.players".to_owned(), "view.wallgo.to_move".to_owned()],
                    _ => expected,
                };
                assert_eq!(fields, expected, "{id}");
            }
            ("reject", Err(Reject::Invalid(violations))) => {
                let fields: Vec<_> = violations.kept().iter().map(|violation| violation.field.clone()).collect();
                let expected = match id {
                    "over" => vec!["view.wallgo".to_owned()],
                    // The other player's are missing as well.
                    "limit-missing" => (0..2).map(|i| format!("view.wallgo.players[{i}].walls_left")).collect(),
                    _ => expected,
                };
                assert_eq!(fields, expected, "{id}: {violations:?}");
            }
            (expect, Ok(checked)) => panic!("{id}: {expect}, but accepted with {:?}", checked.warnings),
            (expect, Err(reject)) => panic!("{id}: {expect}, but {reject:?}"),
        }
    }
}

/// The paths that a changed start position is refused with.
fn refusals(change: impl FnOnce(&mut pb::wallgo::View)) -> Vec<String> {
    let cases = load("validation");
    let start = list(&cases["cases"]).iter().find(|case| case["id"] == "ok-walls").unwrap();
    let Some(pb::view::Game::Wallgo(mut view)) = message(&start["view"]).game else { unreachable!() };
    change(&mut view);
    match Wallgo::read(pb::View { game: Some(pb::view::Game::Wallgo(view)) }) {
        Ok(_) => Vec::new(),
        Err(Reject::Invalid(violations)) => violations.into_iter().map(|violation| violation.field).collect(),
        Err(Reject::NothingToDecide(why)) => panic!("{why}"),
    }
}

#[test]
fn each_rule_of_the_table_is_checked() {
    let walls = pb::wallgo::Compact { pieces: vec![1 << 8 | 1 << 40 | 1 << 17 | 1 << 28, 1 << 12], east: 0, south: 0 };
    assert_eq!(refusals(|_| {}), Vec::<String>::new());
    assert_eq!(refusals(|view| view.ruleset.clear()), ["view.wallgo.ruleset"]);
    assert_eq!(refusals(|view| view.phase = 9), ["view.wallgo.phase"]);
    assert_eq!(refusals(|view| view.phase = -1), ["view.wallgo.phase"]);
    assert_eq!(refusals(|view| view.players.clear()), ["view.wallgo.players"]);
    assert_eq!(refusals(|view| view.to_move = u32::MAX), ["view.wallgo.to_move"]);
    assert_eq!(refusals(|view| view.south_walls[0].row = 9), ["view.wallgo.south_walls[0]"]);
    let switch = |change: fn(&mut pb::wallgo::Switches)| {
        refusals(move |view| change(view.switches.get_or_insert_with(Default::default)))
    };
    assert_eq!(switch(|s| s.setup = 99), ["view.wallgo.switches.setup"]);
    assert_eq!(switch(|s| s.first_mover = 99), ["view.wallgo.switches.first_mover"]);
    assert_eq!(switch(|s| s.stay = 99), ["view.wallgo.switches.stay"]);
    assert_eq!(switch(|s| s.pass = 99), ["view.wallgo.switches.pass"]);
    assert_eq!(switch(|s| s.tie_break = 99), ["view.wallgo.switches.tie_break"]);
    assert_eq!(
        switch(|s| s.wall_limit = Some(25)),
        ["view.wallgo.players[0].walls_left", "view.wallgo.players[1].walls_left"]
    );
    let compact = |masks: pb::wallgo::Compact| {
        refusals(move |view| {
            view.players.iter_mut().for_each(|player| player.pieces.clear());
            view.east_walls.clear();
            view.south_walls.clear();
            view.compact = Some(masks);
        })
    };
    let good = pb::wallgo::Compact {
        pieces: vec![1 << 8 | 1 << 40 | 1 << 17 | 1 << 28, 1 << 12 | 1 << 36 | 1 << 23 | 1 << 25],
        east: 1,
        south: 2,
    };
    assert_eq!(compact(good.clone()), Vec::<String>::new());
    assert_eq!(compact(walls), ["view.wallgo.compact.pieces[1]"]);
    let with = |change: fn(&mut pb::wallgo::Compact)| {
        let mut masks = good.clone();
        change(&mut masks);
        compact(masks)
    };
    assert_eq!(with(|m| m.pieces[0] |= 1 << 49), ["view.wallgo.compact.pieces[0]"]);
    assert_eq!(with(|m| m.pieces[1] ^= 1 << 25 | 1 << 28), ["view.wallgo.compact.pieces[1]"]);
    assert_eq!(with(|m| m.pieces.push(0)), ["view.wallgo.compact.pieces"]);
    assert_eq!(with(|m| m.east = 1 << 6), ["view.wallgo.compact.east"]);
    assert_eq!(with(|m| m.east = 1 << 63), ["view.wallgo.compact.east"]);
    assert_eq!(with(|m| m.south = 1 << 42), ["view.wallgo.compact.south"]);
}

#[test]
fn setup_views_have_their_own_rules() {
    let start = |pieces: [&[(u32, u32)]; 2], to_move: u32| {
        let player = |cells: &[(u32, u32)]| json!({"pieces": cells.iter().map(|(row, col)| json!({"row": row, "col": col})).collect::<Vec<_>>()});
        json!({"ruleset": "wallgo.v1", "phase": "SETUP", "to_move": to_move, "players": [player(pieces[0]), player(pieces[1])]})
    };
    let fields = |view: &Value| match read(view) {
        Ok(_) => Vec::new(),
        Err(Reject::Invalid(violations)) => violations.into_iter().map(|violation| violation.field).collect(),
        Err(Reject::NothingToDecide(why)) => panic!("{why}"),
    };
    let fixed: [&[(u32, u32)]; 2] = [&[(1, 1), (5, 5)], &[(1, 5), (5, 1)]];
    let view = start(fixed, 0);
    let checked = read(&view).unwrap();
    assert_eq!(Wallgo::legal(&checked.view).len(), 45);
    assert_eq!(Wallgo::refused(&checked.view).len(), 4);
    assert_eq!(fields(&start([fixed[0], &[(1, 5), (5, 1), (0, 0)]], 0)), ["view.wallgo.players"]);
    let mut passed = start(fixed, 0);
    passed["consecutive_passes"] = json!(1);
    assert_eq!(fields(&passed), ["view.wallgo.consecutive_passes"]);
    let mut explicit = start(fixed, 0);
    explicit["switches"] = json!({"first_mover": "EXPLICIT"});
    let warnings = read(&explicit).unwrap().warnings;
    assert_eq!(warnings[0].field, "view.wallgo.switches.first_mover");
    let mut free = start([&[(0, 0)], &[(6, 6)]], 1);
    free["switches"] = json!({"setup": "FREE_ABBAABBA"});
    assert_eq!(fields(&free), Vec::<String>::new());
    assert_eq!(Wallgo::legal(&read(&free).unwrap().view).len(), 47);
}

#[test]
fn both_forms_of_a_board_are_one_view() {
    let cases = load("validation");
    let find = |id: &str| list(&cases["cases"]).iter().find(|case| case["id"] == id).unwrap();
    let lists = read(&find("ok-walls")["view"]).unwrap();
    let masks = read(&find("ok-compact")["view"]).unwrap();
    assert_eq!(lists.view, masks.view);
    assert_eq!(lists.view_hash, masks.view_hash);
    // Pinned: these bytes are a promise to everyone who stores hashes.
    assert_eq!(lists.view_hash, 0x26ce_0a2c_0f91_a0b0, "{:#018x}", lists.view_hash);
    assert_eq!(
        lists.ruleset,
        "wallgo.v1 setup=FIXED2_ABAB first_mover=LAST_PLACER stay=ALWAYS pass=SEALED_ONLY sealed_may_act=true \
         tie_break=DRAW wall_limit=0"
    );
}

#[test]
fn views_survive_the_wire() {
    for case in list(&load("perft")["positions"]) {
        let view = view_of(Rules::default(), &position(case));
        let again = Wallgo::read(Wallgo::write_view(&view)).unwrap();
        assert_eq!(again.view, view);
    }
}

#[test]
fn moves_name_cells_slot_and_twins() {
    // A stands on 33 and 34: the wall between them can be built by either without moving.
    let case = json!({"a": "33 34 00 66", "b": "06 60 11 55", "e": "00", "s": "00", "to_move": "A"});
    let view = view_of(Rules::default(), &position(&case));
    let legal = Wallgo::legal(&view);
    let keys: Vec<String> = legal.iter().map(Wallgo::key).collect();
    assert!(keys.contains(&"33>33E".to_owned()) && !keys.contains(&"34>34W".to_owned()));
    let write = |key: &str| {
        let mv = Wallgo::parse_key(key).unwrap();
        let Some(pb::r#move::Game::Wallgo(message)) = Wallgo::write_move(&view, &mv).game else { unreachable!() };
        message
    };
    let east = write("33>33E");
    assert_eq!(east.slot, Some(24 * 65 + 6 * 5 + 1));
    assert_eq!(east.same_slots, [25 * 65 + 6 * 5 + 3]);
    assert_eq!(write("00>00-").same_slots, Vec::<u32>::new());
    assert_eq!(write("33>33N").same_slots, Vec::<u32>::new());
    assert_eq!(write("skip").slot, None);
    let refused: Vec<(String, &str)> =
        Wallgo::refused(&view).into_iter().map(|(mv, why)| (Wallgo::key(&mv), why)).collect();
    assert_eq!(refused.len(), 3, "the three pieces that are not boxed cannot pass");
    assert!(refused.contains(&("33>33-".to_owned(), "pass_needs_boxed_piece")));
    assert_eq!(Wallgo::kind(&Move::Skip), "skip");
    for mv in legal {
        assert_eq!(Wallgo::parse_key(&Wallgo::key(&mv)), Some(mv));
    }
}
