//! Complete games that take the fewest apples a move, with ties drawn at random.

use super::greedy::{Line, draw};
use super::lines::Lines;
use super::rects::{Ground, Play, Spot};
use super::view::View;
use crate::bot::{Budget, Rng, Stopped};

/// Plays restarts until the budget is spent or a line cannot be bettered: first one for each candidate, those that clear
/// the fewest and then the largest apples first, then free ones. A restart that the budget cuts is dropped. Returns how
/// many were finished.
pub fn restarts(lines: &mut Lines, view: &View, budget: &Budget, rng: &mut Rng) -> u32 {
    fn run<const N: usize, G: Ground<N>>(lines: &mut Lines, view: &View, budget: &Budget, rng: &mut Rng) -> u32 {
        let start = Play::<N, G>::new(view.board());
        let mut play = start.clone();
        let mut order: Vec<&Spot<N>> = start.spots().iter().collect();
        order.sort_by_key(|spot| (spot.apples, 9 - spot.largest, spot.rectangle));
        for finished in 0.. {
            if lines.is_settled() || finished == MOST {
                return finished;
            }
            play.copy(&start);
            match restart(&mut play, order.get(finished as usize).copied(), budget, rng) {
                Ok(line) => lines.offer(line),
                Err(_) => return finished,
            }
        }
        0
    }
    sized!(view.board(), run(lines, view, budget, rng))
}

/// Restarts at most, for budgets without any limit: minutes of thinking.
const MOST: u32 = 1 << 22;

fn restart<const N: usize, G: Ground<N>>(
    play: &mut Play<N, G>,
    first: Option<&Spot<N>>,
    budget: &Budget,
    rng: &mut Rng,
) -> Result<Line, Stopped> {
    let mut line = Line::default();
    let mut next = first.copied();
    loop {
        let Some(spot) = next.take().or_else(|| draw(play.spots(), rng, |spot| spot.apples.into()).copied()) else {
            return Ok(line);
        };
        line.push(&spot);
        play.advance(&spot);
        budget.tick()?;
    }
}
