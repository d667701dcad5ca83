//! What the handle, its calls and the driver share: one connection and the writing end of its transport, under one
//! lock that is held for moments and never across an await.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use seawall_proto::Outcome;
use seawall_proto::connection::{
    Abandoned, CallError, CallId, Change, CloseReason, Connection, Progress, Session, Step, Time,
};
use seawall_proto::jsonrpc::Reply;
use seawall_proto::limits::{MAX_SUBSCRIPTIONS, MAX_TIMEOUT_MS};
use seawall_proto::mcp::Catalog;
use tokio::time::Instant;

use super::link::Sink;
use super::relays::Relays;
use crate::inputs::Relay;
use crate::transport::stdio::NotReaped;

/// At most so many frames go into one vectored write; the kernel takes no more than 1 024.
const FRAMES_PER_WRITE: usize = 64;

/// Is told the newest progress of a request.
pub(crate) type TellProgress = Box<dyn FnMut(Progress) + Send>;

/// One connection, shared.
pub(super) struct Shared {
    state: Mutex<State>,
    epoch: Instant,
}

/// What the lock guards.
pub(super) struct State {
    pub(super) connection: Connection,
    /// Whom calls under way relay to.
    pub(super) relays: Relays,
    /// The way to the server's stdin; `None` once it is closed or broken.
    pub(super) sink: Option<Sink>,
    /// The driver, waiting for something to do.
    pub(super) driver: Option<Waker>,
    /// When the driver's timer fires; `None` while it sleeps without one.
    pub(super) armed: Option<Time>,
    /// Whether the driver stopped reading because of L8.
    pub(super) paused: bool,
    /// Whether the owner asked for the end.
    pub(super) closing: bool,
    /// Whether a write failed: the server no longer reads.
    pub(super) broken: bool,
    /// Whether the driver is gone.
    pub(super) done: bool,
    /// The child could not be reaped, and nobody was told yet.
    pub(super) unreaped: Option<NotReaped>,
    /// What changed at the server and nobody took yet.
    pub(super) changes: VecDeque<Change>,
    /// How often the list was read again, or could not be, and what came of it the last time.
    pub(super) listings: u64,
    pub(super) listing: Option<Result<Arc<Catalog>, CloseReason>>,
    /// Who waits for the handshake, a change, a listing, or the driver's end.
    pub(super) watchers: Vec<Waker>,
}

impl Shared {
    pub(super) fn new(connection: Connection, sink: Sink, epoch: Instant) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                connection,
                relays: Relays::default(),
                sink: Some(sink),
                driver: None,
                armed: None,
                paused: false,
                closing: false,
                broken: false,
                done: false,
                unreaped: None,
                changes: VecDeque::new(),
                listings: 0,
                listing: None,
                watchers: Vec::new(),
            }),
            epoch,
        })
    }

    /// Locks. A poisoned lock is taken all the same: the connection's own invariants do not depend on the panicking
    /// thread, and a driver that panicked closes the connection in its drop.
    pub(super) fn lock(&self) -> Guard<'_> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Guard {
            watched: state.watched(),
            state: Some(state),
            epoch: self.epoch,
        }
    }

    /// Waits for the end of the handshake.
    pub(super) async fn ready(
        &self,
    ) -> Result<(Arc<Session>, Arc<Catalog>), (CloseReason, Outcome, Step)> {
        poll_fn(|context| {
            let mut guard = self.lock();
            let state = guard.state();
            if let Some((reason, outcome)) = state.connection.connect_failure() {
                let step = state.connection.handshake_step();
                return Poll::Ready(Err((reason.clone(), outcome, step)));
            }
            if let (Some(session), Some(catalog)) =
                (state.connection.session(), state.connection.catalog())
            {
                return Poll::Ready(Ok((Arc::clone(session), Arc::clone(catalog))));
            }
            state.watch(context.waker());
            Poll::Pending
        })
        .await
    }

    /// The end of a request, once. On the way progress is told, after the lock is released.
    pub(super) fn poll_ended(
        &self,
        id: CallId,
        on_progress: &mut Option<TellProgress>,
        context: &Context<'_>,
    ) -> Poll<Option<Result<Reply, CallError>>> {
        let mut guard = self.lock();
        let State {
            connection, relays, ..
        } = guard.state();
        let progress = match on_progress {
            Some(_) => connection.take_progress(id),
            None => None,
        };
        let polled = connection.poll_request(id, context.waker());
        let over = match &polled {
            Poll::Ready(_) => relays.remove(id),
            Poll::Pending => None,
        };
        drop(guard);
        // Not under the lock: it is the embedder's.
        drop(over);
        if let (Some(tell), Some(progress)) = (on_progress, progress) {
            tell(progress);
        }
        polled
    }

    /// Waits until the driver is gone, and with it the server, or the hope of ending it.
    pub(super) async fn finished(&self) {
        poll_fn(|context| {
            let mut guard = self.lock();
            let state = guard.state();
            if state.done {
                return Poll::Ready(());
            }
            state.watch(context.waker());
            Poll::Pending
        })
        .await;
    }

    /// Waits for the next change at the server; `None` once the session ended and all were taken.
    pub(super) async fn change(&self) -> Option<Change> {
        poll_fn(|context| {
            let mut guard = self.lock();
            let state = guard.state();
            if let Some(change) = state.changes.pop_front() {
                return Poll::Ready(Some(change));
            }
            if state.connection.close_reason().is_some() {
                return Poll::Ready(None);
            }
            state.watch(context.waker());
            Poll::Pending
        })
        .await
    }

    /// The instant of `time`; of one past what the clock can tell, one that is far enough.
    pub(super) fn instant_of(&self, time: Time) -> Instant {
        self.epoch
            .checked_add(time.since_epoch())
            .unwrap_or_else(|| self.epoch + Duration::from_millis(MAX_TIMEOUT_MS))
    }
}

/// The lock, held. Dropping it wakes whoever has to know of what happened, after the lock is released.
pub(super) struct Guard<'a> {
    state: Option<MutexGuard<'a, State>>,
    epoch: Instant,
    /// What the watchers watch, as it was when the lock was taken.
    watched: Watched,
}

/// What the watchers watch: the end of the handshake, the end of the session, the end of the driver, changes, listings.
type Watched = (bool, bool, bool, usize, u64);

impl Guard<'_> {
    /// The state.
    #[expect(clippy::expect_used, reason = "the guard is taken out only by drop")]
    pub(super) fn state(&mut self) -> &mut State {
        self.state.as_deref_mut().expect("held until drop")
    }

    /// The clock, read under the lock, so that it never runs backwards for the connection.
    pub(super) fn now(&self) -> Time {
        Time::from_epoch(Instant::now().saturating_duration_since(self.epoch))
    }

    /// Releases the lock on behalf of the driver, which needs no waking: it is the one that runs. Others wake when what this
    /// gives is dropped.
    pub(super) fn release_by_driver(mut self) -> Woken {
        self.finish(false)
    }

    fn finish(&mut self, wake_driver: bool) -> Woken {
        let Some(mut state) = self.state.take() else {
            return Woken(Vec::new());
        };
        let mut wakers = Vec::new();
        state.connection.drain_wakers(&mut wakers);
        if !state.watchers.is_empty() && state.watched() != self.watched {
            wakers.append(&mut state.watchers);
        }
        if wake_driver && state.needs_driver() {
            wakers.extend(state.driver.take());
        }
        Woken(wakers)
    }
}

/// Who has to know of what happened. Dropping it tells them.
pub(super) struct Woken(Vec<Waker>);

impl Drop for Woken {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        drop(self.finish(true));
    }
}

impl State {
    fn watched(&self) -> Watched {
        let ready = self.connection.session().is_some();
        let closed = self.connection.close_reason().is_some();
        (ready, closed, self.done, self.changes.len(), self.listings)
    }

    /// Notes a change, once until it is taken.
    pub(super) fn changed(&mut self, change: Change) {
        if !self.changes.contains(&change) && self.changes.len() < MAX_SUBSCRIPTIONS {
            self.changes.push_back(change);
        }
    }

    /// Notes that the list was read again, or could not be.
    pub(super) fn listed(&mut self, listing: Result<Arc<Catalog>, CloseReason>) {
        self.listings += 1;
        self.listing = Some(listing);
    }

    /// Has `waker` woken when one of these changes.
    pub(super) fn watch(&mut self, waker: &Waker) {
        if !self.watchers.iter().any(|known| known.will_wake(waker)) {
            self.watchers.push(waker.clone());
        }
    }

    /// Whether something changed that only the driver can act on.
    fn needs_driver(&self) -> bool {
        let unwritten = !self.connection.is_idle_out() && self.sink.is_some();
        let resume = self.paused && self.connection.wants_read();
        let earlier = match (self.connection.poll_timeout(), self.armed) {
            (Some(next), Some(armed)) => next < armed,
            (Some(_), None) => true,
            (None, _) => false,
        };
        self.closing
            || self.broken
            || unwritten
            || self.connection.has_orders()
            || resume
            || earlier
    }

    /// Writes what the transport takes now, without waiting: for a caller whose request is the only one.
    pub(super) fn write_now(&mut self) {
        let Self {
            connection,
            sink,
            broken,
            ..
        } = self;
        let Some(open) = sink else { return };
        while !connection.is_idle_out() {
            match with_slices(connection, |slices| open.try_write(slices)) {
                Ok(0) => break,
                Ok(taken) => connection.handle_written(taken),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    *broken = true;
                    *sink = None;
                    return;
                }
            }
        }
    }

    /// Writes what the transport takes, and has `context` woken when it takes more. For the driver alone.
    pub(super) fn poll_write(&mut self, context: &mut Context<'_>) {
        let Self {
            connection,
            sink,
            broken,
            ..
        } = self;
        let Some(open) = sink else { return };
        while !connection.is_idle_out() {
            match with_slices(connection, |slices| open.poll_write(context, slices)) {
                Poll::Ready(Ok(taken)) if taken > 0 => connection.handle_written(taken),
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(_) => {
                    *broken = true;
                    *sink = None;
                    return;
                }
                Poll::Pending => return,
            }
        }
        open.poll_flush(context);
    }

    /// Whether the driver must not read on because of L8; noted, so that it is woken once it may.
    pub(super) fn pause_reading(&mut self) -> bool {
        self.paused = !self.connection.wants_read();
        self.paused
    }

    /// Ends the session, if it has not ended.
    pub(super) fn close(&mut self, reason: CloseReason) {
        self.connection.handle_closed(reason);
    }

    /// Lets go of a call; see [`Connection::abandon`]. Its relay, which is the embedder's, is to be dropped after the lock is
    /// released.
    pub(super) fn abandon(&mut self, call: CallId) -> (Abandoned, Option<Arc<dyn Relay>>) {
        let relay = self.relays.remove(call);
        let left = self.connection.abandon(call);
        self.write_now();
        (left, relay)
    }
}

/// Gathers the next frames, on the stack, for one vectored write.
fn with_slices<R>(connection: &Connection, write: impl FnOnce(&[IoSlice<'_>]) -> R) -> R {
    let mut slices = [IoSlice::new(&[]); FRAMES_PER_WRITE];
    let mut count = 0;
    for (slot, frame) in slices.iter_mut().zip(connection.transmit()) {
        *slot = IoSlice::new(frame);
        count += 1;
    }
    write(slices.get(..count).unwrap_or_default())
}
