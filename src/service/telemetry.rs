//! Traces, with the feature `otel`: one span a call with a child for each of its stages, written at the end of the call
//! from the same [`Outcome`] that its log line and its metrics come from. Nothing is recorded on the way but two
//! moments, so a server without an endpoint pays nothing.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId, TraceState,
    Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tonic::Code;

use super::book::Book;
use super::call::{Call, Outcome};
use super::metrics::code_name;
use super::status::{Reason, Stage};

/// Where spans go.
pub struct Telemetry {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Telemetry {
    /// Sends spans to an OTLP collector over gRPC. Called within the runtime that is to carry the connection.
    ///
    /// # Errors
    /// The endpoint is no address.
    pub fn start(endpoint: &str) -> Result<Self, String> {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint).build();
        let exporter = exporter.map_err(|error| format!("--otlp-endpoint {endpoint}: {error}"))?;
        let resource = Resource::builder()
            .with_service_name("understudy")
            .with_attribute(KeyValue::new("service.version", super::VERSION))
            .build();
        let provider = SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build();
        let tracer = provider.tracer("understudy");
        Ok(Self { provider, tracer })
    }

    /// Writes the spans of a call that has ended.
    pub fn call(&self, book: &Book, call: &Call, code: Code, outcome: &Outcome) {
        let total = call.clock.elapsed();
        let arrival = now() - total;
        let parent = call
            .parent
            .as_ref()
            .map_or_else(Context::new, |parent| Context::new().with_remote_span_context(parent.0.clone()));
        let policy = outcome.policy.map_or("", |place| &book.entries()[place].title);
        let mut attributes = vec![
            KeyValue::new("rpc.system.name", "grpc"),
            KeyValue::new("rpc.method", call.method.name()),
            KeyValue::new("rpc.response.status_code", code_name(code)),
            KeyValue::new("understudy.request_id", call.id()),
        ];
        let optional = [
            ("understudy.game", outcome.game),
            ("understudy.policy", policy),
            ("understudy.move_key", &outcome.move_key),
            ("understudy.completion", outcome.completion),
            ("error.type", outcome.reason.map_or("", Reason::name)),
            ("understudy.stage", outcome.stage.map_or("", Stage::name)),
        ];
        let named = optional.into_iter().filter(|(_, value)| !value.is_empty());
        attributes.extend(named.map(|(key, value)| KeyValue::new(key, value.to_owned())));
        let builder = self.tracer.span_builder("decide").with_kind(SpanKind::Server).with_start_time(arrival);
        let mut span = builder.with_attributes(attributes).start_with_context(&self.tracer, &parent);
        // As the conventions for gRPC servers have it: a client's own mistake is no error of this span.
        if matches!(
            code,
            Code::Unknown | Code::DeadlineExceeded | Code::Unimplemented | Code::Internal | Code::Unavailable
        ) {
            span.set_status(Status::error(code_name(code)));
        }
        let under = parent.with_remote_span_context(span.span_context().clone());
        for (name, from, to) in stages(call.received.get().copied(), outcome, total) {
            let child = self.tracer.span_builder(name).with_start_time(arrival + from);
            child.start_with_context(&self.tracer, &under).end_with_timestamp(arrival + to);
        }
        span.end_with_timestamp(arrival + total);
    }

    /// Sends what is left.
    pub fn stop(&self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "spans were lost");
        }
    }
}

/// The stages that a call reached, each from when to when after its arrival.
fn stages(received: Option<Duration>, outcome: &Outcome, total: Duration) -> Vec<(&'static str, Duration, Duration)> {
    let mut stages = Vec::with_capacity(4);
    let Some(received) = received else {
        return stages;
    };
    stages.push(("receive", Duration::ZERO, received));
    if let Some(decided) = outcome.decided {
        let think = decided.saturating_sub(Duration::from_micros(outcome.think_us.into()));
        let queue = think.saturating_sub(Duration::from_micros(outcome.queue_us.into()));
        stages.push(("queue", queue, think));
        stages.push(("think", think, decided));
        stages.push(("encode", decided, total));
    }
    stages
}

#[allow(clippy::disallowed_methods)]
fn now() -> SystemTime {
    SystemTime::now()
}

/// The span of the caller that a W3C `traceparent` names.
#[derive(Clone, Debug)]
pub struct Parent(SpanContext);

impl Parent {
    /// From the parts of a header that was checked already; the flags are those of the fourth part.
    pub fn of(traceparent: &str) -> Option<Self> {
        let mut parts = traceparent.split('-').skip(1);
        let trace = TraceId::from_hex(parts.next()?).ok()?;
        let span = SpanId::from_hex(parts.next()?).ok()?;
        let flags = u8::from_str_radix(parts.next()?.get(..2)?, 16).ok()?;
        let context = SpanContext::new(trace, span, TraceFlags::new(flags), true, TraceState::default());
        context.is_valid().then_some(Self(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_lie_end_to_end() {
        let us = Duration::from_micros;
        let outcome = Outcome { decided: Some(us(45_000)), queue_us: 19_900, think_us: 24_900, ..Outcome::default() };
        let received = Some(us(200));
        let expected = [
            ("receive", us(0), us(200)),
            ("queue", us(200), us(20_100)),
            ("think", us(20_100), us(45_000)),
            ("encode", us(45_000), us(45_300)),
        ];
        assert_eq!(stages(received, &outcome, us(45_300)), expected);
        assert_eq!(stages(received, &Outcome::default(), us(300)).len(), 1);
        assert!(stages(None, &outcome, us(9)).is_empty());
    }

    #[test]
    fn a_parent_is_read_or_left_out() {
        assert!(Parent::of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").is_some());
        for bad in ["", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "00-1-2-3", "00-4bf9-00f0"] {
            assert!(Parent::of(bad).is_none(), "{bad}");
        }
    }
}
