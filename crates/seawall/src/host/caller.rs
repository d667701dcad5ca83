//! Who calls: an envelope that bounds what, and a run whose calls to one server take turns (F2, F4).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use seawall_proto::Outcome;
use seawall_proto::connection::Progress;
use seawall_proto::limits::MAX_TIMEOUT_MS;
use seawall_proto::mcp::ToolResult;
use tokio::time::{Instant, Sleep, sleep_until};

use super::turns::{Place, Turn, Turns};
use super::{Host, HostCall};
use crate::client::{Arguments, Call};
use crate::error::{Error, ErrorKind};
use crate::flows::{Digest, Flow};
use crate::policy::{Envelope, OnConflict};

/// One run of a caller of a host: what it may call, and its calls to one server one after the other. Clones share the run.
///
/// A flow is called only if the envelope covers every capability that it declares. Where the declaration says
/// [`OnConflict::Serialize`], which it does unless the server's entry says `"onConflict": "allow"`, a call waits until
/// every earlier one of the run to the same server has ended; the wait counts against its deadline. Earlier is what was
/// polled first. Another server, and another run, are never waited for.
///
/// A call has ended when its future has, or was dropped. What was abandoned after it was sent may still be carried out
/// while the next call runs: nobody can know. A call that is polled once and then neither polled nor dropped holds up the
/// run's calls to that server until their deadlines.
///
/// # Drop behavior
/// It is a clone of the [`Host`] too, as is each of its calls that has not ended.
#[derive(Clone)]
pub struct Caller(Arc<Run>);

struct Run {
    host: Host,
    envelope: Envelope,
    turns: Turns,
}

impl Host {
    /// Begins a run of a caller that may use what `envelope` covers.
    #[must_use]
    pub fn caller(&self, envelope: Envelope) -> Caller {
        Caller(Arc::new(Run {
            host: self.clone(),
            envelope,
            turns: Turns::default(),
        }))
    }
}

impl Caller {
    /// Calls a published flow, by its name, with a JSON object. Nothing happens before the call is polled.
    ///
    /// # Errors
    /// The future's. `capability_refused` (`not_sent`): the envelope does not cover what the flow declares; it is checked
    /// as the call begins, and again after it has waited for its turn. `timeout` (`not_sent`): its turn did not come
    /// within its deadline. Else as [`Host::call`].
    pub fn call(&self, flow: &str, arguments: impl Into<Arguments>) -> HostCall {
        HostCall::of_run(RunCall {
            run: Arc::clone(&self.0),
            flow: flow.to_owned(),
            timeout: None,
            digest: None,
            on_progress: None,
            begun: None,
            stage: Stage::Asked(arguments.into()),
        })
    }

    /// The published flows that the caller may call, at this moment, server by server.
    #[must_use]
    pub fn tools(&self) -> Vec<Flow> {
        let snapshot = self.0.host.tools();
        let may_call = |flow: &&Flow| {
            let refused = self.0.envelope.first_refused(flow.capabilities());
            refused.is_none()
        };
        snapshot.flows().filter(may_call).cloned().collect()
    }

    /// What the caller may use.
    #[must_use]
    pub fn envelope(&self) -> &Envelope {
        &self.0.envelope
    }

    /// How many servers the run keeps a line for.
    #[cfg(test)]
    pub(super) fn lines(&self) -> usize {
        self.0.turns.len()
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("envelope", &self.0.envelope)
            .finish_non_exhaustive()
    }
}

/// A call of a [`Caller`].
pub(super) struct RunCall {
    run: Arc<Run>,
    flow: String,
    timeout: Option<Duration>,
    digest: Option<Digest>,
    on_progress: Option<Box<dyn FnMut(Progress) + Send>>,
    /// When it was polled first.
    begun: Option<Instant>,
    stage: Stage,
}

enum Stage {
    /// Nothing was done yet.
    Asked(Arguments),
    /// It is in line.
    Waiting(Box<Waiting>),
    /// It is under way; the turn is its own until it ends.
    Calling(Box<Call>, Option<Turn>),
    /// Its end was told: whose call it was, and what became of it.
    Over(Arc<str>, Outcome),
}

struct Waiting {
    arguments: Arguments,
    server: Arc<str>,
    place: Place,
    ends: Instant,
    limit: Duration,
    /// Set once it has to wait.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl RunCall {
    pub(super) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = Some(timeout.min(Duration::from_millis(MAX_TIMEOUT_MS)));
    }

    pub(super) fn set_digest(&mut self, digest: Digest) {
        self.digest = Some(digest);
    }

    pub(super) fn set_on_progress(&mut self, tell: Box<dyn FnMut(Progress) + Send>) {
        self.on_progress = Some(tell);
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<ToolResult, Error>> {
        loop {
            let next = match self.leave_stage() {
                Stage::Asked(arguments) => self.go_on(arguments, None),
                Stage::Waiting(mut waiting) => match waiting.poll(context) {
                    Poll::Pending => {
                        self.stage = Stage::Waiting(waiting);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(turn)) => self.go_on(waiting.arguments, Some(turn)),
                    Poll::Ready(Err(error)) => Err(error),
                },
                Stage::Calling(mut call, turn) => {
                    match Pin::new(&mut *call).poll(context) {
                        Poll::Pending => {
                            self.stage = Stage::Calling(call, turn);
                            return Poll::Pending;
                        }
                        // The turn goes here.
                        Poll::Ready(ended) => {
                            let outcome = ended
                                .as_ref()
                                .map_or_else(Error::outcome, |_| Outcome::Answered);
                            self.stage = Stage::Over(call.server(), outcome);
                            return Poll::Ready(ended);
                        }
                    }
                }
                Stage::Over(server, outcome) => Err(Error::new(&server, ErrorKind::Over(outcome))),
            };
            match next {
                Ok(stage) => self.stage = stage,
                Err(error) => {
                    self.stage = Stage::Over(error.server().into(), error.outcome());
                    return Poll::Ready(Err(error));
                }
            }
        }
    }

    pub(super) fn abandon(mut self) -> Result<ToolResult, Error> {
        let not_sent = |server: &Arc<str>| {
            let kind = ErrorKind::Abandoned(Outcome::NotSent);
            Err(Error::new(server, kind))
        };
        match self.leave_stage() {
            Stage::Asked(_) => match self.run.host.server_of(&self.flow) {
                Some(server) => not_sent(&server),
                None => Err(Error::new(&Arc::from(""), ErrorKind::NoSuchFlow)),
            },
            Stage::Waiting(waiting) => not_sent(&waiting.server),
            Stage::Calling(call, _) => call.abandon(),
            Stage::Over(server, outcome) => Err(Error::new(&server, ErrorKind::Over(outcome))),
        }
    }

    fn leave_stage(&mut self) -> Stage {
        let unwound = Stage::Over(Arc::from(""), Outcome::NoResponse);
        std::mem::replace(&mut self.stage, unwound)
    }

    /// Checks the call against what is published at this moment, and calls, or gets in line if `turn` is not the one that
    /// it needs: while it waited, the server may have been replaced, its grant, or who has the flow's prefix.
    fn go_on(&mut self, arguments: Arguments, turn: Option<Turn>) -> Result<Stage, Error> {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let (client, flow) = self.run.host.offering(&self.flow)?;
        let server: Arc<str> = flow.server().into();
        if let Some(refused) = self.run.envelope.first_refused(flow.capabilities()) {
            let kind = ErrorKind::Uncovered(refused.clone());
            return Err(Error::new(&server, kind));
        }
        let turn = match flow.effects().on_conflict {
            OnConflict::Allow => None,
            OnConflict::Serialize => match turn {
                Some(turn) if turn.server == server => Some(turn),
                _ => {
                    let default = client.limits().request_timeout;
                    let limit = self.timeout.unwrap_or(default);
                    return Ok(Stage::Waiting(Box::new(Waiting {
                        arguments,
                        place: self.run.turns.wait(&server),
                        server,
                        ends: begun + limit,
                        limit,
                        deadline: None,
                    })));
                }
            },
        };
        let mut call = client.call(flow.tool(), arguments).waited(begun.elapsed());
        if let Some(timeout) = self.timeout {
            call = call.timeout(timeout);
        }
        if let Some(digest) = self.digest {
            call = call.digest(digest);
        }
        if let Some(tell) = self.on_progress.take() {
            call = call.on_progress(tell);
        }
        Ok(Stage::Calling(Box::new(call), turn))
    }
}

impl Waiting {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Turn, Error>> {
        if let Some(deadline) = &mut self.deadline
            && deadline.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(self.too_late()));
        }
        if let Poll::Ready(turn) = Pin::new(&mut self.place).poll(context) {
            return Poll::Ready(Ok(turn));
        }
        if self.deadline.is_none() {
            let mut deadline = Box::pin(sleep_until(self.ends));
            if deadline.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(self.too_late()));
            }
            self.deadline = Some(deadline);
        }
        Poll::Pending
    }

    fn too_late(&self) -> Error {
        let limit_ms = self.limit.as_millis();
        Error::new(&self.server, ErrorKind::NoTurn { limit_ms })
    }
}

impl fmt::Debug for RunCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunCall")
            .field("flow", &self.flow)
            .finish_non_exhaustive()
    }
}
