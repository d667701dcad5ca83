//! One call, from its first poll to its end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use seawall_proto::Outcome;
use seawall_proto::connection::{Bound, CallError, CallId, Progress};
use seawall_proto::jsonrpc::Reply;
use seawall_proto::limits::MAX_TIMEOUT_MS;
use seawall_proto::mcp::{ResultFault, ToolResult};

use super::offer::NoFlow;
use super::{Arguments, Carried, Client};
use crate::error::{Error, ErrorKind};
use crate::flows::Digest;

/// A call of a tool: a future that ends in its result, or in an [`Error`] that says what became of it.
///
/// Nothing happens before it is polled first; its deadline begins then.
///
/// # Cancel safety
/// Dropping it abandons the call: a request of which nothing was written is never sent; one that was, is followed by one
/// best-effort `notifications/cancelled`. [`abandon`](Self::abandon) does the same and tells which of the two it was.
#[must_use = "a call does nothing until it is awaited"]
pub struct Call {
    client: Client,
    /// Where its flow stands, or why no such tool is published.
    position: Result<usize, NoFlow>,
    stage: Stage,
    bound: Bound,
    carried: Carried,
    digest: Option<Digest>,
}

enum Stage {
    /// Nothing was done yet.
    Unsent(Arguments),
    /// The connection has it.
    Pending(CallId),
    /// Its end was told: this became of it.
    Over(Outcome),
}

impl Call {
    pub(super) fn new(
        client: Client,
        position: Result<usize, NoFlow>,
        arguments: Arguments,
    ) -> Self {
        Self {
            client,
            position,
            stage: Stage::Unsent(arguments),
            bound: Bound::default(),
            carried: Carried::default(),
            digest: None,
        }
    }

    /// The deadline of the whole call, instead of `requestTimeoutMs`; at most 2^31 - 1 ms, which is 24 days.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.bound.timeout = Some(timeout.min(Duration::from_millis(MAX_TIMEOUT_MS)));
        self
    }

    /// The call has waited for so long by now, and its deadline has come nearer by that.
    pub(crate) fn waited(mut self, waited: Duration) -> Self {
        self.bound.waited = waited;
        self
    }

    /// The declaration that the caller decided on: if the tool's digest is another by now, nothing is sent (F3).
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

    /// Lets go of the call and tells what became of it; the result, if it had ended before.
    ///
    /// # Errors
    /// As awaiting it; a call that had not ended is an error whose outcome says whether it had been dispatched.
    pub fn abandon(mut self) -> Result<ToolResult, Error> {
        let kind = match self.leave_stage() {
            Stage::Unsent(_) => ErrorKind::Abandoned(Outcome::NotSent),
            Stage::Over(outcome) => ErrorKind::Over(outcome),
            Stage::Pending(id) => match self.client.abandon(id) {
                Ok(reply) => return self.end(reply),
                Err(kind) => kind,
            },
        };
        Err(self.client.error(kind))
    }

    pub(crate) fn server(&self) -> Arc<str> {
        Arc::clone(&self.client.handle.server)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    fn leave_stage(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Over(Outcome::NoResponse))
    }

    /// Notes what became of the call as its end is told.
    fn over(&mut self, result: Result<ToolResult, Error>) -> Result<ToolResult, Error> {
        let outcome = result
            .as_ref()
            .map_or_else(Error::outcome, |_| Outcome::Answered);
        self.stage = Stage::Over(outcome);
        result
    }

    /// Checks what can be checked without the server, and hands the call to the connection.
    fn begin(&mut self, arguments: Arguments) -> Result<CallId, Error> {
        let failed = |error| self.client.error(ErrorKind::Call(error));
        let position = match self.position {
            Ok(position) => position,
            Err(NoFlow::LeftOut(fault)) => {
                return Err(self.client.error(ErrorKind::LeftOut(fault)));
            }
            Err(NoFlow::Unknown) => return Err(failed(CallError::UnknownTool)),
        };
        let Some(flow) = self.client.offer.flows.get(position) else {
            return Err(failed(CallError::UnknownTool));
        };
        let arguments = arguments.into_json().map_err(failed)?;
        if self
            .digest
            .as_ref()
            .is_some_and(|expected| *expected != flow.digest())
        {
            return Err(self.client.error(ErrorKind::StaleDeclaration));
        }
        self.client.output_validator(position)?;
        let terms = self.carried.terms(self.bound, self.client.handle.supplied);
        let mut guard = self.client.handle.shared.lock();
        let now = guard.now();
        let state = guard.state();
        let alone = state.connection.is_idle_out() && state.connection.pending_calls() == 0;
        let begun = state.connection.call(now, flow.tool(), arguments, terms);
        if let (Ok(id), Some(relay)) = (&begun, self.carried.relay.take()) {
            state.relays.add(*id, relay);
        }
        if alone {
            // Nothing else is under way, so the request is written here and the driver is spared a turn. Otherwise the
            // driver writes what gathered in one go.
            state.write_now();
        }
        drop(guard);
        begun.map_err(failed)
    }

    /// The last checks of a result.
    fn end(&self, reply: Result<Reply, CallError>) -> Result<ToolResult, Error> {
        let failed = |error| self.client.call_error(error);
        let result = reply
            .and_then(|reply| ToolResult::from_reply(reply).map_err(CallError::Unusable))
            .map_err(failed)?;
        if !result.is_error()
            && !result.asks()
            && let Some(structured) = result.structured_content()
            && let Ok(position) = self.position
            && let Some(validator) = self.client.output_validator(position)?
        {
            validator
                .check(structured)
                .map_err(|fault: ResultFault| failed(CallError::Unusable(fault)))?;
        }
        Ok(result)
    }
}

impl Future for Call {
    type Output = Result<ToolResult, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let id = match self.leave_stage() {
            Stage::Unsent(arguments) => match self.begin(arguments) {
                Ok(id) => id,
                Err(error) => return Poll::Ready(self.over(Err(error))),
            },
            Stage::Pending(id) => id,
            Stage::Over(outcome) => {
                self.stage = Stage::Over(outcome);
                return Poll::Ready(Err(self.client.error(ErrorKind::Over(outcome))));
            }
        };
        // Kept from here on, so that whatever unwinds, the call is let go of.
        self.stage = Stage::Pending(id);
        let this = &mut *self;
        let shared = &this.client.handle.shared;
        match shared.poll_ended(id, &mut this.carried.on_progress, context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(result)) => {
                let result = self.end(result);
                Poll::Ready(self.over(result))
            }
            Poll::Ready(None) => {
                let unknown = self.client.error(ErrorKind::Over(Outcome::NoResponse));
                Poll::Ready(self.over(Err(unknown)))
            }
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Stage::Pending(id) = self.stage {
            let _left = self.client.handle.shared.lock().state().abandon(id);
        }
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("server", &self.client.server())
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
