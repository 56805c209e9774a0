//! Choices to a changed position of some game, with a policy: the structured way into `decide`.

use understudy::{games, pb};

use super::decision::{Kitchen, Verdict};
use super::mutate::Mutator;
use super::positions::positions;
use super::source::Source;

/// Everything a run needs, made once.
pub struct Bench {
    kitchen: Kitchen,
    mutator: Mutator,
    /// By game.
    positions: Vec<(&'static str, Vec<pb::View>)>,
}

impl Bench {
    /// `count` positions of every enrolled game, from one seed.
    pub fn new(count: usize, seed: u64) -> Self {
        let positions = games::KEYS.iter().map(|key| (*key, positions(key, count, seed))).collect();
        Self { kitchen: Kitchen::default(), mutator: Mutator::default(), positions }
    }

    /// The request that these choices stand for.
    pub fn request(&self, source: &mut Source<'_>) -> pb::DecideRequest {
        let (game, positions) = &self.positions[source.below(self.positions.len())];
        let bots: Vec<_> = self.kitchen.bots().iter().filter(|bot| bot.game() == *game).collect();
        let policy = bots[source.below(bots.len())].name().to_owned();
        let view = self.mutator.view(&positions[source.below(positions.len())], source);
        let detail = i32::from(source.byte() % 5);
        pb::DecideRequest { view: Some(view), policy, detail, ..Default::default() }
    }

    /// All the way.
    pub fn run(&self, source: &mut Source<'_>) -> Verdict {
        self.kitchen.decide(self.request(source))
    }
}
