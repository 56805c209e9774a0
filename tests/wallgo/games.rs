//! Whole games through the referee.

use serde_json::Value;
use understudy::bot::{Ask, Outcome, Referee, Seat};
use understudy::games::wallgo::Wallgo;
use understudy::games::wallgo::action::Move;
use understudy::games::wallgo::board::Board;
use understudy::games::wallgo::rules::{End, Position, Rules, UNLIMITED, score};
use understudy::games::wallgo::state::{House, State};

use crate::cases::{cells, list, load, player, text};

fn rules(case: &Value) -> Rules {
    let mut rules = Rules::default();
    for (name, value) in case["rules"].as_object().unwrap() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        rules.set(name, &value).unwrap_or_else(|| panic!("{name}={value}"));
    }
    rules
}

#[test]
fn every_scripted_game_runs_to_its_end() {
    let data = load("games");
    assert_eq!(list(&data["games"]).len(), 18);
    for case in list(&data["games"]) {
        play(case);
    }
}

fn play(case: &Value) {
    let id = text(&case["id"]);
    let rules = rules(case);
    let house = House { rules, placed_by_seats: true };
    let mut state = Wallgo::deal(&house, 2, 1);
    for placement in list(&case["setup"]) {
        let (seat, key) = text(placement).split_once('@').unwrap();
        let seat = Seat(player(&Value::String(seat.to_owned())));
        assert_eq!(Wallgo::ask(&state), Ask::One(seat), "{id}: who places");
        Wallgo::resolve(&mut state, &[(seat, Move::parse(&format!("@{key}")).unwrap())]).unwrap();
    }
    assert_eq!(Wallgo::ask(&state), Ask::One(Seat(player(&case["first"]))), "{id}: who moves first");
    let keys: Vec<&str> = text(&case["actions"]).split_whitespace().collect();
    let legal = list(&case["legal"]);
    assert_eq!(keys.len(), legal.len());
    for (key, count) in keys.iter().zip(legal) {
        let position = *state.position();
        let actions = position.actions(&rules);
        assert_eq!(Some(actions.len() as u64), count.as_u64(), "{id}: before {key}");
        let Ask::One(seat) = Wallgo::ask(&state) else { panic!("{id}: over before {key}") };
        let view = Wallgo::view(&state, seat);
        assert_eq!(view.position(), &position);
        Wallgo::resolve(&mut state, &[(seat, Move::parse(key).unwrap())]).unwrap_or_else(|why| panic!("{id}: {why}"));
    }
    let position = *state.position();
    if case["final"].is_object() {
        let mut board = Board::EMPTY;
        board.pieces = [cells(&case["final"]["a"]), cells(&case["final"]["b"])];
        board.east &= !cells(&case["final"]["e"]);
        board.south &= !cells(&case["final"]["s"]);
        assert_eq!(position.board, board, "{id}");
        assert_eq!(position.to_move, player(&case["final"]["to_move"]), "{id}");
    }
    match (text(&case["end"]), Wallgo::ask(&state)) {
        ("truncated", Ask::Over(Outcome::Unknown { after_plies })) => assert_eq!(after_plies as usize, keys.len()),
        (end @ ("separated" | "blocked"), Ask::Over(Outcome::Known(settlement))) => {
            let expected = if end == "separated" { End::Separated } else { End::Blocked };
            assert_eq!(position.end(&rules), Some(expected), "{id}");
            let cells: Vec<i64> = list(&case["score"]).iter().map(|n| n.as_i64().unwrap()).collect();
            assert_eq!(settlement.payments, [cells[0] - cells[1], cells[1] - cells[0]], "{id}");
            let found = score(&rules, &position.board, &position.board.territory());
            assert_eq!(found.cells.map(i64::from).as_slice(), cells.as_slice(), "{id}");
            let winners: Vec<u8> = settlement.winners.iter().map(|seat| seat.0).collect();
            let expected = match text(&case["winner"]) {
                "A" => vec![0],
                "B" => vec![1],
                _ => vec![0, 1],
            };
            assert_eq!(winners, expected, "{id}");
        }
        (end, ask) => panic!("{id}: {end}, but {ask:?}"),
    }
}

#[test]
fn openings_repeat_and_differ() {
    let house = House::default();
    let boards: Vec<Board> = (0..200).map(|seed| Wallgo::deal(&house, 2, seed).position().board).collect();
    assert_eq!(boards[7], Wallgo::deal(&house, 2, 7).position().board);
    for board in &boards {
        assert_eq!(board.pieces.map(u64::count_ones), [4, 4]);
        assert_eq!(board.pieces[0] & (1 << 8 | 1 << 40), 1 << 8 | 1 << 40);
        assert_eq!(board.pieces[1] & (1 << 12 | 1 << 36), 1 << 12 | 1 << 36);
    }
    let distinct: std::collections::HashSet<_> = boards.iter().collect();
    assert_eq!(distinct.len(), 200);
}

#[test]
fn the_referee_refuses_what_the_rules_refuse() {
    let mut state = Wallgo::deal(&House::default(), 2, 3);
    let before = *state.position();
    let mover = Seat(before.to_move);
    let piece = understudy::games::wallgo::board::each(before.board.pieces[1]).next().unwrap();
    let pass = Move::Turn(understudy::games::wallgo::action::Turn::pass(piece));
    for (seat, mv) in [(mover, Move::Skip), (mover, pass), (Seat(0), pass)] {
        assert!(Wallgo::resolve(&mut state, &[(seat, mv)]).is_err(), "{seat:?} {mv:?}");
        assert_eq!(state.position(), &before, "a refused action changes nothing");
    }
    assert!(Wallgo::resolve(&mut state, &[]).is_err());
}

#[test]
fn house_rules_read_as_they_are_written() {
    for name in ["wallgo.v1", "wallgo.v1 stay=ROUND_TRIP_ONLY pass=NONE wall_limit=25", "wallgo.v1 setup=GIVEN"] {
        let house = Wallgo::rules(name).unwrap();
        let again = Wallgo::rules(&house.rules.resolved()).unwrap();
        assert_eq!(house, again);
    }
    assert!(Wallgo::rules("wallgo.v1 opening=placed").unwrap().placed_by_seats);
    for bad in ["", "wallgo.v2", "wallgo.v1 stay=NEVER", "wallgo.v1 colour=red", "wallgo.v1 stay"] {
        assert!(Wallgo::rules(bad).is_none(), "{bad:?}");
    }
    let given = Wallgo::deal(&Wallgo::rules("wallgo.v1 setup=GIVEN").unwrap(), 2, 5);
    assert_eq!(given.position().board.pieces.map(u64::count_ones), [4, 4]);
}

#[test]
fn a_match_can_start_from_any_position() {
    let position = Position { board: Board::EMPTY, to_move: 0, walls_left: [UNLIMITED; 2], passes: 0 };
    let over = Wallgo::ask(&State::new(Rules::default(), position));
    assert!(matches!(over, Ask::Over(Outcome::Known(_))), "an empty board has no mixed region");
}
