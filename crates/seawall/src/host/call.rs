//! A call of a published flow.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use seawall_proto::connection::Progress;
use seawall_proto::mcp::ToolResult;

use super::Host;
use super::caller::RunCall;
use crate::client::{Arguments, Call, Client};
use crate::error::{Error, ErrorKind};
use crate::flows::{Digest, Flow};
use crate::supervisor::ServerState;

/// A call of a flow: a future that ends in its result, or in an [`Error`] that says what became of it. Nothing retries it.
///
/// # Cancel safety
/// As [`Call`]: dropping it abandons the call. One that waits for its turn ([`Caller`](super::Caller)) gives up its place.
#[must_use = "a call does nothing until it is awaited"]
#[derive(Debug)]
pub struct HostCall(Stage);

#[derive(Debug)]
enum Stage {
    Calling(Box<Call>),
    /// A caller's: checked, and in turn.
    OfRun(Box<RunCall>),
    Refused(Error),
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
        HostCall(match self.offering(flow) {
            Ok((client, flow)) => Stage::Calling(Box::new(client.call(flow.tool(), arguments))),
            Err(error) => Stage::Refused(error),
        })
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
        let nobody = || Error::new(&Arc::from(""), ErrorKind::NoSuchFlow);
        Err(match world.registry.server_of_flow(flow) {
            Some((_, ServerState::Up | ServerState::Degraded)) | None => nobody(),
            Some((server, state)) => Error::new(&server, ErrorKind::NotUp(state.as_str())),
        })
    }
}

impl HostCall {
    pub(super) fn of_run(call: RunCall) -> Self {
        Self(Stage::OfRun(Box::new(call)))
    }

    /// See [`Call::timeout`]. It bounds the wait for a turn too.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.map(
            |call| call.timeout(timeout),
            |call| call.set_timeout(timeout),
        )
    }

    /// See [`Call::digest`].
    pub fn digest(self, digest: Digest) -> Self {
        self.map(|call| call.digest(digest), |call| call.set_digest(digest))
    }

    /// See [`Call::on_progress`].
    pub fn on_progress(self, tell: impl FnMut(Progress) + Send + 'static) -> Self {
        let tell = Box::new(tell);
        match self.0 {
            Stage::Calling(call) => Self(Stage::Calling(Box::new(call.on_progress(tell)))),
            Stage::OfRun(mut call) => {
                call.set_on_progress(tell);
                Self(Stage::OfRun(call))
            }
            Stage::Refused(error) => Self(Stage::Refused(error)),
        }
    }

    /// See [`Call::abandon`]. A call that waited for its turn was not sent.
    ///
    /// # Errors
    /// As [`Call::abandon`].
    pub fn abandon(self) -> Result<ToolResult, Error> {
        match self.0 {
            Stage::Calling(call) => call.abandon(),
            Stage::OfRun(call) => call.abandon(),
            Stage::Refused(error) => Err(error),
        }
    }

    fn map(
        self,
        change: impl FnOnce(Call) -> Call,
        change_of_run: impl FnOnce(&mut RunCall),
    ) -> Self {
        Self(match self.0 {
            Stage::Calling(call) => Stage::Calling(Box::new(change(*call))),
            Stage::OfRun(mut call) => {
                change_of_run(&mut call);
                Stage::OfRun(call)
            }
            refused @ Stage::Refused(_) => refused,
        })
    }
}

impl Future for HostCall {
    type Output = Result<ToolResult, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Stage::Calling(call) => Pin::new(&mut **call).poll(context),
            Stage::OfRun(call) => call.poll(context),
            Stage::Refused(error) => Poll::Ready(Err(error.clone())),
        }
    }
}
