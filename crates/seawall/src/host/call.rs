//! A call of a published flow.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use seawall_proto::connection::Progress;
use seawall_proto::mcp::ToolResult;

use super::Host;
use crate::client::{Arguments, Call, Client};
use crate::error::{Error, ErrorKind};
use crate::flows::Digest;
use crate::supervisor::ServerState;

/// A call of a flow: a future that ends in its result, or in an [`Error`] that says what became of it. Nothing retries it.
///
/// # Cancel safety
/// As [`Call`]: dropping it abandons the call.
#[must_use = "a call does nothing until it is awaited"]
#[derive(Debug)]
pub struct HostCall(Stage);

#[derive(Debug)]
enum Stage {
    Calling(Box<Call>),
    Refused(Error),
}

impl Host {
    /// Calls a published flow, by its name, with a JSON object.
    ///
    /// # Errors
    /// The future's: no server offers the flow, or the one whose prefix it has is not up (`not_sent`); else as
    /// [`Client::call`](crate::Client::call).
    pub fn call(&self, flow: &str, arguments: impl Into<Arguments>) -> HostCall {
        HostCall(match self.offering(flow) {
            Ok((client, tool)) => Stage::Calling(Box::new(client.call(&tool, arguments))),
            Err(error) => Stage::Refused(error),
        })
    }

    /// The live session that published the flow, and the tool's own name.
    fn offering(&self, flow: &str) -> Result<(Client, String), Error> {
        let world = &self.0.world;
        let snapshot = world.publisher.current();
        if let Some((listing, found)) = snapshot.find(flow)
            && let Ok(entry) = world.registry.find(listing.server())
            && let Some((generation, session)) = &entry.standing.borrow().session
            && *generation == listing.generation()
            && let Some(client) = session.client()
        {
            return Ok((client.clone(), found.tool().to_owned()));
        }
        let nobody = || Error::new(&Arc::from(""), ErrorKind::NoSuchFlow);
        Err(match world.registry.server_of_flow(flow) {
            Some((_, ServerState::Up | ServerState::Degraded)) | None => nobody(),
            Some((server, state)) => Error::new(&server, ErrorKind::NotUp(state.as_str())),
        })
    }
}

impl HostCall {
    /// See [`Call::timeout`].
    pub fn timeout(self, timeout: Duration) -> Self {
        self.map(|call| call.timeout(timeout))
    }

    /// See [`Call::digest`].
    pub fn digest(self, digest: Digest) -> Self {
        self.map(|call| call.digest(digest))
    }

    /// See [`Call::on_progress`].
    pub fn on_progress(self, tell: impl FnMut(Progress) + Send + 'static) -> Self {
        self.map(|call| call.on_progress(tell))
    }

    /// See [`Call::abandon`].
    ///
    /// # Errors
    /// As [`Call::abandon`].
    pub fn abandon(self) -> Result<ToolResult, Error> {
        match self.0 {
            Stage::Calling(call) => call.abandon(),
            Stage::Refused(error) => Err(error),
        }
    }

    fn map(self, change: impl FnOnce(Call) -> Call) -> Self {
        Self(match self.0 {
            Stage::Calling(call) => Stage::Calling(Box::new(change(*call))),
            refused => refused,
        })
    }
}

impl Future for HostCall {
    type Output = Result<ToolResult, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Stage::Calling(call) => Pin::new(&mut **call).poll(context),
            Stage::Refused(error) => Poll::Ready(Err(error.clone())),
        }
    }
}
