//! The handshake: one GET that asks for an upgrade (RFC 6455, section 4.1).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    CONNECTION, HeaderName, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;
use url::Url;

use super::WebSocketFault;
use super::address::dialed;
use super::limits::OPEN_TIMEOUT;
use super::open::Open;
use crate::transport::http::HttpFault;
use crate::web::{Upgrader, is_redirect};

/// What every WebSocket's key is joined with before it is hashed (RFC 6455, section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// One server behind a `ws` or `wss` URL. Debug shows nothing of its address, its headers and its token.
#[derive(Clone)]
pub(crate) struct WebSocketConfig {
    /// The server's address, as configured.
    pub(crate) url: Url,
    /// What the configuration sends along with the handshake, each value marked sensitive.
    pub(crate) headers: HeaderMap,
    /// The bearer token, which goes into the query (T6).
    pub(crate) token: Option<SecretString>,
    pub(crate) upgrader: Upgrader,
    /// The bound on one message that comes in, in bytes, inclusive.
    pub(crate) max_frame_bytes: usize,
    /// The bound on one that goes out.
    pub(crate) max_outbound_frame_bytes: usize,
}

impl fmt::Debug for WebSocketConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocketConfig").finish_non_exhaustive()
    }
}

/// The WebSocket that `config` leads to.
///
/// # Cancel safety
/// Dropping it ends the connection that was being made.
pub(super) async fn dial(config: WebSocketConfig) -> Result<Open, WebSocketFault> {
    match timeout(OPEN_TIMEOUT, upgraded(&config)).await {
        Ok(opened) => opened,
        Err(_) => Err(WebSocketFault::OpenTimeout),
    }
}

async fn upgraded(config: &WebSocketConfig) -> Result<Open, WebSocketFault> {
    let key = new_key()?;
    let token = config.token.as_ref().map(ExposeSecret::expose_secret);
    let request = config
        .upgrader
        .request(&config.url, dialed(&config.url, token))
        .map_err(|refused| WebSocketFault::Unreachable(refused.into()))?;
    let answer = request
        .headers(headers(config, &key))
        .send()
        .await
        .map_err(|error| WebSocketFault::Unreachable(HttpFault::of(&error)))?;
    let status = answer.status();
    if is_redirect(status) {
        return Err(WebSocketFault::Redirect(status.as_u16()));
    }
    if status != StatusCode::SWITCHING_PROTOCOLS {
        return Err(WebSocketFault::Status(status.as_u16()));
    }
    if !is_handshake(answer.headers(), &key) {
        return Err(WebSocketFault::Handshake);
    }
    let connection = answer
        .upgrade()
        .await
        .map_err(|_| WebSocketFault::Handshake)?;
    let (limit, outbound) = (config.max_frame_bytes, config.max_outbound_frame_bytes);
    Ok(Open::over(connection, limit, outbound).await)
}

/// What is configured; and over it, what the handshake itself says.
fn headers(config: &WebSocketConfig, key: &HeaderValue) -> HeaderMap {
    let mut headers = config.headers.clone();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    headers.insert(SEC_WEBSOCKET_KEY, key.clone());
    headers.remove(SEC_WEBSOCKET_EXTENSIONS);
    headers
}

/// Sixteen random bytes, as they are sent.
fn new_key() -> Result<HeaderValue, WebSocketFault> {
    let mut bytes = [0; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| WebSocketFault::Random)?;
    HeaderValue::try_from(STANDARD.encode(bytes)).map_err(|_| WebSocketFault::Random)
}

/// Whether a 101 with these headers belongs to the handshake with `key`, and chose nothing that was not offered.
fn is_handshake(headers: &HeaderMap, key: &HeaderValue) -> bool {
    headers.get(SEC_WEBSOCKET_ACCEPT).map(HeaderValue::as_bytes) == Some(accept(key).as_bytes())
        && names(headers, &UPGRADE, "websocket")
        && names(headers, &CONNECTION, "upgrade")
        && !headers.contains_key(SEC_WEBSOCKET_EXTENSIONS)
        && !headers.contains_key(SEC_WEBSOCKET_PROTOCOL)
}

/// What a server answers to `key`.
fn accept(key: &HeaderValue) -> String {
    let mut joined = key.as_bytes().to_vec();
    joined.extend_from_slice(GUID.as_bytes());
    STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, &joined))
}

/// Whether one of the words of a header is this one.
fn names(headers: &HeaderMap, header: &HeaderName, word: &str) -> bool {
    headers
        .get_all(header)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|said| said.trim().eq_ignore_ascii_case(word))
}
