//! The front of Streamable HTTP: one endpoint for clients of every revision.
//!
//! 2026-07-28 is served request by request, with nothing kept between two of them; the revisions with a handshake have
//! sessions, a stream for each request and one for what belongs to none, and come back to a stream that broke.
//!
//! Source: 2026-07-28 and 2025-11-25, `basic/transports`, "Streamable HTTP".
//!
//! **Invariant:** nothing of a request is looked at before its `Host` and `Origin` were allowed.
//! **Invariant:** what a client can size is bounded: bodies, sessions, streams, what waits in them, connections.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use seawall_proto::jsonrpc::{ErrorObject, INVALID_REQUEST, Inbound, classify};
use seawall_proto::limits::{DEFAULT_MAX_FRAME_BYTES, ServerLimits};
use seawall_proto::mcp::Revision;
use seawall_proto::server::{Claims, refusal};

use crate::clients::Client;
use crate::service::Service;

mod access;
mod alone;
mod connection;
mod events;
mod gate;
mod headers;
mod listener;
mod pages;
mod reply;
mod sessions;
mod streams;

#[cfg(test)]
mod tests;

pub use access::Access;
pub use listener::listen;
pub use pages::{Page, Pages, Viewer};
pub use reply::Body;

use gate::Gate;
use sessions::Sessions;

/// What the front is bounded by.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Bytes of a request's body, inclusive.
    pub max_body_bytes: usize,
    /// How long a body may take to come.
    pub body_timeout: Duration,
    /// Sessions at once; past it one that nobody is connected to makes room, else none is begun.
    pub max_sessions: usize,
    /// How long a session that nobody is connected to is kept.
    pub session_idle: Duration,
    /// How long a request is waited for before its answer becomes a stream.
    pub patience: Duration,
    /// How often a stream that has nothing to tell says that it is there.
    pub keep_alive: Duration,
    /// How long a client should wait before it comes back to a stream (2025-11-25).
    pub retry: Duration,
    /// How long the headers of a request may take to come, and a connection before its first request.
    pub header_timeout: Duration,
    /// How long a connection that asks for nothing is kept.
    pub connection_idle: Duration,
    /// How long an answer may wait for a client that takes nothing of it.
    pub taking_timeout: Duration,
    /// Connections at once; further ones wait to be accepted.
    pub max_connections: usize,
    /// Of each session.
    pub session: ServerLimits,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            max_body_bytes: DEFAULT_MAX_FRAME_BYTES,
            body_timeout: Duration::from_secs(30),
            max_sessions: 1_024,
            session_idle: Duration::from_secs(30 * 60),
            patience: Duration::from_millis(500),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            header_timeout: Duration::from_secs(10),
            connection_idle: Duration::from_secs(60),
            taking_timeout: Duration::from_secs(30),
            max_connections: 1_024,
            session: ServerLimits::default(),
        }
    }
}

/// The one endpoint. Clones are the same.
pub struct Endpoint<S>(Arc<Inner<S>>);

struct Inner<S> {
    service: Arc<S>,
    access: Access,
    limits: HttpLimits,
    sessions: Sessions,
    gate: Gate,
    pages: OnceLock<Arc<dyn Pages>>,
}

impl<S> Clone for Endpoint<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> std::fmt::Debug for Endpoint<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("access", &self.0.access)
            .finish_non_exhaustive()
    }
}

impl<S: Service> Endpoint<S> {
    /// An endpoint of a service.
    #[must_use]
    pub fn new(service: Arc<S>, access: Access, limits: HttpLimits) -> Self {
        Self(Arc::new(Inner {
            service,
            access,
            limits,
            sessions: Sessions::default(),
            gate: Gate::default(),
            pages: OnceLock::new(),
        }))
    }

    /// Asks from now on who it is that comes; clones do so too. An endpoint that has a guard keeps it.
    #[cfg(feature = "host")]
    #[must_use]
    pub fn guarded(self, guard: Arc<crate::clients::Guard>) -> Self {
        self.0.gate.close(guard);
        self
    }

    /// Serves these pages too, from now on: the endpoint is `/mcp` alone then, and what is neither is not found. Clones
    /// do so too. An endpoint that has pages keeps them.
    #[must_use]
    pub fn beside(self, pages: Arc<dyn Pages>) -> Self {
        let _ = self.0.pages.set(pages);
        self
    }

    /// Answers one HTTP request; whatever its path, unless there are pages [beside](Self::beside) the endpoint.
    ///
    /// # Cancel safety
    /// Dropping it, or the body that it gives, hangs up: a request of 2026-07-28 is dropped with it, one of an earlier
    /// revision goes on.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let inner = &self.0;
        let origin = match inner.access.check(&request) {
            Ok(origin) => origin,
            Err(refused) => {
                return reply::error(StatusCode::FORBIDDEN, &refusal(&refused));
            }
        };
        if let Some(pages) = inner.pages.get()
            && !pages::is_endpoint(request.uri().path())
        {
            let pages = Arc::clone(pages);
            return self.page(&*pages, &request).await;
        }
        let asked_headers = request
            .headers()
            .get(header::ACCESS_CONTROL_REQUEST_HEADERS)
            .cloned();
        let mut response = match inner.gate.open_document(&request) {
            Some(document) => document,
            // A browser asks without the headers that it will send.
            None if origin.is_some() && request.method() == Method::OPTIONS => {
                reply::preflight(asked_headers)
            }
            None => self.admitted(request).await,
        };
        if let Some(origin) = origin {
            reply::allow_origin(response.headers_mut(), origin);
        }
        response
    }

    /// Answers a request for anything beside the endpoint. Pages tell of everything, so they are for clients that may see
    /// everything; what is open says to others whether, and not why.
    async fn page<B>(&self, pages: &dyn Pages, request: &Request<B>) -> Response<Body> {
        let gate = &self.0.gate;
        if let Some(document) = gate.open_document(request) {
            return document;
        }
        let (method, path) = (request.method(), request.uri().path());
        let admitted = gate.admit_to_page(request.headers()).await;
        let viewer = match admitted {
            Ok(client) if !client.is_narrowed() => Viewer::Known,
            _ if pages.is_open(path) => Viewer::Stranger,
            Ok(_) => return pages::forbidden(),
            Err(refused) => return refused,
        };
        pages::answer(pages, method, path, viewer)
    }

    /// Answers a request, once it is known whose it is.
    async fn admitted<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let client = match self.0.gate.admit(request.headers()).await {
            Ok(client) => client,
            Err(refused) => return refused,
        };
        match *request.method() {
            Method::POST => self.post(client, request).await,
            Method::GET => self.get(&client, request.headers()),
            Method::DELETE => self.delete(&client, request.headers()),
            _ => reply::not_allowed(),
        }
    }

    /// Ends every session and what runs for it.
    pub fn close(&self) {
        self.0.sessions.close();
    }

    async fn post<B>(&self, client: Arc<Client>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        if !headers::is_json(&head.headers) {
            return reply::status(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        let limits = &self.0.limits;
        let body = Limited::new(body, limits.max_body_bytes).collect();
        let frame = match tokio::time::timeout(limits.body_timeout, body).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                return reply::too_long(limits.max_body_bytes);
            }
            Ok(Err(_)) => return reply::status(StatusCode::BAD_REQUEST),
            Err(_) => return reply::status(StatusCode::REQUEST_TIMEOUT),
        };
        let message = classify(&frame);
        let params = match &message {
            Ok(Inbound::Request { params, .. } | Inbound::Notification { params, .. }) => {
                params.as_ref()
            }
            _ => None,
        };
        let version = head
            .headers
            .get(headers::VERSION)
            .map(HeaderValue::as_bytes);
        // A version that is none of a session's is one of the revisions that tell it with each request.
        let is_modern =
            Claims::are_in(params) || version.is_some_and(|version| !is_legacy(version));
        if is_modern {
            return self.alone(client, &head.headers, message).await;
        }
        let is_initialize =
            matches!(&message, Ok(Inbound::Request { method, .. }) if method == "initialize");
        match headers::session_id(&head.headers) {
            Some(id) => match self.0.sessions.get(id, &client) {
                Some(entry) => self.in_session(&entry, &frame, message).await,
                None => reply::session_not_found(),
            },
            None if is_initialize => self.begin_session(client, &frame, message).await,
            None => {
                let error = match message {
                    Ok(Inbound::Noise(_)) => "Invalid request: not a JSON-RPC message",
                    Err(_) => "Invalid request: a malformed JSON-RPC message",
                    Ok(_) => {
                        "Invalid request: neither a session (Mcp-Session-Id), nor initialize, nor MCP-Protocol-Version with _meta"
                    }
                };
                let error = ErrorObject::new(INVALID_REQUEST, error, None);
                reply::error(StatusCode::BAD_REQUEST, &refusal(&error))
            }
        }
    }
}

fn is_legacy(version: &[u8]) -> bool {
    std::str::from_utf8(version)
        .ok()
        .and_then(|version| version.trim().parse::<Revision>().ok())
        .is_some_and(Revision::is_legacy)
}
