//! A call of a published flow, from its first poll to its end.

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

use super::Host;
use super::caller::Run;
use super::turns::{Place, Turn};
use crate::client::{Arguments, Call, Carried, Client};
use crate::error::{Error, ErrorKind};
use crate::flows::{Digest, Flow};
use crate::journal::{Receipt, Record};
use crate::policy::OnConflict;
use crate::supervisor::ServerState;

/// A call of a flow: a future that ends in its result, or in an [`Error`] that says what became of it. Nothing retries it.
///
/// Nothing happens before it is polled first: whatever is checked, the digest too, is checked against what is published
/// then.
///
/// # Cancel safety
/// As [`Call`]: dropping it abandons the call. One that waits for its turn ([`Caller`](super::Caller)) gives up its place.
///
/// # Drop behavior
/// Until it is polled first it is a clone of the [`Host`] too.
#[must_use = "a call does nothing until it is awaited"]
pub struct HostCall {
    who: Who,
    flow: String,
    timeout: Option<Duration>,
    digest: Option<Digest>,
    carried: Carried,
    caller_name: Option<String>,
    /// What is known of it in the journal, until its end is.
    record: Option<Record>,
    /// When it was polled first.
    begun: Option<Instant>,
    stage: Stage,
}

/// Who calls.
pub(super) enum Who {
    /// Somebody whom nothing bounds.
    Anybody(Host),
    /// A caller.
    Run(Arc<Run>),
    /// Nobody needs to know any longer: the call of anybody is under way.
    Begun,
}

enum Stage {
    /// Nothing was done yet.
    Asked(Arguments),
    /// It is in line.
    Waiting(Box<Waiting>),
    /// It is being recorded; nothing of it is sent before.
    Recording(Box<Recording>),
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

struct Recording {
    call: Call,
    turn: Option<Turn>,
    receipt: Receipt,
    ends: Instant,
    limit: Duration,
    /// Set once it has to wait.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Host {
    /// Calls a published flow, by its name, with a JSON object.
    ///
    /// Nobody's envelope bounds it, and it waits for no other call. A [`Caller`](super::Caller) is who has both.
    ///
    /// # Errors
    /// The future's: no server offers the flow, or the one whose prefix it has is not up (`not_sent`); else as
    /// [`Client::call`](crate::Client::call).
    pub fn call(&self, flow: &str, arguments: impl Into<Arguments>) -> HostCall {
        HostCall::new(Who::Anybody(self.clone()), flow, arguments.into())
    }

    /// The server whose prefix begins the flow's name.
    pub(super) fn server_of(&self, flow: &str) -> Option<Arc<str>> {
        let (server, _) = self.0.world.registry.server_of_flow(flow)?;
        Some(server)
    }

    /// The live session that published the flow, and the flow as it calls it.
    pub(super) fn offering(&self, flow: &str) -> Result<(Client, Flow), Error> {
        let world = &self.0.world;
        let snapshot = world.publisher.current();
        if let Some((listing, found)) = snapshot.find(flow)
            && let Ok(entry) = world.registry.find(listing.server())
            && let Some((generation, session)) = &entry.standing.borrow().session
            && *generation == listing.generation()
            && let Some(client) = session.client()
        {
            return Ok((client.clone(), found.clone()));
        }
        Err(match world.registry.server_of_flow(flow) {
            Some((_, ServerState::Up | ServerState::Degraded)) | None => nobody(),
            Some((server, state)) => Error::new(&server, ErrorKind::NotUp(state.as_str())),
        })
    }
}

impl HostCall {
    pub(super) fn new(who: Who, flow: &str, arguments: Arguments) -> Self {
        Self {
            who,
            flow: flow.to_owned(),
            timeout: None,
            digest: None,
            carried: Carried::default(),
            caller_name: None,
            record: None,
            begun: None,
            stage: Stage::Asked(arguments),
        }
    }

    /// See [`Call::timeout`]. It bounds the wait for a turn too.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout.min(Duration::from_millis(MAX_TIMEOUT_MS)));
        self
    }

    /// See [`Call::digest`].
    pub fn digest(mut self, digest: Digest) -> Self {
        self.digest = Some(digest);
        self
    }

    /// See [`Carried::on_progress`].
    pub fn on_progress(mut self, tell: impl FnMut(Progress) + Send + 'static) -> Self {
        self.carried.on_progress = Some(Box::new(tell));
        self
    }

    /// What it carries for whoever it is made for, in place of what was said of that before.
    pub fn carrying(mut self, carried: Carried) -> Self {
        self.carried = carried;
        self
    }

    /// Who calls, for the journal.
    pub fn caller_name(mut self, name: &str) -> Self {
        self.caller_name = Some(name.to_owned());
        self
    }

    /// See [`Call::abandon`]. A call that waited for its turn was not sent.
    ///
    /// # Errors
    /// As [`Call::abandon`].
    pub fn abandon(mut self) -> Result<ToolResult, Error> {
        self.let_go()
    }

    fn let_go(&mut self) -> Result<ToolResult, Error> {
        let not_sent = |server: &Arc<str>| {
            let kind = ErrorKind::Abandoned(Outcome::NotSent);
            Err(Error::new(server, kind))
        };
        let ended = match self.leave_stage() {
            Stage::Asked(_) => {
                let host = self.host();
                match host.and_then(|host| host.server_of(&self.flow)) {
                    Some(server) => not_sent(&server),
                    None => Err(nobody()),
                }
            }
            Stage::Waiting(waiting) => not_sent(&waiting.server),
            Stage::Recording(recording) => not_sent(&recording.call.server()),
            Stage::Calling(call, _) => {
                let client = call.client().clone();
                let ended = call.abandon();
                self.recorded(&ended, Some(&client));
                return ended;
            }
            Stage::Over(server, outcome) => Err(Error::new(&server, ErrorKind::Over(outcome))),
        };
        self.recorded(&ended, None);
        ended
    }

    /// Tells the journal what became of it, once.
    fn recorded(&mut self, ended: &Result<ToolResult, Error>, client: Option<&Client>) {
        if let Some(record) = self.record.take() {
            let redactor = client.filter(|_| record.keeps_texts());
            record.end(ended, redactor.map(Client::redactor).as_ref());
        }
    }

    fn host(&self) -> Option<&Host> {
        match &self.who {
            Who::Anybody(host) => Some(host),
            Who::Run(run) => Some(&run.host),
            Who::Begun => None,
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
        let Some(host) = self.host() else {
            return Err(nobody());
        };
        if let (None, Some(journal)) = (&self.record, &host.0.journal) {
            let draft = journal.draft(&self.flow, self.caller_name.as_deref(), arguments.json());
            self.record = Some(draft);
        }
        let Some(host) = self.host() else {
            return Err(nobody());
        };
        let (client, flow) = host.offering(&self.flow)?;
        if let Some(record) = &mut self.record {
            record.is_of(&flow);
        }
        let turn = match &self.who {
            Who::Run(run) => {
                let server: Arc<str> = flow.server().into();
                if let Some(refused) = run.envelope.first_refused(flow.capabilities()) {
                    let kind = ErrorKind::Uncovered(refused.clone());
                    return Err(Error::new(&server, kind));
                }
                match (flow.effects().on_conflict, turn) {
                    (OnConflict::Allow, _) => None,
                    (OnConflict::Serialize, Some(turn)) if turn.server == server => Some(turn),
                    (OnConflict::Serialize, _) => {
                        let limit = self.timeout.unwrap_or(client.limits().request_timeout);
                        return Ok(Stage::Waiting(Box::new(Waiting {
                            arguments,
                            place: run.turns.wait(&server),
                            server,
                            ends: begun + limit,
                            limit,
                            deadline: None,
                        })));
                    }
                }
            }
            Who::Anybody(_) | Who::Begun => {
                self.who = Who::Begun;
                None
            }
        };
        let receipt = self.record.as_mut().map(|record| {
            let redactor = record.keeps_texts().then(|| client.redactor());
            record.begin(&redactor.unwrap_or_default())
        });
        let limit = self.timeout.unwrap_or(client.limits().request_timeout);
        let carried = std::mem::take(&mut self.carried);
        let call = client.call(flow.tool(), arguments).carrying(carried);
        let mut call = call.waited(begun.elapsed());
        if let Some(timeout) = self.timeout {
            call = call.timeout(timeout);
        }
        if let Some(digest) = self.digest {
            call = call.digest(digest);
        }
        Ok(match receipt {
            None => Stage::Calling(Box::new(call), turn),
            Some(receipt) => Stage::Recording(Box::new(Recording {
                call,
                turn,
                receipt,
                ends: begun + limit,
                limit,
                deadline: None,
            })),
        })
    }
}

impl Future for HostCall {
    type Output = Result<ToolResult, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
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
                Stage::Recording(mut recording) => match recording.poll(context) {
                    Poll::Pending => {
                        self.stage = Stage::Recording(recording);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(())) => {
                        let Recording { call, turn, .. } = *recording;
                        let waited = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
                        Ok(Stage::Calling(Box::new(call.waited(waited)), turn))
                    }
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
                            self.recorded(&ended, Some(call.client()));
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
                    let ended = Err(error);
                    self.recorded(&ended, None);
                    return Poll::Ready(ended);
                }
            }
        }
    }
}

impl Drop for HostCall {
    fn drop(&mut self) {
        // What became of it is found out for the journal alone.
        if self.record.is_some() {
            let _ = self.let_go();
        }
    }
}

impl Recording {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let failed = |limit_ms| {
            let kind = ErrorKind::Unrecorded { limit_ms };
            Poll::Ready(Err(Error::new(&self.call.server(), kind)))
        };
        if let Poll::Ready(recorded) = Pin::new(&mut self.receipt).poll(context) {
            return recorded.map_or_else(|_| failed(None), |()| Poll::Ready(Ok(())));
        }
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(sleep_until(self.ends)));
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => failed(Some(self.limit.as_millis())),
            Poll::Pending => Poll::Pending,
        }
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

/// Nobody offers the flow.
fn nobody() -> Error {
    Error::new(&Arc::from(""), ErrorKind::NoSuchFlow)
}

impl fmt::Debug for HostCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostCall")
            .field("flow", &self.flow)
            .finish_non_exhaustive()
    }
}
