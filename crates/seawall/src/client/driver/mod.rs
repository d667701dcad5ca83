//! The drivers: one task per connection that keeps its deadlines, carries what comes and goes, and sees its end.
//!
//! [`stream`] drives a server at the other end of two pipes; [`exchange`] one that every message goes to by itself. What
//! they have in common is the [`Core`].
//!
//! **Invariant:** however a driver ends, the connection is closed and nobody waits on it for ever.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;

use seawall_proto::connection::{CloseReason, Event};
use tokio::time::{Instant, Sleep, sleep_until};

use super::link::Tree;
use super::mcpl::Pump;
use super::questions::{Question, Questions};
use super::relays::Whose;
use super::shared::{Shared, State};
use super::watch::Watch;
use crate::inputs::Suppliers;

pub(super) mod exchange;
pub(super) mod stream;

/// What every driver does beside carrying messages.
pub(super) struct Core {
    pub(super) shared: Arc<Shared>,
    pub(super) tree: Tree,
    pub(super) watch: Watch,
    timer: Pin<Box<Sleep>>,
    questions: Questions,
    /// The MCP Live side of the connection, where the configuration wants it.
    mcpl: Option<Box<Pump>>,
    /// Whether a question was asked that was not looked at yet.
    asked: bool,
    /// Whether a write failed: the server no longer reads.
    pub(super) broken: bool,
}

/// How one turn went.
pub(super) enum Turn {
    /// The session ended.
    Ended,
    /// The timer fired, or there is room to read on: look again.
    Again,
    /// Nothing is left to do now.
    Idle,
}

impl Core {
    pub(super) fn new(
        shared: &Arc<Shared>,
        tree: Tree,
        watch: Watch,
        server: &Arc<str>,
        suppliers: Suppliers,
        mcpl: Option<Box<Pump>>,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            tree,
            watch,
            timer: Box::pin(sleep_until(Instant::now())),
            questions: Questions::new(Arc::clone(server), suppliers),
            mcpl,
            asked: false,
            broken: false,
        }
    }

    /// Keeps time, writes where there is a stream to write to, takes what the owner asked for, answers what was asked.
    pub(super) fn serve(&mut self, context: &mut Context<'_>) -> Turn {
        let answers = self.questions.poll(context);
        if let Some(mcpl) = &mut self.mcpl {
            mcpl.poll(context);
        }
        let mut guard = self.shared.lock();
        let now = guard.now();
        let state = guard.state();
        if state.closing {
            state.close(CloseReason::ScopeClosed);
        }
        for (id, answer) in answers {
            match answer {
                Ok(answer) => state.connection.supply(now, id, Some(answer)),
                Err(refusal) => state.connection.refuse(now, id, &refusal),
            }
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
        self.broken = state.broken;
        let events = drain(state);
        let woken = guard.release_by_driver();
        self.tell(events);
        drop(woken);
        again |= std::mem::take(&mut self.asked);
        match (ended, again) {
            (true, _) => Turn::Ended,
            (_, true) => Turn::Again,
            _ => Turn::Idle,
        }
    }

    /// Tells what happened, once the lock is released.
    pub(super) fn tell(&mut self, events: Vec<Event>) {
        for event in events {
            let event = match &mut self.mcpl {
                None => event,
                Some(mcpl) => {
                    // Whatever it was, the session may want something done.
                    self.asked = true;
                    match mcpl.event(event) {
                        Some(event) => event,
                        None => continue,
                    }
                }
            };
            match event {
                // Whoever left the server's group at its start is known from here on, though the server may die by
                // itself.
                Event::Ready => self.tree.look(),
                Event::Input {
                    id,
                    method,
                    params,
                    call,
                } => {
                    let question = Question { id, method, params };
                    let whose = self.shared.lock().state().relays.whose(call);
                    self.questions.ask(question, whose);
                    self.asked = true;
                }
                Event::Log { params, call } => {
                    let whose = self.shared.lock().state().relays.whose(call);
                    if let Whose::Party(relays) = whose
                        && let Some(relay) = relays.first()
                        && let Some(line) = self.watch.redacted(&params)
                    {
                        relay.log(line);
                    }
                    self.watch.log(&params);
                }
                Event::InputWithdrawn { id } => self.questions.withdraw(id),
                event => self.watch.event(event),
            }
        }
    }
}

/// Takes what happened, to be told once the lock is released.
pub(super) fn drain(state: &mut State) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(event) = state.connection.poll_event() {
        match event {
            Event::Changed(change) => state.changed(change),
            Event::Relisted(catalog) => state.listed(Ok(catalog)),
            Event::RelistFailed(reason) => state.listed(Err(reason)),
            event => events.push(event),
        }
    }
    events
}

impl Drop for Core {
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
