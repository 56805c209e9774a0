//! The open-loop load client: calls leave when they are due, whether or not earlier ones have returned, and latency
//! counts from the moment a call was due. A server that stalls cannot hide it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hdrhistogram::Histogram;
use understudy::bot::Rng;

use crate::wire::{Channel, Ending, Target};

/// A flow of calls.
#[derive(Clone)]
pub struct Flow {
    /// Whom to call.
    pub target: Target,
    /// Which method.
    pub path: &'static str,
    /// Framed requests, taken in turn.
    pub bodies: Arc<[Bytes]>,
    /// Connections, used in turn.
    pub connections: usize,
    /// Calls a second.
    pub rate: f64,
    /// For how long calls are due.
    pub lasts: Duration,
    /// The deadline each call carries. `None`: no header.
    pub timeout: Option<Duration>,
    /// How long the client stays, from the moment the call was due; then it resets the stream, as gRPC clients do.
    pub patience: Duration,
    /// Where in its slot of 1/rate seconds each call leaves.
    pub seed: u64,
}

/// What became of a flow.
pub struct Tally {
    /// Calls that were due.
    pub due: u64,
    /// By ending.
    pub endings: BTreeMap<Ending, u64>,
    /// By reason of the ErrorInfo.
    pub reasons: BTreeMap<String, u64>,
    /// OK and within the deadline, from the moment the call was due.
    pub in_time: u64,
    /// Microseconds from due to OK.
    pub ok_us: Histogram<u64>,
    /// Microseconds from due to RESOURCE_EXHAUSTED.
    pub refused_us: Histogram<u64>,
    /// Microseconds from due to whatever end.
    pub all_us: Histogram<u64>,
    /// Microseconds from due to sent: how late the client itself was.
    pub lag_us: Histogram<u64>,
    /// The first few texts of calls that broke.
    pub broken: Vec<String>,
    /// How long the flow lasted.
    pub lasted: Duration,
}

impl Tally {
    fn new() -> Self {
        Self {
            due: 0,
            endings: BTreeMap::new(),
            reasons: BTreeMap::new(),
            in_time: 0,
            ok_us: histogram(),
            refused_us: histogram(),
            all_us: histogram(),
            lag_us: histogram(),
            broken: Vec::new(),
            lasted: Duration::ZERO,
        }
    }

    /// How many ended so.
    pub fn count(&self, ending: Ending) -> u64 {
        self.endings.get(&ending).copied().unwrap_or(0)
    }

    /// OK and in time, a second.
    pub fn goodput(&self) -> f64 {
        self.in_time as f64 / self.lasted.as_secs_f64()
    }

    /// Whatever is not OK.
    pub fn failed(&self) -> u64 {
        self.due - self.count(Ending::OK)
    }

    /// `Ok 1200, ResourceExhausted 3 (QUEUE_FULL 3)`.
    pub fn summary(&self) -> String {
        let parts: Vec<String> = self.endings.iter().map(|(ending, count)| format!("{ending} {count}")).collect();
        let reasons = self.reasons.iter().filter(|(reason, _)| !reason.is_empty());
        let reasons: Vec<String> = reasons.map(|(reason, count)| format!("{reason} {count}")).collect();
        if reasons.is_empty() { parts.join(", ") } else { format!("{} ({})", parts.join(", "), reasons.join(", ")) }
    }

    fn add(&mut self, answer: crate::wire::Answer, timeout: Option<Duration>, lag: Duration, took: Duration) {
        let us = |time: Duration| (time.as_micros() as u64).max(1);
        *self.endings.entry(answer.ending).or_default() += 1;
        self.all_us.saturating_record(us(took));
        self.lag_us.saturating_record(us(lag));
        match answer.ending {
            Ending::OK => {
                self.ok_us.saturating_record(us(took));
                self.in_time += u64::from(timeout.is_none_or(|limit| took <= limit));
            }
            Ending::REFUSED => self.refused_us.saturating_record(us(took)),
            Ending::Broken if self.broken.len() < 5 => self.broken.push(answer.text.clone()),
            _ => {}
        }
        if answer.ending != Ending::OK {
            *self.reasons.entry(answer.reason()).or_default() += 1;
        }
    }
}

/// Microseconds up to two minutes, three digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 120_000_000, 3).expect("bounds in order")
}

/// A quantile in milliseconds.
pub fn ms(histogram: &Histogram<u64>, quantile: f64) -> f64 {
    if histogram.is_empty() { 0.0 } else { histogram.value_at_quantile(quantile) as f64 / 1000.0 }
}

/// Runs the flows side by side, each on a thread of its own.
pub fn run_all(flows: &[Flow]) -> Vec<Tally> {
    thread::scope(|scope| {
        let running: Vec<_> = flows.iter().map(|flow| scope.spawn(|| run(flow))).collect();
        running.into_iter().map(|thread| thread.join().expect("a load thread")).collect()
    })
}

/// Runs one flow to its end.
pub fn run(flow: &Flow) -> Tally {
    runtime().block_on(open_loop(flow))
}

/// A runtime on this thread.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn open_loop(flow: &Flow) -> Tally {
    let channels: Vec<_> = (0..flow.connections).map(|_| Channel::new(&flow.target)).collect();
    let tally = Arc::new(Mutex::new(Tally::new()));
    let mut rng = Rng::new(flow.seed).split("arrivals");
    let calls = (flow.rate * flow.lasts.as_secs_f64()).round() as u64;
    let slot = 1.0 / flow.rate;
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..calls {
        let due = start + Duration::from_secs_f64(slot * (n as f64 + rng.unit()));
        tokio::time::sleep_until(due.into()).await;
        let channel = Arc::clone(&channels[n as usize % channels.len()]);
        let body = flow.bodies[n as usize % flow.bodies.len()].clone();
        let (path, timeout, patience, tally) = (flow.path, flow.timeout, flow.patience, Arc::clone(&tally));
        tasks.spawn(async move {
            let lag = due.elapsed();
            let answer = channel.call(path, timeout, body, patience.saturating_sub(lag)).await;
            tally.lock().expect("a tally").add(answer, timeout, lag, due.elapsed());
        });
        while tasks.try_join_next().is_some() {}
    }
    tasks.join_all().await;
    let mut tally = Arc::into_inner(tally).expect("all calls are done").into_inner().expect("a tally");
    tally.due = calls;
    tally.lasted = flow.lasts;
    tally
}

/// Keeps `in_flight` calls going for `lasts`: finds a capacity or counts CPU, never says anything about latency.
pub fn closed_loop(flow: &Flow, in_flight: usize) -> Tally {
    runtime().block_on(async {
        let channels: Vec<_> = (0..flow.connections).map(|_| Channel::new(&flow.target)).collect();
        let tally = Arc::new(Mutex::new(Tally::new()));
        let start = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..in_flight {
            let (flow, tally) = (flow.clone(), Arc::clone(&tally));
            let channel = Arc::clone(&channels[n % channels.len()]);
            tasks.spawn(async move {
                for round in n.. {
                    let sent = Instant::now();
                    if sent - start >= flow.lasts {
                        break;
                    }
                    let body = flow.bodies[round % flow.bodies.len()].clone();
                    let answer = channel.call(flow.path, flow.timeout, body, flow.patience).await;
                    let mut tally = tally.lock().expect("a tally");
                    tally.due += 1;
                    tally.add(answer, flow.timeout, Duration::ZERO, sent.elapsed());
                }
            });
        }
        tasks.join_all().await;
        let mut tally = Arc::into_inner(tally).expect("all calls are done").into_inner().expect("a tally");
        tally.lasted = start.elapsed();
        tally
    })
}
