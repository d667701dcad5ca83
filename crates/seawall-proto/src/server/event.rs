//! What a server's connection tells its driver, and what it gives it to send.

use std::fmt;

use bytes::Bytes;

use super::RequestMeta;
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, RequestId};
use crate::mcp::Revision;

/// A request of the client, of one connection. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub(super) u64);

/// A request of ours, of one connection. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(pub(super) u64);

/// A request to be answered, by [`respond`](super::ServerConnection::respond).
#[derive(Clone)]
#[non_exhaustive]
pub struct Request {
    /// Which one.
    pub key: RequestKey,
    /// Its id, as the client wrote it.
    pub id: RequestId,
    /// Its method: the client's text.
    pub method: String,
    /// Its parameters, unchanged.
    pub params: Option<Json>,
    /// What it says of itself.
    pub meta: RequestMeta,
}

/// What happened, for the driver. Debug hides what the client wrote.
#[non_exhaustive]
pub enum Event {
    /// The client opened: from now on its era is fixed.
    Opened {
        /// The revision: negotiated, or that of the first request.
        revision: Revision,
        /// The client's name and version, unchanged, if it told: for display only.
        client_info: Option<Json>,
        /// What it can be asked for, unchanged. On modern revisions each request tells that by itself.
        capabilities: Json,
    },
    /// A request to be answered; `initialize` and `server/discover` too, for which see [`Offer`](super::Offer).
    Request(Request),
    /// The client is done with its part of the handshake. Legacy only.
    Initialized,
    /// Any other notification.
    Notification {
        /// Its method: the client's text.
        method: String,
        /// Its parameters, unchanged.
        params: Option<Json>,
    },
    /// The client no longer wants this answered, and it will not be.
    Cancelled(RequestKey),
    /// The client answered a request of ours. Legacy only.
    Answer {
        /// Which one.
        ask: AskId,
        /// The result, unchanged, or the error.
        answer: Result<Json, ErrorObject>,
    },
    /// The connection ended; [`close_reason`](super::ServerConnection::close_reason) says why.
    Closed,
}

/// Why a client's connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// The client ended it: its output ended, or it deleted its session.
    #[error("the client ended it")]
    ClientGone,
    /// A frame passed its bound, so where the next one begins is lost.
    #[error("a frame is longer than {limit} bytes")]
    FrameTooLong {
        /// The bound, in bytes.
        limit: usize,
    },
    /// The driver could not read or write.
    #[error("its transport failed")]
    Transport,
    /// The server ends.
    #[error("the server ends")]
    Shutdown,
}

/// Why something was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// The connection ended.
    #[error("the connection ended")]
    Closed,
    /// The client has not opened yet.
    #[error("the client has not opened yet")]
    NotOpen,
    /// There is no such request under way: it was answered, or cancelled.
    #[error("the request is not under way")]
    NotPending,
    /// The revision has no requests of servers.
    #[error("the revision has no requests of servers")]
    NoRequests,
    /// Too many requests of ours are under way.
    #[error("too many requests of the server are under way")]
    TooManyAsked,
    /// Too much waits to be written: the client does not read.
    #[error("the client does not read what waits for it")]
    Full,
    /// The frame would be longer, or nested deeper, than it may be; an answer became an error.
    #[error("the frame would pass its bound")]
    TooLong,
}

/// Where a frame belongs. Over one stream it does not matter; over HTTP each exchange is a stream of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lane {
    /// The one answer to this request: the last frame of its stream.
    Answer(RequestKey),
    /// Said while this request is under way.
    During(RequestKey),
    /// Of no request.
    Aside,
    /// The answer to a message that could not be read: an error without an id.
    Refusal,
}

/// A frame to be sent: one line, without its newline.
#[derive(Clone)]
#[non_exhaustive]
pub struct Outbound {
    /// Where it belongs.
    pub lane: Lane,
    /// The frame.
    pub frame: Bytes,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("key", &self.key)
            .field("revision", &self.meta.revision)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outbound({:?}, {} bytes)", self.lane, self.frame.len())
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened { revision, .. } => write!(f, "Opened({revision})"),
            Self::Request(request) => write!(f, "{request:?}"),
            Self::Initialized => f.write_str("Initialized"),
            Self::Notification { .. } => f.write_str("Notification"),
            Self::Cancelled(key) => write!(f, "Cancelled({key:?})"),
            Self::Answer { ask, answer } => write!(f, "Answer({ask:?}, ok: {})", answer.is_ok()),
            Self::Closed => f.write_str("Closed"),
        }
    }
}
