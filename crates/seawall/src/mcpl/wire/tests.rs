use super::*;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).expect("JSON")
}

/// MCPL.md 1.6: invalid parameters are answered with -32602 and say which member and why; nothing of the server's is said.
#[test]
fn the_error_names_the_member() {
    let error = Invalid::new("payload.content", Fault::NoContent).error();
    assert_eq!(
        error.to_json(),
        r#"{"code":-32602,"message":"Invalid params: payload.content shows a reader nothing","data":{"field":"payload.content","reason":"empty-content"}}"#
    );
    let error = Invalid::new("rules", Fault::TooMany).error();
    assert_eq!(
        error.data.expect("data").as_str(),
        r#"{"field":"rules","limit":"rules","reason":"too-many"}"#
    );
}

#[test]
fn a_member_that_stands_twice_is_refused() {
    let twice = members(&json(r#"{"a":1,"b":2,"a":3}"#), "params", ["a"]);
    assert_eq!(twice.err(), Some(Invalid::new("params", Fault::Twice)));
    let other = members(&json(r#"{"a":1,"b":2,"b":3}"#), "params", ["a"]);
    assert_eq!(
        other.expect("read")[0].as_ref().map(Json::as_str),
        Some("1")
    );
}

#[test]
fn texts_are_bounded() {
    let long = |bytes: usize| json(&format!("\"{}\"", "x".repeat(bytes)));
    assert!(name("n", Some(long(MAX_NAME_BYTES))).is_ok());
    let faults = [
        (Some(long(MAX_NAME_BYTES + 1)), Fault::TooLong),
        (Some(long(0)), Fault::Empty),
        (Some(json("null")), Fault::Missing),
        (Some(json("12")), Fault::Kind),
        (None, Fault::Missing),
    ];
    for (member, fault) in faults {
        assert_eq!(name("n", member), Err(Invalid::new("n", fault)));
    }
    assert!(date("d", Some(long(MAX_DATE_CHARS))).is_ok());
    assert!(date("d", Some(long(MAX_DATE_CHARS + 1))).is_err());
}

#[test]
fn kept_values_are_bounded() {
    let object = |bytes: usize| json(&format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8)));
    let kept = optional_object("o", Some(object(MAX_KEPT_BYTES)));
    assert_eq!(kept.expect("kept").expect("present").len(), MAX_KEPT_BYTES);
    let over = optional_object("o", Some(object(MAX_KEPT_BYTES + 1)));
    assert_eq!(over.err(), Some(Invalid::new("o", Fault::TooLong)));
}

/// MCPL.md 1.6: the latest 1000 events are known again; the one before them is not.
#[test]
fn a_thousand_occurrences_are_remembered() {
    let mut seen = Seen::new();
    for n in 0..MAX_SEEN {
        assert!(seen.first(&n.to_string()));
    }
    assert!(!seen.first("0"));
    assert!(!seen.first("999"));
    assert!(seen.first("1000"));
    assert!(seen.first("0"), "the oldest was forgotten");
    assert!(!seen.first("2"));
}
