//! One process-wide queue: class first, then the earliest deadline, then arrival. What cannot be done in time is
//! refused at once and told when to come back; nobody waits blindly.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::deadline::now;
use super::metrics::{End, Metrics};
use crate::bot::CancelFlag;

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A player waits.
    Interactive,
    /// Somebody's batch.
    Bulk,
}

/// Place in the queue: the smaller goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    class: Class,
    due: Instant,
    seq: u64,
}

/// What a job asks for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Interactive or bulk.
    pub class: Class,
    /// Thinking must end here.
    pub think_end: Instant,
    /// The answer is worth nothing after this.
    pub deadline: Option<Instant>,
    /// The least time in which the job is worth starting.
    pub need: Duration,
    /// What it is expected to take.
    pub cost: Duration,
    /// The cheap answer that is allowed instead, and how long it takes; `None`: not allowed.
    pub floor: Option<Duration>,
    /// Shared with the search.
    pub cancel: CancelFlag,
    /// For logs.
    pub request_id: String,
}

/// Why a job was not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Even an idle server could not do it in time.
    TooShort,
    /// The queue is too long for it.
    Estimate {
        /// When to come back.
        retry: Duration,
    },
    /// No place.
    Full {
        /// When to come back.
        retry: Duration,
    },
}

/// How a worker runs a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As asked.
    Think,
    /// Only the cheap answer is left.
    Floor,
}

/// A job that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// As asked, or the cheap answer.
    pub mode: Mode,
    /// When.
    pub at: Instant,
}

/// How it ended for the one who waits.
#[derive(Debug, PartialEq)]
pub enum Ended<T> {
    /// With an answer.
    Done(T),
    /// Too late to start.
    Expired,
    /// Pushed out by somebody more urgent.
    Evicted {
        /// When to come back.
        retry: Duration,
    },
    /// It overshot the deadline.
    Overshot,
    /// It panicked.
    Panicked,
}

/// What becomes of a job that leaves the queue.
pub(super) enum Fate {
    Run(Start),
    Expired,
    Evicted(Duration),
}

type Work = Box<dyn FnOnce(Fate) + Send>;

/// A job as the queue holds it.
pub(super) struct Job {
    pub(super) ask: Ask,
    /// Why nobody waits any more: [`ALIVE`], [`GONE`] or [`LATE`].
    pub(super) waiter: Arc<AtomicU8>,
    pub(super) admitted: Instant,
    pub(super) work: Work,
}

pub(super) const ALIVE: u8 = 0;
const GONE: u8 = 1;
const LATE: u8 = 2;

/// A worker's job, as the estimate and the liveness probe see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) since: Instant,
    pub(super) cost: Duration,
    pub(super) think_end: Instant,
}

pub(super) struct State {
    queue: BTreeMap<Key, Job>,
    bulk: usize,
    seq: u64,
    pub(super) running: Vec<Option<Running>>,
    pub(super) closed: bool,
}

/// The queue and its workers.
pub struct Pool {
    state: Mutex<State>,
    pub(super) wake: Condvar,
    capacity: usize,
    pub(super) metrics: Arc<Metrics>,
    /// Milliseconds since `born` at which each worker was last seen.
    pub(super) beats: Vec<AtomicU64>,
    pub(super) born: Instant,
}

/// RetryInfo is never shorter nor longer than this.
fn retry_after(time: Duration) -> Duration {
    time.clamp(Duration::from_millis(5), Duration::from_secs(1))
}

impl Pool {
    /// An empty queue for this many workers; they are started by [`super::workers::start`].
    pub fn new(workers: usize, capacity: usize, metrics: Arc<Metrics>) -> Arc<Self> {
        metrics.workers.set(workers as i64);
        Arc::new(Self {
            state: Mutex::new(State {
                queue: BTreeMap::new(),
                bulk: 0,
                seq: 0,
                running: vec![None; workers],
                closed: false,
            }),
            wake: Condvar::new(),
            capacity,
            metrics,
            beats: (0..workers).map(|_| AtomicU64::new(0)).collect(),
            born: now(),
        })
    }

    /// How many workers.
    pub fn workers(&self) -> usize {
        self.beats.len()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a job into the queue, or says why not.
    ///
    /// # Errors
    /// Too short to start, too long a queue, or no place.
    pub fn submit<T: Send + 'static>(
        self: &Arc<Self>,
        ask: Ask,
        run: impl FnOnce(Start) -> T + Send + 'static,
    ) -> Result<Ticket<T>, Refusal> {
        let (send, receive) = oneshot::channel();
        let work: Work = Box::new(move |fate| {
            let ended = match fate {
                Fate::Run(start) => Ended::Done(run(start)),
                Fate::Expired => Ended::Expired,
                Fate::Evicted(retry) => Ended::Evicted { retry },
            };
            // Nobody may be waiting any more: then the answer is dropped, as it should be.
            let _ = send.send(ended);
        });
        let waiter = Arc::new(AtomicU8::new(ALIVE));
        let (think_end, deadline) = (ask.think_end, ask.deadline);
        let cancel = ask.cancel.clone();
        let key = self.admit(ask, Arc::clone(&waiter), work)?;
        Ok(Ticket { pool: Arc::clone(self), key, cancel, waiter, receive, open: true, think_end, deadline })
    }

    /// Whether the queue would take a job now.
    ///
    /// # Errors
    /// As [`Self::submit`].
    pub fn would_take(&self, ask: &Ask) -> Result<(), Refusal> {
        let arrived = now();
        if arrived + ask.need > ask.think_end {
            return Err(Refusal::TooShort);
        }
        let state = self.lock();
        state.fits(ask, arrived)?;
        let room =
            state.queue.len() < self.capacity || (ask.class == Class::Interactive && state.latest_bulk().is_some());
        if room { Ok(()) } else { Err(Refusal::Full { retry: retry_after(state.time_per_entry(arrived)) }) }
    }

    fn admit(&self, ask: Ask, waiter: Arc<AtomicU8>, work: Work) -> Result<Key, Refusal> {
        let arrived = now();
        if arrived + ask.need > ask.think_end {
            return Err(Refusal::TooShort);
        }
        let mut evicted = None;
        let key = {
            let mut state = self.lock();
            let key = state.fits(&ask, arrived)?;
            if state.queue.len() >= self.capacity {
                let retry = retry_after(state.time_per_entry(arrived));
                let victim = state.latest_bulk().filter(|_| ask.class == Class::Interactive);
                let job = victim.and_then(|victim| self.take(&mut state, &victim)).ok_or(Refusal::Full { retry })?;
                evicted = Some((job, retry));
            }
            state.seq += 1;
            state.bulk += usize::from(ask.class == Class::Bulk);
            self.metrics.queue_depth[ask.class as usize].inc();
            state.queue.insert(key, Job { ask, waiter, admitted: arrived, work });
            key
        };
        self.metrics.admitted.inc();
        self.wake.notify_one();
        if let Some((job, retry)) = evicted {
            self.metrics.end(End::Evicted);
            (job.work)(Fate::Evicted(retry));
        }
        Ok(key)
    }

    /// Takes a job out of the queue, if it is still there.
    fn take(&self, state: &mut State, key: &Key) -> Option<Job> {
        let job = state.queue.remove(key)?;
        state.bulk -= usize::from(key.class == Class::Bulk);
        self.metrics.queue_depth[key.class as usize].dec();
        Some(job)
    }

    /// The first job in order; its worker is busy from now on.
    pub(super) fn take_first(&self, state: &mut State, worker: usize) -> Option<Job> {
        let key = *state.queue.first_key_value()?.0;
        let job = self.take(state, &key)?;
        let running = Running { since: now(), cost: job.ask.cost, think_end: job.ask.think_end };
        state.running[worker] = Some(running);
        Some(job)
    }

    /// Waiting jobs.
    pub fn waiting(&self) -> usize {
        self.lock().queue.len()
    }

    /// How long the oldest waiting job of each class has waited.
    pub fn ages(&self) -> [Duration; 2] {
        let present = now();
        let mut ages = [Duration::ZERO; 2];
        for job in self.lock().queue.values() {
            let age = &mut ages[job.ask.class as usize];
            *age = (*age).max(present.saturating_duration_since(job.admitted));
        }
        ages
    }

    /// Every worker was seen lately, or holds a job that is not ten seconds past its end.
    pub fn alive(&self) -> bool {
        const PATIENCE: Duration = Duration::from_secs(10);
        let present = now();
        let state = self.lock();
        state.running.iter().zip(&self.beats).all(|(running, beat)| match running {
            Some(running) => present < running.think_end.max(running.since) + PATIENCE,
            None => present < self.born + Duration::from_millis(beat.load(Ordering::Relaxed)) + PATIENCE,
        })
    }

    /// No job is taken any more; idle workers go home.
    pub fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_all();
    }

    /// A job that its waiter no longer wants leaves the queue; `None`: a worker has it.
    fn withdraw(&self, key: &Key) -> Option<Job> {
        let mut state = self.lock();
        self.take(&mut state, key)
    }
}

impl State {
    /// The place a job would take, if it can start in time there.
    fn fits(&self, ask: &Ask, present: Instant) -> Result<Key, Refusal> {
        let key = Key { class: ask.class, due: ask.deadline.unwrap_or(ask.think_end), seq: self.seq };
        let ready = present + self.wait_before(&key, present) + ask.need;
        if ready > ask.think_end {
            return Err(Refusal::Estimate { retry: retry_after(ready - ask.think_end) });
        }
        Ok(key)
    }

    /// What runs before `key`, running jobs included, divided by workers. Nothing where a worker is free for it.
    fn wait_before(&self, key: &Key, present: Instant) -> Duration {
        let ahead = self.queue.range(..*key);
        let (count, queued) = ahead.fold((0, Duration::ZERO), |(n, sum), (_, job)| (n + 1, sum + job.ask.cost));
        let busy = self.running.iter().flatten();
        let (running, left) = busy.fold((0, Duration::ZERO), |(n, sum), running| {
            (n + 1, sum + running.cost.saturating_sub(present.saturating_duration_since(running.since)))
        });
        if count + running < self.running.len() {
            return Duration::ZERO;
        }
        (queued + left) / self.running.len() as u32
    }

    /// How long until one entry has drained.
    fn time_per_entry(&self, present: Instant) -> Duration {
        let queued: Duration = self.queue.values().map(|job| job.ask.cost).sum();
        let left = self.running.iter().flatten();
        let left: Duration = left.map(|r| r.cost.saturating_sub(present.saturating_duration_since(r.since))).sum();
        let jobs = self.queue.len() + self.running.iter().flatten().count();
        (queued + left) / (jobs.max(1) * self.running.len()) as u32
    }

    /// The bulk entry with the latest deadline.
    fn latest_bulk(&self) -> Option<Key> {
        let last = *self.queue.last_key_value()?.0;
        (last.class == Class::Bulk).then_some(last)
    }
}

/// A place in the queue. Dropping it gives the place back, or tells the search to stop.
#[derive(Debug)]
pub struct Ticket<T> {
    pool: Arc<Pool>,
    key: Key,
    cancel: CancelFlag,
    waiter: Arc<AtomicU8>,
    receive: oneshot::Receiver<Ended<T>>,
    open: bool,
    think_end: Instant,
    deadline: Option<Instant>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

impl<T> Ticket<T> {
    /// Waits for the answer. At the end of thinking time a job that still waits is taken back: with the cheap answer
    /// where that is allowed and takes less than `inline_below`, else without any. At the deadline nobody waits for a
    /// policy that overshoots.
    pub async fn wait(mut self, inline_below: Duration) -> Ended<T> {
        if let Ok(answer) = tokio::time::timeout_at(self.think_end.into(), &mut self.receive).await {
            self.open = false;
            return answer.unwrap_or(Ended::Panicked);
        }
        if let Some(job) = self.pool.withdraw(&self.key) {
            self.open = false;
            return self.too_late(job, inline_below);
        }
        let answer = match self.deadline {
            Some(deadline) => tokio::time::timeout_at(deadline.into(), &mut self.receive).await.ok(),
            None => Some((&mut self.receive).await),
        };
        self.open = false;
        if let Some(answer) = answer {
            return answer.unwrap_or(Ended::Panicked);
        }
        self.waiter.store(LATE, Ordering::Relaxed);
        self.cancel.raise();
        Ended::Overshot
    }

    fn too_late(&mut self, job: Job, inline_below: Duration) -> Ended<T> {
        let floor = job
            .ask
            .floor
            .filter(|floor| *floor < inline_below && job.ask.deadline.is_none_or(|deadline| now() + *floor < deadline));
        if floor.is_none() {
            self.pool.metrics.end(End::Expired);
            return Ended::Expired;
        }
        let start = Start { mode: Mode::Floor, at: now() };
        if super::workers::guarded(&job.ask.request_id, || (job.work)(Fate::Run(start))).is_err() {
            self.pool.metrics.panics.inc();
            self.pool.metrics.end(End::Panicked);
            return Ended::Panicked;
        }
        self.pool.metrics.end(End::Finished);
        self.receive.try_recv().unwrap_or(Ended::Panicked)
    }
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        self.waiter.store(GONE, Ordering::Relaxed);
        self.cancel.raise();
        if self.pool.withdraw(&self.key).is_some() {
            self.pool.metrics.end(End::Cancelled);
        }
    }
}

/// How a job that ran has ended, for the books.
pub(super) fn end_of(ran: bool, panicked: bool, waiter: u8) -> End {
    match (panicked, ran, waiter) {
        (true, ..) => End::Panicked,
        (_, _, GONE) => End::Cancelled,
        (_, false, _) | (_, _, LATE) => End::Expired,
        _ => End::Finished,
    }
}
