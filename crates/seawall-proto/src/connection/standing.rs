//! How a connection stands, for whoever drives it or asks it.

use std::sync::Arc;

use super::{CloseReason, Connection, Session, Stage, Step};
use crate::mcp::{Catalog, Revision};
use crate::outcome::Outcome;

impl Connection {
    /// Calls that have not ended.
    #[must_use]
    pub fn pending_calls(&self) -> usize {
        self.calls.pending()
    }

    /// The negotiated session, once the handshake is over.
    #[must_use]
    pub fn session(&self) -> Option<&Arc<Session>> {
        match &self.stage {
            Stage::Ready(ready) => Some(&ready.session),
            _ => None,
        }
    }

    /// The revision that is spoken, as soon as it is agreed on; none while a session is made anew.
    #[must_use]
    pub fn negotiated(&self) -> Option<Revision> {
        let renewing = matches!(&self.stage, Stage::Ready(ready) if ready.is_renewing());
        let session = self.known_session().filter(|_| !renewing);
        session.map(|session| session.revision)
    }

    /// The catalog, once the handshake is over.
    #[must_use]
    pub fn catalog(&self) -> Option<&Arc<Catalog>> {
        match &self.stage {
            Stage::Ready(ready) => Some(&ready.catalog),
            _ => None,
        }
    }

    /// How many sessions were made after the first, which the server forgot (T3).
    #[must_use]
    pub fn sessions_made_anew(&self) -> u32 {
        self.sessions
    }

    /// Why the session ended, if it did.
    #[must_use]
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match &self.stage {
            Stage::Closed { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// Why the connect failed and what became of its last request, if the session ended.
    #[must_use]
    pub fn connect_failure(&self) -> Option<(&CloseReason, Outcome)> {
        match &self.stage {
            Stage::Closed {
                reason, connect, ..
            } => Some((reason, *connect)),
            _ => None,
        }
    }

    /// The step of the handshake that is under way, or was when the session ended; meaningless once it is over.
    #[must_use]
    pub fn handshake_step(&self) -> Step {
        match &self.stage {
            Stage::Closed { step, .. } => *step,
            _ => self.step(),
        }
    }
}
