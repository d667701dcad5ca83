//! The policy exchange: what the server is told, what its receipt does, and what it never does.

use serde_json::{Value, json};

use super::{Driven, defects, everything, generous, json_of, push, replies};
use crate::mcpl::capability::Capability;
use crate::mcpl::policy::{Before05, McplPolicy};
use crate::mcpl::session::{Act, Answer, Ask, Defect, Notice, Policy, Refusal};

fn paths(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap())
        .collect()
}

/// MCPL §5.3: the request says the whole grant, once, and nothing is in force before the receipt.
#[test]
fn server_is_told_its_grant_and_nothing_is_in_force_before_the_receipt() {
    let (mut driven, told) = Driven::asked(McplPolicy::default(), &everything());
    let effective = paths(&told["effectiveCapabilities"]);
    assert!(effective.contains(&"pushEvents") && effective.contains(&"tools"));
    let denied = paths(&told["deniedCapabilities"]);
    assert!(denied.contains(&"contextHooks.beforeInference.inject.system"));
    assert!(denied.iter().all(|path| !effective.contains(path)));
    assert!(driven.session.grant().effective().is_empty());
    assert_eq!(driven.session.policy(), Policy::Pending);
    driven.session.begin();
    assert!(driven.acts().is_empty(), "told once");
    driven.accept();
    assert!(driven.session.grant().allows(Capability::PushEvents));
    assert!(!driven.session.grant().allows(Capability::InjectSystem));
}

/// MCPL §5.3: a server that is granted nothing is told so all the same.
#[test]
fn grant_of_nothing_is_told() {
    let (_, told) = Driven::asked(McplPolicy::default(), &json!({ "version": "0.5" }));
    assert_eq!(told["effectiveCapabilities"], json!(["tools"]));
}

/// MCPL §6.7: what is no receipt is a refusal, and the server a plain one from then on.
#[test]
fn everything_but_a_receipt_is_a_refusal() {
    let refused = |answer: Answer| {
        let (mut driven, _) = Driven::asked(generous(), &everything());
        driven.session.answered(driven.now, &Ask::Policy, answer);
        assert!(driven.session.grant().effective().is_empty());
        let acts = driven.acts();
        let closes = acts.iter().any(|act| matches!(act, Act::Close));
        assert_eq!(
            driven
                .reply_to("push/event", &push("all", "e"))
                .unwrap_err()
                .0,
            -32002
        );
        (driven.session.policy(), closes)
    };
    let result = |value: Value| Answer::Result(json_of(&value));
    for (answer, why, closes) in [
        (Answer::None, Refusal::Unanswered, false),
        (Answer::Error(-32603), Refusal::Error(-32603), false),
        (Answer::Error(-32601), Refusal::Before05, false),
        (result(json!([])), Refusal::Malformed, false),
        (result(json!({})), Refusal::Malformed, false),
        (
            result(json!({ "accepted": "true" })),
            Refusal::Malformed,
            false,
        ),
        (
            result(json!({ "accepted": false })),
            Refusal::Malformed,
            false,
        ),
        (
            result(json!({ "accepted": false, "fallback": "all" })),
            Refusal::Malformed,
            false,
        ),
        (
            result(json!({ "accepted": false, "fallback": "mcp-only" })),
            Refusal::McpOnly,
            false,
        ),
        (
            result(json!({ "accepted": false, "fallback": "close" })),
            Refusal::Close,
            true,
        ),
    ] {
        assert_eq!(refused(answer), (Policy::McpOnly(why), closes));
    }
}

/// MCPL §6.7: a receipt is testimony: whatever it claims, the grant is what was told.
#[test]
fn receipt_never_widens() {
    for receipt in [
        json!({ "accepted": true, "mode": "full", "effectiveCapabilities": ["contextHooks.beforeInference.inject.system"] }),
        json!({ "accepted": true, "mode": "degraded", "unavailableFeatures": [{ "featureSet": "all", "missingCapabilities": ["toolLifecycle.inputs"], "effect": "disabled" }] }),
    ] {
        let (mut driven, told) = Driven::asked(McplPolicy::default(), &everything());
        driven.policy_answer(&receipt);
        let effective = serde_json::to_value(driven.session.grant().effective()).unwrap();
        assert_eq!(effective, told["effectiveCapabilities"]);
    }
}

/// MCPL, servers before 0.5: -32601 costs them everything but their tools, unless the configuration says `legacy`.
#[test]
fn legacy_policy_takes_a_server_that_does_not_know_the_exchange() {
    let policy = McplPolicy {
        before_05: Before05::Legacy,
        ..McplPolicy::default()
    };
    let (mut driven, _) = Driven::asked(policy.clone(), &everything());
    let answer = Answer::Error(-32601);
    driven.session.answered(driven.now, &Ask::Policy, answer);
    assert_eq!(driven.session.policy(), Policy::InForce);
    assert!(driven.session.grant().allows(Capability::PushEvents));
    assert_eq!(defects(&driven.acts()), [Defect::Before05]);
    let (mut driven, _) = Driven::asked(policy, &everything());
    let answer = Answer::Error(-32602);
    driven.session.answered(driven.now, &Ask::Policy, answer);
    assert_eq!(
        driven.session.policy(),
        Policy::McpOnly(Refusal::Error(-32602))
    );
}

/// MCPL: a second receipt, and one that nobody asked for, is nothing.
#[test]
fn stray_receipt_changes_nothing() {
    let mut driven = Driven::new(generous(), &everything());
    driven.accept();
    assert!(driven.session.grant().effective().is_empty());
    let mut driven = Driven::in_force(generous(), &everything());
    driven.policy_answer(&json!({ "accepted": false, "fallback": "close" }));
    assert_eq!(driven.session.policy(), Policy::InForce);
    assert!(driven.acts().is_empty());
}

/// MCPL §5.4: a grant is of one connection: at its end nothing is left, and nobody is answered.
#[test]
fn end_of_the_connection_is_the_end_of_the_grant() {
    let mut driven = Driven::in_force(generous(), &everything());
    driven.request("push/event", &push("all", "e"));
    driven.session.end();
    assert!(driven.session.grant().effective().is_empty());
    assert_eq!(driven.session.policy(), Policy::Ended);
    let acts = driven.acts();
    assert!(
        acts.iter()
            .any(|act| matches!(act, Act::Tell(Notice::Policy(Policy::Ended))))
    );
    assert!(replies(acts).is_empty());
    driven.accept();
    driven.session.end();
    assert!(driven.acts().is_empty());
}
