//! What one connection may hold, and for how long: a client that sends nothing, or does not take what it asked for, is hung
//! up on.
//!
//! **Invariant:** of what a client does not take, its connection holds one [`CHUNK`] for each stream; the rest waits in the
//! body, and no longer than the patience for it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, sleep};

use super::reply::Body;

/// A body is handed over in parts of so many bytes. Fixed.
pub(super) const CHUNK: usize = 32 * 1024;

/// How long a connection may do nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Before its first request.
    pub(super) begin: Duration,
    /// Between two requests.
    pub(super) idle: Duration,
    /// While something waits for it to be taken.
    pub(super) taking: Duration,
}

/// One connection. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct Life(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Since when nothing is under way.
    quiet: Instant,
    served: bool,
    next: u64,
    /// What is under way, with the moment at which something of its body was handed over that asked for no more yet.
    under_way: HashMap<u64, Option<Instant>>,
}

/// One request, until its answer is handed over whole.
#[derive(Debug)]
pub(super) struct UnderWay {
    life: Life,
    number: u64,
}

impl Life {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            quiet: Instant::now(),
            served: false,
            next: 0,
            under_way: HashMap::new(),
        })))
    }

    /// A request begins.
    pub(super) fn begin(&self) -> UnderWay {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.served = true;
        state.under_way.insert(number, None);
        UnderWay {
            life: self.clone(),
            number,
        }
    }

    /// Waits until the client did nothing for too long.
    pub(super) async fn over(&self, patience: Patience) {
        loop {
            let now = Instant::now();
            let end = self.lock().end(patience, now);
            if end <= now {
                return;
            }
            // What is handed over meanwhile ends no earlier.
            sleep(end - now).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// When it is over, if nothing happens until then.
    fn end(&self, patience: Patience, now: Instant) -> Instant {
        if self.under_way.is_empty() {
            return self.quiet
                + if self.served {
                    patience.idle
                } else {
                    patience.begin
                };
        }
        let handed = self.under_way.values().flatten().min();
        // One whose body waits for something is not over, and is looked at again.
        handed.map_or(now + patience.taking, |handed| *handed + patience.taking)
    }
}

impl UnderWay {
    /// The body of the answer, which is watched.
    pub(super) fn watch(self, body: Body) -> Watched {
        Watched {
            body,
            rest: Bytes::new(),
            under_way: self,
        }
    }

    fn handed(&self, at: Option<Instant>) {
        self.life.lock().under_way.insert(self.number, at);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut state = self.life.lock();
        state.under_way.remove(&self.number);
        if state.under_way.is_empty() {
            state.quiet = Instant::now();
        }
    }
}

/// A body in parts, each of which is told when it is handed over.
#[derive(Debug)]
pub(super) struct Watched {
    body: Body,
    rest: Bytes,
    under_way: UnderWay,
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            self.under_way.handed(None);
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                other => return other,
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(frame) => return Poll::Ready(Some(Ok(frame))),
            }
        }
        let most = self.rest.len().min(CHUNK);
        let part = self.rest.split_to(most);
        self.under_way.handed(Some(Instant::now()));
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint.set_lower(hint.lower().saturating_add(rest));
        hint
    }
}
