//! Metrics: one struct of handles, made once; nothing is looked up by string on a call. Labels are closed sets.

use prometheus::core::Collector;
use prometheus::process_collector::ProcessCollector;
use prometheus::{
    Encoder as _, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};
use tonic::Code;

use super::boards;
use super::book::Book;
use super::status::Reason;
use crate::bot::Completion;

/// The methods that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Method {
    Decide,
    BatchDecide,
    ListPolicies,
    GetServerInfo,
    AssessBoards,
    GenerateBoard,
    /// Health, reflection, and whatever does not exist.
    Other,
}

impl Method {
    /// Of many items, so of much memory.
    pub const fn is_bulk(self) -> bool {
        matches!(self, Self::BatchDecide | Self::AssessBoards)
    }

    /// All, in order.
    pub const ALL: [Self; 7] = [
        Self::Decide,
        Self::BatchDecide,
        Self::ListPolicies,
        Self::GetServerInfo,
        Self::AssessBoards,
        Self::GenerateBoard,
        Self::Other,
    ];

    /// By the path of a request.
    pub fn of(path: &str) -> Self {
        match path {
            "/understudy.v1.BotService/Decide" => Self::Decide,
            "/understudy.v1.BotService/BatchDecide" => Self::BatchDecide,
            "/understudy.v1.BotService/ListPolicies" => Self::ListPolicies,
            "/understudy.v1.BotService/GetServerInfo" => Self::GetServerInfo,
            boards::ASSESS => Self::AssessBoards,
            boards::GENERATE => Self::GenerateBoard,
            _ => Self::Other,
        }
    }

    /// As labels and logs spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decide => "Decide",
            Self::BatchDecide => "BatchDecide",
            Self::ListPolicies => "ListPolicies",
            Self::GetServerInfo => "GetServerInfo",
            Self::AssessBoards => "AssessBoards",
            Self::GenerateBoard => "GenerateBoard",
            Self::Other => "other",
        }
    }
}

/// How a call ended, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Ok,
    ClientError,
    Shed,
    Deadline,
    Cancelled,
    ServerError,
}

impl Class {
    const NAMES: [&str; 6] = ["ok", "client_error", "shed", "deadline", "cancelled", "server_error"];

    fn of(code: Code, reason: Option<Reason>) -> Self {
        match (code, reason) {
            (Code::Ok, _) => Self::Ok,
            (Code::Cancelled, _) => Self::Cancelled,
            (Code::DeadlineExceeded, _) => Self::Deadline,
            (Code::ResourceExhausted, Some(Reason::RequestTooLarge)) | (_, Some(Reason::ContentType)) => {
                Self::ClientError
            }
            (Code::ResourceExhausted | Code::Unavailable, _) => Self::Shed,
            (Code::Internal | Code::Unknown | Code::DataLoss | Code::Aborted, _) => Self::ServerError,
            _ => Self::ClientError,
        }
    }
}

const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// A code as metrics and logs spell it.
pub fn code_name(code: Code) -> &'static str {
    CODES[code as usize]
}

/// How a job ended. Every admitted job ends in exactly one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum End {
    Finished,
    Expired,
    Cancelled,
    Evicted,
    Panicked,
}

impl End {
    const NAMES: [&str; 5] = ["finished", "expired", "cancelled", "evicted", "panicked"];
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Parting {
    Client,
    Age,
    Idle,
    Drain,
    Hostile,
    Refused,
}

impl Parting {
    const NAMES: [&str; 6] = ["client", "age", "idle", "drain", "hostile", "refused"];
}

/// A file that is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Secret {
    Tls,
    ClientCa,
    Tokens,
}

impl Secret {
    const NAMES: [&str; 3] = ["tls", "client_ca", "tokens"];

    /// As logs spell it.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Completions as labels and logs spell them; the last is the depth-0 table given for want of time.
pub const COMPLETIONS: [&str; 6] = ["FULL", "NODES", "WORLDS", "DEPTH", "TIME", "FALLBACK"];

/// The place of a completion in [`COMPLETIONS`].
pub const fn completion_place(completion: Completion, fallback: bool) -> usize {
    if fallback {
        return 5;
    }
    match completion {
        Completion::Full => 0,
        Completion::Nodes => 1,
        Completion::Worlds => 2,
        Completion::Depth => 3,
        Completion::Time => 4,
    }
}

/// Handles of one policy.
pub struct PolicyMetrics {
    /// From arrival to reply.
    pub decide: Histogram,
    /// On a worker or inline.
    pub think: Histogram,
    /// By completion.
    pub decisions: [IntCounter; 6],
    /// By kind of move, in the order of the game's list.
    pub moves: Vec<IntCounter>,
}

/// Handles of one game.
pub struct GameMetrics {
    /// Rows of a table.
    pub candidates: Histogram,
    /// Violations in views.
    pub violations: IntCounter,
    /// Calls whose policy does not exist.
    pub unknown: Histogram,
}

/// Every handle.
#[allow(missing_docs)]
pub struct Metrics {
    registry: Registry,
    rpc_duration: Vec<[Histogram; 6]>,
    rpc_total: Vec<[IntCounter; 17]>,
    pub policies: Vec<PolicyMetrics>,
    pub games: Vec<GameMetrics>,
    /// Decisions of no known game.
    pub unknown: Histogram,
    /// By class: interactive, bulk.
    pub queue_duration: [Histogram; 2],
    pub queue_depth: [IntGauge; 2],
    /// Set when somebody looks: a histogram hears of a job only once a worker takes it.
    pub queue_age: [Gauge; 2],
    pub time_left: Histogram,
    pub admitted: IntCounter,
    ends: [IntCounter; 5],
    rejected: Vec<IntCounter>,
    pub panics: IntCounter,
    pub log_lines_dropped: IntCounter,
    pub record_dropped: IntCounter,
    partings: [IntCounter; 6],
    reloads: Vec<[IntCounter; 2]>,
    pub in_flight: IntGauge,
    pub connections: IntGauge,
    pub receive_bytes: IntGauge,
    pub send_bytes: IntGauge,
    pub workers: IntGauge,
    pub workers_busy: IntGauge,
}

/// `count` buckets from `first`, each 1.8 times the one before.
fn ladder(first: f64, count: usize) -> Vec<f64> {
    std::iter::successors(Some(first), |bound| Some(bound * 1.8)).take(count).collect()
}

/// 20 buckets from 50 us to 3.5 s.
fn rpc_buckets() -> Vec<f64> {
    ladder(50e-6, 20)
}

/// 24 buckets from 5 us to 3.7 s: an easy policy takes a few microseconds.
fn think_buckets() -> Vec<f64> {
    ladder(5e-6, 24)
}

/// Makes metrics and enters them into the registry. Names and labels are constants of this file, so that a clash
/// would be a bug here, seen by every test.
struct Maker<'a>(&'a Registry);

impl Maker<'_> {
    fn enter<C: Collector + Clone + 'static>(&self, made: Result<C, prometheus::Error>) -> C {
        let collector = made.unwrap_or_else(|error| unreachable!("a metric of this file is malformed: {error}"));
        let entered = self.0.register(Box::new(collector.clone()));
        debug_assert!(entered.is_ok(), "two metrics of this file share a name: {entered:?}");
        collector
    }

    fn counter(&self, name: &str, help: &str) -> IntCounter {
        self.enter(IntCounter::new(name, help))
    }

    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.enter(IntCounterVec::new(Opts::new(name, help), labels))
    }

    fn gauge(&self, name: &str, help: &str) -> IntGauge {
        self.enter(IntGauge::new(name, help))
    }

    fn histogram(&self, name: &str, help: &str, buckets: Vec<f64>) -> Histogram {
        self.enter(Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets)))
    }

    fn histograms(&self, name: &str, help: &str, labels: &[&str], buckets: Vec<f64>) -> HistogramVec {
        self.enter(HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets), labels))
    }
}

impl Metrics {
    /// Every series of a server with these policies, from the start: none appears later.
    pub fn new(book: &Book) -> Self {
        let registry = Registry::new();
        let make = Maker(&registry);
        let rpc_duration = make.histograms(
            "understudy_rpc_duration_seconds",
            "From header arrival to the trailers.",
            &["method", "outcome"],
            rpc_buckets(),
        );
        let rpc_total = make.counters("understudy_rpc_total", "Calls by code.", &["method", "code"]);
        let decide = make.histograms(
            "understudy_decide_duration_seconds",
            "From arrival to the decision, items of a batch included.",
            &["game", "policy"],
            rpc_buckets(),
        );
        let think = make.histograms(
            "understudy_think_duration_seconds",
            "Thinking alone.",
            &["game", "policy"],
            think_buckets(),
        );
        let decisions =
            make.counters("understudy_decisions_total", "Decisions by completion.", &["game", "policy", "completion"]);
        let moves = make.counters("understudy_moves_total", "Moves decided on, by kind.", &["game", "policy", "kind"]);
        let candidates = make.histograms(
            "understudy_candidates",
            "Rows of a decision's table.",
            &["game"],
            (0..13).map(|power| f64::from(1 << power)).collect(),
        );
        let violations =
            make.counters("understudy_view_violations_total", "Broken rules in views received.", &["game"]);
        let queue_duration =
            make.histograms("understudy_queue_duration_seconds", "Waiting for a worker.", &["priority"], rpc_buckets());
        let queue_depth: IntGaugeVec =
            make.enter(IntGaugeVec::new(Opts::new("understudy_queue_depth", "Waiting jobs."), &["priority"]));
        let queue_age: GaugeVec = make.enter(GaugeVec::new(
            Opts::new("understudy_queue_age_seconds", "How long the oldest waiting job has waited."),
            &["priority"],
        ));
        let ends = make.counters("understudy_jobs_total", "Jobs by how they ended.", &["end"]);
        let rejected = make.counters("understudy_rejected_total", "Calls and items refused or failed.", &["reason"]);
        let partings = make.counters("understudy_connections_total", "Connections by how they ended.", &["end"]);
        let reloads = make.counters("understudy_reloads_total", "Files read again.", &["file", "result"]);
        let build: IntGaugeVec = make.enter(IntGaugeVec::new(
            Opts::new("understudy_build_info", "1; the labels say what was built."),
            &["version", "revision"],
        ));
        build.with_label_values(&[super::VERSION, super::REVISION]).set(1);
        #[cfg(target_os = "linux")]
        let _ = registry.register(Box::new(ProcessCollector::for_self()));

        let policies = book.entries().iter().map(|entry| {
            let labels = [entry.bot.game(), entry.bot.name()];
            PolicyMetrics {
                decide: decide.with_label_values(&labels),
                think: think.with_label_values(&labels),
                decisions: COMPLETIONS.map(|name| decisions.with_label_values(&[labels[0], labels[1], name])),
                moves: book.games()[entry.game]
                    .kinds
                    .iter()
                    .map(|kind| moves.with_label_values(&[labels[0], labels[1], kind]))
                    .collect(),
            }
        });
        let games = book.games().iter().map(|game| GameMetrics {
            candidates: candidates.with_label_values(&[game.key]),
            violations: violations.with_label_values(&[game.key]),
            unknown: decide.with_label_values(&[game.key, "unknown"]),
        });
        Self {
            policies: policies.collect(),
            games: games.collect(),
            unknown: decide.with_label_values(&["unknown", "unknown"]),
            rpc_duration: Method::ALL
                .iter()
                .map(|method| Class::NAMES.map(|name| rpc_duration.with_label_values(&[method.name(), name])))
                .collect(),
            rpc_total: Method::ALL
                .iter()
                .map(|method| CODES.map(|name| rpc_total.with_label_values(&[method.name(), name])))
                .collect(),
            queue_duration: ["interactive", "bulk"].map(|name| queue_duration.with_label_values(&[name])),
            queue_depth: ["interactive", "bulk"].map(|name| queue_depth.with_label_values(&[name])),
            queue_age: ["interactive", "bulk"].map(|name| queue_age.with_label_values(&[name])),
            time_left: make.histogram(
                "understudy_time_left_seconds",
                "Time to the end of thinking when a worker starts.",
                rpc_buckets(),
            ),
            admitted: make.counter("understudy_jobs_admitted_total", "Jobs that entered the queue."),
            ends: End::NAMES.map(|name| ends.with_label_values(&[name])),
            rejected: Reason::ALL.iter().map(|reason| rejected.with_label_values(&[reason.name()])).collect(),
            panics: make.counter("understudy_panics_total", "Panics, caught."),
            log_lines_dropped: make.counter("understudy_log_lines_dropped_total", "Log lines that found no room."),
            record_dropped: make
                .counter("understudy_record_dropped_total", "Calls chosen for the record but not in it."),
            partings: Parting::NAMES.map(|name| partings.with_label_values(&[name])),
            reloads: Secret::NAMES
                .iter()
                .map(|file| ["ok", "failed"].map(|result| reloads.with_label_values(&[*file, result])))
                .collect(),
            in_flight: make.gauge("understudy_in_flight", "Calls in flight."),
            connections: make.gauge("understudy_connections", "Open connections."),
            receive_bytes: make.gauge("understudy_receive_bytes", "Bytes of half-received messages."),
            send_bytes: make.gauge("understudy_send_bytes", "Bytes of replies not taken yet."),
            workers: make.gauge("understudy_workers", "Decision threads."),
            workers_busy: make.gauge("understudy_workers_busy", "Decision threads with a job."),
            registry,
        }
    }

    /// A call ended, its trailers known.
    pub fn call(&self, method: Method, code: Code, reason: Option<Reason>, seconds: f64) {
        self.rpc_total[method as usize][code as usize].inc();
        self.rpc_duration[method as usize][Class::of(code, reason) as usize].observe(seconds);
        if let Some(reason) = reason {
            self.rejected(reason);
        }
    }

    /// A call or an item was refused or failed.
    pub fn rejected(&self, reason: Reason) {
        self.rejected[reason as usize].inc();
    }

    /// A job ended.
    pub fn end(&self, end: End) {
        self.ends[end as usize].inc();
    }

    /// How many jobs ended so.
    pub fn ended(&self, end: End) -> u64 {
        self.ends[end as usize].get()
    }

    /// A connection ended.
    pub fn parting(&self, parting: Parting) {
        self.partings[parting as usize].inc();
    }

    /// A file was read again.
    pub fn reload(&self, file: Secret, ok: bool) {
        self.reloads[file as usize][usize::from(!ok)].inc();
    }

    /// The text that Prometheus scrapes.
    pub fn text(&self) -> String {
        let mut out = Vec::with_capacity(128 << 10);
        match TextEncoder::new().encode(&self.registry.gather(), &mut out) {
            Ok(()) => String::from_utf8(out).unwrap_or_default(),
            Err(error) => format!("# {error}\n"),
        }
    }
}

/// Holds a gauge up by an amount, and lets it down when dropped, so that no early return leaks.
#[derive(Debug)]
pub struct Held {
    gauge: IntGauge,
    amount: i64,
}

impl Held {
    /// Up by `amount`.
    pub fn new(gauge: &IntGauge, amount: i64) -> Self {
        gauge.add(amount);
        Self { gauge: gauge.clone(), amount }
    }

    /// Changes the amount.
    pub fn set(&mut self, amount: i64) {
        self.gauge.add(amount - self.amount);
        self.amount = amount;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gauge.sub(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ladders_end_where_the_spec_says() {
        let last = |buckets: Vec<f64>| buckets.last().copied().unwrap_or_default();
        assert!((3.5..3.6).contains(&last(rpc_buckets())), "{}", last(rpc_buckets()));
        assert!((3.6..3.8).contains(&last(think_buckets())), "{}", last(think_buckets()));
    }

    #[test]
    fn held_gauges_come_back() {
        let Ok(gauge) = IntGauge::new("g", "h") else { unreachable!("a fixed name") };
        let mut held = Held::new(&gauge, 3);
        held.set(7);
        assert_eq!(gauge.get(), 7);
        drop(held);
        assert_eq!(gauge.get(), 0);
    }
}
