//! The exporter, and the way between the library's spans and W3C's contexts.
//!
//! Source: OpenTelemetry, "OTLP Exporter Configuration" and "General SDK Configuration".

use std::collections::HashMap;
use std::env;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use seawall_gateway::{Telemetry, TraceContext};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;

use super::client::Client;

const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];
const PROTOCOLS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
];
/// The one that there is.
const PROTOCOL: &str = "http/protobuf";
/// The spans that are exported: those of calls.
const TARGET: &str = "seawall::calls";
/// How long the last batch may take at the end.
const LAST_BATCH: Duration = Duration::from_secs(2);

/// Why spans cannot be exported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    #[error("{variable}: spans are exported as {PROTOCOL} only")]
    Protocol { variable: &'static str },
    #[error("the exporter of OpenTelemetry cannot be made by its variables (OTEL_…): {0}")]
    Exporter(#[source] opentelemetry_otlp::ExporterBuildError),
    #[error("the exporter of OpenTelemetry has no way to the collector: {0}")]
    Client(#[source] std::io::Error),
}

/// Spans on their way to a collector.
#[derive(Debug)]
pub(crate) struct Export {
    provider: SdkTracerProvider,
}

impl Export {
    /// Begins, if the environment names a collector.
    ///
    /// # Errors
    /// It says how in a way that cannot be followed.
    pub(crate) fn begin() -> Result<Option<Self>, ExportError> {
        if !is_wanted(|name| env::var(name).ok()) {
            return Ok(None);
        }
        if let Some(variable) = other_protocol(|name| env::var(name).ok()) {
            return Err(ExportError::Protocol { variable });
        }
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client::new().map_err(ExportError::Client)?)
            .build()
            .map_err(ExportError::Exporter)?;
        let mut resource = Resource::builder();
        if !names_service(|name| env::var(name).ok()) {
            resource = resource.with_service_name("seawall");
        }
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("seawall"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(|metadata| metadata.target() == TARGET));
        let subscriber = tracing_subscriber::registry().with(layer);
        // Nothing else of this process subscribes.
        let _ = tracing::subscriber::set_global_default(subscriber);
        Ok(Some(Self { provider }))
    }

    /// What the gateway tells spans.
    pub(crate) fn telemetry(&self) -> Option<Arc<dyn Telemetry>> {
        Some(Arc::new(Joining))
    }

    /// Sends what there is, for a moment.
    pub(crate) fn end(self) {
        // What the collector does not take by then is lost.
        let _ = self.provider.shutdown_with_timeout(LAST_BATCH);
    }
}

/// Whether a collector is named, and nothing says that it is not meant.
pub(super) fn is_wanted(variable: impl Fn(&str) -> Option<String>) -> bool {
    let says = |name: &str, word: &str| {
        variable(name).is_some_and(|value| value.trim().eq_ignore_ascii_case(word))
    };
    let named = |name: &&str| variable(name).is_some_and(|value| !value.trim().is_empty());
    ENDPOINTS.iter().any(named)
        && !says("OTEL_SDK_DISABLED", "true")
        && !says("OTEL_TRACES_EXPORTER", "none")
}

/// The variable that asks for a protocol that there is not.
pub(super) fn other_protocol(variable: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let (name, value) = PROTOCOLS
        .into_iter()
        .find_map(|name| Some((name, variable(name).filter(|value| !value.is_empty())?)))?;
    (value != PROTOCOL).then_some(name)
}

/// Whether the environment says what the service is called.
pub(super) fn names_service(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable("OTEL_SERVICE_NAME").is_some_and(|name| !name.is_empty())
        || variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| {
            let mut keys = all.split(',').filter_map(|one| one.split_once('='));
            keys.any(|(key, _)| key.trim() == "service.name")
        })
}

/// Between spans and contexts.
#[derive(Debug)]
struct Joining;

impl Telemetry for Joining {
    fn join(&self, span: &Span, parent: Option<&TraceContext>) -> Option<TraceContext> {
        let propagator = TraceContextPropagator::new();
        if let Some(parent) = parent {
            let mut parts = HashMap::from([("traceparent".to_owned(), parent.traceparent.clone())]);
            if let Some(state) = &parent.tracestate {
                parts.insert("tracestate".to_owned(), state.clone());
            }
            let context = propagator.extract(&parts);
            if context.span().span_context().is_valid() {
                // It was not begun yet, so it can have a parent.
                let _ = span.set_parent(context);
            }
        }
        let mut parts = HashMap::new();
        propagator.inject_context(&span.context(), &mut parts);
        let parent = parts.remove("traceparent")?;
        let state = parts.remove("tracestate").filter(|state| !state.is_empty());
        Some(TraceContext::new(parent, state))
    }
}
