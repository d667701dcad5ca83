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

use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, Noise};
use seawall_proto::limits::MAX_NOISE_CHARS;
use seawall_proto::mcp::ToolFault;

pub use hidden::Hidden;
pub(crate) use stderr::StderrTail;
pub use stderr::WITHHELD_LINE;

use crate::redact::Redactor;

/// At most this many characters of an error's message reach diagnostics, after redaction.
const MAX_MESSAGE_CHARS: usize = 2_000;
/// The `data` of an error that is longer is passed over: it is never cut.
const MAX_DATA_BYTES: usize = 16 * 1_024;

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
    /// A line of its log: `notifications/message`.
    Log {
        /// Its level, if it is one of the protocol's.
        level: Option<LogLevel>,
        /// Its logger and its data, redacted and bounded.
        text: Hidden,
    },
    /// A request, on a revision whose servers send none; it was not answered.
    ServerRequest,
    /// A tool that was left out of the catalog (L7).
    QuarantinedTool {
        /// Its index in the listing, from 0.
        index: usize,
        /// What is wrong with it.
        reason: ToolFault,
    },
}

/// How grave a line of a server's log is, by its own word (RFC 5424, section 6.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are RFC 5424's")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    /// The levels, and how the protocol writes them.
    const WORDS: [(&'static str, Self); 8] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
        ("critical", Self::Critical),
        ("alert", Self::Alert),
        ("emergency", Self::Emergency),
    ];

    /// The level that the protocol writes so.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::WORDS
            .into_iter()
            .find_map(|(known, level)| (known == word).then_some(level))
    }

    /// The level as the protocol writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::WORDS
            .into_iter()
            .find_map(|(word, level)| (level == self).then_some(word))
            .unwrap_or_default()
    }
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

    /// A line of the server's log: the parameters of `notifications/message`.
    #[must_use]
    pub(crate) fn log(params: &Json, redactor: &Redactor) -> Self {
        let text_of = |name| {
            let value = params.member(name)?;
            let text = value.string().map(|text| text.into_owned());
            Some(text.unwrap_or_else(|| value.as_str().to_owned()))
        };
        let level = text_of("level").and_then(|level| LogLevel::of(&level));
        let words: Vec<String> = ["logger", "data"].into_iter().filter_map(text_of).collect();
        let text = words.join(": ");
        Self::Log {
            level,
            text: Hidden::new(cut(&redactor.redact(&text), MAX_MESSAGE_CHARS)),
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

/// What a server says of an error, redacted.
#[must_use]
pub(crate) fn shown_message(text: &str, redactor: &Redactor) -> Hidden {
    Hidden::new(cut(&redactor.redact(text), MAX_MESSAGE_CHARS))
}

/// What a server says of an error beside its text, redacted; `None` if it is long, or no JSON any more.
#[must_use]
pub(crate) fn shown_data(data: &Json, redactor: &Redactor) -> Option<Json> {
    if data.len() > MAX_DATA_BYTES {
        return None;
    }
    Json::check(redactor.redact(data.as_str()).into_owned()).ok()
}

/// The first so many characters of a text that was redacted.
fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}
