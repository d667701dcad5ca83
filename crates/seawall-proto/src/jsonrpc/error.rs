//! The `error` member of a response.

use std::fmt;

use bytes::Bytes;

use crate::framing::Kind;
use crate::json::Json;

/// -32700: the text is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// -32600: the JSON is not a message that may be sent here.
pub const INVALID_REQUEST: i64 = -32600;
/// -32601: the method does not exist.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// -32602: the parameters are wrong.
pub const INVALID_PARAMS: i64 = -32602;
/// -32603: the peer failed.
pub const INTERNAL_ERROR: i64 = -32603;
/// -32020: a header and the body disagree (2026-07-28, `basic/transports/streamable-http`).
pub const HEADER_MISMATCH: i64 = -32020;
/// -32021: the request needs a capability that the client did not declare (2026-07-28, `basic/index`).
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// Pages have to be visited before the request is made again; of 2025-11-25 alone (`client/elicitation`).
pub const URL_ELICITATION_REQUIRED: i64 = -32_042;
/// -32022: the protocol version is not supported (2026-07-28, `basic/index`).
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

/// A JSON-RPC error as the peer sent it. Debug shows its code only: the rest is remote text.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ErrorObject {
    /// Its code.
    pub code: i64,
    /// Its message: remote text, for diagnostics only.
    pub message: String,
    /// Its data, if any: remote, for diagnostics only.
    pub data: Option<Json>,
}

impl ErrorObject {
    /// An error of these parts.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>, data: Option<Json>) -> Self {
        Self {
            code,
            message: message.into(),
            data,
        }
    }

    /// Reads a checked `error` value; `None` unless it has an integer code and a string message, each once.
    pub(crate) fn from_checked(raw: Bytes) -> Option<Self> {
        let raw = Json::part_of_checked(raw);
        let [code, message, data] = raw.pick(["code", "message", "data"]).ok()?;
        let (code, message) = (code?, message?);
        if code.kind() != Kind::Number {
            return None;
        }
        Some(Self {
            code: code.as_str().parse().ok()?,
            message: message.string()?.into_owned(),
            data,
        })
    }

    /// As it stands in an envelope.
    #[must_use]
    pub fn to_json(&self) -> String {
        let message = serde_json::Value::from(self.message.as_str());
        let data = self
            .data
            .as_ref()
            .map_or_else(String::new, |data| format!(",\"data\":{}", data.as_str()));
        format!("{{\"code\":{},\"message\":{message}{data}}}", self.code)
    }

    /// Whether only a server of 2026-07-28 or later says so: evidence of its era (S3).
    #[must_use]
    pub fn is_modern(&self) -> bool {
        is_modern_code(self.code)
    }

    /// Whether the server says that it has no such tool (O3).
    #[must_use]
    pub fn says_tool_not_found(&self) -> bool {
        if self.code != METHOD_NOT_FOUND && self.code != INVALID_PARAMS {
            return false;
        }
        let text = self.message.to_lowercase();
        text.contains("tool")
            && ["unknown", "unrecognized", "no such", "not found"]
                .iter()
                .any(|words| text.contains(words))
    }
}

impl fmt::Debug for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorObject")
            .field("code", &self.code)
            .finish_non_exhaustive()
    }
}

/// Whether only a server of 2026-07-28 or later answers with this code.
pub(crate) fn is_modern_code(code: i64) -> bool {
    matches!(
        code,
        HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_PROTOCOL_VERSION
    )
}
