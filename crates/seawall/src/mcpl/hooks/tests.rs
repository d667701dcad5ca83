//! What a hook shows, and what an answer to one is.

use serde_json::{Value, json};

use super::*;
use crate::mcpl::inference::Model;

fn before() -> BeforeInference {
    BeforeInference {
        turn: Turn {
            inference_id: "i".to_owned(),
            conversation_id: "c".to_owned(),
            index: 7,
            model: Some(Model {
                id: "m".to_owned(),
                vendor: Some("v".to_owned()),
                context_window: Some(200_000),
                capabilities: vec!["vision".to_owned()],
            }),
        },
        user_message: Some("hello".to_owned()),
        channels: Some(Json::check(r#"{"candidates":["ui"]}"#).unwrap()),
    }
}

/// MCPL §10.1: the specification's members; the message is there and null for who may not observe, the channels are not.
#[test]
fn parameters_are_those_of_the_specification() {
    assert_eq!(
        before().params(true),
        json!({
            "inferenceId": "i",
            "conversationId": "c",
            "turnIndex": 7,
            "userMessage": "hello",
            "model": { "id": "m", "vendor": "v", "contextWindow": 200_000, "capabilities": ["vision"] },
            "channels": { "candidates": ["ui"] },
        })
    );
    let blind = before().params(false);
    assert_eq!(blind.get("userMessage"), Some(&Value::Null));
    assert_eq!(blind.get("channels"), None);
}

fn contribution(injections: &Value) -> Result<Contribution, Invalid> {
    let result = json!({ "featureSet": "f", "contextInjections": injections });
    Contribution::of(&Json::of(&result).unwrap())
}

/// MCPL §10.4: what is no injection is counted and left out; the others stay, in order.
#[test]
fn injections_are_read_one_by_one() {
    let good = json!({ "namespace": "n", "position": "system", "content": [{ "type": "text", "text": "a" }], "metadata": {} });
    let mut all = vec![good.clone()];
    for (member, wrong) in [
        ("namespace", json!(7)),
        ("namespace", json!("")),
        ("position", json!("above")),
        ("position", Value::Null),
        ("content", json!({})),
        ("content", Value::Null),
        ("metadata", json!([])),
    ] {
        let mut bad = good.clone();
        bad[member] = wrong;
        all.push(bad);
    }
    all.push(json!(null));
    all.push(json!({ "namespace": "n", "position": "afterUser", "content": "b" }));
    let read = contribution(&json!(all)).unwrap();
    assert_eq!(read.invalid, 8);
    let texts: Vec<String> = read
        .injections
        .iter()
        .map(|one| one.content.shown())
        .collect();
    assert_eq!(texts, ["a", "b"]);
}

/// MCPL: an answer may hold so many injections and no more.
#[test]
fn number_of_injections_is_bounded() {
    let one = json!({ "namespace": "n", "position": "system", "content": "a" });
    let many = |count| contribution(&json!(vec![one.clone(); count]));
    assert_eq!(
        many(MAX_INJECTIONS).unwrap().injections.len(),
        MAX_INJECTIONS
    );
    assert!(many(MAX_INJECTIONS + 1).is_err());
}
