//! The figures of the spec's section 10. Each bench asserts the answer it times.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use understudy::bot::{Ask, Budget, Policy, Referee, Rng, Turn};
use understudy::games::lexio::flow::{Flow, SEATS};
use understudy::games::lexio::policies::{Easy, easy_move};
use understudy::games::lexio::rules::Ruleset;
use understudy::games::lexio::state::State;
use understudy::games::lexio::tile::{Deck, TileSet};
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

criterion_group!(benches, rounds);
criterion_main!(benches);
