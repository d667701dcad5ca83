use super::super::content::{Provenance, References};
use super::*;

const CONTENT: &str = r#"{"content":[{"type":"text","text":"a commit"}]}"#;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).expect("JSON")
}

/// The parameters with this payload and these members after it.
fn params(payload: &str, rest: &str) -> Json {
    json(&format!(
        r#"{{"featureSet":"git.notes","eventId":"evt_1","timestamp":"2026-01-23T10:30:00Z","payload":{payload}{rest}}}"#
    ))
}

fn fault(params: &Json) -> Option<(&'static str, Fault)> {
    let invalid = PushEvent::of(params).err()?;
    Some((invalid.field(), invalid.fault()))
}

/// SPEC, section 9.2: the members of an event.
#[test]
fn an_event_is_read() {
    let params = params(
        CONTENT,
        r#","origin":{"webhook":"push"},"tags":["chat:mention"],"new":1"#,
    );
    let mut event = PushEvent::of(&params).expect("an event");
    assert_eq!(
        (event.feature_set(), event.event_id(), event.timestamp()),
        ("git.notes", "evt_1", "2026-01-23T10:30:00Z")
    );
    assert_eq!(
        event.origin().map(Json::as_str),
        Some(r#"{"webhook":"push"}"#)
    );
    assert!(event.tags().is_addressed());
    assert_eq!(event.content().shown(), "a commit");
    References::new().admit(event.content_mut(), Provenance::PushEvent);
    assert!(!format!("{event:?}").contains("a commit"));
}

/// MCPL.md 1.6, RFC-006 section 13: an event without content is -32602 and names the member.
#[test]
fn an_event_without_content_is_refused() {
    let empty = [
        ("null", "payload", Fault::Missing),
        ("{}", "payload.content", Fault::Missing),
        (r#"{"content":[]}"#, "payload.content", Fault::NoContent),
        (
            r#"{"content":[{"type":"text","text":"  "}]}"#,
            "payload.content",
            Fault::NoContent,
        ),
        (
            r#"{"content":[{"type":"text"}]}"#,
            "payload.content",
            Fault::NoContent,
        ),
        (r#"{"content":"text"}"#, "payload.content", Fault::Kind),
        (r#"{"content":[],"content":[]}"#, "payload", Fault::Twice),
        ("[]", "payload", Fault::Kind),
    ];
    for (payload, field, expected) in empty {
        assert_eq!(
            fault(&params(payload, "")),
            Some((field, expected)),
            "{payload}"
        );
    }
    let error = PushEvent::of(&params(r#"{"content":[]}"#, ""))
        .expect_err("refused")
        .error();
    assert_eq!(error.code, -32602);
}

/// SPEC, section 9.2: what is required is required, and nothing is longer than its bound.
#[test]
fn a_member_that_is_missing_or_too_long_is_refused() {
    let with = |feature_set: &str, id: &str, timestamp: &str| {
        json(&format!(
            r#"{{"featureSet":{feature_set},"eventId":{id},"timestamp":{timestamp},"payload":{CONTENT}}}"#
        ))
    };
    let (name, date) = (r#""x""#, r#""2026-01-23""#);
    let long = format!("\"{}\"", "x".repeat(wire::MAX_NAME_BYTES + 1));
    assert_eq!(fault(&with(name, name, date)), None);
    let bad = [
        (with("null", name, date), "featureSet", Fault::Missing),
        (with("12", name, date), "featureSet", Fault::Kind),
        (with(name, r#""""#, date), "eventId", Fault::Empty),
        (with(name, &long, date), "eventId", Fault::TooLong),
        (with(name, name, &long), "timestamp", Fault::TooLong),
        (params(CONTENT, r#","origin":"me""#), "origin", Fault::Kind),
        (
            params(CONTENT, r#","eventId":"evt_2""#),
            "params",
            Fault::Twice,
        ),
        (json("[]"), "params", Fault::Kind),
    ];
    for (params, field, expected) in bad {
        assert_eq!(
            fault(&params),
            Some((field, expected)),
            "{}",
            params.as_str()
        );
    }
    let strange = PushEvent::of(&params(CONTENT, r#","tags":["chat:dm","no namespace",1]"#));
    assert_eq!(strange.expect("tags refuse nothing").tags().ignored(), 2);
}

/// RFC-006, sections 10 and 13 and vectors 15 and 38: what is not offered is refused, and so is a malformed subject; a plain
/// one is ignored.
#[test]
fn coalescing_is_ignored_or_refused() {
    let with = |coalesce: &str| params(CONTENT, &format!(r#","coalesce":{coalesce}"#));
    let key = |bytes: usize| format!(r#"{{"key":"{}"}}"#, "k".repeat(bytes));
    for plain in [
        key(1),
        key(256),
        r#"{"key":"battery","retract":true}"#.to_owned(),
        r#"{"key":"battery","deferred":false,"later":1}"#.to_owned(),
    ] {
        assert_eq!(fault(&with(&plain)), None, "{plain}");
    }
    let bad = [
        (key(257), "coalesce.key", Fault::TooLong),
        (key(0), "coalesce.key", Fault::Empty),
        ("{}".to_owned(), "coalesce.key", Fault::Missing),
        (r#"{"key":7}"#.to_owned(), "coalesce.key", Fault::Kind),
        ("true".to_owned(), "coalesce", Fault::Kind),
        (
            r#"{"key":"k","channelId":"c"}"#.to_owned(),
            "coalesce.channelId",
            Fault::NotOffered,
        ),
        (
            r#"{"key":"k","deferred":true}"#.to_owned(),
            "coalesce.deferred",
            Fault::NotOffered,
        ),
        (
            r#"{"key":"k","deferred":true,"retract":true}"#.to_owned(),
            "coalesce.retract",
            Fault::Contradiction,
        ),
        (
            r#"{"key":"k","data":1}"#.to_owned(),
            "coalesce.data",
            Fault::Contradiction,
        ),
        (
            r#"{"key":"k","retract":"yes"}"#.to_owned(),
            "coalesce.retract",
            Fault::Kind,
        ),
    ];
    for (coalesce, field, expected) in bad {
        assert_eq!(
            fault(&with(&coalesce)),
            Some((field, expected)),
            "{coalesce}"
        );
    }
}

/// SPEC, section 9.4: an event that was seen is a duplicate; one that was refused for its shape is not seen.
#[test]
fn an_event_told_twice_is_a_duplicate() {
    let mut seen = Seen::new();
    let event = PushEvent::of(&params(CONTENT, "")).expect("an event");
    assert!(seen.first(event.event_id()));
    assert!(!seen.first(event.event_id()));
    assert_eq!(
        duplicate().as_str(),
        r#"{"accepted":false,"reason":"duplicate"}"#
    );
}

/// SPEC, section 9.3: the answers.
#[test]
fn answers_have_their_shape() {
    assert_eq!(accepted(None).as_str(), r#"{"accepted":true}"#);
    assert_eq!(
        accepted(Some("inf_1")).as_str(),
        r#"{"accepted":true,"inferenceId":"inf_1"}"#
    );
}
