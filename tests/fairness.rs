//! No policy can see what its seat cannot: tables that differ only in hidden parts give equal views and equal tables.

use understudy::arena::positions::{Walk, walk};
use understudy::bot::{Ask, Budget, Limits, MatchStyle, Referee, Rng, Seat, Turn, Wire};
use understudy::games::{self, Visitor};

const LIMITS: Limits = Limits { time: None, nodes: Some(800), worlds: Some(4), depth: Some(2) };
const POSITIONS: usize = 24;
const TWINS: u64 = 3;

struct Fairness;

impl Visitor for Fairness {
    type Output = ();

    fn visit<G: Referee + Wire>(self) {
        let settings = Walk { seats: None, seed: 4242, wild: 0.2, choices: 2 };
        let positions = walk::<G>(&G::Rules::default(), &settings, POSITIONS);
        assert!(!positions.is_empty(), "{}: no positions", G::KEY);
        let (mut twins, mut differ) = (0, 0);
        for position in &positions {
            for number in 0..TWINS {
                let mut rng = Rng::new(position.deal).fork(number);
                let twin = G::twin(&position.state, position.seat, &mut rng);
                let view = G::view(&twin, position.seat);
                assert_eq!(view, position.view, "{}, deal {}: the twin looks different", G::KEY, position.deal);
                assert_eq!(G::ask(&twin), G::ask(&position.state), "{}: another seat is asked", G::KEY);
                twins += 1;
                differ += u32::from(future::<G>(&twin) != future::<G>(&position.state));
                same_tables::<G>(&view, &position.view, position.deal);
            }
        }
        // Where seats pay each other they hold hidden cards, so most twins must hold others.
        if G::STYLE == MatchStyle::Table {
            assert!(differ * 2 > twins, "{}: {differ} of {twins} twins differ at all", G::KEY);
        }
    }
}

/// What the seats see from here on, when everybody plays the first legal move.
fn future<G: Referee>(state: &G::State) -> Vec<G::View> {
    let mut state = state.clone();
    let mut seen = Vec::new();
    while seen.len() < 200 {
        let asked: Vec<Seat> = match G::ask(&state) {
            Ask::One(seat) => vec![seat],
            Ask::Window(seats) => seats.iter().collect(),
            Ask::Over(_) => break,
        };
        let views: Vec<G::View> = asked.iter().map(|seat| G::view(&state, *seat)).collect();
        let first = |view| G::legal(view).into_iter().next().expect("a legal move");
        let answers: Vec<_> = asked.into_iter().zip(views.iter().map(first)).collect();
        seen.extend(views);
        G::resolve(&mut state, &answers).expect("legal moves");
    }
    seen
}

/// Every policy gives one table for both views.
fn same_tables<G: Referee>(a: &G::View, b: &G::View, seed: u64) {
    for entry in &G::roster().entries {
        let evaluate = |view| {
            let budget = Budget::new(LIMITS);
            entry.policy.evaluate(view, &mut Turn { budget: &budget, rng: &mut Rng::new(seed) })
        };
        assert_eq!(evaluate(a), evaluate(b), "{}/{}, deal {seed}", G::KEY, entry.name);
    }
}

#[test]
fn hidden_cards_change_neither_view_nor_table() {
    for key in games::KEYS {
        games::visit(key, Fairness).expect("a key of the list");
    }
}
