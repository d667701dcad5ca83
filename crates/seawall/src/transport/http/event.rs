//! What goes in and what comes out.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use seawall_proto::ErrorCode;
use seawall_proto::connection::{ExchangeFault, Handover, Obstacle};
use seawall_proto::mcp::Revision;
use url::Url;

use super::HttpFault;
use crate::web::{AuthError, Authorize, Elsewhere, HttpClient, Waits};

/// One server over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct HttpConfig {
    /// The server's endpoint.
    pub(crate) url: Url,
    /// What the configuration sends along, each value marked sensitive.
    pub(crate) headers: HeaderMap,
    pub(crate) client: HttpClient,
    pub(crate) authorizer: Option<Arc<dyn Authorize>>,
    /// The bound on one JSON body and on one event's data, in bytes after decompression, inclusive (L1).
    pub(crate) max_frame_bytes: usize,
    /// What `MCP-Protocol-Version` says from the first request on; `None` leaves it out until `negotiated`.
    pub(crate) revision: Option<Revision>,
}

/// One message to send.
#[derive(Debug)]
pub(crate) struct Post {
    /// What the events of this post are told with. Never used twice on one transport.
    pub(crate) key: u64,
    pub(crate) kind: PostKind,
    /// One JSON text, no newline.
    pub(crate) body: Bytes,
    /// `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The gate before its body: it tells whether the body is being written to an established connection, from when on
    /// what becomes of it is the server's.
    pub(crate) handover: Handover,
}

/// What a message is, as far as HTTP is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostKind {
    /// A request that begins a session: it goes without a session id, and its success may bring one.
    Initialize,
    /// A request, whose reply is in the answer.
    Request,
    /// A request for a stream of changes, which nobody waits for.
    Listen,
    /// A notification, which has no reply.
    Notification,
    /// A reply of ours.
    Reply,
}

impl PostKind {
    /// Whether the answer to it holds a reply.
    pub(crate) fn wants_reply(self) -> bool {
        matches!(self, Self::Initialize | Self::Request | Self::Listen)
    }

    pub(super) fn waits(self) -> Waits {
        match self {
            Self::Listen => Waits::Nobody,
            _ => Waits::Somebody,
        }
    }
}

/// What became of the posts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HttpEvent {
    /// A JSON text came: a reply, a request, a notification, or several of them in an array.
    Message {
        /// The post whose answer it came in; `None` on a stream that is no post's.
        key: Option<u64>,
        /// The answer's status. An error's body is told too, if it says that it is JSON.
        status: u16,
        /// The text, unchecked.
        frame: Bytes,
    },
    /// Nothing more comes of this post. Exactly once per post that was not hung up on.
    Ended {
        /// Which post.
        key: u64,
        /// How.
        end: End,
    },
    /// In place of [`Ended`](Self::Ended): the server has forgotten the session that this request belongs to, so it did
    /// not execute it. The session id is forgotten here too, and its stream is closed.
    SessionLost {
        /// Which post.
        key: u64,
        /// Whether that was the session that stood until now, and not one before it.
        current: bool,
    },
    /// The server has forgotten the session that its own stream belonged to, and that stood until now. The session id is
    /// forgotten here too.
    SessionGone,
    /// HTTP+SSE: the one stream that messages come on is gone, or never was. Posts that waited end as not sent.
    Closed {
        /// How; never [`End::Complete`].
        end: End,
    },
}

/// How a post ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The answer is whole: the JSON body, the acceptance of a notification, or the stream after `finish`.
    Complete {
        /// The answer's status.
        status: u16,
    },
    /// The server refused; its body, if it said JSON, was told before.
    Status {
        /// The answer's status.
        status: u16,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// Nothing of the body was read by a connection, and nothing will be.
    NotSent(HttpFault),
    /// It went out, and no reply will come.
    Broken(HttpFault),
    /// The body or an event of the answer is too long.
    TooLong {
        /// The bound that it passed, in bytes.
        limit: usize,
    },
    /// The server points to where nothing configured may go.
    Redirect {
        /// The origin it points to; `None` if it points nowhere, or once too often.
        origin: Option<String>,
    },
    /// It could not be authorised.
    Auth(AuthError),
}

impl From<Elsewhere> for End {
    fn from(elsewhere: Elsewhere) -> Self {
        Self::Redirect {
            origin: elsewhere.origin,
        }
    }
}

impl End {
    /// Why no reply comes, in words of our own.
    pub(crate) fn fault(&self) -> ExchangeFault {
        let closed = ErrorCode::ConnectionClosed;
        match self {
            // An answer that is whole and holds no reply.
            Self::Complete { status } => {
                ExchangeFault::new("its answer holds no reply", ErrorCode::ProtocolError)
                    .with_status(*status)
            }
            Self::Status {
                status,
                retry_after,
            } => {
                let fault =
                    ExchangeFault::new(format!("it answered with HTTP status {status}"), closed)
                        .with_status(*status);
                match retry_after {
                    Some(after) => fault.with_retry_after(*after),
                    None => fault,
                }
            }
            Self::NotSent(HttpFault::Egress(refused)) => {
                ExchangeFault::new(refused.to_string(), ErrorCode::CapabilityRefused)
                    .with_obstacle(Obstacle::Policy)
            }
            Self::NotSent(fault) => {
                ExchangeFault::new(format!("it cannot be reached: {fault}"), closed)
                    .with_obstacle(fault.obstacle())
            }
            Self::Broken(fault) => {
                ExchangeFault::new(fault.to_string(), fault.code()).with_obstacle(fault.obstacle())
            }
            Self::TooLong { limit } => ExchangeFault::new(
                format!("its answer is longer than {limit} bytes (maxFrameBytes)"),
                ErrorCode::ProtocolError,
            ),
            Self::Redirect {
                origin: Some(origin),
            } => ExchangeFault::new(
                format!("it redirects to {origin}, where nothing of its entry may go"),
                ErrorCode::ProtocolError,
            )
            .with_obstacle(Obstacle::Redirect),
            Self::Redirect { origin: None } => ExchangeFault::new(
                "it redirects nowhere, or without an end",
                ErrorCode::ProtocolError,
            )
            .with_obstacle(Obstacle::Redirect),
            Self::Auth(error) => {
                // What was sent before was refused, or there would be no wish for other credentials.
                let status = match error {
                    AuthError::LoginNeeded { .. } | AuthError::TokenRefused { .. } => Some(401),
                    AuthError::ScopesNeeded { .. } | AuthError::ScopesRefused { .. } => Some(403),
                    _ => None,
                };
                let obstacle = error.obstacle();
                let code = match error {
                    AuthError::Egress { .. } => ErrorCode::CapabilityRefused,
                    _ => closed,
                };
                let fault = ExchangeFault::new(error.to_string(), code)
                    .of_refusal()
                    .with_obstacle(obstacle);
                match status {
                    Some(status) => fault.with_status(status),
                    None => fault,
                }
            }
        }
    }
}
