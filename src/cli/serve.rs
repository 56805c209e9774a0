//! `understudy serve`: flags and environment into a checked configuration, and the life of the process around the server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};

use super::Failure;
use super::weights::{self, Replacement};
use crate::service;
use crate::service::config::{self, Config};

/// Every flag of `serve`. Each has an environment variable, `UNDERSTUDY_` and its name; the flag wins.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// gRPC address; port 0 prints the chosen one
    #[arg(long, env = "UNDERSTUDY_LISTEN", default_value = "127.0.0.1:50051")]
    pub listen: SocketAddr,
    /// Admin address (/metrics /livez /readyz /info and health), `off` for none
    #[arg(long, env = "UNDERSTUDY_ADMIN_LISTEN", default_value = "127.0.0.1:9090", value_parser = parse_admin)]
    pub admin_listen: Admin,
    /// Decision threads [default: cores - 1]
    #[arg(long, env = "UNDERSTUDY_WORKERS")]
    pub workers: Option<usize>,
    /// Threads of the RPC runtime
    #[arg(long, env = "UNDERSTUDY_RPC_THREADS", default_value_t = 1)]
    pub rpc_threads: usize,
    /// Waiting jobs, process-wide
    #[arg(long, env = "UNDERSTUDY_QUEUE", default_value_t = 256)]
    pub queue: usize,
    /// Calls in flight, process-wide
    #[arg(long, env = "UNDERSTUDY_MAX_IN_FLIGHT", default_value_t = 2048)]
    pub max_in_flight: usize,
    /// Connections, process-wide; each is an open file, and the soft limit of those is raised to fit
    #[arg(long, env = "UNDERSTUDY_MAX_CONNECTIONS", default_value_t = 4096)]
    pub max_connections: usize,
    /// Streams of one connection
    #[arg(long, env = "UNDERSTUDY_MAX_STREAMS", default_value_t = 1024)]
    pub max_streams: u32,
    /// Size of one request message
    #[arg(long, env = "UNDERSTUDY_MAX_REQUEST_BYTES", default_value = "256KiB", value_parser = config::parse_bytes)]
    pub max_request_bytes: usize,
    /// Half-received messages in all
    #[arg(long, env = "UNDERSTUDY_MAX_RECEIVE_BYTES", default_value = "64MiB", value_parser = config::parse_bytes)]
    pub max_receive_bytes: usize,
    /// Rows of a reply with detail ALL
    #[arg(long, env = "UNDERSTUDY_MAX_REPLY_ROWS", default_value_t = 2048)]
    pub max_reply_rows: usize,
    /// Waiting of a call without a deadline
    #[arg(long, env = "UNDERSTUDY_MAX_QUEUE_WAIT", default_value = "2s", value_parser = config::parse_duration)]
    pub max_queue_wait: Duration,
    /// Longer deadlines are cut to this
    #[arg(long, env = "UNDERSTUDY_MAX_DEADLINE", default_value = "60s", value_parser = config::parse_duration)]
    pub max_deadline: Duration,
    /// The longest thinking that may be asked for
    #[arg(long, env = "UNDERSTUDY_MAX_THINK", default_value = "10s", value_parser = config::parse_duration)]
    pub max_think: Duration,
    /// Time kept back for the reply
    #[arg(long, env = "UNDERSTUDY_REPLY_RESERVE", default_value = "5ms", value_parser = config::parse_duration)]
    pub reply_reserve: Duration,
    /// The same in percent of the timeout; the smaller holds
    #[arg(long, env = "UNDERSTUDY_REPLY_RESERVE_PERCENT", default_value_t = 20)]
    pub reply_reserve_percent: u32,
    /// Policies without search faster than this skip the queue; 0: never
    #[arg(long, env = "UNDERSTUDY_INLINE_BELOW", default_value = "50us", value_parser = config::parse_duration)]
    pub inline_below: Duration,
    /// Time to complete a request body
    #[arg(long, env = "UNDERSTUDY_BODY_TIMEOUT", default_value = "5s", value_parser = config::parse_duration)]
    pub body_timeout: Duration,
    /// Time for TLS and the HTTP/2 preface
    #[arg(long, env = "UNDERSTUDY_HANDSHAKE_TIMEOUT", default_value = "5s", value_parser = config::parse_duration)]
    pub handshake_timeout: Duration,
    /// HTTP/2 PING on connections
    #[arg(long, env = "UNDERSTUDY_KEEPALIVE_INTERVAL", default_value = "30s", value_parser = config::parse_duration)]
    pub keepalive_interval: Duration,
    /// Time to answer it
    #[arg(long, env = "UNDERSTUDY_KEEPALIVE_TIMEOUT", default_value = "10s", value_parser = config::parse_duration)]
    pub keepalive_timeout: Duration,
    /// Age at which a connection is told to go (with 10 % jitter); 0: no limit
    #[arg(long, env = "UNDERSTUDY_MAX_CONNECTION_AGE", default_value = "30m", value_parser = config::parse_duration)]
    pub max_connection_age: Duration,
    /// From then until it is closed
    #[arg(
        long,
        env = "UNDERSTUDY_MAX_CONNECTION_AGE_GRACE",
        default_value = "30s",
        value_parser = config::parse_duration
    )]
    pub max_connection_age_grace: Duration,
    /// Serving on after SIGTERM, while balancers look away
    #[arg(long, env = "UNDERSTUDY_DRAIN_DELAY", default_value = "3s", value_parser = config::parse_duration)]
    pub drain_delay: Duration,
    /// Then finishing what is in flight
    #[arg(long, env = "UNDERSTUDY_DRAIN_TIMEOUT", default_value = "20s", value_parser = config::parse_duration)]
    pub drain_timeout: Duration,
    /// Certificate chain, PEM; with --tls-key turns TLS on
    #[arg(long, env = "UNDERSTUDY_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key, PEM
    #[arg(long, env = "UNDERSTUDY_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Ask for client certificates signed by these, PEM
    #[arg(long, env = "UNDERSTUDY_TLS_CLIENT_CA", value_name = "FILE")]
    pub tls_client_ca: Option<PathBuf>,
    /// Bearer tokens: one `name token` a line
    #[arg(long, env = "UNDERSTUDY_AUTH_TOKENS", value_name = "FILE")]
    pub auth_tokens: Option<PathBuf>,
    /// How often certificate and token files are looked at
    #[arg(long, env = "UNDERSTUDY_RELOAD_INTERVAL", default_value = "10s", value_parser = config::parse_duration)]
    pub reload_interval: Duration,
    /// Accept tokens without TLS on an address that is not loopback
    #[arg(long, env = "UNDERSTUDY_ALLOW_PLAINTEXT_TOKENS")]
    pub allow_plaintext_tokens: bool,
    /// Record a share of the calls as JSON lines
    #[arg(long, env = "UNDERSTUDY_RECORD", value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// That share, 0..=1
    #[arg(long, env = "UNDERSTUDY_RECORD_SHARE", default_value_t = 0.01)]
    pub record_share: f64,
    /// Tuned weights, `GAME/POLICY=FILE`; repeatable
    #[arg(long, env = "UNDERSTUDY_WEIGHTS", value_name = "GAME/POLICY=FILE", value_delimiter = ',')]
    pub weights: Vec<Replacement>,
    /// Accept and send gzip
    #[arg(long, env = "UNDERSTUDY_GZIP")]
    pub gzip: bool,
    /// Serve gRPC reflection
    #[arg(
        long,
        env = "UNDERSTUDY_REFLECTION",
        default_value_t = true,
        action = ArgAction::Set,
        num_args = 0..=1,
        default_missing_value = "true"
    )]
    pub reflection: bool,
    /// Send traces to this OTLP collector, `http://host:4317`
    #[cfg(feature = "otel")]
    #[arg(long, env = "UNDERSTUDY_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,
    /// Which log lines: a level, or an EnvFilter
    #[arg(long, env = "UNDERSTUDY_LOG_LEVEL", default_value = "info")]
    pub log_level: String,
    /// auto: text on a terminal, JSON elsewhere
    #[arg(long, env = "UNDERSTUDY_LOG_FORMAT", default_value = "auto")]
    pub log_format: LogFormat,
    /// Validate everything, print the effective values, and exit
    #[arg(long)]
    pub check_config: bool,
}

/// The admin address, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admin(pub Option<SocketAddr>);

fn parse_admin(text: &str) -> Result<Admin, String> {
    if text == "off" {
        return Ok(Admin(None));
    }
    text.parse().map(|address| Admin(Some(address))).map_err(|_| format!("{text:?} is neither an address nor off"))
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

impl ServeArgs {
    /// The settings these flags mean; not yet validated.
    pub fn config(&self) -> Config {
        Config {
            listen: self.listen,
            admin_listen: self.admin_listen.0,
            workers: self.workers.unwrap_or_else(config::default_workers),
            rpc_threads: self.rpc_threads,
            queue: self.queue,
            max_in_flight: self.max_in_flight,
            max_connections: self.max_connections,
            max_streams: self.max_streams,
            max_request_bytes: self.max_request_bytes,
            max_receive_bytes: self.max_receive_bytes,
            max_reply_rows: self.max_reply_rows,
            max_queue_wait: self.max_queue_wait,
            max_deadline: self.max_deadline,
            max_think: self.max_think,
            reply_reserve: self.reply_reserve,
            reply_reserve_percent: self.reply_reserve_percent,
            inline_below: self.inline_below,
            body_timeout: self.body_timeout,
            handshake_timeout: self.handshake_timeout,
            keepalive_interval: self.keepalive_interval,
            keepalive_timeout: self.keepalive_timeout,
            max_connection_age: Some(self.max_connection_age).filter(|age| !age.is_zero()),
            max_connection_age_grace: self.max_connection_age_grace,
            drain_delay: self.drain_delay,
            drain_timeout: self.drain_timeout,
            tls_cert: self.tls_cert.clone(),
            tls_key: self.tls_key.clone(),
            tls_client_ca: self.tls_client_ca.clone(),
            auth_tokens: self.auth_tokens.clone(),
            reload_interval: self.reload_interval,
            allow_plaintext_tokens: self.allow_plaintext_tokens,
            record: self.record.clone(),
            record_share: self.record_share,
            gzip: self.gzip,
            reflection: self.reflection,
            #[cfg(feature = "otel")]
            otlp_endpoint: self.otlp_endpoint.clone(),
            ..Config::default()
        }
    }
}

/// Serves until a signal, then drains. Exit code 0 after a clean drain, 1 when calls were cut off.
///
/// # Errors
/// One line for each reason not to start.
pub fn run(args: &ServeArgs) -> Result<ExitCode, Failure> {
    let mut config = args.config();
    let mut registry = crate::games::registry();
    let mut problems = config.problems();
    problems.extend(service::logs::check_filter(&args.log_level).err());
    if let Err(Failure::Input(bad)) = weights::apply(&mut registry, &args.weights) {
        problems.extend(bad);
    }
    if args.check_config {
        problems.extend(service::check_files(&config));
    }
    if !problems.is_empty() {
        return Err(Failure::Input(problems));
    }
    let lowered = fit_open_files(&mut config).map_err(Failure::input)?;
    if args.check_config {
        lowered.iter().for_each(|warning| eprintln!("understudy: {warning}"));
        return super::input::print(&shown(&config, args)).map(|()| ExitCode::SUCCESS);
    }
    let json = match args.log_format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !std::io::IsTerminal::is_terminal(&std::io::stderr()),
    };
    let _guard = service::logs::start(&args.log_level, json).map_err(Failure::input)?;
    if let Some(warning) = lowered {
        tracing::warn!("{warning}");
    }
    attend(service::assemble(config, registry).map_err(Failure::Input)?)
}

/// Open files beside the connections: listeners, the admin port and who is on it, the runtimes, files that are read.
const OTHER_FILES: u64 = 128;

/// Raises the soft limit of open files to what the connections need. Where the hard limit is too low, fewer connections
/// are served, and this warning says so: one more is then closed and counted, where it would hang without an answer.
///
/// # Errors
/// The hard limit leaves none.
fn fit_open_files(config: &mut Config) -> Result<Option<String>, String> {
    let needed = (config.max_connections as u64).saturating_add(OTHER_FILES);
    let limit = match rlimit::increase_nofile_limit(needed) {
        Ok(limit) => limit,
        Err(error) => return Ok(Some(format!("the limit of open files is not known, nor raised: {error}"))),
    };
    if limit >= needed {
        return Ok(None);
    }
    let left = limit.saturating_sub(OTHER_FILES);
    if left == 0 {
        return Err(format!("the limit of open files is {limit}, but {OTHER_FILES} are needed beside the connections"));
    }
    let asked = std::mem::replace(&mut config.max_connections, left as usize);
    Ok(Some(format!(
        "--max-connections {asked} needs {needed} open files, but the hard limit is {limit}: it is {left} instead"
    )))
}

/// The effective values, one a line.
fn shown(config: &Config, args: &ServeArgs) -> String {
    let mut text = config.show();
    text.push_str(&format!("log-level = {}\n", args.log_level));
    let format = args.log_format.to_possible_value();
    text.push_str(&format!("log-format = {}\n", format.as_ref().map_or("", |format| format.get_name())));
    for Replacement { game, policy, file } in &args.weights {
        text.push_str(&format!("weights = {game}/{policy}={}\n", file.display()));
    }
    text
}

/// Hears signals until the server has ended. The second one that asks to leave is obeyed at once.
fn attend(server: service::Server) -> Result<ExitCode, Failure> {
    // Before the addresses are told: whoever reads them may send a signal at once.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let system = |error: std::io::Error| Failure::failed(format!("the system refuses: {error}"));
    runtime.map_err(system)?.block_on(signals(&server)).map_err(system)?;
    let exit = server.join();
    if exit.cut_off > 0 {
        return Err(Failure::failed(format!("{} calls were cut off at the drain limit", exit.cut_off)));
    }
    Ok(ExitCode::SUCCESS)
}

async fn signals(server: &service::Server) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut told = format!("listening on {}\n", server.address());
    if let Some(address) = server.admin_address() {
        told.push_str(&format!("admin on {address}\n"));
    }
    // Nobody has to read it: a closed pipe stops no server.
    let _ = super::input::print(&told);
    let ended = server.ended();
    let mut leaving = false;
    loop {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hang_up.recv() => {
                server.reload();
                continue;
            }
            () = ended.cancelled() => return Ok(()),
        }
        if leaving {
            std::process::exit(1);
        }
        leaving = true;
        tracing::info!("draining");
        server.drain();
    }
}
