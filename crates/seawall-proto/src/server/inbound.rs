//! What the client says, and what becomes of it.

use bytes::Bytes;

use super::meta::{Introduction, invalid, method_not_found};
use super::{
    Claims, Event, Lane, Pending, Request, RequestKey, RequestMeta, ServerConnection, Stage, Taken,
    refusal,
};
use crate::json::Json;
use crate::jsonrpc::{
    ErrorObject, INTERNAL_ERROR, INVALID_REQUEST, Inbound, Malformed, Noise, PARSE_ERROR, Reply,
    RequestId,
};

impl ServerConnection {
    pub(super) fn handle_one(&mut self, taken: &mut Taken, message: Result<Inbound, Malformed>) {
        match message {
            Ok(Inbound::Noise(Noise::Blank)) => self.stats.noise += 1,
            Ok(Inbound::Noise(Noise::NotJson)) => {
                let error = ErrorObject::new(PARSE_ERROR, "Parse error", None);
                self.refuse_with(taken, &error);
            }
            Ok(Inbound::Noise(_)) => self.refuse(taken, "not a JSON-RPC message"),
            Ok(Inbound::Array) => self.refuse(taken, "the revision has no batches"),
            Err(malformed) => self.refuse(taken, &malformed.to_string()),
            Ok(Inbound::Request { id, method, params }) => {
                self.take_request(taken, id, method, params);
            }
            Ok(Inbound::Notification { method, params }) => self.told(method, params),
            Ok(Inbound::Response { id, answer }) => self.answered(&id, answer),
            Ok(Inbound::UncorrelatedError(_)) => self.stats.stray_answers += 1,
        }
    }

    fn take_request(
        &mut self,
        taken: &mut Taken,
        id: RequestId,
        method: String,
        params: Option<Json>,
    ) {
        let name = id.name();
        if self.by_id.contains_key(&name) {
            // An answer with this id would be taken for the other request's.
            return self.refuse(taken, "the id of a request that is under way");
        }
        let key = RequestKey(self.next_key);
        self.next_key += 1;
        taken.requests.push(key);
        let bytes = id.as_json().len() + method.len() + params.as_ref().map_or(0, Json::len);
        let full = self.pending.len() >= self.limits.max_pending
            || self.pending_bytes.saturating_add(bytes) > self.limits.max_buffered_bytes;
        // As `respond` finds it; a request that is refused at once is under way for no time.
        let pending = Pending {
            id: id.clone(),
            bytes,
        };
        self.pending.insert(key, pending);
        self.pending_bytes += bytes;
        self.by_id.insert(name, key);
        let accepted = if full {
            let message = "too many requests are under way";
            Err(ErrorObject::new(INTERNAL_ERROR, message, None))
        } else {
            self.accept(key, &method, params.as_ref())
        };
        match accepted {
            Ok(Some(meta)) => self.events.push_back(Event::Request(Request {
                key,
                id,
                method,
                params,
                meta,
            })),
            Ok(None) => {
                let nothing = Json::part_of_checked(Bytes::from_static(b"{}"));
                let _ = self.respond(key, Ok(&nothing));
            }
            Err(error) => {
                self.stats.refused += 1;
                let _ = self.respond(key, Err(&error));
            }
        }
    }

    /// Decides on a request: what is known of it, nothing if it is a ping, or why it is refused.
    fn accept(
        &mut self,
        key: RequestKey,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Option<RequestMeta>, ErrorObject> {
        match &self.stage {
            Stage::Closed(_) => Err(method_not_found()),
            Stage::Modern(_) => Claims::of(params)?.accept(method).map(Some),
            // Clients that do not wait for the answer to `initialize` are served all the same.
            Stage::Legacy(introduction) | Stage::Initializing { introduction, .. } => {
                match method {
                    "ping" => Ok(None),
                    "initialize" => {
                        let message = "Invalid request: the session is initialized already";
                        Err(ErrorObject::new(INVALID_REQUEST, message, None))
                    }
                    _ => introduction.accept(method, params).map(Some),
                }
            }
            Stage::Opening if Claims::are_in(params) => {
                let meta = Claims::of(params)?.accept(method)?;
                self.stage = Stage::Modern(meta.revision);
                self.opened(&meta);
                Ok(Some(meta))
            }
            Stage::Opening if method == "ping" => Ok(None),
            Stage::Opening if method == "initialize" => {
                let introduction = Introduction::of(params)?;
                let meta = introduction.accept(method, params)?;
                self.opened(&meta);
                self.stage = Stage::Initializing {
                    introduction,
                    by: key,
                };
                Ok(Some(meta))
            }
            Stage::Opening => Err(invalid(
                "the request has no _meta that tells its protocol version, and nothing was initialized before",
            )),
        }
    }

    fn opened(&mut self, meta: &RequestMeta) {
        self.events.push_back(Event::Opened {
            revision: meta.revision,
            client_info: meta.client_info.clone(),
            capabilities: meta.capabilities.clone(),
        });
    }

    fn told(&mut self, method: String, params: Option<Json>) {
        match method.as_str() {
            "notifications/cancelled" => {
                let id = params.and_then(|params| params.member("requestId"));
                let id = id.and_then(|id| RequestId::of(&id));
                if let Some(id) = id {
                    self.cancel(&id);
                }
            }
            "notifications/initialized" => {
                if matches!(self.stage, Stage::Legacy(_) | Stage::Initializing { .. }) {
                    self.events.push_back(Event::Initialized);
                }
            }
            _ if self.revision().is_some() => {
                self.events
                    .push_back(Event::Notification { method, params });
            }
            _ => {}
        }
    }

    fn cancel(&mut self, id: &RequestId) {
        let Some(key) = self.by_id.get(&id.name()).copied() else {
            return;
        };
        // `initialize` cannot be cancelled (2025-11-25, `basic/utilities/cancellation`).
        if matches!(&self.stage, Stage::Initializing { by, .. } if *by == key) {
            return;
        }
        self.end(key);
        let bytes = &mut self.outbox_bytes;
        self.outbox.retain(|outbound| {
            let stays = outbound.lane != Lane::During(key);
            if !stays {
                *bytes -= outbound.frame.len();
            }
            stays
        });
        self.events.push_back(Event::Cancelled(key));
    }

    fn answered(&mut self, id: &RequestId, answer: Result<Reply, ErrorObject>) {
        let at = id
            .as_ours()
            .and_then(|id| self.asked.iter().position(|ask| ask.0 == id));
        let Some(at) = at else {
            self.stats.stray_answers += 1;
            return;
        };
        let ask = self.asked.swap_remove(at);
        let answer = answer.map(|reply| reply.result);
        self.events.push_back(Event::Answer { ask, answer });
    }

    /// An error without an id, for what could not be read. The text is Seawall's own.
    pub(super) fn refuse(&mut self, taken: &mut Taken, what: &str) {
        let message = format!("Invalid request: {what}");
        self.refuse_with(taken, &ErrorObject::new(INVALID_REQUEST, message, None));
    }

    fn refuse_with(&mut self, taken: &mut Taken, error: &ErrorObject) {
        taken.refused = true;
        self.stats.noise += 1;
        self.push(Lane::Refusal, refusal(error));
    }
}
