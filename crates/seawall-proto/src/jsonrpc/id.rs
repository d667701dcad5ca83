//! Request ids: `1` and `"1"` are different, and each goes back exactly as it came.

use std::fmt;

use bytes::Bytes;

use crate::framing::Kind;
use crate::json::{Json, decode_string};

/// A JSON-RPC request id: an integer or a string, kept as its JSON text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RequestId(Bytes);

/// What an id is, to be looked up by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum IdName {
    Integer(String),
    String(String),
}

impl RequestId {
    /// Keeps an id's checked JSON text; `None` where it is neither an integer nor a string.
    pub(crate) fn from_checked(raw: Bytes, kind: Kind) -> Option<Self> {
        let fits = match kind {
            Kind::String => true,
            Kind::Number => !raw.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')),
            _ => false,
        };
        fits.then_some(Self(raw))
    }

    /// The JSON text, quotes included for a string.
    #[must_use]
    pub fn as_json(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The id that a value is, as in `requestId` of `notifications/cancelled`; `None` where it cannot be one.
    #[must_use]
    pub fn of(value: &Json) -> Option<Self> {
        Self::from_checked(Bytes::copy_from_slice(value.as_bytes()), value.kind())
    }

    /// What the id is, however a string was escaped: equal ids have equal names, and `1` and `"1"` do not.
    pub(crate) fn name(&self) -> IdName {
        let text = self.as_json();
        match text
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            Some(inside) => IdName::String(decode_string(inside).text.into_owned()),
            None => IdName::Integer(text.to_owned()),
        }
    }

    /// The id of ours that this answers: a canonical decimal, or the string of one (S6).
    #[must_use]
    pub fn as_ours(&self) -> Option<u64> {
        let text = self.as_json();
        let decoded = text
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .map(|inside| decode_string(inside).text);
        let digits = decoded.as_deref().unwrap_or(text);
        let canonical = digits == "0"
            || (digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0'));
        if canonical { digits.parse().ok() } else { None }
    }
}

impl fmt::Debug for RequestId {
    /// Its kind only: a string id is the server's text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.starts_with(b"\"") {
            "RequestId(string)"
        } else {
            "RequestId(integer)"
        })
    }
}
