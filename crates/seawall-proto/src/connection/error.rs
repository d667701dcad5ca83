//! Why a call fails: data in variants, one mapping to codes. Display texts are written here.

use std::fmt;
use std::sync::Arc;

use super::{CloseReason, ExchangeFault, Obstacle};
use crate::json::Json;
use crate::jsonrpc::ErrorObject;
use crate::limits::MAX_JSON_DEPTH;
use crate::mcp::{InputMethod, ResultFault};
use crate::outcome::{ErrorCode, Outcome};

/// What a peer said of an error, as it came: neither redacted nor cut, and no part of any text of ours. Debug hides it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct RemoteText {
    text: Arc<str>,
    data: Option<Json>,
}

impl RemoteText {
    pub(super) fn of(error: &ErrorObject) -> Self {
        Self {
            text: error.message.as_str().into(),
            data: error.data.clone(),
        }
    }

    /// Its message.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Its `data`.
    #[must_use]
    pub fn data(&self) -> Option<&Json> {
        self.data.as_ref()
    }
}

impl fmt::Debug for RemoteText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The catalog has no such tool; nothing was sent (S10).
    #[error("it offers no such tool")]
    UnknownTool,
    /// The handshake is not over; nothing was sent.
    #[error("the handshake with it is not over")]
    NotReady,
    /// The arguments are not a JSON object; nothing was sent (L4).
    #[error("the arguments are not a JSON object")]
    ArgumentsKind,
    /// The arguments nest too deep; nothing was sent (L4).
    #[error("the request would nest deeper than {MAX_JSON_DEPTH} containers")]
    ArgumentsTooDeep,
    /// The caller brought answers, or a state, to a server whose revision asks for nothing in a result; nothing was sent.
    #[error(
        "its revision has no rounds, so it gave no requestState and wants no inputResponses; nothing was sent"
    )]
    NoRounds,
    /// The request is longer than `maxOutboundFrameBytes`; nothing was sent (L4).
    #[error("the request would be longer than {limit} bytes (maxOutboundFrameBytes)")]
    RequestTooLong {
        /// The bound.
        limit: usize,
    },
    /// `maxBufferedBytes` is used up; nothing was sent (L8).
    #[error("more than {limit} bytes would be buffered for it (maxBufferedBytes)")]
    BufferFull {
        /// The bound.
        limit: usize,
    },
    /// The deadline passed.
    #[error("the call took longer than {limit_ms} ms{}", Advice(.outcome))]
    Timeout {
        /// The bound, in milliseconds.
        limit_ms: u128,
        /// Whether it was dispatched.
        outcome: Outcome,
    },
    /// The session ended.
    #[error("{reason}{}", Advice(.outcome))]
    Closed {
        /// Why.
        reason: CloseReason,
        /// Whether the request had been dispatched.
        outcome: Outcome,
    },
    /// The server answered with an error (O3).
    #[error("it {} with JSON-RPC error {code}", refusal(.tool_not_found))]
    Refused {
        /// The error's code.
        code: i64,
        /// Whether it says that it has no such tool.
        tool_not_found: bool,
        /// What it says.
        told: RemoteText,
    },
    /// The server answered a request that is no tool call with an error.
    #[error("it refused the request with JSON-RPC error {code}")]
    RequestRefused {
        /// The error's code.
        code: i64,
        /// What it says.
        told: RemoteText,
    },
    /// The server answered, and the answer cannot be used.
    #[error("{0}")]
    Unusable(ResultFault),
    /// The call ended between two legs (O4).
    #[error(
        "{0}; it had asked for another round, and nothing was in flight, but it may have begun: verify state before retrying"
    )]
    BetweenLegs(BetweenLegs),
    /// The server asked for another round, or answered in a way that is not final, and this side cannot go on (O4).
    #[error("{0}; nothing was in flight, but it may have begun: verify state before retrying")]
    Unfinished(Unfinished),
    /// The exchange brought no answer.
    #[error("{}{}", .fault.text, Advice(.outcome))]
    Exchange {
        /// What happened.
        fault: ExchangeFault,
        /// What became of the request.
        outcome: Outcome,
        /// How many of its rounds were over before: what they did stays done.
        rounds: u32,
    },
}

/// What ended a call between two legs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BetweenLegs {
    /// The deadline passed.
    #[error("the call took longer than {limit_ms} ms")]
    Timeout {
        /// The bound, in milliseconds.
        limit_ms: u128,
    },
    /// The session ended.
    #[error("{0}")]
    Closed(CloseReason),
}

/// Why a call that is not finished cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// It asks for what the host does not supply, and was not told that it does.
    #[error("it asked for {}, which this host does not supply", input_words(.0))]
    Unsupplied(InputMethod),
    /// The host could not answer what it asked.
    #[error("what it asked for could not be supplied")]
    NotAnswered,
    /// It asked for more rounds than are gone along with.
    #[error("it asked for more than {limit} further rounds")]
    TooManyLegs {
        /// The bound.
        limit: u32,
    },
    /// It asked for more inputs at once than are gone along with.
    #[error("it asked for more than {limit} inputs at once")]
    TooManyInputs {
        /// The bound.
        limit: usize,
    },
    /// What it asked for makes no sense.
    #[error("it asked for another round in a way that the protocol does not have")]
    Malformed,
    /// `resultType` is none that is known.
    #[error("it answered with a kind of result that is not known")]
    ResultType,
    /// The next leg would be longer than `maxOutboundFrameBytes`.
    #[error("the next round would be longer than {limit} bytes (maxOutboundFrameBytes)")]
    TooLong {
        /// The bound.
        limit: usize,
    },
}

fn input_words(method: &InputMethod) -> &'static str {
    match method {
        InputMethod::ElicitForm => "a form to be filled in",
        InputMethod::ElicitUrl => "a page to be visited",
        InputMethod::Sample => "a model's answer",
        InputMethod::ListRoots => "its roots",
    }
}

/// What a caller should know before trying again.
struct Advice<'a>(&'a Outcome);

impl fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Outcome::NotSent => f.write_str("; nothing was sent"),
            Outcome::NoResponse => {
                f.write_str("; it may have been carried out: verify state before retrying")
            }
            _ => Ok(()),
        }
    }
}

fn refusal(tool_not_found: &bool) -> &'static str {
    if *tool_not_found {
        "answered that it has no such tool,"
    } else {
        "refused the call"
    }
}

impl CallError {
    /// The same, without what the server said.
    #[must_use]
    pub fn without_text(mut self) -> Self {
        if let Self::Refused { told, .. } | Self::RequestRefused { told, .. } = &mut self {
            *told = RemoteText::default();
        }
        self
    }

    /// What became of the request (O2).
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::UnknownTool
            | Self::NotReady
            | Self::ArgumentsKind
            | Self::ArgumentsTooDeep
            | Self::NoRounds
            | Self::RequestTooLong { .. }
            | Self::BufferFull { .. } => Outcome::NotSent,
            Self::Timeout { outcome, .. } | Self::Closed { outcome, .. } => *outcome,
            Self::Refused { .. } | Self::RequestRefused { .. } => Outcome::ErrorResponse,
            Self::Unusable(_) => Outcome::Answered,
            Self::BetweenLegs(_) | Self::Unfinished(_) => Outcome::NoResponse,
            Self::Exchange { outcome, .. } => *outcome,
        }
    }

    /// Whether nothing of the request was carried out for certain, though it may have been sent: the server refused the first
    /// of its rounds for its credentials (401, 403). Such a one may be said again.
    #[must_use]
    pub fn was_refused_unread(&self) -> bool {
        matches!(
            self,
            Self::Exchange { fault, outcome: Outcome::ErrorResponse | Outcome::NotSent, rounds: 0 }
                if matches!(fault.status, Some(401 | 403) | None)
        )
    }

    /// The class of the failure (O1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownTool
            | Self::Refused {
                tool_not_found: true,
                ..
            } => ErrorCode::ToolNotFound,
            Self::NotReady => ErrorCode::ConnectionClosed,
            Self::ArgumentsKind
            | Self::ArgumentsTooDeep
            | Self::NoRounds
            | Self::RequestTooLong { .. }
            | Self::BufferFull { .. } => ErrorCode::ProtocolError,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Closed { reason, .. } => reason.code(),
            Self::Refused { .. } | Self::Unfinished(Unfinished::Unsupplied(_)) => {
                ErrorCode::ToolFailed
            }
            Self::RequestRefused { .. } => ErrorCode::ProtocolError,
            Self::Unusable(_) | Self::Unfinished(_) => ErrorCode::InvalidResponse,
            Self::BetweenLegs(BetweenLegs::Timeout { .. }) => ErrorCode::Timeout,
            Self::BetweenLegs(BetweenLegs::Closed(reason)) => reason.code(),
            Self::Exchange { fault, .. } => fault.code,
        }
    }

    /// The code of the server's JSON-RPC error, if there was one.
    #[must_use]
    pub fn json_rpc_code(&self) -> Option<i64> {
        match self {
            Self::Refused { code, .. } | Self::RequestRefused { code, .. } => Some(*code),
            Self::Closed { reason, .. } | Self::BetweenLegs(BetweenLegs::Closed(reason)) => {
                reason.json_rpc_code()
            }
            _ => None,
        }
    }

    /// The status that the server refused with over HTTP, if it did.
    #[must_use]
    pub fn http_status(&self) -> Option<u16> {
        match self {
            Self::Exchange { fault, .. } => fault.status,
            Self::Closed { reason, .. } | Self::BetweenLegs(BetweenLegs::Closed(reason)) => {
                reason.http_status()
            }
            _ => None,
        }
    }

    /// What stood in the way over HTTP, where that is known.
    #[must_use]
    pub fn obstacle(&self) -> Option<Obstacle> {
        match self {
            Self::Exchange { fault, .. } => fault.obstacle,
            Self::Closed { reason, .. } | Self::BetweenLegs(BetweenLegs::Closed(reason)) => {
                reason.obstacle()
            }
            _ => None,
        }
    }
}
