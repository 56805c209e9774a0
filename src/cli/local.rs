//! Decisions in this process: the same checks and the same bytes as the server's.

use std::time::Duration;

use super::Failure;
use crate::bot::registry::Bots;
use crate::bot::{Budget, Registry, Reject, Rng, Turn};
use crate::pb;
use crate::service::envelope::{check, ready};

/// Rows of a reply that asks for all, as the server has it.
const ROWS: usize = 2048;
/// The longest thinking, as the server has it.
const THINK: Duration = Duration::from_secs(10);

/// Decides here and now.
pub struct Local {
    registry: Registry,
    bots: Bots,
}

impl Local {
    /// Over these games.
    pub fn new(registry: Registry) -> Self {
        Self { bots: Bots::of(&registry), registry }
    }

    /// Answers one request.
    ///
    /// # Errors
    /// Every violation, an unknown policy, or that there is nothing to decide.
    pub fn decide(&self, mut request: pb::DecideRequest) -> Result<pb::DecideResponse, Failure> {
        let asked = check(&request, ROWS, THINK).map_err(|list| Failure::violations(&list))?;
        let view = request.view.take().unwrap_or_default();
        let game = self.registry.game_of(&view).ok_or_else(|| Failure::input("no game for this view"))?;
        let bot = self
            .bots
            .find(game.key(), &asked.policy)
            .map_err(|unknown| Failure::input(format!("{}; there is {}", unknown.text, unknown.known)))?;
        let prepared = bot.prepare(view).map_err(|reject| match reject {
            Reject::Invalid(list) => Failure::violations(&list),
            Reject::NothingToDecide(text) => Failure::input(text),
        })?;
        let ready = ready(&asked, request.request_id, bot, prepared);
        let time = ready.limits.time.unwrap_or(THINK).min(THINK);
        let budget = Budget::new(ready.limits.with_time(time));
        let reply = (ready.thought)(&mut Turn { budget: &budget, rng: &mut Rng::new(ready.seed) }, ready.rows);
        Ok(ready.frame.respond(reply, false, pb::Timing::default()))
    }
}
