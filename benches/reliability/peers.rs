//! Peers that proofs bring along, each in a process of its own so that its CPU and memory can be told apart: the service
//! with misbehaving policies, and a plain tonic server for contrast.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use tonic::{Request, Response, Status};
use understudy::bot::{
    About, Budget, Evaluated, Limits, Policy, PolicyKind, Referee, Registry, Round, Stopwatch, Turn, Weights, Wire,
    deepen,
};
use understudy::cli::serve::ServeArgs;
use understudy::games::{self, Visitor};
use understudy::pb;
use understudy::pb::bot_service_server::{BotService, BotServiceServer};

use understudy::service;

use crate::Trouble;

/// Takes 5 ms of a core for every decision, then answers as the game's easiest policy.
pub const BUSY: &str = "busy";
/// Searches until it is stopped.
pub const ENDLESS: &str = "endless";
/// Does not look at its budget for 400 ms.
pub const DEAF: &str = "deaf";
/// Panics when asked for exactly [`FATAL`] nodes.
pub const FRAGILE: &str = "fragile";
/// See [`FRAGILE`].
pub const FATAL: u32 = 13;

/// What a [`BUSY`] decision costs.
pub const BUSY_TIME: Duration = Duration::from_millis(5);
const DEAF_TIME: Duration = Duration::from_millis(400);

#[derive(Clone, Copy)]
enum Manner {
    Busy,
    Endless,
    Deaf,
    Fragile,
}

struct Odd<G: Wire> {
    manner: Manner,
    inner: Arc<dyn Policy<G>>,
}

impl<G: Wire> Policy<G> for Odd<G> {
    fn about(&self) -> About {
        let anytime = matches!(self.manner, Manner::Endless);
        let default_limits = if anytime { Limits::NONE.with_time(Duration::from_secs(10)) } else { Limits::NONE };
        let summary = "a peer of the reliability proofs";
        let mut about = About { summary, kind: PolicyKind::Search, anytime, default_limits, ..self.inner.about() };
        about.heeds.nodes = true;
        about.heeds.time = anytime;
        about.aliases = &[];
        about
    }

    fn evaluate(&self, view: &G::View, turn: &mut Turn<'_>) -> Evaluated<G> {
        match self.manner {
            Manner::Busy => spin(BUSY_TIME, Some(turn.budget)),
            Manner::Deaf => spin(DEAF_TIME, None),
            Manner::Fragile if turn.budget.limits().nodes == Some(u64::from(FATAL)) => panic!("a fragile policy"),
            Manner::Fragile => {}
            Manner::Endless => {
                let floor = self.inner.evaluate(view, turn);
                return deepen(floor, turn, |_, _, turn| {
                    loop {
                        turn.budget.tick()?;
                        std::hint::spin_loop();
                        if turn.budget.nodes() == u64::MAX {
                            return Ok(Round::Done);
                        }
                    }
                });
            }
        }
        self.inner.evaluate(view, turn)
    }

    fn weights(&self) -> Vec<Weights<G::Terms>> {
        self.inner.weights()
    }
}

/// Keeps a core busy; `budget` may cut it short.
fn spin(time: Duration, budget: Option<&Budget>) {
    let watch = Stopwatch::start();
    while watch.elapsed() < time && budget.is_none_or(|budget| budget.poll().is_ok()) {
        for _ in 0..1000 {
            std::hint::spin_loop();
        }
    }
}

struct Enrol<'a>(&'a mut Registry);

impl Visitor for Enrol<'_> {
    type Output = ();

    fn visit<G: Referee + Wire>(self) {
        let mut roster = G::roster();
        let Some(inner) = roster.entries.first().map(|entry| Arc::clone(&entry.policy)) else { return };
        for (name, manner) in
            [(BUSY, Manner::Busy), (ENDLESS, Manner::Endless), (DEAF, Manner::Deaf), (FRAGILE, Manner::Fragile)]
        {
            roster = roster.bot(name, Odd { manner, inner: Arc::clone(&inner) });
        }
        self.0.enrol(roster);
    }
}

/// Every game with its policies and the misbehaving ones.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    for key in games::KEYS {
        games::visit(key, Enrol(&mut registry));
    }
    registry
}

/// A plain tonic server, as most are written: no queue, no deadline, the work in the handler. With `spin` 0 it is the
/// bare echo that CPU per call is measured against.
pub fn plain(spin_us: u64) -> Result<(), Trouble> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        // The same two lines as the product, so that one spawner reads both; there is no admin port.
        println!("listening on {0}\nadmin on {0}", listener.local_addr()?);
        let incoming = tonic::transport::server::TcpIncoming::from(listener).with_nodelay(Some(true));
        let service = BotServiceServer::new(Plain { spin: Duration::from_micros(spin_us) });
        tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming).await?;
        Ok(())
    })
}

struct Plain {
    spin: Duration,
}

#[tonic::async_trait]
impl BotService for Plain {
    async fn decide(&self, request: Request<pb::DecideRequest>) -> Result<Response<pb::DecideResponse>, Status> {
        spin(self.spin, None);
        // The work of a handler that reads its request and answers with 590 bytes, as many as a reply with five rows.
        let policy = request.into_inner().policy;
        Ok(Response::new(pb::DecideResponse { request_id: "x".repeat(580), move_key: policy, ..Default::default() }))
    }

    async fn batch_decide(
        &self,
        _: Request<pb::BatchDecideRequest>,
    ) -> Result<Response<pb::BatchDecideResponse>, Status> {
        Err(Status::unimplemented("an echo"))
    }

    async fn list_policies(
        &self,
        _: Request<pb::ListPoliciesRequest>,
    ) -> Result<Response<pb::ListPoliciesResponse>, Status> {
        Err(Status::unimplemented("an echo"))
    }

    async fn get_server_info(
        &self,
        _: Request<pb::GetServerInfoRequest>,
    ) -> Result<Response<pb::GetServerInfoResponse>, Status> {
        Err(Status::unimplemented("an echo"))
    }
}

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    serve: ServeArgs,
}

/// The service with [`registry`], under the flags of `serve`. It runs until it is killed.
pub fn server(words: &[String]) -> Result<ExitCode, Trouble> {
    let flags = Flags::parse_from(words).serve;
    let _guard = service::logs::start(&flags.log_level, true)?;
    let server = service::assemble(flags.config(), registry()).map_err(|problems| problems.join("; "))?;
    println!("listening on {}", server.address());
    if let Some(address) = server.admin_address() {
        println!("admin on {address}");
    }
    server.join();
    Ok(ExitCode::SUCCESS)
}
