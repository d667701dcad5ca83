//! The policy exchange: what the server is told that it is granted, and what its receipt makes of that.
//!
//! A receipt is testimony of what a server will do. It never widens what it was told.

use std::time::Instant;

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::METHOD_NOT_FOUND;

use super::held::{Held, Message};
use super::{Act, Answer, Ask, Defect, Notice, Session};
use crate::mcpl::capability::Capability;
use crate::mcpl::channels::Registry;
use crate::mcpl::grant::Grant;
use crate::mcpl::policy::Before05;

/// Where the exchange stands.
#[derive(Debug)]
pub(super) enum Standing {
    /// The server was told nothing.
    New,
    /// It was told this, and has not acknowledged it.
    Asking(Told),
    /// It acknowledged this.
    InForce(Told),
    /// It is a plain server of MCP from now on.
    Plain(Refusal),
    /// The connection is over.
    Ended,
}

/// What a server was told.
#[derive(Debug, Clone)]
pub(super) struct Told {
    grant: Grant,
    /// The parameters, whole.
    params: Json,
}

/// How far the policy exchange is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Policy {
    /// The server has not acknowledged what it is granted; what it had before is reduced to that. The default.
    #[default]
    Pending,
    /// It acknowledged its grant.
    InForce,
    /// It has nothing of MCP Live: it is a plain server of MCP until the connection ends.
    McpOnly(Refusal),
    /// The connection is over.
    Ended,
}

/// Why a server has nothing of MCP Live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not know the policy exchange, as servers before 0.5 do not.
    #[error(
        "it does not know featureSets/update, as servers before MCP Live 0.5; \"mcplPolicy\": \"legacy\" takes it all the same"
    )]
    Before05,
    /// It answered with another error.
    #[error("it answered featureSets/update with JSON-RPC error {0}")]
    Error(i64),
    /// It did not answer in time.
    #[error("it did not acknowledge what it is granted")]
    Unanswered,
    /// What it answered is no receipt.
    #[error("its answer to featureSets/update is no receipt")]
    Malformed,
    /// It wants to go on as a plain server.
    #[error("it refused what it is granted and goes on as a plain server")]
    McpOnly,
    /// It does not want to go on.
    #[error("it refused what it is granted and asks for the connection to be closed")]
    Close,
}

/// What a receipt says.
enum Receipt {
    Accepted,
    Refused(Refusal),
}

impl<K: Clone + PartialEq> Session<K> {
    /// Begins: the server is told what it is granted, though that be nothing (§5.3).
    pub(crate) fn begin(&mut self) {
        if matches!(self.standing, Standing::New) {
            self.exchange();
        }
    }

    /// How far the exchange is.
    pub(crate) fn policy(&self) -> Policy {
        match self.standing {
            Standing::New | Standing::Asking(_) => Policy::Pending,
            Standing::InForce(_) => Policy::InForce,
            Standing::Plain(why) => Policy::McpOnly(why),
            Standing::Ended => Policy::Ended,
        }
    }

    pub(super) fn is_in_force(&self) -> bool {
        matches!(self.standing, Standing::InForce(_))
    }

    pub(super) fn is_asking(&self) -> bool {
        matches!(self.standing, Standing::Asking(_))
    }

    /// Takes away what is to be taken away, and asks for the rest: not before an exchange that is under way is over, and
    /// not if the server was told just that.
    pub(super) fn exchange(&mut self) {
        let reduced = self.in_force.reduced_to(&self.wanted);
        self.put_in_force(reduced);
        let params = self.selection.update(&self.wanted, &self.policy);
        // Names and paths are texts, so it is JSON; without a request there would be no receipt.
        let Ok(params) = Json::of(&params) else {
            self.refused(Refusal::Unanswered);
            return;
        };
        match &self.standing {
            Standing::InForce(told) if told.params == params => {}
            Standing::New | Standing::InForce(_) => {
                self.standing = Standing::Asking(Told {
                    grant: self.wanted.clone(),
                    params: params.clone(),
                });
                self.act(Act::Ask(Ask::Policy, params));
            }
            Standing::Asking(_) | Standing::Plain(_) | Standing::Ended => {}
        }
    }

    pub(super) fn policy_answered(&mut self, now: Instant, answer: Answer) {
        let Standing::Asking(told) = &self.standing else {
            return;
        };
        let told = told.clone();
        let receipt = match answer {
            Answer::Result(result) => receipt_of(&result),
            Answer::Error(METHOD_NOT_FOUND) if self.policy.before_05 == Before05::Legacy => {
                self.defect(Defect::Before05);
                Receipt::Accepted
            }
            Answer::Error(METHOD_NOT_FOUND) => Receipt::Refused(Refusal::Before05),
            Answer::Error(code) => Receipt::Refused(Refusal::Error(code)),
            Answer::None => Receipt::Refused(Refusal::Unanswered),
        };
        match receipt {
            Receipt::Refused(why) => self.refused(why),
            Receipt::Accepted => {
                // What was told is acknowledged; of that, what is still wanted.
                let agreed = told.grant.reduced_to(&self.wanted);
                self.standing = Standing::InForce(told);
                self.put_in_force(agreed);
                self.exchange();
                if self.is_in_force() {
                    self.tell(Notice::Policy(Policy::InForce));
                }
            }
        }
        self.release(now);
        self.fetch_if_due(now);
    }

    /// The connection is over: nothing is granted, nothing is known, and nobody waits.
    pub(crate) fn end(&mut self) {
        if matches!(self.standing, Standing::Ended) {
            return;
        }
        self.standing = Standing::Ended;
        self.held = Held::default();
        self.waiting.clear();
        self.acts.clear();
        self.put_in_force(Grant::none());
        self.tell(Notice::Policy(Policy::Ended));
    }

    /// The server has nothing of MCP Live any longer.
    pub(super) fn refused(&mut self, why: Refusal) {
        self.standing = Standing::Plain(why);
        self.put_in_force(Grant::none());
        self.tell(Notice::Policy(Policy::McpOnly(why)));
        if why == Refusal::Close {
            self.act(Act::Close);
        }
    }

    /// From now on this is in force, and what hung on what is not any longer is gone.
    fn put_in_force(&mut self, grant: Grant) {
        let change = self.in_force.change_to(&grant);
        self.in_force = grant;
        if change.reduced.contains(Capability::ChannelsRegister) {
            self.registry = Registry::new();
        }
        if change.reduced.contains(Capability::ToolLifecycleObserve) {
            self.observer.revoke();
        }
        if change.reduced.contains(Capability::InferenceLifecycle) {
            self.turns.forget();
        }
        if !change.is_empty() {
            self.tell(Notice::Grant(change));
        }
    }

    /// Takes what waited for the receipt, as things are now. What would wait again, waits.
    fn release(&mut self, now: Instant) {
        let mut held = std::mem::take(&mut self.held);
        while let Some(Message {
            key,
            method,
            params,
        }) = held.pop()
        {
            self.take(now, key, &method, params);
        }
    }
}

/// Reads a receipt. What else it says, of degraded features above all, decides nothing here.
fn receipt_of(result: &Json) -> Receipt {
    let malformed = Receipt::Refused(Refusal::Malformed);
    if result.kind() != Kind::Object {
        return malformed;
    }
    let Ok([accepted, fallback]) = result.pick(["accepted", "fallback"]) else {
        return malformed;
    };
    let word = fallback.as_ref().and_then(Json::string);
    match (accepted.as_ref().map(Json::as_str), word.as_deref()) {
        (Some("true"), _) => Receipt::Accepted,
        (Some("false"), Some("mcp-only")) => Receipt::Refused(Refusal::McpOnly),
        (Some("false"), Some("close")) => Receipt::Refused(Refusal::Close),
        // A refusal has to name what follows from it; one that does not is none.
        _ => malformed,
    }
}
