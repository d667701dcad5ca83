//! What a script receives.

use super::super::{MAX_SHOWN_BYTES, ScriptResult};
use super::*;

/// N3: `{content, structuredContent, isError, error?}` as one JSON object, the server's parts byte for byte.
#[test]
fn script_reads_one_json_object() {
    let place = Place::new();
    for (text, expected) in [
        (
            r#"{"content":[ {"type":"odd","n":1.50,"s":"\ud800"},7],"structuredContent":{"a": 12345678901234567890.10}}"#,
            r#"{"content":[ {"type":"odd","n":1.50,"s":"\ud800"},7],"structuredContent":{"a": 12345678901234567890.10},"isError":false}"#,
        ),
        (
            r#"{"structuredContent":null}"#,
            r#"{"content":[],"structuredContent":null,"isError":false}"#,
        ),
        (
            r#"{"content":[{"type":"text","text":"a\"\n\u0000"}],"isError":true}"#,
            r#"{"content":[{"type":"text","text":"a\"\n\u0000"}],"structuredContent":null,"isError":true,"error":"a\"\n\u0000"}"#,
        ),
    ] {
        let read = ScriptResult::read(&result(text), &place.workspace);
        assert_eq!(read.json(), expected);
        assert!(seawall_proto::Json::check(read.json().to_owned()).is_ok());
        assert_eq!(read.incomplete(), None);
    }
    assert!(place.names().is_empty());
}

/// A result whose object has this many bytes, its last characters of two bytes each.
fn of_size(bytes: usize) -> ToolResult {
    let empty = ScriptResult::read(&content(r#""éé""#), &Place::new().workspace);
    let filling = "x".repeat(bytes - empty.json().len());
    content(&format!(r#""{filling}éé""#))
}

/// N3: over 5 MB (inclusive) it is saved, and the script gets `{oversized: {chars, savedTo}}`, `chars` in code points.
#[test]
fn oversized_result_is_saved_whole() {
    let place = Place::new();
    let at = ScriptResult::read(&of_size(MAX_SHOWN_BYTES), &place.workspace);
    assert_eq!(at.json().len(), MAX_SHOWN_BYTES);
    assert!(place.names().is_empty());

    let over = ScriptResult::read(&of_size(MAX_SHOWN_BYTES + 1), &place.workspace);
    let names = place.names();
    let [name] = names.as_slice() else {
        panic!("{names:?}");
    };
    assert!(name.ends_with(".json"));
    let chars = MAX_SHOWN_BYTES + 1 - 2;
    assert_eq!(
        over.json(),
        format!(r#"{{"oversized":{{"chars":{chars},"savedTo":"tool-results/{name}"}}}}"#)
    );
    let saved = std::fs::read_to_string(place.folder.path().join("tool-results").join(name));
    let saved = saved.unwrap();
    assert_eq!(saved.chars().count(), chars);
    assert!(saved.starts_with(r#"{"content":["xxx"#) && saved.ends_with(r#""isError":false}"#));
}

/// N3, N1: one that cannot be saved is a failure that says that the tool may already have completed.
#[test]
fn oversized_result_that_cannot_be_saved_is_a_failure() {
    let place = Place::with_quota(Quota::new(1_000, 10));
    let result = of_size(MAX_SHOWN_BYTES + 1);
    let ReadResult::Script(read) = ResultReader::Script.read(&result, &place.workspace) else {
        panic!("a script's");
    };
    let incomplete = read.incomplete().unwrap();
    assert_eq!(
        incomplete.reason(),
        WorkspaceError::TooManyBytes { max_bytes: 1_000 }
    );
    let object: serde_json::Value = serde_json::from_str(read.json()).unwrap();
    assert_eq!(object["content"], serde_json::json!([]));
    assert_eq!(object["isError"], true);
    let error = object["error"].as_str().unwrap();
    assert!(
        error.contains("the tool may already have completed"),
        "{error}"
    );
}
