//! Facts about the rules (L1 to L7), and the fast rule book against the slow one.

use understudy::bot::Rng;
use understudy::games::wallgo::action::Move;
use understudy::games::wallgo::board::each;
use understudy::games::wallgo::rules::{Position, Rules};

use crate::cases::{random_game, rules};
use crate::slow::Slow;

/// Every position of a random game, both ways; every seventh with all its successors.
fn agree(rules: &Rules, seed: u64) {
    for (ply, position) in random_game(rules, seed).into_iter().enumerate() {
        let slow = Slow::of(&position);
        let territory = position.board.territory();
        let (cells, any_mixed) = slow.cells();
        assert_eq!(territory.mixed != 0, any_mixed, "seed {seed}");
        assert_eq!(territory.pure.map(|cells| cells.count_ones() as usize), cells, "seed {seed}");
        let builds = slow.builds(rules, 0) || slow.builds(rules, 1);
        let over = !any_mixed || !builds;
        assert_eq!(position.end(rules).is_some(), over, "seed {seed}");
        if over {
            continue;
        }
        let mut keys: Vec<Vec<u8>> = slow.legal(rules).iter().map(|key| key.to_vec()).collect();
        if keys.is_empty() {
            keys.push(b"skip".to_vec());
            assert_eq!(Slow::of(&position.after(Move::Skip)), slow.play(None), "seed {seed}");
        }
        let mut fast: Vec<Vec<u8>> = position.actions(rules).iter().map(|mv| mv.key().into_bytes()).collect();
        fast.sort_unstable();
        assert_eq!(fast, keys, "seed {seed}");
        if ply % 7 != seed as usize % 7 {
            continue;
        }
        let successors = slow.successors(rules);
        let candidates = position.candidates(rules);
        assert_eq!(candidates.len(), successors.len().max(1), "seed {seed}");
        for mv in candidates {
            let key = <[u8; 6]>::try_from(mv.key().as_bytes()).ok();
            assert_eq!(Slow::of(&position.after(mv)), slow.play(key), "seed {seed} {mv:?}");
        }
    }
}

#[test]
fn the_fast_rule_book_is_the_slow_one() {
    // By hand: WALLGO_GAMES=100000 cargo test --release --test wallgo the_fast_rule_book
    let games = std::env::var("WALLGO_GAMES").ok().and_then(|games| games.parse().ok()).unwrap_or(2_000);
    let variants = [
        "",
        "stay=round_trip_only",
        "pass=none",
        "sealed_may_act=false",
        "stay=round_trip_only,pass=none",
        "stay=round_trip_only,sealed_may_act=false",
        "wall_limit=20",
        "wall_limit=25,stay=round_trip_only",
    ];
    for seed in 0..games {
        // Every second game under the default rules, the others under the switches in turn.
        let variant = if seed % 2 == 0 { 0 } else { seed as usize / 2 % variants.len() };
        agree(&rules(variants[variant]), seed);
    }
}

#[test]
fn l1_to_l3_every_building_action_adds_one_wall_and_passes_are_never_forced() {
    let rules = Rules::default();
    for seed in 0..300 {
        let game = random_game(&rules, seed);
        for pair in game.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            let walls = after.board.walls() - before.board.walls();
            assert_eq!(walls == 0, after.passes > 0, "a wall or a pass");
            assert!(walls <= 1);
            assert!(before.can_build(&rules, 0) && before.can_build(&rules, 1), "L2: each side can build");
            let mixed = before.board.territory().mixed;
            let pieces = (before.board.pieces[0] | before.board.pieces[1]) & mixed;
            assert_eq!(before.board.boxed(pieces), 0, "L2: every piece of a mixed region has an open side");
            for mv in before.actions(&rules) {
                let next = before.after(mv);
                assert_eq!(next.board.walls() - before.board.walls() == 1, next.passes == 0, "L1 and L3");
                let moved: Vec<u32> =
                    (0..2).map(|p| (next.board.pieces[p] ^ before.board.pieces[p]).count_ones()).collect();
                assert_eq!(moved[1 - before.mover()], 0, "only the mover's piece moves");
                assert_eq!(next.board.pieces[0] & next.board.pieces[1], 0);
            }
        }
    }
}

#[test]
fn l5_a_lead_larger_than_the_mixed_cells_only_grows_for_who_stays_away_from_home() {
    let rules = Rules::default();
    let mut rng = Rng::new(5);
    let mut met = 0;
    for seed in 0..1500 {
        let game = random_game(&rules, 1000 + seed);
        let Some(start) = game.iter().find(|position| {
            let territory = position.board.territory();
            position.end(&rules).is_none() && territory.lead(0).unsigned_abs() > territory.mixed.count_ones()
        }) else {
            continue;
        };
        met += 1;
        let leader = usize::from(start.board.territory().lead(0) < 0);
        let surplus = |position: &Position| {
            let territory = position.board.territory();
            territory.lead(leader) - territory.mixed.count_ones() as i32
        };
        let mut position = *start;
        let mut least = surplus(&position);
        while position.end(&rules).is_none() && position.passes < 4 {
            let mut actions = position.actions(&rules);
            if position.mover() == leader {
                // The leader builds in mixed regions only; L2 says he can.
                let mixed = position.board.territory().mixed;
                actions.retain(|mv| match mv {
                    Move::Turn(turn) => turn.wall().is_some() && turn.from().bit() & mixed != 0,
                    _ => false,
                });
                assert!(!actions.is_empty());
            }
            position = position.after(actions[rng.below(actions.len() as u64) as usize]);
            assert!(surplus(&position) >= least, "seed {seed}");
            least = surplus(&position);
        }
        assert!(position.passes >= 4 || position.board.territory().lead(leader) > 0, "seed {seed}");
    }
    assert!(met > 100, "{met} games came to such a lead");
}

#[test]
fn l6_round_trips_freeze_full_regions() {
    let rules = rules("stay=round_trip_only");
    let blocked = (0..500)
        .filter(|seed| {
            let last = *random_game(&rules, *seed).last().unwrap();
            last.board.territory().mixed != 0 && last.blocked(&rules)
        })
        .count();
    assert!((30..120).contains(&blocked), "{blocked} of 500 random games blocked");
    for seed in 0..100 {
        let last = *random_game(&Rules::default(), seed).last().unwrap();
        assert!(!last.blocked(&Rules::default()), "never under the default rules");
    }
}

#[test]
fn boxed_pieces_keep_the_choice_to_pass() {
    let rules = Rules::default();
    let mut seen = 0;
    for seed in 0..200 {
        for position in random_game(&rules, seed) {
            let boxed = position.board.boxed(position.board.pieces[position.mover()]);
            let passes = position.actions(&rules).into_iter().filter(|mv| position.after(*mv).passes > 0).count();
            if position.end(&rules).is_none() {
                assert_eq!(passes as u32, boxed.count_ones());
                seen += passes;
                for cell in each(boxed) {
                    assert_eq!(position.board.flood(cell.bit()), cell.bit());
                }
            }
        }
    }
    assert!(seen > 100);
}
