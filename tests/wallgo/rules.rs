//! Counted trees, under every switch; slots; tactics.

use std::collections::HashSet;

use serde_json::Value;
use understudy::games::wallgo::action::Move;
use understudy::games::wallgo::board::{Board, EDGES};
use understudy::games::wallgo::rules::{End, Position, Rules, Setup, score};

use crate::cases::{cells, list, load, position, rules, text};

#[test]
fn every_counted_tree_is_the_same() {
    let data = load("perft");
    assert_eq!(list(&data["positions"]).len(), 74);
    for case in list(&data["positions"]) {
        let start = position(case);
        check(case, &start, &Rules::default(), &case["perft"]);
        for (switches, counts) in case["switches"].as_object().unwrap() {
            check(case, &start, &rules(switches), counts);
        }
        let limited = &case["wall_limit=20"];
        let left = list(&limited["walls_left"]).iter().map(|left| left.as_u64().unwrap() as u8).collect::<Vec<_>>();
        let start = Position { walls_left: [left[0], left[1]], ..start };
        check(case, &start, &rules("wall_limit=20"), &limited["perft"]);
    }
}

fn check(case: &Value, start: &Position, rules: &Rules, counts: &Value) {
    for (depth, count) in list(counts).iter().enumerate() {
        match count {
            Value::String(reason) => {
                let end = if reason == "blocked" { End::Blocked } else { End::Separated };
                assert_eq!(start.end(rules), Some(end), "{} under {rules:?}", case["id"]);
            }
            count => {
                let found = start.perft(rules, depth as u32 + 1);
                assert_eq!(Some(found), count.as_u64(), "{} depth {} under {rules:?}", case["id"], depth + 1);
            }
        }
    }
}

#[test]
fn regions_passes_and_distinct_successors_are_the_same() {
    for case in list(&load("perft")["positions"]) {
        let (start, rules) = (position(case), Rules::default());
        let territory = start.board.territory();
        let neutral = start.board.empty() & !(territory.pure[0] | territory.pure[1] | territory.mixed);
        for (name, region) in
            [("A", territory.pure[0]), ("B", territory.pure[1]), ("mixed", territory.mixed), ("neutral", neutral)]
        {
            let mut sizes: Vec<u64> = start.board.regions(region).map(|r| u64::from(r.count_ones())).collect();
            sizes.sort_unstable_by(|a, b| b.cmp(a));
            let expected: Vec<u64> = list(&case["regions"][name]).iter().map(|n| n.as_u64().unwrap()).collect();
            assert_eq!(sizes, expected, "{} {name}", case["id"]);
        }
        let (turns, passes) = start.count_turns(&rules, start.mover());
        assert_eq!(u64::from(turns), case["perft"][0].as_u64().unwrap());
        assert_eq!(u64::from(passes), case["passes_legal"].as_u64().unwrap(), "{}", case["id"]);
        let candidates = start.candidates(&rules);
        assert_eq!(candidates.len() as u64, case["distinct"].as_u64().unwrap(), "{}", case["id"]);
        let successors: HashSet<_> = candidates.iter().map(|mv| start.after(*mv)).collect();
        assert_eq!(successors.len(), candidates.len(), "{}: merged candidates are distinct", case["id"]);
    }
}

#[test]
fn tactics_count_what_ends_the_game() {
    let rules = Rules::default();
    for case in list(&load("tactics")["positions"]) {
        let start = position(case);
        let me = start.mover();
        assert_eq!(start.actions(&rules).len() as u64, case["legal"].as_u64().unwrap(), "{}", case["id"]);
        let wins = |position: &Position, player: usize| {
            position.end(&rules).is_some()
                && score(&rules, &position.board, &position.board.territory()).winner == Some(player as u8)
        };
        let mut at_once = Vec::new();
        let mut safe = Vec::new();
        let mut unsafe_actions = 0;
        for mv in start.actions(&rules) {
            let after = start.after(mv);
            if wins(&after, me) {
                at_once.push(mv.key());
            }
            let lost = wins(&after, 1 - me)
                || after.end(&rules).is_none()
                    && after.actions(&rules).iter().any(|reply| wins(&after.after(*reply), 1 - me));
            unsafe_actions += u64::from(lost);
            if !lost {
                safe.push(mv.key());
            }
        }
        assert_eq!(sorted(at_once), keys(&case["wins_at_once"]), "{}", case["id"]);
        assert_eq!(Some(unsafe_actions), case["unsafe"].as_u64(), "{}", case["id"]);
        match &case["safe"] {
            Value::Array(_) => assert_eq!(sorted(safe), keys(&case["safe"]), "{}", case["id"]),
            count => assert_eq!(Some(safe.len() as u64), count.as_u64(), "{}", case["id"]),
        }
    }
}

pub fn keys(value: &Value) -> Vec<String> {
    sorted(list(value).iter().map(|key| text(key).to_owned()).collect())
}

pub fn sorted(mut keys: Vec<String>) -> Vec<String> {
    keys.sort_unstable();
    keys
}

#[test]
fn slots_have_the_pinned_order() {
    let data = load("setup");
    for example in list(&data["slots"]["examples"]) {
        let Some(Move::Turn(turn)) = Move::parse(text(&example["action"])) else { panic!("{example}") };
        assert_eq!(turn.slot().map(u64::from), example["slot"].as_u64(), "{example}");
        assert_eq!(Move::Turn(turn).key(), text(&example["action"]));
    }
    // Every turn on the board whose wall is not on the border, in the order of the slots.
    let mut slots = Vec::new();
    let mut passes = 0;
    for from in 0..49 {
        for to in 0..49 {
            for wall in ["N", "E", "S", "W", "-"] {
                let key = format!("{}{}>{}{}{wall}", from / 7, from % 7, to / 7, to % 7);
                let border = match wall {
                    "N" => to < 7,
                    "E" => to % 7 == 6,
                    "S" => to >= 42,
                    "W" => to % 7 == 0,
                    _ => false,
                };
                let Some(Move::Turn(turn)) = Move::parse(&key).filter(|_| !border) else { continue };
                passes += u32::from(wall == "-");
                slots.push((turn, turn.slot().unwrap()));
            }
        }
    }
    assert_eq!(slots.len() as u64, data["slots"]["inside_the_board"].as_u64().unwrap());
    assert_eq!(u64::from(passes), data["slots"]["pass_slots"].as_u64().unwrap());
    assert!(slots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1), "the order is the slots'");
    for bad in ["", "@", "@77", "00>00", "00>07E", "00>33E", "01>00-", "0é>0E", "skip ", "11>12X"] {
        assert_eq!(Move::parse(bad), None, "{bad:?}");
    }
    assert_eq!(Move::parse("@24").map(|mv| mv.key()), Some("@24".to_owned()));
    assert_eq!(Move::parse("skip"), Some(Move::Skip));
}

#[test]
fn setups_start_and_go_on_as_told() {
    for (name, case) in load("setup")["rules"].as_object().unwrap() {
        let mut rules = rules(&format!("setup={name}"));
        assert_eq!(rules.setup.fixed(), [cells(&case["start"]["a"]), cells(&case["start"]["b"])], "{name}");
        let order: String = rules.setup.order().iter().map(|player| ['A', 'B'][usize::from(*player)]).collect();
        assert_eq!(order, text(&case["order"]));
        for (mover, player) in case["first_mover"].as_object().unwrap() {
            rules.set("first_mover", mover).unwrap();
            assert_eq!(["A", "B"][usize::from(rules.first_player())], text(player), "{name} {mover}");
        }
        let mut free = u64::from(EDGES); // replaced at once; a board has 49 cells, not 84
        let mut sequences = 1;
        let stones = rules.setup.fixed().iter().map(|cells| cells.count_ones()).sum::<u32>();
        for (placed, expected) in list(&case["placements"]).iter().enumerate() {
            free = if placed == 0 { u64::from(Board::EMPTY.empty().count_ones() - stones) } else { free - 1 };
            sequences *= free;
            assert_eq!(Some(sequences), expected.as_u64(), "{name}");
        }
    }
    assert_eq!(Setup::Given.order(), &[] as &[u8]);
}
