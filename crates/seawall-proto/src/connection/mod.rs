//! One session with one server, as a state machine without I/O.
//!
//! The driver hands over messages ([`Connection::handle_message`]), how many bytes the transport took
//! ([`Connection::handle_written`]), the clock ([`Connection::handle_timeout`]) and the end
//! ([`Connection::handle_closed`]); it takes frames ([`Connection::transmit`]), events
//! ([`Connection::poll_event`]), the next deadline ([`Connection::poll_timeout`]) and the wakers of finished calls
//! ([`Connection::drain_wakers`]).
//!
//! **Invariant:** every call ends exactly once, at the latest at its deadline.
//! **Invariant:** `not_sent` is said only of a request of whose frame the transport took no byte.
//! **Invariant:** the first terminal reason is the only one.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;

use crate::json::Json;
use crate::jsonrpc::{
    ErrorObject, Inbound, Malformed, Noise, RequestId, classify, for_each_element,
};
use crate::limits::{Limits, MAX_WAITING_DIAGNOSTICS};
use crate::mcp::{Catalog, Revision};
use crate::outcome::Outcome;

mod calls;
mod error;
mod handshake;
mod outbox;
mod stats;
mod time;
mod wire;

#[cfg(test)]
mod tests;

pub use calls::{Abandoned, CallId, Progress};
pub use error::{CallError, CloseReason, ExitReason, HandshakeFault, RevisionRefusal, Step};
pub use stats::Stats;
pub use time::Time;

use calls::Calls;
use handshake::Listing;
use outbox::{Outbox, Purpose};

/// What a client connection is made of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The bounds.
    pub limits: Limits,
    /// The revision that the configuration pins, if any (K7). It must be one with a handshake.
    pub pin: Option<Revision>,
    /// The version that `initialize` discloses beside the name `seawall` (S1).
    pub version: &'static str,
    /// Whether diagnostics are wanted; without them, events carry none.
    pub diagnostics: bool,
}

impl ClientConfig {
    /// The defaults: [`Limits::default`], no pin, no diagnostics.
    #[must_use]
    pub fn new(version: &'static str) -> Self {
        Self {
            limits: Limits::default(),
            pin: None,
            version,
            diagnostics: false,
        }
    }
}

/// What a server said of itself in the handshake.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Session {
    /// The negotiated revision.
    pub revision: Revision,
    /// `capabilities`, unchanged.
    pub capabilities: Json,
    /// `serverInfo`, unchanged, if present: for display only.
    pub server_info: Option<Json>,
    /// `instructions`, unchanged, if present: the server's text.
    pub instructions: Option<Json>,
}

/// What happened, for the driver. Debug hides what the server wrote.
#[non_exhaustive]
pub enum Event {
    /// The handshake is over; the catalog is there.
    Ready,
    /// The session ended; [`Connection::close_reason`] says why.
    Closed,
    /// A line was noise (S6). Told only if diagnostics are wanted.
    Noise {
        /// Why.
        kind: Noise,
        /// The line: remote text, to be redacted before it is cut.
        line: Bytes,
    },
    /// An error that answers no request. Told only if diagnostics are wanted.
    UncorrelatedError(ErrorObject),
    /// A JSON-RPC error that failed a request of ours. Told only if diagnostics are wanted.
    RemoteError(ErrorObject),
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("Ready"),
            Self::Closed => f.write_str("Closed"),
            Self::Noise { kind, line } => write!(f, "Noise({kind:?}, {} bytes)", line.len()),
            Self::UncorrelatedError(error) => write!(f, "UncorrelatedError({error:?})"),
            Self::RemoteError(error) => write!(f, "RemoteError({error:?})"),
        }
    }
}

/// Where a session stands. A variant holds what that stage has, and nothing else.
#[derive(Debug)]
enum Stage {
    Initializing {
        since: Time,
    },
    Listing(Box<Listing>),
    Ready {
        session: Arc<Session>,
        catalog: Arc<Catalog>,
    },
    Closed {
        reason: CloseReason,
        connect: Outcome,
    },
}

/// One session with one server. See the [module](self).
#[derive(Debug)]
pub struct Connection {
    config: ClientConfig,
    stage: Stage,
    outbox: Outbox,
    calls: Calls,
    next_id: u64,
    /// Whether the transport took the first byte of the handshake request under way, and when that must be answered.
    exchange: Exchange,
    events: VecDeque<Event>,
    stats: Stats,
}

/// The handshake request under way.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    request: u64,
    dispatched: bool,
    deadline: Option<Time>,
}

impl Exchange {
    fn awaits_answer(&self) -> bool {
        self.dispatched && self.deadline.is_some()
    }
}

impl Connection {
    /// A client's connection, with `initialize` queued.
    ///
    /// Source: 2025-11-25, `basic/lifecycle`, "Initialization".
    #[must_use]
    pub fn client(now: Time, config: ClientConfig) -> Self {
        let mut connection = Self {
            outbox: Outbox::new(config.limits.queue_capacity),
            calls: Calls::default(),
            stage: Stage::Initializing { since: now },
            next_id: 1,
            exchange: Exchange {
                request: 0,
                dispatched: false,
                deadline: None,
            },
            events: VecDeque::new(),
            stats: Stats::default(),
            config,
        };
        connection.begin_initialize(now);
        connection
    }

    /// Takes one frame, without its newline: [`classify`] and then [`handle_message`](Self::handle_message).
    pub fn handle_frame(&mut self, now: Time, frame: &Bytes) {
        self.handle_message(now, frame, classify(frame));
    }

    /// Takes one frame that was classified before, so that the work of it can be done outside a lock.
    pub fn handle_message(
        &mut self,
        now: Time,
        frame: &Bytes,
        message: Result<Inbound, Malformed>,
    ) {
        if self.is_closed() {
            return;
        }
        self.stats.frames_in += 1;
        self.stats.bytes_in += frame.len() as u64;
        self.stats.longest_frame_in = self.stats.longest_frame_in.max(frame.len());
        match message {
            Ok(Inbound::Array) if self.has_batches() => {
                let mut elements = 0_usize;
                for_each_element(frame, |element| {
                    elements += 1;
                    // A copy, so that what is kept of one element does not keep the whole batch alive.
                    let element = Bytes::copy_from_slice(&element);
                    let message = classify(&element);
                    self.handle_one(now, &element, message);
                });
                if elements == 0 {
                    self.noise(Noise::Array, frame);
                }
            }
            message => self.handle_one(now, frame, message),
        }
    }

    fn handle_one(&mut self, now: Time, frame: &Bytes, message: Result<Inbound, Malformed>) {
        if self.is_closed() {
            return;
        }
        match message {
            Err(malformed) => self.close(CloseReason::Malformed(malformed)),
            Ok(Inbound::Noise(kind)) => self.noise(kind, frame),
            Ok(Inbound::Request { id, method, .. }) => self.answer(now, &id, &method),
            Ok(Inbound::Notification { method, params }) => {
                self.stats.notifications += 1;
                if method == "notifications/progress"
                    && let Some(params) = params
                {
                    self.calls.progress(&params);
                }
            }
            Ok(Inbound::UncorrelatedError(error)) => {
                self.stats.uncorrelated_errors += 1;
                self.diagnose(|| Event::UncorrelatedError(error));
            }
            Ok(Inbound::Response { id, answer }) => {
                let ours = id.as_ours();
                if ours == Some(self.exchange.request) && self.exchange.awaits_answer() {
                    self.handshake_answer(now, answer);
                } else if !ours.is_some_and(|ours| self.finish(ours, frame.len(), answer)) {
                    self.stats.stray_replies += 1;
                    if let Some(ours) = ours {
                        self.outbox.withdraw_cancel(ours);
                    }
                }
            }
            // A batch within a batch, or one where the revision has none.
            Ok(Inbound::Array) => self.noise(Noise::Array, frame),
        }
    }

    /// The session ended, as the driver saw. The first reason stays (S5).
    pub fn handle_closed(&mut self, reason: CloseReason) {
        self.close(reason);
    }

    /// The transport took `bytes` bytes of what [`transmit`](Self::transmit) showed. Frames whose first byte is among
    /// them are dispatched from now on (O2).
    pub fn handle_written(&mut self, bytes: usize) {
        let Self {
            outbox,
            calls,
            exchange,
            stats,
            ..
        } = self;
        stats.bytes_out += bytes as u64;
        outbox.written(bytes, |purpose, length| {
            stats.frames_out += 1;
            stats.longest_frame_out = stats.longest_frame_out.max(length - 1);
            if let Purpose::Request(id) = purpose {
                if id == exchange.request {
                    exchange.dispatched = true;
                } else {
                    calls.dispatched(id);
                }
            }
        });
    }

    /// Ends what is past its deadline.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.outbox.room_by().is_some_and(|by| by <= now) {
            self.close(CloseReason::ReplyBlocked);
        }
        if self.exchange.deadline.is_some_and(|by| by <= now) {
            let step = self.step();
            self.close(CloseReason::HandshakeTimeout {
                step,
                limit_ms: self.config.limits.handshake_timeout.as_millis(),
            });
        }
        for (id, left) in self.calls.expire(now) {
            self.let_go(id, left);
        }
    }

    /// What is to be written, frame by frame, each with its newline; the first may be a remainder.
    ///
    /// Write any prefix of it, then tell how much by [`handle_written`](Self::handle_written) before anything else is
    /// done to the connection.
    pub fn transmit(&self) -> impl Iterator<Item = &[u8]> {
        self.outbox.slices()
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_idle_out(&self) -> bool {
        self.outbox.len() == 0
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        [
            self.exchange.deadline,
            self.calls.next_deadline(),
            self.outbox.room_by(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Hands over the wakers of the calls that something happened to; wake them after the lock is released.
    pub fn drain_wakers(&mut self, into: &mut Vec<Waker>) {
        into.append(&mut self.calls.ready);
    }

    /// Whether the driver may read on. False while results that nobody took and frames that nobody read are past
    /// `maxBufferedBytes` (L8); calls alone never get there, since one that would is refused.
    #[must_use]
    pub fn wants_read(&self) -> bool {
        self.buffered_bytes() <= self.config.limits.max_buffered_bytes
    }

    /// Calls that have not ended.
    #[must_use]
    pub fn pending_calls(&self) -> usize {
        self.calls.pending()
    }

    /// The negotiated session, once the handshake is over.
    #[must_use]
    pub fn session(&self) -> Option<&Arc<Session>> {
        match &self.stage {
            Stage::Ready { session, .. } => Some(session),
            _ => None,
        }
    }

    /// The catalog, once the handshake is over.
    #[must_use]
    pub fn catalog(&self) -> Option<&Arc<Catalog>> {
        match &self.stage {
            Stage::Ready { catalog, .. } => Some(catalog),
            _ => None,
        }
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
            Stage::Closed { reason, connect } => Some((reason, *connect)),
            _ => None,
        }
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Bytes held now: frames not written and results not taken (L8).
    #[must_use]
    pub fn buffered_bytes(&self) -> usize {
        self.outbox.bytes() + self.calls.result_bytes()
    }

    fn is_closed(&self) -> bool {
        matches!(self.stage, Stage::Closed { .. })
    }

    /// The one terminal transition (S5).
    fn close(&mut self, reason: CloseReason) {
        if self.is_closed() {
            return;
        }
        let connect = reason.outcome().unwrap_or(if self.exchange.dispatched {
            Outcome::NoResponse
        } else {
            Outcome::NotSent
        });
        self.outbox.clear();
        self.exchange.deadline = None;
        self.calls.close(&reason);
        self.stage = Stage::Closed { reason, connect };
        self.events.push_back(Event::Closed);
    }

    fn noise(&mut self, kind: Noise, line: &Bytes) {
        self.stats.noise += 1;
        self.diagnose(|| Event::Noise {
            kind,
            line: line.clone(),
        });
    }

    fn diagnose(&mut self, event: impl FnOnce() -> Event) {
        if !self.config.diagnostics {
            return;
        }
        if self.events.len() < MAX_WAITING_DIAGNOSTICS {
            self.events.push_back(event());
        } else {
            self.stats.diagnostics_dropped += 1;
        }
    }

    /// Answers a request of the server (S7).
    fn answer(&mut self, now: Time, id: &RequestId, method: &str) {
        self.stats.requests += 1;
        let frame = wire::answer(id, method == "ping");
        if frame.len() - 1 > self.config.limits.max_outbound_frame_bytes {
            // Only an id of nearly a frame's length gets here; a reply that cannot be sent is one that is blocked.
            self.close(CloseReason::ReplyBlocked);
            return;
        }
        let room_by = now.after(self.config.limits.request_timeout);
        self.send(frame, Purpose::Reply { room_by });
    }

    /// Queues a frame; tells its number in the outbox.
    fn send(&mut self, frame: Vec<u8>, purpose: Purpose) -> u64 {
        let number = self.outbox.push(frame, purpose);
        self.stats.most_queued = self.stats.most_queued.max(self.outbox.len());
        self.note_buffered();
        number
    }

    fn note_buffered(&mut self) {
        self.stats.most_buffered = self.stats.most_buffered.max(self.buffered_bytes());
    }

    fn new_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    fn handshake_deadline(&self, now: Time) -> Time {
        now.after(self.config.limits.handshake_timeout)
    }

    fn default_timeout(&self) -> Duration {
        self.config.limits.request_timeout
    }
}
