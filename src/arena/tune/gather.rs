//! Equations from self-play: at sampled decisions every row is played on over the same hidden worlds.

use std::sync::Arc;

use super::fit::{Normal, Point};
use crate::arena::match_::at_random;
use crate::bot::{
    Ask, Budget, Evaluated, Evaluation, Outcome, Policy, Referee, Rng, Seat, Standing, TermSet, Terms, Tuning, Turn,
    decide,
};

/// Who plays while one generation gathers.
pub struct Gather<'a, G: Referee> {
    /// The rules.
    pub rules: &'a G::Rules,
    /// Number of players.
    pub seats: u8,
    /// Whose tables are looked at.
    pub policy: &'a Arc<dyn Policy<G>>,
    /// Who moves the tested seat, at the table and in rollouts: the easiest policy at first, then `policy`.
    pub hero: &'a Arc<dyn Policy<G>>,
    /// The easiest policy.
    pub easiest: &'a Arc<dyn Policy<G>>,
    /// The terms to learn.
    pub terms: TermSet,
    /// Settings.
    pub tuning: &'a Tuning,
    /// Stages of the policy.
    pub stages: usize,
    /// Where everything random comes from.
    pub rng: Rng,
}

/// Asks in a rollout, at most: a game that goes on longer says nothing.
const LONG: usize = 20_000;

impl<G: Referee> Gather<'_, G> {
    /// How many unknowns there are: one for each stage and term.
    pub fn unknowns(&self) -> usize {
        self.stages * self.terms.iter().count()
    }

    /// The equations of one deal, with the tested seat somewhere at the table.
    pub fn deal(&self, number: u64) -> Normal {
        let mut rng = self.rng.fork(number);
        let mut normal = Normal::new(self.unknowns());
        let mut state = G::deal(self.rules, self.seats, rng.next_u64());
        let hero = Seat(rng.below(u64::from(self.seats)) as u8);
        let peers: Vec<bool> = (0..self.seats).map(|_| rng.unit() < self.tuning.peers).collect();
        for ply in 0..LONG as u64 {
            let mut turn = rng.split("turn").fork(ply);
            let asked = match G::ask(&state) {
                Ask::One(seat) => vec![seat],
                Ask::Window(seats) => seats.iter().collect(),
                Ask::Over(_) => break,
            };
            let mut answers = Vec::with_capacity(asked.len());
            for seat in asked {
                let view = G::view(&state, seat);
                let seed = turn.split("think").fork(u64::from(seat.0));
                let mv = if seat != hero {
                    let peer = peers[seat.index()];
                    play(if peer { self.hero } else { self.easiest }, &view, seed)
                } else {
                    if turn.unit() < self.tuning.share {
                        self.decision(&state, seat, &view, &turn.split("worlds"), &mut normal);
                    }
                    if turn.unit() < self.tuning.wild {
                        at_random::<G>(&view, seed)
                    } else {
                        play(self.hero, &view, seed)
                    }
                };
                answers.push((seat, mv));
            }
            if G::resolve(&mut state, &answers).is_err() {
                break;
            }
        }
        normal
    }

    /// Plays the rows of one table on, and adds what they paid.
    fn decision(&self, state: &G::State, seat: Seat, view: &G::View, rng: &Rng, normal: &mut Normal) {
        let budget = Budget::unlimited();
        let mut think = rng.split("think");
        let table = self.policy.evaluate(view, &mut Turn { budget: &budget, rng: &mut think });
        let rows = self.rows(&table, &mut rng.split("rows"));
        let alone = rows.len() < 2 && (self.tuning.absolute <= 0.0 || rng.split("alone").unit() >= self.tuning.alone);
        // A proved win is always played, and a proved row's terms explain nothing.
        if rows.is_empty() || alone || matches!(decide(&table).get_standing(), Standing::Won(_)) {
            return;
        }
        let mut paid = vec![0.0; rows.len()];
        let mut worlds = 0.0;
        for world in 0..self.tuning.worlds {
            let rng = rng.split("world").fork(u64::from(world));
            let twin = G::twin(state, seat, &mut rng.split("twin"));
            let payments: Option<Vec<f64>> = rows.iter().map(|row| self.payment(&twin, seat, row, &rng)).collect();
            if let Some(payments) = payments {
                worlds += 1.0;
                paid.iter_mut().zip(payments).for_each(|(sum, payment)| *sum += payment);
            }
        }
        if worlds == 0.0 {
            return;
        }
        paid.iter_mut().for_each(|sum| *sum /= worlds);
        let best = paid.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let points: Vec<Point> = rows.iter().zip(&paid).map(|(row, paid)| self.point(row, *paid, best)).collect();
        normal.decision(&points, self.tuning.absolute);
    }

    /// The rows that are played on.
    fn rows<'t>(&self, table: &'t Evaluated<G>, rng: &mut Rng) -> Vec<&'t Evaluation<G>> {
        let open = |row: &&Evaluation<G>| row.get_standing() == Standing::Open && row.get_barred().is_none();
        let mut ranked: Vec<_> = table.ranked().into_iter().filter(open).collect();
        let wanted = self.tuning.rows;
        if wanted == 0 || ranked.len() <= wanted {
            return ranked;
        }
        let mut chosen = Vec::new();
        while chosen.len() < wanted {
            // The first is the best half of the time; each other is one of the five best half of the time.
            let near = match chosen.is_empty() {
                true => 1,
                false => ranked.len().min(5),
            };
            let from = if rng.unit() < 0.5 { near } else { ranked.len() };
            chosen.push(ranked.remove(rng.below(from as u64) as usize));
        }
        chosen
    }

    fn point(&self, row: &Evaluation<G>, paid: f64, best: f64) -> Point {
        let weights = row.weights();
        let values = row.terms().values();
        let width = self.terms.iter().count();
        let mut features = Vec::new();
        let mut given = 0.0;
        for (place, &value) in values.as_ref().iter().enumerate().filter(|(place, _)| weights.shown().contains(*place))
        {
            match self.terms.iter().position(|term| term == place) {
                Some(column) => {
                    let amount = value * weights.multiplier(place);
                    if amount != 0.0 {
                        features.push((usize::from(weights.stage()) * width + column, amount));
                    }
                }
                None => given += value * weights.in_force(place),
            }
        }
        let weight = libm::exp((paid - best) / self.tuning.temperature);
        Point { features, target: paid - given, weight }
    }

    /// What the seat is paid when it plays this row in this world; `None` when the game does not end.
    fn payment(&self, world: &G::State, seat: Seat, row: &Evaluation<G>, rng: &Rng) -> Option<f64> {
        let mut state = world.clone();
        let mut line = if row.get_line().is_empty() { std::slice::from_ref(row.mv()) } else { row.get_line() };
        let mut types = rng.split("types");
        let peers: Vec<bool> = (0..self.seats).map(|_| types.unit() < self.tuning.rollout_peers).collect();
        for ply in 0..LONG as u64 {
            let seed = rng.split("rollout").fork(ply);
            let answers: Vec<(Seat, G::Move)> = match G::ask(&state) {
                Ask::Over(Outcome::Known(settlement)) => {
                    let paid = settlement.payments[seat.index()] as f64;
                    return Some(paid.clamp(-self.tuning.clip, self.tuning.clip));
                }
                Ask::Over(Outcome::Unknown { .. }) => return None,
                Ask::One(asked) => vec![(asked, self.rollout(&state, asked, seat, &peers, &mut line, seed))],
                Ask::Window(asked) => asked
                    .iter()
                    .map(|asked| (asked, self.rollout(&state, asked, seat, &peers, &mut line, seed.clone())))
                    .collect(),
            };
            // A line belongs to one turn: whoever else moves ends it.
            if answers.iter().any(|(asked, _)| *asked != seat) {
                line = &[];
            }
            G::resolve(&mut state, &answers).ok()?;
        }
        None
    }

    fn rollout(
        &self,
        state: &G::State,
        asked: Seat,
        hero: Seat,
        peers: &[bool],
        line: &mut &[G::Move],
        seed: Rng,
    ) -> G::Move {
        let view = G::view(state, asked);
        if asked == hero {
            if let Some((next, rest)) = line.split_first() {
                *line = rest;
                if G::legal(&view).contains(next) {
                    return next.clone();
                }
                *line = &[];
            }
            return play(self.hero, &view, seed);
        }
        play(if peers[asked.index()] { self.hero } else { self.easiest }, &view, seed)
    }
}

/// A policy's move, by its shortcut where it has one.
pub fn play<G: Referee>(policy: &Arc<dyn Policy<G>>, view: &G::View, seed: Rng) -> G::Move {
    let budget = Budget::unlimited();
    if let Some(mv) = policy.shortcut(view, &mut Turn { budget: &budget, rng: &mut seed.clone() }) {
        return mv;
    }
    let table = policy.evaluate(view, &mut Turn { budget: &budget, rng: &mut seed.clone() });
    decide(&table).mv().clone()
}
