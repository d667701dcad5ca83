//! What bounds a WebSocket, besides the size of a frame and the handshake's deadline.

use std::time::Duration;

/// How long a WebSocket may take to stand, names, proxies and TLS included (T6).
pub(super) const OPEN_TIMEOUT: Duration = Duration::from_secs(15);
/// How often the server is pinged. One that nothing at all comes from for two such spans, and one more ping, is gone.
pub(super) const PING_EVERY: Duration = Duration::from_secs(30);
/// Pings in a row without a byte from the server, after which the next one is not sent.
pub(super) const MAX_UNHEARD: u32 = 2;
/// How long the end of a connection may take: the server is told, and may say goodbye.
pub(super) const FAREWELL: Duration = Duration::from_millis(500);
/// Room for one read from the socket.
pub(super) const READ_BYTES: usize = 64 * 1024;
/// What one turn reads before the driver yields to others: small frames are work, however few bytes they are.
pub(super) const TURN_BYTES: usize = 256 * 1024;
/// Frames' worth of messages in one turn; a ping costs a write.
pub(super) const TURN_MESSAGES: usize = 256;
/// What is encoded before it is written; a longer message goes by itself.
pub(super) const WRITE_BYTES: usize = 64 * 1024;
/// What may wait besides our own messages to be written: the answers to pings.
pub(super) const ANSWER_BYTES: usize = 16 * 1024;
/// The head of a frame, at most (RFC 6455, section 5.2).
pub(super) const HEAD_BYTES: usize = 14;
/// A message may come in fragments of one byte, each with a head of two; so many times its length, and no more.
pub(super) const MAX_FRAGMENTATION: usize = 4;
