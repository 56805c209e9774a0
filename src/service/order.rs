//! From a request to an order that can be carried out, and the carrying out. What a request means and how its answer
//! is written stands in [`super::envelope`]; here are the policy, the view, and the budget's clock.

use std::time::{Duration, Instant};

use super::admission::Class;
use super::book::Book;
use super::deadline::now;
use super::envelope::{self, Ready};
use super::metrics::{COMPLETIONS, completion_place};
use super::status::Error;
use crate::bot::registry::Unknown;
use crate::bot::{Budget, CancelFlag, Limits, Reject, Reply, Rng, Rows, Thought, Turn};
use crate::pb;

/// A request that passed every check.
pub struct Order {
    /// Place of the policy in the book.
    pub policy: usize,
    /// View, budget and seed settled.
    pub ready: Ready,
    /// The time limit in force, be it the request's, the default's or the server's.
    pub time: Duration,
    /// Interactive or bulk.
    pub class: Class,
    /// The depth-0 table is better than nothing.
    pub fallback: bool,
    /// Of the view's canonical bytes.
    pub view_hash: u64,
}

/// What an entry point allows.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The longest thinking that may be asked for.
    pub max_think: Duration,
    /// Rows of an ALL reply.
    pub rows: usize,
    /// When the request does not say.
    pub class: Class,
}

/// How far a request got before it failed: what a log line and the metrics can say about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reached {
    /// Place of its game in the book.
    pub game: Option<usize>,
    /// Place of its policy in the book.
    pub policy: Option<usize>,
}

/// Checks a request: its own fields, all at once; then the policy; then the view. `id` is the one to echo.
///
/// # Errors
/// Every violation of the first stage that found one.
pub fn check(
    book: &Book,
    request: pb::DecideRequest,
    id: String,
    terms: Terms,
    reached: &mut Reached,
) -> Result<Order, Error> {
    let asked = envelope::check(&request, terms.rows, terms.max_think).map_err(Error::RequestInvalid)?;
    let view = request.view.unwrap_or_default();
    let game = book.game_of(&view).ok_or_else(|| no_game(book))?;
    reached.game = book.games().iter().position(|known| known.key == game);
    let policy = book.find(game, &asked.policy).map_err(Error::PolicyUnknown)?;
    reached.policy = Some(policy);
    let bot = &book.entries()[policy].bot;
    let prepared = bot.prepare(view).map_err(|reject| match reject {
        Reject::Invalid(list) => Error::ViewInvalid(list),
        Reject::NothingToDecide(text) => Error::NothingToDecide(text),
    })?;
    let view_hash = prepared.view_hash;
    let ready = envelope::ready(&asked, id, bot, prepared);
    Ok(Order {
        policy,
        time: ready.limits.time.map_or(terms.max_think, |time| time.min(terms.max_think)),
        class: match asked.priority {
            Some(pb::Priority::Interactive) => Class::Interactive,
            Some(pb::Priority::Bulk) => Class::Bulk,
            _ => terms.class,
        },
        fallback: asked.fallback,
        view_hash,
        ready,
    })
}

fn no_game(book: &Book) -> Error {
    let known: Vec<_> = book.games().iter().map(|game| game.key).collect();
    let text = "this server does not hold the view's game".to_owned();
    Error::PolicyUnknown(Unknown { text, known: known.join(", ") })
}

/// What thinking needs to know of an order; travels to the worker.
#[derive(Clone, Debug)]
pub struct Asked {
    /// For the decision's randomness.
    pub seed: u64,
    /// The limits in force.
    pub limits: Limits,
    /// How many rows to show.
    pub rows: Rows,
    /// Raised when nobody waits any more.
    pub cancel: Option<CancelFlag>,
}

/// One decision taken.
pub struct Decision {
    /// What the policy said.
    pub reply: Reply,
    /// The depth-0 table, for want of time.
    pub fallback: bool,
    /// How long it thought.
    pub think: Duration,
    /// How long the first whole round took, where that was seen.
    pub first_round: Option<Duration>,
}

impl Decision {
    /// The place of its completion in [`COMPLETIONS`].
    pub const fn completion(&self) -> usize {
        completion_place(self.reply.completion, self.fallback)
    }

    /// Its completion as labels and logs spell it.
    pub const fn completion_name(&self) -> &'static str {
        COMPLETIONS[self.completion()]
    }
}

/// Thinks until `end` at the latest; without an end, only the depth-0 table.
pub fn think(thought: Thought, asked: &Asked, start: Instant, end: Option<Instant>) -> Decision {
    let mut rng = Rng::new(asked.seed);
    let budget = match end {
        Some(end) => Budget::until(asked.limits, Some(end), asked.cancel.clone()),
        None => Budget::spent(),
    };
    let reply = thought(&mut Turn { budget: &budget, rng: &mut rng }, asked.rows);
    Decision {
        reply,
        fallback: end.is_none(),
        think: now() - start,
        first_round: budget.first_round().map(|at| at.saturating_duration_since(start)),
    }
}
