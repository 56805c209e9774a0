//! The admin port, on a runtime and thread of its own: probes and scrapes are answered however busy the rest is.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::json;
use tokio::net::TcpListener;
use tonic::server::NamedService as _;
use tonic_health::pb::health_server::HealthServer;

use super::health::HealthService;
use super::{SERVICES, Shared, json, logs};
use crate::pb::ServerState;

/// Serves until `shared.stopped`.
pub async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let stopped = shared.stopped.clone().cancelled_owned();
    let served = axum::serve(listener, router(shared)).with_graceful_shutdown(stopped).await;
    if let Err(error) = served {
        tracing::error!(%error, "the admin port failed");
    }
}

fn router(shared: Arc<Shared>) -> Router {
    let health = HealthServer::new(HealthService::new(Arc::clone(&shared.life), SERVICES));
    let calls = format!("/{}/{{*method}}", HealthServer::<HealthService>::NAME);
    // Whatever else is asked for is not found: a mistyped probe must not look healthy.
    Router::new()
        .route_service(&calls, health)
        .route("/metrics", get(metrics))
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/info", get(info))
        .with_state(shared)
}

async fn metrics(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let handles = &shared.desk.metrics;
    handles.log_lines_dropped.inc_by(logs::dropped().saturating_sub(handles.log_lines_dropped.get()));
    for (gauge, age) in handles.queue_age.iter().zip(shared.desk.pool.ages()) {
        gauge.set(age.as_secs_f64());
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], handles.text())
}

async fn livez(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    if shared.desk.pool.alive() { (StatusCode::OK, "ok\n") } else { (StatusCode::SERVICE_UNAVAILABLE, "stuck\n") }
}

async fn readyz(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    match shared.life.state() {
        ServerState::Serving => (StatusCode::OK, "ok\n"),
        ServerState::Draining => (StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "starting\n"),
    }
}

async fn info(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let server = json::of("understudy.v1.GetServerInfoResponse", &shared.info());
    let policies = json::of("understudy.v1.ListPoliciesResponse", &shared.policies(""));
    let text = json!({ "server": server, "policies": policies["policies"] }).to_string();
    ([(header::CONTENT_TYPE, "application/json")], text)
}
