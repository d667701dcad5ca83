//! What a connection measured of itself: the numbers that `seawall doctor` shows.

use std::fmt;

use seawall_proto::connection::Stats;
use seawall_proto::limits::Limits;
use seawall_proto::mcp::{Quarantined, Revision};

/// How messages reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// The stdin and stdout of a child process.
    Stdio,
    /// Streamable HTTP: 2025-03-26 and later.
    StreamableHttp,
    /// HTTP+SSE: 2024-11-05.
    EventStream,
    /// A WebSocket, one message per text frame: MCP Live.
    WebSocket,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::StreamableHttp => "Streamable HTTP",
            Self::EventStream => "HTTP+SSE",
            Self::WebSocket => "WebSocket",
        })
    }
}

/// How it was decided whether a server is spoken to with a handshake or without (S3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EraSource {
    /// The entry says so, or the default of its kind does.
    Configured,
    /// An earlier connect found it; see [`ClientBuilder::remembered`](super::ClientBuilder::remembered).
    Remembered,
    /// The server answered `server/discover`.
    Discovered,
    /// The server did not take `server/discover`, or another way before this one.
    FellBack,
}

/// The state and the counters of a connection, at one moment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// The negotiated revision.
    pub revision: Revision,
    /// How messages reach the server.
    pub transport: Transport,
    /// How the era of the revision was found out.
    pub era: EraSource,
    /// The process id of the server, while it is a child.
    pub pid: Option<u32>,
    /// Tools in the catalog.
    pub tools: usize,
    /// Tools left out of it (L7).
    pub quarantined: Vec<Quarantined>,
    /// Pages of the catalog.
    pub catalog_pages: usize,
    /// Bytes of the catalog's pages.
    pub catalog_bytes: usize,
    /// The longest tool name, in bytes.
    pub longest_tool_name: usize,
    /// The largest description plus schema of a tool, in bytes.
    pub largest_tool_document: usize,
    /// Whole lines on stderr.
    pub stderr_lines: u64,
    /// Of these, lines withheld for their length (S12).
    pub stderr_withheld: u64,
    /// Secrets taken out of what was recorded of it (R1).
    pub redactions: u64,
    /// Bytes buffered now (L8).
    pub buffered_bytes: usize,
    /// The counters of the connection.
    pub stats: Stats,
    /// The bounds it runs under.
    pub limits: Limits,
}
