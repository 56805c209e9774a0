//! Random views, sound and broken: nothing panics, and what is accepted is decided by every policy, legally.

use crate::load::key;
use proptest::prelude::*;
use understudy::bot::{Budget, Game, Limits, Policy, Rng, Terms, Turn, Wire, decide};
use understudy::games::lexio::Lexio;
use understudy::games::lexio::melds;
use understudy::games::lexio::policies::{Easy, Expert, First, Hard};
use understudy::games::lexio::tile::{Deck, Tile};
use understudy::pb;

/// A view without a log: any split of a deck into hand, rivals and played, any meld of the played tiles on the table.
fn any_view(seed: u64) -> pb::lexio::View {
    let mut rng = Rng::new(seed);
    let seats = 3 + rng.below(3) as usize;
    let deck = Deck::of(seats).unwrap();
    let mut tiles: Vec<Tile> = deck.tiles.into_iter().collect();
    rng.shuffle(&mut tiles);
    let mut take = |n: usize| tiles.split_off(tiles.len() - n);
    let counts: Vec<usize> = (0..seats).map(|_| 1 + rng.below(u64::from(deck.hand_size)) as usize).collect();
    let ids = |tiles: &[Tile]| tiles.iter().map(|tile| u32::from(tile.id())).collect::<Vec<_>>();
    let hand = ids(&take(counts[0]));
    let _unseen = take(counts[1..].iter().sum());
    let mut table = None;
    if rng.below(3) > 0 {
        let mut found = Vec::new();
        melds::all(tiles.iter().copied().take(14).collect(), deck, |meld| found.push(meld));
        if !found.is_empty() {
            let meld = found[rng.below(found.len() as u64) as usize];
            let tiles = meld.tiles().into_iter().map(|tile| u32::from(tile.id())).collect();
            table = Some(pb::lexio::Table { seat: 1 + rng.below(seats as u64 - 1) as u32, tiles });
        }
    }
    pb::lexio::View {
        ruleset: Some(pb::lexio::Ruleset {
            name: "lexio.standard".to_owned(),
            version: 1,
            first_lead: rng.below(3) as i32,
            two_mult: rng.below(3) as i32,
            settle: rng.below(3) as i32,
            must_play_c3: rng.below(2) as i32,
            pass_lock: rng.below(2) as i32,
        }),
        me: 0,
        round: 1 + rng.below(5) as u32,
        hand,
        played: ids(&tiles),
        table,
        seats: counts.iter().map(|&count| pb::lexio::Seat { tile_count: count as u32 }).collect(),
        log: Vec::new(),
        money: Vec::new(),
    }
}

fn decide_by_all(view: &understudy::games::lexio::view::View, seed: u64) {
    let hard = Hard::default();
    let expert = Expert::default();
    let legal = Lexio::legal(view);
    for policy in [&Easy as &dyn Policy<Lexio>, &First, &hard, &expert] {
        let budget = Budget::new(Limits::worlds(2));
        let table = policy.evaluate(view, &mut Turn { budget: &budget, rng: &mut Rng::new(seed) });
        assert_eq!(table.rows().len(), legal.len());
        assert!(legal.contains(decide(&table).mv()));
        for row in table.rows() {
            let values = row.terms().values();
            assert!(values.iter().all(|value| (0.0..=1.0).contains(value)));
            let sum: f64 = row.weights().shown().iter().map(|i| values[i] * row.weights().in_force(i)).sum();
            assert!((sum - row.total()).abs() < 1e-9 && row.total().is_finite());
            assert_eq!(key(&Lexio::key(row.mv())), *row.mv());
        }
        let fast = policy.shortcut(view, &mut Turn { budget: &budget, rng: &mut Rng::new(seed) });
        if let Some(fast) = fast {
            assert_eq!(&fast, decide(&table).mv());
        }
    }
}

/// One number somewhere replaced by another.
fn damage(view: &mut pb::lexio::View, place: u64, value: u32) {
    let at = |list: &mut Vec<u32>, value: u32| match list.len() {
        0 => list.push(value),
        n => list[value as usize % n] = value % 70,
    };
    match place % 12 {
        0 => view.me = value % 7,
        1 => view.round = value % 8,
        2 => at(&mut view.hand, value),
        3 => at(&mut view.played, value),
        4 => view.seats.truncate(value as usize % 6),
        5 => view.table = Some(pb::lexio::Table { seat: value % 7, tiles: vec![value % 64; value as usize % 7] }),
        6 => view.seats.iter_mut().for_each(|seat| seat.tile_count = value),
        7 => view.money = vec![i64::MIN, i64::MAX, -1],
        8 => {
            view.log.push(pb::lexio::Action {
                seat: value % 6,
                trick: value,
                pass: value.is_multiple_of(2),
                tiles: vec![value],
            });
        }
        9 => view.ruleset = None,
        10 => view.hand.clear(),
        _ => view.hand.extend(0..value % 100),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn sound_views_are_decided(seed in any::<u64>()) {
        let view = pb::View { game: Some(pb::view::Game::Lexio(any_view(seed))) };
        let checked = Lexio::read(view).unwrap_or_else(|reject| panic!("{reject:?}"));
        decide_by_all(&checked.view, seed);
        // Written and read again it is the same, so nothing was lost on the way in.
        prop_assert_eq!(Lexio::read(Lexio::write_view(&checked.view)).unwrap().view, checked.view);
    }

    #[test]
    fn damaged_views_never_panic(seed in any::<u64>(), damages in proptest::collection::vec(any::<(u64, u32)>(), 1..4)) {
        let mut view = any_view(seed);
        for (place, value) in damages {
            damage(&mut view, place, value);
        }
        if let Ok(checked) = Lexio::read(pb::View { game: Some(pb::view::Game::Lexio(view)) }) {
            decide_by_all(&checked.view, seed);
        }
    }
}
