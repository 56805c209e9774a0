//! Before the server says it serves, every policy has decided: that measures what admission must know, and finds a
//! policy that cannot.

use std::time::{Duration, Instant};

use super::book::{Book, Entry};
use super::deadline::now;
use super::workers::guarded;
use crate::bot::{Budget, Limits, Rng, Rows, Turn};
use crate::pb;

/// The whole test takes at most this long, shared by the policies.
const ALL: Duration = Duration::from_millis(180);
/// Views of each game.
const VIEWS: usize = 8;
/// Samples of one policy: enough for a 99th percentile that two interruptions do not spoil.
const SAMPLES: usize = 300;

/// Measures every policy: depth 0 alone, and depth 0 with the first whole round.
pub fn run(book: &Book, inline_below: Duration) {
    let share = ALL / book.entries().len().max(1) as u32 / 2;
    let views: Vec<Vec<pb::View>> = book.registry().games().map(|game| game.samples(VIEWS)).collect();
    for entry in book.entries() {
        let views = &views[entry.game];
        if guarded("self-test", || test(entry, views, share, inline_below)).is_err() {
            tracing::error!(game = entry.bot.game(), policy = entry.bot.name(), "the policy failed its self-test");
        }
    }
}

fn test(entry: &Entry, views: &[pb::View], share: Duration, inline_below: Duration) {
    // The first decision of a thread may make tables that no later one pays for: Wall Go's takes 50 ms. As the only
    // sample that there is time for, it would refuse every deadline shorter than that for ever.
    if let Some(prepared) = views.iter().find_map(|view| entry.bot.prepare(view.clone()).ok()) {
        let mut rng = Rng::new(prepared.view_hash);
        (prepared.thought)(&mut Turn { budget: &Budget::spent(), rng: &mut rng }, Rows::Top);
    }
    let floors = sample(entry, views, share, true);
    let Some(floor) = quantile(&floors, 0.95) else {
        tracing::warn!(game = entry.bot.game(), policy = entry.bot.name(), "no view to test the policy on");
        return;
    };
    let slowest = quantile(&floors, 0.99).unwrap_or(floor);
    let heeds = entry.bot.about().heeds;
    let searches = heeds.depth || heeds.worlds || heeds.nodes;
    let starts = if searches { sample(entry, views, share, false) } else { Vec::new() };
    let start = quantile(&starts, 0.95).unwrap_or(floor).max(floor);
    entry.tested(floor, start, slowest, inline_below);
}

/// Decides on one view after another until the share of time is used up; at least once.
fn sample(entry: &Entry, views: &[pb::View], share: Duration, floor: bool) -> Vec<Duration> {
    let started = now();
    let mut times = Vec::with_capacity(SAMPLES);
    for (place, view) in views.iter().cycle().take(SAMPLES + views.len()).enumerate() {
        let Ok(prepared) = entry.bot.prepare(view.clone()) else { continue };
        let budget = if floor { Budget::spent() } else { first_round(entry, started + share) };
        let mut rng = Rng::new(prepared.view_hash);
        let before = now();
        (prepared.thought)(&mut Turn { budget: &budget, rng: &mut rng }, Rows::Top);
        let took = budget.first_round().unwrap_or_else(now) - before;
        // The first pass over the views fills caches and tables; it counts only where there is no time for another.
        if place >= views.len() || started.elapsed() > share {
            times.push(took);
        }
        if started.elapsed() > share {
            break;
        }
    }
    times
}

/// The smallest budget that lets one whole round through.
fn first_round(entry: &Entry, until: Instant) -> Budget {
    let heeds = entry.bot.about().heeds;
    let limits = if heeds.depth {
        Limits { depth: Some(1), ..Limits::NONE }
    } else if heeds.worlds {
        Limits::worlds(1)
    } else {
        Limits::nodes(1)
    };
    Budget::until(limits, Some(until), None)
}

fn quantile(times: &[Duration], q: f64) -> Option<Duration> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let place = ((sorted.len() as f64 - 1.0) * q).floor().max(0.0) as usize;
    sorted.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_few_samples() {
        let ms = |n: u64| Duration::from_millis(n);
        assert_eq!(quantile(&[], 0.95), None);
        assert_eq!(quantile(&[ms(7)], 0.95), Some(ms(7)));
        let hundred: Vec<_> = (1..=100).map(ms).collect();
        assert_eq!(quantile(&hundred, 0.95), Some(ms(95)));
    }
}
