//! The session, driven by hand: what came, what is to be done, what time it is.

use std::time::{Duration, Instant};

use seawall_proto::Json;
use serde_json::{Value, json};

use super::{Act, Answer, Ask, Decision, Defect, Notice, Policy, Question, Session, Terms};
use crate::mcpl::callbacks::Reception;
use crate::mcpl::capability::CapabilitySet;
use crate::mcpl::policy::{McplPolicy, Narrowing};

mod admission;
mod channels;
mod hooks;
mod interleaving;
mod manifests;
mod policy;

pub(super) fn json_of(value: &Value) -> Json {
    Json::of(value).unwrap()
}

/// What a server advertises that has everything, and a feature set for all of it.
pub(super) fn everything() -> Value {
    json!({
        "version": "0.5",
        "pushEvents": true,
        "contextHooks": { "beforeInference": true },
        "inferenceLifecycle": true,
        "inferenceRequest": { "streaming": true },
        "modelInfo": true,
        "channels": true,
        "toolLifecycle": true,
        "featureSets": {
            "all": {
                "description": "everything",
                "uses": ["pushEvents", "inferenceRequest", "inferenceRequest.streaming"],
            },
            "hooks": {
                "description": "hooks",
                "uses": ["contextHooks.beforeInference.inject.beforeUser"],
            },
            "quiet": { "description": "nothing that it uses", "uses": ["tools"] },
            "broken": { "description": "no such thing", "uses": ["telepathy"] },
        },
    })
}

/// A policy that grants what is denied by default, too.
pub(super) fn generous() -> McplPolicy {
    let mut policy = McplPolicy::default();
    let all = crate::mcpl::capability::Capability::ALL.iter();
    let all = all.map(|capability| capability.as_str().parse().unwrap());
    policy.enabled_capabilities = Some(all.collect());
    policy.tool_lifecycle.observe = Some(Narrowing::default());
    policy.tool_lifecycle.inputs = Some(Narrowing::default());
    policy
}

/// A result, or a code with its data.
pub(super) type Reply = Result<Value, (i64, Value)>;

/// A session and the clock.
pub(super) struct Driven {
    pub(super) session: Session<u64>,
    pub(super) now: Instant,
    next: u64,
}

impl Driven {
    /// Nothing was said yet.
    pub(super) fn new(policy: McplPolicy, mcpl: &Value) -> Self {
        let capabilities = json!({ "tools": {}, "experimental": { "mcpl": mcpl } });
        let terms = Terms {
            server: "s",
            policy,
            offered: CapabilitySet::all(),
            named: std::collections::BTreeSet::new(),
        };
        Self {
            session: Session::new(terms, &json_of(&capabilities)).unwrap(),
            now: Instant::now(),
            next: 0,
        }
    }

    /// The server was told, and has not answered.
    pub(super) fn asked(policy: McplPolicy, mcpl: &Value) -> (Self, Value) {
        let mut driven = Self::new(policy, mcpl);
        driven.session.begin();
        let told = driven.policy_request();
        (driven, told)
    }

    /// The server acknowledged its grant.
    pub(super) fn in_force(policy: McplPolicy, mcpl: &Value) -> Self {
        let (mut driven, _) = Self::asked(policy, mcpl);
        driven.accept();
        assert_eq!(driven.session.policy(), Policy::InForce);
        driven.acts();
        driven
    }

    /// What is to be done.
    pub(super) fn acts(&mut self) -> Vec<Act<u64>> {
        std::iter::from_fn(|| self.session.poll()).collect()
    }

    /// The one policy request that is to be sent now.
    pub(super) fn policy_request(&mut self) -> Value {
        let asks: Vec<Value> = self
            .acts()
            .into_iter()
            .filter_map(|act| match act {
                Act::Ask(Ask::Policy, params) => Some(params.parse().unwrap()),
                _ => None,
            })
            .collect();
        assert_eq!(asks.len(), 1);
        asks.into_iter().next().unwrap()
    }

    pub(super) fn policy_answer(&mut self, result: &Value) {
        let answer = Answer::Result(json_of(result));
        self.session.answered(self.now, &Ask::Policy, answer);
    }

    pub(super) fn accept(&mut self) {
        self.policy_answer(&json!({ "accepted": true }));
    }

    pub(super) fn pass(&mut self, by: Duration) {
        self.now += by;
        self.session.handle_timeout(self.now);
    }

    /// The server asks; the key of it.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> u64 {
        let key = self.next;
        self.next += 1;
        self.session
            .request(self.now, key, method, Some(json_of(params)));
        key
    }

    pub(super) fn tell(&mut self, method: &str, params: &Value) {
        self.session.told(self.now, method, Some(json_of(params)));
    }

    /// What is answered at once.
    pub(super) fn reply_to(&mut self, method: &str, params: &Value) -> Reply {
        let key = self.request(method, params);
        let mut replies = replies(self.acts());
        assert_eq!(replies.len(), 1, "{method}");
        let (of, reply) = replies.remove(0);
        assert_eq!(of, key);
        reply
    }

    /// The number of the question that is asked now.
    pub(super) fn question(&mut self) -> (u64, Question) {
        let mut asked = self.acts().into_iter().filter_map(|act| match act {
            Act::Consult(number, _, question) => Some((number, question)),
            _ => None,
        });
        asked.next().expect("the embedding program is asked")
    }

    /// The embedding program takes everything that it is asked to.
    pub(super) fn receive(&mut self, number: u64, reception: Reception) -> Value {
        let decision = Decision::Receptions(vec![reception]);
        self.session.decided(number, decision);
        let mut replies = replies(self.acts());
        assert_eq!(replies.len(), 1);
        replies.remove(0).1.expect("a result")
    }
}

/// The answers among the acts: results, or codes with their data.
pub(super) fn replies(acts: Vec<Act<u64>>) -> Vec<(u64, Reply)> {
    let reply = |act| match act {
        Act::Reply(key, Ok(result)) => Some((key, Ok(result.parse().unwrap()))),
        Act::Reply(key, Err(error)) => {
            let data = error.data.map(|data| data.parse().unwrap());
            Some((key, Err((error.code, data.unwrap_or_default()))))
        }
        _ => None,
    };
    acts.into_iter().filter_map(reply).collect()
}

pub(super) fn defects(acts: &[Act<u64>]) -> Vec<Defect> {
    let defect = |act: &Act<u64>| match act {
        Act::Tell(Notice::Defect(defect)) => Some(defect.clone()),
        _ => None,
    };
    acts.iter().filter_map(defect).collect()
}

pub(super) fn push(feature_set: &str, event: &str) -> Value {
    json!({
        "featureSet": feature_set,
        "eventId": event,
        "timestamp": "2026-01-23T10:30:00Z",
        "payload": { "content": [{ "type": "text", "text": "a commit" }] },
    })
}

pub(super) fn channel(id: &str) -> Value {
    json!({ "id": id, "type": "t", "label": id, "direction": "bidirectional" })
}

pub(super) fn message(channel: &str, id: &str) -> Value {
    json!({
        "channelId": channel,
        "messageId": id,
        "author": { "id": "u", "name": "Alice" },
        "timestamp": "2026-01-23T10:30:00Z",
        "content": [{ "type": "text", "text": "hello" }],
    })
}
