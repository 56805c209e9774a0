//! The server's settings: what `serve` takes as flags and environment, validated once and then trusted.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Validated settings. [`Config::default`] is what the table of flags says, on ports that the system chooses.
#[derive(Clone, Debug)]
pub struct Config {
    /// gRPC address.
    pub listen: SocketAddr,
    /// Admin address; `None`: no admin port.
    pub admin_listen: Option<SocketAddr>,
    /// Decision threads, at least 1.
    pub workers: usize,
    /// Threads of the RPC runtime, at least 1.
    pub rpc_threads: usize,
    /// Waiting jobs, process-wide.
    pub queue: usize,
    /// Calls in flight, process-wide.
    pub max_in_flight: usize,
    /// Connections, process-wide.
    pub max_connections: usize,
    /// Streams of one connection.
    pub max_streams: u32,
    /// One request message, inflated, in bytes.
    pub max_request_bytes: usize,
    /// Half-received messages in all, in bytes.
    pub max_receive_bytes: usize,
    /// Replies that peers have not taken yet, in bytes.
    pub max_send_bytes: usize,
    /// Rows of an ALL reply.
    pub max_reply_rows: usize,
    /// Waiting without a deadline.
    pub max_queue_wait: Duration,
    /// Longer deadlines are cut to this.
    pub max_deadline: Duration,
    /// The longest thinking that may be asked for.
    pub max_think: Duration,
    /// Time kept back for the reply.
    pub reply_reserve: Duration,
    /// The same as a share of the timeout, in percent; the smaller holds.
    pub reply_reserve_percent: u32,
    /// Policies without search that are faster than this skip the queue; 0: none does.
    pub inline_below: Duration,
    /// Time to complete a request body.
    pub body_timeout: Duration,
    /// Time for TLS and the HTTP/2 preface.
    pub handshake_timeout: Duration,
    /// A stream that takes nothing of its reply for this long is reset, or that is this long behind 16 KiB a second.
    pub stall_timeout: Duration,
    /// HTTP/2 PING on idle connections.
    pub keepalive_interval: Duration,
    /// Time to answer it.
    pub keepalive_timeout: Duration,
    /// Age at which a connection is told to go; `None`: never.
    pub max_connection_age: Option<Duration>,
    /// From then until it is closed.
    pub max_connection_age_grace: Duration,
    /// Serving on after SIGTERM, while balancers look away.
    pub drain_delay: Duration,
    /// Finishing what is in flight.
    pub drain_timeout: Duration,
    /// Certificate chain, PEM.
    pub tls_cert: Option<PathBuf>,
    /// Its key, PEM.
    pub tls_key: Option<PathBuf>,
    /// Who signs client certificates, PEM.
    pub tls_client_ca: Option<PathBuf>,
    /// Bearer tokens.
    pub auth_tokens: Option<PathBuf>,
    /// How often files are looked at.
    pub reload_interval: Duration,
    /// Tokens may cross a network in the clear.
    pub allow_plaintext_tokens: bool,
    /// Where a share of the calls is recorded.
    pub record: Option<PathBuf>,
    /// The share, 0..=1.
    pub record_share: f64,
    /// Accept and send gzip.
    pub gzip: bool,
    /// Serve reflection.
    pub reflection: bool,
    /// Where spans go, `http://host:4317`; `None`: nowhere.
    #[cfg(feature = "otel")]
    pub otlp_endpoint: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            admin_listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
            workers: default_workers(),
            rpc_threads: 1,
            queue: 256,
            max_in_flight: 2048,
            max_connections: 4096,
            max_streams: 1024,
            max_request_bytes: 256 << 10,
            max_receive_bytes: 64 << 20,
            max_send_bytes: 64 << 20,
            max_reply_rows: 2048,
            max_queue_wait: Duration::from_secs(2),
            max_deadline: Duration::from_secs(60),
            max_think: Duration::from_secs(10),
            reply_reserve: Duration::from_millis(5),
            reply_reserve_percent: 20,
            inline_below: Duration::from_micros(50),
            body_timeout: Duration::from_secs(5),
            handshake_timeout: Duration::from_secs(5),
            stall_timeout: Duration::from_secs(10),
            keepalive_interval: Duration::from_secs(30),
            keepalive_timeout: Duration::from_secs(10),
            max_connection_age: Some(Duration::from_secs(30 * 60)),
            max_connection_age_grace: Duration::from_secs(30),
            drain_delay: Duration::from_secs(3),
            drain_timeout: Duration::from_secs(20),
            tls_cert: None,
            tls_key: None,
            tls_client_ca: None,
            auth_tokens: None,
            reload_interval: Duration::from_secs(10),
            allow_plaintext_tokens: false,
            record: None,
            record_share: 0.01,
            gzip: false,
            reflection: true,
            #[cfg(feature = "otel")]
            otlp_endpoint: None,
        }
    }
}

/// More threads than any machine has use for; the system would refuse them one by one.
const MOST_THREADS: usize = 1024;
/// The longest of the times that calls, streams and files are given.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The longest life of a connection.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Cores less one for the RPC thread, at least 1; a container's quota counts.
pub fn default_workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() - 1).clamp(1, MOST_THREADS)
}

impl Config {
    /// What is wrong with these settings, one line a problem, named by flag.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut must = |holds: bool, text: &str| {
            if !holds {
                problems.push(text.to_owned());
            }
        };
        must((1..=MOST_THREADS).contains(&self.workers), "--workers must be 1..=1024");
        must((1..=MOST_THREADS).contains(&self.rpc_threads), "--rpc-threads must be 1..=1024");
        must(self.queue >= 1, "--queue must be at least 1");
        must(self.max_in_flight >= 1, "--max-in-flight must be at least 1");
        must(self.max_connections >= 1, "--max-connections must be at least 1");
        must(self.max_streams >= 1, "--max-streams must be at least 1");
        must(self.max_request_bytes >= 1024, "--max-request-bytes must be at least 1KiB");
        must(
            self.max_receive_bytes >= self.max_request_bytes,
            "--max-receive-bytes must not be below --max-request-bytes",
        );
        must(self.max_reply_rows >= 1, "--max-reply-rows must be at least 1");
        must(self.reply_reserve_percent <= 90, "--reply-reserve-percent must be at most 90");
        must(!self.max_think.is_zero(), "--max-think must not be 0");
        must(!self.max_deadline.is_zero(), "--max-deadline must not be 0");
        must(!self.max_queue_wait.is_zero(), "--max-queue-wait must not be 0");
        must(!self.body_timeout.is_zero(), "--body-timeout must not be 0");
        must(!self.handshake_timeout.is_zero(), "--handshake-timeout must not be 0");
        must(!self.keepalive_interval.is_zero(), "--keepalive-interval must not be 0");
        must(!self.keepalive_timeout.is_zero(), "--keepalive-timeout must not be 0");
        must(!self.reload_interval.is_zero(), "--reload-interval must not be 0");
        // Longer ones mean "never", and overflow where they are added to a clock.
        for (flag, time) in self.times() {
            must(time <= DAY, &format!("{flag} must be at most 24h"));
        }
        let age = self.max_connection_age.unwrap_or_default();
        must(age <= YEAR, "--max-connection-age must be at most 365d; 0 is no limit");
        must(self.max_connection_age_grace <= YEAR, "--max-connection-age-grace must be at most 365d");
        must((0.0..=1.0).contains(&self.record_share), "--record-share must be 0..=1");
        must(self.tls_cert.is_some() == self.tls_key.is_some(), "--tls-cert and --tls-key go together");
        must(self.tls_client_ca.is_none() || self.tls_cert.is_some(), "--tls-client-ca needs --tls-cert");
        must(
            self.auth_tokens.is_none()
                || self.tls_cert.is_some()
                || self.listen.ip().is_loopback()
                || self.allow_plaintext_tokens,
            "--auth-tokens without TLS on an address that is not loopback: add TLS, or --allow-plaintext-tokens",
        );
        problems
    }

    /// The times that must not be above a day.
    const fn times(&self) -> [(&'static str, Duration); 12] {
        [
            ("--max-queue-wait", self.max_queue_wait),
            ("--max-deadline", self.max_deadline),
            ("--max-think", self.max_think),
            ("--reply-reserve", self.reply_reserve),
            ("--inline-below", self.inline_below),
            ("--body-timeout", self.body_timeout),
            ("--handshake-timeout", self.handshake_timeout),
            ("--keepalive-interval", self.keepalive_interval),
            ("--keepalive-timeout", self.keepalive_timeout),
            ("--drain-delay", self.drain_delay),
            ("--drain-timeout", self.drain_timeout),
            ("--reload-interval", self.reload_interval),
        ]
    }

    /// The effective values, one `flag = value` a line.
    pub fn show(&self) -> String {
        let mut out = String::new();
        let mut line = |flag: &str, value: String| {
            let _ = writeln!(out, "{flag} = {value}");
        };
        let time = |duration: Duration| humantime::format_duration(duration).to_string();
        let path = |path: &Option<PathBuf>| path.as_ref().map_or("none".to_owned(), |p| p.display().to_string());
        line("listen", self.listen.to_string());
        line("admin-listen", self.admin_listen.map_or("off".to_owned(), |address| address.to_string()));
        line("workers", self.workers.to_string());
        line("rpc-threads", self.rpc_threads.to_string());
        line("queue", self.queue.to_string());
        line("max-in-flight", self.max_in_flight.to_string());
        line("max-connections", self.max_connections.to_string());
        line("max-streams", self.max_streams.to_string());
        line("max-request-bytes", self.max_request_bytes.to_string());
        line("max-receive-bytes", self.max_receive_bytes.to_string());
        line("max-reply-rows", self.max_reply_rows.to_string());
        line("max-queue-wait", time(self.max_queue_wait));
        line("max-deadline", time(self.max_deadline));
        line("max-think", time(self.max_think));
        line("reply-reserve", time(self.reply_reserve));
        line("reply-reserve-percent", self.reply_reserve_percent.to_string());
        line("inline-below", time(self.inline_below));
        line("body-timeout", time(self.body_timeout));
        line("handshake-timeout", time(self.handshake_timeout));
        line("keepalive-interval", time(self.keepalive_interval));
        line("keepalive-timeout", time(self.keepalive_timeout));
        line("max-connection-age", time(self.max_connection_age.unwrap_or_default()));
        line("max-connection-age-grace", time(self.max_connection_age_grace));
        line("drain-delay", time(self.drain_delay));
        line("drain-timeout", time(self.drain_timeout));
        line("tls-cert", path(&self.tls_cert));
        line("tls-key", path(&self.tls_key));
        line("tls-client-ca", path(&self.tls_client_ca));
        line("auth-tokens", path(&self.auth_tokens));
        line("reload-interval", time(self.reload_interval));
        line("allow-plaintext-tokens", self.allow_plaintext_tokens.to_string());
        line("record", path(&self.record));
        line("record-share", self.record_share.to_string());
        line("gzip", self.gzip.to_string());
        line("reflection", self.reflection.to_string());
        #[cfg(feature = "otel")]
        line("otlp-endpoint", self.otlp_endpoint.clone().unwrap_or_else(|| "none".to_owned()));
        out
    }
}

/// A size as people write it: `4096`, `256KiB`, `64MiB`, `1GiB`.
///
/// # Errors
/// What is not a size, in a sentence.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: usize = match &text[digits.len()..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        other => return Err(format!("{other:?} is no unit: B, KiB, MiB or GiB")),
    };
    let count: usize = digits.parse().map_err(|_| format!("{text:?} is no size, such as 256KiB"))?;
    count.checked_mul(unit).ok_or_else(|| format!("{text:?} is too large"))
}

/// A duration as people write it: `250ms`, `3s`, `30m`; a bare `0` is zero.
///
/// # Errors
/// What is not a duration, in a sentence.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    humantime::parse_duration(text).map_err(|error| format!("{error}; write 250ms or 3s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_read_as_written() {
        assert_eq!(parse_bytes("256KiB"), Ok(262_144));
        assert_eq!(parse_bytes("7"), Ok(7));
        assert!(parse_bytes("12parsecs").is_err() && parse_bytes("KiB").is_err() && parse_bytes("-1").is_err());
        assert!(parse_bytes("99999999999999999999").is_err() && parse_bytes("18446744073709551615GiB").is_err());
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("0"), Ok(Duration::ZERO));
        assert!(parse_duration("3").is_err() && parse_duration("soon").is_err());
    }

    #[test]
    fn every_problem_is_told_at_once() {
        let config = Config {
            workers: 0,
            tls_cert: Some("cert.pem".into()),
            auth_tokens: Some("tokens".into()),
            record_share: 2.0,
            ..Config::default()
        };
        let problems = config.problems();
        assert_eq!(problems.len(), 3, "{problems:?}");
        let open = Config {
            auth_tokens: Some("tokens".into()),
            listen: SocketAddr::from(([0, 0, 0, 0], 1)),
            ..Config::default()
        };
        assert_eq!(open.problems().len(), 1);
        assert!(Config { allow_plaintext_tokens: true, ..open }.problems().is_empty());
        assert!(Config::default().problems().is_empty());
    }

    #[test]
    fn no_time_is_beyond_the_clock_and_no_number_beyond_the_machine() {
        let long = parse_duration("500000000000years").expect("a duration");
        let config = Config {
            workers: 999_999,
            rpc_threads: 999_999,
            max_queue_wait: long,
            max_deadline: long,
            max_think: long,
            reply_reserve: long,
            inline_below: long,
            body_timeout: long,
            handshake_timeout: long,
            keepalive_interval: long,
            keepalive_timeout: long,
            max_connection_age: Some(long),
            max_connection_age_grace: long,
            drain_delay: long,
            drain_timeout: long,
            reload_interval: long,
            ..Config::default()
        };
        let problems = config.problems();
        assert_eq!(problems.len(), 16, "{problems:?}");
        assert!(problems.contains(&"--max-think must be at most 24h".to_owned()), "{problems:?}");
        let edge = Config {
            workers: 1024,
            max_think: Duration::from_secs(24 * 3600),
            max_connection_age: Some(Duration::from_secs(365 * 24 * 3600)),
            ..Config::default()
        };
        assert_eq!(edge.problems(), Vec::<String>::new());
        let above = Config { workers: 1025, max_think: DAY + Duration::from_nanos(1), ..edge };
        assert_eq!(above.problems().len(), 2);
    }
}
