//! Names and values of headers.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(super) const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
pub(super) const JSON_OR_EVENT_STREAM: HeaderValue =
    HeaderValue::from_static("application/json, text/event-stream");

const SENTINEL: (&str, &str) = ("=?base64?", "?=");

/// The value of an `Mcp-Name` or `Mcp-Param-*` header.
///
/// Visible ASCII with blanks inside stands as it is; anything else, and what looks encoded already, as
/// `=?base64?…?=` of its UTF-8. Source: 2026-07-28, basic/transports/streamable-http, "Value Encoding".
pub(crate) fn encode_header_value(text: &str) -> HeaderValue {
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let bytes = text.as_bytes();
    let visible = bytes.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    let padded = blank(bytes.first()) || blank(bytes.last());
    let looks_encoded = text.starts_with(SENTINEL.0) && text.ends_with(SENTINEL.1);
    let plain = visible && !padded && !looks_encoded;
    let value = if plain {
        HeaderValue::from_str(text)
    } else {
        let (before, after) = SENTINEL;
        HeaderValue::try_from(format!("{before}{}{after}", STANDARD.encode(text)))
    };
    // Visible ASCII is always a value.
    value.unwrap_or(HeaderValue::from_static(""))
}

/// What an answer says that its body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyType {
    Json,
    Events,
    Other,
}

impl BodyType {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let essence = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split(';').next())
            .unwrap_or_default()
            .trim();
        if essence.eq_ignore_ascii_case("application/json") {
            Self::Json
        } else if essence.eq_ignore_ascii_case("text/event-stream") {
            Self::Events
        } else {
            Self::Other
        }
    }
}

/// How long the server asks to be left alone: seconds, or a date (RFC 9110, section 10.2.3).
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Duration::from_secs);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // One that is past asks for nothing.
    Some(
        date.duration_since(SystemTime::now())
            .unwrap_or(Duration::ZERO),
    )
}
