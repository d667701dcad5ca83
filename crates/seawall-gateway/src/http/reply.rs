//! Responses.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use seawall_proto::jsonrpc::{
    ErrorObject, HEADER_MISMATCH, INVALID_REQUEST, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
};
use seawall_proto::server::refusal;

/// The body of a response.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// A status and nothing else.
pub(super) fn status(status: StatusCode) -> Response<Body> {
    with(status, empty())
}

/// A request of more than so many bytes. Nobody read so far as to know its id.
pub(super) fn too_long(limit: usize) -> Response<Body> {
    let message = format!("Invalid Request: it is longer than {limit} bytes; nothing was done");
    let told = ErrorObject::new(INVALID_REQUEST, message, None);
    error(StatusCode::PAYLOAD_TOO_LARGE, &refusal(&told))
}

/// No body.
pub(super) fn empty() -> Body {
    Empty::new().boxed_unsync()
}

/// A text of a type.
pub(super) fn text(status: StatusCode, content_type: &'static str, text: Bytes) -> Response<Body> {
    let mut response = with(status, Full::new(text).boxed_unsync());
    let content_type = HeaderValue::from_static(content_type);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}

/// A JSON text.
pub(super) fn json(status: StatusCode, text: Bytes) -> Response<Body> {
    let mut response = with(status, Full::new(text).boxed_unsync());
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// An error frame.
pub(super) fn error(status: StatusCode, frame: &Bytes) -> Response<Body> {
    json(status, frame.clone())
}

/// A stream of events.
pub(super) fn stream(body: Body) -> Response<Body> {
    let mut response = with(StatusCode::OK, body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENT_STREAM);
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    // 2026-07-28, `basic/transports/streamable-http`, "Receiving Messages": proxies are not to gather it.
    let buffering = HeaderName::from_static("x-accel-buffering");
    headers.insert(buffering, HeaderValue::from_static("no"));
    response
}

/// The status of an answer (2026-07-28, `basic/index` and `basic/transports/streamable-http`).
pub(super) fn status_of(error: &ErrorObject) -> StatusCode {
    match error.code {
        METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_PROTOCOL_VERSION => {
            StatusCode::BAD_REQUEST
        }
        _ => StatusCode::OK,
    }
}

/// 405.
pub(super) fn not_allowed() -> Response<Body> {
    let mut response = status(StatusCode::METHOD_NOT_ALLOWED);
    let allow = HeaderValue::from_static("GET, POST, DELETE");
    response.headers_mut().insert(header::ALLOW, allow);
    response
}

/// The session is over, or never was: its client begins a new one (2025-11-25, `basic/transports`, "Session Management").
pub(super) fn session_not_found() -> Response<Body> {
    let gone = ErrorObject::new(INVALID_REQUEST, "Invalid request: no such session", None);
    error(StatusCode::NOT_FOUND, &refusal(&gone))
}

/// The answer to a browser that asks before it sends.
pub(super) fn preflight(asked_headers: Option<HeaderValue>) -> Response<Body> {
    let mut response = status(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static("GET, POST, DELETE");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    if let Some(asked) = asked_headers {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked);
    }
    response
}

/// Lets the page that asked read the response.
pub(super) fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    let exposed = HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}

fn with(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
