//! Why a WebSocket did not come to stand, or ended, in words of our own.

use seawall_proto::ErrorCode;
use seawall_proto::connection::{CloseReason, ExchangeFault, Obstacle, Step};
use tokio_tungstenite::tungstenite;
use tungstenite::error::CapacityError;

use super::limits::{OPEN_TIMEOUT, PING_EVERY};
use crate::transport::http::HttpFault;

/// Why a WebSocket did not come to stand, or ended. The texts hold nothing that a server wrote but its numbers: an HTTP
/// status, a close code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum WebSocketFault {
    /// There is no way to it, or it does not speak HTTP.
    #[error("it cannot be reached: {0}")]
    Unreachable(HttpFault),
    /// It did not stand in time.
    #[error("it cannot be reached: no WebSocket stood within {} s", OPEN_TIMEOUT.as_secs())]
    OpenTimeout,
    /// It answered the handshake's request with another status than 101.
    #[error("it answered with HTTP status {0} where a WebSocket was asked for")]
    Status(u16),
    /// It points elsewhere.
    #[error("it redirects, and a WebSocket goes where its entry says alone")]
    Redirect(u16),
    /// It says that it switches to WebSocket, and its answer does not belong to this handshake (RFC 6455, section 4.1).
    #[error("its answer to the WebSocket's handshake is not one")]
    Handshake,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    Random,
    /// A message is longer than `maxFrameBytes`.
    #[error("it sent a frame of more than {limit} bytes (maxFrameBytes)")]
    TooLong {
        /// The bound.
        limit: usize,
    },
    /// A message came in fragments that hold next to nothing, again and again.
    #[error("it sent a message in more fragments than {limit} bytes (maxFrameBytes) can need")]
    Fragments {
        /// The bound on the message.
        limit: usize,
    },
    /// Its frames break RFC 6455: reserved bits and opcodes, masks, a text that is not UTF-8.
    #[error("it sent a frame that WebSocket does not have")]
    Frame,
    /// It closed the connection, with this code if it gave one.
    #[error("it closed the WebSocket{}", with_code(*.0))]
    Closed(Option<u16>),
    /// The connection was lost.
    #[error("the WebSocket to it was lost")]
    Lost,
    /// Nothing came for too long, no answer to a ping either.
    #[error("it was silent for more than {} s, and answered no ping", 2 * PING_EVERY.as_secs())]
    Silent,
    /// This side let go of it.
    #[error("the WebSocket to it was let go of")]
    LetGo,
}

impl WebSocketFault {
    /// What a frame that was read or written ended with.
    pub(super) fn of(error: &tungstenite::Error, max_frame_bytes: usize) -> Self {
        use tungstenite::Error;
        use tungstenite::error::ProtocolError;
        match error {
            Error::ConnectionClosed | Error::AlreadyClosed => Self::Closed(None),
            Error::Capacity(CapacityError::MessageTooLong { .. }) => Self::TooLong {
                limit: max_frame_bytes,
            },
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::Lost,
            Error::Capacity(_) | Error::Protocol(_) | Error::Utf8(_) => Self::Frame,
            _ => Self::Lost,
        }
    }

    /// Why the session ends with it, which was at `step` if it had not begun.
    pub(crate) fn reason(&self, step: Step) -> CloseReason {
        let closed = ErrorCode::ConnectionClosed;
        let fault = |code| ExchangeFault::new(self.to_string(), code);
        let exchange = |fault| CloseReason::Exchange { step, fault };
        match self {
            Self::Unreachable(HttpFault::Egress(refused)) => exchange(
                ExchangeFault::new(refused.to_string(), ErrorCode::CapabilityRefused)
                    .with_obstacle(Obstacle::Policy),
            ),
            Self::Unreachable(cause) => exchange(fault(closed).with_obstacle(cause.obstacle())),
            Self::OpenTimeout => {
                exchange(fault(ErrorCode::Timeout).with_obstacle(Obstacle::Timeout))
            }
            Self::Status(status) => exchange(fault(closed).with_status(*status)),
            Self::Redirect(status) => exchange(
                fault(ErrorCode::ProtocolError)
                    .with_status(*status)
                    .with_obstacle(Obstacle::Redirect),
            ),
            Self::Handshake => {
                exchange(fault(ErrorCode::ProtocolError).with_obstacle(Obstacle::NotMcp))
            }
            Self::Random => exchange(fault(closed)),
            Self::TooLong { limit } => CloseReason::FrameTooLong { limit: *limit },
            Self::Fragments { .. } | Self::Frame => {
                CloseReason::StreamLost(fault(ErrorCode::ProtocolError))
            }
            Self::Closed(_) | Self::LetGo => CloseReason::StreamLost(fault(closed)),
            Self::Lost | Self::Silent => {
                CloseReason::StreamLost(fault(closed).with_obstacle(Obstacle::Lost))
            }
        }
    }
}

fn with_code(code: Option<u16>) -> String {
    code.map_or_else(String::new, |code| format!(" with code {code}"))
}
