//! gRPC around bots: the assembly, read top to bottom.
//!
//! `door` accepts connections, `edge` stamps and limits calls, tonic's generated code decodes them, `grpc` answers them
//! through `desk`: `order` checks, `admission` queues, `workers` think. `health`, `admin`, `metrics` and `logs` are how
//! it is seen from outside.

pub mod admission;
pub mod book;
pub mod call;
pub mod codec;
pub mod config;
pub mod deadline;
pub mod desk;
pub mod envelope;
pub mod health;
pub mod json;
pub mod logs;
pub mod metrics;
pub mod order;
pub mod status;

mod admin;
mod boards;
mod body;
mod door;
mod edge;
mod grpc;
mod permits;
mod record;
mod secrets;
mod selftest;
#[cfg(feature = "otel")]
mod telemetry;
mod tokens;
mod workers;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic_health::pb::health_server::HealthServer;

use crate::bot::Registry;
use crate::pb;
use config::Config;
use desk::Desk;
use health::{HealthService, Life};
use metrics::Metrics;

/// Of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The source revision it was built from; empty when not known.
pub const REVISION: &str = match option_env!("UNDERSTUDY_REVISION") {
    Some(revision) => revision,
    None => "",
};
/// The services that health knows by name.
pub const SERVICES: &[&str] = &["understudy.v1.BotService", boards::SERVICE];

/// What every part of a running server shares.
pub struct Shared {
    desk: Arc<Desk>,
    life: Arc<Life>,
    /// Health and reflection.
    standard: Routes,
    calls: permits::Permits,
    /// Health checks: limited apart, so that no load and no flood starves them.
    others: permits::Permits,
    /// Health watches and reflection, which stay open.
    streams: permits::Permits,
    /// Bulk calls that are worked on.
    bulk: Arc<tokio::sync::Semaphore>,
    connections: permits::Permits,
    secrets: secrets::Secrets,
    recorder: Option<record::Recorder>,
    gate: logs::Gate,
    started: Instant,
    #[cfg(feature = "otel")]
    telemetry: Option<telemetry::Telemetry>,
    /// Drain, please.
    leaving: CancellationToken,
    /// Look at the files, please.
    reload: Notify,
    /// Everything is over.
    stopped: CancellationToken,
}

/// A running server. It serves from the moment it is made; calls are answered once its self-test is over.
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    admin_address: Option<SocketAddr>,
    rpc: JoinHandle<usize>,
    admin: JoinHandle<()>,
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Calls that were cut off at the drain limit.
    pub cut_off: usize,
}

/// Puts a server together and starts it. The registry is a value: tests enrol policies that misbehave.
///
/// # Errors
/// One line a problem: a bad setting, a bad file, an address in use.
pub fn assemble(config: Config, registry: Registry) -> Result<Server, Vec<String>> {
    let problems = config.problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    let secrets = secrets::Secrets::load(&config)?;
    let one = |problem: String| vec![problem];
    let file = config.record.as_deref().map(record::open).transpose().map_err(one)?;
    let listener = bind("--listen", config.listen).map_err(one)?;
    let admin = config.admin_listen.map(|address| bind("--admin-listen", address)).transpose().map_err(one)?;

    let book = Arc::new(book::Book::of(registry));
    let metrics = Arc::new(Metrics::new(&book));
    let pool = admission::Pool::new(config.workers, config.queue, Arc::clone(&metrics));
    let system = |error: std::io::Error| vec![format!("the system refuses: {error}")];
    let recorder = file.map(|file| record::Recorder::start(file, config.record_share, Arc::clone(&metrics)));
    let recorder = recorder.transpose().map_err(system)?;
    workers::start(&pool).map_err(system)?;

    let config = Arc::new(config);
    let desk = Arc::new(Desk { book, pool, config: Arc::clone(&config), metrics: Arc::clone(&metrics) });
    let life = Arc::new(Life::default());
    let standard = standard_routes(&config, &life).map_err(one)?;
    let admin_runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system)?;
    #[cfg(feature = "otel")]
    let mut telemetry = {
        let _carrier = admin_runtime.enter();
        config.otlp_endpoint.as_deref().map(telemetry::Telemetry::start).transpose().map_err(one)?
    };
    let shared = Arc::new(Shared {
        calls: permits::Permits::new(config.max_in_flight, Some(metrics.in_flight.clone())),
        others: permits::Permits::new(config.max_in_flight, None),
        streams: permits::Permits::new(config.max_in_flight, None),
        // Each keeps twice the workers busy, so more at a time are no faster.
        bulk: Arc::new(tokio::sync::Semaphore::new(config.workers.max(8))),
        connections: permits::Permits::new(config.max_connections, None),
        desk,
        life,
        standard,
        secrets,
        recorder,
        gate: logs::Gate::default(),
        started: deadline::now(),
        #[cfg(feature = "otel")]
        telemetry: telemetry.take(),
        leaving: CancellationToken::new(),
        reload: Notify::new(),
        stopped: CancellationToken::new(),
    });
    launch(shared, admin_runtime, listener, admin).map_err(system)
}

/// What is wrong with the files that the settings name: for `--check-config`, which starts nothing.
pub fn check_files(config: &Config) -> Vec<String> {
    let mut problems = secrets::Secrets::load(config).err().unwrap_or_default();
    problems.extend(config.record.as_deref().map(record::check).and_then(Result::err));
    problems
}

fn bind(flag: &str, address: SocketAddr) -> Result<TcpListener, String> {
    let bound = TcpListener::bind(address).and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    bound.map_err(|error| format!("{flag} {address}: {error}"))
}

/// Health, and reflection where it is wanted.
fn standard_routes(config: &Config, life: &Arc<Life>) -> Result<Routes, String> {
    let health = HealthServer::new(HealthService::new(Arc::clone(life), SERVICES));
    let routes = Routes::new(health.max_decoding_message_size(4096));
    if !config.reflection {
        return Ok(routes.prepare());
    }
    let builder = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(pb::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            // With the messages of google.rpc known, grpcurl prints error details instead of base64.
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
    };
    let v1 = builder().build_v1().map_err(|error| error.to_string())?;
    let v1alpha = builder().build_v1alpha().map_err(|error| error.to_string())?;
    Ok(routes
        .add_service(v1.max_decoding_message_size(4096))
        .add_service(v1alpha.max_decoding_message_size(4096))
        .prepare())
}

fn launch(
    shared: Arc<Shared>,
    admin_runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    admin: Option<TcpListener>,
) -> std::io::Result<Server> {
    let address = listener.local_addr()?;
    let admin_address = admin.as_ref().map(TcpListener::local_addr).transpose()?;
    let rpc_runtime = match shared.desk.config.rpc_threads {
        1 => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        threads => tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("rpc")
            .enable_all()
            .build()?,
    };

    let state = Arc::clone(&shared);
    let rpc = thread("rpc", move || {
        let cut_off = rpc_runtime.block_on(async {
            match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => door::run(listener, Arc::clone(&state)).await,
                Err(error) => {
                    tracing::error!(%error, "the listener failed");
                    0
                }
            }
        });
        state.desk.pool.close();
        state.stopped.cancel();
        // A runtime whose threads are stuck must not hold up the exit.
        rpc_runtime.shutdown_timeout(Duration::from_millis(100));
        cut_off
    })?;
    let state = Arc::clone(&shared);
    let admin = thread("admin", move || {
        admin_runtime.block_on(keep_house(state, admin));
        admin_runtime.shutdown_timeout(Duration::from_millis(100));
    })?;
    let state = Arc::clone(&shared);
    thread("self-test", move || {
        selftest::run(&state.desk.book, state.desk.config.inline_below);
        state.life.enter(pb::ServerState::Serving);
    })?;
    Ok(Server { shared, address, admin_address, rpc, admin })
}

fn thread<T: Send + 'static>(name: &str, run: impl FnOnce() -> T + Send + 'static) -> std::io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(run)
}

/// The admin runtime: the admin port, reloads, storm summaries, and the clock of the drain.
async fn keep_house(shared: Arc<Shared>, listener: Option<TcpListener>) {
    if let Some(listener) = listener {
        match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => drop(tokio::spawn(admin::serve(listener, Arc::clone(&shared)))),
            Err(error) => tracing::error!(%error, "the admin listener failed"),
        }
    }
    let leaving = Arc::clone(&shared);
    tokio::spawn(async move {
        leaving.leaving.cancelled().await;
        leaving.life.enter(pb::ServerState::Draining);
        tokio::time::sleep(leaving.desk.config.drain_delay).await;
        leaving.life.closing.cancel();
    });
    let mut second = tokio::time::interval(Duration::from_secs(1));
    let mut look = tokio::time::interval(shared.desk.config.reload_interval);
    look.reset();
    loop {
        tokio::select! {
            _ = second.tick() => shared.gate.sweep(),
            _ = look.tick() => shared.secrets.reload(false, &shared.desk.metrics),
            () = shared.reload.notified() => shared.secrets.reload(true, &shared.desk.metrics),
            () = shared.stopped.cancelled() => break,
        }
    }
    #[cfg(feature = "otel")]
    {
        // On a thread of its own, because this runtime carries the connection that it waits for.
        let last = tokio::task::spawn_blocking(move || shared.telemetry.as_ref().map(telemetry::Telemetry::stop));
        let _ = tokio::time::timeout(Duration::from_secs(2), last).await;
    }
}

impl Server {
    /// Where gRPC is served.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where the admin port is.
    pub const fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    /// Its handles, for tests and benches.
    pub fn metrics(&self) -> &Metrics {
        &self.shared.desk.metrics
    }

    /// Where it is in its life.
    pub fn state(&self) -> pb::ServerState {
        self.shared.life.state()
    }

    /// Waits until it serves; false if that takes longer than `patience`.
    pub fn wait_until_serving(&self, patience: Duration) -> bool {
        let end = deadline::now() + patience;
        while self.state() == pb::ServerState::Starting && deadline::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.state() == pb::ServerState::Serving
    }

    /// Starts to drain: health first, then the listener, then what is in flight.
    pub fn drain(&self) {
        self.shared.leaving.cancel();
    }

    /// Reads certificates and tokens again.
    pub fn reload(&self) {
        self.shared.reload.notify_one();
    }

    /// It has ended, or is about to.
    pub fn ended(&self) -> CancellationToken {
        self.shared.stopped.clone()
    }

    /// Waits for the end, which [`Self::drain`] brings about.
    pub fn join(self) -> Exit {
        let cut_off = self.rpc.join().unwrap_or(0);
        let _ = self.admin.join();
        // What was answered and chosen is written down before the process may end.
        if let Some(recorder) = &self.shared.recorder {
            recorder.finish();
        }
        Exit { cut_off }
    }
}

impl Shared {
    /// The policies of one game, or of all.
    fn policies(&self, game: &str) -> pb::ListPoliciesResponse {
        let entries = self.desk.book.entries().iter();
        let wanted = entries.filter(|entry| game.is_empty() || entry.bot.game() == game);
        pb::ListPoliciesResponse { policies: wanted.map(book::Entry::listed).collect() }
    }

    fn info(&self) -> pb::GetServerInfoResponse {
        let config = &self.desk.config;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        pb::GetServerInfoResponse {
            version: VERSION.to_owned(),
            revision: REVISION.to_owned(),
            state: self.life.state() as i32,
            games: self.desk.book.games().iter().map(|game| game.key.to_owned()).collect(),
            workers: count(self.desk.pool.workers()),
            uptime_seconds: u32::try_from(self.started.elapsed().as_secs()).unwrap_or(u32::MAX),
            limits: Some(pb::Limits {
                request_bytes: count(config.max_request_bytes),
                batch_items: count(grpc::BATCH_ITEMS),
                reply_rows: count(config.max_reply_rows),
                queue: count(config.queue),
                in_flight: count(config.max_in_flight),
                streams_per_connection: config.max_streams,
                max_think_us: deadline::micros(config.max_think),
                max_queue_wait_us: deadline::micros(config.max_queue_wait),
            }),
        }
    }

    /// The name of the token a call came with; `None` where no tokens are asked for.
    fn identify(&self, headers: &http::HeaderMap) -> Result<Option<Arc<str>>, status::Error> {
        match self.secrets.tokens.load().as_ref() {
            None => Ok(None),
            Some(tokens) => tokens.identify(headers).map(Some),
        }
    }

    fn tls_acceptor(&self) -> Option<tokio_rustls::TlsAcceptor> {
        self.secrets.tls.load_full().map(tokio_rustls::TlsAcceptor::from)
    }
}
