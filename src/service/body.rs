//! The reply on its way out: taken in pieces as fast as the peer takes them, counted until then, booked at the end.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::body::Body;
use tonic::{Code, Status};

use super::Shared;
use super::call::Call;
use super::logs;
use super::metrics::Held;
use super::permits::Permit;

/// Pieces of a reply: no more than this is handed over before the peer has room for more.
pub const PIECE: usize = 16 << 10;

/// A call in flight. Dropped without an end, it was cancelled.
pub struct Flight {
    /// The call.
    pub call: Arc<Call>,
    shared: Arc<Shared>,
    permit: Option<Permit>,
    finished: bool,
}

impl Flight {
    /// Takes off.
    pub fn new(shared: Arc<Shared>, call: Arc<Call>, permit: Option<Permit>) -> Self {
        Self { call, shared, permit, finished: false }
    }

    /// The server it came to.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// It is within the limit of calls in flight.
    pub const fn has_permit(&self) -> bool {
        self.permit.is_some()
    }

    /// The trailers are known: metrics and log line are written from the one outcome.
    pub fn finish(&mut self, code: Code) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        self.permit = None;
        let seconds = self.call.clock.elapsed().as_secs_f64();
        let desk = &self.shared.desk;
        self.call.read(|outcome| {
            desk.metrics.call(self.call.method, code, outcome.reason, seconds);
            logs::call_line(&self.shared.gate, &desk.book, &self.call, code, outcome);
        });
        #[cfg(feature = "otel")]
        if let Some(telemetry) = &self.shared.telemetry {
            // A copy: telemetry asks the call for its id, which looks at the outcome too.
            telemetry.call(&desk.book, &self.call, code, &self.call.read(Clone::clone));
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if !self.finished {
            self.call.fail(&super::status::Error::Cancelled);
            self.finish(Code::Cancelled);
        }
    }
}

/// A reply's body.
pub struct ReplyBody {
    kind: Kind,
    flight: Option<Flight>,
}

/// Bytes that the peer has not taken yet, in the sum of all connections and in that of its own.
struct Untaken {
    all: Held,
    connection: Arc<AtomicI64>,
    amount: i64,
}

impl Untaken {
    fn set(&mut self, amount: i64) {
        self.all.set(amount);
        self.connection.fetch_add(amount - self.amount, Ordering::Relaxed);
        self.amount = amount;
    }
}

impl Drop for Untaken {
    fn drop(&mut self) {
        self.set(0);
    }
}

enum Kind {
    Empty,
    Whole { data: Bytes, trailers: Option<HeaderMap>, held: Untaken },
    Stream { inner: Body, closing: Pin<Box<WaitForCancellationFutureOwned>> },
}

impl ReplyBody {
    /// Nothing, and no call to book.
    pub const fn empty() -> Self {
        Self { kind: Kind::Empty, flight: None }
    }

    /// Nothing behind the headers.
    pub const fn ended(flight: Flight) -> Self {
        Self { kind: Kind::Empty, flight: Some(flight) }
    }

    /// A message and its trailers; counted in `connection` too, until it is taken.
    pub fn whole(flight: Flight, data: Bytes, trailers: HeaderMap, connection: &Arc<AtomicI64>) -> Self {
        let all = Held::new(&flight.shared.desk.metrics.send_bytes, 0);
        let mut held = Untaken { all, connection: Arc::clone(connection), amount: 0 };
        held.set(data.len() as i64);
        waiting_for(Some(Waiting::Peer));
        Self { kind: Kind::Whole { data, trailers: Some(trailers), held }, flight: Some(flight) }
    }

    /// Messages that come when they come, until the server closes.
    pub fn stream(flight: Flight, inner: Body) -> Self {
        let closing = Box::pin(flight.shared.life.closing.clone().cancelled_owned());
        Self { kind: Kind::Stream { inner, closing }, flight: Some(flight) }
    }

    fn finish(&mut self, code: Code) {
        if let Some(flight) = &mut self.flight {
            flight.finish(code);
        }
    }
}

impl http_body::Body for ReplyBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        match &mut this.kind {
            Kind::Empty => Poll::Ready(None),
            Kind::Whole { data, trailers, held } => {
                waiting_for(Some(Waiting::Peer));
                // hyper takes a piece first and waits for room after that, so a piece counts until the next is asked for.
                held.set(data.len() as i64);
                if !data.is_empty() {
                    return Poll::Ready(Some(Ok(Frame::data(data.split_to(data.len().min(PIECE))))));
                }
                let Some(trailers) = trailers.take() else { return Poll::Ready(None) };
                this.finish(code_of(&trailers).unwrap_or(Code::Unknown));
                Poll::Ready(Some(Ok(Frame::trailers(trailers))))
            }
            Kind::Stream { inner, closing } => {
                let polled = if closing.as_mut().poll(cx).is_ready() {
                    // Watches and reflection streams end here, or a drain would wait for them for ever.
                    Some(closed())
                } else {
                    match Pin::new(inner).poll_frame(cx) {
                        Poll::Pending => {
                            waiting_for(Some(Waiting::Us));
                            return Poll::Pending;
                        }
                        Poll::Ready(frame) => frame,
                    }
                };
                waiting_for(Some(Waiting::Peer));
                if let Some(Ok(frame)) = &polled
                    && let Some(trailers) = frame.trailers_ref()
                {
                    let code = code_of(trailers).unwrap_or(Code::Unknown);
                    this.finish(code);
                    this.kind = Kind::Empty;
                }
                Poll::Ready(polled)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.kind, Kind::Empty)
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_end_stream() { SizeHint::with_exact(0) } else { SizeHint::default() }
    }
}

fn closed() -> Result<Frame<Bytes>, Status> {
    let mut trailers = HeaderMap::new();
    let added = Status::unavailable("going away").add_header(&mut trailers);
    added.map(|()| Frame::trailers(trailers))
}

/// The code that headers or trailers name.
pub fn code_of(headers: &HeaderMap) -> Option<Code> {
    headers.get("grpc-status").map(|value| Code::from_bytes(value.as_bytes()))
}

/// Whom a stream waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The peer takes nothing.
    Peer,
    /// There is nothing to take.
    Us,
}

thread_local! {
    /// What the stream that is polled on this thread has last said. The body sets it, the stream's own future reads it
    /// right after the poll: hyper leaves no other way from one to the other.
    static WAITING: Cell<Option<Waiting>> = const { Cell::new(None) };
}

/// Says whom the stream under this poll waits for; gives what was said before.
pub fn waiting_for(whom: Option<Waiting>) -> Option<Waiting> {
    WAITING.replace(whom)
}
