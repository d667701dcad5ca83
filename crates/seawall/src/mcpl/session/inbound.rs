//! What a server sends, once it is admitted.

use std::sync::Arc;
use std::time::Instant;

use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, INTERNAL_ERROR};
use serde_json::{Value, json};

use super::admit::{Admission, Admitted};
use super::held::Message;
use super::{Act, Defect, Notice, Outcome, Question, Session, unknown_method};
use crate::events::Hidden;
use crate::mcpl::callbacks::Reception;
use crate::mcpl::capability::Capability;
use crate::mcpl::channels::{Incoming, MessageResult, Reason, receive, results};
use crate::mcpl::content::Provenance;
use crate::mcpl::features::Refused;
use crate::mcpl::grant::CAPABILITY_DENIED;
use crate::mcpl::inference::{InferenceRequest, Inferred, Model};
use crate::mcpl::push::{self, PushEvent};
use crate::mcpl::wire::Invalid;

/// A request that waits for what the embedding program says.
#[derive(Debug)]
pub(super) struct Waiting<K> {
    key: K,
    of: Of,
}

#[derive(Debug)]
enum Of {
    Push(Arc<PushEvent>),
    /// One for each message, in their order: those that are not refused yet wait.
    Messages(Vec<Judged>),
    Inference,
    Model,
}

/// A message of a batch.
#[derive(Debug)]
struct Judged {
    message_id: Option<String>,
    outcome: Result<Arc<Incoming>, Reason>,
}

/// What the embedding program said.
#[derive(Debug, Clone)]
pub(crate) enum Decision {
    /// Of a push one, of messages one each, in their order. What is missing is refused.
    Receptions(Vec<Reception>),
    Inferred(Option<Inferred>),
    Model(Option<Model>),
}

impl<K: Clone + PartialEq> Session<K> {
    /// The server asks.
    pub(crate) fn request(&mut self, now: Instant, key: K, method: &str, params: Option<Json>) {
        self.take(now, Some(key), method, params);
    }

    /// The server tells.
    pub(crate) fn told(&mut self, now: Instant, method: &str, params: Option<Json>) {
        self.take(now, None, method, params);
    }

    /// The server takes a request back.
    pub(crate) fn withdrawn(&mut self, key: &K) {
        self.held.withdraw(key);
        let is_it =
            |(number, waiting): (&u64, &Waiting<K>)| (waiting.key == *key).then_some(*number);
        if let Some(number) = self.waiting.iter().find_map(is_it) {
            if let Some(Waiting { of, .. }) = self.waiting.remove(&number) {
                self.not_taken(&of);
            }
            self.act(Act::Forget(number));
        }
    }

    /// Nobody said that this was taken, so it may come again: to call it a duplicate then would lose it.
    fn not_taken(&mut self, of: &Of) {
        match of {
            Of::Push(event) => self.pushed.forget(event.event_id()),
            Of::Messages(judged) => {
                for message in judged.iter().filter_map(|one| one.outcome.as_ref().ok()) {
                    self.received.forget(&message.occurrence());
                }
            }
            Of::Inference | Of::Model => {}
        }
    }

    pub(super) fn take(
        &mut self,
        now: Instant,
        key: Option<K>,
        method: &str,
        params: Option<Json>,
    ) {
        match self.admit(method, params.as_ref()) {
            Ok(Admission::Now(admitted)) => match key {
                Some(key) => self.asked(admitted, key, method, params),
                None => self.heard(now, &admitted, method, params),
            },
            Ok(Admission::Later) => {
                let method = method.to_owned();
                let message = Message {
                    key,
                    method,
                    params,
                };
                if let Err(Message { key, .. }) = self.held.hold(message) {
                    let busy = ErrorObject::new(
                        CAPABILITY_DENIED,
                        "Capability denied: too much waits for the policy exchange",
                        None,
                    );
                    self.turned_away(key, busy);
                }
            }
            Err(refusal) => self.turned_away(key, refusal),
        }
    }

    fn turned_away(&mut self, key: Option<K>, refusal: ErrorObject) {
        match key {
            Some(key) => self.act(Act::Reply(key, Err(refusal))),
            None => self.defect(Defect::Dropped),
        }
    }

    fn asked(&mut self, admitted: Admitted, key: K, method: &str, params: Option<Json>) {
        if method == "tools/observe" {
            let answer = self.observe(admitted, params.as_ref());
            self.act(Act::Reply(key, answer));
            return;
        }
        let params = params.unwrap_or_else(Json::empty_object);
        let answer = match method {
            "push/event" => self.push(admitted, &key, &params),
            "inference/request" => self.infer(admitted, &key, &params),
            "model/info" => self.model_info(admitted, &key),
            "channels/register" => self.register(admitted, &params).map(Some),
            "channels/changed" => self.channels_changed(admitted, &params).map(Some),
            "channels/list" => Ok(Some(self.list_channels(admitted))),
            "channels/incoming" => self.incoming(admitted, &key, &params),
            // A hint that waits for no answer is no request.
            _ => Err(unknown_method()),
        };
        match answer {
            Ok(None) => {}
            Ok(Some(answer)) => self.act(Act::Reply(key, Ok(answer))),
            Err(refusal) => self.act(Act::Reply(key, Err(refusal))),
        }
    }

    fn heard(&mut self, now: Instant, admitted: &Admitted, method: &str, params: Option<Json>) {
        match method {
            "mcpl/manifestChanged" => self.announced(now, params.as_ref()),
            "channels/changed" => {
                self.channels_told(admitted, &params.unwrap_or_else(Json::empty_object));
            }
            _ => self.defect(Defect::Dropped),
        }
    }

    /// `push/event`: what is wrong with it is told first, then whether its feature set may, then whether it came before.
    fn push(&mut self, _: Admitted, key: &K, params: &Json) -> Result<Option<Json>, ErrorObject> {
        let mut event = PushEvent::of(params).map_err(Invalid::error)?;
        self.may_use(event.feature_set(), Capability::PushEvents)?;
        if !self.pushed.first(event.event_id()) {
            let event = Arc::new(event);
            let outcome = Outcome::Duplicate;
            self.tell(Notice::Pushed { event, outcome });
            return Ok(Some(push::duplicate()));
        }
        self.references
            .admit(event.content_mut(), Provenance::PushEvent);
        let event = Arc::new(event);
        self.consult(key, Of::Push(Arc::clone(&event)), Question::Push(event));
        Ok(None)
    }

    /// `inference/request`, unless a hook waits for this server: what it answers may not need what the hook is for (§10.7).
    fn infer(&mut self, _: Admitted, key: &K, params: &Json) -> Result<Option<Json>, ErrorObject> {
        let request = InferenceRequest::of(params).map_err(Invalid::error)?;
        self.may_use(&request.feature_set, Capability::InferenceRequest)?;
        if request.stream {
            self.may_use(&request.feature_set, Capability::InferenceRequestStreaming)?;
        }
        if self.hooks > 0 {
            self.defect(Defect::Loop);
            let why = "Capability denied: no inference from within a context hook";
            let data = json!({ "capability": Capability::InferenceRequest.as_str() });
            return Err(ErrorObject::new(
                CAPABILITY_DENIED,
                why,
                Json::of(&data).ok(),
            ));
        }
        self.consult(key, Of::Inference, Question::Inference(request));
        Ok(None)
    }

    fn model_info(&mut self, _: Admitted, key: &K) -> Result<Option<Json>, ErrorObject> {
        self.consult(key, Of::Model, Question::Model);
        Ok(None)
    }

    /// `tools/observe`: a filter in place of the one before, or none any more. What is malformed changes nothing.
    fn observe(&mut self, _: Admitted, params: Option<&Json>) -> Result<Json, ErrorObject> {
        self.observer.observe(params).map_err(Invalid::error)
    }

    /// `channels/incoming`: each message by itself, against what is registered now (§14.5).
    fn incoming(
        &mut self,
        _: Admitted,
        key: &K,
        params: &Json,
    ) -> Result<Option<Json>, ErrorObject> {
        let received = receive(params, &self.registry, &mut self.received);
        let received = received.map_err(Invalid::error)?;
        let mut judged = Vec::with_capacity(received.len());
        for one in received {
            let outcome = one.outcome.map(|mut message| {
                self.references
                    .admit(message.content_mut(), Provenance::ChannelMessage);
                Arc::new(message)
            });
            judged.push(Judged {
                message_id: one.message_id,
                outcome,
            });
        }
        let messages: Vec<Arc<Incoming>> = judged
            .iter()
            .filter_map(|one| one.outcome.as_ref().ok().cloned())
            .collect();
        if messages.is_empty() {
            return Ok(Some(self.messages_decided(judged, Vec::new())));
        }
        self.consult(key, Of::Messages(judged), Question::Messages(messages));
        Ok(None)
    }

    fn consult(&mut self, key: &K, of: Of, question: Question) {
        let number = self.next;
        self.next += 1;
        let key = key.clone();
        let waiting = Waiting {
            key: key.clone(),
            of,
        };
        self.waiting.insert(number, waiting);
        self.act(Act::Consult(number, key, question));
    }

    /// The embedding program answered question `number`; one that was taken back meanwhile is passed over.
    pub(crate) fn decided(&mut self, number: u64, decision: Decision) {
        let Some(Waiting { key, of }) = self.waiting.remove(&number) else {
            return;
        };
        let answer = match (of, decision) {
            (Of::Push(event), Decision::Receptions(receptions)) => {
                Ok(self.push_decided(event, receptions))
            }
            (Of::Messages(judged), Decision::Receptions(receptions)) => {
                Ok(self.messages_decided(judged, receptions))
            }
            (Of::Inference, Decision::Inferred(Some(inferred))) => answer(&inferred.to_value()),
            (Of::Model, Decision::Model(Some(model))) => answer(&model.to_value()),
            _ => Err(ErrorObject::new(INTERNAL_ERROR, "Refused", None)),
        };
        self.act(Act::Reply(key, answer));
    }

    fn push_decided(&mut self, event: Arc<PushEvent>, receptions: Vec<Reception>) -> Json {
        let reception = receptions.into_iter().next().unwrap_or_else(no_answer);
        let answer = match &reception {
            Reception::Accepted { id } => push::accepted(id.as_deref()),
            Reception::Refused { reason } => {
                // It was not taken, so it may come again.
                self.pushed.forget(event.event_id());
                push::refused(reason)
            }
        };
        let outcome = Outcome::Received(reception);
        self.tell(Notice::Pushed { event, outcome });
        answer
    }

    fn messages_decided(&mut self, judged: Vec<Judged>, receptions: Vec<Reception>) -> Json {
        let mut receptions = receptions.into_iter();
        let mut all = Vec::with_capacity(judged.len());
        for one in judged {
            let outcome = one.outcome.and_then(|message| {
                let reception = receptions.next().unwrap_or_else(no_answer);
                let outcome = match &reception {
                    Reception::Accepted { id } => Ok(id.clone()),
                    Reception::Refused { .. } => {
                        // It was not taken, so it may come again.
                        self.received.forget(&message.occurrence());
                        Err(Reason::NotTaken)
                    }
                };
                let told = Outcome::Received(reception);
                self.tell(Notice::Message {
                    message,
                    outcome: told,
                });
                outcome
            });
            all.push(MessageResult {
                message_id: one.message_id,
                outcome,
            });
        }
        results(&all)
    }

    /// Whether a message that says it is of this feature set may use this capability (§6.4, §6.6). The grant was looked at
    /// before; this only narrows.
    pub(super) fn may_use(
        &mut self,
        feature_set: &str,
        capability: Capability,
    ) -> Result<(), ErrorObject> {
        let refused = match self.selection.check(feature_set, capability) {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        if let Refused::Undeclared { .. } = refused {
            self.defect(Defect::Undeclared {
                feature_set: Hidden::new(feature_set.to_owned()),
                capability,
            });
        }
        Err(refused.error())
    }
}

fn no_answer() -> Reception {
    Reception::refused("no-answer")
}

fn answer(value: &Value) -> Result<Json, ErrorObject> {
    Json::of(value).map_err(|_| ErrorObject::new(INTERNAL_ERROR, "Internal error", None))
}
