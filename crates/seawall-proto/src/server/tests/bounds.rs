//! Whatever the client sends, what is held is bounded.

use super::{Client, NotSent, code, json, plain};
use crate::limits::{MAX_JSON_DEPTH, MAX_WAITING_EVENTS, ServerLimits};

/// L6: so many requests at once and no more; each of the others is answered.
#[test]
fn a_request_past_the_bound_is_refused() {
    let limits = ServerLimits {
        max_pending: 2,
        ..ServerLimits::default()
    };
    let mut client = Client::legacy_with("2025-11-25", limits);
    for id in ["1", "2", "3"] {
        client.say(&plain(id, "tools/list"));
    }
    let requests = client.requests();
    assert_eq!((requests.len(), client.server.pending()), (2, 2));
    assert_eq!(code(&client.heard()[0]), (-32603, true));
    client.answer(requests[0].key, "{}");
    client.say(&plain("3", "tools/list"));
    assert_eq!(client.requests().len(), 1);
}

/// L6: what they hold counts, and not how many they are alone.
#[test]
fn requests_that_hold_too_much_are_refused() {
    let limits = ServerLimits {
        max_buffered_bytes: 300,
        ..ServerLimits::default()
    };
    let mut client = Client::legacy_with("2025-11-25", limits);
    let long = |id: u32| {
        let text = "x".repeat(200);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"t":"{text}"}}}}"#)
    };
    client.say(&long(1));
    let key = client.requests().remove(0).key;
    client.say(&long(2));
    assert!(client.requests().is_empty());
    assert_eq!(code(&client.heard()[0]), (-32603, true));
    client.say(&plain("3", "tools/list"));
    assert_eq!(client.requests().len(), 1);
    client.answer(key, "{}");
    client.heard();
    client.say(&long(4));
    assert_eq!(client.requests().len(), 1);
}

#[test]
fn no_more_is_asked_of_a_client_than_the_bound() {
    let limits = ServerLimits {
        max_asked: 1,
        ..ServerLimits::default()
    };
    let mut client = Client::legacy_with("2025-11-25", limits);
    client.server.request(None, "roots/list", None).unwrap();
    let more = client.server.request(None, "roots/list", None);
    assert_eq!(more, Err(NotSent::TooManyAsked));
    client.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(client.server.request(None, "roots/list", None).is_ok());
}

/// L6: of a client that does not read, nothing more is read, and nothing but answers is queued.
#[test]
fn a_client_that_does_not_read_is_not_read_either() {
    let limits = ServerLimits {
        max_buffered_bytes: 200,
        ..ServerLimits::default()
    };
    let mut client = Client::legacy_with("2025-11-25", limits);
    client.say(&plain("1", "tools/list"));
    let key = client.requests().remove(0).key;
    let params = json(&format!("\"{}\"", "x".repeat(160)));
    assert!(client.server.notify(None, "m", Some(&params)).is_err());
    let params = json(&format!("\"{}\"", "x".repeat(140)));
    client.server.notify(None, "m", Some(&params)).unwrap();
    assert!(client.server.wants_read());
    assert_eq!(client.server.notify(None, "m", None), Err(NotSent::Full));
    client.answer(key, params.as_str());
    assert!(!client.server.wants_read());
    client.heard();
    assert!(client.server.wants_read());
}

/// L6: notifications that nobody takes stop the reading.
#[test]
fn a_flood_of_notifications_stops_the_reading() {
    let mut client = Client::legacy("2025-11-25");
    let mut said = 0;
    while client.server.wants_read() {
        client.say(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
        said += 1;
    }
    assert_eq!(said, MAX_WAITING_EVENTS);
    client.events();
    assert!(client.server.wants_read());
}

/// L2, L4: an answer past the bounds becomes an error, so that there is one.
#[test]
fn a_result_past_the_bound_becomes_an_error() {
    let limits = ServerLimits {
        max_outbound_frame_bytes: 200,
        ..ServerLimits::default()
    };
    let mut client = Client::legacy_with("2025-11-25", limits);
    let deepest = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    // `{"jsonrpc":"2.0","id":1,"result":""}` has 36 bytes.
    for (result, fits) in [
        (format!("\"{}\"", "x".repeat(164)), true),
        (format!("\"{}\"", "x".repeat(165)), false),
    ] {
        client.say(&plain("1", "tools/list"));
        let key = client.requests().remove(0).key;
        let sent = client.server.respond(key, Ok(&json(&result)));
        assert_eq!(sent.is_ok(), fits);
        let heard = client.heard();
        assert_eq!(heard[0].contains("-32603"), !fits);
    }
    let mut client = Client::legacy("2025-11-25");
    for (depth, fits) in [(MAX_JSON_DEPTH - 1, true), (MAX_JSON_DEPTH, false)] {
        client.say(&plain("1", "tools/list"));
        let key = client.requests().remove(0).key;
        let sent = client.server.respond(key, Ok(&json(&deepest(depth))));
        assert_eq!(sent.is_ok(), fits);
        assert_eq!(client.heard()[0].contains("-32603"), !fits);
    }
}
