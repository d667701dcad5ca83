//! What one message is: notification, request, response, or noise beside the protocol.
//!
//! Source: JSON-RPC 2.0 as narrowed by the revisions' `basic/index` pages; noise and endings by S6.
//!
//! **Invariant:** an error says what rule broke, never what the peer wrote.

use std::fmt;

use bytes::Bytes;

use crate::framing::{Child, Kind, scan};
use crate::json::{Json, decode_string};
use crate::limits::MAX_JSON_DEPTH;

mod envelope;
mod error;
mod id;

#[cfg(test)]
mod tests;

pub(crate) use error::is_modern_code;
pub use error::{
    ErrorObject, HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST,
    METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY, PARSE_ERROR, UNSUPPORTED_PROTOCOL_VERSION,
    URL_ELICITATION_REQUIRED,
};
pub(crate) use id::IdName;
pub use id::RequestId;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One frame, classified.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Inbound {
    /// Not protocol traffic: dropped and counted.
    Noise(Noise),
    /// A request of the peer.
    Request {
        /// Its id, exactly as it was written.
        id: RequestId,
        /// Its method.
        method: String,
        /// Its parameters, if any.
        params: Option<Json>,
    },
    /// A notification of the peer.
    Notification {
        /// Its method.
        method: String,
        /// Its parameters, if any.
        params: Option<Json>,
    },
    /// The answer to a request of ours.
    Response {
        /// The id that it answers.
        id: RequestId,
        /// The result, or the error.
        answer: Result<Reply, ErrorObject>,
    },
    /// An error that answers no request: its id is null or absent.
    UncorrelatedError(ErrorObject),
    /// An array: a batch where the revision has batches, see [`for_each_element`]; noise elsewhere.
    Array,
}

/// A result, and where its well-known members stand: found in the one pass that classified the frame.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The whole result.
    pub result: Json,
    /// `content`, if present.
    pub content: Option<Json>,
    /// `structuredContent`, if present: `null`, `0` and `false` are values (S11).
    pub structured_content: Option<Json>,
    /// `isError`, if present.
    pub is_error: Option<Json>,
    /// `resultType`, if present (2026-07-28, `basic/index`, "Responses").
    pub result_type: Option<Json>,
    /// Whether one of these members stands there twice.
    pub ambiguous: bool,
    /// Whether it asks for input, which its caller supplies: a connection says so
    /// ([`Rounds::Callers`](crate::connection::Rounds::Callers)).
    pub asks: bool,
}

impl Reply {
    /// The same, to be answered by its caller.
    pub(crate) fn of_caller(mut self) -> Self {
        self.asks = true;
        self
    }
}

/// Why a frame is noise (S6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Noise {
    /// Nothing but white space.
    Blank,
    /// Not JSON, or not UTF-8.
    NotJson,
    /// A string, a number, a boolean or null.
    Scalar,
    /// An array where the revision has no batches.
    Array,
    /// An object without a `jsonrpc` of its own.
    Untagged,
    /// The body of an HTTP refusal that is no error, whatever else it says it is.
    NoError,
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blank => "a blank line",
            Self::NotJson => "a line that is not JSON",
            Self::Scalar => "a JSON scalar",
            Self::Array => "a JSON array",
            Self::Untagged => "an object without `jsonrpc`",
            Self::NoError => "the body of a refusal that is no error",
        })
    }
}

/// Why a tagged message breaks the protocol; it ends the session (S5, S6, L2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// `jsonrpc` is not "2.0".
    #[error("its `jsonrpc` is not \"2.0\"")]
    Version,
    /// A key stands twice in the envelope.
    #[error("a key stands twice in its envelope")]
    DuplicateKey,
    /// `method` is not a string.
    #[error("its `method` is not a string")]
    Method,
    /// `params` is neither an object nor an array.
    #[error("its `params` is neither an object nor an array")]
    Params,
    /// `id` is neither an integer nor a string.
    #[error("its `id` is neither an integer nor a string")]
    Id,
    /// A request or notification that also carries `result` or `error`.
    #[error("it is a request and a reply at once")]
    RequestAndReply,
    /// Both `result` and `error`.
    #[error("it carries both a result and an error")]
    ResultAndError,
    /// Neither `method`, `result` nor `error`.
    #[error("it is neither a request nor a reply")]
    Empty,
    /// A result without an id, or with a null id.
    #[error("its result answers no request")]
    ResultWithoutId,
    /// `error` is not an object with an integer `code` and a string `message`.
    #[error("its `error` lacks an integer code or a message")]
    ErrorObject,
    /// More than [`MAX_JSON_DEPTH`] nested containers.
    #[error("it nests deeper than {MAX_JSON_DEPTH} containers")]
    TooDeep,
    /// A number that is infinite as a double.
    #[error("one of its numbers is too large")]
    NumberOverflow,
}

/// Classifies one frame, in one pass over it.
///
/// A byte-order mark before it is skipped. Results and parameters are slices of `frame`, which stays alive with them.
///
/// # Errors
/// [`Malformed`] if the frame claims to be JSON-RPC and is not valid.
pub fn classify(frame: &Bytes) -> Result<Inbound, Malformed> {
    let start = if frame.starts_with(BYTE_ORDER_MARK) {
        3
    } else {
        0
    };
    let frame = frame.slice(start..);
    let Ok(text) = std::str::from_utf8(&frame) else {
        return Ok(Inbound::Noise(Noise::NotJson));
    };
    if text.trim_ascii().is_empty() {
        return Ok(Inbound::Noise(Noise::Blank));
    }
    let mut envelope = envelope::Envelope::default();
    let Ok(found) = scan(text, |child: &Child| envelope.take(text, child)) else {
        return Ok(Inbound::Noise(Noise::NotJson));
    };
    match found.root {
        Kind::Array => return Ok(Inbound::Array),
        Kind::Object => {}
        _ => return Ok(Inbound::Noise(Noise::Scalar)),
    }
    if !envelope.tagged() {
        return Ok(Inbound::Noise(Noise::Untagged));
    }
    if found.depth > MAX_JSON_DEPTH {
        return Err(Malformed::TooDeep);
    }
    if !found.finite {
        return Err(Malformed::NumberOverflow);
    }
    envelope.into_message(text, &frame)
}

/// Tells each element of a frame that [`classify`] found to be an [array](Inbound::Array), a slice of it.
///
/// Source: 2025-03-26, `basic/index`, "Batching"; JSON-RPC 2.0, section 6.
pub fn for_each_element(frame: &Bytes, mut visit: impl FnMut(Bytes)) {
    let start = if frame.starts_with(BYTE_ORDER_MARK) {
        3
    } else {
        0
    };
    let frame = frame.slice(start..);
    if let Ok(text) = std::str::from_utf8(&frame) {
        // The frame was scanned whole before, so this scan cannot fail.
        let _ = scan(text, |child: &Child| {
            if child.level == 1 && child.key.is_none() {
                visit(frame.slice(child.value.clone()));
            }
        });
    }
}

/// Tells each message of a batch, with a frame of its own: a copy, so that what is kept of one does not keep the whole batch
/// alive. How many there were.
pub fn for_each_message(
    batch: &Bytes,
    mut visit: impl FnMut(&Bytes, Result<Inbound, Malformed>),
) -> usize {
    let mut messages = 0;
    for_each_element(batch, |element| {
        messages += 1;
        let element = Bytes::copy_from_slice(&element);
        let message = classify(&element);
        visit(&element, message);
    });
    messages
}

/// The text inside a JSON string's quotes, decoded; `None` for any other kind.
fn string_of(raw: &str) -> Option<String> {
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    Some(decode_string(inside).text.into_owned())
}
