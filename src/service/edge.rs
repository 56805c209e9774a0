//! The outermost layer: stamps the arrival, turns away what should cost nothing, reads the message within its limits,
//! hands it to tonic's generated code, and keeps the books until the trailers are out.

use std::convert::Infallible;
use std::io::Read as _;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tonic::body::Body;
use tonic::{Code, Status};
use tower::Service as _;

use super::Shared;
use super::boards::{self, Boards};
use super::body::{Flight, ReplyBody, code_of};
use super::call::{Call, Outcome};
use super::deadline::{Clock, now, timeout_of};
use super::grpc::Bots;
use super::metrics::{Held, Method};
use super::status::{self, Error, Reason, Stage};
use super::workers::guarded;
use crate::pb::ServerState;

/// The edge of one connection.
pub struct Edge {
    shared: Arc<Shared>,
    peer: Peer,
}

/// Who is at the other end.
#[derive(Clone)]
struct Peer {
    address: SocketAddr,
    /// Bytes of replies that this connection has not taken yet.
    untaken: Arc<AtomicI64>,
}

impl Edge {
    /// For calls from this address.
    pub fn new(shared: Arc<Shared>, address: SocketAddr) -> Self {
        Self { shared, peer: Peer { address, untaken: Arc::default() } }
    }
}

impl hyper::service::Service<Request<Incoming>> for Edge {
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        // Here the headers have just arrived: whatever waits from now on, waits on the client's time.
        let arrival = now();
        let (shared, peer) = (Arc::clone(&self.shared), self.peer.clone());
        Box::pin(async move { Ok(serve(shared, request, arrival, peer).await) })
    }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// Our own service.
    Bots,
    /// BoardService.
    Boards,
    /// Asks for no token and is never refused for load by our own limits.
    Health,
    /// The only method here whose requests are a stream.
    Reflection,
    /// Nothing.
    Nowhere,
}

impl Target {
    fn of(path: &str) -> Self {
        let service = path.strip_prefix('/').and_then(|path| path.split_once('/')).map_or("", |(service, _)| service);
        match service {
            "understudy.v1.BotService" => Self::Bots,
            boards::SERVICE => Self::Boards,
            "grpc.health.v1.Health" => Self::Health,
            "grpc.reflection.v1.ServerReflection" | "grpc.reflection.v1alpha.ServerReflection" => Self::Reflection,
            _ => Self::Nowhere,
        }
    }
}

async fn serve(shared: Arc<Shared>, request: Request<Incoming>, arrival: Instant, peer: Peer) -> Response<ReplyBody> {
    let (parts, body) = request.into_parts();
    let method = Method::of(parts.uri.path());
    if !is_grpc(&parts) {
        return wrong_content(&shared, method, arrival);
    }
    let timeout = timeout_of(&parts.headers);
    let clock = Clock::new(arrival, timeout.as_ref().ok().copied().flatten(), &shared.desk.config);
    let mut call = Call::new(method, clock, peer.address, &parts.headers);
    let target = Target::of(parts.uri.path());
    let identity = if target == Target::Health { Ok(None) } else { shared.identify(&parts.headers) };
    if let Ok(client) = &identity {
        call.client.clone_from(client);
    }
    let call = Arc::new(call);
    let permits = match target {
        Target::Bots | Target::Boards => &shared.calls,
        Target::Reflection => &shared.streams,
        Target::Health if parts.uri.path().ends_with("/Watch") => &shared.streams,
        Target::Health | Target::Nowhere => &shared.others,
    };
    let permit = permits.take();
    let flight = Flight::new(Arc::clone(&shared), Arc::clone(&call), permit);
    // The permit comes before the body: past that limit a call costs us headers, not a parse.
    let admitted = (|| {
        if !flight.has_permit() {
            return Err(Error::InFlight);
        }
        timeout?;
        identity?;
        shared.open_for(target == Target::Health || target == Target::Reflection, method)
    })();
    let answered = match admitted {
        Ok(()) => answer(&shared, &call, target, &peer, parts, body).await,
        Err(error) => Err(error),
    };
    match answered {
        // The place of a bulk call is free again once its reply is bytes.
        Ok((response, _place)) => wrap(flight, response, target, &peer).await,
        Err(error) => {
            call.fail(&error);
            let status = status::status(&error, &call.id());
            refuse(flight, &status)
        }
    }
}

/// `application/grpc`, alone or with a subtype behind `+` or parameters behind `;`.
fn is_grpc(parts: &Parts) -> bool {
    let Some(kind) = parts.headers.get(CONTENT_TYPE) else { return false };
    let rest = kind.as_bytes().strip_prefix(b"application/grpc");
    parts.method == http::Method::POST && rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

fn wrong_content(shared: &Shared, method: Method, arrival: Instant) -> Response<ReplyBody> {
    let seconds = (now() - arrival).as_secs_f64();
    shared.desk.metrics.call(method, Code::Unknown, Some(Reason::ContentType), seconds);
    let mut response = Response::new(ReplyBody::empty());
    *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    response
}

async fn answer(
    shared: &Arc<Shared>,
    call: &Arc<Call>,
    target: Target,
    peer: &Peer,
    mut parts: Parts,
    body: Incoming,
) -> Result<(Response<Body>, Option<OwnedSemaphorePermit>), Error> {
    let mut place = None;
    let body = match target {
        Target::Nowhere => return Err(Error::UnknownMethod),
        Target::Bots | Target::Boards if call.method == Method::Other => return Err(Error::UnknownMethod),
        Target::Reflection => Body::new(body),
        _ => {
            let (message, held) = receive(shared, call, &parts.headers, body).await?;
            if call.method.is_bulk() {
                place = Some(bulk_place(shared, call).await?);
            }
            drop(held);
            #[cfg(feature = "otel")]
            let _ = call.received.set(call.clock.elapsed());
            parts.headers.remove("grpc-encoding");
            Body::new(Full::new(message))
        }
    };
    if matches!(target, Target::Bots | Target::Boards) {
        if call.clock.deadline.is_some_and(|deadline| now() >= deadline) {
            return Err(call.clock.exceeded(Stage::Admission));
        }
        // A peer that does not take its replies is refused long before it can cost the others theirs.
        let limit = shared.desk.config.max_send_bytes as i64;
        let own = peer.untaken.load(Ordering::Relaxed);
        if shared.desk.metrics.send_bytes.get() > limit || own > limit / 4 {
            return Err(Error::SendMemory);
        }
    }
    let request = Request::from_parts(parts, body);
    let handled = match target {
        Target::Bots => Caught { inner: Bots::server(shared, call).call(request), call }.await,
        Target::Boards => Caught { inner: Boards::server(shared, call).call(request), call }.await,
        _ => Caught { inner: Box::pin(shared.standard.clone().call(request)), call }.await,
    };
    let response = handled.unwrap_or_else(|| {
        shared.desk.metrics.panics.inc();
        Err(Error::Bug)
    });
    response.map(|response| (response, place))
}

/// A place among the bulk calls that are worked on. Few are, because each holds its decoded items and its reply; the
/// others wait as the bytes they came in, which count as received.
async fn bulk_place(shared: &Shared, call: &Call) -> Result<OwnedSemaphorePermit, Error> {
    let patience = shared.desk.config.max_queue_wait;
    let end = call.clock.deadline.unwrap_or(call.clock.arrival + patience);
    let place = tokio::time::timeout_at(end.into(), Arc::clone(&shared.bulk).acquire_owned()).await;
    place.ok().and_then(Result::ok).ok_or_else(|| match call.clock.deadline {
        Some(_) => call.clock.exceeded(Stage::Queue),
        None => Error::InFlight,
    })
}

/// Runs a handler; a panic inside is caught, so that it costs this call and no other.
struct Caught<'a, F> {
    inner: F,
    call: &'a Call,
}

impl<F: Future<Output = Result<Response<Body>, Infallible>> + Unpin> Future for Caught<'_, F> {
    type Output = Option<Result<Response<Body>, Error>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let call = self.call;
        match guarded(&call.request_id, || Pin::new(&mut self.inner).poll(cx)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(Ok(response))) => Poll::Ready(Some(Ok(response))),
            Err(_) => Poll::Ready(None),
        }
    }
}

/// Bytes before a message: a flag and a length.
const PREFIX: usize = 5;

/// Reads one whole message within its limits of size, memory and time; without compression when it returns.
async fn receive(
    shared: &Shared,
    call: &Call,
    headers: &HeaderMap,
    mut body: Incoming,
) -> Result<(Bytes, Held), Error> {
    let config = &shared.desk.config;
    let gzip = match headers.get("grpc-encoding").map(HeaderValue::as_bytes) {
        None | Some(b"identity") => false,
        Some(b"gzip") if config.gzip => true,
        Some(_) => return Err(Error::Compression),
    };
    let mut held = Held::new(&shared.desk.metrics.receive_bytes, 0);
    let mut message = Received::default();
    // The timer is made only for a body that is not there yet, which few are.
    let mut patience = None;
    loop {
        let frame = tokio::select! {
            biased;
            frame = body.frame() => frame,
            error = late(shared, call, &mut patience) => return Err(error),
        };
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|_| Error::Cancelled)?;
        if let Ok(data) = frame.into_data() {
            message.take(data, config.max_request_bytes)?;
            held.set(message.len() as i64);
            if shared.desk.metrics.receive_bytes.get() > config.max_receive_bytes as i64 {
                return Err(Error::ReceiveMemory);
            }
        }
    }
    message.finish(gzip, config.max_request_bytes).map(|message| (message, held))
}

/// Waits until the body is too late, or until nobody starts a call any more.
async fn late(shared: &Shared, call: &Call, patience: &mut Option<Pin<Box<tokio::time::Sleep>>>) -> Error {
    let end = call.clock.arrival + shared.desk.config.body_timeout;
    let end = call.clock.deadline.map_or(end, |deadline| deadline.min(end));
    let sleep = patience.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end.into())));
    tokio::select! {
        () = sleep.as_mut() => call.clock.exceeded(Stage::Receive),
        () = closed_for(shared, LAST_BYTES) => Error::Draining,
    }
}

/// Bytes that were on their way when the server closed may still arrive for this long. The peer hears of the close a
/// trip later, and a proxy that was answered 14 repeats nothing: its caller would lose the call to a restart.
const LAST_BYTES: Duration = Duration::from_millis(250);

async fn closed_for(shared: &Shared, time: Duration) {
    shared.life.closing.cancelled().await;
    tokio::time::sleep(time).await;
}

/// A message as it arrives. One frame, the usual case, is not copied.
#[derive(Default)]
struct Received {
    first: Bytes,
    rest: BytesMut,
}

impl Received {
    fn len(&self) -> usize {
        self.first.len() + self.rest.len()
    }

    /// Takes a frame in; the length prefix is judged as soon as it is there, before anything is allocated for it.
    fn take(&mut self, data: Bytes, limit: usize) -> Result<(), Error> {
        if self.len() == 0 {
            self.first = data;
        } else {
            if !self.first.is_empty() {
                self.rest.extend_from_slice(&std::mem::take(&mut self.first));
            }
            self.rest.extend_from_slice(&data);
        }
        let Some(length) = self.length() else { return Ok(()) };
        if length > limit {
            return Err(Error::TooLarge { limit });
        }
        if self.len() > PREFIX + length {
            return Err(Error::Undecodable("more than one message".to_owned()));
        }
        Ok(())
    }

    /// What the prefix says about the length.
    fn length(&self) -> Option<usize> {
        let bytes = if self.first.is_empty() { &self.rest[..] } else { &self.first[..] };
        let length: [u8; 4] = bytes.get(1..PREFIX)?.try_into().ok()?;
        Some(u32::from_be_bytes(length) as usize)
    }

    fn finish(self, gzip: bool, limit: usize) -> Result<Bytes, Error> {
        let Some(length) = self.length() else {
            let text = if self.len() == 0 { "no message" } else { "a cut message" };
            return Err(Error::Undecodable(text.to_owned()));
        };
        if self.len() < PREFIX + length {
            return Err(Error::Undecodable("a cut message".to_owned()));
        }
        let bytes = if self.first.is_empty() { self.rest.freeze() } else { self.first };
        match bytes.first() {
            Some(0) => Ok(bytes),
            Some(1) if gzip => inflate(&bytes[PREFIX..], limit),
            _ => Err(Error::Undecodable("a compression flag without a compression".to_owned())),
        }
    }
}

/// A message inflated, with a new prefix. The limit holds for what comes out: a bomb stops there.
fn inflate(packed: &[u8], limit: usize) -> Result<Bytes, Error> {
    let mut plain = vec![0; PREFIX];
    let mut source = flate2::read::GzDecoder::new(packed).take(limit as u64 + 1);
    source.read_to_end(&mut plain).map_err(|error| Error::Undecodable(format!("gzip: {error}")))?;
    let length = plain.len() - PREFIX;
    if length > limit {
        return Err(Error::TooLarge { limit });
    }
    plain[1..PREFIX].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(plain.into())
}

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
static POLICY: HeaderName = HeaderName::from_static("x-understudy-policy");
static SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// An error answered with headers alone.
fn refuse(mut flight: Flight, status: &Status) -> Response<ReplyBody> {
    let mut response: Response<()> = status.clone().into_http();
    sign(response.headers_mut(), &flight.call.id());
    flight.finish(status.code());
    response.map(|()| ReplyBody::ended(flight))
}

fn sign(headers: &mut HeaderMap, id: &str) {
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(&REQUEST_ID, value);
    }
}

/// The handler's response, with our headers, in a body that keeps the books.
async fn wrap(mut flight: Flight, response: Response<Body>, target: Target, peer: &Peer) -> Response<ReplyBody> {
    let call = Arc::clone(&flight.call);
    let (mut parts, body) = response.into_parts();
    let failed = call.read(|outcome| outcome.reason.is_some());
    call.read(|outcome| sign(&mut parts.headers, outcome.request_id.as_deref().unwrap_or(&call.request_id)));
    if let Some(code) = code_of(&parts.headers) {
        match code {
            _ if failed => {}
            Code::InvalidArgument => call.fail(&Error::Undecodable(String::new())),
            Code::Unimplemented => call.fail(&Error::UnknownMethod),
            _ => {}
        }
        flight.finish(code);
        return Response::from_parts(parts, ReplyBody::ended(flight));
    }
    if !failed {
        call.read(|outcome| describe(&mut parts.headers, outcome, flight.shared()));
    }
    if matches!(target, Target::Health | Target::Reflection) {
        return Response::from_parts(parts, ReplyBody::stream(flight, body));
    }
    let (data, trailers) = whole(body).await;
    Response::from_parts(parts, ReplyBody::whole(flight, data, trailers, &peer.untaken))
}

/// Which policy decided, and where the time went.
fn describe(headers: &mut HeaderMap, outcome: &Outcome, shared: &Shared) {
    let Some(place) = outcome.policy else { return };
    let Outcome { queue_us, think_us, .. } = outcome;
    let (queue, think) = ((queue_us / 1000, queue_us % 1000), (think_us / 1000, think_us % 1000));
    let timing = format!("queue;dur={}.{:03}, think;dur={}.{:03}", queue.0, queue.1, think.0, think.1);
    if let Ok(value) = HeaderValue::from_str(&shared.desk.book.entries()[place].title) {
        headers.insert(&POLICY, value);
    }
    if let Ok(value) = HeaderValue::try_from(timing) {
        headers.insert(&SERVER_TIMING, value);
    }
}

/// A unary reply is ready at once: taken here, its size is known before the peer takes the first byte.
async fn whole(mut body: Body) -> (Bytes, HeaderMap) {
    let mut data = Bytes::new();
    let mut trailers = HeaderMap::new();
    while let Some(Ok(frame)) = body.frame().await {
        match frame.into_data() {
            Ok(more) if data.is_empty() => data = more,
            Ok(more) => data = [data, more].concat().into(),
            Err(frame) => trailers = frame.into_trailers().unwrap_or_default(),
        }
    }
    (data, trailers)
}

impl Shared {
    /// Whether calls of this kind are answered in the present state.
    fn open_for(&self, standard: bool, method: Method) -> Result<(), Error> {
        // No word of closing here: a call that crosses our GOAWAY is served. HTTP/2 lets no later one through.
        if !standard && self.life.state() == ServerState::Starting && method != Method::GetServerInfo {
            return Err(Error::Starting);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(flag: u8, length: u32, payload: &[u8]) -> Bytes {
        let mut bytes = vec![flag];
        bytes.extend(length.to_be_bytes());
        bytes.extend(payload);
        bytes.into()
    }

    fn read(frames: &[Bytes], gzip: bool) -> Result<Bytes, Error> {
        let mut message = Received::default();
        for frame in frames {
            message.take(frame.clone(), 100)?;
        }
        message.finish(gzip, 100)
    }

    #[test]
    fn messages_are_read_within_their_limits() {
        let good = framed(0, 3, b"abc");
        assert_eq!(read(std::slice::from_ref(&good), false), Ok(good.clone()));
        let bytes: Vec<_> = good.iter().map(|byte| Bytes::copy_from_slice(&[*byte])).collect();
        assert_eq!(read(&bytes, false), Ok(good));
        assert_eq!(read(&[framed(0, 100, &[7; 100])], false).map(|b| b.len()), Ok(105));
        assert_eq!(read(&[framed(0, 101, b"")], false), Err(Error::TooLarge { limit: 100 }));
        for cut in [&[][..], &[Bytes::from_static(b"\0\0")], &[framed(0, 4, b"abc")], &[framed(0, 2, b"abc")]] {
            assert!(matches!(read(cut, false), Err(Error::Undecodable(_))), "{cut:?}");
        }
        assert!(matches!(read(&[framed(1, 3, b"abc")], false), Err(Error::Undecodable(_))));
        assert!(matches!(read(&[framed(1, 3, b"abc")], true), Err(Error::Undecodable(_))));
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        use std::io::Write as _;
        let packed = |plain: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(plain).and_then(|()| encoder.finish()).unwrap_or_default()
        };
        let small = packed(b"hello");
        assert_eq!(inflate(&small, 100), Ok(framed(0, 5, b"hello")));
        assert_eq!(inflate(&packed(&[0; 100]), 100).map(|bytes| bytes.len()), Ok(105));
        assert_eq!(inflate(&packed(&[0; 1_000_000]), 100), Err(Error::TooLarge { limit: 100 }));
    }
}
