//! Servers that misbehave on purpose, for Seawall's own tests: a stdio MCP server that follows a [`Script`] line by line.
//!
//! A test writes a [`Script`], turns it into a [`Server`] (a program and its arguments) and lets the code under test
//! launch that. The script says what is read, what is written byte for byte, and how the process ends.
//! Without a script, `scripted-server plain` is an honest server with the tools `echo`, `sleep` and `fail`, and
//! `scripted-server echo --bytes N` is the fastest honest server that one loop can be, for benchmarks.
//!
//! [`HttpPeer`] is an HTTP server in the test's own process that does what the test says, byte for byte, [`WsPeer`] a
//! WebSocket server that runs the test's own code. [`McplServer`] is a server with the MCP Live extension, over stdio or a
//! WebSocket.
//!
//! This crate is for tests only: where a test could not go on anyway it panics.
//!
//! `everything-server` is a server of good will, with all that the official conformance suite asks a server for.
//!
//! **Invariant:** no scripted process outlives [`LIFETIME`], whatever becomes of the test; `everything-server` ends with its
//! stdin.

mod door;
mod http_peer;
mod locate;
mod mcpl;
mod peer;
mod process;
mod rules;
mod script;
mod ws_peer;

#[cfg(unix)]
pub mod server;

use std::time::Duration;

pub use http_peer::{HttpAct, HttpPeer, HttpRequest, TEST_ROOT, test_tls};
pub use locate::{everything_path, server_path};
pub use mcpl::{
    McplAct, McplAnswer, McplPeer, McplServer, mcpl_incoming, mcpl_notification, mcpl_push,
    mcpl_register, mcpl_request, mcpl_wait,
};
pub use peer::RealPeer;
pub use process::{
    ProcessState, is_alive, is_zombie, pause, process_state, wait_for_pid, wait_until,
};
pub use rules::{CallRule, Grandchild, Serve, Until, tool};
pub use script::{Raw, Script, Server, Step, Stream};
pub use ws_peer::{WsMessage, WsPeer, WsSocket, ws_frame};

/// How long a scripted process lives at most.
pub const LIFETIME: Duration = Duration::from_secs(300);
/// Exit status of a script that was given a line it did not expect, or the end of input instead of a line.
pub const EXIT_UNEXPECTED: u8 = 70;
/// Exit status of a script whose own input or output failed, for example because the host closed the pipe.
pub const EXIT_IO: u8 = 74;
/// Exit status of a wrong command line or a script that is not one.
pub const EXIT_USAGE: u8 = 64;
