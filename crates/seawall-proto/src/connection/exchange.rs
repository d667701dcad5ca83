//! The connection over a transport that sends each message by itself, and whose answers come on streams of their own.
//!
//! The driver takes messages ([`Connection::poll_transmit`]) and orders ([`Connection::poll_order`]), and hands back what
//! came on each message's stream ([`Connection::handle_response`]), how the stream ended
//! ([`Connection::handle_exchange_end`]) and a session that the server forgot ([`Connection::handle_session_lost`]).

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;

use super::handover::Handover;
use super::ledger::Leg;
use super::left::Left;
use super::obstacle::Obstacle;
use super::outbox::{Lane, Purpose};
use super::{Binding, CallError, Connection, Route, Stage, Time, wire};
use crate::jsonrpc::{Inbound, Malformed, Noise};
use crate::outcome::{ErrorCode, Outcome};

/// How long a busy server is left alone that does not say how long.
const RETRY_AFTER: Duration = Duration::from_secs(1);
const FORGOTTEN_TWICE: &str = "it forgot the session, and again the one made after it";

/// `notifications/initialized`, which nothing may overtake.
#[derive(Debug)]
pub(super) struct Introduction {
    /// Its key, once the transport has it.
    pub(super) key: Option<u64>,
    /// It is waited for until then.
    pub(super) by: Time,
}

/// One message to send.
#[derive(Debug)]
#[non_exhaustive]
pub struct Transmit {
    /// The name of its exchange: a request's id; other messages count down from the largest number.
    pub key: u64,
    /// What it is.
    pub kind: TransmitKind,
    /// The JSON text, without a newline.
    pub body: Vec<u8>,
    /// What goes into its headers, for a request on a modern revision.
    pub route: Route,
    /// To be asked right before its first byte goes to an established connection.
    pub handover: Handover,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransmitKind {
    /// `initialize`.
    Initialize,
    /// The request for the stream of changes, which nobody waits for.
    Listen,
    /// Any other request.
    Request,
    /// A notification.
    Notification,
    /// The answer to a request of the server.
    Reply,
}

/// What is to become of an exchange under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nobody waits for it: drop it, with its stream.
    HangUp(u64),
    /// Its request is answered: the rest of its stream says nothing any longer.
    Finish(u64),
}

/// Why an exchange ended without an answer, in the transport's own words: they hold no remote text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExchangeFault {
    /// What happened, as the end of a sentence that begins with the server's name.
    pub text: Cow<'static, str>,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// The class of the failure (O1).
    pub code: ErrorCode,
    /// Whether the server refused whatever was sent of it.
    refused: bool,
    /// What stood in the way, where that is known.
    pub obstacle: Option<Obstacle>,
    /// How long the server wants to be left alone, where it said so or its status does.
    pub retry_after: Duration,
}

impl ExchangeFault {
    /// A fault in these words.
    #[must_use]
    pub fn new(text: impl Into<Cow<'static, str>>, code: ErrorCode) -> Self {
        Self {
            text: text.into(),
            status: None,
            code,
            refused: false,
            obstacle: None,
            retry_after: RETRY_AFTER,
        }
    }

    /// With the status that came.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// With what stood in the way.
    #[must_use]
    pub fn with_obstacle(mut self, obstacle: Obstacle) -> Self {
        self.obstacle = Some(obstacle);
        self
    }

    /// Whatever was sent, the server refused it and did nothing.
    #[must_use]
    pub fn of_refusal(mut self) -> Self {
        self.refused = true;
        self
    }

    /// With how long the server asks to be left alone.
    #[must_use]
    pub fn with_retry_after(mut self, after: Duration) -> Self {
        self.retry_after = after;
        self
    }

    /// Whether the server has enough to do, and says when it may be asked again.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self.status, Some(429 | 503))
    }

    /// Without a status, if nothing was sent: what was not asked was not refused.
    fn told_if(mut self, begun: bool) -> Self {
        self.status = self.status.filter(|_| begun);
        self
    }

    /// What became of a request whose first byte was or was not sent (O2).
    pub(super) fn outcome(&self, begun: bool) -> Outcome {
        match self.status {
            Some(401 | 403) if begun => Outcome::ErrorResponse,
            _ if begun && self.refused => Outcome::ErrorResponse,
            _ if begun => Outcome::NoResponse,
            _ => Outcome::NotSent,
        }
    }
}

impl Connection {
    /// The next message that may go, if there is one. Without room for `requests`, what is none may go all the same: a
    /// reply, a cancellation, and what makes a session.
    pub fn poll_transmit(&mut self, requests: bool) -> Option<Transmit> {
        // Messages go on connections of their own, and nothing may overtake `notifications/initialized`.
        let introducing = self.introducing.as_ref();
        if introducing.is_some_and(|introduction| introduction.key.is_some()) {
            return None;
        }
        let mut frame = self.outbox.take(Lane::First);
        // While a session is being made, only what makes it may go.
        if frame.is_none() && matches!(&self.stage, Stage::Ready(ready) if ready.is_renewing()) {
            return None;
        }
        if frame.is_none() && self.asides < self.config.limits.queue_capacity {
            frame = self.outbox.take(Lane::Aside);
        }
        if frame.is_none() && requests {
            frame = self.outbox.take(Lane::Main);
        }
        let frame = frame?;
        let mut body = frame.bytes;
        body.pop();
        self.stats.frames_out += 1;
        self.stats.bytes_out += body.len() as u64;
        self.stats.longest_frame_out = self.stats.longest_frame_out.max(body.len());
        let handover = Handover::default();
        let unnamed = u64::MAX - frame.number;
        let (key, kind) = match frame.purpose {
            Purpose::Handshake(id) => {
                self.exchange.handed(id, &handover);
                let kind = if self.is_initializing() {
                    TransmitKind::Initialize
                } else {
                    TransmitKind::Request
                };
                (id, kind)
            }
            Purpose::Request(id) => {
                let session = self.sessions;
                let leg = Leg::Handed {
                    handover: handover.clone(),
                    session,
                };
                self.calls.advance(id, leg);
                (id, TransmitKind::Request)
            }
            Purpose::Listen(id) => {
                self.listen.handed(&handover);
                (id, TransmitKind::Listen)
            }
            Purpose::Reply { .. } => {
                self.asides += 1;
                (unnamed, TransmitKind::Reply)
            }
            Purpose::Cancel(_) | Purpose::Notice => {
                self.asides += 1;
                (unnamed, TransmitKind::Notification)
            }
            Purpose::Initialized => {
                if let Some(introduction) = &mut self.introducing {
                    introduction.key = Some(unnamed);
                }
                (unnamed, TransmitKind::Notification)
            }
        };
        Some(Transmit {
            key,
            kind,
            body,
            route: frame.route.map(|route| *route).unwrap_or_default(),
            handover,
        })
    }

    /// Queues `notifications/initialized`.
    pub(super) fn introduce(&mut self, now: Time) {
        self.send(wire::initialized(), Purpose::Initialized, None);
        if self.config.binding == Binding::Http {
            self.introducing = Some(Introduction {
                key: None,
                by: now.after(self.config.limits.handshake_timeout),
            });
        }
    }

    /// Whether there is an order to take.
    #[must_use]
    pub fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// The next order.
    pub fn poll_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// One message came: on the stream of request `key`, with the status of its response; or, without a key, on a stream
    /// of the server's own. In the body of a refusal, an error alone is a message.
    pub fn handle_response(
        &mut self,
        now: Time,
        key: Option<u64>,
        status: u16,
        frame: &Bytes,
        message: Result<Inbound, Malformed>,
    ) {
        let Some(key) = key else {
            self.handle_message(now, frame, message);
            return;
        };
        if self.exchange.is_open(key) {
            self.exchange.status = Some(status);
        }
        let message = match message {
            Ok(
                Inbound::UncorrelatedError(error)
                | Inbound::Response {
                    answer: Err(error), ..
                },
            ) if self.is_refused_by_status(key, status) => Ok(Inbound::UncorrelatedError(error)),
            // The answer to what the server could not read names no id (JSON-RPC 2.0, section 5); the stream does.
            Ok(Inbound::UncorrelatedError(error)) if self.is_open_request(key) => {
                self.answered(now, key, frame.len(), Err(error));
                return;
            }
            Ok(Inbound::Response { ref id, .. })
                if id.as_ours().is_some_and(|ours| ours != key) =>
            {
                // Only the answer to this request may come on its stream.
                self.stats.stray_replies += 1;
                return;
            }
            Ok(Inbound::Noise(_) | Inbound::UncorrelatedError(_)) => message,
            Ok(Inbound::Response { answer: Err(_), .. }) => message,
            // Nothing but an error says anything in the body of a refusal: the status does (O2).
            _ if !is_success(status) => Ok(Inbound::Noise(Noise::NoError)),
            message => message,
        };
        self.take_message(now, frame, message, Some(key));
    }

    /// Message `key` was taken; its answer, if it has one, comes elsewhere.
    pub fn handle_accepted(&mut self, key: u64) {
        let introducing = self.introducing.as_ref();
        if introducing.is_some_and(|introduction| introduction.key == Some(key)) {
            self.introducing = None;
        } else if is_aside(key) {
            self.asides = self.asides.saturating_sub(1);
        }
    }

    /// The exchange of message `key` is over. If it was a request whose answer is still awaited, `fault` is why none came.
    pub fn handle_exchange_end(&mut self, now: Time, key: u64, fault: ExchangeFault) {
        if self.is_closed() {
            return;
        }
        self.handle_accepted(key);
        if self.exchange.is_open(key) {
            let fault = fault.told_if(self.exchange.is_dispatched());
            self.exchange_failed(now, fault);
        } else if self.is_listen(key) {
            let asked = fault.is_busy().then_some(fault.retry_after);
            self.listen_refused(now, asked.unwrap_or_default());
        } else if let Some((call, _)) = self.calls.handed(key) {
            self.end_with_fault(call, fault);
        }
    }

    fn end_with_fault(&mut self, call: u64, fault: ExchangeFault) {
        let rounds = self.calls.rounds(call);
        self.calls.end(call, 0, |left, _| {
            let outcome = match left {
                Left::Dispatched => fault.outcome(true),
                // Of this leg nothing was sent; of those before it something may have been.
                left if left.outcome() == Outcome::NotSent => fault.outcome(false),
                left => left.outcome(),
            };
            let fault = fault.told_if(outcome != Outcome::NotSent);
            Err(CallError::Exchange {
                fault,
                outcome,
                rounds,
            })
        });
    }

    /// The server knows the session of request `key` no longer: a new one is made, and the request said once more (T3).
    /// Whether that was the session that stands, only the transport knows; it tells by
    /// [`handle_session_gone`](Self::handle_session_gone), after this.
    ///
    /// Source: 2025-11-25, `basic/transports`, "Session Management".
    pub fn handle_session_lost(&mut self, now: Time, key: u64) {
        if self.is_closed() {
            return;
        }
        let lost = |text| {
            ExchangeFault::new(text, ErrorCode::ConnectionClosed)
                .with_status(404)
                .of_refusal()
        };
        if self.exchange.is_open(key) {
            match &self.stage {
                Stage::Ready(ready) if ready.may_be_renewed() => self.renew(now),
                Stage::Listing(_) if self.sessions == 0 => self.connect_anew(now),
                _ => self.exchange_failed(now, lost("it forgot the session that it had made")),
            }
            return;
        }
        let Some((call, pending)) = self.calls.handed(key) else {
            return;
        };
        let current =
            matches!(pending.leg, Leg::Handed { session, .. } if session == self.sessions);
        if !self.say_again(call) {
            self.end_with_fault(call, lost(FORGOTTEN_TWICE));
        } else if current {
            self.renew(now);
        }
    }

    /// The session that stood until now is gone, and nothing more can be sent in it: a new one is made (T3).
    pub fn handle_session_gone(&mut self, now: Time) {
        match &self.stage {
            Stage::Ready(ready) if !ready.is_renewing() => self.renew(now),
            Stage::Listing(_) if self.sessions == 0 => {
                self.let_go_of_exchange();
                self.connect_anew(now);
            }
            _ => {}
        }
    }

    /// Whether an answer to request `key` is awaited.
    fn is_open_request(&self, key: u64) -> bool {
        self.exchange.is_open(key)
            || self.is_live_listen(key)
            || self.calls.in_flight(key).is_some()
    }

    pub(super) fn hang_up(&mut self, wire: u64) {
        if self.config.binding == Binding::Http {
            self.orders.push_back(Order::HangUp(wire));
        }
    }

    pub(super) fn finish_exchange(&mut self, wire: u64) {
        if self.config.binding == Binding::Http {
            self.orders.push_back(Order::Finish(wire));
        }
    }
}

/// Whether a response of this status is none that refuses.
fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// Whether this is the key of a message that is no request.
fn is_aside(key: u64) -> bool {
    key > u64::MAX / 2
}
