//! How much thinking is allowed, and when to stop. The only file here that reads a clock.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Limits of one decision; `None` is no limit. Nodes, worlds and depth repeat exactly, time does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Nodes, in the game's own sense of the word.
    pub nodes: Option<u64>,
    /// Sampled worlds.
    pub worlds: Option<u32>,
    /// Completed plies or rounds of deepening.
    pub depth: Option<u32>,
}

impl Limits {
    /// No limit at all.
    pub const NONE: Self = Self { time: None, nodes: None, worlds: None, depth: None };

    /// Only a node limit.
    pub const fn nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::NONE }
    }

    /// Only a world limit.
    pub const fn worlds(worlds: u32) -> Self {
        Self { worlds: Some(worlds), ..Self::NONE }
    }

    /// The same with a time limit.
    #[must_use]
    pub const fn with_time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Whether any limit is named.
    pub fn any(&self) -> bool {
        *self != Self::NONE
    }
}

/// Why thinking ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The clock ran out.
    Deadline,
    /// The node limit is reached.
    Nodes,
    /// The world limit is reached.
    Worlds,
    /// The depth limit is reached.
    Depth,
    /// Nobody waits for the answer any more.
    Cancelled,
}

/// Raised by whoever no longer wants the answer; seen at the next poll.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Asks the search to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// One decision's allowance. Used with `?` down the whole search: [`Budget::tick`] once a node, [`Budget::world`]
/// once a world. A budget without a deadline never reads the clock.
#[derive(Debug)]
pub struct Budget {
    deadline: Option<Instant>,
    cancel: Option<CancelFlag>,
    limits: Limits,
    /// Ticks between two looks at the clock and the cancel flag.
    stride: Cell<u64>,
    /// Ticks granted so far, and how many of them are still unspent.
    granted: Cell<u64>,
    left: Cell<u64>,
    worlds: Cell<u32>,
    stopped: Cell<Option<Stopped>>,
    /// When the first whole round was done; only noted where a clock is read anyway.
    first_round: Cell<Option<Instant>>,
}

/// 64 ticks per clock read: about 1.5 ns a node, and an expensive 10 us node overshoots by 0.6 ms.
const DEFAULT_STRIDE: u64 = 64;

impl Budget {
    /// `limits` from now on. A limit of time starts to run here.
    pub fn new(limits: Limits) -> Self {
        Self::until(limits, limits.time.map(|time| now() + time), None)
    }

    /// No limit at all.
    pub fn unlimited() -> Self {
        Self::until(Limits::NONE, None, None)
    }

    /// Already spent: a policy answers with its depth-0 table.
    pub fn spent() -> Self {
        let budget = Self::until(Limits::NONE, None, None);
        budget.stopped.set(Some(Stopped::Deadline));
        budget
    }

    /// `limits` (whose time is ignored) until `deadline`, or until `cancel` is raised.
    pub fn until(limits: Limits, deadline: Option<Instant>, cancel: Option<CancelFlag>) -> Self {
        Self {
            deadline,
            cancel,
            limits,
            stride: Cell::new(DEFAULT_STRIDE),
            granted: Cell::new(0),
            left: Cell::new(0),
            worlds: Cell::new(0),
            stopped: Cell::new(None),
            first_round: Cell::new(None),
        }
    }

    /// Looks at the clock every `ticks` ticks from now on. For searches whose nodes are very cheap or very dear.
    pub fn poll_every(&self, ticks: u64) {
        self.stride.set(ticks.max(1));
    }

    /// Counts one node.
    ///
    /// # Errors
    /// Why to stop. Once stopped, always stopped.
    #[inline]
    pub fn tick(&self) -> Result<(), Stopped> {
        let left = self.left.get();
        if left > 0 {
            self.left.set(left - 1);
            return Ok(());
        }
        self.refill()
    }

    #[cold]
    fn refill(&self) -> Result<(), Stopped> {
        self.poll()?;
        let granted = self.granted.get();
        let allowed = self.limits.nodes.map_or(u64::MAX, |limit| limit.saturating_sub(granted));
        if allowed == 0 {
            return Err(self.stop(Stopped::Nodes));
        }
        let grant = self.stride.get().min(allowed);
        self.granted.set(granted + grant);
        self.left.set(grant - 1);
        Ok(())
    }

    /// Counts one world, and looks at the clock.
    ///
    /// # Errors
    /// Why to stop.
    pub fn world(&self) -> Result<(), Stopped> {
        self.poll()?;
        if self.limits.worlds.is_some_and(|limit| self.worlds.get() >= limit) {
            return Err(self.stop(Stopped::Worlds));
        }
        self.worlds.set(self.worlds.get() + 1);
        Ok(())
    }

    /// Asks for round `depth` (1 is the first after the static table), and looks at the clock.
    ///
    /// # Errors
    /// Why to stop.
    pub fn depth(&self, depth: u32) -> Result<(), Stopped> {
        if depth == 2 && self.deadline.is_some() {
            self.first_round.set(Some(now()));
        }
        self.poll()?;
        if self.limits.depth.is_some_and(|limit| depth > limit) {
            return Err(self.stop(Stopped::Depth));
        }
        if self.limits.nodes.is_some_and(|limit| self.nodes() >= limit) {
            return Err(self.stop(Stopped::Nodes));
        }
        Ok(())
    }

    /// Looks at the clock and the cancel flag without counting anything.
    ///
    /// # Errors
    /// Why to stop.
    pub fn poll(&self) -> Result<(), Stopped> {
        if let Some(stopped) = self.stopped.get() {
            return Err(stopped);
        }
        if self.cancel.as_ref().is_some_and(CancelFlag::is_raised) {
            return Err(self.stop(Stopped::Cancelled));
        }
        if self.deadline.is_some_and(|deadline| now() >= deadline) {
            return Err(self.stop(Stopped::Deadline));
        }
        Ok(())
    }

    fn stop(&self, why: Stopped) -> Stopped {
        self.stopped.set(Some(why));
        self.granted.set(self.granted.get() - self.left.get());
        self.left.set(0);
        why
    }

    /// Nodes counted so far.
    pub fn nodes(&self) -> u64 {
        self.granted.get() - self.left.get()
    }

    /// Worlds counted so far.
    pub fn worlds(&self) -> u32 {
        self.worlds.get()
    }

    /// The limits it was made with.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// When round 2 was asked for, which is when the first whole round was done. Only known under a deadline.
    pub fn first_round(&self) -> Option<Instant> {
        self.first_round.get()
    }

    /// Why it stopped, if it did.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped.get()
    }
}

/// Measures how long something took, for those who may not read a clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to run.
    pub fn start() -> Self {
        Self(now())
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        now() - self.0
    }
}

#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_limits_are_exact() {
        for limit in [1, 63, 64, 65, 1000] {
            let budget = Budget::new(Limits::nodes(limit));
            let mut done = 0;
            while budget.tick().is_ok() {
                done += 1;
            }
            assert_eq!(done, limit);
            assert_eq!(budget.nodes(), limit);
            assert_eq!(budget.tick(), Err(Stopped::Nodes));
        }
    }

    #[test]
    fn worlds_and_depth_stop_by_name() {
        let budget = Budget::new(Limits::worlds(2));
        assert_eq!((budget.world(), budget.world()), (Ok(()), Ok(())));
        assert_eq!(budget.world(), Err(Stopped::Worlds));
        assert_eq!(budget.worlds(), 2);
        let budget = Budget::new(Limits { depth: Some(3), ..Limits::NONE });
        assert_eq!((budget.depth(3), budget.depth(4)), (Ok(()), Err(Stopped::Depth)));
    }

    #[test]
    fn a_raised_flag_stops_within_one_stride() {
        let flag = CancelFlag::default();
        let budget = Budget::until(Limits::NONE, None, Some(flag.clone()));
        assert_eq!(budget.tick(), Ok(()));
        flag.raise();
        let more = (0..1000).take_while(|_| budget.tick().is_ok()).count();
        assert!(more < 64, "{more} ticks after the flag");
        assert_eq!(budget.stopped(), Some(Stopped::Cancelled));
        assert_eq!(budget.nodes(), more as u64 + 1);
    }

    #[test]
    fn a_spent_budget_grants_nothing() {
        let budget = Budget::spent();
        assert_eq!(budget.tick(), Err(Stopped::Deadline));
        assert_eq!(budget.world(), Err(Stopped::Deadline));
        assert_eq!(budget.depth(1), Err(Stopped::Deadline));
    }
}
