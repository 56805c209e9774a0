//! The decision threads: one job each, no I/O. A panic costs its own call and nothing else.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once};
use std::time::Duration;

use super::admission::{Fate, Job, Mode, Pool, Start, end_of};
use super::deadline::now;

/// Starts every worker of a pool.
///
/// # Errors
/// The system gives no thread.
pub fn start(pool: &Arc<Pool>) -> std::io::Result<()> {
    install_panic_hook();
    (0..pool.workers()).try_for_each(|place| spawn(Arc::clone(pool), place))
}

fn spawn(pool: Arc<Pool>, place: usize) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name(format!("decide-{place}"));
    thread.spawn(move || work(&pool, place)).map(|_| ())
}

/// An idle worker shows itself this often.
const BEAT: Duration = Duration::from_secs(1);

fn work(pool: &Arc<Pool>, place: usize) {
    while let Some(job) = next(pool, place) {
        let panicked = run(pool, job);
        pool.lock().running[place] = None;
        if panicked {
            // What the panic left behind on this stack and in its thread-locals goes with the thread.
            while spawn(Arc::clone(pool), place).is_err() {
                std::thread::sleep(BEAT);
            }
            return;
        }
    }
}

fn next(pool: &Pool, place: usize) -> Option<Job> {
    let mut state = pool.lock();
    loop {
        pool.beats[place].store(pool.born.elapsed().as_millis() as u64, Ordering::Relaxed);
        if let Some(job) = pool.take_first(&mut state, place) {
            return Some(job);
        }
        if state.closed {
            return None;
        }
        state = match pool.wake.wait_timeout(state, BEAT) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
    }
}

/// Runs one job; true if it panicked.
fn run(pool: &Pool, job: Job) -> bool {
    let Job { ask, waiter, admitted, work } = job;
    let at = now();
    pool.metrics.queue_duration[ask.class as usize].observe((at - admitted).as_secs_f64());
    let fate = if ask.cancel.is_raised() || at + ask.need > ask.think_end {
        let in_time = |floor: &Duration| ask.deadline.is_none_or(|deadline| at + *floor < deadline);
        match ask.floor.filter(in_time) {
            Some(_) if !ask.cancel.is_raised() => Fate::Run(Start { mode: Mode::Floor, at }),
            _ => Fate::Expired,
        }
    } else {
        Fate::Run(Start { mode: Mode::Think, at })
    };
    let ran = matches!(fate, Fate::Run(_));
    let busy = ran.then(|| super::metrics::Held::new(&pool.metrics.workers_busy, 1));
    if ran {
        pool.metrics.time_left.observe(ask.think_end.saturating_duration_since(at).as_secs_f64());
    }
    let panicked = guarded(&ask.request_id, || work(fate)).is_err();
    drop(busy);
    if panicked {
        pool.metrics.panics.inc();
    }
    pool.metrics.end(end_of(ran, panicked, waiter.load(Ordering::Relaxed)));
    panicked
}

thread_local! {
    /// Whether a panic on this thread is caught by [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// Where it happened.
    static LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The call inside panicked; the log line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// Runs `f`; a panic becomes one log line with the request's id and the location.
///
/// # Errors
/// It panicked.
pub fn guarded<T>(request_id: &str, f: impl FnOnce() -> T) -> Result<T, Panicked> {
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    GUARDED.set(outer);
    result.map_err(|payload| {
        let location = LOCATION.take();
        tracing::error!(request_id, location, "panic: {}", text_of(payload.as_ref()));
        Panicked
    })
}

/// Panics that [`guarded`] catches are told once, by it; all others as before.
fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if GUARDED.get() {
                let location = info.location().map(ToString::to_string).unwrap_or_default();
                LOCATION.set(location);
            } else {
                before(info);
            }
        }));
    });
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("not a text")
}
