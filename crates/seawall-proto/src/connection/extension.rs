//! An extension of the protocol that both sides declare under `capabilities.experimental`: its messages come out as they
//! stand, and go in as they are given. What they mean is not decided here.
//!
//! **Invariant:** unless both sides declare it, no message of it is sent or taken.
//!
//! Source: 2024-11-05, `basic/lifecycle`, "Capability Negotiation".

use super::outbox::{ENTRY_OVERHEAD_BYTES, Purpose};
use super::{Connection, Event, wire};
use crate::framing::Kind;
use crate::json::{DuplicateKey, Json};
use crate::limits::{MAX_JSON_DEPTH, MAX_WAITING_NOTICES};

/// Containers around `params`: the envelope.
const PARAMS_DEPTH: usize = 1;

/// An extension that this side declares in `initialize`. Revisions without a handshake have none.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name under `capabilities.experimental`.
    pub name: &'static str,
    /// What is declared there.
    pub declared: Json,
}

/// Why a notification was not queued. Nothing of it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Untold {
    /// The server does not declare the extension, or the session ended.
    #[error("there is no session of the extension")]
    NoSession,
    /// Its parameters are no object, or nest too deep.
    #[error("the parameters are no object, or nest too deep")]
    Params,
    /// It is longer than `maxOutboundFrameBytes`.
    #[error("it is longer than a frame may be")]
    TooLong,
    /// There is no room for it in the queue.
    #[error("the queue is full")]
    QueueFull,
}

impl Connection {
    /// Queues a notification of the extension; `params` is a JSON object, if there are any. It waits for no room.
    ///
    /// # Errors
    /// [`Untold`]; the session goes on.
    pub fn notify(&mut self, method: &str, params: Option<&Json>) -> Result<(), Untold> {
        if !self.is_extended() {
            return Err(Untold::NoSession);
        }
        let fits = |params: &Json| {
            params.kind() == Kind::Object && params.depth() + PARAMS_DEPTH <= MAX_JSON_DEPTH
        };
        if !params.is_none_or(fits) {
            return Err(Untold::Params);
        }
        let limits = &self.config.limits;
        // Before anything is copied.
        if params.is_some_and(|params| params.len() > limits.max_outbound_frame_bytes) {
            return Err(Untold::TooLong);
        }
        if self.outbox.is_full() {
            return Err(Untold::QueueFull);
        }
        let frame = wire::notification(method, params);
        if frame.len() - 1 > limits.max_outbound_frame_bytes {
            return Err(Untold::TooLong);
        }
        if self.buffered_bytes() + frame.len() + ENTRY_OVERHEAD_BYTES > limits.max_buffered_bytes {
            return Err(Untold::QueueFull);
        }
        self.send(frame, Purpose::Notice, None);
        Ok(())
    }

    /// Whether both sides declare the extension.
    pub(super) fn is_extended(&self) -> bool {
        self.config.experiment.is_some()
            && self
                .known_session()
                .is_some_and(|session| session.extension.is_some())
    }

    /// What these capabilities of the server declare of the extension that this side declares.
    pub(super) fn declared_too(&self, capabilities: &Json) -> Result<Option<Json>, DuplicateKey> {
        let Some(ours) = &self.config.experiment else {
            return Ok(None);
        };
        let [experimental] = capabilities.pick(["experimental"])?;
        let Some(experimental) = experimental else {
            return Ok(None);
        };
        let [theirs] = experimental.pick([ours.name])?;
        Ok(theirs.filter(|theirs| theirs.kind() == Kind::Object))
    }

    /// A notification came that the protocol does not know.
    pub(super) fn extension_told(&mut self, method: &str, params: Option<&Json>) {
        if !self.is_extended() {
            return;
        }
        if self.events.len() >= MAX_WAITING_NOTICES {
            self.stats.notices_dropped += 1;
            return;
        }
        self.events.push_back(Event::ExtensionTold {
            method: method.to_owned(),
            params: params.cloned(),
        });
    }
}
