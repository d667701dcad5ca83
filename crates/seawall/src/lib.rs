//! An MCP host that keeps untrusted servers on their side of the wall.

pub mod config;
pub mod events;
pub mod flows;
pub mod redact;
pub mod results;

pub use config::ServerConfig;
pub use seawall_proto::limits::{self, InvalidTools, Limits};
