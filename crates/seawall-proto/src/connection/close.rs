//! Why a session ends: data in variants, one mapping to codes.
//!
//! Display texts are written here and hold nothing that a server wrote, except a revision that has a revision's form.

use std::fmt;
use std::sync::Arc;

use super::{ExchangeFault, Obstacle};
use crate::json::Json;
use crate::jsonrpc::{METHOD_NOT_FOUND, Malformed, is_modern_code};
use crate::mcp::{CatalogFault, Revision};
use crate::outcome::{ErrorCode, Outcome};

/// A step of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// `server/discover`.
    Discover,
    /// `initialize`.
    Initialize,
    /// `tools/list`, one page of it, from 1.
    ListTools {
        /// The page.
        page: usize,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discover => f.write_str("server/discover"),
            Self::Initialize => f.write_str("initialize"),
            Self::ListTools { page: 1 } => f.write_str("tools/list"),
            Self::ListTools { page } => write!(f, "tools/list page {page}"),
        }
    }
}

/// How a child process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExitReason {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It is gone; how is not known.
    Unknown,
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Unknown => f.write_str("exited"),
        }
    }
}

/// What the two sides of a refused revision speak (S4). A permanent verdict.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RevisionRefusal {
    /// What was proposed.
    pub proposed: Revision,
    /// Whether the configuration pins it.
    pub pinned: bool,
    /// What the server speaks, as far as it said so in the form of revisions.
    pub offered: Vec<String>,
    /// The JSON-RPC code, where the refusal was an error.
    pub code: Option<i64>,
    /// The error's data, unchanged, for whoever handles the verdict.
    pub data: Option<Json>,
}

impl fmt::Display for RevisionRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<Revision> = self
            .offered
            .iter()
            .filter_map(|text| text.parse().ok())
            .collect();
        let lists_it = known.contains(&self.proposed);
        // An error that names no revision, or one of ours, refuses the proposal; it says nothing about the others.
        let of_ours =
            |revision: &Revision| revision.is_legacy() || !self.proposed.is_legacy() || lists_it;
        let refused = self.code.is_some() && (self.offered.is_empty() || known.iter().any(of_ours));
        if lists_it {
            write!(f, "it refused revision {}, which it lists", self.proposed)?;
        } else if self.pinned {
            write!(
                f,
                "it does not speak revision {}, which the configuration pins",
                self.proposed
            )?;
        } else {
            if refused {
                write!(f, "it refused revision {}; Seawall speaks (", self.proposed)?;
            } else if self.proposed.is_legacy() {
                f.write_str("it speaks no revision with a handshake that Seawall speaks (")?;
            } else {
                f.write_str("it speaks no revision that Seawall speaks (")?;
            }
            for (at, revision) in Revision::LEGACY.iter().enumerate() {
                write!(f, "{}{revision}", if at == 0 { "" } else { ", " })?;
            }
            if !self.proposed.is_legacy() {
                write!(f, ", {}", self.proposed)?;
            }
            f.write_str(")")?;
        }
        match self.offered.as_slice() {
            [] if self.code.is_some() => {}
            [] if self.proposed.is_legacy() => {
                f.write_str("; the revision that it named has not the form of one")?;
            }
            [] => f.write_str("; it names none that has the form of one")?,
            offered => write!(f, "; it speaks {}", offered.join(", "))?,
        }
        if let Some(code) = self.code {
            write!(f, " (JSON-RPC error {code})")?;
        }
        if lists_it {
            return Ok(());
        }
        let newest_legacy = known.iter().filter(|revision| revision.is_legacy()).max();
        match newest_legacy.or(known.first()) {
            Some(revision) if revision.is_legacy() => {
                write!(f, "; write \"protocol\": \"{revision}\"")?;
                if self.pinned && self.proposed.is_legacy() {
                    f.write_str(" or leave `protocol` out")?;
                }
                Ok(())
            }
            Some(_) => f.write_str("; write \"protocol\": \"modern\""),
            None => Ok(()),
        }
    }
}

/// Why a session ended. The first reason stays, and is what every pending and later call gets (S5).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// The host closed it.
    #[error("the connection was closed by its owner")]
    ScopeClosed,
    /// The child process ended.
    #[error("its process {0}")]
    ChildExited(ExitReason),
    /// The server closed its output.
    #[error("it closed its stdout")]
    StdoutClosed,
    /// The server closed its input, or the pipe to it broke.
    #[error("it closed its stdin")]
    StdinClosed,
    /// Reading or writing failed in another way.
    #[error("the pipe to it failed")]
    TransportFailed,
    /// The one stream that everything comes on is gone.
    #[error("{}", .0.text)]
    StreamLost(ExchangeFault),
    /// The driver of the connection is gone, with its runtime.
    #[error("the runtime that drove the connection is gone")]
    DriverGone,
    /// A tagged message breaks the protocol.
    #[error("it sent a malformed message: {0}")]
    Malformed(Malformed),
    /// A frame is longer than `maxFrameBytes`.
    #[error("it sent a frame of more than {limit} bytes (maxFrameBytes)")]
    FrameTooLong {
        /// The bound.
        limit: usize,
    },
    /// A reply to it found no room in the queue within `requestTimeoutMs` (S7).
    #[error("it does not read the replies to its own requests")]
    ReplyBlocked,
    /// A reply to it would be longer than a frame may be, as its request's id is (S7).
    #[error(
        "the reply to one of its requests is longer than {limit} bytes (maxOutboundFrameBytes)"
    )]
    ReplyTooLong {
        /// The bound.
        limit: usize,
    },
    /// A handshake exchange took longer than `handshakeTimeoutMs`.
    #[error(
        "it did not answer {step} within {limit_ms} ms (handshakeTimeoutMs){}",
        era_hint(step)
    )]
    HandshakeTimeout {
        /// Which exchange.
        step: Step,
        /// The bound, in milliseconds.
        limit_ms: u128,
    },
    /// A handshake request could not be sent within `handshakeTimeoutMs`.
    #[error("{}", unsent(*.step, *.limit_ms, *.held_up))]
    HandshakeUnsent {
        /// Which exchange.
        step: Step,
        /// The bound, in milliseconds.
        limit_ms: u128,
        /// What it waited for.
        held_up: HeldUp,
    },
    /// A handshake exchange was answered with an error.
    #[error("it answered {step} with JSON-RPC error {code}{}", era_hint(step))]
    HandshakeRefused {
        /// Which exchange.
        step: Step,
        /// The error's code.
        code: i64,
        /// The HTTP status that it came with, if that was one of a refusal.
        status: Option<u16>,
    },
    /// Its answer to `initialize` breaks the protocol.
    #[error("its answer to initialize {0}")]
    Handshake(HandshakeFault),
    /// Its answer to `server/discover` breaks the protocol.
    #[error("its answer to server/discover {0}")]
    Discovery(HandshakeFault),
    /// The exchange of a handshake request brought no answer.
    #[error("{step} failed: {}{}", .fault.text, if matches!(.fault.status, Some(400 | 404 | 405)) { era_hint(step) } else { "" })]
    Exchange {
        /// Which exchange.
        step: Step,
        /// What happened.
        fault: ExchangeFault,
    },
    /// The two sides have no revision in common. Permanent.
    #[error("{0}")]
    Revision(Arc<RevisionRefusal>),
    /// Its tool list cannot be used.
    #[error("{0}")]
    Catalog(CatalogFault),
    /// It does not go on with what it is granted, and asks for the end of the connection (MCP Live).
    #[error("it refused what it is granted and asked for the connection to be closed")]
    PolicyRefused,
    /// A frame of the handshake is longer than `maxOutboundFrameBytes`.
    #[error("the {step} request is longer than {limit} bytes (maxOutboundFrameBytes)")]
    RequestTooLong {
        /// Which exchange.
        step: Step,
        /// The bound.
        limit: usize,
    },
}

/// What a request of the handshake waited for that was not sent in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeldUp {
    /// What authorises it: a renewal, or a login.
    Credentials {
        /// Whether it was sent before, and refused for its credentials.
        refused: bool,
    },
    /// The answer to `notifications/initialized`, which nothing may overtake.
    Introduction,
    /// A way to the server.
    Transport,
}

/// What is wrong with an answer to `initialize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeFault {
    /// It is not an object.
    #[error("is not an object")]
    NotAnObject,
    /// A member that Seawall reads stands there twice.
    #[error("has the same key twice")]
    DuplicateKey,
    /// The revision that it speaks is missing, or not one.
    #[error("names no protocol version")]
    NoVersion,
    /// `capabilities` is missing or not an object.
    #[error("has no capabilities")]
    NoCapabilities,
    /// It is a wish for another round, or of another kind that is not final.
    #[error("is of a kind of result that it may not be")]
    ResultType,
    /// The server forgot the session, and names another revision for the next.
    #[error("names another revision than that of the session that it forgot")]
    OtherRevision,
    /// `capabilities` declares no tools.
    #[error("declares no tools")]
    NoTools,
}

impl CloseReason {
    /// The class of this ending, for the connect or the calls that it fails.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::ScopeClosed
            | Self::ChildExited(_)
            | Self::StdoutClosed
            | Self::StdinClosed
            | Self::TransportFailed
            | Self::DriverGone => ErrorCode::ConnectionClosed,
            Self::HandshakeTimeout { .. } | Self::HandshakeUnsent { .. } => ErrorCode::Timeout,
            Self::Catalog(_) => ErrorCode::InvalidResponse,
            Self::Exchange { fault, .. } | Self::StreamLost(fault) => fault.code,
            Self::PolicyRefused => ErrorCode::CapabilityRefused,
            Self::Malformed(_)
            | Self::FrameTooLong { .. }
            | Self::ReplyBlocked
            | Self::ReplyTooLong { .. }
            | Self::HandshakeRefused { .. }
            | Self::Handshake(_)
            | Self::Discovery(_)
            | Self::Revision(_)
            | Self::RequestTooLong { .. } => ErrorCode::ProtocolError,
        }
    }

    /// Whether trying again cannot help (S4).
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::Revision(_))
    }

    /// The option whose bound was passed, if that is why.
    #[must_use]
    pub fn limit(&self) -> Option<&'static str> {
        match self {
            Self::FrameTooLong { .. } => Some("maxFrameBytes"),
            Self::ReplyTooLong { .. } | Self::RequestTooLong { .. } => {
                Some("maxOutboundFrameBytes")
            }
            Self::HandshakeTimeout { .. } | Self::HandshakeUnsent { .. } => {
                Some("handshakeTimeoutMs")
            }
            Self::Catalog(fault) => fault.limit(),
            _ => None,
        }
    }

    /// The JSON-RPC code that the server refused the handshake with, if it did.
    #[must_use]
    pub fn json_rpc_code(&self) -> Option<i64> {
        match self {
            Self::HandshakeRefused { code, .. } => Some(*code),
            Self::Revision(refusal) => refusal.code,
            _ => None,
        }
    }

    /// The status that the server refused with over HTTP, if it did.
    #[must_use]
    pub fn http_status(&self) -> Option<u16> {
        match self {
            Self::Exchange { fault, .. } => fault.status,
            Self::HandshakeRefused { status, .. } => *status,
            _ => None,
        }
    }

    /// Whether `initialize` was refused as a server refuses it that speaks the transport of 2024-11-05 alone: with 400, 404
    /// or 405, and with no error that only later revisions have (T3).
    ///
    /// Source: 2025-11-25, `basic/transports`, "Backwards Compatibility"; 2026-07-28, `basic/transports/streamable-http`,
    /// "HTTP+SSE Transport".
    #[must_use]
    pub fn may_speak_event_stream(&self) -> bool {
        let step = match self {
            Self::Exchange { step, .. } => *step,
            // So an unknown method is told by a modern server, and by none before it.
            Self::HandshakeRefused {
                code: METHOD_NOT_FOUND,
                status: Some(404),
                ..
            } => return false,
            Self::HandshakeRefused { step, code, .. } if !is_modern_code(*code) => *step,
            _ => return false,
        };
        step == Step::Initialize && matches!(self.http_status(), Some(400 | 404 | 405))
    }

    /// What stood in the way over HTTP, where that is known.
    #[must_use]
    pub fn obstacle(&self) -> Option<Obstacle> {
        match self {
            Self::Exchange { fault, .. } | Self::StreamLost(fault) => fault.obstacle,
            Self::HandshakeUnsent {
                held_up: HeldUp::Credentials { .. },
                ..
            } => Some(Obstacle::CredentialsLate),
            _ => None,
        }
    }

    /// What became of the handshake request that this ended, where the reason alone tells.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::HandshakeRefused { .. } => Some(Outcome::ErrorResponse),
            Self::Revision(refusal) if refusal.code.is_some() => Some(Outcome::ErrorResponse),
            Self::Revision(_) | Self::Handshake(_) | Self::Discovery(_) | Self::Catalog(_) => {
                Some(Outcome::Answered)
            }
            Self::Exchange { fault, .. } if matches!(fault.status, Some(401 | 403)) => {
                Some(Outcome::ErrorResponse)
            }
            Self::HandshakeUnsent {
                held_up: HeldUp::Credentials { refused: true },
                ..
            } => Some(Outcome::ErrorResponse),
            Self::RequestTooLong { .. } | Self::HandshakeUnsent { .. } => Some(Outcome::NotSent),
            _ => None,
        }
    }
}

/// What was not sent in time, and why.
fn unsent(step: Step, limit_ms: u128, held_up: HeldUp) -> String {
    let within = format!("within {limit_ms} ms (handshakeTimeoutMs)");
    match held_up {
        HeldUp::Credentials { refused: false } => {
            format!("the credentials for it were not ready {within}; {step} was not sent")
        }
        HeldUp::Credentials { refused: true } => {
            format!("it refused the credentials of {step}, and new ones were not ready {within}")
        }
        HeldUp::Introduction => {
            format!("it did not take notifications/initialized {within}; {step} was not sent")
        }
        HeldUp::Transport => format!("{step} could not be sent to it {within}"),
    }
}

/// Where a server that does not know `server/discover` may be reached. Of HTTP's statuses, only those are told with it that
/// such a server answers with, and after which `auto` goes on by itself.
fn era_hint(step: &Step) -> &'static str {
    match step {
        Step::Discover => "; if it speaks an older revision, write \"protocol\": \"legacy\"",
        _ => "",
    }
}
