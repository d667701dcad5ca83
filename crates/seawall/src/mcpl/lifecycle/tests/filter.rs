use super::*;
use crate::mcpl::wire::{Fault, Invalid};

fn fault(params: &str) -> Option<(&'static str, Fault)> {
    let invalid: Invalid = Filter::parse(Some(&json(params))).err()?;
    Some((invalid.field(), invalid.fault()))
}

fn rule(rule: &str) -> String {
    format!(r#"{{"rules":[{rule}]}}"#)
}

/// RFC-007, section 13: what is a filter, and what clears one.
#[test]
fn sound_filters_are_taken() {
    let astral = "🙂".repeat(256);
    let sound = [
        r#"{"rules":[]}"#.to_owned(),
        r#"{"rules":[],"_meta":{"progressToken":"x"}}"#.to_owned(),
        rule(r#"{"match":{},"input":true}"#),
        rule(r#"{"match":{},"input":false}"#),
        rule(r#"{"match":{},"input":[]}"#),
        rule(r#"{"match":{},"input":["a","target.window_id",".","a..b"]}"#),
        rule(r#"{"match":{"tool":"","serverTool":"*","serverId":"a?[]\\","conversationId":"**"}}"#),
        rule(&format!(
            r#"{{"match":{{"tool":"{astral}"}},"input":["{astral}"]}}"#
        )),
        rule(r#"{"match":{"class":"comms"},"report":false}"#),
    ];
    for params in sound {
        assert!(
            matches!(Filter::parse(Some(&json(&params))), Ok(Some(_))),
            "{params}"
        );
    }
    assert_eq!(Filter::parse(None), Ok(None));
    for clear in ["{}", r#"{"rules":null}"#, r#"{"_meta":{}}"#] {
        assert_eq!(Filter::parse(Some(&json(clear))), Ok(None), "{clear}");
    }
}

/// RFC-007, sections 6.1 and 6.6 and vectors 44 and 54: an unknown member anywhere is refused, and so is everything that is
/// not what it has to be.
#[test]
fn unknown_members_and_wrong_values_are_refused() {
    let long = "x".repeat(257);
    let (kind, unknown) = (Fault::Kind, Fault::Unknown);
    let bad = [
        ("null".to_owned(), "params", kind),
        ("[]".to_owned(), "params", kind),
        ("\"x\"".to_owned(), "params", kind),
        (r#"{"ruless":[]}"#.to_owned(), "params", unknown),
        (
            r#"{"rules":[],"rules":null}"#.to_owned(),
            "params",
            Fault::Twice,
        ),
        (r#"{"_meta":null}"#.to_owned(), "_meta", kind),
        (r#"{"_meta":[]}"#.to_owned(), "_meta", kind),
        (r#"{"rules":{}}"#.to_owned(), "rules", kind),
        (rule("null"), "rules[]", kind),
        (rule("[]"), "rules[]", kind),
        (rule("{}"), "rules[].match", Fault::Missing),
        (rule(r#"{"match":null}"#), "rules[].match", kind),
        (rule(r#"{"match":{},"reportt":false}"#), "rules[]", unknown),
        (rule(r#"{"match":{},"_meta":{}}"#), "rules[]", unknown),
        (
            rule(r#"{"match":{"module":"x"}}"#),
            "rules[].match",
            unknown,
        ),
        (
            rule(r#"{"match":{"class":"quantum"}}"#),
            "rules[].match.class",
            kind,
        ),
        (
            rule(r#"{"match":{"class":["shell"]}}"#),
            "rules[].match.class",
            kind,
        ),
        (rule(r#"{"match":{"tool":12}}"#), "rules[].match.tool", kind),
        (
            rule(r#"{"match":{"tool":null}}"#),
            "rules[].match.tool",
            kind,
        ),
        (
            rule(r#"{"match":{"tool":"a","tool":"b"}}"#),
            "rules[].match",
            Fault::Twice,
        ),
        (
            rule(&format!(r#"{{"match":{{"serverTool":"{long}"}}}}"#)),
            "rules[].match.serverTool",
            Fault::TooLong,
        ),
        (
            rule(&format!(r#"{{"match":{{"serverId":"{long}"}}}}"#)),
            "rules[].match.serverId",
            Fault::TooLong,
        ),
        (
            rule(&format!(r#"{{"match":{{"conversationId":"{long}"}}}}"#)),
            "rules[].match.conversationId",
            Fault::TooLong,
        ),
        (
            rule(r#"{"match":{},"report":"no"}"#),
            "rules[].report",
            kind,
        ),
        (
            rule(r#"{"match":{},"report":null}"#),
            "rules[].report",
            kind,
        ),
        (rule(r#"{"match":{},"input":null}"#), "rules[].input", kind),
        (rule(r#"{"match":{},"input":3}"#), "rules[].input", kind),
        (
            rule(r#"{"match":{},"input":[""]}"#),
            "rules[].input",
            Fault::Empty,
        ),
        (rule(r#"{"match":{},"input":[3]}"#), "rules[].input", kind),
        (
            rule(&format!(r#"{{"match":{{}},"input":["{long}"]}}"#)),
            "rules[].input",
            Fault::TooLong,
        ),
    ];
    for (params, field, expected) in bad {
        assert_eq!(fault(&params), Some((field, expected)), "{params}");
    }
}

/// RFC-007, section 6.6 and vector 45: bounds, and the member that names the one that was passed.
#[test]
fn filters_are_bounded() {
    let rules = |count: usize| rule(&vec![r#"{"match":{}}"#; count].join(","));
    assert_eq!(fault(&rules(MAX_RULES)), None);
    assert_eq!(
        fault(&rules(MAX_RULES + 1)),
        Some(("rules", Fault::TooMany))
    );
    let paths = |count: usize| {
        rule(&format!(
            r#"{{"match":{{}},"input":[{}]}}"#,
            vec![r#""a""#; count].join(",")
        ))
    };
    assert_eq!(fault(&paths(MAX_PATHS)), None);
    assert_eq!(
        fault(&paths(MAX_PATHS + 1)),
        Some(("rules[].input", Fault::TooMany))
    );
    let error = Filter::parse(Some(&json(&rules(MAX_RULES + 1))))
        .expect_err("refused")
        .error();
    let limit = error.data.expect("data").member("limit").expect("a limit");
    assert_eq!((error.code, limit.as_str()), (-32602, "\"rules\""));
}

/// RFC-007, section 6.2: one wildcard, the whole text, case counts, nothing else is special.
#[test]
fn a_glob_matches_the_whole_text() {
    let matching = [
        ("", ""),
        ("*", ""),
        ("*", "any"),
        ("**", "x"),
        ("a", "a"),
        ("a*", "a"),
        ("a*", "abc"),
        ("*c", "abc"),
        ("a*c", "abbc"),
        ("a*b*c", "axbxbxc"),
        ("*ab*", "xabx"),
        ("a?[x]", "a?[x]"),
        ("ü*", "üb"),
        ("*aab", "aaaab"),
    ];
    let other = [
        ("", "a"),
        ("a", "ab"),
        ("a", "A"),
        ("a*a", "a"),
        ("ab*bc", "abc"),
        ("a?", "ab"),
        ("*b*", "aca"),
        ("a*", "ba"),
        ("*aab", "aaba"),
    ];
    for (pattern, text) in matching {
        assert!(Glob::new(pattern).matches(text), "{pattern} {text}");
    }
    for (pattern, text) in other {
        assert!(!Glob::new(pattern).matches(text), "{pattern} {text}");
    }
    let hostile = Glob::new("a*".repeat(128));
    assert!(!hostile.matches(&"b".repeat(1_000_000)));
    assert!(!Glob::new(format!("{}b", "*a".repeat(128))).matches(&"a".repeat(1_000_000)));
}
