//! Hooks and turns of a session.

use serde_json::{Value, json};

use super::{Driven, defects, everything, generous, json_of, replies};
use crate::mcpl::hooks::{BeforeInference, Position};
use crate::mcpl::inference::{Model, Phase, Turn, Usage};
use crate::mcpl::policy::McplPolicy;
use crate::mcpl::session::{Defect, Unsent};

fn turn(id: &str) -> Turn {
    Turn {
        inference_id: id.to_owned(),
        conversation_id: "c".to_owned(),
        index: 7,
        model: Some(Model {
            id: "m".to_owned(),
            vendor: None,
            context_window: None,
            capabilities: vec![],
        }),
    }
}

fn before() -> BeforeInference {
    BeforeInference {
        turn: turn("i"),
        user_message: Some("secret".to_owned()),
        channels: None,
    }
}

fn policy(granted: &[&str]) -> McplPolicy {
    let mut policy = McplPolicy::default();
    let granted = granted.iter().map(|path| path.parse().unwrap());
    policy.enabled_capabilities = Some(granted.collect());
    policy
}

fn shown(granted: &[&str]) -> Option<Value> {
    let driven = Driven::in_force(policy(granted), &everything());
    driven
        .session
        .hook(&before())
        .map(|params| params.parse().unwrap())
}

const OBSERVE: &str = "contextHooks.beforeInference.observe";
const BEFORE_USER: &str = "contextHooks.beforeInference.inject.beforeUser";

fn contribution(injections: &Value) -> seawall_proto::Json {
    json_of(&json!({ "featureSet": "hooks", "contextInjections": injections }))
}

fn injection(position: &str) -> Value {
    json!({ "namespace": "n", "position": position, "content": "more" })
}

/// MCPL §10.1: the user's message is shown to who may observe, and is null to who may only write; who may neither is not
/// asked.
#[test]
fn message_is_shown_only_to_who_may_observe() {
    assert_eq!(shown(&[OBSERVE]).unwrap()["userMessage"], "secret");
    let blind = shown(&[BEFORE_USER]).unwrap();
    assert_eq!(blind.get("userMessage"), Some(&Value::Null));
    assert_eq!(blind["inferenceId"], "i");
    assert_eq!(shown(&["pushEvents"]), None);
    let (driven, _) = Driven::asked(generous(), &everything());
    assert!(
        driven.session.hook(&before()).is_none(),
        "nothing is in force yet"
    );
}

/// MCPL §5.4, §10.8: each injection by its position, by the grant at that moment; the feature set only narrows.
#[test]
fn injections_are_authorised_one_by_one() {
    let mut driven = Driven::in_force(policy(&[BEFORE_USER]), &everything());
    let mixed = contribution(&json!([
        injection("system"),
        injection("beforeUser"),
        injection("afterUser"),
        injection("nowhere")
    ]));
    let added = driven.session.contribution(&mixed);
    let positions: Vec<Position> = added.iter().map(|injection| injection.position).collect();
    assert_eq!(positions, [Position::BeforeUser]);
    assert_eq!(
        defects(&driven.acts()),
        [
            Defect::Contribution,
            Defect::Injection {
                position: Position::System
            },
            Defect::Injection {
                position: Position::AfterUser
            },
            Defect::Deprecated,
        ]
    );
    driven
        .session
        .contribution(&contribution(&json!([injection("beforeUser")])));
    assert!(defects(&driven.acts()).is_empty(), "told once");
}

/// MCPL §6.5: an answer without a usable feature set, and one that is malformed, adds nothing.
#[test]
fn unusable_answers_add_nothing() {
    let mut driven = Driven::in_force(generous(), &everything());
    let of =
        |set: &str| json!({ "featureSet": set, "contextInjections": [injection("beforeUser")] });
    for answer in [
        json!(7),
        json!({}),
        json!({ "contextInjections": [injection("beforeUser")] }),
        json!({ "featureSet": "hooks", "contextInjections": {} }),
        of("none"),
        of("broken"),
    ] {
        assert!(
            driven.session.contribution(&json_of(&answer)).is_empty(),
            "{answer}"
        );
        assert!(!defects(&driven.acts()).is_empty(), "{answer}");
    }
    assert_eq!(driven.session.contribution(&json_of(&of("hooks"))).len(), 1);
}

/// MCPL §10.7: while a hook waits for a server, that server's requests for inference are refused.
#[test]
fn no_inference_from_within_a_hook() {
    let mut driven = Driven::in_force(generous(), &everything());
    let request = json!({ "featureSet": "all", "messages": [{ "role": "user", "content": "x" }] });
    driven.session.hooks_under_way(1);
    driven.request("inference/request", &request);
    let acts = driven.acts();
    assert_eq!(defects(&acts), [Defect::Loop]);
    assert_eq!(replies(acts).remove(0).1.unwrap_err().0, -32002);
    driven.session.hooks_under_way(0);
    driven.request("inference/request", &request);
    driven.question();
}

/// MCPL §10.5: a turn's end is told once, and only where its beginning was; nothing of it is content.
#[test]
fn turns_are_told_in_pairs() {
    let mut driven = Driven::in_force(generous(), &everything());
    let session = &mut driven.session;
    let usage = Some(Usage {
        input_tokens: 1,
        output_tokens: 2,
    });
    let end = |session: &mut crate::mcpl::session::Session<u64>| {
        session.turn(&turn("i"), Phase::Completed(usage))
    };
    assert_eq!(end(session).unwrap_err(), Unsent::Turn);
    let began: Value = session
        .turn(&turn("i"), Phase::Started)
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(began["phase"], "started");
    assert_eq!(began["model"]["id"], "m");
    assert_eq!(
        session.turn(&turn("i"), Phase::Started).unwrap_err(),
        Unsent::Turn
    );
    let ended: Value = end(session).unwrap().parse().unwrap();
    assert_eq!(
        ended["usage"],
        json!({ "inputTokens": 1, "outputTokens": 2 })
    );
    assert_eq!(
        session.turn(&turn("i"), Phase::Failed).unwrap_err(),
        Unsent::Turn
    );
    let mut driven = Driven::in_force(policy(&["inferenceLifecycle"]), &everything());
    let told: Value = driven
        .session
        .turn(&turn("i"), Phase::Started)
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(
        told.get("model"),
        None,
        "the model is a capability of its own"
    );
}
