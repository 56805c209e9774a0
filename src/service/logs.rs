//! Log lines: one a failed call, written from its outcome; a storm is one summary a second. Never views, never tokens.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tonic::Code;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::book::Book;
use super::call::{Call, Outcome};
use super::metrics::code_name;
use super::status::Reason;

/// Lines of one reason that a second may have; what is more is counted.
const LINES: u32 = 10;

/// Lets the first lines of each reason through, every second anew.
#[derive(Debug, Default)]
pub struct Gate {
    seen: [AtomicU32; Reason::ALL.len()],
}

impl Gate {
    /// Whether a line of this reason may be written.
    fn lets(&self, reason: Reason) -> bool {
        self.seen[reason as usize].fetch_add(1, Ordering::Relaxed) < LINES
    }

    /// Once a second: tells what was held back.
    pub fn sweep(&self) {
        for (reason, seen) in Reason::ALL.iter().zip(&self.seen) {
            let held_back = seen.swap(0, Ordering::Relaxed).saturating_sub(LINES);
            if held_back > 0 {
                tracing::warn!(
                    reason = reason.name(),
                    held_back,
                    "more calls failed for this reason in the last second"
                );
            }
        }
    }
}

/// A fault that may come again and again: the first is told at once, the others as a count, every ten seconds.
#[derive(Debug, Default)]
pub struct Repeats {
    told: Option<Instant>,
    untold: u64,
}

impl Repeats {
    const PAUSE: Duration = Duration::from_secs(10);

    /// It has happened, `now`. How many times since it was last told, this time included, where that is to be told now.
    pub fn again(&mut self, now: Instant) -> Option<u64> {
        self.untold += 1;
        if self.told.is_some_and(|told| now < told + Self::PAUSE) {
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.untold))
    }
}

/// Writes the line of a call that has ended: failed ones at info or warn, the others at debug.
pub fn call_line(gate: &Gate, book: &Book, call: &Call, code: Code, outcome: &Outcome) {
    let entry = outcome.policy.map(|place| &book.entries()[place]);
    macro_rules! line {
        ($level:expr) => {
            tracing::event!(
                $level,
                request_id = outcome.request_id.as_deref().unwrap_or(&call.request_id),
                trace_id = call.trace_id.as_deref().unwrap_or(""),
                method = call.method.name(),
                code = code_name(code),
                reason = outcome.reason.map_or("", Reason::name),
                stage = outcome.stage.map_or("", super::status::Stage::name),
                game = outcome.game,
                policy = entry.map_or("", |entry| &entry.title),
                move_key = outcome.move_key,
                completion = outcome.completion,
                queue_us = outcome.queue_us,
                think_us = outcome.think_us,
                total_us = super::deadline::micros(call.clock.elapsed()),
                nodes = outcome.nodes,
                view_hash = crate::bot::registry::hex(outcome.view_hash),
                seed = outcome.seed,
                weights_hash = entry.map_or("", |entry| &entry.weights_hash),
                client = call.client.as_deref().unwrap_or(""),
                peer = %call.peer,
                "call"
            )
        };
    }
    match code {
        Code::Ok => line!(Level::DEBUG),
        _ if !gate.lets(outcome.reason.unwrap_or(Reason::Bug)) => {}
        Code::Cancelled
        | Code::InvalidArgument
        | Code::NotFound
        | Code::FailedPrecondition
        | Code::Unimplemented
        | Code::Unauthenticated => line!(Level::INFO),
        _ => line!(Level::WARN),
    }
}

static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Lines that found no room so far.
pub fn dropped() -> u64 {
    DROPPED.get().map_or(0, |counter| counter.dropped_lines() as u64)
}

/// Starts logging to standard error, on a thread of its own. Keep the guard: dropping it writes out what is left.
///
/// # Errors
/// The filter is malformed, or logging has been started already.
pub fn start(filter: &str, json: bool) -> Result<WorkerGuard, String> {
    check_filter(filter)?;
    let filter = EnvFilter::try_new(filter).map_err(|error| format!("--log-level: {error}"))?;
    let (writer, guard) = NonBlockingBuilder::default().lossy(true).finish(std::io::stderr());
    let counter = writer.error_counter();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    let started = if json { builder.event_format(JsonLine).try_init() } else { builder.with_target(false).try_init() };
    started.map_err(|error| error.to_string())?;
    let _ = DROPPED.set(counter);
    Ok(guard)
}

/// Whether this is a level, or a filter of parts `target=level`. A word alone must be a level: the library would take a
/// misspelt one for a target, and log nothing at all.
///
/// # Errors
/// Why it is not.
pub fn check_filter(filter: &str) -> Result<(), String> {
    let unknown = |part: &&str| !part.contains('=') && part.parse::<LevelFilter>().is_err();
    if let Some(part) = filter.split(',').map(str::trim).find(unknown) {
        let levels = "off, error, warn, info, debug, trace";
        return Err(format!(
            "--log-level: {part:?} is no level; there is {levels}, or target=level parts, comma between"
        ));
    }
    EnvFilter::try_new(filter).map(|_| ()).map_err(|error| format!("--log-level: {error}"))
}

/// One JSON object a line: `ts`, `level`, `msg`, then the event's fields; empty ones are left out.
struct JsonLine;

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut ts = String::new();
        SystemTime.format_time(&mut Writer::new(&mut ts))?;
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut line = Map::new();
        line.insert("ts".to_owned(), ts.into());
        line.insert("level".to_owned(), event.metadata().level().as_str().to_ascii_lowercase().into());
        line.insert("msg".to_owned(), fields.message.into());
        line.extend(fields.rest);
        writeln!(writer, "{}", Value::Object(line))
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    rest: Map<String, Value>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        self.rest.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else if !value.is_empty() {
            self.put(field, value.into());
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_is_ten_lines_and_a_count() {
        let gate = Gate::default();
        let written = (0..1000).filter(|_| gate.lets(Reason::QueueFull)).count();
        assert_eq!(written, LINES as usize);
        assert!(gate.lets(Reason::InFlight), "another reason has its own lines");
        gate.sweep();
        assert!(gate.lets(Reason::QueueFull), "a new second, new lines");
    }

    #[test]
    fn what_repeats_is_told_once_in_a_while_and_counted() {
        let start = super::super::deadline::now();
        let mut repeats = Repeats::default();
        let told: Vec<_> = (0..1001).filter_map(|n| repeats.again(start + Duration::from_millis(20 * n))).collect();
        assert_eq!(told, [1, 500, 500]);
    }
}
