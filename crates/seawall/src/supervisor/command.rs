//! What is asked of a supervisor, and how it answers: exactly once.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::error::{EndedBy, HostError};
use super::registry::Claim;
use crate::config::ServerConfig;
use crate::error::Error;

/// How a connect that did not fail for good came out.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Connected {
    /// The server is up, and its tools are published.
    Up,
    /// The attempt failed, the server has reconnect, and the host goes on trying.
    Retrying(Error),
}

pub(crate) type Answer<T> = oneshot::Sender<Result<T, HostError>>;

/// What is asked.
pub(crate) enum Command {
    /// End whatever there is, and let go of the id.
    Disconnect {
        /// The id that was asked for: the server's, or that which a restart moves it to.
        server: Arc<str>,
        by: EndedBy,
        answer: Option<Answer<()>>,
    },
    /// End what there is, and connect anew by another entry.
    Restart {
        config: Arc<ServerConfig>,
        claim: Claim,
        answer: Answer<Connected>,
    },
    /// Read the list again; `server` as above.
    Refresh { answer: Answer<()> },
}

/// Who waits for a connect.
pub(crate) enum Asked {
    /// `connect()`.
    Connect(Answer<Connected>),
    /// `restart()` of the server that had this id.
    Restart(Arc<str>, Answer<Connected>),
}

impl Asked {
    pub(crate) fn answer(self, result: Result<Connected, HostError>) {
        // Who no longer waits does not want to know.
        match self {
            Self::Connect(answer) => answer.send(result).ok(),
            Self::Restart(server, answer) => {
                let result = match result {
                    // It is down in either case, which a restart has to say.
                    Ok(Connected::Retrying(error)) => Err(HostError::Connect { error }),
                    other => other,
                };
                let down = |cause| HostError::RestartFailed {
                    server,
                    cause: Box::new(cause),
                };
                answer.send(result.map_err(down)).ok()
            }
        };
    }
}
