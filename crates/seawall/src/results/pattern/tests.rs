use super::Part::{Match, NoMatch};
use super::*;

fn owned(parts: &[Part]) -> Option<Vec<Part>> {
    Some(parts.to_vec())
}

/// S11
#[test]
fn leading_and_trailing_look_around_is_divided() {
    let m = |text: &str| Match(text.to_owned());
    let n = |text: &str| NoMatch(text.to_owned());
    for (pattern, expected) in [
        (
            r"^(?!foo)[a-z]+$",
            owned(&[n("^(?:foo)"), m("^(?:[a-z]+$)")]),
        ),
        (
            r"^(?!\.)(?!.*\.\.)(?=[a(]\))x",
            owned(&[
                n(r"^(?:\.)"),
                n(r"^(?:.*\.\.)"),
                m(r"^(?:[a(]\))"),
                m("^x(?:)"),
            ]),
        ),
        (r"^(?=a|b)", owned(&[m("^(?:a|b)"), m("^(?:)")])),
        (
            r"^(?!-)[a-z-]+(?<!-)$",
            owned(&[n("^(?:-)"), m("^(?:[a-z-]+)$"), n("(?:-)$")]),
        ),
        (
            r"x(?<=a)(?<!b)$",
            owned(&[m("(?:x)$"), n("(?:b)$"), m("(?:a)$")]),
        ),
    ] {
        assert_eq!(parts(pattern), expected, "{pattern}");
    }
}

/// S11: what is not the same as its parts is not divided.
#[test]
fn other_look_around_is_not_divided() {
    for pattern in [
        "",
        "^abc$",
        "(?!a)b",
        "^a*(?!b)c$",
        "^a?(?!b)c$",
        "^(?:a)(?!b)c$",
        r"^\b(?!b)c$",
        r"^\u0061(?!b)c$",
        r"^[a\](?!b)c$",
        "^[ab]{2}(?!b)c$",
        "^a(?!b)c|d",
        "^(?:(?!-)[a-z]+)+$",
        "^(?!a)b|c",
        "^(?!a)*b",
        "^(?!a){0}b",
        "^(?!a",
        "^a|b(?<!c)$",
        r"a(?<!b)\$",
        "a(?<!b)[$",
        "a(?<!b)",
        "(a(?<!b))$",
        "a)(?<!b)$",
    ] {
        assert_eq!(parts(pattern), None, "{pattern}");
    }
    let many = |count| format!("^{}x", "(?!a)".repeat(count));
    assert_eq!(
        parts(&many(MAX_LOOKS)).map(|parts| parts.len()),
        Some(MAX_LOOKS + 1)
    );
    assert_eq!(parts(&many(MAX_LOOKS + 1)), None);
    let many = |count| format!("x{}$", "(?<!a)".repeat(count));
    assert_eq!(
        parts(&many(MAX_LOOKS)).map(|parts| parts.len()),
        Some(MAX_LOOKS + 1)
    );
    assert_eq!(parts(&many(MAX_LOOKS + 1)), None);
}
