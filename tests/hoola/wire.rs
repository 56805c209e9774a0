//! Messages: round trips, the resolved ruleset, the pinned view hash, and views that make no sense at all.

use crate::data::{file, message, views};
use understudy::bot::{Rng, Wire};
use understudy::games::hoola::Hoola;
use understudy::pb;

#[test]
fn a_view_written_reads_back() {
    for view in views() {
        let checked = Hoola::read(Hoola::write_view(&view)).unwrap_or_else(|reject| panic!("{reject:?}"));
        assert_eq!(checked.view, view);
        assert_eq!(checked.ruleset, view.rules().to_string());
    }
}

/// A change of these bytes changes every hash and every derived seed: bump the policies' versions with it.
#[test]
fn the_canonical_bytes_are_pinned() {
    let file = file("validation");
    let hash = |base: &str| {
        let checked = Hoola::read(message(&file["bases"][base])).unwrap_or_else(|reject| panic!("{reject:?}"));
        format!("{:016x}", checked.view_hash)
    };
    let found: Vec<String> = ["ACTION", "WINDOW", "TURN_START", "FREE"].map(hash).into();
    assert_eq!(found, ["7cbf0b808d7b6c21", "1a2a3cbcbdfae386", "c7ea5d272bd3ea1d", "5f33c57a5946059d"]);
    let mut shuffled = file["bases"]["ACTION"].clone();
    shuffled["hand"].as_array_mut().expect("hand").reverse();
    shuffled["scores"] = serde_json::json!([0, 0, 0, 0]);
    shuffled["ruleset"]["stop_limit"] = 15.into();
    let checked = Hoola::read(message(&shuffled)).unwrap_or_else(|reject| panic!("{reject:?}"));
    assert_eq!(format!("{:016x}", checked.view_hash), found[0], "order of the hand, scores and spelt-out defaults");
}

#[test]
fn the_resolved_ruleset_names_every_switch() {
    let checked = Hoola::read(message(&file("validation")["bases"]["FREE"])).unwrap_or_else(|r| panic!("{r:?}"));
    assert_eq!(
        checked.ruleset,
        "hoola.standard.v1 players=4 run_wrap=RING discard_draw=FREE stop_limit=15 low_limit=15 high_limit=83 \
         mult_low=2 mult_high=2 hoola_layoff=ANY dokbak_scope=HOOLA tie_split=SPLIT seven_hand_value=7 \
         chongtong_unregistered_only=false payer_inherits_baks=true"
    );
}

/// One number of the message, somewhere, becomes another.
fn disturb(view: &mut pb::hoola::View, rng: &mut Rng) {
    let any = [0, 1, 2, 3, 5, 6, 7, 51, 52, 99, u32::MAX][rng.below(11) as usize];
    let mut pick = |len: usize| if len == 0 { None } else { Some(rng.below(len as u64) as usize) };
    let which = pick(16).unwrap_or(0);
    match which {
        0 => view.seat = any,
        1 => view.starter = any,
        2 => view.turn_seat = any,
        3 => view.phase = any as i32,
        4 => view.deck_remaining = any,
        5 => view.turn = None,
        6 => view.turn = Some(pb::hoola::Turn { taken_card: Some(any), ..pb::hoola::Turn::default() }),
        7 => view.hand = vec![any; any.min(9) as usize],
        8 => view.ruleset = Some(pb::hoola::Ruleset { players: Some(any), ..pb::hoola::Ruleset::default() }),
        9 => view.seats.truncate(any as usize),
        10 => view.melds.truncate(any as usize),
        11 => view.discards.truncate(any as usize),
        12 => {
            if let Some(i) = pick(view.hand.len()) {
                view.hand[i] = any;
            }
        }
        13 => {
            if let Some(i) = pick(view.seats.len()) {
                view.seats[i].hand_count = any;
                view.seats[i].known_cards.push(any);
            }
        }
        14 => {
            if let Some(i) = pick(view.melds.len()) {
                view.melds[i].cards.push(any);
                view.melds[i].owner = any;
            }
        }
        _ => {
            if let Some(i) = pick(view.discards.len()) {
                view.discards[i].card = any;
                view.discards[i].seat = Some(any);
                view.discards[i].taken_by = Some(any);
            }
        }
    }
}

#[test]
fn no_view_however_broken_makes_it_panic() {
    let sound: Vec<_> = views().iter().map(Hoola::write_view).collect();
    let mut rng = Rng::new(6);
    for i in 0..40_000 {
        let mut view = sound[i % sound.len()].clone();
        if let Some(pb::view::Game::Hoola(inner)) = &mut view.game {
            for _ in 0..=rng.below(3) {
                disturb(inner, &mut rng);
            }
        }
        if let Ok(checked) = Hoola::read(view) {
            use understudy::bot::Game;
            assert!(!Hoola::legal(&checked.view).is_empty());
        }
    }
}
