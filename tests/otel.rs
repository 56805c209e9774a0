//! Traces, with `--features otel`: a call with a `traceparent` is found again at a collector, under the same trace, with
//! its stages in order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::trace::v1::Span;
use tonic::{Request, Response, Status};
use understudy::pb;
use understudy::pb::bot_service_client::BotServiceClient;
use understudy::service::config::Config;

#[path = "../fuzz/src/positions.rs"]
mod positions;

/// A collector that keeps what it gets.
#[derive(Clone, Default)]
struct Stub(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Stub {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let spans = request.into_inner().resource_spans.into_iter();
        let spans = spans.flat_map(|of| of.scope_spans).flat_map(|of| of.spans);
        self.0.lock().expect("a stub").extend(spans);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_found_at_the_collector_under_its_trace() {
    let stub = Stub::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let collector = listener.local_addr().expect("an address");
    let incoming = tonic::transport::server::TcpIncoming::from(listener);
    let service = TraceServiceServer::new(stub.clone());
    tokio::spawn(tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming));

    let config =
        Config { otlp_endpoint: Some(format!("http://{collector}")), drain_delay: Duration::ZERO, ..Config::default() };
    let server = understudy::service::assemble(config, understudy::games::registry()).expect("a server");
    assert!(server.wait_until_serving(Duration::from_secs(30)));

    let bot = understudy::games::registry().bots().remove(0);
    let view = positions::positions(bot.game(), 1, 1).remove(0);
    let ask = |view: Option<pb::View>| {
        let request = pb::DecideRequest { view, policy: bot.name().to_owned(), ..Default::default() };
        let mut request = Request::new(request);
        let parent = format!("00-{TRACE}-{CALLER}-01");
        request.metadata_mut().insert("traceparent", parent.parse().expect("a header"));
        request
    };
    let channel = tonic::transport::Channel::from_shared(format!("http://{}", server.address())).expect("an address");
    let mut client = BotServiceClient::new(channel.connect().await.expect("a connection"));
    client.decide(ask(Some(view))).await.expect("a decision");
    client.decide(ask(None)).await.expect_err("no view");
    drop(client);

    // Leaving sends what the batch still holds.
    server.drain();
    tokio::task::spawn_blocking(move || server.join()).await.expect("an end");

    let spans = stub.0.lock().expect("a stub").clone();
    assert!(spans.iter().all(|span| hex(&span.trace_id) == TRACE), "a span of another trace");
    let calls: Vec<&Span> = spans.iter().filter(|span| span.name == "decide").collect();
    assert_eq!(calls.len(), 2, "{spans:?}");
    assert!(calls.iter().all(|call| hex(&call.parent_span_id) == CALLER));
    let stages = |call: &Span| -> Vec<Span> {
        let mut stages: Vec<Span> = spans.iter().filter(|span| span.parent_span_id == call.span_id).cloned().collect();
        stages.sort_by_key(|span| (span.start_time_unix_nano, span.end_time_unix_nano));
        stages
    };
    let good = calls.iter().find(|call| stages(call).len() == 4).expect("the call that was decided");
    let mut names: Vec<String> = stages(good).into_iter().map(|span| span.name).collect();
    names.sort();
    assert_eq!(names, ["encode", "queue", "receive", "think"]);
    for stage in stages(good) {
        assert!(good.start_time_unix_nano <= stage.start_time_unix_nano, "{} begins too early", stage.name);
        assert!(stage.end_time_unix_nano <= good.end_time_unix_nano, "{} ends too late", stage.name);
        assert!(stage.start_time_unix_nano <= stage.end_time_unix_nano);
    }
    let attribute = |call: &Span, key: &str| call.attributes.iter().any(|attribute| attribute.key == key);
    assert!(attribute(good, "understudy.policy") && attribute(good, "understudy.move_key"));
    let bad = calls.iter().find(|call| call.span_id != good.span_id).expect("the call that was refused");
    assert!(attribute(bad, "error.type"));
    assert_eq!(stages(bad).len(), 1, "only received");
}
