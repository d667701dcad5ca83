//! What an honest server says.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::McplAnswer;

/// The error of a method that is not known.
pub(super) const UNKNOWN: &str = r#"{"code":-32601,"message":"Method not found"}"#;

/// A manifest with three feature sets: `alerts` pushes, `rooms` has channels, `notes` adds to contexts.
pub(super) fn manifest() -> Value {
    json!({
        "version": "0.5",
        "pushEvents": true,
        "channels": { "register": true, "lifecycle": true, "publish": true, "incoming": true },
        "contextHooks": { "beforeInference": { "observe": true, "inject": { "beforeUser": true } } },
        "inferenceLifecycle": true,
        "featureSets": {
            "alerts": { "description": "Tells what happened.", "uses": ["pushEvents"] },
            "rooms": {
                "description": "Rooms to talk in.",
                "uses": [
                    "channels.register",
                    "channels.lifecycle",
                    "channels.publish",
                    "channels.incoming",
                ],
            },
            "notes": {
                "description": "Remembers.",
                "uses": ["contextHooks.beforeInference.inject.beforeUser"],
            },
        },
    })
}

pub(super) fn answers() -> BTreeMap<String, McplAnswer> {
    let channel =
        r#"{"channel":{"id":"room:1","type":"room","label":"Room 1","direction":"bidirectional"}}"#;
    let results = [
        ("ping", "{}"),
        ("featureSets/update", r#"{"accepted":true}"#),
        ("channels/list", r#"{"channels":[]}"#),
        ("channels/open", channel),
        ("channels/close", r#"{"closed":true}"#),
        (
            "channels/publish",
            r#"{"delivered":true,"messageId":"m-1"}"#,
        ),
        ("channels/acknowledge", r#"{"acknowledged":true}"#),
        ("channels/typing", "{}"),
        (
            "context/beforeInference",
            r#"{"featureSet":"notes","contextInjections":[]}"#,
        ),
    ];
    results
        .into_iter()
        .map(|(method, result)| (method.to_owned(), McplAnswer::Result(result.to_owned())))
        .collect()
}
