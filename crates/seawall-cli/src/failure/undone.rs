//! What was not done.

use std::fmt;

use super::Failure;

/// What was not done, since its server could not be connected to, or a signal came before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Undone {
    Call,
    Read,
    Prompt,
    Publish,
    Login,
    /// Anything: it was not even known what is offered.
    Anything,
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Call => "the tool was not called",
            Self::Read => "nothing was read",
            Self::Prompt => "no prompt was asked for",
            Self::Publish => "nothing was published",
            Self::Login => "the login was not changed to the end",
            Self::Anything => "no tool was called",
        })
    }
}

impl Undone {
    /// A failed connect, or list, as the failure of what was to follow.
    pub(crate) fn of(self, failure: Failure) -> Failure {
        match failure {
            Failure::Server(error) => Failure::Uncalled {
                error,
                undone: self,
            },
            Failure::Interrupted { server, .. } => Failure::Interrupted {
                server,
                undone: self,
            },
            other => other,
        }
    }
}
