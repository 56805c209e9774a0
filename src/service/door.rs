//! The accept loop: our own, because tonic's transport has no stream limit, no reset limit, no GOAWAY at age, and a
//! timer of its own that answers CANCELLED.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::server::conn::http2;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep, timeout};

use super::Shared;
use super::body::{PIECE, Waiting, waiting_for};
use super::deadline::now;
use super::edge::Edge;
use super::logs::Repeats;
use super::metrics::{Held, Parting};
use crate::bot::Rng;

/// Accepts until the server closes, then waits for what is in flight. Gives the number of calls cut off.
pub async fn run(listener: TcpListener, shared: Arc<Shared>) -> usize {
    let http = Arc::new(settings(&shared));
    let mut count = 0;
    let mut faults = Repeats::default();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shared.life.closing.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                count += 1;
                admit(stream, peer, count, &http, &shared);
            }
            Err(error) => {
                // Out of descriptors, most likely. The connection waits in the system and is counted at every try: what
                // rises fast is seen.
                shared.desk.metrics.parting(Parting::Refused);
                if let Some(times) = faults.again(now()) {
                    tracing::warn!(%error, times, "accept failed");
                }
                // Breathe, instead of spinning on the same error.
                sleep(Duration::from_millis(20)).await;
            }
        }
    }
    drop(listener);
    drained(&shared).await
}

/// Waits until every call is answered and every connection gone, within the drain limit.
async fn drained(shared: &Shared) -> usize {
    /// Connections without calls get this long to take the GOAWAY and what was written last.
    const LAST_WORDS: Duration = Duration::from_secs(1);
    let limit = now() + shared.desk.config.drain_timeout;
    let mut quiet_since = None;
    while now() < limit {
        let busy = shared.calls.used() > 0;
        if !busy && shared.connections.used() == 0 {
            return 0;
        }
        let quiet = *quiet_since.get_or_insert_with(now);
        if busy {
            quiet_since = None;
        } else if now() > quiet + LAST_WORDS {
            break;
        }
        sleep(Duration::from_millis(2)).await;
    }
    let cut = shared.calls.used();
    shared.life.over.cancel();
    cut
}

type Http = http2::Builder<Streams>;

fn settings(shared: &Shared) -> Http {
    let config = &shared.desk.config;
    let mut http = http2::Builder::new(Streams { stall: config.stall_timeout });
    let streams = config.max_streams;
    http.timer(TokioTimer::new())
        .max_concurrent_streams(streams)
        // 20 by default: honest clients whose deadlines expire would lose the connection, and retry into the storm.
        .max_pending_accept_reset_streams(2 * streams as usize)
        .max_header_list_size(16 << 10)
        .initial_stream_window_size(64 << 10)
        .initial_connection_window_size(1 << 20)
        .max_send_buf_size(32 << 10)
        .keep_alive_interval(config.keepalive_interval)
        .keep_alive_timeout(config.keepalive_timeout)
        .auto_date_header(false);
    http
}

fn admit(stream: TcpStream, peer: SocketAddr, count: u64, http: &Arc<Http>, shared: &Arc<Shared>) {
    let metrics = &shared.desk.metrics;
    let Some(place) = shared.connections.take() else {
        metrics.parting(Parting::Refused);
        return;
    };
    let shown = Held::new(&metrics.connections, 1);
    let (http, shared) = (Arc::clone(http), Arc::clone(shared));
    tokio::spawn(async move {
        let parting = connection(stream, peer, count, &http, &shared).await;
        shared.desk.metrics.parting(parting);
        drop((place, shown));
    });
}

async fn connection(stream: TcpStream, peer: SocketAddr, count: u64, http: &Http, shared: &Arc<Shared>) -> Parting {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "no TCP_NODELAY");
    }
    let patience = shared.desk.config.handshake_timeout;
    let opened = async {
        match shared.tls_acceptor() {
            None => preface(stream).await.map(Either::Plain),
            Some(acceptor) => preface(acceptor.accept(stream).await?).await.map(|io| Either::Tls(Box::new(io))),
        }
    };
    let io = tokio::select! {
        opened = timeout(patience, opened) => match opened {
            Ok(Ok(io)) => io,
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => return Parting::Hostile,
            Ok(Err(_)) => return Parting::Client,
            Err(_) => return Parting::Idle,
        },
        // Nothing was asked yet, so there is nothing to finish.
        () = shared.life.closing.cancelled() => return Parting::Drain,
    };
    match io {
        Either::Plain(io) => converse(io, peer, count, http, shared).await,
        Either::Tls(io) => converse(*io, peer, count, http, shared).await,
    }
}

enum Either<A, B> {
    Plain(A),
    Tls(B),
}

/// Serves one connection until it ends, is too old, or the server closes.
async fn converse<I>(io: I, peer: SocketAddr, count: u64, http: &Http, shared: &Arc<Shared>) -> Parting
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let config = &shared.desk.config;
    let mut conn = pin!(http.serve_connection(TokioIo::new(io), Edge::new(Arc::clone(shared), peer)));
    let mut age = pin!(sleep(config.max_connection_age.map_or(FOREVER, |age| jittered(age, count))));
    let parting = tokio::select! {
        result = conn.as_mut() => return parting_of(result),
        () = age.as_mut() => Parting::Age,
        () = shared.life.closing.cancelled() => Parting::Drain,
    };
    conn.as_mut().graceful_shutdown();
    let grace = if parting == Parting::Age { config.max_connection_age_grace } else { FOREVER };
    let mut grace = pin!(sleep(grace));
    // However it ends now, we asked for it.
    tokio::select! {
        _ = conn.as_mut() => parting,
        () = grace.as_mut() => parting,
        () = shared.life.over.cancelled() => parting,
    }
}

/// Longer than any process lives, short enough for a timer.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// `age` give or take a tenth, so that connections made together do not end together.
fn jittered(age: Duration, count: u64) -> Duration {
    age.mul_f64(0.9 + 0.2 * Rng::new(count).unit())
}

fn parting_of(result: hyper::Result<()>) -> Parting {
    let Err(error) = result else { return Parting::Client };
    if error.is_timeout() {
        return Parting::Idle;
    }
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<h2::Error>());
    // An error that this side found and answered with GOAWAY.
    let hostile = source.is_some_and(|h2| h2.is_library() && h2.is_go_away());
    if hostile { Parting::Hostile } else { Parting::Client }
}

/// Runs each stream, and resets those whose peer takes nothing, or next to nothing.
#[derive(Clone, Debug)]
struct Streams {
    stall: Duration,
}

impl<F> hyper::rt::Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        tokio::spawn(Watched { stream, stall: self.stall, taken: None, timer: None });
    }
}

/// Bytes a second that a peer has to take of a reply, after the first patience.
const LEAST_RATE: usize = 16 << 10;

/// What a peer has taken of a reply.
struct Taken {
    first: Instant,
    last: Instant,
    pieces: u32,
}

impl Taken {
    /// Taking nothing ends a stream, and so does taking next to nothing: a reply that trickles away holds its memory.
    fn end(&self, stall: Duration) -> Instant {
        const PIECE_TIME: Duration = Duration::from_millis((1000 * PIECE / LEAST_RATE) as u64);
        (self.last + stall).min(self.first + stall + PIECE_TIME * self.pieces)
    }
}

pin_project_lite::pin_project! {
    /// A stream with an eye on its peer. Dropping hyper's future resets the stream.
    struct Watched<F> {
        #[pin]
        stream: F,
        stall: Duration,
        // While there is more to take: how long the peer may take nothing.
        taken: Option<Taken>,
        timer: Option<Pin<Box<Sleep>>>,
    }
}

impl<F: Future> Future for Watched<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        waiting_for(None);
        if this.stream.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        match waiting_for(None) {
            Some(Waiting::Peer) => {
                let taken = this.taken.get_or_insert_with(|| Taken { first: now(), last: now(), pieces: 0 });
                taken.last = now();
                taken.pieces += 1;
                *this.timer = None;
            }
            Some(Waiting::Us) => {
                *this.taken = None;
                *this.timer = None;
            }
            None => {}
        }
        let Some(taken) = this.taken else { return Poll::Pending };
        let end = taken.end(*this.stall);
        let timer = this.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end.into())));
        timer.as_mut().poll(cx)
    }
}

/// What every HTTP/2 client says first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Waits for the preface, here where it can be timed, and gives the stream back with the preface still to read.
async fn preface<I: AsyncRead + Unpin>(mut io: I) -> io::Result<Reread<I>> {
    let mut first = [0; PREFACE.len()];
    io.read_exact(&mut first).await?;
    if first != *PREFACE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not HTTP/2"));
    }
    Ok(Reread { left: PREFACE, io })
}

/// A stream whose first bytes were read already.
struct Reread<I> {
    left: &'static [u8],
    io: I,
}

impl<I: AsyncRead + Unpin> AsyncRead for Reread<I> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.left.is_empty() {
            return Pin::new(&mut self.io).poll_read(cx, buf);
        }
        let (now, later) = self.left.split_at(self.left.len().min(buf.remaining()));
        buf.put_slice(now);
        self.left = later;
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Reread<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_shutdown(cx))?;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_next_to_nothing_is_not_taking() {
        let (first, stall) = (now(), Duration::from_secs(10));
        let at = |seconds: u64| first + Duration::from_secs(seconds);
        let end = |last: u64, pieces: u32| Taken { first, last: at(last), pieces }.end(stall);
        assert_eq!(end(0, 1), at(10), "nothing more for 10 s");
        // 16 KiB every 5 s is soon 10 s behind a piece a second.
        assert_eq!((end(5, 2), end(10, 3), end(15, 4)), (at(12), at(13), at(14)));
        // As fast as may be, then nothing.
        assert_eq!(end(3, 60), at(13));
        // A piece a second may go on for ever.
        assert_eq!(end(100, 101), at(110));
    }

    #[test]
    fn ages_differ_by_a_tenth_at_most() {
        let age = Duration::from_secs(1000);
        let ages: Vec<_> = (0..1000).map(|count| jittered(age, count).as_secs()).collect();
        assert!(ages.iter().all(|age| (900..=1100).contains(age)));
        assert!(ages.iter().min() < Some(&910) && ages.iter().max() > Some(&1090));
    }
}
