//! What an entry describes, opened: a process started, or the way to a URL.

use std::sync::Arc;

use seawall_proto::mcp::Revision;
use secrecy::SecretString;

use super::ClientBuilder;
use super::link::{Ends, Http, Link, Opened, Sink, Source, Tree};
use super::secrets::Secrets;
use crate::config::{Endpoint, NetworkConfig, StdioConfig};
use crate::error::ErrorKind;
use crate::redact::{Redactor, RedactorBuilder};
use crate::transport::http::{EventStreamHttp, HttpConfig, StaticBearer, StreamableHttp};
use crate::transport::stdio;
use crate::transport::websocket::{WebSocket, WebSocketConfig};
use crate::web::{Authorize, HttpClient};

/// How messages go to a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Streamable HTTP: 2025-03-26 and later.
    Streamable,
    /// HTTP+SSE: 2024-11-05.
    EventStream,
}

/// The way of one attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) dialect: Dialect,
    /// Whether the first request is a modern one, whose revision stands in a header too.
    pub(super) modern: bool,
}

/// Opens what the entry describes, and gathers the secrets that are given to it.
pub(super) fn open(builder: &ClientBuilder, way: Way) -> Result<(Opened, Secrets), ErrorKind> {
    match builder.config.endpoint() {
        Endpoint::Stdio(entry) => start(entry, builder.config.server()),
        Endpoint::Http(entry) => reach(entry, builder, way),
        Endpoint::WebSocket(entry) => dial(entry, builder),
    }
}

fn start(entry: &StdioConfig, server: &str) -> Result<(Opened, Secrets), ErrorKind> {
    let launch = stdio::Launch::new(entry, std::env::vars_os());
    let redactor =
        Redactor::builder().environment(launch.env.iter().map(|(name, value)| (name, value)));
    let child = stdio::spawn(&launch, server).map_err(ErrorKind::Spawn)?;
    let link = Link {
        sink: Sink::from(child.stdin),
        ends: Ends {
            stdout: Source::new(child.stdout),
            stderr: Some(Source::new(child.stderr)),
            tree: Tree::Process(child.tree),
        },
    };
    Ok((Opened::Stream(link), Secrets::new(redactor, None)))
}

fn reach(
    entry: &NetworkConfig,
    builder: &ClientBuilder,
    way: Way,
) -> Result<(Opened, Secrets), ErrorKind> {
    let client = web(builder)?;
    let mut redactor = given(entry);
    let authorizer: Option<Arc<dyn Authorize>> =
        match (&entry.bearer_token, &entry.bearer_token_env) {
            (Some(token), Some(variable)) => {
                redactor = redactor.token(token.reveal());
                let token = SecretString::from(token.reveal().to_owned());
                Some(Arc::new(StaticBearer::of_variable(variable.clone(), token)))
            }
            _ => builder.authorizer.clone(),
        };
    let login = authorizer.clone();
    let config = HttpConfig {
        url: entry.url.clone(),
        headers: entry.header_map().map_err(ErrorKind::Header)?,
        client,
        authorizer,
        max_frame_bytes: builder.config.limits().max_frame_bytes,
        revision: way.modern.then_some(Revision::V2026_07_28),
    };
    let http = match way.dialect {
        Dialect::Streamable => Http::Streamable(StreamableHttp::new(config)),
        Dialect::EventStream => Http::EventStream(EventStreamHttp::new(config)),
    };
    Ok((Opened::Http(http), Secrets::new(redactor, login)))
}

/// Both ends of a WebSocket, which is dialed by its driver.
fn dial(entry: &NetworkConfig, builder: &ClientBuilder) -> Result<(Opened, Secrets), ErrorKind> {
    let upgrader = web(builder)?.upgrader().map_err(ErrorKind::Http)?;
    let mut redactor = given(entry);
    let mut token = None;
    if let Some(given) = &entry.bearer_token {
        redactor = redactor.token(given.reveal());
        token = Some(SecretString::from(given.reveal().to_owned()));
    }
    let limits = builder.config.limits();
    let socket = WebSocket::new(WebSocketConfig {
        url: entry.url.clone(),
        headers: entry.header_map().map_err(ErrorKind::Header)?,
        token,
        upgrader,
        max_frame_bytes: limits.max_frame_bytes,
        max_outbound_frame_bytes: limits.max_outbound_frame_bytes,
    });
    let link = Link::of_websocket(socket);
    Ok((Opened::Stream(link), Secrets::new(redactor, None)))
}

/// The way to the web: the caller's, or one of its own.
fn web(builder: &ClientBuilder) -> Result<HttpClient, ErrorKind> {
    match &builder.http {
        Some(client) => Ok(client.clone()),
        None => HttpClient::new().map_err(ErrorKind::Http),
    }
}

/// What of an entry is secret besides its token (R1).
fn given(entry: &NetworkConfig) -> RedactorBuilder {
    let headers = entry
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    Redactor::builder().address(&entry.url).headers(headers)
}
