//! A message that was not published, or is not known to be.

use seawall::{ErrorCode, Outcome};

use super::{ErrorReport, Status};

/// What is not an error of the request itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishFailure {
    /// Nothing was sent.
    #[error("MCP server \"{server}\": {why}; nothing was published")]
    Unsent { server: String, why: String },
    /// The answer does not say what became of it (RFC-011).
    #[error(
        "MCP server \"{server}\": its answer does not say what became of the message; it may have been delivered: verify before it is sent again"
    )]
    Unconfirmed { server: String },
    /// A signal came while it was awaited.
    #[error(
        "MCP server \"{server}\": interrupted; the message may have been delivered: verify before it is sent again"
    )]
    LetGo { server: String },
}

impl PublishFailure {
    pub(super) fn status(&self) -> Status {
        Status::of_outcome(self.means().1)
    }

    pub(super) fn report(&self) -> ErrorReport {
        let (Self::Unsent { server, .. } | Self::Unconfirmed { server } | Self::LetGo { server }) =
            self;
        let (code, outcome) = self.means();
        ErrorReport::new(code, outcome, Some(server.clone()), self.to_string())
    }

    fn means(&self) -> (ErrorCode, Outcome) {
        match self {
            Self::Unsent { .. } => (ErrorCode::CapabilityRefused, Outcome::NotSent),
            Self::Unconfirmed { .. } => (ErrorCode::InvalidResponse, Outcome::Answered),
            Self::LetGo { .. } => (ErrorCode::ConnectionClosed, Outcome::NoResponse),
        }
    }
}
