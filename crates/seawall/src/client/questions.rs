//! What the server asked for and the host is finding out.
//!
//! **Invariant:** a question that nobody waits for any longer is dropped, and with it whatever asked a person.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use seawall_proto::Json;
use seawall_proto::connection::InputId;
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};
use seawall_proto::mcp::{ClientCapabilities, InputMethod};

use super::relays::Whose;
use crate::inputs::{Refusal, Relay, Suppliers};

type Answer = Pin<Box<dyn Future<Output = Result<Json, Refusal>> + Send>>;

/// What the server asks.
pub(super) struct Question {
    pub(super) id: InputId,
    pub(super) method: InputMethod,
    pub(super) params: Option<Json>,
}

/// The questions under way; the connection bounds how many there can be.
pub(super) struct Questions {
    server: Arc<str>,
    suppliers: Suppliers,
    open: Vec<(InputId, Answer)>,
}

impl Questions {
    pub(super) fn new(server: Arc<str>, suppliers: Suppliers) -> Self {
        Self {
            server,
            suppliers,
            open: Vec::new(),
        }
    }

    /// Asks whom it is for; the host where that does not supply it.
    pub(super) fn ask(&mut self, question: Question, whose: Whose) {
        let Question { id, method, params } = question;
        let answer = match whose {
            Whose::Unknown => refused(INTERNAL_ERROR, UNKNOWN),
            Whose::Host => self.supplied(method, params),
            Whose::Party(relays) => {
                let lacks =
                    |relay: &Arc<dyn Relay>| lacking(relay.capabilities(), method, params.as_ref());
                let able = relays.iter().find(|relay| lacks(relay).is_none());
                let own = lacking(self.suppliers.capabilities(), method, params.as_ref());
                match (able, relays.first().and_then(lacks), own) {
                    (Some(relay), ..) => relayed(relay, method, params),
                    (None, _, None) | (None, None, _) => self.supplied(method, params),
                    (None, Some((code, what)), Some(_)) => refused(
                        code,
                        &format!(
                            "whom this is asked for, by a call under way, does not have {what}"
                        ),
                    ),
                }
            }
        };
        self.open.push((id, answer));
    }

    fn supplied(&self, method: InputMethod, params: Option<Json>) -> Answer {
        let supplied = self.suppliers.supply(&self.server, method, params);
        Box::pin(async move { supplied.await.ok_or_else(internal) })
    }

    pub(super) fn withdraw(&mut self, gone: InputId) {
        self.open.retain(|(id, _)| *id != gone);
    }

    /// The answers that are there.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Vec<(InputId, Result<Json, Refusal>)> {
        let mut answers = Vec::new();
        self.open
            .retain_mut(|(id, answer)| match answer.as_mut().poll(context) {
                Poll::Pending => true,
                Poll::Ready(answer) => {
                    answers.push((*id, answer));
                    false
                }
            });
        answers
    }
}

const UNKNOWN: &str = "calls for several are under way, and nothing says which of them this is asked for; \
                       a server over HTTP, or of MCP 2026-07-28, says so";

fn internal() -> Refusal {
    Refusal::new(INTERNAL_ERROR, "Internal error", None)
}

fn refused(code: i64, why: &str) -> Answer {
    Box::pin(ready(Err(Refusal::new(code, why, None))))
}

fn relayed(relay: &Arc<dyn Relay>, method: InputMethod, params: Option<Json>) -> Answer {
    let asking = relay.ask(method.as_str(), params);
    Box::pin(async move {
        let answer = asking.await?;
        match answer.kind() {
            Kind::Object => Ok(answer),
            _ => Err(internal()),
        }
    })
}

/// What these capabilities lack to answer, and the code that says so (2025-11-25, `client/elicitation`, `client/sampling`,
/// `client/roots`, "Error Handling").
fn lacking(
    has: ClientCapabilities,
    method: InputMethod,
    params: Option<&Json>,
) -> Option<(i64, &'static str)> {
    let with_tools = || {
        let member = |name| params.is_some_and(|params| params.member(name).is_some());
        method == InputMethod::Sample && (member("tools") || member("toolChoice"))
    };
    if has.supplies(method) {
        let lacks = !has.sampling_tools && with_tools();
        return lacks.then_some((INVALID_PARAMS, "sampling with tools"));
    }
    let elicits = has.elicitation_form || has.elicitation_url;
    let code = if elicits && method.as_str() == "elicitation/create" {
        INVALID_PARAMS
    } else {
        METHOD_NOT_FOUND
    };
    let what = match method {
        InputMethod::ElicitForm => "elicitation in form mode",
        InputMethod::ElicitUrl => "elicitation in URL mode",
        InputMethod::Sample => "sampling",
        InputMethod::ListRoots => "roots",
        _ => "it",
    };
    Some((code, what))
}

#[cfg(test)]
mod tests;
