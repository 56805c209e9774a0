//! The case files, read and translated: short names to prefixed ones, unknown names to number 99, a negative number to
//! 2^32 - n, "none" (-1) to an absent field.

use serde_json::Value;
use understudy::bot::{Seat, Wire};
use understudy::games::hoola::Hoola;
use understudy::games::hoola::card::{Card, Cards};
use understudy::games::hoola::moves::Move;
use understudy::games::hoola::rules::{Rules, STANDARD};
use understudy::games::hoola::view::View;
use understudy::pb;
use understudy::pb::hoola as wire;

/// A case file of the tree.
pub fn file(name: &str) -> Value {
    let path = format!("{}/tests/cases/hoola/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(&path).expect(&path)).expect(&path)
}

/// The entries of a list.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key}"))
}

/// A number.
pub fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// A text.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// A list of card ids.
pub fn cards(value: &Value) -> Cards {
    value.as_array().expect("cards").iter().map(|id| Card::new(int(id) as u32).expect("a card")).collect()
}

/// A list of numbers.
pub fn ints(value: &Value) -> Vec<i64> {
    value.as_array().expect("numbers").iter().map(int).collect()
}

/// A seat, -1 for none.
pub fn seat(value: &Value) -> Option<Seat> {
    u8::try_from(int(value)).ok().map(Seat)
}

/// A move text.
pub fn mv(text: &str) -> Move {
    Move::parse(text).unwrap_or_else(|| panic!("no move: {text}"))
}

/// A list of move texts, sorted.
pub fn moves(value: &Value) -> Vec<Move> {
    let mut moves: Vec<Move> = value.as_array().expect("moves").iter().map(|entry| mv(text(entry))).collect();
    moves.sort();
    moves
}

/// A ruleset object that lists what differs.
pub fn rules(value: &Value) -> Rules {
    let switches = value.as_object().expect("ruleset").iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    });
    let text = switches.fold(STANDARD.to_owned(), |text, switch| format!("{text} {switch}"));
    Rules::parse(&text).unwrap_or_else(|| panic!("no ruleset: {text}"))
}

fn number(value: &Value) -> u32 {
    int(value) as u32
}

fn some(value: &Value) -> Option<u32> {
    value.as_i64().map(|n| n as u32)
}

fn none_is_minus_one(value: &Value) -> Option<u32> {
    value.as_i64().filter(|&n| n != -1).map(|n| n as u32)
}

fn named(value: &Value, find: impl Fn(&str) -> Option<i32>) -> i32 {
    value.as_str().map_or(0, |name| find(name).unwrap_or(99))
}

fn numbers(value: &Value) -> Vec<u32> {
    value.as_array().map_or_else(Vec::new, |list| list.iter().map(number).collect())
}

fn entries<T>(value: &Value, make: impl Fn(&Value) -> T) -> Vec<T> {
    value.as_array().map_or_else(Vec::new, |list| list.iter().map(make).collect())
}

fn prefixed<T: Into<i32>>(prefix: &str, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<i32> {
    find(&format!("{prefix}_{name}")).map(Into::into)
}

/// A view object as a message.
pub fn message(value: &Value) -> pb::View {
    let rules = &value["ruleset"];
    let ruleset = wire::Ruleset {
        name: STANDARD.to_owned(),
        players: some(&rules["players"]),
        run_wrap: named(&rules["run_wrap"], |n| prefixed("RUN_WRAP", n, wire::RunWrap::from_str_name)),
        discard_draw: named(&rules["discard_draw"], |n| prefixed("DISCARD_DRAW", n, wire::DiscardDraw::from_str_name)),
        stop_limit: some(&rules["stop_limit"]),
        low_limit: some(&rules["low_limit"]),
        high_limit: some(&rules["high_limit"]),
        mult_low: some(&rules["mult_low"]),
        mult_high: some(&rules["mult_high"]),
        hoola_layoff: named(&rules["hoola_layoff"], |n| prefixed("HOOLA_LAYOFF", n, wire::HoolaLayoff::from_str_name)),
        dokbak_scope: named(&rules["dokbak_scope"], |n| prefixed("DOKBAK_SCOPE", n, wire::DokbakScope::from_str_name)),
        tie_split: named(&rules["tie_split"], |n| prefixed("TIE_SPLIT", n, wire::TieSplit::from_str_name)),
        seven_hand_value: some(&rules["seven_hand_value"]),
        chongtong_unregistered_only: rules["chongtong_unregistered_only"].as_bool(),
        payer_inherits_baks: rules["payer_inherits_baks"].as_bool(),
        jokers: some(&rules["jokers"]),
    };
    let turn = &value["turn"];
    let view = wire::View {
        ruleset: Some(ruleset),
        seat: number(&value["seat"]),
        starter: number(&value["starter"]),
        turn_seat: number(&value["turn_seat"]),
        phase: named(&value["phase"], |n| prefixed("PHASE", n, wire::Phase::from_str_name)),
        hand: numbers(&value["hand"]),
        seats: entries(&value["seats"], |seat| wire::Seat {
            hand_count: number(&seat["hand_count"]),
            registered: seat["registered"].as_bool().expect("registered"),
            known_cards: numbers(&seat["known_cards"]),
        }),
        melds: entries(&value["melds"], |meld| wire::Meld {
            id: number(&meld["id"]),
            owner: number(&meld["owner"]),
            kind: named(&meld["kind"], |n| prefixed("MELD_KIND", n, wire::MeldKind::from_str_name)),
            cards: numbers(&meld["cards"]),
        }),
        discards: entries(&value["discards"], |discard| wire::Discard {
            card: number(&discard["card"]),
            seat: none_is_minus_one(&discard["seat"]),
            taken_by: none_is_minus_one(&discard["taken_by"]),
        }),
        deck_remaining: number(&value["deck_remaining"]),
        turn: turn.is_object().then(|| wire::Turn {
            registered_at_start: turn["registered_at_start"].as_bool().expect("registered_at_start"),
            taken_card: none_is_minus_one(&turn["taken_card"]),
            taken_from: none_is_minus_one(&turn["taken_from"]),
            layoffs: named(&turn["layoffs"], |n| prefixed("LAYOFFS", n, wire::Layoffs::from_str_name)),
        }),
        round_index: some(&value["round_index"]),
        rounds_total: some(&value["rounds_total"]),
        scores: value["scores"].as_array().map_or_else(Vec::new, |list| list.iter().map(int).collect()),
    };
    pb::View { game: Some(pb::view::Game::Hoola(view)) }
}

/// A view object as a checked view.
pub fn view(value: &Value) -> View {
    match Hoola::read(message(value)) {
        Ok(checked) => checked.view,
        Err(reject) => panic!("{reject:?}\n{value}"),
    }
}

/// Every view of the case files.
pub fn views() -> Vec<View> {
    let from = |name| list(&file(name), "cases").iter().map(|case| view(&case["view"])).collect::<Vec<_>>();
    [from("legal"), from("stops")].concat()
}
