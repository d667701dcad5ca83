//! One client, from the server's side, as a state machine without I/O: the same protocol as
//! [`connection`](crate::connection), the other role.
//!
//! The driver hands over frames ([`ServerConnection::handle_message`]) and the end
//! ([`ServerConnection::handle_closed`]); it takes events ([`ServerConnection::poll_event`]) and frames
//! ([`ServerConnection::poll_transmit`]). Requests are answered by [`ServerConnection::respond`].
//!
//! How the client opens decides the era, which is then fixed: `initialize` begins a session of a legacy revision, a
//! request whose `_meta` tells a version is served as the modern revisions want it (2026-07-28, `basic/versioning`).
//! Over HTTP a modern request has no connection: [`Claims`] checks it, and [`response`] writes its answer.
//!
//! **Invariant:** every request that could be read is answered exactly once, unless its client cancelled it or left.
//! **Invariant:** a result's bytes go into its answer as they are (G2).
//! **Invariant:** what is held is bounded by [`ServerLimits`], whatever the client sends.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

use crate::json::Json;
use crate::jsonrpc::{
    ErrorObject, INTERNAL_ERROR, IdName, Inbound, Malformed, RequestId, classify, for_each_message,
};
use crate::limits::{MAX_JSON_DEPTH, MAX_WAITING_EVENTS, ServerLimits};
use crate::mcp::Revision;

mod event;
mod inbound;
mod meta;
mod offer;
mod wire;

#[cfg(test)]
mod tests;

pub use event::{AskId, CloseReason, Event, Lane, NotSent, Outbound, Request, RequestKey};
pub use meta::{Claims, RequestMeta};
pub use offer::Offer;
pub use wire::{notification, refusal, response};

use meta::Introduction;

/// Where a connection stands. A variant holds what that stage has, and nothing else.
#[derive(Debug)]
enum Stage {
    /// The client has not said how it speaks.
    Opening,
    /// `initialize` came, and is not answered yet.
    Initializing {
        introduction: Introduction,
        by: RequestKey,
    },
    /// A session of a revision with a handshake.
    Legacy(Introduction),
    /// Each request tells its own revision.
    Modern(Revision),
    Closed(CloseReason),
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Taken {
    /// The requests that were in it, each of which gets one answer.
    pub requests: Vec<RequestKey>,
    /// Whether it, or a part of it, could not be read, and a [`Lane::Refusal`] says so.
    pub refused: bool,
}

/// Counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Frames that came.
    pub frames_in: u64,
    /// Frames that were refused without an id, and lines that were blank.
    pub noise: u64,
    /// Answers that answer nothing of ours.
    pub stray_answers: u64,
    /// Requests that were answered here and not by the driver.
    pub refused: u64,
}

/// A request that is not answered.
#[derive(Debug)]
struct Pending {
    id: RequestId,
    /// What it and its parameters hold.
    bytes: usize,
}

/// One client. See the [module](self).
#[derive(Debug)]
pub struct ServerConnection {
    limits: ServerLimits,
    stage: Stage,
    pending: HashMap<RequestKey, Pending>,
    pending_bytes: usize,
    by_id: HashMap<IdName, RequestKey>,
    next_key: u64,
    /// Requests of ours that are not answered.
    asked: Vec<AskId>,
    next_ask: u64,
    outbox: VecDeque<Outbound>,
    outbox_bytes: usize,
    events: VecDeque<Event>,
    stats: Stats,
}

impl ServerConnection {
    /// A connection of which nothing came yet.
    #[must_use]
    pub fn new(limits: ServerLimits) -> Self {
        Self {
            limits,
            stage: Stage::Opening,
            pending: HashMap::new(),
            pending_bytes: 0,
            by_id: HashMap::new(),
            next_key: 0,
            asked: Vec::new(),
            next_ask: 1,
            outbox: VecDeque::new(),
            outbox_bytes: 0,
            events: VecDeque::new(),
            stats: Stats::default(),
        }
    }

    /// Takes one frame, without its newline: [`classify`] and then [`handle_message`](Self::handle_message).
    pub fn handle_frame(&mut self, frame: &Bytes) -> Taken {
        self.handle_message(frame, classify(frame))
    }

    /// Takes one frame that was classified before, so that the work of it can be done outside a lock.
    pub fn handle_message(&mut self, frame: &Bytes, message: Result<Inbound, Malformed>) -> Taken {
        let mut taken = Taken::default();
        if matches!(self.stage, Stage::Closed(_)) {
            return taken;
        }
        self.stats.frames_in += 1;
        match message {
            Ok(Inbound::Array) if self.has_batches() => {
                let messages = for_each_message(frame, |_, message| match message {
                    Ok(Inbound::Array) => self.refuse(&mut taken, "a batch in a batch"),
                    message => self.handle_one(&mut taken, message),
                });
                if messages == 0 {
                    self.refuse(&mut taken, "the batch is empty");
                }
            }
            message => self.handle_one(&mut taken, message),
        }
        taken
    }

    /// The connection ends; the first reason stays. What waits to be sent is dropped, and nothing is answered any more.
    pub fn handle_closed(&mut self, reason: CloseReason) {
        if matches!(self.stage, Stage::Closed(_)) {
            return;
        }
        self.stage = Stage::Closed(reason);
        self.pending.clear();
        self.pending_bytes = 0;
        self.by_id.clear();
        self.asked.clear();
        self.outbox.clear();
        self.outbox_bytes = 0;
        self.events.clear();
        self.events.push_back(Event::Closed);
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next frame to be sent, which is the driver's from now on.
    pub fn poll_transmit(&mut self) -> Option<Outbound> {
        let outbound = self.outbox.pop_front()?;
        self.outbox_bytes -= outbound.frame.len();
        Some(outbound)
    }

    /// Answers a request.
    ///
    /// # Errors
    /// [`NotSent::NotPending`] if it was answered or cancelled, [`NotSent::Closed`]; [`NotSent::TooLong`] if the result
    /// cannot be sent, in which case an error answered.
    pub fn respond(
        &mut self,
        key: RequestKey,
        answer: Result<&Json, &ErrorObject>,
    ) -> Result<(), NotSent> {
        self.open_or_closed()?;
        let id = self.end(key).ok_or(NotSent::NotPending)?;
        let too_deep = answer.is_ok_and(|result| {
            // In its envelope a result is one deeper.
            result
                .checked_depth()
                .is_some_and(|depth| depth >= MAX_JSON_DEPTH)
        });
        let frame = response(&id, answer);
        let fits = !too_deep && frame.len() <= self.limits.max_outbound_frame_bytes;
        self.initialized_by(key, fits && answer.is_ok());
        if fits {
            self.push(Lane::Answer(key), frame);
            return Ok(());
        }
        let error = ErrorObject::new(INTERNAL_ERROR, "the result is too large to be sent", None);
        self.push(Lane::Answer(key), response(&id, Err(&error)));
        Err(NotSent::TooLong)
    }

    /// Sends a notification, of no request or while one is under way.
    ///
    /// # Errors
    /// [`NotSent`] says why not.
    pub fn notify(
        &mut self,
        during: Option<RequestKey>,
        method: &str,
        params: Option<&Json>,
    ) -> Result<(), NotSent> {
        let lane = self.lane(during)?;
        let frame = notification(method, params);
        self.send(lane, frame, params)
    }

    /// Asks the client for something: `sampling/createMessage`, `elicitation/create`, `roots/list`, `ping`. Legacy only;
    /// modern revisions ask in a result.
    ///
    /// # Errors
    /// [`NotSent`] says why not.
    pub fn request(
        &mut self,
        during: Option<RequestKey>,
        method: &str,
        params: Option<&Json>,
    ) -> Result<AskId, NotSent> {
        let lane = self.lane(during)?;
        if !matches!(self.stage, Stage::Legacy(_)) {
            return Err(NotSent::NoRequests);
        }
        if self.asked.len() >= self.limits.max_asked {
            return Err(NotSent::TooManyAsked);
        }
        let ask = AskId(self.next_ask);
        let frame = wire::request(ask.0, method, params);
        self.send(lane, frame, params)?;
        self.next_ask += 1;
        self.asked.push(ask);
        Ok(ask)
    }

    /// Nobody waits for this answer any longer: the client is told, and what it answers is dropped.
    pub fn withdraw(&mut self, during: Option<RequestKey>, ask: AskId) {
        let Some(at) = self.asked.iter().position(|one| *one == ask) else {
            return;
        };
        self.asked.swap_remove(at);
        let params = format!("{{\"requestId\":{}}}", ask.0);
        let params = Json::part_of_checked(params.into());
        let during = during.filter(|key| self.pending.contains_key(key));
        // If too much waits already, the client does not learn it, and its answer is dropped all the same.
        let _ = self.notify(during, "notifications/cancelled", Some(&params));
    }

    /// Whether the driver may read on: false while more than `max_buffered_bytes` wait to be written, or events to be
    /// taken.
    #[must_use]
    pub fn wants_read(&self) -> bool {
        self.outbox_bytes <= self.limits.max_buffered_bytes
            && self.events.len() < MAX_WAITING_EVENTS
    }

    /// Bytes that wait to be sent.
    #[must_use]
    pub fn buffered_bytes(&self) -> usize {
        self.outbox_bytes
    }

    /// Requests of the client that are not answered.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The revision that is spoken, once the client opened.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        match &self.stage {
            Stage::Legacy(introduction) => Some(introduction.revision),
            Stage::Modern(revision) => Some(*revision),
            _ => None,
        }
    }

    /// Why it ended, if it did.
    #[must_use]
    pub fn close_reason(&self) -> Option<CloseReason> {
        match self.stage {
            Stage::Closed(reason) => Some(reason),
            _ => None,
        }
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }
}

impl ServerConnection {
    fn has_batches(&self) -> bool {
        self.revision().is_some_and(Revision::has_batches)
    }

    /// A request is under way no longer; its id.
    fn end(&mut self, key: RequestKey) -> Option<RequestId> {
        let Pending { id, bytes } = self.pending.remove(&key)?;
        self.pending_bytes -= bytes;
        self.by_id.remove(&id.name());
        Some(id)
    }

    /// A request was answered: `initialize` begins the session, or leaves it to be begun again.
    fn initialized_by(&mut self, key: RequestKey, well: bool) {
        match std::mem::replace(&mut self.stage, Stage::Opening) {
            Stage::Initializing { introduction, by } if by == key => {
                if well {
                    self.stage = Stage::Legacy(introduction);
                }
            }
            stage => self.stage = stage,
        }
    }

    fn open_or_closed(&self) -> Result<(), NotSent> {
        match self.stage {
            Stage::Closed(_) => Err(NotSent::Closed),
            _ => Ok(()),
        }
    }

    fn lane(&self, during: Option<RequestKey>) -> Result<Lane, NotSent> {
        self.open_or_closed()?;
        match during {
            Some(key) if self.pending.contains_key(&key) => Ok(Lane::During(key)),
            Some(_) => Err(NotSent::NotPending),
            None if self.revision().is_none() => Err(NotSent::NotOpen),
            None => Ok(Lane::Aside),
        }
    }

    fn send(&mut self, lane: Lane, frame: Bytes, params: Option<&Json>) -> Result<(), NotSent> {
        let depth = params.and_then(Json::checked_depth).unwrap_or_default();
        if frame.len() > self.limits.max_outbound_frame_bytes || depth >= MAX_JSON_DEPTH {
            return Err(NotSent::TooLong);
        }
        if self.outbox_bytes.saturating_add(frame.len()) > self.limits.max_buffered_bytes {
            return Err(NotSent::Full);
        }
        self.push(lane, frame);
        Ok(())
    }

    fn push(&mut self, lane: Lane, frame: Bytes) {
        self.outbox_bytes += frame.len();
        self.outbox.push_back(Outbound { lane, frame });
    }
}
