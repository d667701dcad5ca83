//! The moment at which a message of its own begins to be sent, decided once between two threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;
/// It began and was refused unread, and nothing of it is sent for now.
const REFUSED: u8 = 3;
/// It was refused, and is not sent again.
const LEFT: u8 = 4;

/// A message that a transport was given and may not have begun to send.
///
/// The transport calls [`begin`](Self::begin) right before the first byte of the message goes to an established
/// connection; the connection takes the message back if nobody wants it any longer. Whoever comes first wins.
///
/// **Invariant:** a message that was taken back is never begun, so its request is `not_sent` for certain (O2).
/// **Invariant:** one that was left refused is not sent again, so the refusal stands for certain.
#[derive(Debug, Clone, Default)]
pub struct Handover(Arc<Gate>);

#[derive(Debug, Default)]
struct Gate {
    state: AtomicU8,
    /// The transport waits for what authorises the message.
    authorising: AtomicBool,
}

/// While it exists, the message waits for what authorises it.
#[derive(Debug)]
pub struct Authorising<'h>(&'h Handover);

/// While it exists, the message was refused for its credentials, and waits for others.
#[derive(Debug)]
pub struct Refused<'h> {
    handover: &'h Handover,
    _waiting: Authorising<'h>,
}

impl Drop for Authorising<'_> {
    fn drop(&mut self) {
        self.0.0.authorising.store(false, Ordering::Release);
    }
}

impl Drop for Refused<'_> {
    fn drop(&mut self) {
        // Whoever left it meanwhile has the last word.
        self.handover.step(REFUSED, BEGUN);
    }
}

impl Handover {
    /// The transport waits for what authorises the message, for the first time or after a refusal.
    #[must_use = "it is told for as long as this is held"]
    pub fn authorising(&self) -> Authorising<'_> {
        self.0.authorising.store(true, Ordering::Release);
        Authorising(self)
    }

    /// Whether the message waits for what authorises it.
    #[must_use]
    pub fn is_authorising(&self) -> bool {
        self.0.authorising.load(Ordering::Acquire)
    }

    /// The server refused the message unread, for its credentials, and the transport sees whether there are others.
    #[must_use = "it is told for as long as this is held"]
    pub fn refused(&self) -> Refused<'_> {
        self.step(BEGUN, REFUSED);
        Refused {
            handover: self,
            _waiting: self.authorising(),
        }
    }

    /// Begins; false if the message was taken back or left, and must not be sent. True again for every later attempt of a
    /// message that began: one that was refused unread may be sent again.
    #[must_use]
    pub fn begin(&self) -> bool {
        self.step(WAITING, BEGUN) == BEGUN
    }

    /// Whether the message began, whatever became of it.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        matches!(self.0.state.load(Ordering::Acquire), BEGUN | REFUSED | LEFT)
    }

    /// Takes the message back for good; false if it began.
    #[must_use]
    pub fn withdraw(&self) -> bool {
        self.step(WAITING, WITHDRAWN) == WITHDRAWN
    }

    /// Leaves a message that stands refused: it is not sent again. False if it does not.
    #[must_use]
    pub fn leave(&self) -> bool {
        self.step(REFUSED, LEFT) == LEFT
    }

    /// Goes from one state to another, if it is in the one; the state that it is in then.
    fn step(&self, from: u8, to: u8) -> u8 {
        match self
            .0
            .state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => to,
            Err(state) => state,
        }
    }
}
