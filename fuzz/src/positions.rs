//! Positions of every enrolled game, reached by random legal play from seeded deals.

use understudy::bot::{Ask, Game, Referee, Rng, Seat, Wire};
use understudy::games::{self, Visitor};
use understudy::pb;

/// `count` views of the game with this key, at random moments of random games; the same for the same seed.
pub fn positions(game: &str, count: usize, seed: u64) -> Vec<pb::View> {
    games::visit(game, Collect { count, rng: Rng::new(seed).split(game) }).unwrap_or_default()
}

/// Random play stops after this many moves: some games have no end of their own.
const LONGEST: usize = 400;

struct Collect {
    count: usize,
    rng: Rng,
}

impl Visitor for Collect {
    type Output = Vec<pb::View>;

    fn visit<G: Referee + Wire>(mut self) -> Vec<pb::View> {
        let mut views = Vec::with_capacity(self.count);
        let seats = G::SEATS.count() as u64;
        while views.len() < self.count {
            let seats = G::SEATS.start() + self.rng.below(seats) as u8;
            let rules = self.rules::<G>();
            let mut state = G::deal(&rules, seats, self.rng.next_u64());
            for _ in 0..LONGEST {
                let Some(answers) = self.answer::<G>(&state, &mut views) else { break };
                if views.len() >= self.count || G::resolve(&mut state, &answers).is_err() {
                    break;
                }
            }
        }
        views
    }
}

impl Collect {
    fn rules<G: Referee>(&mut self) -> G::Rules {
        let name = G::RULESETS[self.rng.below(G::RULESETS.len() as u64) as usize];
        G::rules(name).unwrap_or_default()
    }

    /// Answers whoever is asked with a random legal move, and keeps one view in four.
    fn answer<G: Referee + Wire>(
        &mut self,
        state: &G::State,
        views: &mut Vec<pb::View>,
    ) -> Option<Vec<(Seat, G::Move)>> {
        let seats: Vec<Seat> = match G::ask(state) {
            Ask::One(seat) => vec![seat],
            Ask::Window(seats) => seats.iter().collect(),
            Ask::Over(_) => return None,
        };
        let answers = seats.into_iter().map(|seat| {
            let view = G::view(state, seat);
            if self.rng.below(4) == 0 {
                views.push(G::write_view(&view));
            }
            let legal = <G as Game>::legal(&view);
            (seat, legal[self.rng.below(legal.len() as u64) as usize].clone())
        });
        Some(answers.collect())
    }
}
