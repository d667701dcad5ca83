//! O2, S8, T2, T3: calls whose messages go each by itself.

use std::time::Duration;

use super::{
    DISCOVERED, INITIALIZE_RESULT, LIST_RESULT, Peer, RESULT, all_capabilities, fault, field,
    modern_http,
};
use crate::connection::{
    Abandoned, CallError, CallId, Change, ClientConfig, CloseReason, Event, Order, Transmit,
    TransmitKind,
};
use crate::json::Json;
use crate::limits::Limits;
use crate::outcome::{ErrorCode, Outcome};

fn modern() -> Peer {
    Peer::modern_with(DISCOVERED, modern_http())
}

/// A call whose message the transport has, and did not begin.
fn handed(peer: &mut Peer) -> (CallId, Transmit) {
    let call = peer.call();
    let mut transmits = peer.transmits();
    assert_eq!(transmits.len(), 1);
    (call, transmits.remove(0))
}

fn begun(peer: &mut Peer) -> (CallId, u64) {
    let (call, transmit) = handed(peer);
    assert!(transmit.handover.begin());
    (call, transmit.key)
}

fn outcome(peer: &mut Peer, call: CallId) -> Outcome {
    peer.take(call).unwrap_err().outcome()
}

const MISMATCH: &str = r#"{"jsonrpc":"2.0","error":{"code":-32020,"message":"x"}}"#;

/// S8: who comes first, the transport's first byte or the caller who lets go, decides; each end once.
#[test]
fn handover_decides_between_sent_and_not_sent() {
    // Still in the connection: skipped.
    let mut peer = modern();
    let call = peer.call();
    assert_eq!(peer.connection.abandon(call), Abandoned::NotSent);
    assert!(peer.transmits().is_empty());
    assert!(peer.orders().is_empty());

    // With the transport, not begun: taken back.
    let (call, transmit) = handed(&mut peer);
    assert_eq!(peer.connection.abandon(call), Abandoned::NotSent);
    assert!(!transmit.handover.begin());
    assert!(!transmit.handover.begin(), "never again");
    assert_eq!(peer.orders(), [Order::HangUp(transmit.key)]);
    assert_eq!(peer.connection.stats().cancelled, 0);

    // Begun: hanging up is the cancellation.
    let (call, key) = begun(&mut peer);
    assert_eq!(peer.connection.abandon(call), Abandoned::NoResponse);
    assert_eq!(peer.orders(), [Order::HangUp(key)]);
    assert!(peer.transmits().is_empty(), "no notification");
    assert_eq!(peer.connection.stats().cancelled, 1);

    // The same for a deadline.
    let (call, transmit) = handed(&mut peer);
    let (later, key) = begun(&mut peer);
    peer.pass(Duration::from_secs(120));
    assert_eq!(outcome(&mut peer, call), Outcome::NotSent);
    assert_eq!(outcome(&mut peer, later), Outcome::NoResponse);
    assert!(!transmit.handover.begin());
    assert_eq!(
        peer.orders(),
        [Order::HangUp(transmit.key), Order::HangUp(key)]
    );

    // And for the end of the session.
    let (call, transmit) = handed(&mut peer);
    let (later, _) = begun(&mut peer);
    peer.connection.handle_closed(CloseReason::ScopeClosed);
    assert_eq!(outcome(&mut peer, call), Outcome::NotSent);
    assert_eq!(outcome(&mut peer, later), Outcome::NoResponse);
    assert!(!transmit.handover.begin());
    assert!(peer.transmits().is_empty());
    assert!(peer.orders().is_empty());
}

/// O2, T4: a request that stands refused for its credentials was refused, however its call ends meanwhile, and is never
/// sent again then; there is nothing to cancel. Once it may be on its way again, nobody knows.
#[test]
fn call_that_ends_while_others_credentials_are_looked_for_was_refused() {
    for make in [modern, Peer::legacy_http] {
        let mut peer = make();
        let (call, transmit) = handed(&mut peer);
        assert!(transmit.handover.begin());
        let refused = transmit.handover.refused();
        assert_eq!(peer.connection.abandon(call), Abandoned::Refused);
        assert_eq!(peer.orders(), [Order::HangUp(transmit.key)]);
        drop(refused);
        assert!(!transmit.handover.begin());

        let (call, transmit) = handed(&mut peer);
        assert!(transmit.handover.begin());
        let refused = transmit.handover.refused();
        let (again, other) = handed(&mut peer);
        assert!(other.handover.begin());
        drop(other.handover.refused());
        peer.pass(Duration::from_secs(120));
        assert_eq!(outcome(&mut peer, call), Outcome::ErrorResponse);
        assert_eq!(outcome(&mut peer, again), Outcome::NoResponse);
        drop(refused);
        assert!(!transmit.handover.begin());
        peer.transmits();

        let (call, transmit) = handed(&mut peer);
        assert!(transmit.handover.begin());
        let _refused = transmit.handover.refused();
        peer.connection.handle_closed(CloseReason::ScopeClosed);
        assert_eq!(outcome(&mut peer, call), Outcome::ErrorResponse);
    }
}

/// S8: on revisions with a handshake hanging up is no cancellation: a notification goes too, and no headers.
#[test]
fn legacy_call_is_cancelled_by_a_notification() {
    let mut peer = Peer::legacy_http();
    let (call, key) = begun(&mut peer);
    peer.connection.abandon(call);
    assert_eq!(peer.orders(), [Order::HangUp(key)]);
    let transmits = peer.transmits();
    assert_eq!(transmits[0].kind, TransmitKind::Notification);
    assert_eq!(
        transmits[0].body,
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#
    );
    assert_eq!(transmits[0].route.method, "");
    let (_, transmit) = handed(&mut peer);
    assert_eq!(transmit.route.method, "");
}

/// O2: how an exchange ended decides: refused by status, nothing sent, or unknown.
#[test]
fn end_of_an_exchange_decides() {
    for (status, begins, expected) in [
        (Some(401), true, Outcome::ErrorResponse),
        (Some(403), true, Outcome::ErrorResponse),
        (Some(401), false, Outcome::NotSent),
        (Some(404), true, Outcome::NoResponse),
        (Some(429), true, Outcome::NoResponse),
        (Some(503), true, Outcome::NoResponse),
        (Some(200), true, Outcome::NoResponse),
        (None, true, Outcome::NoResponse),
        (None, false, Outcome::NotSent),
    ] {
        let mut peer = modern();
        let (call, transmit) = handed(&mut peer);
        if begins {
            assert!(transmit.handover.begin());
        }
        peer.ended(transmit.key, fault(status));
        let error = peer.take(call).unwrap_err();
        assert_eq!(error.outcome(), expected, "{status:?} {begins}");
        let unread = matches!((status, begins), (Some(401 | 403), true) | (_, false));
        assert_eq!(error.was_refused_unread(), unread, "{status:?} {begins}");
        // What was not asked was not refused.
        assert_eq!(error.http_status(), status.filter(|_| begins));
        assert_eq!(error.code(), ErrorCode::ConnectionClosed);
        assert!(peer.is_open());
        assert!(peer.transmits().is_empty(), "a call is never said again");
        assert!(!transmit.handover.begin() || begins);
        // Its end is told once, and a late answer is nobody's.
        peer.ended(transmit.key, fault(status));
        peer.respond(transmit.key, 200, RESULT);
        assert_eq!(peer.connection.stats().stray_replies, 1);
    }
    // A refusal that did nothing is one.
    let mut peer = modern();
    let (call, key) = begun(&mut peer);
    peer.ended(key, fault(Some(413)).of_refusal());
    assert_eq!(outcome(&mut peer, call), Outcome::ErrorResponse);
}

/// O1: the body of a refusal for credentials is no answer; its status is told.
#[test]
fn refusal_for_credentials_is_told_by_its_status() {
    for status in [401, 403] {
        let mut peer = modern();
        let (call, key) = begun(&mut peer);
        peer.respond_with(
            Some(key),
            status,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{key},"error":{{"code":-32000,"message":"MARKER"}}}}"#
            ),
        );
        assert!(peer.is_pending(call));
        peer.ended(key, fault(Some(status)));
        let error = peer.take(call).unwrap_err();
        assert_eq!(
            (error.outcome(), error.http_status()),
            (Outcome::ErrorResponse, Some(status))
        );
    }
}

/// O2, S6: the body of a refusal is a message if it is an error, and else none: it neither answers the request nor ends the
/// session, whatever it says it is.
#[test]
fn refusal_says_nothing_but_errors() {
    for status in [302, 400, 401, 403, 404, 500, 503] {
        for body in [
            format!(r#"{{"jsonrpc":"2.0","id":3,"result":{RESULT}}}"#),
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":3,"error":"MARKER"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":"MARKER","message":"x"}}"#.to_owned(),
            r#"{"jsonrpc":"1.0","id":3,"result":{}}"#.to_owned(),
            r#"{"jsonrpc":"2.0"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned(),
        ] {
            for mut peer in [modern(), Peer::legacy_http()] {
                let (call, key) = begun(&mut peer);
                assert_eq!(key, 3);
                peer.respond_with(Some(key), status, &body);
                assert!(peer.is_open() && peer.is_pending(call), "{status} {body}");
                assert_eq!(peer.connection.stats().noise, 1, "{status} {body}");
                peer.ended(key, fault(Some(status)));
                let error = peer.take(call).unwrap_err();
                assert_eq!(error.http_status(), Some(status), "{body}");
                let expected = match status {
                    401 | 403 => Outcome::ErrorResponse,
                    _ => Outcome::NoResponse,
                };
                assert_eq!(error.outcome(), expected, "{status} {body}");
                assert!(peer.transmits().is_empty(), "{status} {body}");
            }
        }
    }
}

/// S6: only the answer to its request counts on a stream; one without an id is its answer.
#[test]
fn stream_answers_its_own_request_only() {
    let mut peer = modern();
    let (one, first) = begun(&mut peer);
    let (other, second) = begun(&mut peer);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{second},"result":{RESULT}}}"#);
    peer.respond_with(Some(first), 200, &answer);
    assert!(peer.is_pending(other));
    assert_eq!(peer.connection.stats().stray_replies, 1);
    peer.respond_with(
        Some(first),
        400,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}"#,
    );
    assert_eq!(peer.take(one).unwrap_err().json_rpc_code(), Some(-32600));
    assert_eq!(peer.orders(), [Order::Finish(first)]);
    // Without a stream of its own an error without an id answers nothing.
    peer.respond_with(
        None,
        200,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}"#,
    );
    assert!(peer.is_pending(other));
    peer.respond_with(None, 200, &answer);
    assert!(peer.take(other).is_ok(), "another stream may bring it");
    // The stream of what was not begun brings nothing.
    let (unbegun, transmit) = handed(&mut peer);
    peer.respond(transmit.key, 200, RESULT);
    peer.respond_with(
        Some(transmit.key),
        400,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#,
    );
    assert!(peer.is_pending(unbegun));
}

/// O4: the end of an answered leg's exchange says nothing; the next leg has an exchange and headers of its own.
#[test]
fn end_of_an_answered_leg_says_nothing() {
    let mut peer = Peer::modern_with(
        DISCOVERED,
        ClientConfig {
            capabilities: all_capabilities(),
            ..modern_http()
        },
    );
    let (call, key) = begun(&mut peer);
    peer.respond(
        key,
        200,
        r#"{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"s"}"#,
    );
    assert_eq!(peer.orders(), [Order::Finish(key)]);
    peer.ended(key, fault(Some(200)));
    peer.connection.handle_session_lost(peer.now, key);
    assert!(peer.is_pending(call));
    let asked = peer.asked();
    peer.supply(asked[0], Some("{}"));
    let transmit = peer.connection.poll_transmit(true).unwrap();
    assert_ne!(transmit.key, key);
    assert_eq!(transmit.route.name.as_deref(), Some("echo"));
    peer.ended(key, fault(Some(200)));
    assert!(peer.is_pending(call));
    // Nothing of this leg was sent, but of the one before.
    peer.ended(transmit.key, fault(None));
    let error = peer.take(call).unwrap_err();
    assert_eq!(error.outcome(), Outcome::NoResponse);
    assert_eq!(peer.connection.buffered_bytes(), 0);

    // A later leg that is let go of before it began is taken back.
    let (call, key) = begun(&mut peer);
    peer.respond(
        key,
        200,
        r#"{"resultType":"input_required","requestState":"s"}"#,
    );
    peer.pass(Duration::from_millis(100));
    let transmit = peer.connection.poll_transmit(true).unwrap();
    peer.orders();
    assert_eq!(peer.connection.abandon(call), Abandoned::BetweenLegs);
    assert!(!transmit.handover.begin());
    assert_eq!(peer.orders(), [Order::HangUp(transmit.key)]);
    assert_eq!(peer.connection.buffered_bytes(), 0);
}

/// T5: what was refused for its credentials may be called again, unless an earlier leg of it did something.
#[test]
fn refused_later_leg_is_not_called_again() {
    for rounds in 0..2 {
        let mut peer = modern();
        let (call, mut key) = begun(&mut peer);
        if rounds > 0 {
            let again = r#"{"resultType":"input_required","requestState":"s"}"#;
            peer.respond(key, 200, again);
            peer.pass(Duration::from_millis(100));
            let transmit = peer.connection.poll_transmit(true).unwrap();
            assert!(transmit.handover.begin());
            key = transmit.key;
        }
        peer.ended(key, fault(Some(403)));
        let error = peer.take(call).unwrap_err();
        assert_eq!(error.outcome(), Outcome::ErrorResponse);
        assert_eq!(error.was_refused_unread(), rounds == 0);
    }
}

/// T2: what goes into the headers of each method; not encoded.
#[test]
fn headers_of_each_method() {
    let mut peer = Peer::with(modern_http());
    assert_eq!(peer.transmits()[0].route.method, "server/discover");
    let mut peer = modern();
    for (method, params, name) in [
        ("resources/read", Some(r#"{"uri":"a\u0062"}"#), Some("ab")),
        ("prompts/get", Some(r#"{"name":"é"}"#), Some("é")),
        ("prompts/get", Some(r#"{"name":7}"#), None),
        ("prompts/get", None, None),
        ("prompts/list", Some(r#"{"name":"x"}"#), None),
        ("tasks/get", Some(r#"{"taskId":"t"}"#), Some("t")),
    ] {
        let params = params.map(|text| Json::check(text.to_owned()).unwrap());
        peer.connection
            .request(peer.now, method, params, None)
            .unwrap();
        let route = peer.transmits().remove(0).route;
        assert_eq!(route.method, method);
        assert_eq!(route.name.as_deref(), name, "{method}");
        assert!(route.params.is_empty());
    }
}

const ANNOTATED: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}}]}"#;

fn annotated() -> Peer {
    let mut peer = Peer::with(modern_http());
    peer.go();
    peer.respond(1, 200, DISCOVERED);
    peer.go();
    peer.respond(2, 200, ANNOTATED);
    peer.events();
    peer.orders();
    peer
}

/// T2: annotated arguments go into headers too; what is missing or null does not.
#[test]
fn annotated_arguments_go_into_headers() {
    for (arguments, expected) in [
        (
            r#"{"region":" a\n","deep":{"n":-7}}"#,
            vec![("N", "-7"), ("Region", " a\n")],
        ),
        (r#"{"region":null,"n":1}"#, vec![]),
        (r#"{"region":"","deep":[{"n":1}]}"#, vec![("Region", "")]),
        ("{}", vec![]),
    ] {
        let mut peer = annotated();
        peer.try_call("echo", arguments).unwrap();
        let route = peer.transmits().remove(0).route;
        let params: Vec<(&str, &str)> = route
            .params
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(params, expected, "{arguments}");
    }
}

/// T2: -32020 reads the list again and says the call once more, with the headers of the new list; twice is an error.
#[test]
fn header_mismatch_reads_the_list_and_says_the_call_once_more() {
    let mut peer = modern();
    let call = peer.try_call("echo", r#"{"region":"eu"}"#).unwrap();
    let first = peer.transmits().remove(0);
    assert!(first.handover.begin());
    assert!(first.route.params.is_empty());
    peer.respond_with(Some(first.key), 400, MISMATCH);
    peer.ended(first.key, fault(Some(400)));
    assert!(peer.is_pending(call));
    let sent = peer.go();
    assert_eq!(field(&sent[0], "/method"), "tools/list");
    assert_eq!(sent.len(), 1);
    peer.respond(4, 200, ANNOTATED);
    assert!(matches!(peer.events()[..], [Event::Relisted(_)]));
    let again = peer.transmits().remove(0);
    assert_eq!(again.route.params, [("Region".to_owned(), "eu".to_owned())]);
    assert_eq!(again.key, 5);
    assert!(again.handover.begin());
    peer.respond_with(Some(5), 400, MISMATCH);
    let error = peer.take(call).unwrap_err();
    assert_eq!(
        (error.outcome(), error.json_rpc_code()),
        (Outcome::ErrorResponse, Some(-32020))
    );
    assert!(peer.transmits().is_empty());

    // A list that cannot be read leaves the old one, and the call goes on.
    let (call, key) = begun(&mut peer);
    peer.respond_with(Some(key), 400, MISMATCH);
    let list = field(&peer.go()[0], "/id").as_u64().unwrap();
    peer.ended(list, fault(None));
    assert!(matches!(peer.events()[..], [Event::RelistFailed(_)]));
    let again = peer.transmits().remove(0);
    assert!(again.handover.begin());
    peer.respond(again.key, 200, RESULT);
    assert!(peer.take(call).is_ok());
}

/// T2, O2: while the list is read nothing is in flight, and the server refused: no outcome is claimed that is not so.
#[test]
fn deadline_while_the_list_is_read_is_a_refusal() {
    let mut peer = Peer::modern_with(
        DISCOVERED,
        ClientConfig {
            limits: Limits {
                handshake_timeout: Duration::from_secs(1_000),
                ..Limits::default()
            },
            ..modern_http()
        },
    );
    let (call, key) = begun(&mut peer);
    peer.respond_with(Some(key), 400, MISMATCH);
    peer.orders();
    peer.pass(Duration::from_secs(120));
    let error = peer.take(call).unwrap_err();
    assert_eq!(
        error,
        CallError::Timeout {
            limit_ms: 120_000,
            outcome: Outcome::ErrorResponse
        }
    );
    assert!(peer.orders().is_empty());
    assert!(!error.to_string().contains("another round"), "{error}");
}

/// T2, O4: a later leg that is refused for its headers is said once more as it was.
#[test]
fn later_leg_is_said_again_as_it_was() {
    let mut peer = Peer::modern_with(
        DISCOVERED,
        ClientConfig {
            capabilities: all_capabilities(),
            ..modern_http()
        },
    );
    let (call, key) = begun(&mut peer);
    peer.respond(
        key,
        200,
        r#"{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"s"}"#,
    );
    let asked = peer.asked();
    peer.supply(asked[0], Some(r#"{"roots":[]}"#));
    let before = peer.go();
    peer.respond_with(Some(4), 400, MISMATCH);
    peer.go();
    peer.respond(5, 200, LIST_RESULT);
    let after = peer.go();
    assert_eq!(
        field(&after[0], "/params/inputResponses"),
        field(&before[0], "/params/inputResponses")
    );
    assert_eq!(field(&after[0], "/params/requestState"), "s");
    assert!(
        peer.connection.buffered_bytes() > 0,
        "it is kept, and counted"
    );
    peer.respond(6, 200, RESULT);
    assert!(peer.take(call).is_ok());
    assert_eq!(peer.connection.buffered_bytes(), 0);
}

/// T2: only a tool's call is said again, only over exchanges of a modern server.
#[test]
fn header_mismatch_elsewhere_is_an_error() {
    let mut other = modern();
    let call = other
        .connection
        .request(other.now, "prompts/get", None, None)
        .unwrap();
    other.go();
    other.respond_with(Some(3), 400, MISMATCH);
    assert!(!other.is_pending(call));
    assert!(other.transmits().is_empty());
    let mut legacy = Peer::legacy_http();
    let (call, key) = begun(&mut legacy);
    legacy.respond_with(Some(key), 400, MISMATCH);
    assert_eq!(outcome(&mut legacy, call), Outcome::ErrorResponse);
}

/// The next message, which makes a session, and its answer.
fn renew(peer: &mut Peer) {
    let transmit = peer.connection.poll_transmit(false).unwrap();
    assert_eq!(transmit.kind, TransmitKind::Initialize);
    assert!(transmit.handover.begin());
    assert!(
        peer.connection.poll_transmit(true).is_none(),
        "nothing else goes meanwhile"
    );
    peer.respond(transmit.key, 200, INITIALIZE_RESULT);
    peer.take_introduction();
}

/// T3: a lost session is made anew once, and the refused request said once more within its deadline.
#[test]
fn lost_session_is_made_anew() {
    let mut peer = Peer::legacy_http();
    let (call, key) = begun(&mut peer);
    let waiting = peer.call();
    peer.pass(Duration::from_secs(100));
    peer.connection.handle_session_lost(peer.now, key);
    assert!(peer.is_pending(call));
    renew(&mut peer);
    let events = peer.events();
    assert!(
        matches!(events[..], [Event::Changed(Change::Tools)]),
        "{events:?}"
    );
    let sent = peer.go();
    let ids: Vec<_> = sent.iter().map(|frame| field(frame, "/id")).collect();
    assert_eq!(ids, [4, 5], "the one that waited, and the one said again");
    peer.respond(4, 200, RESULT);
    assert!(peer.take(waiting).is_ok());
    peer.respond(5, 200, RESULT);
    assert!(peer.take(call).is_ok());

    peer.pass(Duration::from_secs(10));
    let (call, key) = begun(&mut peer);
    peer.connection.handle_session_lost(peer.now, key);
    renew(&mut peer);
    let again = peer.transmits().remove(0);
    assert!(again.handover.begin());
    peer.connection.handle_session_lost(peer.now, again.key);
    let error = peer.take(call).unwrap_err();
    assert_eq!(
        (error.outcome(), error.http_status()),
        (Outcome::ErrorResponse, Some(404))
    );
    assert!(peer.transmits().is_empty(), "twice is an error");
    assert!(peer.is_open());
}

/// T3, O2: a deadline while the session is made anew says that the server refused.
#[test]
fn deadline_while_a_session_is_made() {
    let mut peer = Peer::legacy_http();
    let (call, key) = begun(&mut peer);
    peer.pass(Duration::from_secs(119));
    peer.connection.handle_session_lost(peer.now, key);
    peer.pass(Duration::from_secs(1));
    let error = peer.take(call).unwrap_err();
    assert_eq!(error.outcome(), Outcome::ErrorResponse);
    renew(&mut peer);
    assert!(peer.transmits().is_empty(), "nobody waits for it");
}

/// T3: many requests of a lost session make one new one; late refusals of the old session make none.
#[test]
fn one_session_is_made_for_many_refusals() {
    let mut peer = Peer::legacy_http();
    let calls: Vec<CallId> = (0..5).map(|_| peer.call()).collect();
    peer.go();
    for key in [3, 4, 5] {
        peer.connection.handle_session_lost(peer.now, key);
    }
    renew(&mut peer);
    assert_eq!(peer.go().len(), 3);
    for key in [6, 7] {
        peer.connection.handle_session_lost(peer.now, key);
    }
    let sent = peer.go();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent.iter().all(|frame| frame.contains("tools/call")));
    for frame in &sent {
        let id = field(frame, "/id").as_u64().unwrap();
        peer.respond(id, 200, RESULT);
    }
    for call in &calls[3..] {
        assert!(peer.take(*call).is_ok());
    }
}

/// T3, H5: a list that was being read in a lost session is read anew in the next, once.
#[test]
fn list_of_a_lost_session_is_read_anew() {
    let mut peer = Peer::legacy_http();
    peer.connection.relist(peer.now);
    peer.go();
    peer.connection.handle_session_lost(peer.now, 3);
    renew(&mut peer);
    let sent = peer.go();
    assert_eq!(field(&sent[0], "/method"), "tools/list");
    peer.events();
    let list = field(&sent[0], "/id").as_u64().unwrap();
    peer.connection.handle_session_lost(peer.now, list);
    assert!(matches!(peer.events()[..], [Event::RelistFailed(_)]));
    assert!(peer.transmits().is_empty());

    // A call of the lost session ends the reading too.
    peer.pass(Duration::from_secs(10));
    peer.connection.relist(peer.now);
    let (call, _) = {
        let call = peer.call();
        (call, peer.go())
    };
    let key = call_key(&mut peer, call);
    peer.connection.handle_session_lost(peer.now, key);
    renew(&mut peer);
    let methods: Vec<_> = peer
        .go()
        .iter()
        .map(|frame| field(frame, "/method"))
        .collect();
    assert_eq!(methods, ["tools/list", "tools/call"]);
}

/// T3: a session that the server's own stream, or a request, finds gone before the tools are read is made anew once.
#[test]
fn session_that_is_gone_before_the_tools_are_read() {
    for by_stream in [true, false] {
        let mut peer = Peer::with(ClientConfig {
            binding: crate::connection::Binding::Http,
            ..super::config(Limits::default())
        });
        for (lost, initialize) in [(true, 1), (false, 3)] {
            assert_eq!(field(&peer.go()[0], "/method"), "initialize");
            peer.respond(initialize, 200, INITIALIZE_RESULT);
            peer.take_introduction();
            let sent = peer.go();
            assert_eq!(field(&sent[0], "/method"), "tools/list");
            if !lost {
                break;
            }
            if by_stream {
                peer.connection.handle_session_gone(peer.now);
            } else {
                peer.connection.handle_session_lost(peer.now, 2);
                peer.connection.handle_session_gone(peer.now);
            }
            peer.respond(2, 200, LIST_RESULT);
            assert!(peer.connection.session().is_none(), "of the lost session");
        }
        peer.connection.handle_session_gone(peer.now);
        peer.respond(4, 200, LIST_RESULT);
        assert!(peer.connection.session().is_some());
    }
}

/// The id of the newest request.
fn call_key(peer: &mut Peer, _call: CallId) -> u64 {
    peer.connection.next_id - 1
}

/// T3: a new session that cannot be made, or is of another revision, ends the connection, and every call once.
#[test]
fn session_that_cannot_be_made_ends_the_connection() {
    for answer in ["2025-06-18", "error", "end", "silence"] {
        let mut peer = Peer::legacy_http();
        let (call, key) = begun(&mut peer);
        let waiting = peer.call();
        peer.connection.handle_session_lost(peer.now, key);
        let transmit = peer.connection.poll_transmit(true).unwrap();
        assert!(transmit.handover.begin());
        match answer {
            "error" => peer.refuse(&transmit.key.to_string(), -32000, "x"),
            "end" => peer.ended(transmit.key, fault(Some(404))),
            "silence" => peer.pass(Duration::from_secs(10)),
            revision => peer.respond(
                transmit.key,
                200,
                &INITIALIZE_RESULT.replace("2025-11-25", revision),
            ),
        }
        assert!(!peer.is_open(), "{answer}");
        let reason = peer.connection.close_reason().unwrap();
        assert!(!reason.is_permanent(), "a new connect may do: {reason}");
        assert_eq!(outcome(&mut peer, call), Outcome::ErrorResponse);
        assert_eq!(outcome(&mut peer, waiting), Outcome::NotSent);
        assert!(peer.transmits().is_empty());
    }
}

/// L8: without room for requests, replies, cancellations and what makes a session go all the same.
#[test]
fn no_room_for_requests_holds_up_nothing_else() {
    let mut peer = Peer::legacy_http();
    let (call, _) = begun(&mut peer);
    peer.call();
    peer.recv(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    peer.connection.abandon(call);
    let mut kinds = Vec::new();
    while let Some(transmit) = peer.connection.poll_transmit(false) {
        kinds.push(transmit.kind);
    }
    assert_eq!(kinds, [TransmitKind::Reply, TransmitKind::Notification]);
    assert_eq!(peer.transmits().len(), 1);
}

/// S7, L6: a server that asks and does not take the answers does not fill the transport: as many as the queue holds are
/// under way, and one that finds no room in time ends the session.
#[test]
fn replies_under_way_are_bounded() {
    let mut peer = Peer::legacy_http();
    let capacity = Limits::default().queue_capacity;
    for _ in 0..2 * capacity {
        peer.recv(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    }
    let replies = peer.transmits();
    assert_eq!(replies.len(), capacity);
    assert!(replies.iter().all(|one| one.kind == TransmitKind::Reply));
    peer.call();
    let transmits = peer.transmits();
    assert_eq!(transmits.len(), 1, "requests go on");
    assert_eq!(transmits[0].kind, TransmitKind::Request);
    peer.ended(replies[0].key, fault(Some(202)));
    peer.connection.handle_accepted(replies[1].key);
    assert_eq!(peer.transmits().len(), 2);
    for _ in 0..capacity {
        peer.recv(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    }
    peer.pass(Duration::from_secs(120));
    assert_eq!(peer.reason(), &CloseReason::ReplyBlocked);
}

/// S7: over exchanges too, a modern server's requests are not answered.
#[test]
fn modern_server_gets_no_replies() {
    let mut peer = modern();
    let (_, key) = begun(&mut peer);
    peer.respond_with(
        Some(key),
        200,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
    );
    assert!(peer.transmits().is_empty());
}

/// H5: reading the list again keeps the old one until the new one is there, and rests where the server is busy.
#[test]
fn list_is_read_again() {
    let mut peer = modern();
    let old = peer.connection.catalog().unwrap().clone();
    peer.connection.relist(peer.now);
    peer.connection.relist(peer.now);
    assert_eq!(peer.go().len(), 1, "one at a time");
    peer.ended(3, fault(Some(503)));
    assert!(peer.events().is_empty(), "it rests");
    peer.pass(Duration::from_secs(1));
    assert_eq!(peer.go().len(), 1);
    peer.respond(4, 200, r#"{"tools":[],"nextCursor":"c"}"#);
    assert_eq!(peer.connection.catalog().unwrap().tools().len(), 2);
    peer.go();
    peer.respond(5, 200, ANNOTATED);
    assert!(matches!(peer.events()[..], [Event::Relisted(_)]));
    assert_eq!(peer.connection.catalog().unwrap().tools().len(), 1);
    assert_eq!(old.tools().len(), 2, "a snapshot never changes (S9)");
    // Neither a fault of the list nor silence ends the session.
    peer.connection.relist(peer.now);
    peer.go();
    peer.respond(6, 200, r#"{"tools":7}"#);
    peer.connection.relist(peer.now);
    peer.go();
    peer.orders();
    peer.pass(Duration::from_secs(10));
    assert_eq!(peer.orders(), [Order::HangUp(7)]);
    let failed = peer.events();
    assert!(
        matches!(failed[..], [Event::RelistFailed(_), Event::RelistFailed(_)]),
        "{failed:?}"
    );
    assert!(peer.is_open());
}

/// T3: a session that its own stream found forgotten is made anew, and what was asked of the one before is asked again.
#[test]
fn session_that_is_gone_is_made_anew_with_what_it_was_asked() {
    let mut peer = Peer::legacy_http();
    peer.connection.follow([String::from("file:///a")]);
    peer.connection.set_log_level(Some("error"));
    assert!(
        peer.transmits().is_empty(),
        "their requests are the caller's"
    );
    peer.connection.handle_session_gone(peer.now);
    renew(&mut peer);
    let asked: Vec<String> = peer
        .go()
        .iter()
        .map(|frame| format!("{} {}", field(frame, "/method"), field(frame, "/params")))
        .collect();
    assert_eq!(
        asked,
        [
            r#""resources/subscribe" {"uri":"file:///a"}"#,
            r#""logging/setLevel" {"level":"error"}"#
        ]
    );
    let events = peer.events();
    assert!(
        matches!(
            &events[..],
            [Event::Changed(Change::Tools), Event::Changed(Change::Resource(uri))] if uri == "file:///a"
        ),
        "{events:?}"
    );
}

/// T3: what is asked anew is asked like anything else: answered it is over, unanswered it is given up in time, refused it
/// costs nothing, and none of it is kept.
#[test]
fn what_is_asked_anew_ends() {
    let mut peer = Peer::legacy_http();
    peer.connection
        .follow(["a", "b", "c"].map(|name| format!("file:///{name}")));
    peer.connection.handle_session_gone(peer.now);
    renew(&mut peer);
    peer.orders();
    let keys: Vec<u64> = peer
        .go()
        .iter()
        .map(|frame| field(frame, "/id").as_u64().unwrap())
        .collect();
    peer.respond(keys[0], 200, "{}");
    assert_eq!(peer.orders(), [Order::Finish(keys[0])]);
    peer.refuse(&keys[1].to_string(), -32602, "x");
    peer.orders();
    assert_eq!(peer.connection.stats().stray_replies, 0);
    peer.pass(Duration::from_secs(120));
    assert_eq!(peer.orders(), [Order::HangUp(keys[2])]);
    assert_eq!(peer.connection.poll_timeout(), None);
    assert_eq!(peer.transmits().len(), 1, "its cancellation");
    assert_eq!(peer.connection.buffered_bytes(), 0);
}

/// T3: sessions that are forgotten as soon as they are made are made anew ever more slowly.
#[test]
fn sessions_that_do_not_last_are_paced() {
    let mut peer = Peer::legacy_http();
    for pause in [0, 1, 2, 4] {
        peer.connection.handle_session_gone(peer.now);
        if pause > 0 {
            let call = peer.call();
            assert!(peer.transmits().is_empty(), "nothing without a session");
            peer.connection.abandon(call);
            peer.pass(Duration::from_secs(pause - 1) + Duration::from_millis(999));
            assert!(peer.transmits().is_empty());
            peer.pass(Duration::from_millis(1));
        }
        renew(&mut peer);
    }
    // One that stood a while is made anew at once.
    peer.pass(Duration::from_secs(20));
    peer.connection.handle_session_gone(peer.now);
    renew(&mut peer);
    // A rest ends as every handshake does, in time.
    peer.connection.handle_session_gone(peer.now);
    peer.pass(Duration::from_secs(1));
    assert!(peer.is_open());
    peer.pass(Duration::from_secs(10));
    assert!(!peer.is_open());
}
