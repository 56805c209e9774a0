//! What belongs to one call from its headers to its trailers.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use http::HeaderMap;

use super::deadline::Clock;
use super::metrics::Method;
use super::status::{Error, Reason, Stage};

/// One call. The edge makes it and hands it to the handler.
#[derive(Debug)]
pub struct Call {
    /// Which method.
    pub method: Method,
    /// Its times.
    pub clock: Clock,
    /// Who calls.
    pub peer: SocketAddr,
    /// Name of the token it came with.
    pub client: Option<Arc<str>>,
    /// `x-request-id`, or made here.
    pub request_id: String,
    /// Of `traceparent`; 32 hex digits.
    pub trace_id: Option<String>,
    /// The caller's span, for the trace that is exported.
    #[cfg(feature = "otel")]
    pub parent: Option<super::telemetry::Parent>,
    /// From arrival until the message was whole.
    #[cfg(feature = "otel")]
    pub received: OnceLock<std::time::Duration>,
    outcome: Mutex<Outcome>,
}

/// What is known at the end of a call: its log line and its metrics are written from this one value.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Outcome {
    /// The request's own id, where it is not the header's.
    pub request_id: Option<String>,
    pub reason: Option<Reason>,
    pub stage: Option<Stage>,
    pub game: &'static str,
    /// Place of the policy in the book.
    pub policy: Option<usize>,
    pub move_key: String,
    pub completion: &'static str,
    pub queue_us: u32,
    pub think_us: u32,
    pub nodes: u64,
    pub view_hash: u64,
    pub seed: u64,
    /// From arrival until the decision stood.
    #[cfg(feature = "otel")]
    pub decided: Option<std::time::Duration>,
}

impl Call {
    /// A call as its headers describe it.
    pub fn new(method: Method, clock: Clock, peer: SocketAddr, headers: &HeaderMap) -> Self {
        let given = headers.get("x-request-id").and_then(|value| value.to_str().ok()).filter(|id| is_id(id));
        Self {
            method,
            clock,
            peer,
            client: None,
            request_id: given.map_or_else(fresh_id, str::to_owned),
            trace_id: headers.get("traceparent").and_then(|value| trace_id(value.as_bytes())),
            #[cfg(feature = "otel")]
            parent: headers.get("traceparent").and_then(|text| super::telemetry::Parent::of(text.to_str().ok()?)),
            #[cfg(feature = "otel")]
            received: OnceLock::new(),
            outcome: Mutex::default(),
        }
    }

    /// Changes the outcome.
    pub fn note(&self, change: impl FnOnce(&mut Outcome)) {
        change(&mut self.outcome.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Notes an error.
    pub fn fail(&self, error: &Error) {
        self.note(|outcome| {
            outcome.reason = Some(error.reason());
            outcome.stage = error.stage();
        });
    }

    /// Looks at the outcome.
    pub fn read<T>(&self, look: impl FnOnce(&Outcome) -> T) -> T {
        look(&self.outcome.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The id that the answer names: the request's own, else the header's, else the one made here.
    pub fn id(&self) -> String {
        let own = self.outcome.lock().unwrap_or_else(PoisonError::into_inner).request_id.clone();
        own.unwrap_or_else(|| self.request_id.clone())
    }
}

/// 1 to 64 visible ASCII characters.
pub fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// An id that this process gives once, and most likely no other.
pub fn fresh_id() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    static PROCESS: OnceLock<u32> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let process = PROCESS.get_or_init(|| RandomState::new().hash_one("understudy") as u32);
    format!("{process:08x}-{:x}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The trace id of a W3C `traceparent`.
fn trace_id(text: &[u8]) -> Option<String> {
    let mut parts = std::str::from_utf8(text).ok()?.split('-');
    let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
    let lower_hex = |part: &str| part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let fits = version.len() == 2 && trace.len() == 32 && span.len() == 16 && lower_hex(trace) && lower_hex(span);
    (fits && trace.bytes().any(|b| b != b'0')).then(|| trace.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_visible_and_short() {
        assert!(is_id("a-1") && is_id(&"x".repeat(64)));
        assert!(!is_id("") && !is_id("a b") && !is_id("é") && !is_id(&"x".repeat(65)) && !is_id("a\n"));
        assert_ne!(fresh_id(), fresh_id());
        assert!(is_id(&fresh_id()));
    }

    #[test]
    fn trace_ids_are_read_strictly() {
        let good = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(trace_id(good).as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
        for bad in [&b""[..], b"00-zz-11-01", b"00-00000000000000000000000000000000-00f067aa0ba902b7-01", b"\xff"] {
            assert_eq!(trace_id(bad), None);
        }
    }
}
