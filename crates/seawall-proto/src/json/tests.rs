//! JSON carried unchanged, and strings that Rust cannot hold.

use bytes::Bytes;
use proptest::prelude::*;

use super::{Json, JsonError, decode_string};
use crate::framing::Kind;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

/// O5: the text is kept byte for byte, white space around it excluded.
#[test]
fn text_is_kept_byte_for_byte() {
    let text = r#"{ "b":1.50, "a":[1E2 ,"\u00e9é"],"b" : 12345678901234567890123 }"#;
    assert_eq!(json(text).as_str(), text);
    assert_eq!(json(&format!(" \r\n{text}\t")).as_str(), text);
    assert_eq!(serde_json::to_string(&json(text)).unwrap(), text);
}

/// L2: 128 nested containers pass, 129 do not.
#[test]
fn depth_is_refused_one_past_the_bound() {
    assert_eq!(json(&nested(128)).depth(), 128);
    assert_eq!(Json::check(nested(129)), Err(JsonError::TooDeep));
    assert_eq!(Json::check(nested(1_000_000)), Err(JsonError::TooDeep));
}

/// L2: a number past the largest double is refused.
#[test]
fn number_that_overflows_is_refused() {
    assert_eq!(Json::check("[1e999]"), Err(JsonError::NumberOverflow));
    assert_eq!(Json::check("9".repeat(400)), Err(JsonError::NumberOverflow));
    assert_eq!(json("1e308").kind(), Kind::Number);
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    assert_eq!(Json::check("[1,]"), Err(JsonError::NotJson { at: 3 }));
    assert_eq!(Json::check(""), Err(JsonError::NotJson { at: 0 }));
    assert_eq!(Json::check(&b"\"\xff\""[..]), Err(JsonError::NotUtf8));
}

#[test]
fn members_and_elements_keep_order_and_decode_keys() {
    let object = json(r#"{"\u0061":1,"b":{"a":2},"a":3}"#);
    let members: Vec<_> = object
        .members()
        .into_iter()
        .map(|(key, value)| (key, value.as_str().to_owned()))
        .collect();
    assert_eq!(
        members,
        [("a", "1"), ("b", r#"{"a":2}"#), ("a", "3")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
    );
    assert_eq!(object.member("a").unwrap().as_str(), "1");
    assert_eq!(object.member("c"), None);
    assert!(object.elements().is_empty());
    let array = json(r#"[{"a":1},2,[3]]"#);
    let elements: Vec<_> = array
        .elements()
        .iter()
        .map(|part| part.as_str().to_owned())
        .collect();
    assert_eq!(elements, [r#"{"a":1}"#, "2", "[3]"]);
    assert!(array.members().is_empty());
}

#[test]
fn kinds_and_strings() {
    for (text, kind, string) in [
        ("{}", Kind::Object, None),
        ("[]", Kind::Array, None),
        ("\"a\\n\"", Kind::String, Some("a\n")),
        ("-1", Kind::Number, None),
        ("true", Kind::Bool, None),
        ("false", Kind::Bool, None),
        ("null", Kind::Null, None),
    ] {
        assert_eq!(json(text).kind(), kind);
        assert_eq!(json(text).string().as_deref(), string);
        assert_eq!(json(text).len(), text.len());
    }
}

/// A clone shares its bytes.
#[test]
fn clone_copies_nothing() {
    let text = json("[1,2,3]");
    assert_eq!(text.clone().as_bytes().as_ptr(), text.as_bytes().as_ptr());
}

/// O1: Debug shows a size, never a text.
#[test]
fn debug_hides_the_text() {
    assert_eq!(format!("{:?}", json("\"MARKER\"")), "Json(8 bytes)");
    for error in [
        Json::check("[MARKER").unwrap_err(),
        Json::check(Bytes::from_static(b"MARKER\xff")).unwrap_err(),
        Json::check(format!("[\"MARKER\",{}]", nested(200))).unwrap_err(),
        Json::check("[\"MARKER\",1e999]").unwrap_err(),
    ] {
        assert!(!format!("{error} {error:?}").contains("MARKER"));
    }
}

#[test]
fn values_become_json_unless_they_break_its_bounds() {
    assert_eq!(Json::of(&vec![1, 2]).unwrap().as_str(), "[1,2]");
    let mut deep = serde_json::Value::Null;
    for _ in 0..129 {
        deep = serde_json::Value::from(vec![deep]);
    }
    assert!(Json::of(&deep).is_err());
}

#[test]
fn strings_decode_and_lone_surrogates_are_replaced() {
    for (inside, text, lone) in [
        ("plain é", "plain é", false),
        (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t", false),
        (r"\u0041\u00e9\u20AC", "Aé€", false),
        (r"\ud83d\ude00", "😀", false),
        (r"a\uD83D\uDE00b", "a😀b", false),
        (r"\ud800", "\u{fffd}", true),
        (r"\udc00", "\u{fffd}", true),
        (r"\ud800x", "\u{fffd}x", true),
        (r"\ud800\n", "\u{fffd}\n", true),
        (r"\ud800\ud83d\ude00", "\u{fffd}😀", true),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}", true),
        (r"\ufffd", "\u{fffd}", false),
        (r"\udbff\udfff", "\u{10ffff}", false),
    ] {
        let decoded = decode_string(inside);
        assert_eq!(
            (decoded.text.as_ref(), decoded.lone_surrogate),
            (text, lone),
            "{inside}"
        );
    }
}

proptest! {
    /// Where serde decodes a string, it decodes to the same; where it refuses, a lone surrogate was told.
    #[test]
    fn strings_decode_as_serde_decodes_them(
        parts in prop::collection::vec(prop_oneof![
            "[a-zé€😀]{1,3}",
            prop::sample::select(vec!["\\n", "\\\"", "\\\\", "\\/", "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\\u0000", "\\uFFFF"]).prop_map(String::from),
        ], 0..12),
    ) {
        let inside = parts.concat();
        let decoded = decode_string(&inside);
        match serde_json::from_str::<String>(&format!("\"{inside}\"")) {
            Ok(text) => {
                prop_assert_eq!(decoded.text, text);
                prop_assert!(!decoded.lone_surrogate);
            }
            Err(_) => prop_assert!(decoded.lone_surrogate),
        }
    }

    /// Any bytes: a verdict, no panic; what is accepted parses.
    #[test]
    fn any_bytes_get_a_verdict(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(json) = Json::check(bytes) {
            prop_assert!(json.parse::<serde::de::IgnoredAny>().is_ok());
        }
    }
}

/// G2, O5: a member gets another value and every other byte stays, blanks, escapes and repeated keys too.
#[test]
fn values_are_replaced_in_place() {
    let text = r#"{ "a" : 1.50,"\u0062":"x" , "c":{"b":1},"b":2 }"#;
    let other = json(text).with_values(|key, value| match key {
        "b" if value.kind() == Kind::String => Some(json("[]")),
        _ => None,
    });
    assert_eq!(
        other.as_str(),
        r#"{ "a" : 1.50,"\u0062":[] , "c":{"b":1},"b":2 }"#
    );
    assert_eq!(json(text).with_values(|_, _| None), json(text));
    for plain in ["{}", "[{\"b\":1}]", "7"] {
        let same = json(plain).with_values(|_, _| Some(json("null")));
        assert_eq!(same, json(plain));
    }
}

/// G2: a member is put before the others, which stay as they are.
#[test]
fn a_first_member_is_added() {
    let with = |text| json(text).with_first("n", &json("\"v\""));
    assert_eq!(with("{ \"a\":1}").as_str(), "{\"n\":\"v\", \"a\":1}");
    assert_eq!(with("{ }").as_str(), "{\"n\":\"v\" }");
    assert_eq!(with("[]").as_str(), "[]");
}

/// S11: one lone surrogate costs a character, not the text.
#[test]
fn lone_surrogates_are_replaced() {
    let text = json(r#"{"\udc00":"\ud83d\ude00\ud800\\ud800\"","n":1.50}"#);
    assert!(text.parse::<serde_json::Value>().is_err());
    let value: serde_json::Value = text.parse_replacing().unwrap();
    assert_eq!(
        value,
        serde_json::json!({"\u{fffd}": "\u{1f600}\u{fffd}\\ud800\"", "n": 1.5})
    );
    assert!(text.parse_replacing::<Vec<u8>>().is_err());
}
