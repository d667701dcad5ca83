//! Sessions of the revisions with a handshake.

use super::{Client, Event, Lane, NotSent, code, json, plain};

/// S7 from the other side: each id goes back as it was written.
#[test]
fn ids_go_back_as_they_came() {
    let mut client = Client::legacy("2025-11-25");
    for id in [
        "0",
        "7",
        "-3",
        "\"7\"",
        "\"\\u0061\"",
        "\"\"",
        "12345678901234567890123",
    ] {
        client.say(&plain(id, "ping"));
        assert_eq!(
            client.heard(),
            [format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)]
        );
        client.say(&plain(id, "tools/list"));
        let request = client.requests().remove(0);
        assert_eq!(request.id.as_json(), id);
        client.answer(request.key, r#"{"tools":[]}"#);
        assert_eq!(
            client.heard(),
            [format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[]}}}}"#
            )]
        );
    }
}

/// G2: a result's bytes are in its answer as they are; only a line break between tokens becomes a blank.
#[test]
fn a_result_is_spliced_unchanged() {
    let mut client = Client::legacy("2025-11-25");
    client.say(&plain("1", "tools/call"));
    let key = client.requests().remove(0).key;
    let result = "{ \"content\" : [ ] ,\t\"n\": 1.000e+2, \"s\":\"\\u0041\\/\",\n\"a\":1,\"a\":2}";
    client.answer(key, result);
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#,
        result.replace('\n', " ")
    );
    assert_eq!(client.heard(), [expected]);
}

#[test]
fn a_request_is_answered_once() {
    let mut client = Client::legacy("2025-11-25");
    client.say(&plain("1", "tools/list"));
    let key = client.requests().remove(0).key;
    client.answer(key, "{}");
    assert_eq!(client.refuse(key), Err(NotSent::NotPending));
    assert_eq!(
        client
            .server
            .notify(Some(key), "notifications/progress", None),
        Err(NotSent::NotPending)
    );
    assert_eq!(client.heard().len(), 1);
    client.say(&plain("1", "tools/list"));
    assert_ne!(client.requests().remove(0).key, key, "the id is free again");
}

/// An answer with the id would be taken for the answer to the first request.
#[test]
fn an_id_in_use_is_refused_without_an_id() {
    let mut client = Client::legacy("2025-11-25");
    client.say(&plain(r#""a""#, "tools/list"));
    let taken = client.say(&plain(r#""\u0061""#, "tools/call"));
    assert!(taken.refused && taken.requests.is_empty());
    client.say(&plain("1", "tools/list"));
    client.say(&plain("\"1\"", "tools/list"));
    assert_eq!(client.requests().len(), 3);
    let heard = client.heard_on();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].0, Lane::Refusal);
    assert_eq!(code(&heard[0].1), (-32600, false));
}

#[test]
fn what_is_cancelled_is_not_answered_and_nothing_more_is_said_of_it() {
    let mut client = Client::legacy("2025-11-25");
    client.say(&plain(r#""\u0061""#, "tools/call"));
    let key = client.requests().remove(0).key;
    client
        .server
        .notify(Some(key), "notifications/progress", None)
        .unwrap();
    client
        .server
        .notify(None, "notifications/tools/list_changed", None)
        .unwrap();
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"r"}}"#);
    assert!(matches!(client.events()[..], [Event::Cancelled(cancelled)] if cancelled == key));
    assert_eq!(client.refuse(key), Err(NotSent::NotPending));
    let heard = client.heard_on();
    assert!(matches!(heard[..], [(Lane::Aside, _)]));
    for stray in ["\"b\"", "1", "null", "1.5", "[]"] {
        client.say(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{stray}}}}}"#
        ));
    }
    assert!(client.events().is_empty() && client.heard().is_empty());
}

/// 2025-11-25, `basic/utilities/cancellation`: `initialize` cannot be cancelled.
#[test]
fn initialize_cannot_be_cancelled() {
    let mut client = Client::new();
    client.say(&super::initialize("2025-11-25"));
    let key = client.requests().remove(0).key;
    client
        .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"i"}}"#);
    assert!(client.events().is_empty());
    client.answer(key, "{}");
    assert_eq!(client.heard().len(), 1);
}

#[test]
fn the_client_is_asked_and_answers() {
    let mut client = Client::legacy("2025-11-25");
    client.say(&plain("1", "tools/call"));
    let key = client.requests().remove(0).key;
    let params = json(r#"{"messages":[]}"#);
    let server = &mut client.server;
    let one = server
        .request(Some(key), "sampling/createMessage", Some(&params))
        .unwrap();
    let two = server.request(None, "roots/list", None).unwrap();
    assert_eq!(
        client.heard_on(),
        [
            (
                Lane::During(key),
                r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[]}}"#.to_owned()
            ),
            (
                Lane::Aside,
                r#"{"jsonrpc":"2.0","id":2,"method":"roots/list"}"#.to_owned()
            ),
        ]
    );
    client.say(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}"#);
    client.say(r#"{"jsonrpc":"2.0","id":1,"result":{"model" : "m"}}"#);
    client.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    client.say(r#"{"jsonrpc":"2.0","id":"x","result":{}}"#);
    let events = client.events();
    let [
        Event::Answer {
            ask: first,
            answer: Err(error),
        },
        Event::Answer {
            ask: second,
            answer: Ok(result),
        },
    ] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!((*first, *second), (two, one));
    assert_eq!((error.code, result.as_str()), (-1, r#"{"model" : "m"}"#));
    assert_eq!(client.server.stats().stray_answers, 2);
}

#[test]
fn what_is_withdrawn_is_told_and_its_answer_dropped() {
    let mut client = Client::legacy("2025-11-25");
    let ask = client.server.request(None, "roots/list", None).unwrap();
    client.heard();
    client.server.withdraw(None, ask);
    client.server.withdraw(None, ask);
    assert_eq!(
        client.heard(),
        [r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#]
    );
    client.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(client.events().is_empty());
}

/// Batches are of 2025-03-26 alone (`basic/index`, "Batching").
#[test]
fn batches_are_taken_where_the_revision_has_them() {
    let batch = format!(
        "[{},{},{},[],3]",
        plain("1", "ping"),
        plain("2", "tools/list"),
        r#"{"jsonrpc":"2.0","method":"notifications/x"}"#
    );
    let mut client = Client::legacy("2025-03-26");
    let taken = client.say(&batch);
    assert_eq!(taken.requests.len(), 2);
    assert!(taken.refused);
    let events = client.events();
    assert!(matches!(
        events[..],
        [Event::Request(_), Event::Notification { .. }]
    ));
    let heard = client.heard();
    assert_eq!(heard.len(), 3);
    assert_eq!(code(&heard[1]), (-32600, false));
    client.say("[]");
    assert_eq!(client.heard().len(), 1);
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut client = Client::legacy(revision);
        assert!(client.say(&batch).refused);
        assert!(client.events().is_empty());
        assert_eq!(client.heard().len(), 1);
    }
    let mut client = Client::new();
    client.say(&format!("[{}]", super::initialize("2025-03-26")));
    assert!(client.events().is_empty(), "a batch holds no initialize");
}

/// S6 from the other side: what cannot be read is refused, and costs nothing else.
#[test]
fn what_cannot_be_read_is_refused_and_the_session_stays() {
    let mut client = Client::legacy("2025-11-25");
    for (frame, expected) in [
        ("{", -32700),
        ("3", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":1e999}}"#,
            -32600,
        ),
    ] {
        assert!(client.say(frame).refused, "{frame}");
        let heard = client.heard();
        assert_eq!(heard.len(), 1);
        assert_eq!(code(&heard[0]), (expected, false), "{frame}");
        assert!(!heard[0].contains("ping"));
    }
    assert!(!client.say("  ").refused);
    client.say(&plain("1", "ping"));
    assert_eq!(client.heard().len(), 1);
}
