//! CPU per call of the server, beside a bare tonic echo of the same message sizes in the same run.
//!
//! `cargo bench --bench service`: rounds of both alternate, so that other load on the machine meets both alike. CPU is
//! the time that the kernel has counted for the threads of each server, the client's threads apart. Exits non-zero when
//! a bar is missed.

// A bench reads the clock.
#![allow(clippy::disallowed_methods)]

#[allow(dead_code)]
#[path = "../tests/grpc/drill.rs"]
mod drill;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use prost::Message as _;
use tonic::body::Body;
use tonic::server::{NamedService, UnaryService};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};
use tonic_prost::ProstCodec;
use understudy::games;
use understudy::pb;
use understudy::pb::bot_service_client::BotServiceClient;
use understudy::service::assemble;
use understudy::service::config::Config;

/// Calls of one round.
const CALLS: usize = 6000;
/// Rounds of each kind.
const ROUNDS: usize = 7;

/// Answers every call with the same bytes: what tonic itself costs.
#[derive(Clone)]
struct Echo {
    reply: Bytes,
}

impl NamedService for Echo {
    const NAME: &'static str = "bench.Echo";
}

impl UnaryService<Bytes> for Echo {
    type Response = Bytes;
    type Future = std::future::Ready<Result<Response<Bytes>, Status>>;

    fn call(&mut self, _request: Request<Bytes>) -> Self::Future {
        std::future::ready(Ok(Response::new(self.reply.clone())))
    }
}

impl tower::Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let echo = self.clone();
        Box::pin(async move {
            let codec: ProstCodec<Bytes, Bytes> = ProstCodec::default();
            Ok(tonic::server::Grpc::new(codec).unary(echo, request).await)
        })
    }
}

/// Starts the echo on one thread of its own, named `echo`.
fn start_echo(reply: Bytes) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let address = listener.local_addr().expect("an address");
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            let incoming = tonic::transport::server::TcpIncoming::from(listener).with_nodelay(Some(true));
            let server = tonic::transport::Server::builder().add_service(Echo { reply });
            server.serve_with_incoming(incoming).await.expect("the echo serves");
        });
    };
    std::thread::Builder::new().name("echo".to_owned()).spawn(run).expect("a thread");
    address
}

/// Nanoseconds of CPU that threads with this name have used.
fn cpu(name: &str) -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a Linux kernel");
    let used = tasks.filter_map(Result::ok).filter_map(|task| {
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).ok();
        (read("comm")?.trim() == name).then(|| read("schedstat")?.split(' ').next()?.parse::<u64>().ok()).flatten()
    });
    used.sum()
}

/// One kind of call.
#[derive(Clone)]
enum Caller {
    Echo(tonic::client::Grpc<Channel>, Bytes),
    Decide(Box<(BotServiceClient<Channel>, pb::DecideRequest)>),
}

impl Caller {
    async fn call(&mut self) -> Code {
        match self {
            Self::Echo(client, request) => {
                client.ready().await.expect("open");
                let codec: ProstCodec<Bytes, Bytes> = ProstCodec::default();
                let path = http::uri::PathAndQuery::from_static("/bench.Echo/Call");
                let reply = client.unary(Request::new(request.clone()), path, codec).await;
                reply.map_or_else(|status| status.code(), |_| Code::Ok)
            }
            Self::Decide(caller) => {
                let (client, request) = &mut **caller;
                client.decide(request.clone()).await.map_or_else(|status| status.code(), |_| Code::Ok)
            }
        }
    }
}

/// `CALLS` calls over these callers, `each` at a time on each; the latencies.
async fn round(callers: &[Caller], each: usize, calls: usize, expected: Code) -> Vec<Duration> {
    let mut tasks = tokio::task::JoinSet::new();
    let share = calls / (callers.len() * each);
    for caller in callers {
        for _ in 0..each {
            let mut caller = caller.clone();
            tasks.spawn(async move {
                let mut times = Vec::with_capacity(share);
                for _ in 0..share {
                    let start = Instant::now();
                    assert_eq!(caller.call().await, expected);
                    times.push(start.elapsed());
                }
                times
            });
        }
    }
    let mut times = Vec::with_capacity(calls);
    while let Some(more) = tasks.join_next().await {
        times.extend(more.expect("a task"));
    }
    times
}

fn median<T: Copy + PartialOrd>(values: &mut [T]) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    values[values.len() / 2]
}

async fn connect(address: SocketAddr) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    endpoint.tcp_nodelay(true).connect().await.expect("accepted")
}

async fn deciders(address: SocketAddr, request: &pb::DecideRequest, count: usize) -> Vec<Caller> {
    let mut callers = Vec::new();
    for _ in 0..count {
        callers.push(Caller::Decide(Box::new((BotServiceClient::new(connect(address).await), request.clone()))));
    }
    callers
}

/// The allocator of the program, so that the figures are those of the program.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let client = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let server = assemble(Config::default(), games::registry()).expect("the server starts");
    assert!(server.wait_until_serving(Duration::from_secs(20)));
    let registry = games::registry();
    let view = registry.games().find(|game| game.key() == "lexio").and_then(|game| game.samples(1).pop());
    let request = pb::DecideRequest { view, policy: "easy".to_owned(), ..Default::default() };
    let reply = client.block_on(async {
        let mut client = BotServiceClient::new(connect(server.address()).await);
        client.decide(request.clone()).await.expect("a decision").into_inner()
    });
    let (asked, answered) = (request.encoded_len(), reply.encoded_len());
    let echo = start_echo(vec![7; answered].into());
    println!("request {asked} bytes, reply {answered} bytes, move {}", reply.move_key);

    let mut figures: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut medians: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    client.block_on(async {
        let mut echoes = Vec::new();
        for _ in 0..2 {
            let grpc = tonic::client::Grpc::new(connect(echo).await);
            echoes.push(Caller::Echo(grpc, Bytes::from(vec![7; asked])));
        }
        let ours = deciders(server.address(), &request, 2).await;
        for place in 0..=ROUNDS {
            for (name, callers, thread) in [("echo", &echoes, "echo"), ("easy", &ours, "rpc")] {
                let before = cpu(thread);
                let times = round(callers, 8, CALLS, Code::Ok).await;
                let spent = (cpu(thread) - before) as f64 / 1e3 / times.len() as f64;
                let mut alone: Vec<_> = round(&callers[..1], 1, CALLS / 10, Code::Ok).await;
                // The first round warms up.
                if place > 0 {
                    figures.entry(name).or_default().push(spent);
                    medians.entry(name).or_default().push(median(&mut alone).as_secs_f64() * 1e6);
                }
            }
        }
    });
    let refusal = refusals(&client, &request);
    let figure = |map: &mut BTreeMap<&str, Vec<f64>>, name: &str| median(map.get_mut(name).expect("measured"));
    let (echo, easy) = (figure(&mut figures, "echo"), figure(&mut figures, "easy"));
    let (echo_p50, easy_p50) = (figure(&mut medians, "echo"), figure(&mut medians, "easy"));
    println!("CPU per call, 2 connections x 8, median of {ROUNDS} rounds of {CALLS} calls:");
    let mut missed = 0;
    let mut line = |what: &str, value: f64, beside: f64, bar: f64| {
        let ratio = value / beside;
        let verdict = if ratio <= bar { "ok" } else { "MISSED" };
        missed += u8::from(ratio > bar);
        println!("  {what:<28} {value:7.1} us  echo {beside:7.1} us  {ratio:5.2} x (bar {bar:.1})  {verdict}");
    };
    line("easy, TOP", easy, echo, 2.0);
    line("refusal, queue full", refusal, echo, 1.2);
    line("easy, TOP, p50 at 1 x 1", easy_p50, echo_p50, 1.6);
    ExitCode::from(u8::from(missed > 0))
}

/// CPU of a refusal: the worker and the one place in the queue are held by searches of four seconds.
fn refusals(client: &tokio::runtime::Runtime, request: &pb::DecideRequest) -> f64 {
    let config = Config { workers: 1, queue: 1, ..Config::default() };
    let server = assemble(config, drill::registry()).expect("the server starts");
    assert!(server.wait_until_serving(Duration::from_secs(20)));
    let hold = pb::DecideRequest {
        policy: "spin".to_owned(),
        budget: Some(pb::Budget { max_time_us: Some(4_000_000), ..Default::default() }),
        ..request.clone()
    };
    let refused = pb::DecideRequest { policy: "five_ms".to_owned(), ..request.clone() };
    client.block_on(async {
        let mut holders = tokio::task::JoinSet::new();
        for mut holder in deciders(server.address(), &hold, 2).await {
            holders.spawn(async move { holder.call().await });
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let callers = deciders(server.address(), &refused, 2).await;
        round(&callers, 8, 800, Code::ResourceExhausted).await;
        let before = cpu("rpc");
        let times = round(&callers, 8, CALLS, Code::ResourceExhausted).await;
        (cpu("rpc") - before) as f64 / 1e3 / times.len() as f64
    })
}
