//! Positions from seeded games of bots: always the same ones for the same seed.

use crate::bot::{Ask, Budget, Game, Limits, Referee, Rng, Seat, Turn, decide};

use super::match_::at_random;
use super::player::limits_for;

/// A moment of a game: one seat is asked.
#[derive(Clone)]
pub struct Position<G: Referee> {
    /// The whole table.
    pub state: G::State,
    /// Who is asked.
    pub seat: Seat,
    /// What that seat sees.
    pub view: G::View,
    /// Seed of the deal.
    pub deal: u64,
}

/// How the games are played.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// Number of players; `None`: every number that the game allows, in turn.
    pub seats: Option<u8>,
    /// Seed of the first deal.
    pub seed: u64,
    /// Share of moves played at random, so that odd positions come up too; the others are the easiest policy's.
    pub wild: f64,
    /// Positions where the seat has fewer legal moves than this are passed over.
    pub choices: usize,
}

/// A game that goes on longer than this is broken off: the walk wants a position, not an end.
const LONG: usize = 100_000;

/// `count` positions, each from its own deal. A deal that has none is passed over, and the walk gives up where the
/// game seems to have none at all.
pub fn walk<G: Referee>(rules: &G::Rules, walk: &Walk, count: usize) -> Vec<Position<G>> {
    let mut found = Vec::new();
    for index in 0..count as u64 * 4 + 16 {
        if found.len() == count {
            break;
        }
        let deal = walk.seed.wrapping_add(index);
        let span = u64::from(*G::SEATS.end() - *G::SEATS.start()) + 1;
        let seats = walk.seats.unwrap_or(*G::SEATS.start() + (index % span) as u8);
        found.extend(one(rules, walk, seats, deal));
    }
    found
}

/// One position of one game, each with the same chance.
fn one<G: Referee>(rules: &G::Rules, walk: &Walk, seats: u8, deal: u64) -> Option<Position<G>> {
    let root = Rng::new(deal).split("walk");
    let (mut mover, mut picker) = (root.split("move"), root.split("pick"));
    let mut state = G::deal(rules, seats, deal);
    let mut kept = None;
    let mut seen = 0;
    for _ in 0..LONG {
        let asked: Vec<Seat> = match G::ask(&state) {
            Ask::One(seat) => vec![seat],
            Ask::Window(seats) => seats.iter().collect(),
            Ask::Over(_) => break,
        };
        let mut answers = Vec::with_capacity(asked.len());
        for seat in asked {
            let view = G::view(&state, seat);
            if G::legal(&view).len() >= walk.choices {
                seen += 1;
                if picker.below(seen) == 0 {
                    kept = Some(Position { state: state.clone(), seat, view: view.clone(), deal });
                }
            }
            let seed = mover.fork(seen);
            let random = mover.unit() < walk.wild;
            answers.push((seat, if random { at_random::<G>(&view, seed) } else { easiest::<G>(&view, seed) }));
        }
        if G::resolve(&mut state, &answers).is_err() {
            break;
        }
    }
    kept
}

/// What the easiest policy of the game plays.
fn easiest<G: Game>(view: &G::View, mut rng: Rng) -> G::Move {
    let roster = G::roster();
    let Some(entry) = roster.entries.first() else { return at_random::<G>(view, rng) };
    let budget = Budget::new(limits_for(entry.policy.as_ref(), Limits::NONE, Limits::NONE));
    let mut turn = Turn { budget: &budget, rng: &mut rng };
    match entry.policy.shortcut(view, &mut turn) {
        Some(mv) => mv,
        None => decide(&entry.policy.evaluate(view, &mut turn)).mv().clone(),
    }
}
