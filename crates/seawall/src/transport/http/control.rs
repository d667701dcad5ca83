//! What an exchange and its owner share: the gate before the body, and how the owner ends it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use http_body::{Body, Frame, SizeHint};
use seawall_proto::connection::{Authorising, Handover, Refused};

use super::HttpEvent;

/// Whether a connection has read a post's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handed {
    /// No connection has, and none will.
    No,
    /// One has: the server may have it.
    Yes,
}

/// One exchange's controls.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// The gate before the body: once it is shut, no connection reads it; once it was passed, it stays open.
    gate: Handover,
    finished: AtomicBool,
    hung_up: AtomicBool,
    /// Whoever polls the exchange.
    waker: AtomicWaker,
    /// What the exchange tells, until its owner took it.
    told: Mutex<Option<Told>>,
}

/// What an exchange tells its owner.
#[derive(Debug)]
pub(super) enum Told {
    Event(HttpEvent),
    /// HTTP+SSE: where posts go.
    Endpoint(url::Url),
}

impl Control {
    /// The controls of a post behind `gate`.
    pub(super) fn behind(gate: Handover) -> Self {
        Self {
            gate,
            ..Self::default()
        }
    }

    /// A connection reads the body; only through an open gate.
    fn pass(&self) -> Handed {
        if self.gate.begin() {
            Handed::Yes
        } else {
            Handed::No
        }
    }

    /// While it is held, the request waits for what authorises it.
    pub(super) fn authorising(&self) -> Authorising<'_> {
        self.gate.authorising()
    }

    /// While it is held, the request stands refused for its credentials, and others are looked for.
    pub(super) fn refused(&self) -> Refused<'_> {
        self.gate.refused()
    }

    /// There is an answer, so the request reached somebody, whatever was read of its body.
    pub(super) fn answered(&self) {
        self.pass();
    }

    /// Shuts the gate, unless a connection was through it before.
    pub(super) fn shut(&self) -> Handed {
        if self.gate.withdraw() {
            Handed::No
        } else {
            Handed::Yes
        }
    }

    /// The owner has what it wanted of the exchange.
    pub(super) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
        self.waker.wake();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// The owner wants nothing more to do with the exchange.
    pub(super) fn hang_up(&self) -> Handed {
        self.hung_up.store(true, Ordering::Release);
        self.waker.wake();
        self.shut()
    }

    pub(super) fn is_hung_up(&self) -> bool {
        self.hung_up.load(Ordering::Acquire)
    }

    pub(super) fn watch(&self, cx: &Context<'_>) {
        self.waker.register(cx.waker());
    }

    /// Tells the owner, and goes on once the owner comes back for more: by then it has done what follows from `event`.
    pub(super) async fn tell(&self, event: HttpEvent) {
        self.tell_owner(Told::Event(event)).await;
    }

    pub(super) async fn tell_owner(&self, told: Told) {
        *self.told() = Some(told);
        poll_fn(|_| match *self.told() {
            Some(_) => Poll::Pending,
            None => Poll::Ready(()),
        })
        .await;
    }

    pub(super) fn take_told(&self) -> Option<Told> {
        self.told().take()
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Option<Told>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The body of one attempt, behind its exchange's gate.
pub(super) struct GatedBody {
    control: Arc<Control>,
    /// Whether this attempt's connection reads it: an attempt may be taken back where its exchange goes on.
    attempt: Handover,
    body: Option<Bytes>,
}

impl GatedBody {
    pub(super) fn new(control: Arc<Control>, attempt: Handover, body: Bytes) -> Self {
        Self {
            control,
            attempt,
            body: Some(body),
        }
    }

    fn pass(&self) -> Handed {
        if self.attempt.begin() {
            self.control.pass()
        } else {
            Handed::No
        }
    }
}

/// The exchange was given up before its body was read.
#[derive(Debug, thiserror::Error)]
#[error("the request was given up")]
pub(super) struct GivenUp;

impl Body for GatedBody {
    type Data = Bytes;
    type Error = GivenUp;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, GivenUp>>> {
        let Some(body) = self.body.take() else {
            return Poll::Ready(None);
        };
        Poll::Ready(Some(match self.pass() {
            Handed::Yes => Ok(Frame::data(body)),
            Handed::No => Err(GivenUp),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.body.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O2: an attempt that was taken back reads nothing, and leaves the gate to the next one.
    #[test]
    fn attempt_taken_back_leaves_the_exchange_its_gate() {
        let control = Arc::new(Control::default());
        let read = |attempt: &Handover| {
            let text = Bytes::from_static(b"x");
            let mut body = GatedBody::new(Arc::clone(&control), attempt.clone(), text);
            let mut cx = Context::from_waker(std::task::Waker::noop());
            match Pin::new(&mut body).poll_frame(&mut cx) {
                Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
                _ => None,
            }
        };
        let (first, second) = (Handover::default(), Handover::default());
        assert!(first.withdraw());
        assert_eq!(read(&first), None);
        assert!(!control.gate.is_begun());
        assert_eq!(read(&second).unwrap(), "x");
        assert!(!second.withdraw());
        assert_eq!(control.shut(), Handed::Yes);
    }
}
