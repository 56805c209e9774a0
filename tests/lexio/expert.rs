//! `expert`: certain lines, worlds, rollouts, the sampled table.

use std::time::Duration;

use crate::load::{cases, key, scene, table, tiles, view};
use understudy::bot::{
    Ask, Budget, Completion, Evaluated, Game, Limits, Outcome, Policy, Referee, Rng, Seat, Standing, Terms, Turn,
    decide,
};
use understudy::games::lexio::chances::Chances;
use understudy::games::lexio::meld::Meld;
use understudy::games::lexio::policies::{Expert, Hard, easy_move};
use understudy::games::lexio::rollout::{Hand, Table, Wins};
use understudy::games::lexio::rules::Ruleset;
use understudy::games::lexio::state::State;
use understudy::games::lexio::terms::LexioTerms;
use understudy::games::lexio::tile::{Deck, Tile, TileSet};
use understudy::games::lexio::unseen::Unseen;
use understudy::games::lexio::view::View;
use understudy::games::lexio::worlds::{Style, World, Worlds};
use understudy::games::lexio::{Lexio, Move};

fn expert(view: &View, limits: Limits, seed: u64) -> Evaluated<Lexio> {
    Expert::default().evaluate(view, &mut Turn { budget: &Budget::new(limits), rng: &mut Rng::new(seed) })
}

/// Shortest certain finishing lines, golden; each line is checked play by play.
#[test]
fn certain_lines_are_golden() {
    let mut lines = 0;
    for case in cases("golden").iter().chain(&cases("positions")) {
        let view = view(&case["view"]);
        let table = expert(&view, Limits::worlds(1), 1);
        let won = table.rows().iter().filter_map(|row| match row.get_standing() {
            Standing::Won(proof) => Some((proof, row)),
            _ => None,
        });
        let mut shortest = None;
        for (proof, row) in won {
            let plies = proof.in_plies.unwrap();
            shortest = Some(shortest.map_or(plies, |s: u16| s.min(plies)));
            lines += 1;
            if row.get_line().is_empty() {
                assert_eq!((plies, proof.how), (1, "goes_out"));
                continue;
            }
            assert_eq!(proof.how, if plies == 1 { "goes_out" } else { "certain_line" });
            assert_eq!(row.get_line().len(), usize::from(plies));
            let unseen = Unseen::of(&view);
            let mut left = view.hand();
            for (i, mv) in row.get_line().iter().enumerate() {
                let meld = mv.meld().unwrap();
                assert!(meld.tiles().within(left));
                left = left.minus(meld.tiles());
                assert!(left.is_empty() || unseen.certain(meld), "play {i} of {row:?}");
            }
            assert!(left.is_empty());
        }
        assert_eq!(shortest.map(u64::from), case["certain_line"].as_u64(), "{case}");
    }
    assert!(lines > 3, "{lines}");
}

/// All plays but one must be certain: a hand whose orphans need two melds has no line.
#[test]
fn lines_need_all_but_one_play_certain() {
    let line = |hand: &str| {
        let rest = Deck::of(5).unwrap().tiles.minus(tiles(hand));
        let played: Vec<String> = rest.into_iter().take(rest.len() as usize - 36).map(|t| t.to_string()).collect();
        let view = scene(hand, None, &[tiles(hand).len(), 9, 9, 9, 9], &played.join(" "));
        let table = expert(&view, Limits::worlds(1), 1);
        let best = decide(&table);
        (best.get_standing(), best.get_line().iter().map(Lexio::key).collect::<Vec<_>>())
    };
    let (standing, keys) = line("C3 T3 M2 S2");
    assert!(matches!(standing, Standing::Won(proof) if proof.in_plies == Some(2) && proof.how == "certain_line"));
    assert_eq!(keys, ["M2-S2", "C3-T3"]);
    let (standing, _) = line("C3 C5 M2 S2");
    assert_eq!(standing, Standing::Open);
    // A pair of twos, or one after the other: the shorter line is taken.
    let (standing, keys) = line("C3 M2 S2");
    assert!(matches!(standing, Standing::Won(proof) if proof.in_plies == Some(2)));
    assert_eq!(keys, ["M2-S2", "C3"]);
    // Nothing certain but the S2, and two orphans behind it.
    assert_eq!(line("C3 C5 S2").0, Standing::Open);
}

#[test]
fn the_golden_scene_keeps_its_two() {
    let two = Tile::parse("S2").unwrap();
    for case in &cases("golden") {
        let view = view(&case["view"]);
        let table = expert(&view, Limits::worlds(100), 7);
        assert_eq!(table.work.worlds, 100);
        assert_eq!(table.completion, Completion::Worlds);
        let best = decide(&table);
        let meld = best.mv().meld().expect("no pass");
        assert!(!meld.tiles().has(two), "{meld:?}");
        assert_eq!(meld.count(), if view.table().is_none() { 5 } else { 1 });
    }
}

/// Rows add up, in chips: mean net plus 0.3 of what `hard` says; who was not played out is barred and says why.
#[test]
fn totals_read_in_chips() {
    let view = view(&cases("golden")[1]["view"]);
    let table = expert(&view, Limits::worlds(40), 3);
    let hard = self::table(&Hard::default(), &view);
    let settlement = LexioTerms::index("settlement").unwrap();
    let (mut full, mut dropped, mut unsearched) = (0, 0, 0);
    for row in table.rows() {
        let by_hard = hard.row(row.mv()).unwrap();
        assert_eq!(row.get_fact("remaining"), by_hard.get_fact("remaining"));
        match (row.get_payoff(), row.get_barred()) {
            (Some(payoff), barred) => {
                assert!((row.total() - payoff.mean - 0.3 * by_hard.total()).abs() < 1e-9);
                assert!((row.terms().values()[settlement] - (0.5 + payoff.mean / 2048.0)).abs() < 1e-12);
                assert!(payoff.standard_error > 0.0);
                if barred.is_none() {
                    assert_eq!(payoff.samples, 40);
                    full += 1;
                } else {
                    assert_eq!(barred, Some("dropped"));
                    assert!([5, 10, 20].contains(&payoff.samples), "{}", payoff.samples);
                    dropped += 1;
                }
            }
            (None, barred) => {
                assert_eq!(barred, Some("not_searched"));
                unsearched += 1;
            }
        }
    }
    assert_eq!((full, dropped, unsearched), (2, 10, table.rows().len() - 12));
}

#[test]
fn a_spent_budget_leaves_the_table_of_hard() {
    let view = view(&cases("golden")[0]["view"]);
    let mut turn_rng = Rng::new(1);
    let table = Expert::default().evaluate(&view, &mut Turn { budget: &Budget::spent(), rng: &mut turn_rng });
    let hard = self::table(&Hard::default(), &view);
    assert_eq!(decide(&table).mv(), decide(&hard).mv());
    for row in table.rows() {
        assert!((row.total() - 0.3 * hard.row(row.mv()).unwrap().total()).abs() < 1e-9);
        assert_eq!((row.get_barred(), row.get_payoff()), (None, None));
    }
    assert_eq!((table.work.worlds, table.completion), (0, Completion::Time));
}

#[test]
fn same_seed_same_table() {
    let view = view(&cases("golden")[0]["view"]);
    assert_eq!(expert(&view, Limits::worlds(30), 5), expert(&view, Limits::worlds(30), 5));
    assert_ne!(expert(&view, Limits::worlds(30), 5), expert(&view, Limits::worlds(30), 6));
    // A node limit in the middle of a world: that world leaves no trace.
    let cut = expert(&view, Limits::nodes(20), 5);
    assert_eq!(cut.completion, Completion::Nodes);
    let whole = expert(&view, Limits::nodes(16), 5);
    assert_eq!(
        cut.rows().iter().map(|row| row.total()).collect::<Vec<_>>(),
        whole.rows().iter().map(|row| row.total()).collect::<Vec<_>>()
    );
}

#[test]
fn a_deadline_ends_the_search() {
    let view = view(&cases("golden")[1]["view"]);
    let watch = understudy::bot::Stopwatch::start();
    let table = expert(&view, Limits::NONE.with_time(Duration::from_millis(5)), 5);
    assert!(watch.elapsed() < Duration::from_millis(250), "{:?}", watch.elapsed());
    assert_eq!(table.completion, Completion::Time);
    assert!(table.work.worlds > 0);
}

/// A round of `easy` in the rollouts is the round of `easy` at the referee's table, action by action to the same net.
#[test]
fn rollouts_play_by_the_rules() {
    let mut rounds = 0;
    for seed in 0..150u64 {
        let mut state = State::deal(Ruleset::default(), 3 + (seed % 3) as u8, seed);
        for _ in 0..seed % 31 {
            step(&mut state);
        }
        let Ask::One(me) = Lexio::ask(&state) else { continue };
        let view = Lexio::view(&state, me);
        let chances = Chances::of(&Unseen::of(&view), true);
        let wins = Wins::of(&chances, view.deck());
        let mut world = World::default();
        for (i, rival) in view.rivals().enumerate() {
            world.hands[i] = state.hands()[usize::from(rival)];
        }
        let owner = view.table().map_or(0, |(seat, _)| (seat + view.seats() - view.me()) % view.seats());
        let table = view.table().map(|(_, meld)| *meld);
        let rollout = Table::of(&world, view.rules(), state.flow().passes, owner, table, &wins, &mut Vec::new());
        let play = easy_move(view.hand(), view.deck(), table.as_ref());
        let left = view.hand().minus(play.map_or(TileSet::EMPTY, |meld| meld.tiles()));
        let net = rollout.with_me(Style::Easy).play_out(play, Hand::bare(left));
        let payments = loop {
            match Lexio::ask(&state) {
                Ask::Over(Outcome::Known(settlement)) => break settlement.payments,
                _ => step(&mut state),
            }
        };
        assert_eq!(i64::from(net), payments[me.index()], "seed {seed}");
        rounds += 1;
    }
    assert!(rounds > 100);
}

/// A rollout seat with two melds left plays the certain one first: nobody comes between.
#[test]
fn rollouts_finish_when_they_can() {
    let deck = Deck::of(3).unwrap();
    let world =
        World { hands: [tiles("C4 C5"), tiles("C6 C7"), TileSet::EMPTY, TileSet::EMPTY], styles: [Style::Easy; 4] };
    let unseen = Unseen::new(world.hands[0].or(world.hands[1]), deck, [2, 2, 0, 0]);
    let wins = Wins::of(&Chances::of(&unseen, true), deck);
    let mut scratch = Vec::new();
    let table = Table::of(&world, Ruleset::default(), 0, 0, None, &wins, &mut scratch);
    let lead = Meld::read(tiles("M9"), deck).unwrap();
    let net = |left: &str| {
        let left = Hand::planned(tiles(left), &wins, &mut Vec::new());
        table.play_out(Some(lead), left)
    };
    // M9 wins, S2 wins, C3 goes out: both others still hold two tiles.
    assert_eq!(net("C3 S2"), 4);
    assert_eq!(net("C3 T3 S2"), 4);
    assert_eq!(net("C3 C2 S2"), 4);
}

fn step(state: &mut State) {
    if let Ask::One(seat) = Lexio::ask(state) {
        let view = Lexio::view(state, seat);
        let play = easy_move(view.hand(), view.deck(), view.table().map(|(_, meld)| meld));
        Lexio::resolve(state, &[(seat, play.map_or(Move::Pass, Move::Play))]).unwrap();
    }
}

/// Worlds deal what is unseen, by the counts, cloud 3 to whoever led first; evidence favours hands that explain it.
#[test]
fn worlds_fit_the_view() {
    let mut views = 0;
    for seed in 0..40u64 {
        let mut state = State::deal(Ruleset::default(), 3 + (seed % 3) as u8, seed);
        for _ in 0..seed {
            step(&mut state);
        }
        let Ask::One(seat) = Lexio::ask(&state) else { continue };
        let view = Lexio::view(&state, seat);
        let mut worlds = Worlds::of(&view);
        for draw in 0..5 {
            let world = worlds.draw(&mut Rng::new(draw));
            let union = world.hands.iter().fold(TileSet::EMPTY, |all, hand| all.or(*hand));
            assert_eq!(union, view.unseen());
            for (i, rival) in view.rivals().enumerate() {
                assert_eq!(world.hands[i].len(), u32::from(view.counts()[usize::from(rival)]));
                if world.hands[i].has(Tile::C3) {
                    assert_eq!(rival, view.log()[0].seat, "cloud 3 led first");
                }
            }
        }
        views += 1;
    }
    assert!(views > 20);
}

/// Seat 1 led a low single over which seat 2 passed: seat 2 then holds few strong tiles, more often than by chance.
#[test]
fn a_pass_is_evidence() {
    let mut state = State::deal(Ruleset::default(), 3, 11);
    let leader = state.flow().to_act;
    let first = key(&state.hands()[usize::from(leader)].highest().unwrap().to_string());
    // The leader opens with its strongest tile, the next seat passes, the third is to decide.
    Lexio::resolve(&mut state, &[(Seat(leader), first)]).unwrap();
    let passer = state.flow().to_act;
    Lexio::resolve(&mut state, &[(Seat(passer), Move::Pass)]).unwrap();
    let view = state.view(state.flow().to_act);
    let place = view.rivals().position(|seat| seat == passer).unwrap();
    let meld: Meld = *first.meld().unwrap();
    let above = view.unseen().above(meld.tiles().lowest().unwrap());
    assert!(!above.is_empty(), "some tile could have answered");
    let mut worlds = Worlds::of(&view);
    let mut without_log = Worlds::of(&blind(&view));
    let share = |worlds: &mut Worlds| {
        (0..400).filter(|&draw| worlds.draw(&mut Rng::new(draw)).hands[place].meets(above)).count()
    };
    let (informed, blind) = (share(&mut worlds), share(&mut without_log));
    assert!(informed < blind, "{informed} {blind}");
    assert!(informed > 0, "a pass is no void");
}

/// The same view without its log.
fn blind(view: &View) -> View {
    use understudy::bot::Wire;
    let mut message = Lexio::write_view(view);
    if let Some(understudy::pb::view::Game::Lexio(view)) = &mut message.game {
        view.log.clear();
    }
    Lexio::read(message).unwrap().view
}

/// Whatever the position, `expert` answers with a legal move and a sound table.
#[test]
fn expert_finishes_whole_rounds() {
    for seed in 0..6 {
        let mut state = State::deal(Ruleset::default(), 3 + (seed % 3) as u8, seed);
        let mut plies = 0;
        while let Ask::One(seat) = Lexio::ask(&state) {
            let view = Lexio::view(&state, seat);
            let table = expert(&view, Limits::worlds(12), seed);
            let mv = *decide(&table).mv();
            assert!(Lexio::legal(&view).contains(&mv));
            Lexio::resolve(&mut state, &[(seat, mv)]).unwrap();
            plies += 1;
            assert!(plies < 400);
        }
    }
}
