//! How quiet the machine is: a thread that sleeps a millisecond at a time and notes how late it wakes. What it suffers,
//! every latency of the same spell has suffered too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::Context;
use crate::load::{histogram, ms};
use crate::report::Report;

/// Listens until it is asked.
pub struct Quiet {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Histogram<u64>>,
}

impl Quiet {
    /// Starts to listen.
    pub fn listen() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut late = histogram();
            while !seen.load(Ordering::Relaxed) {
                let nap = Duration::from_millis(1);
                let asleep = Instant::now();
                thread::sleep(nap);
                late.saturating_record(asleep.elapsed().saturating_sub(nap).as_micros() as u64);
            }
            late
        });
        Self { stop, thread }
    }

    /// Reports the noise, and gives what the pass lines for times are to be widened by: nothing in a full run, which
    /// wants a quiet machine; in a quick one, which shares its cores with whatever checks run beside it, the noise.
    pub fn allowance(self, context: &Context, report: &mut Report) -> Duration {
        self.stop.store(true, Ordering::Relaxed);
        let late = self.thread.join().unwrap_or_else(|_| histogram());
        let (usual, worst) = (ms(&late, 0.99), ms(&late, 1.0));
        report.line(format!("noise of the machine: a timer is late by {usual:.1} ms at p99, {worst:.1} ms at worst"));
        if context.quick { Duration::from_micros((worst * 1e3) as u64) } else { Duration::ZERO }
    }
}
