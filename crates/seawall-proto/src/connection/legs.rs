//! The rounds of a call: a server that asks for input is answered, and the request is said again (O4).
//!
//! Source: 2026-07-28, `basic/patterns/mrtr`.
//!
//! **Invariant:** `requestState` goes back exactly as it came, with the request that it came for, or not at all.
//! **Invariant:** between two legs nothing is in flight, and the call's one deadline runs on.

use std::time::Duration;

use super::inputs::Origin;
use super::ledger::Leg;
use super::outbox::{ENTRY_OVERHEAD_BYTES, Purpose};
use super::request::Continuation;
use super::{Binding, CallError, Connection, Time, Unfinished, wire};
use crate::framing::Kind;
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, HEADER_MISMATCH, Reply};
use crate::limits::{MAX_INPUTS, MAX_JSON_DEPTH, MAX_LEGS};
use crate::mcp::InputMethod;

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
    key: String,
    answer: Option<Json>,
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
        let may_be_asked = pending
            .request
            .as_ref()
            .is_some_and(|request| request.may_be_asked());
        if !may_be_asked || reply.ambiguous {
            return Err(Unfinished::Malformed);
        }
        if pending.rounds >= MAX_LEGS {
            return Err(Unfinished::TooManyLegs { limit: MAX_LEGS });
        }
        let [requests, state] = reply
            .result
            .pick(["inputRequests", "requestState"])
            .map_err(|_| Unfinished::Malformed)?;
        if state
            .as_ref()
            .is_some_and(|state| state.kind() != Kind::String)
        {
            return Err(Unfinished::Malformed);
        }
        let held = frame_bytes + ENTRY_OVERHEAD_BYTES;
        let pause = match requests {
            Some(requests) if requests.kind() == Kind::Object => {
                let asked = self.asked(&requests)?;
                if asked.is_empty() {
                    // Nothing is asked, so there is nothing to wait for but the pace.
                    let until = now.after(PACE);
                    self.pause(call, Pause::Pace { until, state, held });
                    return Ok(None);
                }
                let wanted = asked
                    .iter()
                    .map(|(key, ..)| Wanted {
                        key: key.clone(),
                        answer: None,
                    })
                    .collect();
                for (at, (_, method, params)) in asked.into_iter().enumerate() {
                    self.ask(Origin::Leg { call, at }, method, params);
                }
                Pause::Inputs {
                    wanted,
                    state,
                    held,
                }
            }
            None if state.is_some() => Pause::Pace {
                until: now.after(PACE),
                state,
                held,
            },
            _ => return Err(Unfinished::Malformed),
        };
        self.pause(call, pause);
        Ok(None)
    }

    /// What the server asks for, checked whole before anybody is asked.
    fn asked(
        &self,
        requests: &Json,
    ) -> Result<Vec<(String, InputMethod, Option<Json>)>, Unfinished> {
        let mut asked = Vec::new();
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
                Some(method) if !self.config.capabilities.supplies(method) => {
                    fault = Some(Unfinished::Unsupplied(method));
                }
                Some(method) => asked.push((key.to_owned(), method, params)),
            }
        });
        match fault {
            Some(fault) => Err(fault),
            None if self.inputs.pending() + asked.len() > MAX_INPUTS => {
                Err(Unfinished::TooManyInputs { limit: MAX_INPUTS })
            }
            None => Ok(asked),
        }
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

    /// Says the request of `call` again, under a new id, with what the pause gathered.
    pub(super) fn next_leg(&mut self, call: u64) {
        let Some(pending) = self.calls.get_mut(call) else {
            return;
        };
        let Some(request) = pending.request.as_deref().cloned() else {
            return;
        };
        let mut more = Continuation::default();
        let mut held = 0;
        if let Leg::Paused(pause) = &mut pending.leg {
            held = pause.held();
            match pause {
                Pause::Inputs { wanted, state, .. } => {
                    let answers = wanted
                        .iter()
                        .filter_map(|wanted| Some((wanted.key.as_str(), wanted.answer.as_ref()?)));
                    more.responses = Some(wire::input_responses(answers));
                    more.state = state.take();
                }
                Pause::Pace { state, .. } => more.state = state.take(),
                Pause::Relist => {}
            }
        }
        let id = self.next_id;
        self.next_id += 1;
        let frame = request.frame(id, self.meta(), &more);
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            self.stuck(call, Unfinished::TooLong { limit });
            return;
        }
        let route = self.route(&request);
        let number = self.send(frame, Purpose::Request(id), route);
        self.calls.result_bytes -= held;
        self.calls.begin_leg(call, id, number);
    }

    /// Whether a refusal of this call is one that a new tool list may cure (T2).
    pub(super) fn wants_relist(&self, call: u64, error: &ErrorObject) -> bool {
        error.code == HEADER_MISMATCH
            && self.config.binding == Binding::Http
            && self.is_modern()
            && self.calls.get(call).is_some_and(|pending| !pending.again)
    }

    /// The refusal proves that nothing was carried out: the list is read again, and then the request said once more.
    pub(super) fn pause_for_relist(&mut self, now: Time, call: u64) {
        if let Some(pending) = self.calls.get_mut(call) {
            pending.again = true;
        }
        self.pause(call, Pause::Relist);
        self.relist(now);
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

    /// Request `wire` was refused because its session is gone, which proves that it was not carried out: it is said once
    /// more in the next one (T3). False if it was before, or nobody waits for it.
    pub(super) fn say_again(&mut self, wire: u64) -> bool {
        let Some(call) = self.calls.of_leg(wire) else {
            return false;
        };
        let Some(pending) = self.calls.get_mut(call) else {
            return false;
        };
        if pending.again || matches!(pending.leg, Leg::Ended { .. }) {
            return false;
        }
        pending.again = true;
        pending.rounds += 1;
        self.next_leg(call);
        true
    }
}
