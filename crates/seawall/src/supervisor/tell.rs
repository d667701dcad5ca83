//! What a supervisor tells: answers, events, alerts, how its server stands; and its end.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::bus::{Down, EventKind, Outlook};
use super::command::{Answer, Asked, Command, Connected};
use super::error::{EndedBy, HostError};
use super::run::{Incident, Supervisor};
use super::slot::{ConnectFailure, Slot};
use super::status::ServerState;
use crate::config::Reconnect;
use crate::error::Error;

impl Supervisor {
    /// Whether another attempt follows this failure.
    pub(super) fn retries(&self, error: &Error) -> bool {
        let on = match self.config.reconnect() {
            Reconnect::Unsaid => self.world.reconnect_default == Reconnect::On,
            said => said == Reconnect::On,
        };
        on && !error.is_permanent()
    }

    pub(super) fn failure(&self, failure: ConnectFailure) -> HostError {
        match failure {
            ConnectFailure::Failed(error) => HostError::Connect { error },
            ConnectFailure::Lost(error) => HostError::LostMeanwhile {
                server: Arc::clone(self.id()),
                error,
            },
        }
    }

    pub(super) fn ended(&self, by: EndedBy) -> HostError {
        let server = Arc::clone(self.id());
        HostError::Ended { server, by }
    }

    pub(super) fn alert(&mut self, error: &Error, outlook: Outlook) {
        if let Incident::None = std::mem::replace(&mut self.incident, Incident::Told) {
            let error = error.clone();
            self.tell(EventKind::ServerDown(Down { error, outlook }));
        }
    }

    pub(super) fn tell(&self, kind: EventKind) {
        self.world.bus.tell(self.id(), kind);
    }

    pub(super) fn reply(&mut self, answer: Answer<()>, result: Result<(), HostError>) {
        self.outbox.push(Reply::Done(answer, result));
    }

    pub(super) fn reply_connect(&mut self, asked: Asked, result: Result<Connected, HostError>) {
        self.outbox.push(Reply::Connect(asked, result));
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.holding.id.server
    }

    pub(super) fn note(&self, error: &Error) {
        self.standing
            .send_modify(|standing| standing.last_error = Some(error.clone()));
    }

    /// What is shown of a server that failed, once it is gone.
    pub(super) fn keep(&mut self, failed: Option<Error>) {
        if let Some(error) = failed {
            let mut standing = self.standing.borrow().clone();
            standing.state = ServerState::Down;
            standing.session = None;
            standing.last_error = Some(error);
            self.holding.id.failed = Some(Box::new((Arc::clone(&self.config), standing)));
        }
    }

    pub(super) fn show(&self, slot: &Slot) {
        let state = match slot {
            Slot::Connecting(_) => ServerState::Connecting,
            Slot::Up(up) if up.session.quarantined() > 0 => ServerState::Degraded,
            Slot::Up(_) => ServerState::Up,
            Slot::Closing(_) => ServerState::Closing,
            Slot::Waiting(_) => ServerState::Waiting,
            Slot::Unreaped(_) => ServerState::Unreaped,
        };
        let failures = self.backoff.failures();
        self.standing.send_modify(|standing| {
            standing.state = state;
            standing.failures = failures;
            if !matches!(slot, Slot::Up(_)) {
                standing.session = None;
            }
        });
    }

    /// Lets go of the id; whatever still comes is answered.
    pub(super) fn leave(self) {
        let Self {
            world,
            holding,
            mut mailbox,
            mut outbox,
            ..
        } = self;
        let server = Arc::clone(&holding.id.server);
        holding.leave(|left| world.bus.tell(left, EventKind::Gone));
        mailbox.close();
        let unknown = || HostError::NotRegistered {
            server: Arc::clone(&server),
        };
        while let Ok(command) = mailbox.try_recv() {
            match command {
                Command::Disconnect { answer, .. } => {
                    outbox.extend(answer.map(|answer| Reply::Done(answer, Ok(()))));
                }
                Command::Restart { answer, claim, .. } => {
                    drop(claim);
                    outbox.push(Reply::Connect(Asked::Connect(answer), Err(unknown())));
                }
                Command::Refresh { answer } => outbox.push(Reply::Done(answer, Err(unknown()))),
            }
        }
        outbox.into_iter().for_each(Reply::send);
    }
}

/// An answer that is not given yet.
pub(super) enum Reply {
    Done(Answer<()>, Result<(), HostError>),
    Connect(Asked, Result<Connected, HostError>),
    /// A restart's connect is under way.
    Moved(oneshot::Sender<()>),
}

impl Reply {
    pub(super) fn send(self) {
        match self {
            // Who no longer waits does not want to know.
            Self::Done(answer, result) => drop(answer.send(result)),
            Self::Connect(asked, result) => asked.answer(result),
            Self::Moved(moved) => drop(moved.send(())),
        }
    }
}
