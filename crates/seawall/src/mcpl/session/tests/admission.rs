//! The choke point: what is admitted, what waits, what is refused and with which code.

use seawall_proto::Json;
use serde_json::{Value, json};

use super::{Driven, channel, defects, everything, generous, message, push, replies};
use crate::mcpl::callbacks::Reception;
use crate::mcpl::inference::{Finish, Inferred, Model, Usage};
use crate::mcpl::policy::McplPolicy;
use crate::mcpl::session::held::{MAX_HELD, MAX_HELD_BYTES};
use crate::mcpl::session::{Act, Decision, Defect, Notice, Outcome, Question};

fn infer(feature_set: &str, stream: bool) -> Value {
    json!({
        "featureSet": feature_set,
        "stream": stream,
        "messages": [{ "role": "user", "content": "summarise" }],
    })
}

/// MCPL §5.3: what comes before the receipt waits for it, in order, and is answered then; what will not be granted does not.
#[test]
fn what_comes_before_the_receipt_waits_for_it() {
    let mut policy = generous();
    policy.disabled_capabilities = vec!["modelInfo".parse().unwrap()];
    let (mut driven, _) = Driven::asked(policy, &everything());
    let denied = driven.reply_to("model/info", &json!({})).unwrap_err();
    assert_eq!(denied, (-32002, json!({ "capability": "modelInfo" })));
    let register = driven.request("channels/register", &json!({ "channels": [channel("a")] }));
    driven.tell("channels/changed", &json!({ "added": [channel("b")] }));
    let list = driven.request("channels/list", &json!({}));
    assert!(driven.acts().is_empty());
    driven.accept();
    let replies = replies(driven.acts());
    assert_eq!(replies[0].0, register);
    assert_eq!(replies[1].0, list);
    let ids: Vec<&Value> = replies[1].1.as_ref().unwrap()["channels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|channel| &channel["id"])
        .collect();
    assert_eq!(ids, ["a", "b"]);
}

/// MCPL: what waits for the receipt is bounded in number and in bytes; what is past it is refused, or dropped and told of.
#[test]
fn what_waits_for_the_receipt_is_bounded() {
    let (mut driven, _) = Driven::asked(generous(), &everything());
    for _ in 0..MAX_HELD {
        driven.request("channels/list", &json!({}));
    }
    assert!(driven.acts().is_empty());
    assert_eq!(
        driven.reply_to("channels/list", &json!({})).unwrap_err().0,
        -32002
    );
    driven.tell("channels/changed", &json!({}));
    assert_eq!(defects(&driven.acts()), [Defect::Dropped]);
    let (mut driven, _) = Driven::asked(generous(), &everything());
    let long = json!({ "a": "x".repeat(MAX_HELD_BYTES / 4) });
    for _ in 0..3 {
        driven.request("channels/list", &long);
    }
    assert!(driven.acts().is_empty());
    let fourth = driven.reply_to("channels/list", &long);
    assert_eq!(fourth.unwrap_err().0, -32002);
    driven.session.withdrawn(&0);
    driven.request("channels/list", &long);
    assert!(driven.acts().is_empty(), "what is taken back makes room");
}

/// MCPL §6.6: each method without its capability is refused with -32002 and the capability's name; nothing comes of it.
#[test]
fn nothing_is_admitted_without_its_grant() {
    let mut driven = Driven::in_force(McplPolicy::default(), &json!({ "version": "0.5" }));
    for (method, params, capability) in [
        ("push/event", push("all", "e"), "pushEvents"),
        ("inference/request", infer("all", false), "inferenceRequest"),
        ("inference/request", infer("all", true), "inferenceRequest"),
        ("model/info", json!({}), "modelInfo"),
        (
            "channels/register",
            json!({ "channels": [channel("a")] }),
            "channels.register",
        ),
        (
            "channels/changed",
            json!({ "added": [channel("a")] }),
            "channels.register",
        ),
        ("channels/list", json!({}), "channels.register"),
        (
            "channels/incoming",
            json!({ "messages": [message("a", "m")] }),
            "channels.incoming",
        ),
        (
            "tools/observe",
            json!({ "rules": [] }),
            "toolLifecycle.observe",
        ),
    ] {
        let refused = driven.reply_to(method, &params).unwrap_err();
        assert_eq!(
            refused,
            (-32002, json!({ "capability": capability })),
            "{method}"
        );
        driven.tell(method, &params);
        assert_eq!(defects(&driven.acts()), [Defect::Dropped], "{method}");
    }
    assert!(driven.session.registry().is_empty());
}

/// MCPL: streaming is a capability of its own.
#[test]
fn streamed_inference_needs_both_capabilities() {
    let mut mcpl = everything();
    mcpl["inferenceRequest"] = json!({ "streaming": false });
    let mut driven = Driven::in_force(generous(), &mcpl);
    let refused = driven
        .reply_to("inference/request", &infer("all", true))
        .unwrap_err();
    assert_eq!(refused.1["capability"], "inferenceRequest.streaming");
}

/// MCPL: what 0.5 removed, what it never had, and what commands the host is refused whatever is granted.
#[test]
fn removed_methods_do_not_exist_and_commands_are_denied() {
    let mut driven = Driven::in_force(generous(), &everything());
    for method in [
        "scope/elevate",
        "featureSets/changed",
        "context/afterInference",
        "state/update",
        "state/get",
        "branches/list",
        "mcpl/manifestChanged",
        "tools/call",
        "push/render",
        "",
    ] {
        assert_eq!(
            driven.reply_to(method, &json!({})).unwrap_err().0,
            -32601,
            "{method}"
        );
    }
    let command = driven.reply_to("host/command", &json!({ "command": "undo" }));
    assert_eq!(command.unwrap_err().0, -32002);
}

/// MCPL §6.5, §6.6: an event of a feature set that is unknown, off, or does not declare what it does.
#[test]
fn feature_sets_narrow_what_is_granted() {
    let mut driven = Driven::in_force(generous(), &everything());
    for (feature_set, code) in [("none", -32003), ("broken", -32001), ("quiet", -32002)] {
        driven.request("push/event", &push(feature_set, "e"));
        let acts = driven.acts();
        let mismatch = defects(&acts).len();
        assert_eq!(
            mismatch,
            usize::from(feature_set == "quiet"),
            "{feature_set}"
        );
        let reply = replies(acts).remove(0).1.unwrap_err();
        assert_eq!(reply.0, code, "{feature_set}");
    }
    driven.request("push/event", &push("all", "e"));
    driven.question();
}

/// MCPL §9: an event is taken once; one that was not taken may come again; what is wrong with one is told.
#[test]
fn event_is_taken_once() {
    let mut driven = Driven::in_force(generous(), &everything());
    let mut push_with = |reception: Reception| {
        driven.request("push/event", &push("all", "e"));
        let (number, question) = driven.question();
        assert!(matches!(question, Question::Push(event) if event.event_id() == "e"));
        driven.receive(number, reception)
    };
    let refused = push_with(Reception::refused("busy"));
    assert_eq!(refused, json!({ "accepted": false, "reason": "busy" }));
    let id = Some("inf_1".to_owned());
    let taken = push_with(Reception::Accepted { id });
    assert_eq!(taken, json!({ "accepted": true, "inferenceId": "inf_1" }));
    driven.request("push/event", &push("all", "e"));
    let acts = driven.acts();
    let told = |act: &Act<u64>| {
        matches!(
            act,
            Act::Tell(Notice::Pushed {
                outcome: Outcome::Duplicate,
                ..
            })
        )
    };
    assert!(acts.iter().any(told));
    let again = replies(acts).remove(0).1.unwrap();
    assert_eq!(again, json!({ "accepted": false, "reason": "duplicate" }));
    let mut empty = push("all", "f");
    empty["payload"]["content"] = json!([{ "type": "text", "text": " " }]);
    let refused = driven.reply_to("push/event", &empty).unwrap_err();
    assert_eq!(
        (refused.0, &refused.1["reason"]),
        (-32602, &json!("empty-content"))
    );
    driven.request("push/event", &push("all", "f"));
    driven.question();
}

/// MCPL §11, §12: a model's answer goes back as the specification has it; without one the server is refused, never left.
#[test]
fn model_is_asked_and_its_answer_goes_back() {
    let mut driven = Driven::in_force(generous(), &everything());
    driven.request("inference/request", &infer("all", true));
    let (number, question) = driven.question();
    assert!(matches!(question, Question::Inference(request) if request.stream));
    let inferred = Inferred {
        content: "short".to_owned(),
        model: "m".to_owned(),
        finish: Finish::EndTurn,
        usage: Usage {
            input_tokens: 3,
            output_tokens: 1,
        },
    };
    driven
        .session
        .decided(number, Decision::Inferred(Some(inferred)));
    assert_eq!(
        replies(driven.acts()).remove(0).1.unwrap(),
        json!({
            "content": "short", "model": "m", "finishReason": "end_turn",
            "usage": { "inputTokens": 3, "outputTokens": 1 },
        })
    );
    driven.request("model/info", &json!({}));
    let (number, _) = driven.question();
    let model = Model {
        id: "m".to_owned(),
        vendor: None,
        context_window: Some(9),
        capabilities: vec![],
    };
    driven.session.decided(number, Decision::Model(Some(model)));
    let told = replies(driven.acts()).remove(0).1.unwrap();
    assert_eq!(
        told,
        json!({ "id": "m", "contextWindow": 9, "capabilities": [] })
    );
    for decision in [
        Decision::Model(None),
        Decision::Inferred(None),
        Decision::Receptions(vec![]),
    ] {
        driven.request("model/info", &json!({}));
        let (number, _) = driven.question();
        driven.session.decided(number, decision);
        assert_eq!(replies(driven.acts()).remove(0).1.unwrap_err().0, -32603);
    }
    let bad = driven.reply_to(
        "inference/request",
        &json!({ "featureSet": "all", "messages": [] }),
    );
    assert_eq!(bad.unwrap_err().0, -32602);
}

/// S7: what the server takes back is not answered, and whoever was asked is told.
#[test]
fn request_that_is_taken_back_is_not_answered() {
    let mut driven = Driven::in_force(generous(), &everything());
    let key = driven.request("push/event", &push("all", "e"));
    let (number, _) = driven.question();
    driven.session.withdrawn(&key);
    let acts = driven.acts();
    assert!(matches!(acts[..], [Act::Forget(forgotten)] if forgotten == number));
    let decision = Decision::Receptions(vec![Reception::accepted()]);
    driven.session.decided(number, decision);
    assert!(driven.acts().is_empty());
    // Nobody said that it was taken: sent again it is asked about again, and not called a duplicate.
    driven.request("push/event", &push("all", "e"));
    assert!(matches!(driven.question(), (_, Question::Push(_))));
}

/// MCPL, RFC-007: rules replace rules; malformed ones change nothing; absent parameters clear.
#[test]
fn observe_rules_are_answered() {
    let mut driven = Driven::in_force(generous(), &everything());
    let good = json!({ "rules": [{ "match": { "tool": "x*" } }] });
    assert_eq!(driven.reply_to("tools/observe", &good), Ok(json!({})));
    let bad = json!({ "rules": [{ "match": {}, "surprise": true }] });
    assert_eq!(
        driven.reply_to("tools/observe", &bad).unwrap_err().0,
        -32602
    );
    let nothing: Option<Json> = None;
    driven
        .session
        .request(driven.now, 99, "tools/observe", nothing);
    assert_eq!(replies(driven.acts()).remove(0).1, Ok(json!({})));
}
