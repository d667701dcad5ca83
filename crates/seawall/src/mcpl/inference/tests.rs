//! Requests for inference, and turns.

use serde_json::{Value, json};

use super::*;

fn request(change: impl FnOnce(&mut Value)) -> Result<InferenceRequest, Invalid> {
    let mut params = json!({
        "featureSet": "f",
        "messages": [{ "role": "user", "content": "x" }],
    });
    change(&mut params);
    InferenceRequest::of(&Json::of(&params).unwrap())
}

/// MCPL §11.2: what is missing or of another kind is refused; what is not known is passed over.
#[test]
fn request_is_checked() {
    let read = request(|params| {
        params["preferences"] = json!({ "maxTokens": 5, "model": "x" });
        params["conversationId"] = json!("c");
        params["surprise"] = json!(1);
    });
    let read = read.unwrap();
    assert!(!read.stream);
    assert_eq!(read.conversation_id.as_deref(), Some("c"));
    assert!(
        request(|params| params["stream"] = json!(true))
            .unwrap()
            .stream
    );
    let blocks = json!([{ "role": "user", "content": [{ "type": "text", "text": "x" }] }]);
    assert!(request(|params| params["messages"] = blocks).is_ok());
    for (member, wrong) in [
        ("featureSet", Value::Null),
        ("featureSet", json!("")),
        ("stream", json!("true")),
        ("messages", json!([])),
        ("messages", json!({})),
        ("messages", json!([7])),
        ("messages", json!([{ "role": "user" }])),
        ("messages", json!([{ "content": "x" }])),
        ("messages", json!([{ "role": "user", "content": 7 }])),
        ("preferences", json!([])),
        ("conversationId", json!(7)),
    ] {
        assert!(
            request(|params| params[member] = wrong).is_err(),
            "{member}"
        );
    }
}

/// MCPL: a request may hold so many messages and no more.
#[test]
fn number_of_messages_is_bounded() {
    let many = |count| {
        let one = json!({ "role": "user", "content": "x" });
        request(|params| params["messages"] = json!(vec![one; count]))
    };
    assert!(many(MAX_MESSAGES).is_ok());
    assert!(many(MAX_MESSAGES + 1).is_err());
}

/// MCPL: turns that never end are forgotten, the oldest first, and their ends not told.
#[test]
fn open_turns_are_bounded() {
    let mut turns = Turns::default();
    let turn = |at: usize| Turn {
        inference_id: at.to_string(),
        conversation_id: "c".to_owned(),
        index: 0,
        model: None,
    };
    for at in 0..=MAX_OPEN_TURNS {
        assert!(turns.tell(&turn(at), Phase::Started, false).is_some());
    }
    assert!(turns.tell(&turn(0), Phase::Aborted, false).is_none());
    let ended = turns.tell(&turn(1), Phase::Aborted, false).unwrap();
    assert_eq!(ended["phase"], "aborted");
    turns.forget();
    assert!(turns.tell(&turn(2), Phase::Failed, false).is_none());
}
