//! The referee: whole rounds against the golden ones, matches, illegal answers, twins.

use crate::load::{cases, deck, ids, key, set};
use understudy::bot::{Ask, Game, Outcome, Referee, Rng, Seat};
use understudy::games::lexio::flow::Flow;
use understudy::games::lexio::melds;
use understudy::games::lexio::policies::easy_move;
use understudy::games::lexio::rules::{FirstLead, Ruleset};
use understudy::games::lexio::state::State;
use understudy::games::lexio::tile::{Deck, Tile, TileSet};
use understudy::games::lexio::{Lexio, Move};

/// Golden rounds name the hands, the referee deals by seed: so these run on the flow itself.
#[test]
fn rounds_of_easy_are_golden() {
    for case in cases("rounds") {
        let deck = deck(&case);
        let mut hands: Vec<TileSet> = case["hands"].as_array().unwrap().iter().map(set).collect();
        let first = hands.iter().position(|hand| hand.has(Tile::C3)).unwrap();
        let mut left = [0; 5];
        left[..hands.len()].fill(deck.hand_size);
        let mut flow = Flow::start(deck.seats, first as u8, left);
        let mut log = Vec::new();
        while flow.winner().is_none() {
            let seat = usize::from(flow.to_act);
            let play = easy_move(hands[seat], deck, flow.table.as_ref());
            assert_eq!(flow.refuse(play.as_ref()), None);
            let tiles = play.map_or(TileSet::EMPTY, |meld| meld.tiles());
            hands[seat] = hands[seat].minus(tiles);
            log.push((seat as u32, tiles));
            flow.apply(play);
        }
        assert_eq!(flow.winner().map(u64::from), case["winner"].as_u64(), "{case}");
        assert_eq!(log.len() as u64, case["actions"].as_u64().unwrap());
        assert_eq!(u64::from(flow.trick) + 1, case["tricks"].as_u64().unwrap());
        if let Some(golden) = case["log"].as_array() {
            let golden: Vec<(u32, TileSet)> = golden
                .iter()
                .map(|entry| {
                    let entry = ids(entry);
                    (entry[0], entry[1..].iter().map(|&id| Tile::new(id).unwrap()).collect())
                })
                .collect();
            assert_eq!(log, golden);
        }
        let left: Vec<Vec<u32>> = hands.iter().map(|hand| vec![hand.len(), hand.rank(14).len()]).collect();
        assert_eq!(left, case["left"].as_array().unwrap().iter().map(ids).collect::<Vec<_>>());
        let rules = Ruleset::default();
        let counts: Vec<i32> = hands.iter().map(|hand| rules.count(*hand)).collect();
        let nets: Vec<i64> = (0..hands.len()).map(|me| i64::from(rules.net(&counts, me))).collect();
        assert_eq!(nets, case["net"].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect::<Vec<_>>());
    }
}

fn play_round(state: &mut State) -> Vec<i64> {
    loop {
        match Lexio::ask(state) {
            Ask::One(seat) => {
                let view = Lexio::view(state, seat);
                let play = easy_move(view.hand(), view.deck(), view.table().map(|(_, meld)| meld));
                Lexio::resolve(state, &[(seat, play.map_or(Move::Pass, Move::Play))]).unwrap();
            }
            Ask::Over(Outcome::Known(settlement)) => return settlement.payments,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn easy_rounds_end_and_sum_to_nothing() {
    for seed in 0..20_000 {
        let seats = 3 + (seed % 3) as u8;
        let mut state = State::deal(Ruleset::default(), seats, seed);
        let payments = play_round(&mut state);
        assert_eq!(payments.iter().sum::<i64>(), 0);
        assert_eq!(payments.len(), usize::from(seats));
    }
}

#[test]
fn deals_depend_on_the_seed_only_and_use_the_whole_deck() {
    for seats in 3..=5 {
        let (a, b) = (State::deal(Ruleset::default(), seats, 9), State::deal(Ruleset::default(), seats, 9));
        assert_eq!(a.hands(), b.hands());
        assert_ne!(a.hands(), State::deal(Ruleset::default(), seats, 10).hands());
        let union = a.hands().iter().fold(TileSet::EMPTY, |all, hand| all.or(*hand));
        assert_eq!(union.len(), a.hands().iter().map(|hand| hand.len()).sum::<u32>());
        assert!(a.hands()[usize::from(a.flow().to_act)].has(Tile::C3), "the holder of cloud 3 leads");
    }
    // Pinned: deal 1 for five players is the same in every release.
    let first = State::deal(Ruleset::default(), 5, 1).hands()[0];
    assert_eq!(first.to_string(), PINNED_HAND);
}

const PINNED_HAND: &str = "M4 S4 S5 T7 T8 S10 T11 M13 S15 C1 T1 S2";

#[test]
fn matches_have_five_rounds_and_carry_money() {
    for (first_lead, seed) in [(FirstLead::C3Holder, 3), (FirstLead::PreviousWinner, 4)] {
        let rules = Ruleset { first_lead, ..Ruleset::default() };
        let mut state = State::deal(rules, 5, seed);
        assert!(state.next_round(1).is_none(), "this round still runs");
        let mut money = [0; 5];
        for round in 1..=5u8 {
            assert_eq!(state.view(0).round(), round);
            assert_eq!(state.view(0).money(), Some(&money[..]));
            let payments = play_round(&mut state);
            money.iter_mut().zip(&payments).for_each(|(total, net)| *total += net);
            let winner = state.flow().winner().unwrap();
            match state.next_round(seed * 100 + u64::from(round)) {
                Some(next) => {
                    let leader = next.flow().to_act;
                    let holds_c3 = next.hands()[usize::from(leader)].has(Tile::C3);
                    assert!(if first_lead == FirstLead::C3Holder { holds_c3 } else { leader == winner });
                    state = next;
                }
                None => assert_eq!(round, 5),
            }
        }
    }
}

#[test]
fn illegal_answers_change_nothing() {
    let mut state = State::deal(Ruleset::default(), 5, 1);
    let leader = Seat(state.flow().to_act);
    let other = Seat((leader.0 + 1) % 5);
    let lead = key(&state.hands()[leader.index()].lowest().unwrap().to_string());
    let foreign = key(&state.hands()[other.index()].lowest().unwrap().to_string());
    let before = state.clone();
    for (answers, reason) in [
        (vec![(leader, Move::Pass)], "pass_on_lead"),
        (vec![(other, foreign)], "out_of_turn"),
        (vec![(leader, foreign)], "not_in_hand"),
        (vec![(leader, lead), (other, Move::Pass)], "one answer is asked for"),
        (vec![], "one answer is asked for"),
    ] {
        assert_eq!(Lexio::resolve(&mut state, &answers).unwrap_err().reason, reason);
        assert_eq!((state.hands(), state.flow()), (before.hands(), before.flow()));
    }
    let mut leads = Vec::new();
    melds::all(state.hands()[other.index()], Deck::of(5).unwrap(), |meld| leads.push(meld));
    let pair = *leads.iter().find(|meld| meld.count() == 2).expect("this deal gives the second seat a pair");
    Lexio::resolve(&mut state, &[(leader, lead)]).unwrap();
    assert_eq!(Lexio::resolve(&mut state, &[(other, Move::Play(pair))]).unwrap_err().reason, "count_differs");
    play_round(&mut state);
    let refused = Lexio::resolve(&mut state, &[(leader, Move::Pass)]).unwrap_err();
    assert_eq!(refused.reason, "after_round_end");
}

/// Twins look the same from one seat, hold the same tiles together, and cloud 3 stays with whoever led first.
#[test]
fn twins_look_the_same() {
    let mut different = 0;
    for seed in 0..60u64 {
        let mut state = State::deal(Ruleset::default(), 3 + (seed % 3) as u8, seed);
        for _ in 0..seed % 23 {
            if let Ask::One(seat) = Lexio::ask(&state) {
                // The strongest answer, so that cloud 3 often stays hidden for a while.
                let best = Lexio::legal(&Lexio::view(&state, seat)).into_iter().filter(|mv| *mv != Move::Pass).max();
                Lexio::resolve(&mut state, &[(seat, best.unwrap_or(Move::Pass))]).unwrap();
            }
        }
        let Ask::One(seat) = Lexio::ask(&state) else { continue };
        let twin = Lexio::twin(&state, seat, &mut Rng::new(seed));
        assert_eq!(Lexio::view(&state, seat), Lexio::view(&twin, seat));
        let union = |state: &State| state.hands().iter().fold(TileSet::EMPTY, |all, hand| all.or(*hand));
        assert_eq!(union(&state), union(&twin));
        let counts = |state: &State| state.hands().iter().map(|hand| hand.len()).collect::<Vec<_>>();
        assert_eq!(counts(&state), counts(&twin));
        let holder = |state: &State| state.hands().iter().position(|hand| hand.has(Tile::C3));
        assert_eq!(holder(&state), holder(&twin));
        different += usize::from(state.hands() != twin.hands());
    }
    assert!(different > 30, "{different}");
}
