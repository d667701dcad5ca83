//! An MCP host that keeps untrusted servers on their side of the wall.

pub mod config;
pub mod flows;

pub use config::ServerConfig;
pub use seawall_proto::limits::{self, InvalidTools, Limits};
