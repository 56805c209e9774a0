//! Reads the shared data: cells as "rc", walls by their cell, actions by key.

use serde_json::Value;
use understudy::bot::{Budget, Evaluated, Limits, Policy, Rng, Turn, Violations};
use understudy::games::wallgo::Wallgo;
use understudy::games::wallgo::board::{Board, Cell, Cells, each};
use understudy::games::wallgo::rules::{Position, Rules, UNLIMITED};
use understudy::games::wallgo::view::{Claim, ClaimedMasks, ClaimedPlayer, Phase, View};

pub fn load(name: &str) -> Value {
    let path = format!("{}/tests/cases/wallgo/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

pub fn cells(value: &Value) -> Cells {
    text(value).split_whitespace().map(|cell| self::cell(cell).bit()).fold(0, |a, b| a | b)
}

pub fn cell(rc: &str) -> Cell {
    let digit = |i: usize| u32::from(rc.as_bytes()[i] - b'0');
    Cell::at(digit(0), digit(1)).unwrap()
}

pub fn player(value: &Value) -> u8 {
    match text(value) {
        "A" => 0,
        "B" => 1,
        other => panic!("no player {other}"),
    }
}

pub fn position(case: &Value) -> Position {
    let mut board = Board::EMPTY;
    board.pieces = [cells(&case["a"]), cells(&case["b"])];
    board.east &= !cells(&case["e"]);
    board.south &= !cells(&case["s"]);
    let passes = case["passes"].as_u64().unwrap_or(0) as u8;
    Position { board, to_move: player(&case["to_move"]), walls_left: [UNLIMITED; 2], passes }
}

/// `stay=round_trip_only,pass=none`.
pub fn rules(switches: &str) -> Rules {
    let mut rules = Rules::default();
    for pair in switches.split(',').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap();
        rules.set(name, value).unwrap();
    }
    rules
}

pub fn view_of(rules: Rules, position: &Position) -> View {
    let left = |player: usize| (rules.wall_limit > 0).then(|| u32::from(position.walls_left[player]));
    view_from(&Claim {
        rules,
        phase: Some(Phase::Play),
        to_move: u32::from(position.to_move),
        players: (0..2).map(|player| ClaimedPlayer { pieces: Vec::new(), walls_left: left(player) }).collect(),
        compact: Some(ClaimedMasks {
            pieces: position.board.pieces.to_vec(),
            east: position.board.east_walls(),
            south: position.board.south_walls(),
        }),
        consecutive_passes: u32::from(position.passes),
        ..Claim::default()
    })
}

pub fn view_from(claim: &Claim) -> View {
    let mut problems = Violations::default();
    View::check(claim, &mut problems, &mut Vec::new()).unwrap_or_else(|| panic!("{:?}", problems.finish()))
}

/// The table of a policy under these limits; seed 1.
pub fn table(policy: &dyn Policy<Wallgo>, view: &View, limits: Limits) -> Evaluated<Wallgo> {
    let budget = Budget::new(limits);
    policy.evaluate(view, &mut Turn { budget: &budget, rng: &mut Rng::new(1) })
}

/// A random legal game from a random start, one entry a position, the finished one last.
pub fn random_game(rules: &Rules, seed: u64) -> Vec<Position> {
    let mut rng = Rng::new(seed).split("random game");
    let mut board = Board::EMPTY;
    board.pieces = [1 << 8 | 1 << 40, 1 << 12 | 1 << 36];
    for player in [0, 1, 0, 1] {
        let free = board.empty();
        board.pieces[player] |= each(free).nth(rng.below(u64::from(free.count_ones())) as usize).unwrap().bit();
    }
    let limit = if rules.wall_limit == 0 { UNLIMITED } else { rules.wall_limit };
    let mut position = Position { board, to_move: 1, walls_left: [limit; 2], passes: 0 };
    let mut all = vec![position];
    while position.end(rules).is_none() && position.passes < 4 {
        let actions = position.actions(rules);
        position = position.after(actions[rng.below(actions.len() as u64) as usize]);
        all.push(position);
    }
    all
}
