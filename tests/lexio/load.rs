//! Reads the golden data, and turns its views into messages as the data files are meant.

use serde_json::Value;
use understudy::bot::{Budget, Checked, Evaluated, Policy, Rng, Turn, Wire};
use understudy::games::lexio::meld::Meld;
use understudy::games::lexio::tile::{Deck, Tile, TileSet};
use understudy::games::lexio::view::View;
use understudy::games::lexio::{Lexio, Move};
use understudy::pb;

/// The cases of one file.
pub fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/cases/lexio/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut all: Value = serde_json::from_str(&text).unwrap();
    match all["cases"].take() {
        Value::Array(cases) => cases,
        other => panic!("no cases: {other}"),
    }
}

pub fn ids(value: &Value) -> Vec<u32> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(number).collect()
}

/// An unsigned field; a negative number stands for what a careless client would send.
fn number(value: &Value) -> u32 {
    value.as_i64().unwrap_or(0) as u32
}

pub fn set(value: &Value) -> TileSet {
    ids(value).into_iter().map(|id| Tile::new(id).unwrap()).collect()
}

/// `C3 T4` as a set.
pub fn tiles(text: &str) -> TileSet {
    text.split_whitespace().map(|name| Tile::parse(name).unwrap()).collect()
}

pub fn deck(case: &Value) -> &'static Deck {
    Deck::of(case["players"].as_u64().unwrap() as usize).unwrap()
}

/// `null` is a pass.
pub fn mv(value: &Value, deck: &Deck) -> Move {
    if value.is_null() { Move::Pass } else { Move::Play(Meld::read(set(value), deck).unwrap()) }
}

/// The move that a key names.
pub fn key(text: &str) -> Move {
    <Lexio as understudy::bot::Game>::parse_key(text).unwrap()
}

fn switch(value: &Value, known: &[&str]) -> i32 {
    match value.as_str() {
        None => 0,
        Some(text) => known.iter().position(|name| *name == text).map_or(99, |i| i as i32 + 1),
    }
}

/// The message of a view in a data file.
pub fn message(view: &Value) -> pb::View {
    let rules = &view["ruleset"];
    let list = |field: &str| view[field].as_array().cloned().unwrap_or_default();
    let ruleset = pb::lexio::Ruleset {
        name: rules["name"].as_str().unwrap_or("").to_owned(),
        version: number(&rules["version"]),
        first_lead: switch(&rules["first_lead"], &["c3_holder", "previous_winner"]),
        two_mult: switch(&rules["two_mult"], &["pow2", "once"]),
        settle: switch(&rules["settle"], &["pairwise", "winner_only"]),
        must_play_c3: switch(&rules["must_play_c3"], &["off", "on"]),
        pass_lock: switch(&rules["pass_lock"], &["off", "on"]),
    };
    let table = (!view["table"].is_null())
        .then(|| pb::lexio::Table { seat: number(&view["table"]["seat"]), tiles: ids(&view["table"]["tiles"]) });
    let action = |action: &Value| pb::lexio::Action {
        seat: number(&action["seat"]),
        trick: number(&action["trick"]),
        pass: action["pass"].as_bool().unwrap_or(false),
        tiles: ids(&action["tiles"]),
    };
    let message = pb::lexio::View {
        ruleset: Some(ruleset),
        me: number(&view["me"]),
        round: number(&view["round"]),
        hand: ids(&view["hand"]),
        played: ids(&view["played"]),
        table,
        seats: list("seats").iter().map(|s| pb::lexio::Seat { tile_count: number(&s["tile_count"]) }).collect(),
        log: list("log").iter().map(action).collect(),
        money: list("money").iter().map(|m| m.as_i64().unwrap()).collect(),
    };
    pb::View { game: Some(pb::view::Game::Lexio(message)) }
}

pub fn checked(view: &Value) -> Checked<Lexio> {
    Lexio::read(message(view)).unwrap_or_else(|reject| panic!("{reject:?}\n{view}"))
}

pub fn view(view: &Value) -> View {
    checked(view).view
}

/// The table of a policy, without limits.
pub fn table(policy: &dyn Policy<Lexio>, view: &View) -> Evaluated<Lexio> {
    policy.evaluate(view, &mut Turn { budget: &Budget::unlimited(), rng: &mut Rng::new(1) })
}

/// A view of a scene: hand, what lies on the table (owner, tiles), the others' counts; nothing else was played unless
/// `played` says so. Rules: the previous winner led, so that anybody may hold cloud 3.
pub fn scene(hand: &str, table: Option<(u32, &str)>, counts: &[u32], played: &str) -> View {
    let number = |set: TileSet| set.into_iter().map(|tile| u32::from(tile.id())).collect::<Vec<_>>();
    let ruleset = pb::lexio::Ruleset {
        name: "lexio.standard".to_owned(),
        version: 1,
        first_lead: pb::lexio::FirstLead::PreviousWinner as i32,
        ..Default::default()
    };
    let message = pb::lexio::View {
        ruleset: Some(ruleset),
        me: 0,
        round: 2,
        hand: number(tiles(hand)),
        played: number(tiles(played)),
        table: table.map(|(seat, text)| pb::lexio::Table { seat, tiles: number(tiles(text)) }),
        seats: counts.iter().map(|&tile_count| pb::lexio::Seat { tile_count }).collect(),
        log: Vec::new(),
        money: Vec::new(),
    };
    let message = pb::View { game: Some(pb::view::Game::Lexio(message)) };
    Lexio::read(message).unwrap_or_else(|reject| panic!("{reject:?}")).view
}
