//! The rounds of a call: a server that asks for input is answered, and the request is said again (O4).
//!
//! Source: 2026-07-28, `basic/patterns/mrtr`.
//!
//! **Invariant:** `requestState` goes back exactly as it came, with the request that it came for, or not at all.
//! **Invariant:** between two legs nothing is in flight, and the call's one deadline runs on.

use std::time::Duration;

use super::inputs::Origin;
use super::kept::Asked;
use super::ledger::{Leg, Pending, Subject};
use super::outbox::{ENTRY_OVERHEAD_BYTES, Purpose};
use super::{Binding, CallError, CallId, Connection, Time, Unfinished};
use crate::framing::Kind;
use crate::json::{Json, decode_string};
use crate::jsonrpc::{ErrorObject, HEADER_MISMATCH, Reply};
use crate::limits::{MAX_INPUTS, MAX_JSON_DEPTH, MAX_LEGS};
use crate::mcp::{ClientCapabilities, InputMethod};

/// How long a round without inputs rests.
const PACE: Duration = Duration::from_millis(100);
/// Containers around an answer in a later leg: the envelope, `params` and `inputResponses` (L2).
const ANSWER_DEPTH: usize = 3;

/// What a call between two legs waits for.
#[derive(Debug)]
pub(super) enum Pause {
    /// Answers to what the server asked.
    Inputs {
        wanted: Vec<Wanted>,
        state: Option<Json>,
        held: usize,
    },
    /// A moment, for the server gave only its state.
    Pace {
        until: Time,
        state: Option<Json>,
        held: usize,
    },
    /// A new tool list (T2).
    Relist,
}

/// One input that the server asked for.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The server's key, as it stands between the quotes.
    pub(super) key: String,
    pub(super) answer: Option<Json>,
}

impl Pause {
    /// Bytes that it keeps alive (L8).
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Inputs { held, .. } | Self::Pace { held, .. } => *held,
            Self::Relist => 0,
        }
    }
}

impl Connection {
    /// Takes the answer to a leg: a complete result goes back; a wish for another round pauses the call.
    pub(super) fn round(
        &mut self,
        now: Time,
        call: u64,
        reply: Reply,
        frame_bytes: usize,
    ) -> Result<Option<Reply>, Unfinished> {
        let kind = match &reply.result_type {
            None => return Ok(Some(reply)),
            Some(kind) => kind.string(),
        };
        match kind.as_deref() {
            Some("complete") => return Ok(Some(reply)),
            Some("input_required") => {}
            _ => return Err(Unfinished::ResultType),
        }
        let Some(pending) = self.calls.get(call) else {
            return Ok(None);
        };
        let kept = pending.kept.as_ref();
        let Some(kept) = kept.filter(|kept| kept.request.may_be_asked() && !reply.ambiguous) else {
            return Err(Unfinished::Malformed);
        };
        let supplied = kept.capabilities.unwrap_or(self.config.capabilities);
        let asked = kept.asked;
        if pending.rounds >= MAX_LEGS {
            return Err(Unfinished::TooManyLegs { limit: MAX_LEGS });
        }
        let present = |member: &Json| member.kind() != Kind::Null;
        let [requests, state] = reply
            .result
            .pick(["inputRequests", "requestState"])
            .map_err(|_| Unfinished::Malformed)?
            // Servers that serialise an absent value write null.
            .map(|member| member.filter(present));
        if state
            .as_ref()
            .is_some_and(|state| state.kind() != Kind::String)
        {
            return Err(Unfinished::Malformed);
        }
        let room = match asked {
            Asked::Us => MAX_INPUTS.saturating_sub(self.inputs.pending()),
            Asked::Caller => MAX_INPUTS,
        };
        let wishes = match requests {
            Some(requests) if requests.kind() == Kind::Object => wishes(&requests, supplied, room)?,
            None if state.is_some() => Vec::new(),
            _ => return Err(Unfinished::Malformed),
        };
        if asked == Asked::Caller {
            return Ok(Some(reply.of_caller()));
        }
        let held = frame_bytes + ENTRY_OVERHEAD_BYTES;
        let pause = if wishes.is_empty() {
            // Nothing is asked, so there is nothing to wait for but the pace.
            let until = now.after(PACE);
            Pause::Pace { until, state, held }
        } else {
            let wanted = wishes
                .into_iter()
                .enumerate()
                .map(|(at, (key, method, params))| {
                    self.ask(Origin::Leg { call, at }, method, params, Some(CallId(call)));
                    Wanted { key, answer: None }
                })
                .collect();
            Pause::Inputs {
                wanted,
                state,
                held,
            }
        };
        if let Some(pending) = self.calls.get_mut(call) {
            // From here on, whatever ends the call, the server began.
            pending.rounds += 1;
        }
        self.pause(call, pause);
        Ok(None)
    }

    fn pause(&mut self, call: u64, pause: Pause) {
        self.calls.pause(call, pause);
        self.note_buffered();
    }

    /// One input of a leg was supplied, or not.
    pub(super) fn supply_leg(&mut self, call: u64, at: usize, answer: Option<Json>) {
        let Some(pending) = self.calls.get_mut(call) else {
            return;
        };
        let Leg::Paused(Pause::Inputs { wanted, .. }) = &mut pending.leg else {
            return;
        };
        match answer {
            Some(answer) if answer.depth() + ANSWER_DEPTH <= MAX_JSON_DEPTH => {
                if let Some(wanted) = wanted.get_mut(at) {
                    wanted.answer = Some(answer);
                }
                if wanted.iter().all(|wanted| wanted.answer.is_some()) {
                    self.next_leg(call);
                }
            }
            _ => self.stuck(call, Unfinished::NotAnswered),
        }
    }

    /// The call cannot go on.
    fn stuck(&mut self, call: u64, why: Unfinished) {
        self.withdraw_inputs(call);
        self.calls
            .end(call, 0, |_, _| Err(CallError::Unfinished(why)));
    }

    /// Says the requests again whose pace is over.
    pub(super) fn pace(&mut self, now: Time) {
        while let Some((until, call)) = self.calls.paces.first().copied()
            && until <= now
        {
            self.calls.paces.pop_first();
            self.next_leg(call);
        }
    }

    /// Says the request of `call` again, under a new id: with what the pause gathered, or as it was said before.
    pub(super) fn next_leg(&mut self, call: u64) {
        let id = self.new_id();
        let Some(frame) = self.calls.next_frame(call, id, &self.meta) else {
            return;
        };
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            self.stuck(call, Unfinished::TooLong { limit });
            return;
        }
        let route = self
            .calls
            .get(call)
            .and_then(|pending| pending.kept.as_deref())
            .and_then(|kept| self.route(&kept.request));
        let number = self.send(frame, Purpose::Request(id), route);
        // Over one stream nothing is said twice but what the server asks for anew.
        let may_repeat = self.config.binding == Binding::Http;
        self.calls.begin_leg(call, id, number, may_repeat);
        self.note_buffered();
    }

    /// Whether a refusal of this call is one that a new tool list may cure (T2).
    pub(super) fn wants_relist(&self, call: u64, error: &ErrorObject) -> bool {
        let once = |pending: &Pending| pending.subject == Subject::Tool && !pending.again;
        error.code == HEADER_MISMATCH
            && self.config.binding == Binding::Http
            && self.is_modern()
            && self.calls.get(call).is_some_and(once)
    }

    /// The refusal proves that nothing was carried out: the list is read again, and then the request said once more.
    pub(super) fn pause_for_relist(&mut self, now: Time, call: u64) {
        if let Some(pending) = self.calls.get_mut(call) {
            pending.again = true;
        }
        self.pause(call, Pause::Relist);
        self.relist(now);
        if !self.is_relisting() {
            self.after_relist();
        }
    }

    /// The new list is there, or will not be: whoever waited for it goes on.
    pub(super) fn after_relist(&mut self) {
        let waiting: Vec<u64> = self
            .calls
            .open()
            .into_iter()
            .filter(|call| {
                self.calls
                    .get(*call)
                    .is_some_and(|pending| matches!(pending.leg, Leg::Paused(Pause::Relist)))
            })
            .collect();
        for call in waiting {
            self.next_leg(call);
        }
    }

    /// Call `call` was refused because its session is gone, which proves that it was not carried out: it is said once
    /// more in the next one (T3). False if it was said again before.
    pub(super) fn say_again(&mut self, call: u64) -> bool {
        match self.calls.get_mut(call) {
            Some(pending) if !pending.again => pending.again = true,
            _ => return false,
        }
        self.next_leg(call);
        true
    }
}

/// What the server asks for, checked whole before anybody is asked: its key, the method, the parameters.
fn wishes(
    requests: &Json,
    supplied: ClientCapabilities,
    room: usize,
) -> Result<Vec<(String, InputMethod, Option<Json>)>, Unfinished> {
    let mut wishes: Vec<(String, InputMethod, Option<Json>)> = Vec::new();
    let mut fault = None;
    requests.children(|key, request| {
        if fault.is_some() {
            return;
        }
        let picked = request.pick(["method", "params"]).ok();
        let Some((key, [method, params])) = key.zip(picked) else {
            fault = Some(Unfinished::Malformed);
            return;
        };
        let method = method.as_ref().and_then(Json::string);
        let wanted = method.and_then(|method| InputMethod::of(&method, params.as_ref()));
        match wanted {
            None => fault = Some(Unfinished::Malformed),
            Some(method) if !supplied.supplies(method) => {
                fault = Some(Unfinished::Unsupplied(method));
            }
            Some(_) if wishes.len() >= room => {
                fault = Some(Unfinished::TooManyInputs { limit: MAX_INPUTS });
            }
            Some(_) if wishes.iter().any(|(other, ..)| is_same_key(other, key)) => {
                fault = Some(Unfinished::Malformed);
            }
            Some(method) => wishes.push((key.to_owned(), method, params)),
        }
    });
    fault.map_or(Ok(wishes), Err)
}

/// Whether two keys, as they stand between their quotes, are one.
fn is_same_key(one: &str, other: &str) -> bool {
    one == other || decode_string(one).text == decode_string(other).text
}
