//! R1: two replicas under 300 calls/s, each restarted twice by SIGTERM at seeded times: behind nginx, behind haproxy, and
//! with a grpcio client that balances by itself.

use std::fmt::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use understudy::bot::Rng;

use crate::load::{Flow, Tally, ms, run};
use crate::process::{Program, Server, signal};
use crate::report::Report;
use crate::requests::{easiest, first_game, frames, requests};
use crate::wire::DECIDE;
use crate::{Context, Trouble};

const RATE: f64 = 300.0;
const DRAIN_DELAY: Duration = Duration::from_secs(2);
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// R1.
pub fn run_proof(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    for peer in [Peer::Nginx, Peer::Haproxy, Peer::Grpcio] {
        behind(context, report, peer).map_err(|error| Trouble::from(format!("{peer:?}: {error}")))?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Peer {
    Nginx,
    Haproxy,
    Grpcio,
}

struct Ports {
    grpc: [SocketAddr; 2],
    admin: [SocketAddr; 2],
    front: SocketAddr,
}

fn free_port() -> Result<SocketAddr, Trouble> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

fn replica(context: &Context, ports: &Ports, which: usize) -> Result<Server, Trouble> {
    let (grpc, admin) = (ports.grpc[which].to_string(), ports.admin[which].to_string());
    let (delay, timeout) = (format!("{}s", DRAIN_DELAY.as_secs()), format!("{}s", DRAIN_TIMEOUT.as_secs()));
    let flags = ["--listen", &grpc, "--admin-listen", &admin, "--drain-delay", &delay, "--drain-timeout", &timeout];
    Ok(Server::start_with(Program::Product, &flags, &context.scratch)?)
}

fn behind(context: &Context, report: &mut Report, peer: Peer) -> Result<(), Trouble> {
    let seconds = context.pick(30, 12);
    let ports = Ports { grpc: [free_port()?, free_port()?], admin: [free_port()?, free_port()?], front: free_port()? };
    let game = first_game()?;
    let bodies = frames(&requests(game, &easiest(game)?, 64, context.seed));
    let mut replicas = [replica(context, &ports, 0)?, replica(context, &ports, 1)?];
    let proxy = Proxy::start(context, peer, &ports)?;
    let restarts = context.pick(4, 2);
    let mut exits = Vec::new();
    let mut slowest = Duration::ZERO;
    let outcome = thread::scope(|scope| -> Result<Outcome, Trouble> {
        let load = scope.spawn(|| match peer {
            Peer::Grpcio => python(context, &ports, &bodies, seconds),
            Peer::Nginx | Peer::Haproxy => Ok(steady(context, ports.front, &bodies, seconds)),
        });
        let mut rng = Rng::new(context.seed).split("restarts");
        let began = Instant::now();
        for n in 0..restarts {
            // One at a time, as rolling restarts go: the next slot begins when the last replica serves again.
            let slot = f64::from(n) * (seconds as f64 - 2.0) / f64::from(restarts);
            let due = Duration::from_secs_f64(0.5 + slot + rng.unit());
            thread::sleep(due.saturating_sub(began.elapsed()));
            let which = n as usize % 2;
            let stopping = Instant::now();
            replicas[which].terminate();
            let status = replicas[which].wait(DRAIN_DELAY + DRAIN_TIMEOUT + Duration::from_secs(5))?;
            slowest = slowest.max(stopping.elapsed());
            exits.push(status.and_then(|status| status.code()));
            replicas[which] = replica(context, &ports, which)?;
        }
        load.join().map_err(|_| Trouble::from("the load failed"))?
    })?;
    drop(proxy);
    report.line(format!("{peer:?}: {} calls, {} restarts: {}", outcome.due, exits.len(), outcome.summary));
    report.check(outcome.failed == 0, format!("{peer:?}: {} of {} calls failed", outcome.failed, outcome.due), "0");
    let fine = exits.iter().all(|code| *code == Some(0));
    report.check(fine, format!("{peer:?}: exits {exits:?}"), "all 0");
    let limit = DRAIN_DELAY + DRAIN_TIMEOUT + Duration::from_secs(1);
    let took = slowest.as_secs_f64();
    report.check(slowest <= limit, format!("{peer:?}: SIGTERM to exit {took:.1} s at most"), "drain limit + 1 s");
    Ok(())
}

struct Outcome {
    due: u64,
    failed: u64,
    summary: String,
}

/// Clients that never retry.
fn steady(context: &Context, front: SocketAddr, bodies: &std::sync::Arc<[Bytes]>, seconds: u64) -> Outcome {
    let tally: Tally = run(&Flow {
        target: front.into(),
        path: DECIDE,
        bodies: bodies.clone(),
        connections: 4,
        rate: RATE,
        lasts: Duration::from_secs(seconds),
        timeout: Some(Duration::from_secs(2)),
        patience: Duration::from_secs(3),
        seed: context.seed,
    });
    let mut summary = format!("{}, p99 {:.1} ms", tally.summary(), ms(&tally.all_us, 0.99));
    for text in &tally.broken {
        let _ = write!(summary, "; {text}");
    }
    Outcome { due: tally.due, failed: tally.failed(), summary }
}

/// grpcio with round_robin over both replicas and one retry on UNAVAILABLE, as its service config says.
fn python(context: &Context, ports: &Ports, bodies: &[Bytes], seconds: u64) -> Result<Outcome, Trouble> {
    let messages = context.scratch.join("messages.bin");
    let mut file = Vec::new();
    for body in bodies {
        // The gRPC prefix of a frame, without its flag, is the length that the script reads.
        file.extend_from_slice(&body[1..]);
    }
    std::fs::write(&messages, file)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/reliability/round_robin.py");
    let output = Command::new("python3")
        .arg(script)
        .arg(&messages)
        .arg(format!("ipv4:{},{}", ports.grpc[0], ports.grpc[1]))
        .arg(RATE.to_string())
        .arg(seconds.to_string())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let told: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let number = |name: &str| told[name].as_u64().ok_or("the script told no number");
    Ok(Outcome { due: number("due")?, failed: number("failed")?, summary: told["codes"].to_string() })
}

/// A balancer in front of the replicas, stopped when dropped.
struct Proxy(Option<Child>);

impl Proxy {
    fn start(context: &Context, peer: Peer, ports: &Ports) -> Result<Self, Trouble> {
        let (program, text, arguments): (_, _, &[&str]) = match peer {
            Peer::Grpcio => return Ok(Self(None)),
            Peer::Nginx => ("nginx", nginx(ports, &context.scratch), &["-c"]),
            Peer::Haproxy => ("haproxy", haproxy(ports), &["-db", "-f"]),
        };
        let file = context.scratch.join(format!("{program}.conf"));
        std::fs::write(&file, text)?;
        let child = Command::new(program)
            .args(arguments)
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{program}: {error} (Debian packages nginx-light, haproxy)"))?;
        let proxy = Self(Some(child));
        for _ in 0..200 {
            if std::net::TcpStream::connect(ports.front).is_ok() {
                // haproxy wants two good checks before it sends anybody on.
                thread::sleep(Duration::from_millis(1000));
                return Ok(proxy);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Err(format!("{program} does not listen").into())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            signal(child.id(), "TERM");
            let _ = child.wait();
        }
    }
}

/// `non_idempotent` because a decision may be repeated: it changes nothing.
fn nginx(ports: &Ports, scratch: &Path) -> String {
    let scratch = scratch.display();
    format!(
        "daemon off;
worker_processes 1;
error_log {scratch}/nginx-error.log warn;
pid {scratch}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {scratch}/nginx-body;
    proxy_temp_path {scratch}/nginx-proxy;
    fastcgi_temp_path {scratch}/nginx-fastcgi;
    uwsgi_temp_path {scratch}/nginx-uwsgi;
    scgi_temp_path {scratch}/nginx-scgi;
    upstream replicas {{
        server {} max_fails=1 fail_timeout=1s;
        server {} max_fails=1 fail_timeout=1s;
        keepalive 16;
    }}
    server {{
        listen {} http2;
        keepalive_requests 1000000;
        location / {{
            grpc_pass grpc://replicas;
            grpc_connect_timeout 1s;
            grpc_next_upstream error timeout non_idempotent;
            grpc_next_upstream_tries 2;
        }}
    }}
}}
",
        ports.grpc[0], ports.grpc[1], ports.front
    )
}

fn haproxy(ports: &Ports) -> String {
    let mut servers = String::new();
    for which in 0..2 {
        let (grpc, admin) = (ports.grpc[which], ports.admin[which]);
        let _ = writeln!(
            servers,
            "    server replica{which} {grpc} proto h2 check check-proto h1 port {} inter 500ms fall 1 rise 2",
            admin.port()
        );
    }
    format!(
        "global
    maxconn 2000
defaults
    mode http
    timeout connect 1s
    timeout client 60s
    timeout server 60s
    retries 3
    option redispatch 1
    retry-on conn-failure empty-response response-timeout
frontend grpc
    bind {} proto h2
    default_backend replicas
backend replicas
    balance roundrobin
    option httpchk GET /readyz
{servers}",
        ports.front
    )
}
