//! MCP's own shapes: revisions, the tool catalog, tool results.
//!
//! **Invariant:** what a server sent is kept byte for byte; only what a rule needs is read out of it.

/// The levels of a log (RFC 5424, section 6.2.1), from the least.
pub const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

pub mod capabilities;
pub mod catalog;
pub mod result;
pub mod revision;

pub use capabilities::{ClientCapabilities, InputMethod};
pub use catalog::{Catalog, CatalogFault, Quarantined, Tool, ToolFault};
pub use result::{ResultFault, ToolResult};
pub use revision::Revision;
