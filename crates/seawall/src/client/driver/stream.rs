//! The driver of a server at the other end of two pipes, or of a WebSocket: it reads the server's output and sees its end.
//!
//! It owns the reading ends; the connection and the writing end it shares with the callers.
//!
//! **Invariant:** what arrived whole before the end is handed over before the end is told.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use seawall_proto::connection::{CloseReason, ExitReason};
use seawall_proto::framing::{FrameTooLong, LineDecoder};
use seawall_proto::jsonrpc::{Inbound, Malformed, classify};
use tokio::time::{Sleep, sleep, timeout};

use super::{Core, Turn, drain};
use crate::client::link::{Ends, Source};

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
pub(in crate::client) struct StreamDriver {
    core: Core,
    stdout: Option<Source>,
    stderr: Option<Source>,
    decoder: LineDecoder,
    /// Messages cut out and classified, not yet handed over.
    messages: VecDeque<(Bytes, Result<Inbound, Malformed>)>,
    exited: Option<Pin<Box<dyn Future<Output = ExitReason> + Send>>>,
    ending: Option<Ending>,
}

/// The first sign that the session ends.
struct Ending {
    reason: CloseReason,
    grace: Pin<Box<Sleep>>,
}

impl StreamDriver {
    pub(in crate::client) fn new(core: Core, ends: Ends, max_frame_bytes: usize) -> Self {
        let tree = core.tree.clone();
        let exited =
            tree.has_exit()
                .then(|| -> Pin<Box<dyn Future<Output = ExitReason> + Send>> {
                    Box::pin(async move { tree.exited().await })
                });
        Self {
            core,
            stdout: Some(ends.stdout),
            stderr: ends.stderr,
            decoder: LineDecoder::new(max_frame_bytes),
            messages: VecDeque::new(),
            exited,
            ending: None,
        }
    }

    /// Drives the connection to its end, then the process to its own.
    pub(in crate::client) async fn run(mut self) {
        poll_fn(|context| self.poll_drive(context)).await;
        let tree = self.core.tree.clone();
        let mut teardown = pin!(tree.end());
        let ended = poll_fn(|context| {
            self.drain(context);
            let ended = teardown.as_mut().poll(context);
            // Only now: the teardown begins with a look at who belongs to the server, which must come before the end of
            // its input makes it exit and its children strangers.
            self.core.shared.lock().state().sink = None;
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
        self.core.watch.finish();
        // Whoever closes the connection, or failed to connect, reports it.
        self.core.shared.lock().state().unreaped = ended.err();
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

    fn serve(&mut self, context: &mut Context<'_>) -> Turn {
        let turn = self.core.serve(context);
        if self.core.broken {
            self.sign_of_end(CloseReason::StdinClosed);
        }
        turn
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
                    let step = self.core.shared.lock().state().connection.handshake_step();
                    let reason = source.end(step);
                    self.stdout = None;
                    self.sign_of_end(reason);
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
            let mut guard = self.core.shared.lock();
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
            let stop = state.paused || state.connection.close_reason().is_some();
            let events = drain(state);
            let woken = guard.release_by_driver();
            self.core.tell(events);
            drop(woken);
            if stop {
                return false;
            }
        }
    }

    fn poll_stderr(&mut self, context: &mut Context<'_>) {
        for _ in 0..READS_PER_TURN {
            let Some(source) = &mut self.stderr else {
                return;
            };
            match source.poll_read(context, self.core.watch.stderr_buffer()) {
                Poll::Ready(Ok(read)) if read > 0 => self.core.watch.stderr(),
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
        let mut guard = self.core.shared.lock();
        let now = guard.now();
        let state = guard.state();
        // What waits because of L8 is in memory as it is, and it came before the end.
        for (frame, message) in self.messages.drain(..) {
            state.connection.handle_message(now, &frame, message);
        }
        loop {
            match self.decoder.next_frame() {
                Ok(Some(frame)) => state.connection.handle_frame(now, &frame),
                Ok(None) => break,
                Err(FrameTooLong { limit }) => {
                    state.close(CloseReason::FrameTooLong { limit });
                    break;
                }
            }
        }
        state.close(reason);
        drop(guard.release_by_driver());
        true
    }
}
