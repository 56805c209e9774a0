//! `grpc.health.v1`: readiness as probes and balancers ask for it. It follows the life of the server.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::watch;
use tokio_stream::Stream;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::WatchStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::Health;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use crate::pb::ServerState;

/// Where the server is in its life, and who wants to know.
#[derive(Debug)]
pub struct Life {
    state: watch::Sender<ServerState>,
    /// The same without a lock, for every call.
    fast: AtomicU8,
    /// The listener closes, connections are told to go, unread calls are turned away.
    pub closing: CancellationToken,
    /// Time is up: what is left is cut off.
    pub over: CancellationToken,
}

impl Default for Life {
    fn default() -> Self {
        Self {
            state: watch::Sender::new(ServerState::Starting),
            fast: AtomicU8::new(ServerState::Starting as u8),
            closing: CancellationToken::new(),
            over: CancellationToken::new(),
        }
    }
}

impl Life {
    /// The present state.
    pub fn state(&self) -> ServerState {
        match self.fast.load(Ordering::Relaxed) {
            1 => ServerState::Starting,
            2 => ServerState::Serving,
            _ => ServerState::Draining,
        }
    }

    /// On to the next state. There is no way back.
    pub fn enter(&self, state: ServerState) {
        self.fast.fetch_max(state as u8, Ordering::Relaxed);
        self.state.send_if_modified(|old| {
            let forward = (state as i32) > (*old as i32);
            if forward {
                *old = state;
            }
            forward
        });
    }

    /// Hears every change.
    pub fn watch(&self) -> watch::Receiver<ServerState> {
        self.state.subscribe()
    }
}

/// The service, on the gRPC port and on the admin port.
pub struct HealthService {
    life: Arc<Life>,
    names: Vec<&'static str>,
}

impl HealthService {
    /// Answers for the server as a whole (`""`) and for these services.
    pub fn new(life: Arc<Life>, services: &[&'static str]) -> Self {
        Self { life, names: services.to_vec() }
    }

    fn knows(&self, name: &str) -> bool {
        name.is_empty() || self.names.contains(&name)
    }
}

fn response(state: ServerState) -> HealthCheckResponse {
    let status = if state == ServerState::Serving { ServingStatus::Serving } else { ServingStatus::NotServing };
    HealthCheckResponse { status: status as i32 }
}

#[tonic::async_trait]
impl Health for HealthService {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        if self.knows(&request.get_ref().service) {
            Ok(Response::new(response(self.life.state())))
        } else {
            Err(Status::not_found("unknown service"))
        }
    }

    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        if !self.knows(&request.get_ref().service) {
            return Err(Status::not_found("unknown service"));
        }
        let states = WatchStream::new(self.life.watch());
        Ok(Response::new(Box::pin(states.map(|state| Ok(response(state))))))
    }
}
