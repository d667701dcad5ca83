//! The moment at which a message of its own begins to be sent, decided once between two threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

/// A message that a transport was given and may not have begun to send.
///
/// The transport calls [`begin`](Self::begin) right before the first byte of the message goes to an established
/// connection; the connection takes the message back if nobody wants it any longer. Whoever comes first wins.
///
/// **Invariant:** a message that was taken back is never begun, so its request is `not_sent` for certain (O2).
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

impl Drop for Authorising<'_> {
    fn drop(&mut self) {
        self.0.0.authorising.store(false, Ordering::Release);
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

    /// Begins; false if the message was taken back, and must not be sent. True again for every later attempt of a
    /// message that began: one that was refused unread may be sent again.
    #[must_use]
    pub fn begin(&self) -> bool {
        match self
            .0
            .state
            .compare_exchange(WAITING, BEGUN, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => true,
            Err(state) => state == BEGUN,
        }
    }

    /// Whether the message began.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.0.state.load(Ordering::Acquire) == BEGUN
    }

    /// Takes the message back for good; false if it began.
    #[must_use]
    pub fn withdraw(&self) -> bool {
        match self
            .0
            .state
            .compare_exchange(WAITING, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => true,
            Err(state) => state == WITHDRAWN,
        }
    }
}
