//! Calls: begun, polled, let go of, answered.

use std::borrow::Cow;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use super::kept::{Asked, Kept};
use super::ledger::{Abandoned, CallId, Leg, Pending, Progress, Subject};
use super::left::Left;
use super::outbox::{ENTRY_OVERHEAD_BYTES, Purpose};
use super::request::{Continuation, Request};
use super::terms::{Rounds, Terms};
use super::wire::Meta;
use super::{Binding, CallError, Connection, Event, RemoteText, Stage, Time, wire};
use crate::framing::Kind;
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, Reply};
use crate::limits::MAX_JSON_DEPTH;
use crate::mcp::{Catalog, ClientCapabilities, ToolResult};
use crate::outcome::Outcome;

/// Containers around the arguments in a `tools/call`: the envelope and `params` (L2).
const ARGUMENTS_DEPTH: usize = 2;
/// Containers around `params`: the envelope.
const PARAMS_DEPTH: usize = 1;

/// How long a call may take. A `timeout` alone makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bound {
    /// The bound of the whole call, whatever progress it makes. Default: `requestTimeoutMs`, which progress restarts
    /// up to `maxTotalTimeoutMs` (O4).
    pub timeout: Option<Duration>,
    /// How much of it is over already. Default: nothing.
    pub waited: Duration,
}

impl From<Option<Duration>> for Bound {
    fn from(timeout: Option<Duration>) -> Self {
        Self {
            timeout,
            ..Self::default()
        }
    }
}

impl Connection {
    /// Queues a call of `tool` with `arguments`, a JSON object, on these terms.
    ///
    /// # Errors
    /// A [`CallError`] whose outcome is `not_sent`; the session goes on.
    pub fn call(
        &mut self,
        now: Time,
        tool: &str,
        arguments: impl Into<Json>,
        terms: impl Into<Terms>,
    ) -> Result<CallId, CallError> {
        let arguments = arguments.into();
        let catalog = self.open_catalog()?;
        let tool = catalog.get(tool).ok_or(CallError::UnknownTool)?;
        let name = tool.name_json().clone();
        self.check_params(&arguments, ARGUMENTS_DEPTH)?;
        let mut terms = terms.into();
        let request = Request::Tool {
            name,
            arguments,
            meta: terms.meta.take(),
        };
        self.begin(now, request, Subject::Tool, terms)
    }

    /// Queues a request of any method; `params` is a JSON object, if there are any. Its end is a reply: see
    /// [`poll_request`](Self::poll_request).
    ///
    /// # Errors
    /// A [`CallError`] whose outcome is `not_sent`; the session goes on.
    pub fn request(
        &mut self,
        now: Time,
        method: impl Into<Cow<'static, str>>,
        params: Option<Json>,
        terms: impl Into<Terms>,
    ) -> Result<CallId, CallError> {
        self.open_catalog()?;
        if let Some(params) = &params {
            self.check_params(params, PARAMS_DEPTH)?;
        }
        let mut terms = terms.into();
        let request = Request::Other {
            method: method.into(),
            params,
            meta: terms.meta.take(),
        };
        self.begin(now, request, Subject::Other, terms)
    }

    fn open_catalog(&self) -> Result<&Arc<Catalog>, CallError> {
        match &self.stage {
            Stage::Ready(ready) => Ok(&ready.catalog),
            Stage::Closed { reason, .. } => Err(CallError::Closed {
                reason: reason.clone(),
                outcome: Outcome::NotSent,
            }),
            _ => Err(CallError::NotReady),
        }
    }

    fn check_params(&self, params: &Json, around: usize) -> Result<(), CallError> {
        if params.kind() != Kind::Object {
            return Err(CallError::ArgumentsKind);
        }
        if params.depth() + around > MAX_JSON_DEPTH {
            return Err(CallError::ArgumentsTooDeep);
        }
        // Refuse before copying; the exact size, with name and envelope, is checked once the frame stands.
        let limit = self.config.limits.max_outbound_frame_bytes;
        if params.len() > limit {
            return Err(CallError::RequestTooLong { limit });
        }
        Ok(())
    }

    fn begin(
        &mut self,
        now: Time,
        request: Request,
        subject: Subject,
        terms: Terms,
    ) -> Result<CallId, CallError> {
        if let Some(meta) = request.callers_meta() {
            self.check_params(meta, ARGUMENTS_DEPTH)?;
        }
        let (asked, more) = self.continuation(terms.rounds)?;
        let own = self.own_meta(terms.capabilities, terms.log_level);
        if let Some(level) = terms.log_level {
            self.log_at_least(now, level);
        }
        let id = self.next_id;
        let frame = request.frame(id, own.as_ref().unwrap_or(&self.meta), &more);
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            return Err(CallError::RequestTooLong { limit });
        }
        let budget = self.config.limits.max_buffered_bytes;
        if self.buffered_bytes() + frame.len() + ENTRY_OVERHEAD_BYTES > budget {
            return Err(CallError::BufferFull { limit: budget });
        }
        self.next_id += 1;
        let route = self.route(&request);
        let frame = self.send(frame, Purpose::Request(id), route);
        let bound = terms.bound;
        let (timeout, total) = match bound.timeout {
            // The caller's own bound is one of the whole call: progress does not move it.
            Some(timeout) => (timeout, timeout),
            None => {
                let timeout = self.config.limits.request_timeout;
                match self.config.max_total_timeout {
                    Duration::ZERO => (timeout, timeout),
                    total => (timeout.min(total), total),
                }
            }
        };
        let deadline = now.after(timeout.saturating_sub(bound.waited));
        let whole = total;
        let total = now.after(whole.saturating_sub(bound.waited));
        let kept = (self.is_modern() || self.config.binding == Binding::Http).then(|| {
            let mut kept = Kept {
                request,
                meta: own,
                capabilities: terms.capabilities,
                asked,
                held: more.held(),
                more,
            };
            if self.config.binding == Binding::Stream {
                kept.forget_continuation();
            }
            Box::new(kept)
        });
        self.calls.insert(
            id,
            Pending {
                leg: Leg::Queued { frame },
                wire: id,
                rounds: 0,
                again: false,
                subject,
                kept,
                deadline,
                total,
                timeout,
                whole,
                waker: None,
                progress: None,
            },
        );
        self.stats.calls += 1;
        Ok(CallId(id))
    }

    /// What the first leg says beside the request, and who is asked for another round.
    fn continuation(&self, rounds: Rounds) -> Result<(Asked, Continuation), CallError> {
        let Rounds::Callers { responses, state } = rounds else {
            return Ok((Asked::Us, Continuation::default()));
        };
        if !self.is_modern() {
            return match (responses, state) {
                (None, None) => Ok((Asked::Us, Continuation::default())),
                _ => Err(CallError::NoRounds),
            };
        }
        if let Some(responses) = &responses {
            self.check_params(responses, ARGUMENTS_DEPTH)?;
        }
        if let Some(state) = &state {
            let limit = self.config.limits.max_outbound_frame_bytes;
            if state.kind() != Kind::String {
                return Err(CallError::ArgumentsKind);
            }
            if state.len() > limit {
                return Err(CallError::RequestTooLong { limit });
            }
        }
        let responses = responses.map(|responses| responses.as_bytes().to_vec());
        Ok((Asked::Caller, Continuation { responses, state }))
    }

    /// What a request says of itself where it is not what the connection says.
    fn own_meta(
        &self,
        capabilities: Option<ClientCapabilities>,
        log_level: Option<&'static str>,
    ) -> Option<Meta> {
        let own = capabilities.is_some() || log_level.is_some();
        (own && self.meta.is_modern()).then(|| {
            let capabilities = capabilities.unwrap_or(self.config.capabilities);
            self.meta_of(&capabilities, log_level.or(self.log_level.as_deref()))
        })
    }

    /// The end of a tool's call, once; until then `waker` is kept, to be woken when the call ends or reports progress.
    ///
    /// `Ready(None)` means that the connection does not know the call: its result was taken.
    pub fn poll_call(
        &mut self,
        call: CallId,
        waker: &Waker,
    ) -> Poll<Option<Result<ToolResult, CallError>>> {
        self.poll_request(call, waker)
            .map(|ended| ended.map(tool_result))
    }

    /// As [`poll_call`](Self::poll_call), for any request: the reply as it came.
    pub fn poll_request(
        &mut self,
        call: CallId,
        waker: &Waker,
    ) -> Poll<Option<Result<Reply, CallError>>> {
        if self.calls.wait(call, waker) {
            Poll::Pending
        } else {
            Poll::Ready(self.calls.take(call))
        }
    }

    /// The end of a tool's call, if it ended and was not taken before.
    pub fn take(&mut self, call: CallId) -> Option<Result<ToolResult, CallError>> {
        self.calls.take(call).map(tool_result)
    }

    /// Whether a call, or any other request, has not ended.
    #[must_use]
    pub fn is_under_way(&self, call: CallId) -> bool {
        let pending = self.calls.get(call.0);
        pending.is_some_and(|pending| !matches!(pending.leg, Leg::Ended { .. }))
    }

    /// The newest progress of a call, once.
    pub fn take_progress(&mut self, call: CallId) -> Option<Progress> {
        self.calls.get_mut(call.0)?.progress.take()
    }

    /// The caller of `call` is gone. A frame not begun is skipped; one begun gets one best-effort cancellation (S8).
    pub fn abandon(&mut self, call: CallId) -> Abandoned {
        let Some(pending) = self.calls.get(call.0) else {
            return Abandoned::Unknown;
        };
        let wire = pending.wire;
        let Some(left) = Left::of(pending) else {
            return self
                .calls
                .take(call)
                .map_or(Abandoned::Unknown, Abandoned::Ended);
        };
        self.calls.forget(call);
        self.let_go(call.0, wire, left);
        match left.outcome() {
            Outcome::NotSent => Abandoned::NotSent,
            Outcome::ErrorResponse => Abandoned::Refused,
            _ if left.is_between_legs() => Abandoned::BetweenLegs,
            _ => Abandoned::NoResponse,
        }
    }

    /// Ends the calls whose deadline passed.
    pub(super) fn expire_calls(&mut self, now: Time) {
        for (id, left) in self.calls.expire(now) {
            let wire = self.calls.get(id).map_or(id, |ended| ended.wire);
            self.let_go(id, wire, left);
        }
    }

    /// Skips the frame of an abandoned call, or cancels it.
    pub(super) fn let_go(&mut self, call: u64, wire: u64, left: Left) {
        if self.is_closed() {
            return;
        }
        match left {
            Left::Queued { frame, .. } => self.outbox.withdraw(frame),
            Left::Withdrawn { .. } => self.hang_up(wire),
            Left::Dispatched => self.cancel(wire),
            Left::Paused { .. } => self.withdraw_inputs(call),
        }
    }

    /// Tells the server that nobody waits for request `wire`: each binding its own way (S8).
    pub(super) fn cancel(&mut self, wire: u64) {
        if self.config.binding == Binding::Http {
            self.hang_up(wire);
            if self.is_modern() {
                // Closing the response stream is the cancellation.
                self.stats.cancelled += 1;
                return;
            }
        }
        if self.outbox.is_full() {
            // Never delay a deadline for the sake of telling the server about it.
            self.stats.cancels_dropped += 1;
        } else {
            self.stats.cancelled += 1;
            let route = self.route_of("notifications/cancelled");
            self.send(wire::cancelled(wire), Purpose::Cancel(wire), route);
        }
    }

    /// A reply came for request `wire`, in a frame of so many bytes; false if no call waits for it.
    pub(super) fn finish(
        &mut self,
        now: Time,
        wire: u64,
        frame_bytes: usize,
        answer: Result<Reply, ErrorObject>,
    ) -> bool {
        // An answer to what was never asked, or was answered, is not this call's.
        let Some((call, pending)) = self.calls.in_flight(wire) else {
            return false;
        };
        let subject = pending.subject;
        self.finish_exchange(wire);
        let result = match answer {
            Ok(reply) if self.is_modern() => match self.round(now, call, reply, frame_bytes) {
                Ok(Some(reply)) => Ok(reply),
                Ok(None) => return true,
                Err(unfinished) => Err(CallError::Unfinished(unfinished)),
            },
            Ok(reply) => Ok(reply),
            Err(error) if self.wants_relist(call, &error) => {
                self.diagnose(|| Event::RemoteError(error));
                self.pause_for_relist(now, call);
                return true;
            }
            Err(error) => {
                let code = error.code;
                let told = RemoteText::of(&error);
                let failed = match subject {
                    Subject::Tool => CallError::Refused {
                        code,
                        tool_not_found: error.says_tool_not_found(),
                        told,
                    },
                    Subject::Other | Subject::Aside => CallError::RequestRefused { code, told },
                };
                self.diagnose(|| Event::RemoteError(error));
                Err(failed)
            }
        };
        let result = match (subject, result) {
            // Checked here too, so that what cannot be used is not kept.
            (Subject::Tool, Ok(reply)) => ToolResult::check(&reply)
                .map(|()| reply)
                .map_err(CallError::Unusable),
            (_, result) => result,
        };
        self.calls.end(call, frame_bytes, |_, _| result);
        self.note_buffered();
        true
    }
}

/// A tool's reply, as its result.
fn tool_result(reply: Result<Reply, CallError>) -> Result<ToolResult, CallError> {
    ToolResult::from_reply(reply?).map_err(CallError::Unusable)
}
