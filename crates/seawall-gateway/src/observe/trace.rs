//! The trace that a call is part of: a span for each call, and where its context comes from and goes to.
//!
//! Source: 2026-07-28, `basic/index`, "OpenTelemetry trace context"; W3C Trace Context.
//!
//! **Invariant:** without [`Telemetry`] nothing of a trace is looked at, and what a client sent goes on unchanged.

use std::fmt;
use std::sync::Arc;

use seawall::Flow;
use seawall_proto::Json;
use tracing::Span;
use tracing::field::Empty;

use super::Ended;

/// A context longer than this is none, in bytes of each part.
const MAX_PART_BYTES: usize = 2_048;

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// A place in a trace, as W3C writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// `traceparent`. Not checked.
    pub traceparent: String,
    /// `tracestate`, if there is one. Not checked.
    pub tracestate: Option<String>,
}

impl TraceContext {
    /// A context of these.
    #[must_use]
    pub fn new(traceparent: String, tracestate: Option<String>) -> Self {
        Self {
            traceparent,
            tracestate,
        }
    }

    /// That of a request's parameters.
    fn of(params: &Json) -> Option<Self> {
        let meta = params.member("_meta")?;
        let part = |name| {
            let part = meta.member(name)?;
            let is_short = part.len() <= MAX_PART_BYTES;
            is_short.then(|| part.string().map(|text| text.into_owned()))?
        };
        Some(Self::new(part(PARENT)?, part(STATE)))
    }

    /// The `_meta` with this context in place of the one that it has.
    pub(crate) fn put_into(&self, meta: &Json) -> Json {
        let mut put = meta.clone();
        for (name, value) in [
            (STATE, self.tracestate.as_ref()),
            (PARENT, Some(&self.traceparent)),
        ] {
            let Some(value) = value.and_then(|value| Json::of(value).ok()) else {
                continue;
            };
            put = match put.member(name) {
                Some(_) => put.with_values(|key, _| (key == name).then(|| value.clone())),
                None => put.with_first(name, &value),
            };
        }
        put
    }
}

/// Where spans are told.
pub trait Telemetry: fmt::Debug + Send + Sync {
    /// Makes the span of a call a part of its client's trace, if that is in one, and says where it is itself. Called once for
    /// each span, before anything else is done with it; return soon.
    fn join(&self, span: &Span, parent: Option<&TraceContext>) -> Option<TraceContext>;
}

/// The span of one call.
#[derive(Debug)]
pub(super) struct Traced {
    span: Span,
    /// Who is to be told of it yet, and its client's context.
    joining: Option<(Arc<dyn Telemetry>, Option<TraceContext>)>,
    context: Option<TraceContext>,
}

impl Traced {
    pub(super) fn begin(
        client: &str,
        telemetry: Option<&Arc<dyn Telemetry>>,
        params: Option<&Json>,
    ) -> Self {
        let span = tracing::info_span!(
            target: "seawall::calls",
            "tools/call",
            "otel.name" = Empty,
            "otel.kind" = "server",
            "otel.status_code" = Empty,
            "mcp.method.name" = "tools/call",
            server = Empty,
            tool = Empty,
            outcome = Empty,
            client,
        );
        let joining = telemetry.map(|telemetry| {
            let parent = params.and_then(TraceContext::of);
            (Arc::clone(telemetry), parent)
        });
        Self {
            span,
            joining,
            context: None,
        }
    }

    pub(super) fn of(&mut self, flow: &Flow) {
        if !self.span.is_disabled() {
            self.span.record("server", flow.server());
            self.span.record("tool", flow.tool());
            let name = format!("tools/call {}", flow.tool());
            self.span.record("otel.name", name.as_str());
        }
        self.join();
    }

    /// Once it has its name, which is final then.
    fn join(&mut self) {
        if let Some((telemetry, parent)) = self.joining.take() {
            self.context = telemetry.join(&self.span, parent.as_ref());
        }
    }

    pub(super) fn ended(&mut self, ended: Ended) {
        self.join();
        self.span.record("outcome", ended.as_str());
        if !ended.is_good() {
            self.span.record("otel.status_code", "ERROR");
        }
        // It is told once nobody has it any longer.
        self.span = Span::none();
    }

    /// Where the call is, once it is known what it calls.
    pub(super) fn context(&self) -> Option<&TraceContext> {
        self.context.as_ref()
    }
}
