//! Requests to send: positions of seeded games, framed.

use std::sync::Arc;

use bytes::Bytes;
use understudy::bot::Rng;
use understudy::bot::registry::{AnyGame, Bots};
use understudy::{games, pb};

use crate::Trouble;
use crate::positions::positions;
use crate::wire::frame;

/// One request about each view, for `policy`.
pub fn requests(game: &str, policy: &str, count: usize, seed: u64) -> Vec<pb::DecideRequest> {
    let mut rng = Rng::new(seed).split("seeds");
    positions(game, count, seed)
        .into_iter()
        .map(|view| pb::DecideRequest {
            view: Some(view),
            policy: policy.to_owned(),
            seed: Some(rng.next_u64()),
            ..Default::default()
        })
        .collect()
}

/// Frames to take in turn.
pub fn frames(requests: &[pb::DecideRequest]) -> Arc<[Bytes]> {
    requests.iter().map(frame).collect()
}

/// The game that general proofs use: the first that is enrolled.
pub fn first_game() -> Result<&'static str, Trouble> {
    games::KEYS.first().copied().ok_or_else(|| "no game has landed yet".into())
}

/// The game's easiest policy.
pub fn easiest(game: &str) -> Result<String, Trouble> {
    let bots = games::registry().bots();
    let bot = bots.iter().find(|bot| bot.game() == game);
    Ok(bot.ok_or("the game has no policy")?.name().to_owned())
}

/// A searching policy that heeds worlds or nodes, Lexio's first: game and name.
pub fn searcher() -> Option<(&'static str, &'static str)> {
    let registry = games::registry();
    let bots = Bots::of(&registry);
    let deep = |bot: &&Arc<dyn understudy::bot::Bot>| bot.about().heeds.worlds || bot.about().heeds.nodes;
    let found = bots.all().iter().find(|bot| bot.about().anytime && deep(bot))?;
    debug_assert!(registry.games().map(AnyGame::key).any(|key| key == found.game()));
    Some((found.game(), found.name()))
}
