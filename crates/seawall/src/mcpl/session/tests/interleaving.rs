//! Whatever arrives, in whatever order: nothing is admitted or sent that is not granted and acknowledged, and each request
//! has one answer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Driven, channel, everything, generous, json_of, message, push};
use crate::mcpl::callbacks::Reception;
use crate::mcpl::capability::{Capability, CapabilitySet, Direction, Need, needed_for};
use crate::mcpl::policy::{Before05, ChannelSubscription, McplPolicy};
use crate::mcpl::session::{Act, Answer, Ask, Decision, Question};

/// What a server may do, and what comes back of what the host did.
#[derive(Debug, Clone)]
enum Step {
    Request(usize),
    Tell(usize),
    Withdraw(usize),
    /// A request of the host's own ends, the oldest first.
    Answer(usize, u8),
    /// The embedding program decides, the oldest first.
    Decide(bool),
    Pass(u64),
    Hook(bool),
}

const MEMBERS: [&str; 7] = [
    "pushEvents",
    "contextHooks",
    "inferenceLifecycle",
    "inferenceRequest",
    "modelInfo",
    "channels",
    "toolLifecycle",
];

fn offering(bits: u8) -> Value {
    let mut mcpl = everything();
    for (at, member) in MEMBERS.iter().enumerate() {
        if bits & (1 << at) == 0 {
            mcpl.as_object_mut().unwrap().remove(*member);
        }
    }
    mcpl
}

fn messages() -> Vec<(&'static str, Value)> {
    let infer = |stream| json!({ "featureSet": "all", "stream": stream, "messages": [{ "role": "user", "content": "x" }] });
    vec![
        ("push/event", push("all", "1")),
        ("push/event", push("all", "2")),
        ("push/event", push("quiet", "3")),
        ("push/event", push("none", "4")),
        ("push/event", json!({})),
        ("inference/request", infer(false)),
        ("inference/request", infer(true)),
        ("model/info", json!({})),
        (
            "channels/register",
            json!({ "channels": [channel("a"), channel("b"), 7] }),
        ),
        (
            "channels/changed",
            json!({ "removed": ["a"], "added": [channel("c")] }),
        ),
        ("channels/list", json!({})),
        (
            "channels/incoming",
            json!({ "messages": [message("a", "1"), message("z", "2")] }),
        ),
        ("tools/observe", json!({ "rules": [] })),
        ("host/command", json!({})),
        ("scope/elevate", json!({})),
        (
            "mcpl/manifestChanged",
            json!({ "revision": format!("sha256:{}", "A".repeat(43)), "domains": ["capabilities"] }),
        ),
    ]
}

fn policies() -> impl Strategy<Value = McplPolicy> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(open, auto, legacy)| {
        let mut policy = if open {
            generous()
        } else {
            McplPolicy::default()
        };
        if auto {
            policy.channel_subscription = ChannelSubscription::Auto;
        }
        if legacy {
            policy.before_05 = Before05::Legacy;
        }
        policy
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..16_usize).prop_map(Step::Request),
        3 => (0..16_usize).prop_map(Step::Tell),
        1 => (0..64_usize).prop_map(Step::Withdraw),
        4 => (0..6_usize, any::<u8>()).prop_map(|(how, bits)| Step::Answer(how, bits)),
        4 => any::<bool>().prop_map(Step::Decide),
        1 => (0..20_u64).prop_map(Step::Pass),
        1 => any::<bool>().prop_map(Step::Hook),
    ];
    proptest::collection::vec(step, 0..120)
}

/// What the test knows by itself.
struct World {
    driven: Driven,
    /// What the server was told last, and what of that it acknowledged.
    told: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
    asked: Vec<Ask>,
    questions: Vec<(u64, Question)>,
    /// How often each request was answered.
    answers: BTreeMap<u64, usize>,
    withdrawn: BTreeSet<u64>,
}

impl World {
    fn new(policy: McplPolicy, bits: u8) -> Self {
        let mut driven = Driven::new(policy, &offering(bits));
        driven.session.begin();
        let mut world = Self {
            driven,
            told: BTreeSet::new(),
            acknowledged: BTreeSet::new(),
            asked: Vec::new(),
            questions: Vec::new(),
            answers: BTreeMap::new(),
            withdrawn: BTreeSet::new(),
        };
        world.settle();
        world
    }

    fn allows(&self, capability: Capability) -> bool {
        self.driven.session.grant().allows(capability)
    }

    /// Takes what is to be done, and looks at it.
    fn settle(&mut self) {
        while let Some(act) = self.driven.session.poll() {
            match act {
                Act::Ask(ask, params) => {
                    if ask == Ask::Policy {
                        assert!(!self.asked.contains(&Ask::Policy), "one exchange at a time");
                        let params: Value = params.parse().unwrap();
                        let effective = params["effectiveCapabilities"].as_array().unwrap();
                        let path = |path: &Value| path.as_str().unwrap().to_owned();
                        self.told = effective.iter().map(path).collect();
                    }
                    if let Ask::Open(_) = ask {
                        assert!(self.allows(Capability::ChannelsLifecycle));
                    }
                    self.asked.push(ask);
                }
                Act::Reply(key, _) => *self.answers.get_mut(&key).unwrap() += 1,
                Act::Consult(number, _, question) => {
                    let needed = match &question {
                        Question::Push(_) => Capability::PushEvents,
                        Question::Messages(_) => Capability::ChannelsIncoming,
                        Question::Inference(_) => Capability::InferenceRequest,
                        Question::Model => Capability::ModelInfo,
                    };
                    assert!(self.allows(needed), "{needed} is not granted");
                    self.questions.push((number, question));
                }
                Act::Forget(number) => self.questions.retain(|(open, _)| *open != number),
                Act::Tell(_) | Act::Close => {}
            }
        }
        self.check();
    }

    fn check(&self) {
        let in_force: &CapabilitySet = self.driven.session.grant().effective();
        for capability in in_force.iter() {
            assert!(
                self.acknowledged.contains(capability.as_str()),
                "{capability} is in force and was not acknowledged"
            );
            assert!(self.driven.session.wanted().allows(capability));
        }
        for method in [
            "context/beforeInference",
            "inference/lifecycle",
            "inference/chunk",
            "channels/list",
            "channels/open",
            "channels/close",
            "channels/publish",
            "channels/outgoing/chunk",
            "channels/acknowledge",
            "channels/typing",
            "tools/lifecycle",
        ] {
            if self.driven.session.sends(method).is_ok() {
                let acknowledged = |each: &Capability| self.acknowledged.contains(each.as_str());
                let covered = match needed_for(Direction::ToServer, method, None).unwrap() {
                    Need::All(needed) => needed.iter().all(acknowledged),
                    Need::Any(needed) => needed.iter().any(acknowledged),
                    other => panic!("{method}: {other:?}"),
                };
                assert!(covered, "{method}");
            }
        }
        for (key, answers) in &self.answers {
            let most = usize::from(!self.withdrawn.contains(key));
            assert!(*answers <= most, "request {key} has {answers} answers");
        }
        if !self.allows(Capability::ChannelsRegister) && !self.allows(Capability::ChannelsLifecycle)
        {
            assert!(self.driven.session.registry().is_empty());
        }
    }

    fn answer(&mut self, how: usize, bits: u8) {
        if self.asked.is_empty() {
            return;
        }
        let ask = self.asked.remove(0);
        let result = |value: Value| Answer::Result(json_of(&value));
        let answer = match (how, &ask) {
            (0, _) => Answer::None,
            (1, _) => Answer::Error(-32601),
            (2, Ask::Policy) => result(json!({ "accepted": false, "fallback": "mcp-only" })),
            (_, Ask::Policy) => {
                self.acknowledged.clone_from(&self.told);
                result(
                    json!({ "accepted": true, "effectiveCapabilities": ["toolLifecycle.inputs"] }),
                )
            }
            (2, _) => result(json!([])),
            (_, Ask::Manifest) => result(offering(bits)),
            (_, Ask::Open(id)) => result(json!({ "channel": channel(id) })),
        };
        if matches!((&answer, &ask), (Answer::Error(-32601), Ask::Policy)) {
            // With `legacy` that is a yes; without, nothing is in force after it.
            self.acknowledged.clone_from(&self.told);
        }
        let now = self.driven.now;
        self.driven.session.answered(now, &ask, answer);
    }

    fn decide(&mut self, yes: bool) {
        if self.questions.is_empty() {
            return;
        }
        let (number, question) = self.questions.remove(0);
        let reception = if yes {
            Reception::accepted()
        } else {
            Reception::refused("no")
        };
        let decision = match question {
            Question::Push(_) => Decision::Receptions(vec![reception]),
            Question::Messages(messages) if yes => {
                Decision::Receptions(vec![reception; messages.len()])
            }
            Question::Messages(_) => Decision::Receptions(Vec::new()),
            Question::Inference(_) => Decision::Inferred(None),
            Question::Model => Decision::Model(None),
        };
        self.driven.session.decided(number, decision);
    }

    fn step(&mut self, step: &Step) {
        let messages = messages();
        match step {
            Step::Request(at) => {
                let (method, params) = &messages[*at];
                let key = u64::try_from(self.answers.len()).unwrap();
                self.answers.insert(key, 0);
                assert_eq!(self.driven.request(method, params), key);
            }
            Step::Tell(at) => {
                let (method, params) = &messages[*at];
                self.driven.tell(method, params);
            }
            Step::Withdraw(at) => {
                let key = u64::try_from(*at).unwrap();
                if self.answers.get(&key) == Some(&0) {
                    self.withdrawn.insert(key);
                    self.driven.session.withdrawn(&key);
                }
            }
            Step::Answer(how, bits) => self.answer(*how, *bits),
            Step::Decide(yes) => self.decide(*yes),
            Step::Pass(seconds) => self.driven.pass(Duration::from_secs(*seconds)),
            Step::Hook(waits) => self.driven.session.hooks_under_way(usize::from(*waits)),
        }
        self.settle();
    }
}

proptest! {
    /// MCPL §5.4, §6.6, §6.7, and S7.
    #[test]
    fn nothing_is_done_that_is_not_granted_and_each_request_has_one_answer(
        policy in policies(),
        bits in any::<u8>(),
        steps in steps(),
    ) {
        let mut world = World::new(policy, bits);
        for step in &steps {
            world.step(step);
        }
        // Everybody who was asked says something, so nothing waits any longer.
        for _ in 0..200 {
            world.answer(5, bits);
            world.settle();
            world.decide(true);
            world.settle();
        }
        for (key, answers) in &world.answers {
            let expected = usize::from(!world.withdrawn.contains(key));
            prop_assert_eq!(*answers, expected, "request {}", key);
        }
        world.driven.session.end();
        world.acknowledged.clear();
        world.settle();
        prop_assert!(world.driven.session.grant().effective().is_empty());
    }
}
