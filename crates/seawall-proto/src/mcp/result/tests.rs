//! The shape of a result, and that it passes unchanged.

use bytes::Bytes;

use super::{ResultFault, ToolResult};
use crate::json::Json;
use crate::jsonrpc::{Inbound, classify};

fn result(text: &str) -> Result<ToolResult, ResultFault> {
    let frame = Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{text}}}"#));
    match classify(&frame) {
        Ok(Inbound::Response {
            answer: Ok(reply), ..
        }) => ToolResult::from_reply(reply),
        other => panic!("{text}: {other:?}"),
    }
}

/// S11: a result needs a `content` array or `structuredContent`.
#[test]
fn result_needs_content_or_structured_content() {
    for (text, fault) in [
        ("1", ResultFault::NotAnObject),
        ("null", ResultFault::NotAnObject),
        ("\"content\"", ResultFault::NotAnObject),
        ("[{\"content\":[]}]", ResultFault::NotAnObject),
        ("{}", ResultFault::Empty),
        ("{\"isError\":true}", ResultFault::Empty),
        ("{\"toolResult\":1}", ResultFault::Empty),
        ("{\"content\":null}", ResultFault::Content),
        ("{\"content\":\"x\"}", ResultFault::Content),
        ("{\"content\":{}}", ResultFault::Content),
        ("{\"content\":[],\"isError\":1}", ResultFault::IsError),
        (
            "{\"content\":[],\"isError\":\"true\"}",
            ResultFault::IsError,
        ),
        ("{\"content\":[],\"content\":[]}", ResultFault::DuplicateKey),
        (
            "{\"structuredContent\":1,\"structuredContent\":1}",
            ResultFault::DuplicateKey,
        ),
    ] {
        assert_eq!(result(text), Err(fault), "{text}");
    }
    assert!(result("{\"content\":[]}").is_ok());
}

/// S11: `structuredContent` is kept by presence: null, 0 and false are values.
#[test]
fn structured_content_is_kept_by_presence() {
    for value in ["null", "0", "false", "\"\"", "[]", "{}", "1e2"] {
        let found = result(&format!("{{\"structuredContent\":{value}}}")).unwrap();
        assert_eq!(found.structured_content().map(Json::as_str), Some(value));
        assert_eq!(found.content(), None);
    }
    assert_eq!(
        result("{\"content\":[]}").unwrap().structured_content(),
        None
    );
}

/// S11: `isError: true` is data in the success channel.
#[test]
fn failed_tool_is_a_result() {
    assert!(
        result("{\"content\":[],\"isError\":true}")
            .unwrap()
            .is_error()
    );
    assert!(
        !result("{\"content\":[],\"isError\":false}")
            .unwrap()
            .is_error()
    );
    assert!(!result("{\"content\":[]}").unwrap().is_error());
}

/// O5: the bytes of the result, its content and its structured content are the server's.
#[test]
fn result_passes_byte_for_byte() {
    let text = r#"{ "content" : [ {"type":"odd", "n":1.500, "s":"\u00e9\ud800"} ],"structuredContent":{"a": 12345678901234567890.10},"isError":true ,"_meta":{"x/y":null},"content2":[] }"#;
    let found = result(text).unwrap();
    assert_eq!(found.raw().as_str(), text);
    assert_eq!(
        found.content().unwrap().as_str(),
        r#"[ {"type":"odd", "n":1.500, "s":"\u00e9\ud800"} ]"#
    );
    assert_eq!(
        found.structured_content().unwrap().as_str(),
        r#"{"a": 12345678901234567890.10}"#
    );
}

/// O1: no fault repeats the server's text.
#[test]
fn no_fault_repeats_the_servers_text() {
    for text in [
        "\"MARKER\"",
        r#"{"MARKER":1}"#,
        r#"{"content":"MARKER"}"#,
        r#"{"content":[],"isError":"MARKER"}"#,
        r#"{"structuredContent":"MARKER","structuredContent":1}"#,
    ] {
        let fault = result(text).unwrap_err();
        assert!(!format!("{fault} {fault:?}").contains("MARKER"), "{text}");
    }
}
