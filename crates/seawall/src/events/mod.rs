//! What a server said beside the protocol, for a host that asks: an [`Observer`] is told [`Diagnostic`]s.
//!
//! Without an observer nothing is kept. Remote text is redacted, bounded, and [`Hidden`]: it shows
//! itself only to who asks for it by name. Nothing here ever reaches a public error.
//!
//! **Invariant:** redaction comes before any cut.

mod hidden;
mod stderr;
#[cfg(test)]
mod tests;

use seawall_proto::jsonrpc::{ErrorObject, Noise};
use seawall_proto::limits::MAX_NOISE_CHARS;
use seawall_proto::mcp::ToolFault;

pub use hidden::Hidden;
pub(crate) use stderr::StderrTail;
pub use stderr::WITHHELD_LINE;

use crate::redact::Redactor;

/// At most this many characters of an error's message reach diagnostics, after redaction.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// Takes the diagnostics of the connections it is installed on.
pub trait Observer: Send + Sync {
    /// Called with the server's id, by the connection's own task or the one that connects, and under no lock: return soon.
    /// An observer that holds a [`Client`](crate::Client) keeps it alive for ever.
    fn observe(&self, server: &str, diagnostic: &Diagnostic);
}

/// Something that a server did or said beside the protocol.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Diagnostic {
    /// What it wrote to stderr (S12).
    Stderr {
        /// The last `maxStderrBytes` bytes, redacted.
        tail: Hidden,
        /// Lines in all.
        lines: u64,
        /// Those of them that were withheld for their length.
        withheld: u64,
    },
    /// A line on stdout that is no message (S6).
    Noise {
        /// What it was instead.
        kind: Noise,
        /// The first 200 characters, redacted.
        text: Hidden,
    },
    /// An error that answers no request: its `id` is null (S6).
    UncorrelatedError {
        /// Its JSON-RPC code.
        code: i64,
        /// Its message, redacted.
        message: Hidden,
    },
    /// The error that failed a request.
    RemoteError {
        /// Its JSON-RPC code.
        code: i64,
        /// Its message, redacted.
        message: Hidden,
    },
    /// A tool that was left out of the catalog (L7).
    QuarantinedTool {
        /// Its index in the listing, from 0.
        index: usize,
        /// What is wrong with it.
        reason: ToolFault,
    },
}

impl Diagnostic {
    /// What `tail` holds by now.
    #[must_use]
    pub(crate) fn stderr(tail: &StderrTail) -> Self {
        Self::Stderr {
            tail: Hidden::new(tail.text()),
            lines: tail.lines(),
            withheld: tail.withheld(),
        }
    }

    /// A line of noise, redacted and then cut to [`MAX_NOISE_CHARS`] characters.
    #[must_use]
    pub(crate) fn noise(kind: Noise, line: &[u8], redactor: &Redactor) -> Self {
        let text = redactor.redact_bytes_lossy(line);
        Self::Noise {
            kind,
            text: Hidden::new(cut(&text, MAX_NOISE_CHARS)),
        }
    }

    /// An error that answers no request, redacted.
    #[must_use]
    pub(crate) fn uncorrelated_error(error: &ErrorObject, redactor: &Redactor) -> Self {
        Self::UncorrelatedError {
            code: error.code,
            message: Hidden::new(cut(&redactor.redact(&error.message), MAX_MESSAGE_CHARS)),
        }
    }

    /// An error that failed a request, redacted.
    #[must_use]
    pub(crate) fn remote_error(error: &ErrorObject, redactor: &Redactor) -> Self {
        Self::RemoteError {
            code: error.code,
            message: Hidden::new(cut(&redactor.redact(&error.message), MAX_MESSAGE_CHARS)),
        }
    }
}

/// The first so many characters of a text that was redacted.
fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}
