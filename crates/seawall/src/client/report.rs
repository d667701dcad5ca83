//! What a connection measured of itself: the numbers that `seawall doctor` shows.

use seawall_proto::connection::Stats;
use seawall_proto::limits::Limits;
use seawall_proto::mcp::{Quarantined, Revision};

/// The state and the counters of a connection, at one moment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// The negotiated revision.
    pub revision: Revision,
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
    /// Bytes buffered now (L8).
    pub buffered_bytes: usize,
    /// The counters of the connection.
    pub stats: Stats,
    /// The bounds it runs under.
    pub limits: Limits,
}
