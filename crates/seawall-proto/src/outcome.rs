//! The two words that every failure carries: what it was, and what became of the request.

use std::fmt;

/// What became of a request, decided only by what crossed the transport (O2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing of the request reached the server.
    NotSent,
    /// The server refused it: a JSON-RPC error, or an HTTP refusal.
    ErrorResponse,
    /// The server answered completely, and the answer cannot be used.
    Answered,
    /// Unknown: it may have been carried out. Verify state before retrying.
    NoResponse,
}

impl Outcome {
    /// The outcome as it stands in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::ErrorResponse => "error_response",
            Self::Answered => "answered",
            Self::NoResponse => "no_response",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The class of a failure (O1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The server's process could not be started.
    SpawnFailed,
    /// The session ended.
    ConnectionClosed,
    /// A deadline passed.
    Timeout,
    /// One side broke the protocol, or a bound on what may be sent.
    ProtocolError,
    /// The server does not offer the tool.
    ToolNotFound,
    /// The server answered the call with an error.
    ToolFailed,
    /// The answer is complete and unusable.
    InvalidResponse,
    /// A grant, an envelope or an egress policy does not cover the request.
    CapabilityRefused,
    /// The configuration is wrong.
    Configuration,
}

impl ErrorCode {
    /// The code as it stands in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SpawnFailed => "spawn_failed",
            Self::ConnectionClosed => "connection_closed",
            Self::Timeout => "timeout",
            Self::ProtocolError => "protocol_error",
            Self::ToolNotFound => "tool_not_found",
            Self::ToolFailed => "tool_failed",
            Self::InvalidResponse => "invalid_response",
            Self::CapabilityRefused => "capability_refused",
            Self::Configuration => "configuration",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
