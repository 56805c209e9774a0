//! A real server on port 0, a real client, and views to ask about.

use std::future::Future;
use std::time::{Duration, Instant};

use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_types::StatusExt as _;
use understudy::pb;
use understudy::pb::bot_service_client::BotServiceClient;
use understudy::service::config::Config;
use understudy::service::{Server, assemble};

use crate::drill;

pub type Client = BotServiceClient<Channel>;

/// A server with the drill policies, up and serving.
pub fn serve(config: Config) -> Server {
    let server = assemble(config, drill::registry()).expect("the server starts");
    assert!(server.wait_until_serving(Duration::from_secs(20)), "the self-test ends");
    server
}

/// Settings for tests: no drain delay, two workers whatever the machine has.
pub fn config() -> Config {
    Config { workers: 2, drain_delay: Duration::ZERO, ..Config::default() }
}

/// Drains a server; panics if calls were cut off.
pub fn end(server: Server) {
    server.drain();
    assert_eq!(server.join().cut_off, 0);
}

/// Runs a test on a runtime of its own.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test)
}

pub async fn connect(server: &Server) -> Client {
    BotServiceClient::new(channel(server).await)
}

pub async fn channel(server: &Server) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{}", server.address())).expect("an address");
    endpoint.connect().await.expect("the server accepts")
}

/// Valid views of a game, always the same.
pub fn views(game: &str) -> Vec<pb::View> {
    let registry = drill::registry();
    let found = registry.games().find(|known| known.key() == game).expect("a known game");
    found.samples(8)
}

pub fn view(game: &str) -> pb::View {
    views(game).swap_remove(0)
}

pub fn ask(policy: &str) -> pb::DecideRequest {
    pb::DecideRequest { view: Some(view("lexio")), policy: policy.to_owned(), ..Default::default() }
}

/// A request with a `grpc-timeout`.
pub fn within<T>(message: T, timeout: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(timeout);
    request
}

/// Code and reason of a status; the reason is empty where there are no details.
pub fn reason(status: &Status) -> (Code, String) {
    (status.code(), status.get_details_error_info().map(|info| info.reason).unwrap_or_default())
}

pub fn metadata(status: &Status, key: &str) -> String {
    let info = status.get_details_error_info().expect("error info");
    assert_eq!(info.domain, "understudy");
    info.metadata.get(key).cloned().unwrap_or_else(|| panic!("no {key} in {info:?}"))
}

/// Waits until `check` holds; how long that took.
pub fn until(patience: Duration, mut check: impl FnMut() -> bool) -> Option<Duration> {
    let start = Instant::now();
    while start.elapsed() < patience {
        if check() {
            return Some(start.elapsed());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    None
}

/// The value of a series, as `/metrics` shows it.
pub fn metric(server: &Server, series: &str) -> f64 {
    let text = server.metrics().text();
    let line = text.lines().find(|line| line.rsplit_once(' ').is_some_and(|(name, _)| name == series));
    let line = line.unwrap_or_else(|| panic!("no series {series}"));
    line.rsplit_once(' ').and_then(|(_, value)| value.parse().ok()).expect("a number")
}

/// How late this machine wakes a thread that asked for a millisecond of sleep, while other work runs on it: what a limit
/// of time has to be widened by before a miss says something about the server.
pub struct Noise {
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: std::thread::JoinHandle<Vec<Duration>>,
}

impl Noise {
    pub fn listen() -> Self {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let told = std::sync::Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut late = Vec::new();
            while !told.load(std::sync::atomic::Ordering::Relaxed) {
                let start = Instant::now();
                std::thread::sleep(Duration::from_millis(1));
                late.push(start.elapsed().saturating_sub(Duration::from_millis(1)));
            }
            late
        });
        Self { stop, thread }
    }

    /// The 99th percentile so far.
    pub fn p99(self) -> Duration {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut late = self.thread.join().expect("a thread that sleeps");
        late.sort_unstable();
        late.get(late.len() * 99 / 100).copied().unwrap_or_default()
    }
}
