//! The handshake request under way: how far it is, when it must be answered, and that it is taken back or said again.

use super::handover::Handover;
use super::handshake::Under;
use super::outbox::Purpose;
use super::{CloseReason, Connection, Stage, Step, Time};

/// The handshake request under way, or the last one.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub(super) request: u64,
    way: Way,
    /// When its answer must be there; none is awaited without one.
    pub(super) deadline: Option<Time>,
    /// The status that its answer came with.
    pub(super) status: Option<u16>,
    /// Whether it was asked again because the server named the revision that it had refused.
    pub(super) retried: bool,
    /// Whether it was asked again because its connection broke.
    pub(super) broke: bool,
}

/// How far a request of the handshake is on its way.
#[derive(Debug, Default)]
enum Way {
    #[default]
    Nowhere,
    /// Its frame, of this number in the outbox, is not begun.
    Queued {
        frame: u64,
    },
    /// A transport that sends each message by itself has its frame, and may have begun it.
    Handed(Handover),
    Dispatched,
    /// The server was busy, or the connection to it broke; it is asked again.
    Resting {
        until: Time,
    },
}

impl Exchange {
    /// Whether the server has it, or may have it.
    pub(super) fn is_dispatched(&self) -> bool {
        match &self.way {
            Way::Nowhere | Way::Queued { .. } => false,
            Way::Handed(handover) => handover.is_begun(),
            Way::Dispatched | Way::Resting { .. } => true,
        }
    }

    /// Whether it waits for what authorises it.
    pub(super) fn is_authorising(&self) -> bool {
        matches!(&self.way, Way::Handed(handover) if handover.is_authorising())
    }

    /// Whether it is request `id`, and its answer is awaited, however far it is on its way.
    pub(super) fn is_open(&self, id: u64) -> bool {
        self.request == id && self.deadline.is_some() && self.rests_until().is_none()
    }

    /// Whether request `id` may be answered now.
    pub(super) fn awaits(&self, id: u64) -> bool {
        self.is_open(id) && self.is_dispatched()
    }

    pub(super) fn rests_until(&self) -> Option<Time> {
        match self.way {
            Way::Resting { until } if self.deadline.is_some() => Some(until),
            _ => None,
        }
    }

    pub(super) fn dispatched(&mut self, id: u64) {
        if self.request == id {
            self.way = Way::Dispatched;
        }
    }

    pub(super) fn handed(&mut self, id: u64, handover: &Handover) {
        if self.request == id {
            self.way = Way::Handed(handover.clone());
        }
    }

    pub(super) fn rest(&mut self, until: Time, deadline: Time) {
        self.way = Way::Resting { until };
        self.deadline = Some(deadline);
    }
}

impl Connection {
    /// Sends a request of the handshake, and sets its deadline.
    pub(super) fn exchange(
        &mut self,
        now: Time,
        id: u64,
        frame: Vec<u8>,
        method: &str,
        step: Step,
    ) {
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            self.close(CloseReason::RequestTooLong { step, limit });
            return;
        }
        let route = self.route_of(method);
        let frame = self.send(frame, Purpose::Handshake(id), route);
        self.exchange = Exchange {
            request: id,
            way: Way::Queued { frame },
            deadline: Some(now.after(self.config.limits.handshake_timeout)),
            ..Exchange::default()
        };
    }

    /// Takes the handshake request under way back, or tells the server that it is given up; `initialize` is never
    /// cancelled (S8).
    pub(super) fn let_go_of_exchange(&mut self) {
        let request = self.exchange.request;
        let begun = match &self.exchange.way {
            Way::Queued { frame } => {
                self.outbox.withdraw(*frame);
                return;
            }
            Way::Handed(handover) => !handover.withdraw(),
            Way::Dispatched => true,
            Way::Resting { .. } | Way::Nowhere => return,
        };
        if begun && !self.is_initializing() {
            self.cancel(request);
        } else {
            self.hang_up(request);
        }
    }

    /// The rest of a server is over.
    pub(super) fn ask_again(&mut self, now: Time) {
        let deadline = self.exchange.deadline;
        self.say_exchange_again(now, deadline);
    }

    /// Says the request of the handshake under way again. Its deadline stays.
    pub(super) fn say_exchange_again(&mut self, now: Time, deadline: Option<Time>) {
        let (retried, broke) = (self.exchange.retried, self.exchange.broke);
        let placeholder = Stage::Initializing { since: now };
        let stage = std::mem::replace(&mut self.stage, placeholder);
        let asked = match &stage {
            Stage::Listing(listing) => self.list(now, listing),
            Stage::Ready(ready) => match &ready.under {
                Under::Relisting(listing) => self.list(now, listing),
                Under::Renewing { .. } => {
                    self.stage = stage;
                    self.renew_after_rest(now);
                    self.keep_deadline(deadline, retried, broke);
                    return;
                }
                Under::Nothing => Ok(()),
            },
            Stage::Discovering { .. } => {
                self.discover(now);
                self.keep_deadline(deadline, retried, broke);
                return;
            }
            _ => Ok(()),
        };
        self.stage = stage;
        self.keep_deadline(deadline, retried, broke);
        if let Err(reason) = asked {
            self.close(reason);
        }
    }

    fn keep_deadline(&mut self, deadline: Option<Time>, retried: bool, broke: bool) {
        if !self.is_closed() {
            self.exchange.deadline = deadline;
            self.exchange.retried = retried;
            self.exchange.broke = broke;
        }
    }
}
