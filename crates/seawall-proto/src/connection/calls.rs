//! Calls and their ledger: `Queued → Dispatched → Ended`, and nothing else decides an outcome (O2).

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::outbox::{ENTRY_OVERHEAD_BYTES, Purpose};
use super::{CallError, CloseReason, Connection, Event, Stage, Time, wire};
use crate::framing::Kind;
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, Reply};
use crate::limits::{MAX_JSON_DEPTH, MAX_PROGRESS_TEXT_BYTES};
use crate::mcp::ToolResult;
use crate::outcome::Outcome;

/// Containers around the arguments in a `tools/call`: the envelope and `params` (L2).
const ARGUMENTS_DEPTH: usize = 2;

/// A call on its connection. Unique per connection, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(u64);

/// What was left of a call when its caller let go of it.
#[derive(Debug, PartialEq)]
pub enum Abandoned {
    /// It had not been dispatched; it never will be.
    NotSent,
    /// It had been dispatched; a cancellation is on its way if the queue had room (S8).
    NoResponse,
    /// It had ended before.
    Ended(Result<ToolResult, CallError>),
    /// The connection does not know it: its result was taken.
    Unknown,
}

/// The newest progress that a server reported for a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far it is, in units of the server's choice.
    pub progress: f64,
    /// How far it goes, if the server said.
    pub total: Option<f64>,
    /// The server's text, if any.
    pub message: Option<String>,
}

/// Where a call stands.
#[derive(Debug)]
enum Leg {
    /// Its frame, of this number in the outbox, is not begun.
    Queued {
        frame: u64,
    },
    Dispatched,
    Ended {
        result: Result<ToolResult, CallError>,
        /// Bytes that the result keeps alive, counted until it is taken (L8).
        held: usize,
    },
}

/// What has to be undone of a call that ended early.
#[derive(Debug, Clone, Copy)]
pub(super) enum Left {
    /// A frame of this number that is not begun.
    Frame(u64),
    /// A request that the server has, or may have.
    Dispatched,
}

impl Left {
    fn of(leg: &Leg) -> Option<Self> {
        match leg {
            Leg::Queued { frame } => Some(Self::Frame(*frame)),
            Leg::Dispatched => Some(Self::Dispatched),
            Leg::Ended { .. } => None,
        }
    }

    fn outcome(self) -> Outcome {
        match self {
            Self::Frame(_) => Outcome::NotSent,
            Self::Dispatched => Outcome::NoResponse,
        }
    }
}

#[derive(Debug)]
struct Pending {
    leg: Leg,
    deadline: Time,
    timeout: Duration,
    waker: Option<Waker>,
    progress: Option<Progress>,
}

/// Spreads ids that we gave out ourselves, one after the other: nobody can choose them to collide.
#[derive(Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, id: u64) {
        // Fibonacci hashing: neighbours go far apart, in the high bits too, which the table looks at.
        self.0 = (self.0 ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// All calls that have not ended, or whose result nobody took.
#[derive(Debug, Default)]
pub(super) struct Calls {
    entries: HashMap<u64, Pending, BuildHasherDefault<IdHasher>>,
    deadlines: BTreeSet<(Time, u64)>,
    result_bytes: usize,
    /// Wakers of calls that something happened to.
    pub(super) ready: Vec<Waker>,
}

impl Calls {
    pub(super) fn pending(&self) -> usize {
        self.deadlines.len()
    }

    pub(super) fn result_bytes(&self) -> usize {
        self.result_bytes
    }

    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    pub(super) fn dispatched(&mut self, id: u64) {
        if let Some(pending) = self.entries.get_mut(&id)
            && matches!(pending.leg, Leg::Queued { .. })
        {
            pending.leg = Leg::Dispatched;
        }
    }

    /// Ends a call that has not ended; tells what is left of it. `frame_bytes` is the length of the frame that a result
    /// is a slice of.
    fn end(
        &mut self,
        id: u64,
        frame_bytes: usize,
        result: impl FnOnce(Outcome, Duration) -> Result<ToolResult, CallError>,
    ) -> Option<Left> {
        let pending = self.entries.get_mut(&id)?;
        let left = Left::of(&pending.leg)?;
        self.deadlines.remove(&(pending.deadline, id));
        let result = result(left.outcome(), pending.timeout);
        let held = result
            .as_ref()
            .map_or(0, |_| frame_bytes + ENTRY_OVERHEAD_BYTES);
        self.result_bytes += held;
        pending.leg = Leg::Ended { result, held };
        self.ready.extend(pending.waker.take());
        Some(left)
    }

    /// Ends every call whose deadline passed.
    pub(super) fn expire(&mut self, now: Time) -> Vec<(u64, Left)> {
        let mut expired = Vec::new();
        while let Some((deadline, id)) = self.deadlines.first().copied()
            && deadline <= now
        {
            let ended = self.end(id, 0, |outcome, timeout| {
                Err(CallError::Timeout {
                    limit_ms: timeout.as_millis(),
                    outcome,
                })
            });
            match ended {
                Some(left) => expired.push((id, left)),
                // A deadline without a call cannot be; dropping it keeps the loop finite whatever happens.
                None => drop(self.deadlines.pop_first()),
            }
        }
        expired
    }

    /// Ends every call with the connection's reason.
    pub(super) fn close(&mut self, reason: &CloseReason) {
        let pending: Vec<u64> = self.deadlines.iter().map(|(_, id)| *id).collect();
        for id in pending {
            self.end(id, 0, |outcome, _| {
                Err(CallError::Closed {
                    reason: reason.clone(),
                    outcome,
                })
            });
        }
    }

    /// Keeps the newest progress of the call whose token this is.
    pub(super) fn progress(&mut self, params: &Json) {
        let picked = params.pick(["progressToken", "progress", "total", "message"]);
        let Ok([token, progress, total, message]) = picked else {
            return;
        };
        let token = token.and_then(|token| token.as_str().parse().ok());
        let progress = progress.and_then(|progress| progress.as_str().parse().ok());
        let (Some(token), Some(progress)) = (token, progress) else {
            return;
        };
        let Some(pending) = self.entries.get_mut(&token) else {
            return;
        };
        if !matches!(pending.leg, Leg::Dispatched) {
            return;
        }
        pending.progress = Some(Progress {
            progress,
            total: total.and_then(|total| total.as_str().parse().ok()),
            message: message.and_then(|message| message.string().map(|text| cut(&text).to_owned())),
        });
        self.ready.extend(pending.waker.take());
    }
}

/// The start of a progress report's text.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_PROGRESS_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

impl Connection {
    /// Queues a call of `tool` with `arguments`, a JSON object; its deadline is `timeout` from now, by default
    /// `requestTimeoutMs`.
    ///
    /// # Errors
    /// A [`CallError`] whose outcome is `not_sent`; the session goes on.
    pub fn call(
        &mut self,
        now: Time,
        tool: &str,
        arguments: &Json,
        timeout: Option<Duration>,
    ) -> Result<CallId, CallError> {
        let catalog = match &self.stage {
            Stage::Ready { catalog, .. } => catalog,
            Stage::Closed { reason, .. } => {
                return Err(CallError::Closed {
                    reason: reason.clone(),
                    outcome: Outcome::NotSent,
                });
            }
            _ => return Err(CallError::NotReady),
        };
        let tool = catalog.get(tool).ok_or(CallError::UnknownTool)?;
        if arguments.kind() != Kind::Object {
            return Err(CallError::ArgumentsKind);
        }
        if arguments.depth() + ARGUMENTS_DEPTH > MAX_JSON_DEPTH {
            return Err(CallError::ArgumentsTooDeep);
        }
        // Refuse before copying; the exact size, with name and envelope, is checked once the frame stands.
        let limit = self.config.limits.max_outbound_frame_bytes;
        if arguments.len() > limit {
            return Err(CallError::RequestTooLong { limit });
        }
        let id = self.next_id;
        let frame = wire::call_tool(id, tool.name_json(), arguments);
        let length = frame.len() - 1;
        if length > limit {
            return Err(CallError::RequestTooLong { limit });
        }
        let budget = self.config.limits.max_buffered_bytes;
        if self.buffered_bytes() + frame.len() + ENTRY_OVERHEAD_BYTES > budget {
            return Err(CallError::BufferFull { limit: budget });
        }
        self.next_id += 1;
        let frame = self.send(frame, Purpose::Request(id));
        let timeout = timeout.unwrap_or(self.default_timeout());
        let deadline = now.after(timeout);
        self.calls.entries.insert(
            id,
            Pending {
                leg: Leg::Queued { frame },
                deadline,
                timeout,
                waker: None,
                progress: None,
            },
        );
        self.calls.deadlines.insert((deadline, id));
        self.stats.calls += 1;
        Ok(CallId(id))
    }

    /// The end of a call, once; until then `waker` is kept, to be woken when the call ends or reports progress.
    ///
    /// `Ready(None)` means that the connection does not know the call: its result was taken.
    pub fn poll_call(
        &mut self,
        call: CallId,
        waker: &Waker,
    ) -> Poll<Option<Result<ToolResult, CallError>>> {
        let Some(pending) = self.calls.entries.get_mut(&call.0) else {
            return Poll::Ready(None);
        };
        if !matches!(pending.leg, Leg::Ended { .. }) {
            match &mut pending.waker {
                Some(kept) => kept.clone_from(waker),
                none => *none = Some(waker.clone()),
            }
            return Poll::Pending;
        }
        Poll::Ready(self.take(call))
    }

    /// The end of a call, if it ended and was not taken before.
    pub fn take(&mut self, call: CallId) -> Option<Result<ToolResult, CallError>> {
        if !matches!(self.calls.entries.get(&call.0)?.leg, Leg::Ended { .. }) {
            return None;
        }
        match self.calls.entries.remove(&call.0)?.leg {
            Leg::Ended { result, held } => {
                self.calls.result_bytes -= held;
                Some(result)
            }
            _ => None,
        }
    }

    /// The newest progress of a call, once.
    pub fn take_progress(&mut self, call: CallId) -> Option<Progress> {
        self.calls.entries.get_mut(&call.0)?.progress.take()
    }

    /// The caller of `call` is gone. A frame not begun is skipped; one begun gets one best-effort cancellation (S8).
    pub fn abandon(&mut self, call: CallId) -> Abandoned {
        let Some(pending) = self.calls.entries.get(&call.0) else {
            return Abandoned::Unknown;
        };
        let Some(left) = Left::of(&pending.leg) else {
            return self.take(call).map_or(Abandoned::Unknown, Abandoned::Ended);
        };
        if let Some(pending) = self.calls.entries.remove(&call.0) {
            self.calls.deadlines.remove(&(pending.deadline, call.0));
        }
        self.let_go(call.0, left);
        match left {
            Left::Frame(_) => Abandoned::NotSent,
            Left::Dispatched => Abandoned::NoResponse,
        }
    }

    /// Skips the frame of an abandoned call, or cancels it.
    pub(super) fn let_go(&mut self, id: u64, left: Left) {
        if self.is_closed() {
            return;
        }
        if let Left::Frame(frame) = left {
            self.outbox.withdraw(frame);
        } else if self.outbox.is_full() {
            // Never delay a deadline for the sake of telling the server about it.
            self.stats.cancels_dropped += 1;
        } else {
            self.stats.cancelled += 1;
            self.send(wire::cancelled(id), Purpose::Cancel(id));
        }
    }

    /// A reply came for request `id`, in a frame of so many bytes; false if no call waits for it.
    pub(super) fn finish(
        &mut self,
        id: u64,
        frame_bytes: usize,
        answer: Result<Reply, ErrorObject>,
    ) -> bool {
        let Some(pending) = self.calls.entries.get(&id) else {
            return false;
        };
        match pending.leg {
            Leg::Dispatched => {}
            // An answer to what was never asked is not this call's.
            Leg::Queued { .. } | Leg::Ended { .. } => return false,
        }
        let result = match answer {
            Ok(reply) => ToolResult::from_reply(reply).map_err(CallError::Unusable),
            Err(error) => {
                let failed = CallError::Refused {
                    code: error.code,
                    tool_not_found: error.says_tool_not_found(),
                };
                self.diagnose(|| Event::RemoteError(error));
                Err(failed)
            }
        };
        self.calls.end(id, frame_bytes, |_, _| result);
        self.note_buffered();
        true
    }
}
