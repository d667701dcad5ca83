//! The driver's part: what the server sends goes into the session, and what the session wants is done.
//!
//! **Invariant:** it never waits: it is polled by the connection's driver, in its turn.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use seawall_proto::connection::{CallError, CallId, CloseReason, Event, InputId};
use seawall_proto::jsonrpc::{ErrorObject, Reply};
use seawall_proto::{Json, Outcome};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{Key, Live, consult};
use crate::client::shared::Shared;
use crate::inputs::BoxFuture;
use crate::mcpl::session::{Act, Answer, Ask, Decision, Session};

/// Drives one session. See the [module](self).
pub(in crate::client) struct Pump {
    live: Arc<Live>,
    shared: Arc<Shared>,
    /// Requests of the host's own under way.
    asked: Vec<(Ask, CallId)>,
    /// What the embedding program is asked.
    open: Vec<(u64, BoxFuture<Decision>)>,
    /// Requests of the server that were not answered yet, for those that are taken back.
    keys: Vec<Key>,
    timer: Option<Pin<Box<Sleep>>>,
}

/// What happened, and what is to be done because of it.
#[derive(Default)]
struct Turn {
    answers: Vec<(Ask, Answer)>,
    decisions: Vec<(u64, Decision)>,
}

impl Turn {
    fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.decisions.is_empty()
    }
}

impl Pump {
    pub(in crate::client) fn new(live: Arc<Live>, shared: &Arc<Shared>) -> Self {
        Self {
            live,
            shared: Arc::clone(shared),
            asked: Vec::new(),
            open: Vec::new(),
            keys: Vec::new(),
            timer: None,
        }
    }

    /// Takes an event that is of the extension; any other comes back.
    pub(in crate::client) fn event(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Extended(server) => drop(self.live.session(&server)),
            Event::Extension {
                id,
                request,
                method,
                params,
            } => {
                let key = Key { id, request };
                self.keys.push(key.clone());
                let hooks = self.hooks_under_way();
                self.with(|session, now| {
                    session.hooks_under_way(hooks);
                    session.request(now, key, &method, params);
                });
            }
            Event::ExtensionTold { method, params } => {
                self.with(|session, now| session.told(now, &method, params));
            }
            Event::InputWithdrawn { id } => {
                let Some(key) = self.forget(id) else {
                    return Some(Event::InputWithdrawn { id });
                };
                self.with(|session, _| session.withdrawn(&key));
            }
            Event::Ready => {
                self.with(|session, _| session.begin());
                return Some(Event::Ready);
            }
            Event::Closed => {
                self.end();
                return Some(Event::Closed);
            }
            event => return Some(event),
        }
        None
    }

    /// How many hooks wait for the server: what it answered by now does not, though its caller may not have looked.
    fn hooks_under_way(&self) -> usize {
        let hooks = self.live.hooks().clone();
        if hooks.is_empty() {
            return 0;
        }
        let mut guard = self.shared.lock();
        let connection = &guard.state().connection;
        hooks
            .into_iter()
            .filter(|hook| connection.is_under_way(*hook))
            .count()
    }

    /// The connection is over, and with it everything that was granted on it.
    fn end(&self) {
        let told = self.with(|session, _| {
            session.end();
            std::iter::from_fn(|| session.poll()).collect::<Vec<_>>()
        });
        for act in told {
            if let Act::Tell(notice) = act {
                self.live.tell(notice);
            }
        }
    }

    /// Does what is to be done, as far as it can be done now.
    pub(in crate::client) fn poll(&mut self, context: &mut Context<'_>) {
        if self.live.session.get().is_none() {
            return;
        }
        self.live.driver.register(context.waker());
        loop {
            let turn = self.happened(context);
            let idle = turn.is_empty();
            let acts = self.with(|session, now| {
                for (number, decision) in turn.decisions {
                    session.decided(number, decision);
                }
                for (ask, answer) in turn.answers {
                    session.answered(now, &ask, answer);
                }
                session.handle_timeout(now);
                std::iter::from_fn(|| session.poll()).collect::<Vec<_>>()
            });
            if acts.is_empty() && idle && !self.rearm(context) {
                return;
            }
            for act in acts {
                self.act(act);
            }
        }
    }

    /// What the embedding program and the server answered.
    fn happened(&mut self, context: &mut Context<'_>) -> Turn {
        let mut turn = Turn::default();
        self.open
            .retain_mut(|(number, answer)| match answer.as_mut().poll(context) {
                Poll::Pending => true,
                Poll::Ready(decision) => {
                    turn.decisions.push((*number, decision));
                    false
                }
            });
        if self.asked.is_empty() {
            return turn;
        }
        let mut guard = self.shared.lock();
        let connection = &mut guard.state().connection;
        self.asked.retain(
            |(ask, call)| match connection.poll_request(*call, context.waker()) {
                Poll::Pending => true,
                Poll::Ready(ended) => {
                    turn.answers.push((ask.clone(), answer_of(ended)));
                    false
                }
            },
        );
        drop(guard.release_by_driver());
        turn
    }

    fn act(&mut self, act: Act<Key>) {
        match act {
            Act::Ask(ask, params) => self.ask(ask, params),
            Act::Reply(key, answer) => self.reply(&key, answer),
            Act::Consult(number, key, question) => {
                let answer = consult::consult(&self.live, &self.shared, &key, question);
                self.open.push((number, answer));
            }
            Act::Forget(number) => self.open.retain(|(open, _)| *open != number),
            Act::Tell(notice) => self.live.tell(notice),
            Act::Close => {
                let mut guard = self.shared.lock();
                guard.state().close(CloseReason::PolicyRefused);
                drop(guard.release_by_driver());
            }
        }
    }

    fn ask(&mut self, ask: Ask, params: Json) {
        let mut guard = self.shared.lock();
        let now = guard.now();
        let connection = &mut guard.state().connection;
        let begun = connection.request(now, ask.method(), Some(params), ask.timeout());
        drop(guard.release_by_driver());
        match begun {
            Ok(call) => self.asked.push((ask, call)),
            Err(_) => self.with(|session, now| session.answered(now, &ask, Answer::None)),
        }
    }

    fn reply(&mut self, key: &Key, answer: Result<Json, ErrorObject>) {
        if self.forget(key.id).is_none() {
            return;
        }
        let mut guard = self.shared.lock();
        let now = guard.now();
        let connection = &mut guard.state().connection;
        match answer {
            Ok(answer) => connection.supply(now, key.id, Some(answer)),
            Err(refusal) => connection.refuse(now, key.id, &refusal),
        }
        drop(guard.release_by_driver());
    }

    fn forget(&mut self, id: InputId) -> Option<Key> {
        let at = self.keys.iter().position(|key| key.id == id)?;
        Some(self.keys.swap_remove(at))
    }

    /// Sets the timer to when the session has something to do next; whether that is now.
    fn rearm(&mut self, context: &mut Context<'_>) -> bool {
        let Some(next) = self.with(|session, now| session.poll_timeout(now)) else {
            self.timer = None;
            return false;
        };
        let next = Instant::from_std(next);
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(next)));
        if timer.deadline() != next {
            timer.as_mut().reset(next);
        }
        timer.as_mut().poll(context).is_ready()
    }

    /// Does something with the session and what time it is.
    fn with<T: Default>(&self, act: impl FnOnce(&mut Session<Key>, std::time::Instant) -> T) -> T {
        let Some(session) = self.live.session.get() else {
            return T::default();
        };
        act(self.live.lock(session).get(), Instant::now().into_std())
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.end();
    }
}

fn answer_of(ended: Option<Result<Reply, CallError>>) -> Answer {
    match ended {
        Some(Ok(reply)) => Answer::Result(reply.result),
        Some(Err(error)) if error.outcome() == Outcome::ErrorResponse => {
            error.json_rpc_code().map_or(Answer::None, Answer::Error)
        }
        _ => Answer::None,
    }
}
