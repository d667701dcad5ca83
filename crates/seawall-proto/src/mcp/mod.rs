//! MCP's own shapes: revisions, the tool catalog, tool results.
//!
//! **Invariant:** what a server sent is kept byte for byte; only what a rule needs is read out of it.

pub mod capabilities;
pub mod catalog;
pub mod result;
pub mod revision;

pub use capabilities::{ClientCapabilities, InputMethod};
pub use catalog::{Catalog, CatalogFault, Quarantined, Tool, ToolFault};
pub use result::{ResultFault, ToolResult};
pub use revision::Revision;
