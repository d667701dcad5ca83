//! WebSocket: one JSON-RPC message per text frame, as MCP Live has it (T6).
//!
//! A [`WebSocket`] is both ends of one connection. It takes and gives lines, as a pipe would, so that the driver of pipes
//! drives it too: a line going out is one text frame, a text frame coming in is one line. It is dialed by whoever reads
//! from it first, in place: nothing here is spawned, and letting go of it ends the dial at once. It never looks into a
//! JSON-RPC body.
//!
//! The handshake's request goes the way of every other request to the web, with its trust, its proxies and its egress
//! policy; tungstenite knows the frames.
//!
//! **Invariant:** what is configured (headers, the token) goes to the configured origin alone: no redirect is followed.
//! **Invariant:** a message is never held beyond `maxFrameBytes`, whatever it claims and in however many fragments it
//! comes; and one turn takes a bounded number of bytes and messages.

mod address;
mod dial;
mod fault;
mod limits;
mod metered;
mod open;
mod socket;
#[cfg(test)]
mod tests;

pub(crate) use dial::WebSocketConfig;
pub(crate) use fault::WebSocketFault;
pub(crate) use socket::WebSocket;
