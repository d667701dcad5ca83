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
use std::sync::Arc;
use std::task::Waker;

use bytes::Bytes;

use crate::jsonrpc::{ErrorObject, Inbound, Malformed, Noise, Reply, classify, for_each_message};
use crate::limits::MAX_WAITING_DIAGNOSTICS;
use crate::outcome::Outcome;

mod asking;
mod calls;
mod close;
mod config;
mod error;
mod event;
mod exchange;
mod extension;
mod handover;
mod handshake;
mod inputs;
mod kept;
mod ledger;
mod left;
mod legs;
mod listen;
mod listing;
mod logs;
mod obstacle;
mod outbox;
mod refusal;
mod request;
mod standing;
mod stats;
mod terms;
mod time;
mod wire;

#[cfg(test)]
mod tests;

pub use calls::Bound;
pub use close::{CloseReason, ExitReason, HandshakeFault, HeldUp, RevisionRefusal, Step};
pub use config::{Binding, ClientConfig, Era, ToolsNeed};
pub use error::{BetweenLegs, CallError, RemoteText, Unfinished};
pub use event::{Event, Session};
pub use exchange::{ExchangeFault, Order, Transmit, TransmitKind};
pub use extension::{Experiment, Untold};
pub use handover::{Authorising, Handover, Refused};
pub use inputs::InputId;
pub use ledger::{Abandoned, CallId, Progress};
pub use listen::Change;
pub use obstacle::Obstacle;
pub use request::Route;
pub use stats::Stats;
pub use terms::{Rounds, Terms};
pub use time::Time;

use asking::Exchange;
use exchange::Introduction;
use handshake::{Ready, Renewals};
use inputs::Inputs;
use ledger::Calls;
use listen::Listen;
use listing::Listing;
use outbox::{Outbox, Purpose};
use request::Request;
use wire::Meta;

/// Where a session stands. A variant holds what that stage has, and nothing else.
#[derive(Debug)]
enum Stage {
    Discovering {
        since: Time,
    },
    Initializing {
        since: Time,
    },
    Listing(Box<Listing>),
    Ready(Ready),
    Closed {
        reason: CloseReason,
        connect: Outcome,
        step: Step,
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
    /// The handshake request under way, or the last one.
    exchange: Exchange,
    /// What every request says of itself: nothing on legacy revisions.
    meta: Meta,
    inputs: Inputs,
    listen: Listen,
    /// The level of the server's log that was asked for.
    log_level: Option<String>,
    /// `notifications/initialized`, over a transport of exchanges.
    introducing: Option<Introduction>,
    /// Replies and cancellations whose exchanges are not over.
    asides: usize,
    /// How many sessions were made after the first (T3).
    sessions: u32,
    renewals: Renewals,
    orders: VecDeque<Order>,
    events: VecDeque<Event>,
    stats: Stats,
}

impl Connection {
    /// A client's connection, with its first request queued: `initialize`, or `server/discover`.
    ///
    /// Source: 2025-11-25, `basic/lifecycle`, "Initialization"; 2026-07-28, `basic/versioning`.
    #[must_use]
    pub fn client(now: Time, config: ClientConfig) -> Self {
        let mut connection = Self {
            outbox: Outbox::new(config.binding, config.limits.queue_capacity),
            calls: Calls::default(),
            stage: Stage::Initializing { since: now },
            next_id: 1,
            exchange: Exchange::default(),
            meta: Meta::default(),
            inputs: Inputs::default(),
            listen: Listen::default(),
            log_level: None,
            introducing: None,
            asides: 0,
            sessions: 0,
            renewals: Renewals::default(),
            orders: VecDeque::new(),
            events: VecDeque::new(),
            stats: Stats::default(),
            config,
        };
        connection.start(now);
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
        self.take_message(now, frame, message, None);
    }

    /// `on` is the request of ours whose stream it came on, if it has one.
    fn take_message(
        &mut self,
        now: Time,
        frame: &Bytes,
        message: Result<Inbound, Malformed>,
        on: Option<u64>,
    ) {
        if self.is_closed() {
            return;
        }
        self.stats.frames_in += 1;
        self.stats.bytes_in += frame.len() as u64;
        self.stats.longest_frame_in = self.stats.longest_frame_in.max(frame.len());
        match message {
            Ok(Inbound::Array) if self.has_batches() => {
                let messages = for_each_message(frame, |element, message| {
                    self.handle_one(now, element, message, on);
                });
                if messages == 0 {
                    self.noise(Noise::Array, frame);
                }
            }
            message => self.handle_one(now, frame, message, on),
        }
    }

    fn handle_one(
        &mut self,
        now: Time,
        frame: &Bytes,
        message: Result<Inbound, Malformed>,
        on: Option<u64>,
    ) {
        if self.is_closed() {
            return;
        }
        match message {
            Err(malformed) => self.close(CloseReason::Malformed(malformed)),
            Ok(Inbound::Noise(kind)) => self.noise(kind, frame),
            Ok(Inbound::Request { id, method, params }) => {
                self.answer(now, &id, &method, params, on);
            }
            Ok(Inbound::Notification { method, params }) => {
                self.stats.notifications += 1;
                match (method.as_str(), &params) {
                    ("notifications/progress", Some(params)) => self.calls.progress(now, params),
                    _ => self.told(now, &method, params.as_ref(), on),
                }
            }
            Ok(Inbound::UncorrelatedError(error)) => {
                self.stats.uncorrelated_errors += 1;
                self.diagnose(|| Event::UncorrelatedError(error));
            }
            Ok(Inbound::Response { id, answer }) => match id.as_ours() {
                Some(ours) => self.answered(now, ours, frame.len(), answer),
                None => self.stats.stray_replies += 1,
            },
            // A batch within a batch, or one where the revision has none.
            Ok(Inbound::Array) => self.noise(Noise::Array, frame),
        }
    }

    /// Request `ours` was answered, in a frame of so many bytes.
    fn answered(
        &mut self,
        now: Time,
        ours: u64,
        frame_bytes: usize,
        answer: Result<Reply, ErrorObject>,
    ) {
        if self.exchange.awaits(ours) {
            self.handshake_answer(now, answer);
        } else if self.is_live_listen(ours) {
            self.listen_answered(now, answer);
        } else if !self.finish(now, ours, frame_bytes, answer) {
            self.stats.stray_replies += 1;
            self.outbox.withdraw_cancel(ours);
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
            listen,
            stats,
            ..
        } = self;
        stats.bytes_out += bytes as u64;
        outbox.written(bytes, |purpose, length| {
            stats.frames_out += 1;
            stats.longest_frame_out = stats.longest_frame_out.max(length - 1);
            match purpose {
                Purpose::Request(id) => calls.dispatched(id),
                Purpose::Handshake(id) => exchange.dispatched(id),
                Purpose::Listen(_) => listen.dispatched(),
                _ => {}
            }
        });
    }

    /// Ends what is past its deadline.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.outbox.room_by().is_some_and(|by| by <= now) {
            self.close(CloseReason::ReplyBlocked);
        }
        // Before what holds it up is given up: that is why it ended.
        if self.exchange.deadline.is_some_and(|by| by <= now) {
            self.exchange_expired(now);
        } else if self
            .exchange
            .rests_until()
            .is_some_and(|until| until <= now)
        {
            self.ask_again(now);
        }
        if self.introducing.as_ref().is_some_and(|one| one.by <= now)
            && let Some(key) = self.introducing.take().and_then(|one| one.key)
        {
            // Nothing waits for ever for a server that does not say whether it heard.
            self.hang_up(key);
        }
        self.listen_again(now);
        self.expire_calls(now);
        self.pace(now);
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
            self.exchange.rests_until(),
            self.introducing.as_ref().map(|one| one.by),
            self.listen.next(),
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
        let connect = reason
            .outcome()
            .unwrap_or(if self.exchange.is_dispatched() {
                Outcome::NoResponse
            } else {
                Outcome::NotSent
            });
        let step = self.step();
        self.outbox.clear();
        self.exchange = Exchange::default();
        self.introducing = None;
        self.inputs.clear();
        self.listen = Listen::default();
        self.orders.clear();
        self.calls.close(&reason);
        self.stage = Stage::Closed {
            reason,
            connect,
            step,
        };
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
        if self.config.diagnostics {
            self.diagnose_always(event);
        }
    }

    /// Tells something that may be dropped.
    fn diagnose_always(&mut self, event: impl FnOnce() -> Event) {
        if self.events.len() < MAX_WAITING_DIAGNOSTICS {
            self.events.push_back(event());
        } else {
            self.stats.diagnostics_dropped += 1;
        }
    }

    /// Queues a frame; tells its number in the outbox.
    fn send(&mut self, frame: Vec<u8>, purpose: Purpose, route: Option<Box<Route>>) -> u64 {
        let number = self.outbox.push(frame, purpose, route);
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

    /// Whether requests have headers that say what they are (T2).
    fn has_routes(&self) -> bool {
        self.config.binding == Binding::Http && self.meta.is_modern()
    }

    /// What goes into the headers of `request`, where it has some.
    fn route(&self, request: &Request) -> Option<Box<Route>> {
        self.has_routes()
            .then(|| request.route(self.catalog().map(Arc::as_ref)))
    }

    /// What goes into the headers of a request of ours, where it has some.
    fn route_of(&self, method: &str) -> Option<Box<Route>> {
        self.has_routes().then(|| Route::of_method(method))
    }
}
