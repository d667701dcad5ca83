//! The driver: the one task that reads a server's output, keeps its deadlines, and sees its end.
//!
//! It owns the reading ends; the connection and the writing end it shares with the callers.
//!
//! **Invariant:** what arrived whole before the end is handed over before the end is told.
//! **Invariant:** however the driver ends, the connection is closed and nobody waits on it for ever.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use seawall_proto::connection::{CloseReason, Event, ExitReason};
use seawall_proto::framing::{FrameTooLong, LineDecoder};
use seawall_proto::jsonrpc::{Inbound, Malformed, classify};
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout};

use super::link::{Ends, Source, Tree};
use super::shared::Shared;
use super::watch::Watch;

/// Of {exit, end of output, broken input}, the first is waited upon for the others this long: so that the reason can
/// name the exit, and that what was written before it is still read.
const ENDING_GRACE: Duration = Duration::from_millis(250);
/// How long the rest of stderr is read for once the server is gone.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// Reads in one turn before the driver yields to others. Few, so that callers take results about as fast as they come:
/// with 16, a MiB of 10 KB results piled up between turns, and in-flight throughput halved on page faults.
const READS_PER_TURN: usize = 2;
/// Messages handed over under one lock.
const MESSAGES_PER_LOCK: usize = 256;

/// The driver of one connection. See the [module](self).
pub(super) struct Driver {
    shared: Arc<Shared>,
    stdout: Option<Source>,
    stderr: Option<Source>,
    tree: Tree,
    watch: Watch,
    decoder: LineDecoder,
    /// Messages cut out and classified, not yet handed over.
    messages: VecDeque<(Bytes, Result<Inbound, Malformed>)>,
    timer: Pin<Box<Sleep>>,
    exited: Option<Pin<Box<dyn Future<Output = ExitReason> + Send>>>,
    ending: Option<Ending>,
}

/// The first sign that the session ends.
struct Ending {
    reason: CloseReason,
    grace: Pin<Box<Sleep>>,
}

impl Driver {
    pub(super) fn new(
        shared: Arc<Shared>,
        ends: Ends,
        max_frame_bytes: usize,
        watch: Watch,
    ) -> Self {
        let tree = ends.tree.clone();
        Self {
            shared,
            stdout: Some(ends.stdout),
            stderr: ends.stderr,
            tree: ends.tree,
            watch,
            decoder: LineDecoder::new(max_frame_bytes),
            messages: VecDeque::new(),
            timer: Box::pin(sleep_until(Instant::now())),
            exited: Some(Box::pin(async move { tree.exited().await })),
            ending: None,
        }
    }

    /// Drives the connection to its end, then the process to its own.
    pub(super) async fn run(mut self) {
        poll_fn(|context| self.poll_drive(context)).await;
        let tree = self.tree.clone();
        let mut teardown = pin!(tree.end());
        let ended = poll_fn(|context| {
            self.drain(context);
            let ended = teardown.as_mut().poll(context);
            // Only now: the teardown begins with a look at who belongs to the server, which must come before the end of
            // its input makes it exit and its children strangers.
            self.shared.lock().state().sink = None;
            ended
        })
        .await;
        // What the server said last is the most telling; somebody it left behind may hold the pipe, so this is bounded.
        let last_words = poll_fn(|context| {
            self.poll_stderr(context);
            if self.stderr.is_some() {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        });
        // Nothing is lost by a timeout here but the words.
        timeout(LAST_WORDS, last_words).await.ok();
        self.watch.finish();
        // Whoever closes the connection, or failed to connect, reports it.
        self.shared.lock().state().unreaped = ended.err();
    }

    fn poll_drive(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            self.poll_exit(context);
            self.poll_stderr(context);
            self.poll_stdout(context);
            match self.serve(context) {
                Turn::Ended => return Poll::Ready(()),
                Turn::Again => {}
                Turn::Idle if self.poll_ending(context) => {}
                Turn::Idle => return Poll::Pending,
            }
        }
    }

    /// Writes, keeps time, and takes what the owner asked for.
    fn serve(&mut self, context: &mut Context<'_>) -> Turn {
        let mut guard = self.shared.lock();
        let now = guard.now();
        let state = guard.state();
        if state.closing {
            state.close(CloseReason::ScopeClosed);
        }
        state.connection.handle_timeout(now);
        state.poll_write(context);
        let ended = state.connection.close_reason().is_some();
        let mut again = false;
        if !ended {
            match &mut state.driver {
                Some(kept) => kept.clone_from(context.waker()),
                none => *none = Some(context.waker().clone()),
            }
            if let Some(next) = state.connection.poll_timeout()
                && state.armed.is_none_or(|armed| next < armed)
            {
                state.armed = Some(next);
                self.timer.as_mut().reset(self.shared.instant_of(next));
            }
            // A timer that is early is left alone: re-arming it for each call would cost more than one idle firing.
            if state.armed.is_some() && self.timer.as_mut().poll(context).is_ready() {
                state.armed = None;
                again = true;
            }
            // Writing, a deadline, or a caller since the reader paused may have made room; nobody else tells.
            if state.paused && state.connection.wants_read() {
                state.paused = false;
                again = true;
            }
        }
        let broken = state.broken;
        let events: Vec<Event> = std::iter::from_fn(|| state.connection.poll_event()).collect();
        guard.release_by_driver();
        for event in events {
            self.tell(event);
        }
        if broken {
            self.sign_of_end(CloseReason::StdinClosed);
        }
        match (ended, again) {
            (true, _) => Turn::Ended,
            (_, true) => Turn::Again,
            _ => Turn::Idle,
        }
    }

    fn poll_exit(&mut self, context: &mut Context<'_>) {
        if let Some(exited) = &mut self.exited
            && let Poll::Ready(exit) = exited.as_mut().poll(context)
        {
            self.exited = None;
            self.sign_of_end(CloseReason::ChildExited(exit));
        }
    }

    fn poll_stdout(&mut self, context: &mut Context<'_>) {
        for _ in 0..READS_PER_TURN {
            if !self.hand_over() {
                return;
            }
            let Some(source) = &mut self.stdout else {
                return;
            };
            match source.poll_read(context, self.decoder.read_buffer()) {
                Poll::Ready(Ok(0)) => {
                    self.stdout = None;
                    self.sign_of_end(CloseReason::StdoutClosed);
                    return;
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(_)) => {
                    self.stdout = None;
                    self.sign_of_end(CloseReason::TransportFailed);
                    return;
                }
                Poll::Pending => {
                    self.decoder.shrink();
                    return;
                }
            }
        }
        context.waker().wake_by_ref();
    }

    /// Hands over every whole frame that was read; false once reading has to stop.
    fn hand_over(&mut self) -> bool {
        loop {
            let mut too_long = None;
            while self.messages.len() < MESSAGES_PER_LOCK {
                match self.decoder.next_frame() {
                    Ok(Some(frame)) => {
                        let message = classify(&frame);
                        self.messages.push_back((frame, message));
                    }
                    Ok(None) => break,
                    Err(FrameTooLong { limit }) => {
                        too_long = Some(CloseReason::FrameTooLong { limit });
                        break;
                    }
                }
            }
            if self.messages.is_empty() && too_long.is_none() {
                return true;
            }
            let mut guard = self.shared.lock();
            let now = guard.now();
            let state = guard.state();
            while state.connection.wants_read() {
                let Some((frame, message)) = self.messages.pop_front() else {
                    break;
                };
                state.connection.handle_message(now, &frame, message);
            }
            state.paused = !state.connection.wants_read();
            if self.messages.is_empty()
                && let Some(reason) = too_long
            {
                state.close(reason);
            }
            let events: Vec<Event> = std::iter::from_fn(|| state.connection.poll_event()).collect();
            let stop = state.paused || state.connection.close_reason().is_some();
            guard.release_by_driver();
            for event in events {
                self.tell(event);
            }
            if stop {
                return false;
            }
        }
    }

    fn tell(&mut self, event: Event) {
        if matches!(event, Event::Ready) {
            // Whoever left the server's group at its start is known from here on, though the server may die by itself.
            self.tree.look();
        }
        self.watch.event(event);
    }

    fn poll_stderr(&mut self, context: &mut Context<'_>) {
        for _ in 0..READS_PER_TURN {
            let Some(source) = &mut self.stderr else {
                return;
            };
            match source.poll_read(context, self.watch.stderr_buffer()) {
                Poll::Ready(Ok(read)) if read > 0 => self.watch.stderr(),
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(_) => self.stderr = None,
                Poll::Pending => return,
            }
        }
        context.waker().wake_by_ref();
    }

    /// Reads on during the teardown: a server with something left to say must not be held by a full pipe.
    fn drain(&mut self, context: &mut Context<'_>) {
        self.poll_stderr(context);
        for _ in 0..READS_PER_TURN {
            let Some(source) = &mut self.stdout else {
                return;
            };
            match source.poll_read(context, self.decoder.read_buffer()) {
                Poll::Ready(Ok(read)) if read > 0 => self.decoder.clear(),
                Poll::Ready(_) => self.stdout = None,
                Poll::Pending => return,
            }
        }
        context.waker().wake_by_ref();
    }

    /// Notes a sign of the end. The first counts, but an exit says more than the end of a pipe that it caused.
    fn sign_of_end(&mut self, reason: CloseReason) {
        match &mut self.ending {
            None => {
                self.ending = Some(Ending {
                    reason,
                    grace: Box::pin(sleep(ENDING_GRACE)),
                });
            }
            Some(ending) if matches!(reason, CloseReason::ChildExited(_)) => ending.reason = reason,
            Some(_) => {}
        }
    }

    /// Tells the end, once exit and end of output were both seen or the grace is over; true if it did.
    fn poll_ending(&mut self, context: &mut Context<'_>) -> bool {
        let Some(ending) = &mut self.ending else {
            return false;
        };
        let whole = self.exited.is_none() && self.stdout.is_none();
        if !whole && ending.grace.as_mut().poll(context).is_pending() {
            return false;
        }
        let reason = ending.reason.clone();
        let mut guard = self.shared.lock();
        let now = guard.now();
        let state = guard.state();
        // What waits because of L8 is in memory as it is, and it came before the end.
        for (frame, message) in self.messages.drain(..) {
            state.connection.handle_message(now, &frame, message);
        }
        while let Ok(Some(frame)) = self.decoder.next_frame() {
            state.connection.handle_frame(now, &frame);
        }
        state.close(reason);
        guard.release_by_driver();
        true
    }
}

impl Drop for Driver {
    /// Whatever ended the driver, its runtime's shutdown included: nobody waits for it any longer, and no process stays.
    fn drop(&mut self) {
        let mut guard = self.shared.lock();
        let state = guard.state();
        state.close(CloseReason::DriverGone);
        state.sink = None;
        state.done = true;
        drop(guard);
        self.tree.kill_now();
    }
}

/// How one turn went.
enum Turn {
    /// The session ended.
    Ended,
    /// The timer fired, or there is room to read on: look again.
    Again,
    /// Nothing is left to do now.
    Idle,
}
