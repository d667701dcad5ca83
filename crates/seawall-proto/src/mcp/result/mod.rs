//! A tool's result: checked for its shape, otherwise the server's bytes (O5, S11).

use crate::framing::Kind;
use crate::json::Json;
use crate::jsonrpc::Reply;

#[cfg(test)]
mod tests;

/// What a tool answered. A failed tool is a result too: see [`is_error`](Self::is_error).
///
/// Views are slices of the frame that held it; unknown fields and blocks survive in [`raw`](Self::raw).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    raw: Json,
    content: Option<Json>,
    structured_content: Option<Json>,
    is_error: bool,
    asks: bool,
}

/// Why a complete answer to `tools/call` cannot be used; `invalid_response`, outcome `answered`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ResultFault {
    /// The result is not an object.
    #[error("its result is not an object")]
    NotAnObject,
    /// A member that Seawall reads stands there twice.
    #[error("its result has the same key twice")]
    DuplicateKey,
    /// `content` is present and not an array.
    #[error("its result's `content` is not an array")]
    Content,
    /// Neither `content` nor `structuredContent`.
    #[error("its result has neither `content` nor `structuredContent`")]
    Empty,
    /// `isError` is present and not a boolean.
    #[error("its result's `isError` is not a boolean")]
    IsError,
    /// `structuredContent` breaks the tool's `outputSchema` (S11).
    #[error("its structured result does not match the tool's outputSchema")]
    Structured,
    /// The tool's `outputSchema` cannot be used, or checking against it takes too much work (S11).
    #[error("its structured result cannot be checked against the tool's outputSchema")]
    Unchecked,
}

impl ToolResult {
    /// Checks the shape of a reply to `tools/call`.
    ///
    /// # Errors
    /// [`ResultFault`] names the first rule that it breaks.
    pub fn check(reply: &Reply) -> Result<(), ResultFault> {
        if reply.result.kind() != Kind::Object {
            return Err(ResultFault::NotAnObject);
        }
        if reply.ambiguous {
            return Err(ResultFault::DuplicateKey);
        }
        if reply.asks {
            return Ok(());
        }
        match &reply.content {
            Some(content) if content.kind() != Kind::Array => return Err(ResultFault::Content),
            None if reply.structured_content.is_none() => return Err(ResultFault::Empty),
            _ => {}
        }
        match &reply.is_error {
            Some(flag) if flag.kind() != Kind::Bool => Err(ResultFault::IsError),
            _ => Ok(()),
        }
    }

    /// The result that a reply to `tools/call` holds.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn from_reply(reply: Reply) -> Result<Self, ResultFault> {
        Self::check(&reply)?;
        let is_error = reply
            .is_error
            .is_some_and(|flag| flag.as_bytes() == b"true");
        Ok(Self {
            raw: reply.result,
            content: reply.content,
            structured_content: reply.structured_content,
            is_error,
            asks: reply.asks,
        })
    }

    /// Whether this is no result yet, but asks for input: only of a call whose caller supplies it by calling again
    /// ([`Rounds::Callers`](crate::connection::Rounds::Callers)).
    #[must_use]
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// The whole result, byte for byte.
    #[must_use]
    pub fn raw(&self) -> &Json {
        &self.raw
    }

    /// The content blocks: an array, if present.
    #[must_use]
    pub fn content(&self) -> Option<&Json> {
        self.content.as_ref()
    }

    /// `structuredContent` by presence: `null`, `0` and `false` are values.
    #[must_use]
    pub fn structured_content(&self) -> Option<&Json> {
        self.structured_content.as_ref()
    }

    /// Whether the tool says that it failed. This is the tool's data, not a failure of the call.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}
