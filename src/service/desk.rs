//! One decision from request to reply: check, admit, think, answer. A unary call is one of these, a batch many.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::admission::{Ask, Ended, Mode, Pool, Refusal, Start};
use super::book::{Book, Entry};
use super::call::{Outcome, is_id};
use super::config::Config;
use super::deadline::{Clock, micros, now};
use super::envelope::Ready;
use super::metrics::Metrics;
use super::order::{self, Asked, Decision, Order, Reached, Terms};
use super::status::{Error, Stage};
use super::workers::guarded;
use crate::bot::{CancelFlag, Limits, Thought};
use crate::pb;

/// Everything a decision needs.
pub struct Desk {
    /// The policies.
    pub book: Arc<Book>,
    /// The queue and its workers.
    pub pool: Arc<Pool>,
    /// The settings.
    pub config: Arc<Config>,
    /// The handles.
    pub metrics: Arc<Metrics>,
}

/// The circumstances of one decision.
#[derive(Clone, Debug)]
pub struct Item {
    /// What the reply's `request_id` says when the request has none.
    pub id: String,
    /// Its times.
    pub clock: Clock,
    /// What the entry point allows.
    pub terms: Terms,
    /// Kept back from the end of thinking beside the reserve: a batch must still collect its items.
    pub margin: Duration,
}

/// An order on its way to a thread.
struct Errand<'a> {
    entry: &'a Entry,
    id: &'a str,
    clock: Clock,
    asked: Asked,
    thought: Thought,
    /// The time limit in force.
    time: Duration,
    /// The last moment of thinking.
    think_end: Instant,
    class: super::admission::Class,
    fallback: bool,
}

/// How long it waited, and what came of it.
type Taken = Result<(Duration, Decision), Error>;

impl Desk {
    /// Decides, and notes in `outcome` what the log line wants to know.
    ///
    /// # Errors
    /// Whatever section 3 of the service's spec has.
    pub async fn decide(
        &self,
        item: &Item,
        request: pb::DecideRequest,
        outcome: &mut Outcome,
    ) -> Result<pb::DecideResponse, Error> {
        let own = is_id(&request.request_id).then(|| request.request_id.clone());
        let id = own.clone().unwrap_or_else(|| item.id.clone());
        outcome.request_id = own;
        let mut reached = Reached::default();
        let result = match order::check(&self.book, request, id.clone(), item.terms, &mut reached) {
            Ok(order) => self.carry_out(item, order, &id, outcome).await,
            Err(error) => Err(error),
        };
        self.count(item, &result, reached, outcome);
        result
    }

    async fn carry_out(
        &self,
        item: &Item,
        order: Order,
        id: &str,
        outcome: &mut Outcome,
    ) -> Result<pb::DecideResponse, Error> {
        let entry = &self.book.entries()[order.policy];
        let Ready { limits, seed, rows, thought, frame } = order.ready;
        outcome.view_hash = order.view_hash;
        outcome.seed = seed;
        let errand = Errand {
            entry,
            id,
            clock: item.clock,
            asked: Asked { seed, limits, rows, cancel: None },
            thought,
            time: order.time,
            think_end: item.clock.think_end(order.time, self.config.max_queue_wait) - item.margin,
            class: order.class,
            fallback: order.fallback,
        };
        let (waited, decision) = if entry.runs_inline() { self.inline(errand) } else { self.queued(errand).await }?;
        self.learn(entry, order.policy, &limits, &decision);
        outcome.queue_us = micros(waited);
        outcome.think_us = micros(decision.think);
        outcome.nodes = decision.reply.work.nodes;
        outcome.completion = decision.completion_name();
        outcome.move_key.clone_from(&decision.reply.key);
        #[cfg(feature = "otel")]
        {
            outcome.decided = Some(item.clock.elapsed());
        }
        let timing = pb::Timing {
            queue_us: outcome.queue_us,
            think_us: outcome.think_us,
            total_us: micros(item.clock.elapsed()),
        };
        Ok(frame.respond(decision.reply, decision.fallback, timing))
    }

    /// A policy of microseconds skips the queue: the hop would cost more than the decision.
    fn inline(&self, errand: Errand<'_>) -> Taken {
        let start = now();
        let floor = errand.entry.floor();
        let end = if start + floor <= errand.think_end {
            Some((start + errand.time).min(errand.think_end))
        } else if errand.fallback && errand.clock.has(floor) {
            None
        } else {
            return Err(errand.clock.exceeded(Stage::Admission));
        };
        self.here(errand, start, end)
    }

    /// Thinks on this thread; a panic is an error of this call alone.
    fn here(&self, errand: Errand<'_>, start: Instant, end: Option<Instant>) -> Taken {
        let Errand { id, asked, thought, .. } = errand;
        let decision = guarded(id, || order::think(thought, &asked, start, end)).map_err(|_| {
            self.metrics.panics.inc();
            Error::Bug
        })?;
        Ok((Duration::ZERO, decision))
    }

    async fn queued(&self, mut errand: Errand<'_>) -> Taken {
        let cancel = CancelFlag::default();
        errand.asked.cancel = Some(cancel.clone());
        let mut ask = self.ask(&errand, cancel);
        let mut only_floor = false;
        if let Some(floor) = ask.floor
            && let Err(refusal) = self.pool.would_take(&ask)
        {
            let in_time = errand.clock.has(floor);
            if in_time && floor < self.config.inline_below {
                return self.here(errand, now(), None);
            }
            if in_time && refusal == Refusal::TooShort {
                // The depth-0 table as an ordinary short job: it needs its own time, before the deadline itself.
                only_floor = true;
                ask.need = floor;
                ask.cost = floor;
                ask.think_end = errand.clock.deadline.unwrap_or(errand.think_end);
            }
        }
        let Errand { entry, clock, asked, thought, time, think_end, .. } = errand;
        let limits = asked.limits;
        let queued_at = now();
        let run = move |start: Start| {
            let whole = start.mode == Mode::Think && !only_floor;
            let end = whole.then(|| (start.at + time).min(think_end));
            (start.at, order::think(thought, &asked, start.at, end))
        };
        let ticket = self.pool.submit(ask, run).map_err(|refusal| match refusal {
            Refusal::TooShort => {
                entry.doubt(&limits);
                clock.exceeded(Stage::Admission)
            }
            Refusal::Estimate { retry } => Error::QueueEstimate { retry },
            Refusal::Full { retry } => Error::QueueFull { retry },
        })?;
        match ticket.wait(self.config.inline_below).await {
            Ended::Done((at, decision)) => Ok((at - queued_at, decision)),
            Ended::Expired => Err(clock.exceeded(Stage::Queue)),
            Ended::Evicted { retry } => Err(Error::QueueFull { retry }),
            Ended::Overshot => Err(clock.exceeded(Stage::Think)),
            Ended::Panicked => Err(Error::Bug),
        }
    }

    fn ask(&self, errand: &Errand<'_>, cancel: CancelFlag) -> Ask {
        let cost = errand.entry.cost(&errand.asked.limits);
        // A policy that heeds the clock cannot cost more than the time it has.
        let heeds_time = errand.entry.bot.about().heeds.time;
        let left = errand.think_end.saturating_duration_since(now());
        Ask {
            class: errand.class,
            think_end: errand.think_end,
            deadline: errand.clock.deadline,
            need: errand.entry.need(&errand.asked.limits),
            cost: if heeds_time { cost.mean.min(errand.time).min(left) } else { cost.mean },
            floor: errand.fallback.then(|| errand.entry.floor()),
            cancel,
            request_id: errand.id.to_owned(),
        }
    }

    fn learn(&self, entry: &Entry, place: usize, limits: &Limits, decision: &Decision) {
        let metrics = &self.metrics.policies[place];
        metrics.think.observe(decision.think.as_secs_f64());
        metrics.decisions[decision.completion()].inc();
        let kinds = self.book.games()[entry.game].kinds;
        if let Some(kind) = kinds.iter().position(|kind| *kind == decision.reply.kind) {
            metrics.moves[kind].inc();
        }
        if !decision.fallback && !entry.runs_inline() {
            entry.observe(limits, decision.think);
        }
        if let Some(first) = decision.first_round {
            entry.observe_start(first);
        }
    }

    fn count(&self, item: &Item, result: &Result<pb::DecideResponse, Error>, reached: Reached, outcome: &mut Outcome) {
        let seconds = item.clock.elapsed().as_secs_f64();
        outcome.policy = reached.policy;
        let Some(place) = reached.game else {
            self.metrics.unknown.observe(seconds);
            return;
        };
        let game = &self.metrics.games[place];
        outcome.game = self.book.games()[place].key;
        match reached.policy {
            Some(policy) => self.metrics.policies[policy].decide.observe(seconds),
            None => game.unknown.observe(seconds),
        }
        match result {
            Ok(reply) => game.candidates.observe(f64::from(reply.candidates_total)),
            Err(Error::ViewInvalid(list)) => game.violations.inc_by(list.len() as u64),
            Err(_) => {}
        }
    }
}
