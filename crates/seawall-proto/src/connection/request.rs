//! What a caller wants, kept where it may have to be said again: each leg of a call says it anew (O4).

use std::borrow::Cow;

use super::wire::{self, Meta};
use crate::json::Json;
use crate::mcp::Catalog;

/// What a transport with headers puts into them beside the body (T2). Not encoded; empty on revisions that have none.
///
/// Source: 2026-07-28, `basic/transports/streamable-http`, "Standard Request Headers".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Route {
    /// `Mcp-Method`.
    pub method: String,
    /// `Mcp-Name`, if the method has one.
    pub name: Option<String>,
    /// `Mcp-Param-*`: what stands behind that prefix, and the value.
    pub params: Vec<(String, String)>,
}

impl Route {
    pub(super) fn of_method(method: &str) -> Box<Self> {
        Box::new(Self {
            method: method.to_owned(),
            ..Self::default()
        })
    }
}

/// A request as its caller made it.
#[derive(Debug, Clone)]
pub(super) enum Request {
    Tool {
        name: Json,
        arguments: Json,
        /// The caller's `_meta`.
        meta: Option<Json>,
    },
    Other {
        method: Cow<'static, str>,
        params: Option<Json>,
        /// The caller's `_meta`, in place of the one in `params`.
        meta: Option<Json>,
    },
}

/// What a leg says beside the request itself.
#[derive(Debug, Default)]
pub(super) struct Continuation {
    /// `inputResponses`, a JSON object.
    pub(super) responses: Option<Vec<u8>>,
    /// `requestState`, exactly as it came.
    pub(super) state: Option<Json>,
}

impl Continuation {
    fn is_nothing(&self) -> bool {
        self.responses.is_none() && self.state.is_none()
    }

    /// Bytes that it keeps alive.
    pub(super) fn held(&self) -> usize {
        self.responses.as_ref().map_or(0, Vec::len) + self.state.as_ref().map_or(0, Json::len)
    }
}

impl Request {
    pub(super) fn method(&self) -> &str {
        match self {
            Self::Tool { .. } => "tools/call",
            Self::Other { method, .. } => method,
        }
    }

    pub(super) fn callers_meta(&self) -> Option<&Json> {
        match self {
            Self::Tool { meta, .. } | Self::Other { meta, .. } => meta.as_ref(),
        }
    }

    /// Whether its answer may ask for input (2026-07-28, `basic/patterns/mrtr`, "Supported Requests").
    pub(super) fn may_be_asked(&self) -> bool {
        matches!(
            self.method(),
            "tools/call" | "prompts/get" | "resources/read"
        )
    }

    /// The frame of one leg.
    pub(super) fn frame(&self, id: u64, meta: &Meta, more: &Continuation) -> Vec<u8> {
        let mut members: Vec<(&'static str, &[u8])> = Vec::new();
        let (params, theirs) = match self {
            Self::Tool {
                name,
                arguments,
                meta: theirs,
            } => {
                if more.is_nothing() && theirs.is_none() {
                    return wire::call_tool(id, name, arguments, meta);
                }
                members.push(("name", name.as_bytes()));
                members.push(("arguments", arguments.as_bytes()));
                (None, theirs)
            }
            Self::Other {
                params,
                meta: theirs,
                ..
            } => (params.as_ref(), theirs),
        };
        if let Some(responses) = &more.responses {
            members.push(("inputResponses", responses));
        }
        if let Some(state) = &more.state {
            members.push(("requestState", state.as_bytes()));
        }
        wire::Request {
            id,
            method: self.method(),
            params,
            members: &members,
            meta,
            theirs: theirs.as_ref(),
            token: true,
        }
        .frame()
    }

    /// What goes into headers.
    pub(super) fn route(&self, catalog: Option<&Catalog>) -> Box<Route> {
        let mut route = Route::of_method(self.method());
        match self {
            Self::Tool {
                name, arguments, ..
            } => {
                route.name = name.string().map(Cow::into_owned);
                let tool = route
                    .name
                    .as_deref()
                    .and_then(|name| catalog.and_then(|catalog| catalog.get(name)));
                if let Some(tool) = tool.filter(|tool| !tool.header_params().is_empty()) {
                    route.params = tool.header_params().values(arguments);
                }
            }
            Self::Other { method, params, .. } => {
                let key = match &**method {
                    "prompts/get" => "name",
                    "resources/read" => "uri",
                    "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
                    _ => return route,
                };
                let value = params.as_ref().and_then(|params| params.member(key));
                route.name = value.and_then(|value| value.string().map(Cow::into_owned));
            }
        }
        route
    }
}
