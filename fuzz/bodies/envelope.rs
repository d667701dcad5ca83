//! One frame's verdict against serde_json's reading of the same text (S6, L2).

use std::collections::HashSet;
use std::fmt;

use bytes::Bytes;
use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, Inbound, Malformed, Noise, classify, for_each_element};
use seawall_proto::limits::MAX_JSON_DEPTH;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The input is one frame.
pub(crate) fn run(data: &[u8]) {
    let frame = Bytes::copy_from_slice(data);
    let verdict = classify(&frame);
    assert!(!format!("{verdict:?}").contains("MARKER") || is_method_marked(&verdict));
    if let Err(error) = &verdict {
        assert!(!error.to_string().contains("MARKER"));
    }
    let body = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    let text = std::str::from_utf8(body).unwrap_or("not JSON");
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        assert!(matches!(
            verdict,
            Ok(Inbound::Noise(Noise::NotJson | Noise::Blank))
        ));
        return;
    }
    assert_eq!(
        matches!(verdict, Err(Malformed::TooDeep)),
        text.trim_start().starts_with('{') && nesting(text) > MAX_JSON_DEPTH && is_tagged(text),
    );
    match &verdict {
        Ok(Inbound::Request { id, .. } | Inbound::Response { id, .. }) => {
            let raw = id.as_json();
            assert!(
                raw.starts_with('"')
                    || raw
                        .bytes()
                        .all(|byte| byte == b'-' || byte.is_ascii_digit())
            );
            if let Some(ours) = id.as_ours() {
                assert!(raw == ours.to_string() || raw.starts_with('"'));
            }
        }
        Ok(Inbound::Array) => {
            let mut elements = Vec::new();
            for_each_element(&frame, |element| elements.push(element));
            if let Ok(values) = serde_json::from_str::<Vec<Value>>(text) {
                assert_eq!(values.len(), elements.len());
                for (element, value) in elements.iter().zip(&values) {
                    assert_eq!(
                        &serde_json::from_slice::<Value>(element).unwrap_or_default(),
                        value
                    );
                }
            }
        }
        _ => {}
    }
    // serde_json refuses lone surrogates and infinite numbers, and takes the last of two equal keys.
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let Some(members) = value.as_object() else {
        let expected = if value.is_array() {
            Ok(Inbound::Array)
        } else {
            Ok(Inbound::Noise(Noise::Scalar))
        };
        assert_eq!(verdict, expected);
        return;
    };
    if !members.contains_key("jsonrpc") {
        assert_eq!(verdict, Ok(Inbound::Noise(Noise::Untagged)));
        return;
    }
    let is = |name: &str, found: &Json| {
        assert_eq!(
            members.get(name),
            serde_json::from_str(found.as_str()).ok().as_ref()
        );
    };
    let id = members.get("id");
    match verdict {
        Ok(Inbound::Request {
            id: raw,
            method,
            params,
        }) => {
            assert_eq!(id, serde_json::from_str(raw.as_json()).ok().as_ref());
            assert_eq!(members["method"], method);
            params.inspect(|params| is("params", params));
        }
        Ok(Inbound::Notification { method, params }) => {
            assert_eq!(id, None);
            assert_eq!(members["method"], method);
            params.inspect(|params| is("params", params));
        }
        Ok(Inbound::Response { id: raw, answer }) => {
            assert_eq!(id, serde_json::from_str(raw.as_json()).ok().as_ref());
            assert!(!members.contains_key("method"));
            match answer {
                Ok(reply) => {
                    is("result", &reply.result);
                    assert!(!members.contains_key("error"));
                    for (name, found) in [
                        ("content", &reply.content),
                        ("structuredContent", &reply.structured_content),
                        ("isError", &reply.is_error),
                    ] {
                        let expected = members["result"]
                            .as_object()
                            .and_then(|result| result.get(name));
                        assert_eq!(expected.is_some(), found.is_some(), "{name} by presence");
                        if !reply.ambiguous {
                            let found: Option<Value> = found
                                .as_ref()
                                .and_then(|found| serde_json::from_str(found.as_str()).ok());
                            assert_eq!(expected, found.as_ref());
                        }
                    }
                }
                Err(error) => is_error(&members["error"], &error),
            }
        }
        Ok(Inbound::UncorrelatedError(error)) => {
            assert!(id.is_none_or(Value::is_null));
            is_error(&members["error"], &error);
        }
        Ok(other) => panic!("a tagged object is a message or malformed, not {other:?}"),
        Err(Malformed::Version) => assert_ne!(members["jsonrpc"], "2.0"),
        Err(Malformed::TooDeep) => panic!("serde_json went down to its bottom"),
        Err(Malformed::DuplicateKey) => assert!(has_equal_keys(text)),
        Err(Malformed::NumberOverflow) => panic!("serde_json read every number"),
        Err(_) => assert!(!is_plainly_valid(&value)),
    }
}

/// How deep containers nest in a text that is JSON.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth -= 1,
            _ => {}
        }
    }
    deepest
}

/// The names of an object's members, as they stand there; none of anything else.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

fn keys(text: &str) -> Vec<String> {
    serde_json::from_str::<Keys>(text).map_or_else(|_| Vec::new(), |keys| keys.0)
}

fn has_equal_keys(text: &str) -> bool {
    let keys = keys(text);
    keys.iter().collect::<HashSet<_>>().len() < keys.len()
}

fn is_tagged(text: &str) -> bool {
    keys(text).iter().any(|key| key == "jsonrpc")
}

fn is_error(value: &Value, error: &ErrorObject) {
    // `-0` is an integer, which serde_json reads as a fraction.
    assert!(value["code"] == error.code || (error.code == 0 && value["code"] == -0.0));
    assert_eq!(value["message"], error.message.as_str());
    assert_eq!(value.get("data").is_some(), error.data.is_some());
}

/// A method is kept as the text that it is.
fn is_method_marked(verdict: &Result<Inbound, Malformed>) -> bool {
    matches!(verdict, Ok(Inbound::Request { method, .. } | Inbound::Notification { method, .. }) if method.contains("MARKER"))
}

/// Whether a message is valid beyond any doubt; such a one is never malformed.
fn is_plainly_valid(value: &Value) -> bool {
    let id = value["id"].is_i64() || value["id"].is_u64() || value["id"].is_string();
    let has = |name: &str| value.get(name).is_some();
    let params = !has("params") || value["params"].is_object() || value["params"].is_array();
    if has("method") {
        return value["method"].is_string()
            && params
            && (id || !has("id"))
            && !has("result")
            && !has("error");
    }
    let error = value["error"]["code"].is_i64() && value["error"]["message"].is_string();
    id && ((has("result") && !has("error"))
        || (error
            && !has("result")
            && value["error"]
                .as_object()
                .is_some_and(|error| error.len() == 2)))
}
