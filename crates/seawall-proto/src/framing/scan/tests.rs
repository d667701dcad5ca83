//! The structure check against serde_json as an oracle, and by example.

use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::{Child, Kind, scan};

/// serde_json's verdict on the grammar. `IgnoredAny` neither recurses nor decodes: no depth, range or surrogate check.
fn serde_accepts(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The depth of a value that serde_json parsed.
fn depth_of(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Array(elements) => {
            1 + elements.iter().map(depth_of).max().unwrap_or_default()
        }
        serde_json::Value::Object(members) => {
            1 + members.values().map(depth_of).max().unwrap_or_default()
        }
        _ => 0,
    }
}

/// All children as (level, key, value).
fn children(text: &str) -> Vec<(u8, Option<&str>, &str)> {
    let mut found = Vec::new();
    scan(text, |child: &Child| {
        found.push((
            child.level,
            child.key.clone().map(|key| &text[key]),
            &text[child.value.clone()],
        ));
    })
    .unwrap();
    found
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

/// L2: depth is counted, not refused, so that a deep text is told apart from one that is no JSON; also past what the
/// stack keeps without allocating.
#[test]
fn depth_is_the_deepest_nesting() {
    for depth in [1, 2, 127, 128, 129, 255, 256, 257, 384, 385, 100_000] {
        let found = scan(&nested(depth), |_| {}).unwrap();
        assert_eq!(found.depth, depth);
        assert!(scan(&nested(depth)[1..], |_| {}).is_err());
        assert!(scan(&nested(depth)[..2 * depth - 1], |_| {}).is_err());
    }
    for (text, depth) in [
        ("1", 0),
        ("{}", 1),
        ("[[],[[]],1]", 3),
        (r#"{"a":{"b":[]}}"#, 3),
    ] {
        assert_eq!(scan(text, |_| {}).unwrap().depth, depth, "{text}");
    }
}

/// L2: a closing bracket must match the one that it closes, at every depth around the 128 that one word holds.
#[test]
fn brackets_match_across_the_stacks_words() {
    for depth in [1, 127, 128, 129, 256, 257] {
        for odd in 0..depth {
            let mut text = String::new();
            for level in 0..depth {
                text.push_str(if level == odd { "{\"k\":" } else { "[" });
            }
            text.push('1');
            let mut wrong = text.clone();
            for level in (0..depth).rev() {
                text.push(if level == odd { '}' } else { ']' });
                wrong.push(']');
            }
            assert_eq!(scan(&text, |_| {}).unwrap().depth, depth);
            assert!(
                scan(&wrong, |_| {}).is_err(),
                "depth {depth}, object at {odd}"
            );
        }
    }
}

/// L2: numbers that overflow a double are told, and only those.
#[test]
fn finite_tells_numbers_that_overflow_a_double() {
    let digits = |count: usize| "9".repeat(count);
    for (text, finite) in [
        (String::from("1e308"), true),
        (String::from("1.7976931348623157e308"), true),
        (String::from("1.7976931348623159e308"), false),
        (String::from("1e309"), false),
        (String::from("-1e999"), false),
        (String::from("1E+400"), false),
        (String::from("1e-400"), true),
        (String::from("0e999999999999"), true),
        (String::from("1e99999999999999999999"), false),
        (digits(308), true),
        (digits(310), false),
        (digits(400), false),
        (format!("-{}", digits(400)), false),
        (format!("{}.5", digits(400)), false),
        (format!("0.{}", digits(400)), true),
        (format!("{}e-200", digits(400)), true),
        (String::from("123456789012345678901234567890"), true),
    ] {
        assert_eq!(scan(&text, |_| {}).unwrap().finite, finite, "{text}");
        let inside = format!("{{\"a\":[1,{text},2]}}");
        assert_eq!(scan(&inside, |_| {}).unwrap().finite, finite, "{inside}");
    }
}

#[test]
fn children_of_the_root_and_grandchildren_through_objects_are_told() {
    assert_eq!(
        children(r#" { "a" : { "b" : [ 1 , {"x":2} ] , "c":null } , "d":[ {"e":3} ], "f":"g" } "#),
        [
            (2, Some("b"), r#"[ 1 , {"x":2} ]"#),
            (2, Some("c"), "null"),
            (1, Some("a"), r#"{ "b" : [ 1 , {"x":2} ] , "c":null }"#),
            (1, Some("d"), r#"[ {"e":3} ]"#),
            (1, Some("f"), "\"g\""),
        ]
    );
}

/// An element has no key, whatever stood before it.
#[test]
fn elements_have_no_key() {
    assert_eq!(
        children(r#"[{"a":1,"b":{"c":2}}, 3, [{"d":4}], "e", {}, null]"#),
        [
            (1, None, r#"{"a":1,"b":{"c":2}}"#),
            (1, None, "3"),
            (1, None, r#"[{"d":4}]"#),
            (1, None, "\"e\""),
            (1, None, "{}"),
            (1, None, "null"),
        ]
    );
}

#[test]
fn scalar_roots_have_no_children() {
    for (text, kind) in [
        ("\"x\"", Kind::String),
        ("-0.5e+1", Kind::Number),
        ("true", Kind::Bool),
        ("false", Kind::Bool),
        ("null", Kind::Null),
    ] {
        let found = scan(text, |_| panic!("{text} has no children")).unwrap();
        assert_eq!((found.root, found.depth), (kind, 0));
    }
}

/// By example, each checked against the oracle too: what RFC 8259 has and has not.
#[test]
fn grammar_by_example() {
    let good = [
        "0",
        "-0",
        "0.0",
        "1e1",
        "1E-1",
        "10",
        "[]",
        "{}",
        " \t\r\n[ ] ",
        "[1,2]",
        r#"{"a":1,"a":2}"#,
        r#""\u0000\uD800\"\\\/\b\f\n\r\t""#,
        "\"\u{7f}\u{2028}\u{fffd}\"",
        "[[],{}]",
    ];
    let bad = [
        "",
        " ",
        "01",
        "-",
        "-a",
        "+1",
        ".5",
        "1.",
        "1.e1",
        "1e",
        "1e+",
        "0x1",
        "00",
        "NaN",
        "Infinity",
        "tru",
        "truex",
        "True",
        "nul",
        "[",
        "]",
        "{",
        "}",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:2}",
        "{\"a\" 1}",
        "[}",
        "{]",
        "1 2",
        "[] []",
        "\"",
        "\"\n\"",
        "\"\t\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\",
        "'a'",
        "/**/1",
        "1//",
        "\u{feff}1",
        "\u{a0}1",
        "\u{c}1",
        "\u{b}1",
    ];
    for text in good {
        assert!(serde_accepts(text), "oracle, {text:?}");
        assert!(scan(text, |_| {}).is_ok(), "{text:?}");
    }
    for text in bad {
        assert!(!serde_accepts(text), "oracle, {text:?}");
        assert!(scan(text, |_| {}).is_err(), "{text:?}");
    }
}

/// A long string is looked at in blocks: what stops it is found at every place.
#[test]
fn control_characters_and_quotes_are_found_at_every_offset_of_long_strings() {
    for length in [1, 31, 32, 33, 63, 64, 65, 100] {
        for at in 0..length {
            let mut inside = vec![b'x'; length];
            inside[at] = 0x1f;
            let text = format!("\"{}\"", String::from_utf8(inside.clone()).unwrap());
            assert_eq!(scan(&text, |_| {}).unwrap_err().at, at + 1);
            inside[at] = b'"';
            let text = format!("\"{}\"", String::from_utf8(inside).unwrap());
            assert_eq!(scan(&text, |_| {}).is_ok(), at == length, "{text}");
        }
    }
}

/// Any JSON text, at most a few levels deep.
pub(crate) fn json_text() -> impl Strategy<Value = String> {
    let space = prop_oneof![6 => Just(""), 1 => Just(" "), 1 => Just("\n\t "), 1 => Just("\r")];
    let string = prop_oneof![
        Just(String::from("\"\"")),
        "\"[a-zé😀 ]{0,40}\"",
        Just(String::from(r#""\u00e9\ud83d\ude00\n\"""#)),
        Just(String::from(r#""\ud800""#)),
    ];
    let leaf = prop_oneof![
        string.clone(),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?",
        prop_oneof![Just("true"), Just("false"), Just("null")].prop_map(String::from),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let item = (space.clone(), inner, space.clone());
        let member = (space.clone(), string.clone(), space.clone(), item.clone());
        prop_oneof![
            prop::collection::vec(item, 0..6).prop_map(|items| {
                let items: Vec<_> = items.iter().map(|(a, v, b)| format!("{a}{v}{b}")).collect();
                format!("[{}]", items.join(","))
            }),
            prop::collection::vec(member, 0..6).prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(a, key, b, (c, v, d))| format!("{a}{key}{b}:{c}{v}{d}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn check_against_serde(text: &str) -> Result<(), TestCaseError> {
    let mut spans = Vec::new();
    let found = scan(text, |child| spans.push(child.clone()));
    prop_assert_eq!(found.is_ok(), serde_accepts(text), "{}", text);
    let Ok(found) = found else {
        return Ok(());
    };
    for child in &spans {
        let part = &text[child.value.clone()];
        prop_assert!(serde_accepts(part), "child {}", part);
        prop_assert_eq!(part.trim(), part);
        prop_assert_eq!(scan(part, |_| {}).unwrap().root, child.kind);
    }
    // serde refuses what a double or a Rust string cannot hold; where it does not, the whole picture must agree.
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
        prop_assert!(found.finite, "{}", text);
        let told = |level| spans.iter().filter(|child| child.level == level).count();
        match &value {
            serde_json::Value::Array(elements) => {
                prop_assert_eq!(told(1), elements.len());
                prop_assert!(spans.iter().all(|child| child.key.is_none()));
                let parts: Vec<serde_json::Value> = spans
                    .iter()
                    .map(|child| serde_json::from_str(&text[child.value.clone()]).unwrap())
                    .collect();
                prop_assert_eq!(&parts, elements);
            }
            serde_json::Value::Object(members) => {
                prop_assert!(told(1) >= members.len());
                prop_assert!(spans.iter().all(|child| child.key.is_some()));
            }
            _ => prop_assert!(spans.is_empty()),
        }
        if !text.contains('\\') && !has_duplicate_keys(&spans, text) {
            prop_assert_eq!(found.depth >= depth_of(&value), true);
        }
    }
    Ok(())
}

fn has_duplicate_keys(spans: &[Child], text: &str) -> bool {
    let mut keys: Vec<&str> = spans
        .iter()
        .filter_map(|child| child.key.clone())
        .map(|key| &text[key])
        .collect();
    keys.sort_unstable();
    let all = keys.len();
    keys.dedup();
    keys.len() != all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn json_texts_are_accepted_as_serde_accepts_them(text in json_text()) {
        prop_assert!(serde_accepts(&text), "the generator makes JSON: {}", text);
        check_against_serde(&text)?;
    }

    #[test]
    fn mutated_texts_are_judged_as_serde_judges_them(
        text in json_text(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..3, prop::sample::select(
            vec!['{', '}', '[', ']', '"', '\\', ',', ':', '0', '1', '-', '+', '.', 'e', 't', 'n', 'u', ' ', '\n', '\u{1}', 'é'],
        )), 1..4),
    ) {
        let mut characters: Vec<char> = text.chars().collect();
        for (index, kind, character) in edits {
            if characters.is_empty() {
                break;
            }
            let at = index.index(characters.len());
            match kind {
                0 => characters[at] = character,
                1 => characters.insert(at, character),
                _ => drop(characters.remove(at)),
            }
        }
        check_against_serde(&characters.into_iter().collect::<String>())?;
    }

    #[test]
    fn any_text_is_judged_as_serde_judges_it(text in "[\\[\\]{}\",:0-9eE+.tfn\\\\u a-]{0,24}") {
        check_against_serde(&text)?;
    }
}

/// L3: a run without a quote, a backslash or a control character ends at the first of them, wherever it stands.
#[test]
fn plain_run_ends_at_the_first_stop() {
    for length in [0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100] {
        let plain = vec![b'x'; length];
        assert_eq!(super::plain_run(&plain), length);
        for at in 0..length {
            for byte in 0..=u8::MAX {
                let mut bytes = plain.clone();
                bytes[at] = byte;
                let stops = byte == b'"' || byte == b'\\' || byte < 0x20;
                assert_eq!(super::plain_run(&bytes), if stops { at } else { length });
                // A second one behind it changes nothing.
                if let Some(last) = bytes.last_mut().filter(|_| stops && at + 1 < length) {
                    *last = b'"';
                    assert_eq!(super::plain_run(&bytes), at);
                }
            }
        }
    }
}
