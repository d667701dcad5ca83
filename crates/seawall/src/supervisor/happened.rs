//! What happens in a stage, and the stage that follows.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use seawall_proto::connection::Change;
use tokio::time::sleep;

use super::backoff::{Backoff, FAILURES_TO_ALERT};
use super::bus::{EventKind, Outlook};
use super::command::{Asked, Connected};
use super::connector::{Launch, Session};
use super::error::HostError;
use super::published::Publication;
use super::refresh::Read;
use super::registry::Claim;
use super::run::{Incident, Supervisor};
use super::slot::{
    Closing, ConnectFailure, Connecting, Happened, Slot, Then, Unreaped, Up, Waiting, end_launch,
};
use super::tell::Reply;
use crate::config::{CatalogMode, ServerConfig};
use crate::error::Error;

impl Supervisor {
    pub(super) fn handle_happened(&mut self, slot: Slot, happened: Happened) -> Option<Slot> {
        match (slot, happened) {
            (Slot::Connecting(connecting), Happened::Connected(result)) => {
                Some(self.connected(connecting, result))
            }
            (Slot::Up(mut up), Happened::Changed(change)) => {
                match change {
                    Change::Tools if self.config.catalog() == CatalogMode::Live => {
                        up.refreshes.changed();
                    }
                    Change::Tools => {}
                    other => self.world.bus.changed(self.id(), other),
                }
                Some(Slot::Up(up))
            }
            (Slot::Up(up), Happened::Read(read)) => Some(self.read(up, read)),
            (Slot::Up(up), Happened::Steady) => {
                self.backoff.reset();
                if let Incident::Told = std::mem::replace(&mut self.incident, Incident::None) {
                    self.tell(EventKind::Recovered);
                }
                Some(Slot::Up(up))
            }
            (Slot::Up(up), Happened::Lost) => Some(self.lost(up)),
            (Slot::Closing(closing), Happened::Ended(Ok(()))) => self.gone(closing),
            (Slot::Closing(closing), Happened::Ended(Err(error))) => {
                Some(self.unreaped(closing, &error))
            }
            (Slot::Waiting(_), Happened::Due) => Some(self.connect(None)),
            // A stage tells its own events only.
            (slot, _) => Some(slot),
        }
    }

    pub(super) fn connect(&mut self, asked: Option<Asked>) -> Slot {
        let failures = self.backoff.failures();
        self.tell(EventKind::Connecting { failures });
        let dial = self.world.connector.dial(&self.config);
        Slot::Connecting(Connecting { dial, asked })
    }

    pub(super) fn connected(
        &mut self,
        connecting: Connecting,
        result: Result<Arc<dyn Session>, Error>,
    ) -> Slot {
        let Connecting { dial, asked } = connecting;
        let failure = match result {
            Ok(session) => match session.closed() {
                None => {
                    let up = self.publish(session, Arc::clone(&dial.launch));
                    if let Some(asked) = asked {
                        self.reply_connect(asked, Ok(Connected::Up));
                    }
                    return Slot::Up(up);
                }
                Some(error) => ConnectFailure::Lost(error),
            },
            Err(error) => ConnectFailure::Failed(error),
        };
        let (ConnectFailure::Failed(error) | ConnectFailure::Lost(error)) = &failure;
        let error = error.clone();
        self.note(&error);
        self.tell(EventKind::ConnectFailed {
            error: error.clone(),
        });
        let retry = self.retries(&error);
        let failures = self.backoff.fail();
        // Who waits for a connect is told of its failure; an operator is told too where nobody waits, or it is final.
        if !retry {
            self.alert(&error, Outlook::Halted);
        } else if asked.is_some() || failures >= FAILURES_TO_ALERT {
            self.alert(&error, Outlook::Retrying);
        }
        let then = match asked {
            Some(asked) => Then::Fail {
                asked,
                error: failure,
                retry,
            },
            None if retry => Then::Retry,
            None => Then::Vacate {
                failed: Some(error),
            },
        };
        Slot::Closing(Closing {
            ending: end_launch(&dial.launch, None),
            launch: dial.launch,
            then,
            waiters: Vec::new(),
        })
    }

    pub(super) fn publish(&mut self, session: Arc<dyn Session>, launch: Arc<dyn Launch>) -> Up {
        let generation = self.world.generations.fetch_add(1, Relaxed) + 1;
        let publication = Publication::new(
            &self.world.publisher,
            self.id(),
            self.config.name_prefix(),
            generation,
        );
        self.tell(EventKind::Connected {
            generation,
            quarantined: session.quarantined(),
        });
        let up = Up::new(session, launch, publication);
        self.standing.send_modify(|standing| {
            standing.session = Some((generation, Arc::clone(&up.session)));
            standing.connects += 1;
        });
        self.list(&up);
        up
    }

    pub(super) fn list(&self, up: &Up) {
        let flows = up.session.flows();
        let snapshot = up.publication.publish(flows);
        let flows = flows.len();
        self.tell(EventKind::Published { snapshot, flows });
    }

    pub(super) fn read(&mut self, mut up: Up, read: Read) -> Slot {
        let result = match read.result {
            // What ended meanwhile is no news; its end is told next.
            Ok(session) if session.closed().is_none() => {
                self.standing.send_modify(|standing| {
                    if let Some((_, shown)) = &mut standing.session {
                        *shown = Arc::clone(&session);
                    }
                });
                up.session = session;
                self.list(&up);
                Ok(())
            }
            Ok(session) => session.closed().map_or(Ok(()), Err),
            Err(error) => {
                self.tell(EventKind::RefreshFailed {
                    error: error.clone(),
                });
                Err(error)
            }
        };
        for answer in read.answers {
            let result = result.clone();
            self.reply(answer, result.map_err(|error| HostError::Refresh { error }));
        }
        Slot::Up(up)
    }

    pub(super) fn lost(&mut self, up: Up) -> Slot {
        let error = up.session.closed();
        let (ending, launch) = self.end_session(up);
        let then = match error {
            None => Then::Vacate { failed: None },
            Some(error) => {
                self.note(&error);
                self.tell(EventKind::Lost {
                    error: error.clone(),
                });
                let failures = self.backoff.fail();
                if !self.retries(&error) {
                    self.alert(&error, Outlook::Halted);
                    Then::Vacate {
                        failed: Some(error),
                    }
                } else {
                    if failures >= FAILURES_TO_ALERT {
                        self.alert(&error, Outlook::Retrying);
                    }
                    Then::Retry
                }
            }
        };
        Slot::Closing(Closing {
            ending,
            launch,
            then,
            waiters: Vec::new(),
        })
    }

    /// Everything that was started is gone.
    pub(super) fn gone(&mut self, closing: Closing) -> Option<Slot> {
        for answer in closing.waiters {
            self.reply(answer, Ok(()));
        }
        match closing.then {
            Then::Vacate { failed } => {
                self.keep(failed);
                None
            }
            Then::Retry => Some(self.wait()),
            Then::Restart {
                config,
                claim,
                answer,
            } => {
                let from = Arc::clone(self.id());
                Some(self.move_to(config, claim, Asked::Restart(from, answer)))
            }
            Then::Fail {
                asked,
                error,
                retry: true,
            } => {
                let (ConnectFailure::Failed(error) | ConnectFailure::Lost(error)) = error;
                self.reply_connect(asked, Ok(Connected::Retrying(error)));
                Some(self.wait())
            }
            Then::Fail {
                asked,
                error,
                retry: false,
            } => {
                let (ConnectFailure::Failed(told) | ConnectFailure::Lost(told)) = &error;
                self.keep(Some(told.clone()));
                let failure = self.failure(error);
                self.reply_connect(asked, Err(failure));
                None
            }
        }
    }

    /// A child is still there: the id is held, and nothing is started.
    pub(super) fn unreaped(&mut self, closing: Closing, error: &Error) -> Slot {
        self.note(error);
        self.tell(EventKind::Unreaped {
            error: error.clone(),
        });
        self.alert(error, Outlook::Held);
        let failure = || HostError::Unreaped {
            error: error.clone(),
        };
        for answer in closing.waiters {
            self.reply(answer, Err(failure()));
        }
        match closing.then {
            Then::Restart { answer, .. } => {
                let asked = Asked::Restart(Arc::clone(self.id()), answer);
                self.reply_connect(asked, Err(failure()));
            }
            Then::Fail { asked, .. } => self.reply_connect(asked, Err(failure())),
            Then::Vacate { .. } | Then::Retry => {}
        }
        Slot::Unreaped(Unreaped {
            launch: closing.launch,
        })
    }

    pub(super) fn move_to(
        &mut self,
        config: Arc<ServerConfig>,
        claim: Claim,
        asked: Asked,
    ) -> Slot {
        let bus = &self.world.bus;
        let moved = self
            .holding
            .take(claim, &config, |left| bus.tell(left, EventKind::Gone));
        self.outbox.extend(moved.map(Reply::Moved));
        self.config = config;
        self.backoff = Backoff::default();
        self.incident = Incident::None;
        self.connect(Some(asked))
    }

    pub(super) fn wait(&mut self) -> Slot {
        let delay = self.backoff.delay(&self.config);
        self.tell(EventKind::Waiting { delay });
        Slot::Waiting(Waiting {
            pause: Box::pin(sleep(delay)),
        })
    }
}
