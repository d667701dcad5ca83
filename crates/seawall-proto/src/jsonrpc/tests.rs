//! What one message is: every kind of noise, every malformed kind, ids and errors.

use bytes::Bytes;

use super::{ErrorObject, Inbound, Malformed, Noise, Reply, classify, for_each_element};

fn take(frame: &str) -> Result<Inbound, Malformed> {
    classify(&Bytes::copy_from_slice(frame.as_bytes()))
}

fn noise(frame: &[u8]) -> Option<Noise> {
    match classify(&Bytes::copy_from_slice(frame)) {
        Ok(Inbound::Noise(kind)) => Some(kind),
        _ => None,
    }
}

fn malformed(frame: &str) -> Option<Malformed> {
    take(frame).err()
}

fn reply(frame: &str) -> Reply {
    match take(frame) {
        Ok(Inbound::Response {
            answer: Ok(reply), ..
        }) => reply,
        other => panic!("{frame}: {other:?}"),
    }
}

fn error(frame: &str) -> ErrorObject {
    match take(frame) {
        Ok(
            Inbound::Response {
                answer: Err(error), ..
            }
            | Inbound::UncorrelatedError(error),
        ) => error,
        other => panic!("{frame}: {other:?}"),
    }
}

/// S6: each kind of noise.
#[test]
fn what_is_no_tagged_object_is_noise() {
    for (frame, kind) in [
        (&b""[..], Noise::Blank),
        (b" \t\r", Noise::Blank),
        (b"\xEF\xBB\xBF", Noise::Blank),
        (b"\xEF\xBB\xBF  ", Noise::Blank),
        (b"Server listening", Noise::NotJson),
        (b"{\"jsonrpc\":\"2.0\"", Noise::NotJson),
        (b"{\"jsonrpc\":\"2.0\",}", Noise::NotJson),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}} x",
            Noise::NotJson,
        ),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", Noise::NotJson),
        (b"\xEF\xBB\xBF\xEF\xBB\xBF{}", Noise::NotJson),
        (b"\"jsonrpc\"", Noise::Scalar),
        (b"12", Noise::Scalar),
        (b"1e999", Noise::Scalar),
        (b"true", Noise::Scalar),
        (b"null", Noise::Scalar),
        (b"{}", Noise::Untagged),
        (b"{\"id\":1,\"result\":{}}", Noise::Untagged),
        (b"{\"inner\":{\"jsonrpc\":\"2.0\"}}", Noise::Untagged),
        (
            b"{\"level\":\"info\",\"level\":\"twice\",\"n\":1e999}",
            Noise::Untagged,
        ),
        (b"{\"JSONRPC\":\"2.0\"}", Noise::Untagged),
    ] {
        assert_eq!(
            noise(frame),
            Some(kind),
            "{}",
            String::from_utf8_lossy(frame)
        );
    }
    let deep = format!("{{\"log\":{}{}}}", "[".repeat(500), "]".repeat(500));
    assert_eq!(noise(deep.as_bytes()), Some(Noise::Untagged));
    assert_eq!(take("[]"), Ok(Inbound::Array));
    assert_eq!(take("[{\"jsonrpc\":\"2.0\"}]"), Ok(Inbound::Array));
}

/// S6: a byte-order mark before a line is skipped.
#[test]
fn byte_order_mark_is_skipped() {
    assert!(matches!(
        take("\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"),
        Ok(Inbound::Notification { method, .. }) if method == "x"
    ));
    assert_eq!(
        reply("\u{feff} {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[1]}}")
            .content
            .unwrap()
            .as_str(),
        "[1]"
    );
}

/// S6: each malformed kind.
#[test]
fn tagged_object_that_is_no_valid_message_is_malformed() {
    for (frame, kind) in [
        (r#"{"jsonrpc":"1.0","method":"x"}"#, Malformed::Version),
        (r#"{"jsonrpc":2.0,"method":"x"}"#, Malformed::Version),
        (r#"{"jsonrpc":null,"method":"x"}"#, Malformed::Version),
        (r#"{"jsonrpc":{},"method":"x"}"#, Malformed::Version),
        (r#"{"jsonrpc":"2.0 ","method":"x"}"#, Malformed::Version),
        (r#"{"jsonrpc":"2.0","method":1}"#, Malformed::Method),
        (r#"{"jsonrpc":"2.0","method":null}"#, Malformed::Method),
        (
            r#"{"jsonrpc":"2.0","method":"x","params":1}"#,
            Malformed::Params,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"x","params":"y"}"#,
            Malformed::Params,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"x","params":false}"#,
            Malformed::Params,
        ),
        (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, Malformed::Id),
        (r#"{"jsonrpc":"2.0","id":1.0,"method":"x"}"#, Malformed::Id),
        (r#"{"jsonrpc":"2.0","id":1e0,"method":"x"}"#, Malformed::Id),
        (r#"{"jsonrpc":"2.0","id":1E0,"result":{}}"#, Malformed::Id),
        (r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#, Malformed::Id),
        (r#"{"jsonrpc":"2.0","id":true,"result":{}}"#, Malformed::Id),
        (r#"{"jsonrpc":"2.0","id":[1],"result":{}}"#, Malformed::Id),
        (
            r#"{"jsonrpc":"2.0","id":{},"error":{"code":1,"message":""}}"#,
            Malformed::Id,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#,
            Malformed::RequestAndReply,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"x","error":{"code":1,"message":""}}"#,
            Malformed::RequestAndReply,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            Malformed::ResultAndError,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#,
            Malformed::ResultAndError,
        ),
        (r#"{"jsonrpc":"2.0"}"#, Malformed::Empty),
        (r#"{"jsonrpc":"2.0","id":1}"#, Malformed::Empty),
        (r#"{"jsonrpc":"2.0","id":1,"params":{}}"#, Malformed::Empty),
        (
            r#"{"jsonrpc":"2.0","result":{}}"#,
            Malformed::ResultWithoutId,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            Malformed::ResultWithoutId,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":null}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":"x"}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":[1,"x"]}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":9223372036854775808,"message":"x"}}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":1,"message":"x"}}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#,
            Malformed::ErrorObject,
        ),
    ] {
        assert_eq!(malformed(frame), Some(kind), "{frame}");
    }
}

/// L2: a key that stands twice in the envelope is malformed, whatever it is and however it is spelt.
#[test]
fn duplicate_key_in_an_envelope_is_malformed() {
    for frame in [
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"x","\u006dethod":"y"}"#,
        r#"{"json\u0072pc":"2.0","jsonrpc":"2.0","method":"x"}"#,
        r#"{"jsonrpc":"2.0","method":"x","other":1,"\u006fther":2}"#,
        r#"{"jsonrpc":"2.0","method":"x","params":{},"params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"error":{"code":1,"message":""}}"#,
    ] {
        assert_eq!(malformed(frame), Some(Malformed::DuplicateKey), "{frame}");
    }
    assert!(take(r#"{"jsonrpc":"2.0","method":"x","params":{"a":1,"a":2}}"#).is_ok());
}

/// L2: 128 nested containers pass, 129 do not, the envelope counted.
#[test]
fn depth_is_bounded_counting_the_envelope() {
    let frame = |depth: usize| {
        let inner = depth - 2;
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"content\":{}{}}}}}",
            "[".repeat(inner),
            "]".repeat(inner)
        )
    };
    assert!(take(&frame(128)).is_ok());
    assert_eq!(malformed(&frame(129)), Some(Malformed::TooDeep));
    assert_eq!(malformed(&frame(300_000)), Some(Malformed::TooDeep));
}

/// L2: a number that overflows a double ends it, wherever it stands.
#[test]
fn number_that_overflows_is_malformed() {
    let digits = "9".repeat(400);
    for number in ["1e999", "-1e309", &digits] {
        for frame in [
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"x\":[{number}]}}}}"),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"ping\"}}"),
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"extra\":{number}}}"),
        ] {
            assert_eq!(
                malformed(&frame),
                Some(Malformed::NumberOverflow),
                "{frame}"
            );
        }
    }
    assert!(take(r#"{"jsonrpc":"2.0","id":1,"result":{"x":[1e308,1e-999]}}"#).is_ok());
}

/// S6: requests and notifications; null parameters read as absent, escapes as what they spell.
#[test]
fn requests_and_notifications() {
    match take(r#"{"params":{"a":[1]},"method":"a\/b","id":"x","jsonrpc":"2\u002e0","extra":1}"#)
        .unwrap()
    {
        Inbound::Request { id, method, params } => {
            assert_eq!((id.as_json(), method.as_str()), ("\"x\"", "a/b"));
            assert_eq!(params.unwrap().as_str(), r#"{"a":[1]}"#);
        }
        other => panic!("{other:?}"),
    }
    for (params, expected) in [
        ("", None),
        (r#","params":null"#, None),
        (r#","params":[1]"#, Some("[1]")),
    ] {
        match take(&format!(r#"{{"jsonrpc":"2.0","method":"m"{params}}}"#)).unwrap() {
            Inbound::Notification { params, .. } => {
                assert_eq!(params.as_ref().map(super::Json::as_str), expected);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// S6, S7: ids keep their text; only a canonical decimal, or the string of one, answers an id of ours.
#[test]
fn ids_keep_their_text_and_canonical_decimal_strings_are_integers() {
    for (text, ours) in [
        ("0", Some(0)),
        ("7", Some(7)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("-1", None),
        ("-0", None),
        ("\"7\"", Some(7)),
        ("\"0\"", Some(0)),
        (r#""\u0037""#, Some(7)),
        ("\"07\"", None),
        ("\"+7\"", None),
        ("\"-7\"", None),
        ("\" 7\"", None),
        ("\"7.0\"", None),
        ("\"7e0\"", None),
        ("\"\"", None),
        ("\"x\"", None),
        ("\"٧\"", None),
    ] {
        match take(&format!(r#"{{"jsonrpc":"2.0","id":{text},"result":{{}}}}"#)).unwrap() {
            Inbound::Response { id, .. } => {
                assert_eq!(id.as_json(), text);
                assert_eq!(id.as_ours(), ours, "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// S6: an error whose id is null or absent answers nothing, and is no fault of the protocol.
#[test]
fn error_without_an_id_is_uncorrelated() {
    for id in ["", r#""id":null,"#] {
        let frame = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"m"}}}}"#);
        assert!(
            matches!(take(&frame), Ok(Inbound::UncorrelatedError(error)) if error.code == -32700),
            "{frame}"
        );
    }
}

#[test]
fn errors_keep_code_message_and_data() {
    let found = error(
        r#"{"jsonrpc":"2.0","id":1,"error":{"data":{"x":[1.50]},"message":"a\u0062","code":-32022,"more":1,"more":2}}"#,
    );
    assert_eq!((found.code, found.message.as_str()), (-32022, "ab"));
    assert_eq!(found.data.unwrap().as_str(), r#"{"x":[1.50]}"#);
    let lone = error(r#"{"jsonrpc":"2.0","id":1,"error":{"message":"\ud800","code":1}}"#);
    assert_eq!((lone.message.as_str(), lone.data), ("\u{fffd}", None));
}

/// O3: the word table.
#[test]
fn tool_not_found_is_read_off_code_and_words() {
    let says = |code: i64, message: &str| {
        error(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"{message}"}}}}"#
        ))
        .says_tool_not_found()
    };
    for message in [
        "Unknown tool: x",
        "unrecognized TOOL",
        "No such tool",
        "Tool x not found",
        "MCP error -32602: Tool nope not found",
        "tools: UNKNOWN name",
    ] {
        assert!(says(-32601, message), "{message}");
        assert!(says(-32602, message), "{message}");
        for code in [-32600, -32603, -32700, -32000, -32002, 0, 1, 32601] {
            assert!(!says(code, message), "{code} {message}");
        }
    }
    for message in [
        "",
        "tool",
        "tool failed",
        "invalid arguments for tool x",
        "method not found",
        "not found",
        "unknown",
    ] {
        assert!(!says(-32602, message), "{message}");
    }
}

/// O5, S11: a reply's well-known members are slices of the result, by presence, and of the result only.
#[test]
fn reply_members_are_found_by_presence_in_the_result_only() {
    let found = reply(
        r#"{"jsonrpc":"2.0","x":{"content":[9],"isError":true},"id":1,"result":{"structuredContent":null,"content":[ 1 ],"isError":false},"_meta":{"content":[8],"structuredContent":7}}"#,
    );
    assert_eq!(
        found.result.as_str(),
        r#"{"structuredContent":null,"content":[ 1 ],"isError":false}"#
    );
    assert_eq!(found.content.unwrap().as_str(), "[ 1 ]");
    assert_eq!(found.structured_content.unwrap().as_str(), "null");
    assert_eq!(found.is_error.unwrap().as_str(), "false");
    assert!(!found.ambiguous);
    let before =
        reply(r#"{"jsonrpc":"2.0","params":{"content":[9],"content":[8]},"id":1,"result":{}}"#);
    assert_eq!((before.content, before.ambiguous), (None, false));
    let nested = reply(
        r#"{"jsonrpc":"2.0","id":1,"result":{"deep":{"content":[9]},"list":[{"isError":true}]}}"#,
    );
    assert_eq!((nested.content, nested.is_error), (None, None));
    let array = reply(r#"{"jsonrpc":"2.0","id":1,"result":[{"content":[1]}]}"#);
    assert_eq!(array.content, None);
}

#[test]
fn reply_member_that_stands_twice_is_told() {
    for twice in [
        r#"{"content":[],"content":[]}"#,
        r#"{"content":[],"c\u006fntent":[]}"#,
        r#"{"structuredContent":1,"structuredContent":1,"content":[]}"#,
        r#"{"isError":true,"content":[],"isError":false}"#,
    ] {
        assert!(
            reply(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{twice}}}"#)).ambiguous,
            "{twice}"
        );
    }
}

/// S6 (2025-03-26): every element of a batch is told, an object's keys never hide the next one.
#[test]
fn every_element_of_a_batch_is_told() {
    let mut elements = Vec::new();
    for_each_element(
        &Bytes::from_static("\u{feff} [ {\"a\":{\"b\":1}} , 2,[3],\"x\",{} ]".as_bytes()),
        |element| elements.push(String::from_utf8(element.to_vec()).unwrap()),
    );
    assert_eq!(elements, ["{\"a\":{\"b\":1}}", "2", "[3]", "\"x\"", "{}"]);
}

/// O1: no text of the peer in any Display or Debug of an error, an id or an error object.
#[test]
fn no_error_repeats_the_peers_text() {
    for frame in [
        r#"{"jsonrpc":"MARKER","method":"MARKER"}"#,
        r#"{"jsonrpc":"2.0","method":"MARKER","params":"MARKER"}"#,
        r#"{"jsonrpc":"2.0","MARKER":1,"MARKER":2,"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":["MARKER"],"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":"MARKER","error":{"code":"MARKER","message":"MARKER"}}"#,
        r#"{"jsonrpc":"2.0","id":"MARKER","result":"MARKER","error":"MARKER"}"#,
        r#"{"jsonrpc":"2.0","MARKER":"MARKER"}"#,
    ] {
        let error = take(frame).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("MARKER"), "{frame}");
    }
    for frame in [
        r#"{"jsonrpc":"2.0","id":"MARKER","result":{"content":["MARKER"]}}"#,
        r#"{"jsonrpc":"2.0","id":"MARKER","error":{"code":1,"message":"MARKER","data":"MARKER"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"MARKER","data":"MARKER"}}"#,
    ] {
        let message = take(frame).unwrap();
        assert!(!format!("{message:?}").contains("MARKER"), "{frame}");
    }
}
