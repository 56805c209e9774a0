//! The figures of the spec's section 10. Each bench asserts the answer it times.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use understudy::bot::{Ask, Budget, Game, Limits, Policy, Referee, Rng, Stopwatch, Turn, decide};
use understudy::games::lexio::flow::{Flow, SEATS};
use understudy::games::lexio::policies::{Easy, Expert, Hard, easy_move};
use understudy::games::lexio::rules::Ruleset;
use understudy::games::lexio::state::State;
use understudy::games::lexio::tile::{Deck, TileSet};
use understudy::games::lexio::view::View;
use understudy::games::lexio::{Lexio, Move};

/// A round of `easy` through the rules alone: actions, and the winner.
fn bare_round(deck: &'static Deck, hands: &mut [TileSet; SEATS], first: u8) -> (u32, u8) {
    let mut left = [0; SEATS];
    left.iter_mut().zip(hands.iter()).for_each(|(left, hand)| *left = hand.len() as u8);
    let mut flow = Flow::start(deck.seats, first, left);
    let mut actions = 0;
    loop {
        let seat = usize::from(flow.to_act);
        let play = easy_move(hands[seat], deck, flow.table.as_ref());
        assert!(flow.refuse(play.as_ref()).is_none());
        if let Some(meld) = play {
            hands[seat] = hands[seat].minus(meld.tiles());
        }
        flow.apply(play);
        actions += 1;
        if hands[seat].is_empty() {
            return (actions, seat as u8);
        }
    }
}

/// The same through the referee, with views, as the arena plays.
fn arena_round(mut state: State) -> State {
    let budget = Budget::unlimited();
    let mut rng = Rng::new(1);
    while let Ask::One(seat) = Lexio::ask(&state) {
        let view = Lexio::view(&state, seat);
        let mv = Easy.shortcut(&view, &mut Turn { budget: &budget, rng: &mut rng }).unwrap_or(Move::Pass);
        drop(view);
        Lexio::resolve(&mut state, &[(seat, mv)]).expect("easy plays by the rules");
    }
    state
}

fn rounds(c: &mut Criterion) {
    let deals: Vec<State> = (0..1000).map(|seed| State::deal(Ruleset::default(), 5, seed)).collect();
    let mut next = deals.iter().cycle();
    c.bench_function("easy round, rules alone", |b| {
        b.iter(|| {
            let state = next.next().expect("a cycle");
            let mut hands = [TileSet::EMPTY; SEATS];
            hands.copy_from_slice(state.hands());
            let (actions, winner) = bare_round(Deck::of(5).expect("five play"), &mut hands, state.flow().to_act);
            assert!(actions > 4 && hands[usize::from(winner)].is_empty());
            black_box(winner)
        });
    });
    c.bench_function("easy round, referee and views", |b| {
        b.iter(|| {
            let end = arena_round(next.next().expect("a cycle").clone());
            assert!(end.flow().winner().is_some());
            end
        });
    });
}

/// Views of leaders and followers with twelve tiles: the first turns of every seat in a round of `easy`.
fn full_hands(deals: u64) -> Vec<View> {
    let mut views = Vec::new();
    for seed in 0..deals {
        let mut state = State::deal(Ruleset::default(), 5, seed);
        for _ in 0..5 {
            let Ask::One(seat) = Lexio::ask(&state) else { break };
            let view = Lexio::view(&state, seat);
            let mv =
                easy_move(view.hand(), view.deck(), view.table().map(|(_, meld)| meld)).map_or(Move::Pass, Move::Play);
            if view.hand().len() == 12 {
                views.push(view);
            }
            Lexio::resolve(&mut state, &[(seat, mv)]).expect("easy plays by the rules");
        }
    }
    views
}

/// Views of a whole round.
fn whole_rounds(deals: u64) -> Vec<View> {
    let mut views = Vec::new();
    for seed in 0..deals {
        let mut state = State::deal(Ruleset::default(), 5, 5000 + seed);
        while let Ask::One(seat) = Lexio::ask(&state) {
            let view = Lexio::view(&state, seat);
            let mv =
                easy_move(view.hand(), view.deck(), view.table().map(|(_, meld)| meld)).map_or(Move::Pass, Move::Play);
            views.push(view);
            Lexio::resolve(&mut state, &[(seat, mv)]).expect("easy plays by the rules");
        }
    }
    views
}

/// The lead of thirteen suns at four players: 1,300 candidates.
fn one_suit() -> View {
    let state = State::deal(Ruleset::default(), 4, 0);
    let mut message = <Lexio as understudy::bot::Wire>::write_view(&Lexio::view(&state, understudy::bot::Seat(0)));
    if let Some(understudy::pb::view::Game::Lexio(view)) = &mut message.game {
        view.hand = (0..60).filter(|id| id % 4 == 3 && !(44..52).contains(id)).collect();
    }
    <Lexio as understudy::bot::Wire>::read(message).expect("any hand may lead first").view
}

fn think(policy: &dyn Policy<Lexio>, view: &View, limits: Limits) -> Move {
    let table = policy.evaluate(view, &mut Turn { budget: &Budget::new(limits), rng: &mut Rng::new(1) });
    assert_eq!(table.rows().len(), Lexio::legal(view).len());
    *decide(&table).mv()
}

/// Mean and 99th percentile of a policy's decisions over views, in microseconds. Each answer is checked to be legal.
fn quantiles(name: &str, policy: &dyn Policy<Lexio>, views: &[View], limits: Limits) {
    let mut times: Vec<f64> = Vec::with_capacity(views.len());
    for view in views {
        let watch = Stopwatch::start();
        let table = policy.evaluate(view, &mut Turn { budget: &Budget::new(limits), rng: &mut Rng::new(1) });
        times.push(watch.elapsed().as_secs_f64() * 1e6);
        assert!(Lexio::legal(view).contains(decide(&table).mv()));
    }
    times.sort_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let p99 = times[times.len() * 99 / 100];
    println!(
        "{name}: {} decisions, mean {mean:.1} us, p99 {p99:.1} us, max {:.1} us",
        times.len(),
        times[times.len() - 1]
    );
}

fn decisions(c: &mut Criterion) {
    let (full, rounds, suit) = (full_hands(400), whole_rounds(40), one_suit());
    let hard = Hard::default();
    let expert = Expert::default();
    quantiles("easy, whole rounds, with its table", &Easy, &rounds, Limits::NONE);
    quantiles("hard, 12 tiles", &hard, &full, Limits::NONE);
    quantiles("hard, whole rounds", &hard, &rounds, Limits::NONE);
    quantiles("expert, whole rounds, 100 worlds", &expert, &rounds, Limits::worlds(100));
    let mut next = rounds.iter().cycle();
    c.bench_function("easy decision", |b| {
        b.iter(|| think(&Easy, next.next().expect("a cycle"), Limits::NONE));
    });
    let mut next = full.iter().cycle();
    c.bench_function("hard decision, 12 tiles", |b| {
        b.iter(|| think(&hard, next.next().expect("a cycle"), Limits::NONE));
    });
    c.bench_function("hard decision, one suit, 1300 candidates", |b| {
        b.iter(|| {
            let table = hard.evaluate(&suit, &mut Turn { budget: &Budget::unlimited(), rng: &mut Rng::new(1) });
            assert_eq!(table.rows().len(), 1300);
            assert_eq!(table.get_fact("turns"), Some(5.0));
            table
        });
    });
    let mut next = rounds.iter().cycle();
    c.bench_function("expert decision, 100 worlds", |b| {
        b.iter(|| think(&expert, next.next().expect("a cycle"), Limits::worlds(100)));
    });
}

/// 100,000 rounds of `easy` against itself: all end, no illegal move, every settlement sums to 0.
fn many_rounds(_: &mut Criterion) {
    let watch = Stopwatch::start();
    for seed in 0..100_000 {
        let end = arena_round(State::deal(Ruleset::default(), 3 + (seed % 3) as u8, seed));
        assert_eq!(end.nets().iter().sum::<i32>(), 0);
    }
    println!("100,000 easy rounds with 3 to 5 players, dealt and refereed: {:.2} s", watch.elapsed().as_secs_f64());
}

criterion_group!(benches, rounds, decisions, many_rounds);
criterion_main!(benches);
