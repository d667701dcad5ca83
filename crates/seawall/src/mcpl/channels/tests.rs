use super::*;
use crate::mcpl::wire::{Fault, Invalid, Seen};
use seawall_proto::Json;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).expect("JSON")
}

/// A descriptor of a channel that goes both ways, with these members after it.
fn descriptor(id: &str, rest: &str) -> String {
    format!(r#"{{"id":"{id}","type":"chat","label":"A room","direction":"bidirectional"{rest}}}"#)
}

fn registry(descriptors: &[String]) -> Registry {
    let mut registry = Registry::new();
    let params = json(&format!(r#"{{"channels":[{}]}}"#, descriptors.join(",")));
    let taken = registry.register(&params, |_| true).expect("channels");
    assert!(
        taken.iter().all(|verdict| verdict.outcome.is_ok()),
        "{taken:?}"
    );
    registry
}

fn declares(target: &str) -> String {
    format!(r#","capabilities":{{"history":{{}},"publish":{{"target":"{target}"}}}}"#)
}

fn outcomes(verdicts: &[Verdict]) -> Vec<(Option<&str>, Option<Reason>)> {
    verdicts
        .iter()
        .map(|verdict| (verdict.id.as_deref(), verdict.outcome.err()))
        .collect()
}

/// A message of the channel `room`, with these members after it.
fn message(id: &str, rest: &str) -> String {
    message_of("room", id, rest)
}

fn message_of(channel: &str, id: &str, rest: &str) -> String {
    format!(
        r#"{{"channelId":"{channel}","messageId":"{id}","author":{{"id":"u","name":"Alice"}},"timestamp":"2026-03-05T10:30:00Z","content":[{{"type":"text","text":"hi"}}]{rest}}}"#
    )
}

fn received(registry: &Registry, seen: &mut Seen, messages: &[String]) -> Vec<Option<Reason>> {
    let params = json(&format!(r#"{{"messages":[{}]}}"#, messages.join(",")));
    let received = receive(&params, registry, seen).expect("a batch");
    received.into_iter().map(|one| one.outcome.err()).collect()
}

/// SPEC, section 14.2: the members of a descriptor; RFC-011, vector 1: what it declares grants nothing and stays readable.
#[test]
fn a_descriptor_is_read() {
    let text = descriptor(
        "discord:#general",
        &format!(
            r#","initiallyOpen":true,"address":{{"guild":"acme"}}{}"#,
            declares("exact")
        ),
    );
    let described = Descriptor::of(&json(&text)).expect("a descriptor");
    assert_eq!(
        (
            described.id(),
            described.kind(),
            described.label(),
            described.direction()
        ),
        (
            "discord:#general",
            "chat",
            "A room",
            Direction::Bidirectional
        )
    );
    assert!(described.is_initially_open());
    assert_eq!(described.capabilities().target, Some(Target::Exact));
    assert_eq!(described.json().as_str(), text);
    for undeclared in [
        "",
        r#","capabilities":null"#,
        &declares("nearly"),
        r#","capabilities":{"publish":{"target":true}}"#,
    ] {
        let described = Descriptor::of(&json(&descriptor("a", undeclared)));
        assert_eq!(described.expect("a descriptor").capabilities().target, None);
    }
}

/// SPEC, section 14.5: each descriptor is judged for itself, and each has a verdict.
#[test]
fn nothing_is_let_in_with_another_descriptor() {
    let mut registry = Registry::new();
    let params = json(&format!(
        r#"{{"channels":[{},{},{{"id":"half","type":"chat"}},{},{},17]}}"#,
        descriptor("general", ""),
        descriptor("admin", ""),
        descriptor("general", ""),
        descriptor("up", "").replace("bidirectional", "sideways"),
    ));
    let taken = registry
        .register(&params, |descriptor| descriptor.id() != "admin")
        .expect("channels");
    assert_eq!(
        outcomes(&taken),
        [
            (Some("general"), None),
            (Some("admin"), Some(Reason::Denied)),
            (Some("half"), Some(Reason::Invalid)),
            (Some("general"), Some(Reason::Repeated)),
            (Some("up"), Some(Reason::Invalid)),
            (None, Some(Reason::Invalid)),
        ]
    );
    assert_eq!(registry.len(), 1);
    assert_eq!(
        verdicts(&taken[..2]).as_str(),
        r#"{"registered":["general"],"results":[{"accepted":true,"id":"general"},{"accepted":false,"id":"admin","reason":"capability_denied"}]}"#
    );
}

/// SPEC, section 14.3: what is removed goes, what is added comes, what is updated has to be known and stays as open as it was.
#[test]
fn a_change_is_taken_item_by_item() {
    let mut registry = registry(&[descriptor("a", ""), descriptor("b", "")]);
    let opened = json(&format!(r#"{{"channel":{}}}"#, descriptor("a", "")));
    registry.opened(Some("a"), &opened, |_| true).expect("open");
    let params = json(&format!(
        r#"{{"added":[{}],"removed":["b","never"],"updated":[{},{},{}]}}"#,
        descriptor("c", ""),
        descriptor("a", "").replace("A room", "Renamed"),
        descriptor("b", ""),
        descriptor("c", ""),
    ));
    let changed = registry.changed(&params, |_| true).expect("changed");
    assert_eq!(changed.removed, ["b"]);
    assert_eq!(
        outcomes(&changed.verdicts),
        [
            (Some("c"), None),
            (Some("a"), None),
            (Some("b"), Some(Reason::UnknownChannel)),
            (Some("c"), Some(Reason::Repeated)),
        ]
    );
    let channel = registry.get("a").expect("a channel");
    assert_eq!(
        (channel.descriptor().label(), channel.state()),
        ("Renamed", ChannelState::Open)
    );
    registry.closed("a");
    assert_eq!(
        registry.get("a").map(Channel::state),
        Some(ChannelState::Closed)
    );
    assert!(registry.get("b").is_none());
}

/// MCPL.md 1.6: parameters that are no list are -32602, and change nothing.
#[test]
fn a_malformed_request_changes_nothing() {
    let mut registry = registry(&[descriptor("a", "")]);
    for params in [
        "[]",
        "{}",
        r#"{"channels":{}}"#,
        r#"{"channels":[],"channels":[]}"#,
    ] {
        assert!(
            registry.register(&json(params), |_| true).is_err(),
            "{params}"
        );
    }
    for params in [
        r#"{"removed":"a"}"#,
        r#"{"removed":["a"],"added":{}}"#,
        r#"{"removed":["a",1]}"#,
    ] {
        assert!(
            registry.changed(&json(params), |_| true).is_err(),
            "{params}"
        );
    }
    assert!(registry.get("a").is_some());
}

/// MCPL.md 1.6: a connection has so many channels and no more, and a descriptor so many bytes.
#[test]
fn channels_and_descriptors_are_bounded() {
    let many: Vec<String> = (0..MAX_CHANNELS)
        .map(|n| descriptor(&n.to_string(), ""))
        .collect();
    let mut registry = registry(&many);
    let mut submit = |text: &str| {
        let params = json(&format!(r#"{{"channels":[{text}]}}"#));
        let taken = registry.register(&params, |_| true).expect("channels");
        taken.first().and_then(|verdict| verdict.outcome.err())
    };
    assert_eq!(submit(&descriptor("more", "")), Some(Reason::TooMany));
    assert_eq!(submit(&descriptor("7", "")), None);
    let plain = descriptor("7", r#","metadata":{"pad":""}"#).len();
    let padded = |bytes: usize| {
        descriptor(
            "7",
            &format!(r#","metadata":{{"pad":"{}"}}"#, "x".repeat(bytes - plain)),
        )
    };
    assert_eq!(submit(&padded(MAX_DESCRIPTOR_BYTES)), None);
    assert_eq!(
        submit(&padded(MAX_DESCRIPTOR_BYTES + 1)),
        Some(Reason::Invalid)
    );
}

/// SPEC, section 14.3: an answer to an opening that names another channel opens nothing.
#[test]
fn only_the_channel_that_was_asked_for_is_opened() {
    let mut registry = registry(&[descriptor("a", ""), descriptor("b", "")]);
    let other = json(&format!(r#"{{"channel":{}}}"#, descriptor("b", "")));
    let refused =
        |registry: &mut Registry, result: &Json| registry.opened(Some("a"), result, |_| true).err();
    assert_eq!(refused(&mut registry, &other), Some(Reason::UnknownChannel));
    assert_eq!(refused(&mut registry, &json("{}")), Some(Reason::Invalid));
    assert!(
        registry
            .iter()
            .all(|channel| channel.state() == ChannelState::Closed)
    );
    let new = json(&format!(r#"{{"channel":{}}}"#, descriptor("c", "")));
    assert_eq!(
        registry.opened(None, &new, |_| false).err(),
        Some(Reason::Denied)
    );
    assert!(registry.opened(None, &new, |_| true).is_ok());
    assert_eq!(registry.len(), 3);
}

/// SPEC, section 14.5: a message is checked against the channels that are registered when it is received.
#[test]
fn a_message_of_an_unregistered_channel_is_refused() {
    let mut registry = registry(&[
        descriptor("room", ""),
        descriptor("mute", "").replace("bidirectional", "outbound"),
    ]);
    let mut seen = Seen::new();
    let batch = [
        message("1", ""),
        message_of("admin", "2", ""),
        message_of("mute", "3", ""),
    ];
    assert_eq!(
        received(&registry, &mut seen, &batch),
        [None, Some(Reason::UnknownChannel), Some(Reason::Outbound)]
    );
    registry
        .changed(&json(r#"{"removed":["room"]}"#), |_| true)
        .expect("changed");
    let after = received(&registry, &mut seen, &[message("4", "")]);
    assert_eq!(after, [Some(Reason::UnknownChannel)]);
}

/// SPEC, section 14.3 and RFC-006, vector 38: one message that is refused refuses no other.
#[test]
fn each_message_has_a_result() {
    let registry = registry(&[descriptor("room", "")]);
    let mut seen = Seen::new();
    let bad = |member: &str, value: &str| message("x", "").replace(member, value);
    let batch = [
        message("1", r#","coalesce":{"key":"message:1"}"#),
        message("2", r#","coalesce":{"key":"k","deferred":true}"#),
        message("3", r#","coalesce":{"key":"k","channelId":"room"}"#),
        message("4", r#","coalesce":{"key":""}"#),
        bad(r#"[{"type":"text","text":"hi"}]"#, "[]"),
        bad(r#"[{"type":"text","text":"hi"}]"#, r#""hi""#),
        bad(r#"{"id":"u","name":"Alice"}"#, r#""Alice""#),
        bad(r#""messageId":"x","#, ""),
        bad("2026-03-05T10:30:00Z", ""),
        "null".to_owned(),
        message("5", r#","threadId":"t","tags":["chat:dm"],"metadata":{}"#),
    ];
    let invalid = Some(Reason::Invalid);
    let coalesce = Some(Reason::Coalesce);
    assert_eq!(
        received(&registry, &mut seen, &batch),
        [
            None,
            coalesce,
            coalesce,
            coalesce,
            Some(Reason::EmptyContent),
            invalid,
            invalid,
            invalid,
            invalid,
            invalid,
            None,
        ]
    );
    let told = [
        MessageResult {
            message_id: Some("1".into()),
            outcome: Ok(Some("conv_1".into())),
        },
        MessageResult {
            message_id: Some("2".into()),
            outcome: Err(Reason::Coalesce),
        },
        MessageResult {
            message_id: None,
            outcome: Err(Reason::Invalid),
        },
        MessageResult {
            message_id: Some("5".into()),
            outcome: Ok(None),
        },
    ];
    assert_eq!(
        results(&told).as_str(),
        concat!(
            r#"{"results":[{"accepted":true,"conversationId":"conv_1","messageId":"1"},"#,
            r#"{"accepted":false,"messageId":"2","reason":"coalesce_invalid"},"#,
            r#"{"accepted":false,"messageId":null,"reason":"invalid"},"#,
            r#"{"accepted":true,"messageId":"5"}]}"#
        )
    );
}

/// RFC-006, vector 8: a new occurrence of a message is no duplicate; the same one again is, unless it was refused.
#[test]
fn an_occurrence_that_comes_twice_is_a_duplicate() {
    let registry = registry(&[descriptor("room", ""), descriptor("other", "")]);
    let mut seen = Seen::new();
    let mut one = |text: String| received(&registry, &mut seen, &[text]).remove(0);
    let duplicate = Some(Reason::Duplicate);
    assert_eq!(one(message("m", r#","eventId":"a""#)), None);
    assert_eq!(one(message("m", r#","eventId":"b""#)), None);
    assert_eq!(one(message("m", r#","eventId":"a""#)), duplicate);
    assert_eq!(one(message("m", "")), None, "neither event names it");
    assert_eq!(one(message("m", "")), duplicate);
    assert_eq!(one(message_of("other", "m", "")), None);
    let empty = message("n", "").replace("\"hi\"", "\" \"");
    assert_eq!(one(empty), Some(Reason::EmptyContent));
    assert_eq!(one(message("n", "")), None);
}

/// RFC-011, section 3: a channel without threads brings no message in one.
#[test]
fn a_thread_on_a_channel_without_threads_is_refused() {
    let registry = registry(&[descriptor("room", &declares("root"))]);
    let batch = [
        message("1", r#","threadId":"t""#),
        message("2", r#","threadId":null"#),
    ];
    assert_eq!(
        received(&registry, &mut Seen::new(), &batch),
        [Some(Reason::ThreadOnRoot), None]
    );
}

/// MCPL.md 1.6: a batch has so many messages and no more.
#[test]
fn a_batch_is_bounded() {
    let registry = registry(&[descriptor("room", "")]);
    let batch = |count: usize| {
        let messages: Vec<String> = (0..count).map(|n| message(&n.to_string(), "")).collect();
        json(&format!(r#"{{"messages":[{}]}}"#, messages.join(",")))
    };
    let taken = receive(&batch(MAX_MESSAGES), &registry, &mut Seen::new());
    assert_eq!(taken.expect("a batch").len(), MAX_MESSAGES);
    let over = receive(&batch(MAX_MESSAGES + 1), &registry, &mut Seen::new());
    assert_eq!(over.err().map(Invalid::fault), Some(Fault::TooMany));
    for params in ["{}", r#"{"messages":"none"}"#, "[]"] {
        assert!(receive(&json(params), &registry, &mut Seen::new()).is_err());
    }
}

fn publish(registry: &Registry, channel: &str, place: Place) -> Result<Publication, PublishError> {
    Publication::to(registry, "conv_1", channel, place, &text_blocks("hello"))
}

/// RFC-011, sections 3 and 4 and vectors 2, 3, 6, 8: a place is named only to a channel that honours one; absent and null are
/// two things.
#[test]
fn a_place_is_named_only_to_a_channel_that_honours_it() {
    let registry = registry(&[
        descriptor("plain", ""),
        descriptor("exact", &declares("exact")),
        descriptor("root", &declares("root")),
        descriptor("in", "").replace("bidirectional", "inbound"),
    ]);
    let params = |channel, place| {
        let publication = publish(&registry, channel, place).expect("a publication");
        publication.params().as_str().to_owned()
    };
    let thread = || Place::Thread("17.4".to_owned());
    assert_eq!(
        params("plain", Place::Anywhere),
        r#"{"conversationId":"conv_1","channelId":"plain","stream":false,"content":[{"text":"hello","type":"text"}]}"#
    );
    assert!(params("exact", thread()).contains(r#""threadId":"17.4""#));
    assert!(params("exact", Place::Root).contains(r#""threadId":null"#));
    assert!(params("root", Place::Root).contains(r#""threadId":null"#));
    let refused = [
        ("plain", Place::Root, PublishError::NoTarget),
        ("plain", thread(), PublishError::NoTarget),
        ("root", thread(), PublishError::NoThreads),
        ("exact", Place::Thread(String::new()), PublishError::Thread),
        ("in", Place::Anywhere, PublishError::Inbound),
        ("gone", Place::Anywhere, PublishError::UnknownChannel),
    ];
    for (channel, place, why) in refused {
        assert_eq!(publish(&registry, channel, place).err(), Some(why));
    }
    for content in ["[]", "\"hello\"", r#"[{"type":"text","text":" "}]"#] {
        let refused = Publication::to(&registry, "c", "plain", Place::Anywhere, &json(content));
        assert_eq!(refused.err(), Some(PublishError::Content), "{content}");
    }
}

/// RFC-011, section 5 and vectors 4, 7: only an equal echo confirms where a message stands; a refusal has no message id.
#[test]
fn a_delivery_is_confirmed_by_its_echo() {
    let registry = registry(&[descriptor("exact", &declares("exact"))]);
    let delivery = |place: Place, result: &str| {
        publish(&registry, "exact", place)
            .expect("a publication")
            .delivery(&json(result))
    };
    let delivered = |id: Option<&str>| Delivery::Delivered {
        message_id: id.map(str::to_owned),
    };
    let thread = || Place::Thread("t".to_owned());
    let cases = [
        (
            thread(),
            r#"{"delivered":true,"messageId":"m","threadId":"t"}"#,
            delivered(Some("m")),
        ),
        (
            thread(),
            r#"{"delivered":true,"messageId":"m"}"#,
            Delivery::Unconfirmed,
        ),
        (
            thread(),
            r#"{"delivered":true,"messageId":"m","threadId":"u"}"#,
            Delivery::Unconfirmed,
        ),
        (
            thread(),
            r#"{"delivered":true,"messageId":"m","threadId":null}"#,
            Delivery::Unconfirmed,
        ),
        (
            Place::Root,
            r#"{"delivered":true,"threadId":null}"#,
            delivered(None),
        ),
        (Place::Root, r#"{"delivered":true}"#, Delivery::Unconfirmed),
        (Place::Anywhere, r#"{"delivered":true}"#, delivered(None)),
        (
            Place::Anywhere,
            r#"{"delivered":true,"threadId":"t","messageId":"m"}"#,
            delivered(Some("m")),
        ),
        (
            thread(),
            r#"{"delivered":false,"reason":"archived"}"#,
            Delivery::Refused,
        ),
        (
            Place::Anywhere,
            r#"{"delivered":false,"messageId":null}"#,
            Delivery::Refused,
        ),
        (
            thread(),
            r#"{"delivered":false,"messageId":"m"}"#,
            Delivery::Unconfirmed,
        ),
        (Place::Anywhere, "{}", Delivery::Unconfirmed),
        (
            Place::Anywhere,
            r#"{"delivered":"yes"}"#,
            Delivery::Unconfirmed,
        ),
        (
            Place::Anywhere,
            r#"{"delivered":true,"delivered":false}"#,
            Delivery::Unconfirmed,
        ),
        (Place::Anywhere, "null", Delivery::Unconfirmed),
    ];
    for (place, result, expected) in cases {
        assert_eq!(delivery(place, result), expected, "{result}");
    }
}

/// SPEC, section 14.3 and RFC-011, vector 13: what the host sends has the members that servers read.
#[test]
fn parameters_have_their_shape() {
    let text = descriptor("a", r#","address":{"guild":"acme"},"metadata":null"#);
    let described = Descriptor::of(&json(&text)).expect("a descriptor");
    assert_eq!(
        open(&described).as_str(),
        r#"{"type":"chat","address":{"guild":"acme"},"channelId":"a"}"#
    );
    assert_eq!(close("a").as_str(), r#"{"channelId":"a"}"#);
    let seen = Intent {
        word: "seen",
        value: None,
    };
    assert_eq!(
        acknowledge("a", "m", seen).as_str(),
        r#"{"channelId":"a","intent":"seen","messageId":"m"}"#
    );
    assert_eq!(
        typing("a", TypingOp::Stop).as_str(),
        r#"{"channelId":"a","op":"stop"}"#
    );
    assert_eq!(
        chunk(["i", "c", "a"], &Place::Root, 3, "Hel").as_str(),
        r#"{"inferenceId":"i","conversationId":"c","channelId":"a","threadId":null,"index":3,"delta":"Hel"}"#
    );
    assert_eq!(
        complete(["i", "c", "a"], &Place::Anywhere, &text_blocks("Hello")).as_str(),
        r#"{"inferenceId":"i","conversationId":"c","channelId":"a","content":[{"text":"Hello","type":"text"}]}"#
    );
    let registry = registry(std::slice::from_ref(&text));
    assert_eq!(
        registry.list().as_str(),
        format!(r#"{{"channels":[{text}]}}"#)
    );
}
