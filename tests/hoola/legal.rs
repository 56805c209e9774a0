//! Full lists of legal moves at every decision point, and what is refused.

use crate::data::{file, int, list, moves, mv, text, view, views};
use understudy::bot::{Ask, Game, Referee, Seat};
use understudy::games::hoola::Hoola;
use understudy::games::hoola::card::{Card, Cards};
use understudy::games::hoola::moves::{Move, StopKind};

#[test]
fn every_state_has_exactly_these_moves() {
    for case in list(&file("legal"), "cases") {
        assert_eq!(Hoola::legal(&view(&case["view"])), moves(&case["legal"]), "{case}");
    }
}

#[test]
fn stops_at_and_beside_every_limit() {
    for case in list(&file("stops"), "cases") {
        let view = view(&case["view"]);
        assert_eq!(Hoola::legal(&view), moves(&case["legal"]), "{case}");
        assert_eq!(i64::from(view.scene().sum()), int(&case["sum"]), "{case}");
    }
}

/// All moves there are that name a card or a meld in reach of this view, and then some.
fn every_move(view: &understudy::games::hoola::view::View) -> Vec<Move> {
    let hand: Vec<Card> = view.hand().iter().collect();
    let parts = (0u32..1 << hand.len()).map(|bits| {
        let held = hand.iter().enumerate().filter(|&(i, _)| bits >> i & 1 == 1);
        held.map(|(_, &card)| card).collect::<Cards>()
    });
    let mut all = vec![Move::Draw, Move::Pass];
    all.extend(StopKind::ALL.map(Move::Stop));
    for part in parts {
        all.extend([Move::Take(part), Move::Claim(part), Move::Register(part)]);
        all.extend((0..=view.melds().list().len() as u8).map(|meld| Move::LayOff { meld, cards: part }));
    }
    all.extend((0..52).filter_map(Card::new).map(Move::Discard));
    all
}

#[test]
fn listing_and_asking_agree() {
    for view in views() {
        let mut asked: Vec<Move> = every_move(&view).into_iter().filter(|mv| view.scene().is_legal(mv)).collect();
        asked.sort();
        assert_eq!(asked, Hoola::legal(&view));
    }
}

#[test]
fn no_refused_move_is_legal() {
    for view in views() {
        let legal = Hoola::legal(&view);
        let refused = Hoola::refused(&view);
        assert!(refused.iter().all(|(mv, _)| !legal.contains(mv)));
        let mut moves: Vec<_> = refused.iter().map(|(mv, _)| mv).collect();
        moves.sort();
        moves.dedup();
        assert_eq!(moves.len(), refused.len(), "at most once a card and meld");
    }
}

#[test]
fn the_first_meld_unlocks_lay_offs_in_the_same_turn() {
    let file = file("mistakes");
    let case = list(&file, "cases").iter().find(|case| case["id"] == "layoff-after-first-register").expect("a case");
    let before = view(&case["view"]);
    assert_eq!(Hoola::legal(&before), moves(&case["legal"]));
    let refused: Vec<_> = Hoola::refused(&before);
    for lay_off in moves(&case["then"]) {
        assert!(refused.contains(&(lay_off, "NOT_REGISTERED")), "{lay_off}");
    }
    let mut after = case["view"].clone();
    after["hand"].as_array_mut().expect("hand").retain(|card| card != 6);
    after["seats"][0] = serde_json::json!({"hand_count": 7, "registered": true, "known_cards": []});
    let meld = serde_json::json!({"id": 1, "owner": 0, "kind": "SEVEN", "cards": [6]});
    after["melds"].as_array_mut().expect("melds").push(meld);
    assert_eq!(text(&case["after"]), "reg:6");
    let legal = Hoola::legal(&view(&after));
    assert!(moves(&case["then"]).iter().all(|lay_off| legal.contains(lay_off)));
}

#[test]
fn what_a_player_would_ask_for_is_refused_by_name() {
    let reasons: Vec<&str> = views().iter().flat_map(Hoola::refused).map(|(_, reason)| reason).collect();
    for reason in ["NOT_REGISTERED", "NEEDS_TWO_SEVENS", "RUN_LOCKED", "OVER_LIMIT"] {
        assert!(reasons.contains(&reason), "{reason}");
    }
    let file = file("mistakes");
    let case = list(&file, "cases").iter().find(|case| case["id"] == "greedy-run").expect("a case");
    assert_eq!(Hoola::legal(&view(&case["view"])), moves(&case["legal"]));
    assert_eq!(Hoola::kind(&mv("lay:0:1")), "lay_off");
}

#[test]
fn a_card_taken_freely_stays_for_that_turn() {
    let rules = Hoola::rules("hoola.standard.v1 discard_draw=FREE").expect("a ruleset");
    let mut state = Hoola::deal(&rules, 4, 1);
    let passes: Vec<_> = (0..4).map(|seat| (Seat(seat), Move::Pass)).collect();
    Hoola::resolve(&mut state, &passes).expect("all pass");
    let Ask::One(starter) = Hoola::ask(&state) else { panic!("a turn begins") };
    Hoola::resolve(&mut state, &[(starter, mv("take"))]).expect("legal");
    let view = Hoola::view(&state, starter);
    let taken = view.turn().and_then(|turn| turn.taken_card).expect("the opening card");
    assert_eq!(Hoola::refused(&view).last(), Some(&(Move::Discard(taken), "JUST_TAKEN")));
    assert!(!Hoola::legal(&view).contains(&Move::Discard(taken)));
    assert_eq!(view.seats()[starter.index()].known, Cards::of(taken));
}
