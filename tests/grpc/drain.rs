//! The end of a server: in the process, and of the real binary on a real signal.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tonic::Code;
use understudy::pb;
use understudy::service::config::Config;

use crate::harness::{Client, ask, config, connect, reason, run, serve};
use crate::raw::{DECIDE, Raw, reply};

#[test]
fn what_has_started_finishes_and_what_has_not_is_turned_away() {
    let server = serve(config());
    run(async {
        let mut client = connect(&server).await;
        let mut raw = Raw::connect(server.address()).await;
        let (half, mut stream) = raw.open(DECIDE, &[]).await;
        stream.send_data(vec![0, 0].into(), false).expect("sent");
        let long = pb::DecideRequest {
            budget: Some(pb::Budget { max_time_us: Some(300_000), ..Default::default() }),
            ..ask("spin")
        };
        let started = tokio::spawn(async move { client.decide(long).await });
        while server.metrics().workers_busy.get() == 0 || server.metrics().in_flight.get() < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.drain();
        let status = reply(half).await.status.expect("a status");
        assert_eq!(reason(&status), (Code::Unavailable, "DRAINING".to_owned()), "its body was not complete");
        started.await.expect("a task").expect("what has started finishes");
    });
    let start = Instant::now();
    assert_eq!(server.join().cut_off, 0);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn what_does_not_finish_in_time_is_cut_off_and_counted() {
    let server = serve(Config { drain_timeout: Duration::from_millis(200), ..config() });
    run(async {
        let mut client = connect(&server).await;
        let long = pb::DecideRequest {
            budget: Some(pb::Budget { max_time_us: Some(5_000_000), ..Default::default() }),
            ..ask("spin")
        };
        let call = tokio::spawn(async move { client.decide(long).await });
        while server.metrics().workers_busy.get() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.drain();
        call.await.expect("a task").expect_err("cut off");
    });
    assert_eq!(server.join().cut_off, 1);
}

/// The real program, with its output.
struct Program {
    child: Child,
    address: SocketAddr,
    stderr: std::thread::JoinHandle<String>,
}

fn understudy(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_understudy"));
    command.arg("serve").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        let ports = ["--listen", "127.0.0.1:0", "--admin-listen", "off"];
        let mut child = understudy(&[&ports[..], arguments].concat()).spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        let mut errors = child.stderr.take().expect("stderr");
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            text
        });
        let line = lines.next().expect("a line").expect("text");
        let address = line.strip_prefix("listening on ").and_then(|text| text.parse().ok()).expect("an address");
        std::thread::spawn(move || lines.count());
        Self { child, address, stderr }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
    }
}

/// The client's library turned the call away: its connection had been told to go before the call was a stream. tonic
/// says INTERNAL to that; the server has never heard of the call.
fn never_sent(status: &tonic::Status) -> bool {
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            return error.is_go_away() && error.is_remote() && error.reason() == Some(h2::Reason::NO_ERROR);
        }
        cause = error.source();
    }
    false
}

#[test]
fn sigterm_under_load_finishes_every_started_call() {
    let mut program = Program::start(&["--drain-delay", "300ms", "--log-format", "json", "--log-level", "debug"]);
    let (good, lost) = run(async {
        let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{}", program.address)).expect("valid");
        let stop = Arc::new(AtomicBool::new(false));
        let mut callers = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let mut client = Client::new(endpoint.connect().await.expect("the server accepts"));
            while client.decide(ask("easy")).await.is_err_and(|status| status.code() == Code::Unavailable) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            for _ in 0..4 {
                let (mut client, stop) = (client.clone(), Arc::clone(&stop));
                callers.spawn(async move {
                    let (mut good, mut refused, mut lost) = (0, 0, Vec::new());
                    while !stop.load(Ordering::Relaxed) {
                        match client.decide(ask("hard")).await {
                            Ok(_) => good += 1,
                            // Not started: the server is gone or going.
                            Err(status) if status.code() == Code::Unavailable || never_sent(&status) => {
                                refused += 1;
                                tokio::time::sleep(Duration::from_millis(5)).await;
                            }
                            Err(status) => lost.push(status),
                        }
                    }
                    (good, refused, lost)
                });
            }
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        program.signal("-TERM");
        tokio::time::sleep(Duration::from_millis(1500)).await;
        stop.store(true, Ordering::Relaxed);
        let mut lost = Vec::new();
        let mut all_good = 0;
        while let Some(caller) = callers.join_next().await {
            let (good, refused, mut more) = caller.expect("a caller");
            all_good += good;
            assert!(refused > 0, "the server went away");
            lost.append(&mut more);
        }
        assert!(all_good > 10, "{all_good}");
        (all_good, lost)
    });
    assert!(lost.is_empty(), "{lost:?}");
    let status = program.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
    let log = program.stderr.join().expect("the log");
    // Lines of OK calls and lines of the drain alike are JSON, with the id of their call.
    let mut calls = 0;
    let mut hard = 0;
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        assert!(line["ts"].is_string() && line["level"].is_string() && line["msg"].is_string());
        if line["msg"] == "call" && line["policy"] == "hard@1" {
            hard += 1;
            assert_eq!(line["code"], "OK", "a started call that did not finish");
        }
        if line["msg"] == "call" && line["code"] == "OK" {
            calls += 1;
            assert!(line["request_id"].is_string() && line["view_hash"].is_string() && line["policy"].is_string());
        }
        assert!(line.get("view").is_none(), "never views");
    }
    assert!(calls > 10, "{calls} calls in the log");
    assert_eq!(hard, good, "what the server started is what the clients were answered");
    assert!(log.contains("draining"));
}

#[test]
fn a_second_signal_is_obeyed_at_once() {
    let mut program = Program::start(&["--drain-delay", "60s"]);
    program.signal("-TERM");
    std::thread::sleep(Duration::from_millis(100));
    assert!(program.child.try_wait().expect("a child").is_none(), "it drains");
    let start = Instant::now();
    program.signal("-INT");
    assert_eq!(program.child.wait().expect("it ends").code(), Some(1));
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_bad_configuration_fails_fast_with_a_line_a_problem() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let cases: [(&[&str], &str); 9] = [
        (&["--no-such-flag"], "--no-such-flag"),
        (&["--queue", "many"], "--queue"),
        (&["--body-timeout", "soon"], "--body-timeout"),
        (&["--listen", &taken], &taken),
        (&["--admin-listen", "nowhere"], "--admin-listen"),
        (&["--tls-cert", "/nowhere/cert.pem"], "--tls-key"),
        (&["--auth-tokens", "/nowhere/tokens"], "/nowhere/tokens"),
        (&["--weights", "chess/hard=/nowhere/weights.json"], "/nowhere/weights.json"),
        (&["--workers", "0"], "--workers"),
    ];
    for (arguments, named) in cases {
        let start = Instant::now();
        let mut all = vec!["--admin-listen", "off", "--listen", "127.0.0.1:0"];
        // A later flag replaces an earlier one only where it is given once.
        if arguments[0].contains("listen") {
            all.retain(|flag| *flag != arguments[0]);
            all = vec!["--log-level", "info"];
        }
        let output = understudy(&[&all[..], arguments].concat()).output().expect("the program runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(named), "{arguments:?}: {text}");
        assert!(start.elapsed() < Duration::from_secs(1), "{arguments:?} took {:?}", start.elapsed());
    }
}

#[test]
fn check_config_shows_what_would_hold() {
    let output = understudy(&["--check-config", "--queue", "77"])
        .env("UNDERSTUDY_QUEUE", "55")
        .env("UNDERSTUDY_BODY_TIMEOUT", "7s")
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("queue = 77\n"), "the flag wins: {text}");
    assert!(text.contains("body-timeout = 7s\n"), "{text}");
    assert!(text.contains("log-level = info\nlog-format = auto\n"), "{text}");
    let wrong = ["--check-config", "--record-share", "3", "--max-think", "0", "--log-level", "wran"];
    let bad = understudy(&wrong).output().expect("it runs");
    assert_eq!(bad.status.code(), Some(2));
    let told = String::from_utf8_lossy(&bad.stderr);
    assert_eq!(told.lines().count(), 3, "one line a problem: {told}");
    assert!(told.contains("\"wran\" is no level"), "{told}");
}
