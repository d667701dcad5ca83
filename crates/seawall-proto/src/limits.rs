//! Everything that an untrusted server can size, bounded in one place (BEHAVIOUR L).
//!
//! The defaults are public constants; the fixed bounds are constants that no configuration moves.
//! What each bound does when it is reached is said at the option, and tested at the limit and one past it.

use std::time::Duration;

/// Default of [`Limits::handshake_timeout`]: each handshake or list exchange.
pub const DEFAULT_HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(10_000);
/// Default of [`Limits::request_timeout`]: each whole call.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_millis(120_000);
/// Default of [`Limits::queue_capacity`], in frames.
pub const DEFAULT_QUEUE_CAPACITY: usize = 64;
/// Default of [`Limits::max_frame_bytes`]: 1 MiB.
pub const DEFAULT_MAX_FRAME_BYTES: usize = 1 << 20;
/// Default of [`Limits::max_outbound_frame_bytes`]: 1 MiB.
pub const DEFAULT_MAX_OUTBOUND_FRAME_BYTES: usize = 1 << 20;
/// Default of [`Limits::max_tools`], across all pages.
pub const DEFAULT_MAX_TOOLS: usize = 256;
/// Default of [`Limits::max_tool_name_bytes`].
pub const DEFAULT_MAX_TOOL_NAME_BYTES: usize = 128;
/// Default of [`Limits::max_tool_document_bytes`]: 64 KiB.
pub const DEFAULT_MAX_TOOL_DOCUMENT_BYTES: usize = 65_536;
/// Default of [`Limits::max_catalog_pages`].
pub const DEFAULT_MAX_CATALOG_PAGES: usize = 32;
/// Default of [`Limits::max_stderr_bytes`].
pub const DEFAULT_MAX_STDERR_BYTES: usize = 2_048;
/// Default of [`Limits::max_buffered_bytes`]: 64 MiB.
pub const DEFAULT_MAX_BUFFERED_BYTES: usize = 64 << 20;

/// At most this many nested containers in one message, counting the envelope, in and out (L2). Fixed.
pub const MAX_JSON_DEPTH: usize = 128;
/// A stderr line longer than this is withheld whole (S12). Fixed.
pub const MAX_STDERR_LINE_BYTES: usize = 65_536;
/// At most this many characters of a noise line reach diagnostics, after redaction (S6). Fixed.
pub const MAX_NOISE_CHARS: usize = 200;
/// At most this many bytes of a progress report's text are kept, cut at a character (L6). Fixed.
pub const MAX_PROGRESS_TEXT_BYTES: usize = 4_096;
/// At most this many diagnostic events wait to be taken; later ones are dropped and counted (L6). Fixed.
pub const MAX_WAITING_DIAGNOSTICS: usize = 64;
/// At most this many events wait to be taken before a notification of an extension is dropped and counted (L6). Fixed.
pub const MAX_WAITING_NOTICES: usize = 1_024;
/// At most this many further legs of one call (O4). Fixed.
pub const MAX_LEGS: u32 = 10;
/// At most this many inputs that a server asked for wait to be supplied at once (L6). Fixed.
pub const MAX_INPUTS: usize = 16;
/// At most this many resources are followed, and changes wait to be taken, at once (L6). Fixed.
pub const MAX_SUBSCRIPTIONS: usize = 64;
/// A change of a resource whose URI is longer than this many bytes is passed over (L6). Fixed.
pub const MAX_CHANGED_URI_BYTES: usize = 8_192;
/// Default of [`ServerLimits::max_pending`].
pub const DEFAULT_MAX_PENDING: usize = 256;
/// Default of [`ServerLimits::max_asked`].
pub const DEFAULT_MAX_ASKED: usize = 64;
/// At most this many events of one client wait to be taken before no more of it is read (L6). Fixed.
pub const MAX_WAITING_EVENTS: usize = 1_024;
/// At most this many bytes of a protocol version that a client asks for are said back to it, cut at a character. Fixed.
pub const MAX_REQUESTED_VERSION_BYTES: usize = 64;
/// The largest byte or count limit that a configuration may ask for: 2^53 - 1 (K9).
pub const MAX_LIMIT: u64 = (1 << 53) - 1;
/// The largest timeout that a configuration may ask for, in milliseconds: 2^31 - 1 (K9).
pub const MAX_TIMEOUT_MS: u64 = (1 << 31) - 1;

/// What becomes of a catalog whose entry breaks a rule of its own (L7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum InvalidTools {
    /// The connect fails, naming the entry's index. The default.
    #[default]
    Refuse,
    /// The entry is left out and reported with its index and reason; the others are served.
    Quarantine,
}

/// The bounds on one server. [`Limits::default`] is what a server gets when its entry says nothing.
///
/// Every field is positive; configuration is checked before it reaches here (K9).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bounds each `initialize` and each `tools/list` exchange. `handshakeTimeoutMs`.
    pub handshake_timeout: Duration,
    /// Bounds each whole call, and the wait of a reply for room in the queue. `requestTimeoutMs`.
    pub request_timeout: Duration,
    /// Frames waiting to be written. A call past it waits its turn within its own deadline. `queueCapacity`.
    pub queue_capacity: usize,
    /// UTF-8 bytes of one inbound frame, newline and one CR excluded, inclusive. `maxFrameBytes`.
    pub max_frame_bytes: usize,
    /// UTF-8 bytes of one outbound frame, newline excluded, inclusive. `maxOutboundFrameBytes`.
    pub max_outbound_frame_bytes: usize,
    /// Tools across all pages of a catalog. `maxTools`.
    pub max_tools: usize,
    /// UTF-8 bytes of one tool's name. `maxToolNameBytes`.
    pub max_tool_name_bytes: usize,
    /// UTF-8 bytes of one tool's description plus its `inputSchema` as JSON. `maxToolDocumentBytes`.
    pub max_tool_document_bytes: usize,
    /// Pages of one catalog. `maxCatalogPages`.
    pub max_catalog_pages: usize,
    /// Bytes of the retained tail of stderr. `maxStderrBytes`.
    pub max_stderr_bytes: usize,
    /// Results not yet taken plus frames not yet written, in bytes. `maxBufferedBytes`.
    pub max_buffered_bytes: usize,
    /// What an entry that breaks S9 costs. `invalidTools`.
    pub invalid_tools: InvalidTools,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake_timeout: DEFAULT_HANDSHAKE_TIMEOUT,
            request_timeout: DEFAULT_REQUEST_TIMEOUT,
            queue_capacity: DEFAULT_QUEUE_CAPACITY,
            max_frame_bytes: DEFAULT_MAX_FRAME_BYTES,
            max_outbound_frame_bytes: DEFAULT_MAX_OUTBOUND_FRAME_BYTES,
            max_tools: DEFAULT_MAX_TOOLS,
            max_tool_name_bytes: DEFAULT_MAX_TOOL_NAME_BYTES,
            max_tool_document_bytes: DEFAULT_MAX_TOOL_DOCUMENT_BYTES,
            max_catalog_pages: DEFAULT_MAX_CATALOG_PAGES,
            max_stderr_bytes: DEFAULT_MAX_STDERR_BYTES,
            max_buffered_bytes: DEFAULT_MAX_BUFFERED_BYTES,
            invalid_tools: InvalidTools::Refuse,
        }
    }
}

/// The bounds on one client, where Seawall is the server. Every field is positive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Requests of the client under way at once; one more is refused.
    pub max_pending: usize,
    /// Requests of ours under way at once; one more is not sent.
    pub max_asked: usize,
    /// UTF-8 bytes of one outbound frame, newline excluded, inclusive. A longer answer becomes an error.
    pub max_outbound_frame_bytes: usize,
    /// Frames not yet written, in bytes; past it nothing more is read, and only answers are queued. Also what requests
    /// under way hold, in bytes; one that would pass it is refused.
    pub max_buffered_bytes: usize,
}

impl Default for ServerLimits {
    /// Outbound frames may be one and a half times as long as inbound ones, so that a server's longest result passes.
    fn default() -> Self {
        Self {
            max_pending: DEFAULT_MAX_PENDING,
            max_asked: DEFAULT_MAX_ASKED,
            max_outbound_frame_bytes: DEFAULT_MAX_FRAME_BYTES + DEFAULT_MAX_FRAME_BYTES / 2,
            max_buffered_bytes: DEFAULT_MAX_BUFFERED_BYTES,
        }
    }
}
