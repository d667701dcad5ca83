//! What became of a call that ends early. Nothing else decides an outcome (O2).

use std::time::Duration;

use super::ledger::{Leg, Pending};
use super::{BetweenLegs, CallError, CloseReason};
use crate::outcome::Outcome;

/// What the legs before the one under way make of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// There were none.
    Nothing,
    /// The server refused one without carrying it out (T2, T3, T4).
    Refused,
    /// The server began, and asked for another round.
    Asked,
}

impl Before {
    /// The same, once the leg after them was refused.
    fn or_refused(self) -> Self {
        match self {
            Self::Nothing | Self::Refused => Self::Refused,
            Self::Asked => Self::Asked,
        }
    }
}

/// What became of a call that ended early.
#[derive(Debug, Clone, Copy)]
pub(super) enum Left {
    /// A frame of this number that is not begun.
    Queued { frame: u64, before: Before },
    /// A message that the transport had and did not begin, or that was refused unread and is not sent again.
    Withdrawn { before: Before },
    /// A request that the server has, or may have.
    Dispatched,
    /// Nothing is in flight.
    Paused { before: Before },
}

impl Left {
    /// Where a call stands that is to end now; a message that the transport has and did not begin, or that stands
    /// refused, is taken back.
    pub(super) fn of(pending: &Pending) -> Option<Self> {
        let before = pending.before();
        Some(match &pending.leg {
            Leg::Queued { frame } => Self::Queued {
                frame: *frame,
                before,
            },
            Leg::Handed { handover, .. } if handover.withdraw() => Self::Withdrawn { before },
            Leg::Handed { handover, .. } if handover.leave() => Self::Withdrawn {
                before: before.or_refused(),
            },
            Leg::Handed { .. } | Leg::Dispatched => Self::Dispatched,
            Leg::Paused(_) => Self::Paused { before },
            Leg::Ended { .. } => return None,
        })
    }

    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Dispatched => Outcome::NoResponse,
            Self::Queued { before, .. } | Self::Withdrawn { before } | Self::Paused { before } => {
                match before {
                    Before::Nothing => Outcome::NotSent,
                    Before::Refused => Outcome::ErrorResponse,
                    Before::Asked => Outcome::NoResponse,
                }
            }
        }
    }

    /// Whether the server waits for the next round, and nothing is in flight (O4).
    pub(super) fn is_between_legs(self) -> bool {
        match self {
            Self::Dispatched => false,
            Self::Queued { before, .. } | Self::Withdrawn { before } | Self::Paused { before } => {
                before == Before::Asked
            }
        }
    }

    pub(super) fn timeout(self, limit: Duration) -> CallError {
        let limit_ms = limit.as_millis();
        if self.is_between_legs() {
            return CallError::BetweenLegs(BetweenLegs::Timeout { limit_ms });
        }
        CallError::Timeout {
            limit_ms,
            outcome: self.outcome(),
        }
    }

    pub(super) fn closed(self, reason: CloseReason) -> CallError {
        if self.is_between_legs() {
            return CallError::BetweenLegs(BetweenLegs::Closed(reason));
        }
        CallError::Closed {
            reason,
            outcome: self.outcome(),
        }
    }
}
