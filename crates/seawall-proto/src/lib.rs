//! The Model Context Protocol as a pure state machine: bytes and a clock reading in, frames and events out.
//!
//! Nothing here does I/O, reads a clock, spawns or sleeps; the caller does, and hands over what it saw.
//! So every rule about deadlines, cancellation, noise and endings is tested by feeding bytes and moving a number.
//!
//! * [`framing`]: lines out of bytes, and the structure check of one JSON text.
//! * [`jsonrpc`]: what one message is.
//! * [`mcp`]: revisions, catalogs, results.
//! * [`connection`]: one session, from `initialize` to its one terminal reason.
//! * [`server`]: the same from the other side: one client, on either era.
//! * [`limits`]: everything that a peer can size.

pub mod connection;
pub mod framing;
pub mod json;
pub mod jsonrpc;
pub mod limits;
pub mod mcp;
pub mod outcome;
pub mod server;

pub use json::Json;
pub use outcome::{ErrorCode, Outcome};
