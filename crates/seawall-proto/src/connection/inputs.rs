//! What the server asks of the host: requests of their own on legacy revisions, parts of an answer on modern ones. Both
//! come out as one kind of event, and are answered the same way.

use std::collections::BTreeMap;

use super::ledger::Subject;
use super::outbox::Purpose;
use super::{CallId, CloseReason, Connection, Era, Event, Stage, Time, wire};
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, INTERNAL_ERROR, METHOD_NOT_FOUND, RequestId};
use crate::limits::{MAX_INPUTS, MAX_JSON_DEPTH};
use crate::mcp::InputMethod;

/// Containers around an error's data: the envelope and the error (L2).
const ERROR_DATA_DEPTH: usize = 2;

/// One thing that the server asked for. Unique per connection, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InputId(u64);

/// Who waits for an input.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// A request of the server.
    Server(RequestId),
    /// A call between two legs, and which of its inputs.
    Leg { call: u64, at: usize },
}

/// What was asked for and not answered yet.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    open: BTreeMap<u64, Origin>,
    next: u64,
}

impl Inputs {
    pub(super) fn pending(&self) -> usize {
        self.open.len()
    }

    fn open(&mut self, origin: Origin) -> InputId {
        let id = self.next;
        self.next += 1;
        self.open.insert(id, origin);
        InputId(id)
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }
}

impl Connection {
    /// Answers an input: with its result, a JSON object, or with `None` where the host cannot.
    ///
    /// An input that was withdrawn meanwhile is passed over.
    pub fn supply(&mut self, now: Time, input: InputId, answer: Option<Json>) {
        match self.inputs.open.remove(&input.0) {
            None => {}
            Some(Origin::Leg { call, at }) => self.supply_leg(call, at, answer),
            Some(Origin::Server(id)) => {
                let answer = answer.filter(|answer| answer.depth() < MAX_JSON_DEPTH);
                let frame = match &answer {
                    Some(answer) => wire::reply(&id, Ok(answer.as_bytes())),
                    None => wire::reply(&id, Err(INTERNAL_ERROR)),
                };
                self.reply_if_short(now, &id, frame);
            }
        }
    }

    /// Refuses an input in these words. The question of a call between two legs ends the call, as there is no way to say no.
    ///
    /// An input that was withdrawn meanwhile is passed over.
    pub fn refuse(&mut self, now: Time, input: InputId, error: &ErrorObject) {
        match self.inputs.open.remove(&input.0) {
            None => {}
            Some(Origin::Leg { call, at }) => self.supply_leg(call, at, None),
            Some(Origin::Server(id)) => {
                let too_deep = |data: &Json| data.depth() + ERROR_DATA_DEPTH > MAX_JSON_DEPTH;
                let frame = if error.data.as_ref().is_some_and(too_deep) {
                    wire::refusal(
                        &id,
                        &ErrorObject::new(error.code, error.message.as_str(), None),
                    )
                } else {
                    wire::refusal(&id, error)
                };
                self.reply_if_short(now, &id, frame);
            }
        }
    }

    /// Sends a reply, or says that there is none if it is longer than it may be.
    fn reply_if_short(&mut self, now: Time, id: &RequestId, mut frame: Vec<u8>) {
        if frame.len() - 1 > self.config.limits.max_outbound_frame_bytes {
            frame = wire::reply(id, Err(INTERNAL_ERROR));
        }
        self.reply(now, frame);
    }

    /// Answers a request of the server, or asks the host to (S7). `on` is the request of ours whose stream it came on.
    pub(super) fn answer(
        &mut self,
        now: Time,
        id: &RequestId,
        method: &str,
        params: Option<Json>,
        on: Option<u64>,
    ) {
        self.stats.requests += 1;
        let probing =
            matches!(self.stage, Stage::Discovering { .. }) && self.config.era == Era::Auto;
        if self.is_modern() && !probing {
            // A modern server sends no requests, and a modern client no responses: it is counted and told of.
            self.diagnose(|| Event::Violation);
            return;
        }
        let wanted = InputMethod::of(method, params.as_ref())
            // What is supplied is declared in `initialize`, which was not said yet while the server is probed.
            .filter(|wanted| !probing && self.config.declared().supplies(*wanted));
        let frame = match wanted {
            Some(wanted) if self.inputs.pending() < MAX_INPUTS => {
                let call = on.and_then(|on| self.call_on(on));
                self.ask(Origin::Server(id.clone()), wanted, params, call);
                return;
            }
            Some(_) => wire::reply(id, Err(INTERNAL_ERROR)),
            None if method == "ping" => wire::reply(id, Ok(b"{}")),
            None if self.is_extended() && self.inputs.pending() < MAX_INPUTS => {
                self.ask_extension(id, method, params);
                return;
            }
            None if self.is_extended() => wire::reply(id, Err(INTERNAL_ERROR)),
            None => wire::reply(id, Err(METHOD_NOT_FOUND)),
        };
        self.reply(now, frame);
    }

    fn reply(&mut self, now: Time, frame: Vec<u8>) {
        if self.is_closed() {
            return;
        }
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            // Only an id of nearly a frame's length gets here.
            self.close(CloseReason::ReplyTooLong { limit });
            return;
        }
        let room_by = now.after(self.config.limits.request_timeout);
        self.send(frame, Purpose::Reply { room_by }, None);
    }

    /// The call whose stream this is; none of what nobody waits for.
    pub(super) fn call_on(&self, stream: u64) -> Option<CallId> {
        let (call, pending) = self.calls.in_flight(stream)?;
        (pending.subject != Subject::Aside).then_some(CallId(call))
    }

    pub(super) fn ask(
        &mut self,
        origin: Origin,
        method: InputMethod,
        params: Option<Json>,
        call: Option<CallId>,
    ) {
        let id = self.inputs.open(origin);
        self.events.push_back(Event::Input {
            id,
            method,
            params,
            call,
        });
    }

    /// A request of the extension: whoever drives the connection answers it.
    fn ask_extension(&mut self, request: &RequestId, method: &str, params: Option<Json>) {
        let id = self.inputs.open(Origin::Server(request.clone()));
        self.events.push_back(Event::Extension {
            id,
            request: request.clone(),
            method: method.to_owned(),
            params,
        });
    }

    /// The server took back a request of its own.
    pub(super) fn server_cancelled(&mut self, params: &Json) {
        let Some(id) = params.member("requestId") else {
            return;
        };
        self.withdraw(
            |origin| matches!(origin, Origin::Server(open) if open.as_json() == id.as_str()),
        );
    }

    /// Nobody waits any longer for what `call` was asked.
    pub(super) fn withdraw_inputs(&mut self, call: u64) {
        self.withdraw(|origin| matches!(origin, Origin::Leg { call: open, .. } if *open == call));
    }

    fn withdraw(&mut self, mut gone: impl FnMut(&Origin) -> bool) {
        let ids: Vec<u64> = self
            .inputs
            .open
            .iter()
            .filter_map(|(id, origin)| gone(origin).then_some(*id))
            .collect();
        for id in ids {
            self.inputs.open.remove(&id);
            let id = InputId(id);
            // What nobody was told of yet is not told at all, so that asking and taking back leaves nothing behind.
            let untold = |event: &Event| {
                matches!(event, Event::Input { id: told, .. } | Event::Extension { id: told, .. }
                    if *told == id)
            };
            match self.events.iter().position(untold) {
                Some(at) => drop(self.events.remove(at)),
                None => self.events.push_back(Event::InputWithdrawn { id }),
            }
        }
    }
}
