//! S3: which era a server behind exchanges is of.

use std::time::Duration;

use super::{DISCOVERED, INITIALIZE_RESULT, LIST_RESULT, Peer, fault, field, modern_http};
use crate::connection::{
    Binding, ClientConfig, CloseReason, Era, Event, HeldUp, Obstacle, Order, Step, TransmitKind,
};
use crate::mcp::Revision;
use crate::outcome::{ErrorCode, Outcome};

fn auto() -> ClientConfig {
    ClientConfig {
        era: Era::Auto,
        ..modern_http()
    }
}

fn probed(config: ClientConfig) -> Peer {
    let mut peer = Peer::with(config);
    assert_eq!(field(&peer.go()[0], "/method"), "server/discover");
    peer
}

/// What goes next, which is one request, and begun.
fn next(peer: &mut Peer) -> (String, u64) {
    let sent = peer.go();
    assert_eq!(sent.len(), 1, "{sent:?}");
    let method = field(&sent[0], "/method").as_str().unwrap().to_owned();
    (method, field(&sent[0], "/id").as_u64().unwrap())
}

fn error(code: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":"x"}}}}"#)
}

/// S3: a refusal with a status of 4xx that no modern error explains falls back; the session is a legacy one from then on.
#[test]
fn refusal_without_a_modern_error_falls_back() {
    for (status, code) in [
        (400, Some(-32000)),
        (400, None),
        (404, None),
        (405, None),
        (406, Some(-32600)),
        (415, None),
        (422, None),
        // Without the status of a modern server, this is a legacy one.
        (200, Some(-32601)),
        (400, Some(-32601)),
    ] {
        let mut peer = probed(auto());
        if let Some(code) = code {
            peer.respond_with(Some(1), status, &error(code));
        }
        peer.ended(1, fault(Some(status)));
        assert!(peer.is_open(), "{status} {code:?}");
        let transmit = peer.connection.poll_transmit(true).unwrap();
        assert_eq!(transmit.kind, TransmitKind::Initialize);
        assert_eq!(transmit.route, crate::connection::Route::default());
        assert!(transmit.handover.begin());
        peer.respond(transmit.key, 200, INITIALIZE_RESULT);
        peer.take_introduction();
        assert_eq!(next(&mut peer), ("tools/list".to_owned(), 3));
        peer.respond(3, 200, LIST_RESULT);
        assert_eq!(
            peer.connection.negotiated(),
            Some(Revision::V2025_11_25),
            "{status}"
        );

        let mut pinned = probed(modern_http());
        if let Some(code) = code {
            pinned.respond_with(Some(1), status, &error(code));
        }
        pinned.ended(1, fault(Some(status)));
        assert!(!pinned.is_open(), "{status}");
    }
}

/// S3: a refusal whose body is no error that anybody has, though it says that it is one, is no modern error either.
#[test]
fn refusal_with_a_malformed_error_falls_back() {
    for body in [
        r#"{"jsonrpc":"2.0","id":null,"error":"x"}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"error":{"code":-32000,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0"}"#,
    ] {
        for status in [400, 404] {
            let mut peer = probed(auto());
            peer.respond_with(Some(1), status, body);
            peer.ended(1, fault(Some(status)));
            assert!(peer.is_open(), "{status} {body}");
            assert_eq!(next(&mut peer).0, "initialize");
        }
    }
}

/// S3: 404 with -32601 is a modern server without discovery: its tools are asked for.
#[test]
fn unknown_method_with_its_status_is_a_modern_server() {
    for config in [auto(), modern_http()] {
        let mut peer = probed(config);
        peer.respond_with(Some(1), 404, &error(-32601));
        peer.ended(1, fault(Some(404)));
        assert_eq!(next(&mut peer), ("tools/list".to_owned(), 2));
        peer.respond(2, 200, LIST_RESULT);
        assert!(matches!(peer.events()[..], [Event::Ready]));
        assert_eq!(peer.connection.negotiated(), Some(Revision::V2026_07_28));

        let mut refused = probed(auto());
        refused.respond_with(Some(1), 404, &error(-32601));
        next(&mut refused);
        refused.respond_with(
            Some(2),
            400,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"x","data":{"supported":["2025-11-25"]}}}"#,
        );
        assert!(refused.reason().is_permanent(), "{}", refused.reason());
    }
}

/// S3: a recognised modern error never falls back, whatever its status; -32022 as over one stream.
#[test]
fn modern_error_never_falls_back() {
    for code in [-32020, -32021, -32022] {
        for status in [200, 400] {
            let mut peer = probed(auto());
            peer.respond_with(Some(1), status, &error(code));
            assert_eq!(peer.reason().json_rpc_code(), Some(code));
            assert_eq!(
                peer.connection.connect_failure().unwrap().1,
                Outcome::ErrorResponse
            );
        }
    }
    let mut peer = probed(auto());
    peer.respond_with(
        Some(1),
        400,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"]}}}"#,
    );
    peer.ended(1, fault(Some(400)));
    assert_eq!(next(&mut peer), ("server/discover".to_owned(), 2));
    peer.respond(2, 200, DISCOVERED);
    assert_eq!(next(&mut peer).0, "tools/list");
}

/// S3, O2: credentials, pace and outages say nothing about the era, whatever their bodies say.
#[test]
fn refusal_that_is_no_evidence_fails_the_connect() {
    for (status, outcome) in [
        (401, Outcome::ErrorResponse),
        (403, Outcome::ErrorResponse),
        (407, Outcome::NoResponse),
        (408, Outcome::NoResponse),
        (500, Outcome::NoResponse),
        (502, Outcome::NoResponse),
    ] {
        for body in [None, Some(error(-32000)), Some(error(-32601))] {
            let mut peer = probed(auto());
            if let Some(body) = &body {
                peer.respond_with(Some(1), status, body);
                assert!(peer.is_open(), "{status}");
            }
            peer.ended(1, fault(Some(status)));
            assert_eq!(
                peer.reason(),
                &CloseReason::Exchange {
                    step: Step::Discover,
                    fault: fault(Some(status))
                }
            );
            assert_eq!(peer.reason().http_status(), Some(status));
            assert_eq!(peer.connection.connect_failure().unwrap().1, outcome);
        }
    }
    // Nothing of it was sent.
    let mut peer = Peer::with(auto());
    let transmit = peer.connection.poll_transmit(true).unwrap();
    peer.ended(transmit.key, fault(None));
    assert_eq!(
        peer.connection.connect_failure().unwrap().1,
        Outcome::NotSent
    );
    assert_eq!(peer.reason().code(), ErrorCode::ConnectionClosed);
}

/// S3: over HTTP silence says nothing of an era: a slow server of the newest one is waited for as long as any, and what was
/// not even sent yet decides nothing. One that the transport did not begin never begins.
#[test]
fn silence_over_http_is_no_evidence() {
    let limit = Duration::from_secs(10);
    let moment = Duration::from_millis(1);
    let timeout = |peer: &Peer| {
        let reason = peer.reason();
        assert!(
            matches!(
                reason,
                CloseReason::HandshakeTimeout { .. } | CloseReason::HandshakeUnsent { .. }
            ),
            "{reason}"
        );
        assert!(!reason.is_permanent());
        let hints = reason
            .to_string()
            .contains("write \"protocol\": \"legacy\"");
        let asked = matches!(reason, CloseReason::HandshakeTimeout { .. });
        assert_eq!(hints, asked, "what was not asked says nothing of its era");
    };
    let mut slow = probed(auto());
    slow.pass(limit - moment);
    slow.respond(1, 200, DISCOVERED);
    assert_eq!(next(&mut slow).0, "tools/list");

    let mut peer = probed(auto());
    peer.pass(limit - moment);
    assert!(peer.is_open() && peer.orders().is_empty());
    peer.pass(moment);
    timeout(&peer);

    let mut waiting = Peer::with(auto());
    let transmit = waiting.connection.poll_transmit(true).unwrap();
    waiting.pass(limit);
    assert!(!transmit.handover.begin());
    timeout(&waiting);

    let mut untaken = Peer::with(auto());
    untaken.pass(limit);
    assert!(untaken.orders().is_empty());
    timeout(&untaken);
}

/// S2, S3: a busy server is asked again as it wishes, but within the deadline of the exchange; the first one, for
/// asking again has no deadline of its own.
#[test]
fn busy_server_is_asked_again_within_the_deadline() {
    for status in [429, 503] {
        let mut peer = probed(modern_http());
        peer.respond_with(Some(1), status, &error(-32000));
        assert!(peer.is_open(), "the status counts, not the body");
        let mut key = 1;
        let mut asked = 0;
        while peer.is_open() {
            peer.ended(key, fault(Some(status)));
            if !peer.is_open() {
                break;
            }
            assert!(peer.go().is_empty(), "it rests");
            peer.pass(Duration::from_secs(1));
            let (method, id) = next(&mut peer);
            assert_eq!(method, "server/discover");
            key = id;
            asked += 1;
            assert!(asked < 10, "the deadline stays");
        }
        assert_eq!(asked, 9, "10 s are over before the tenth");
        assert!(matches!(
            peer.reason(),
            CloseReason::Exchange {
                step: Step::Discover,
                ..
            }
        ));
    }
    // A listing rests too, at least a moment, and goes on where it was.
    let mut peer = probed(modern_http());
    peer.respond(1, 200, DISCOVERED);
    next(&mut peer);
    peer.respond(2, 200, r#"{"tools":[],"nextCursor":"c"}"#);
    next(&mut peer);
    peer.ended(3, fault(Some(503)).with_retry_after(Duration::ZERO));
    peer.pass(Duration::from_millis(99));
    assert!(peer.go().is_empty());
    peer.respond(3, 200, LIST_RESULT);
    assert!(peer.connection.session().is_none(), "it is over");
    peer.pass(Duration::from_millis(1));
    let sent = peer.go();
    assert_eq!(field(&sent[0], "/params/cursor"), "c");
    peer.respond(4, 200, LIST_RESULT);
    assert!(peer.connection.session().is_some());
    // A rest past the deadline is not begun.
    let mut long = probed(modern_http());
    long.ended(
        1,
        fault(Some(503)).with_retry_after(Duration::from_secs(10)),
    );
    assert!(!long.is_open());
    // `initialize` is not said twice.
    let mut legacy = Peer::with(ClientConfig {
        binding: Binding::Http,
        ..ClientConfig::new("0")
    });
    next(&mut legacy);
    legacy.ended(1, fault(Some(503)));
    assert!(!legacy.is_open());
}

/// S2: a kept connection that the server closes just when it is used again costs a moment, once for each request of the
/// handshake that does nothing; `initialize` is not said twice.
#[test]
fn broken_exchange_of_the_handshake_is_asked_again_once() {
    let broken = || fault(None).with_obstacle(Obstacle::Lost);
    let mut peer = probed(modern_http());
    peer.ended(1, broken());
    assert!(peer.go().is_empty(), "it rests");
    peer.pass(Duration::from_millis(100));
    assert_eq!(next(&mut peer), ("server/discover".to_owned(), 2));
    peer.respond(2, 200, DISCOVERED);
    assert_eq!(next(&mut peer), ("tools/list".to_owned(), 3));
    peer.ended(3, broken());
    peer.pass(Duration::from_millis(100));
    assert_eq!(next(&mut peer), ("tools/list".to_owned(), 4));
    peer.ended(4, broken());
    assert!(!peer.is_open(), "not a third time");
    // Another failure is none of that kind.
    let mut other = probed(modern_http());
    other.ended(1, fault(None));
    assert!(!other.is_open());
    let mut legacy = Peer::with(ClientConfig {
        binding: Binding::Http,
        ..ClientConfig::new("0")
    });
    next(&mut legacy);
    legacy.ended(1, broken());
    assert!(!legacy.is_open());
}

/// S1: over exchanges nothing overtakes `notifications/initialized`, and nothing waits for ever for its end.
#[test]
fn nothing_overtakes_the_introduction() {
    let mut peer = Peer::with(ClientConfig {
        binding: Binding::Http,
        ..ClientConfig::new("0")
    });
    next(&mut peer);
    peer.respond_with(None, 200, r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    peer.respond(1, 200, INITIALIZE_RESULT);
    assert_eq!(peer.orders(), [Order::Finish(1)]);
    let introduction = peer.connection.poll_transmit(false).unwrap();
    assert_eq!(introduction.kind, TransmitKind::Notification);
    assert!(peer.connection.poll_transmit(true).is_none());
    peer.ended(9, fault(None));
    assert!(peer.connection.poll_transmit(true).is_none());
    // Refused or accepted: the server had it.
    peer.ended(introduction.key, fault(Some(400)));
    let kinds: Vec<TransmitKind> = peer.transmits().iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [TransmitKind::Request, TransmitKind::Reply]);

    let mut stuck = Peer::with(ClientConfig {
        binding: Binding::Http,
        ..ClientConfig::new("0")
    });
    next(&mut stuck);
    stuck.respond(1, 200, INITIALIZE_RESULT);
    stuck.connection.poll_transmit(true).unwrap();
    stuck.pass(Duration::from_secs(10));
    assert_eq!(
        stuck.connection.connect_failure(),
        Some((
            &CloseReason::HandshakeUnsent {
                step: Step::ListTools { page: 1 },
                limit_ms: 10_000,
                held_up: HeldUp::Introduction,
            },
            Outcome::NotSent
        ))
    );
}

/// O1, O2: of a request that was never sent it is told what it waited for, and nothing of an answer or an era.
#[test]
fn unsent_request_is_no_silence_of_the_server() {
    let limit = Duration::from_secs(10);
    let handed = || {
        let mut peer = Peer::with(auto());
        let transmit = peer.connection.poll_transmit(true).unwrap();
        (peer, transmit.handover)
    };
    let held_up = |peer: &Peer| {
        let (reason, outcome) = peer.connection.connect_failure().unwrap();
        let text = reason.to_string();
        assert!(!text.contains("did not answer"), "{text}");
        assert!(!text.contains("legacy"), "{text}");
        assert_eq!(reason.code(), ErrorCode::Timeout);
        match reason {
            CloseReason::HandshakeUnsent { held_up, .. } => (*held_up, outcome),
            other => panic!("{other}"),
        }
    };

    let (mut peer, _handover) = handed();
    peer.pass(limit);
    assert_eq!(held_up(&peer), (HeldUp::Transport, Outcome::NotSent));

    let (mut peer, handover) = handed();
    let waiting = handover.authorising();
    peer.pass(limit);
    assert_eq!(
        held_up(&peer),
        (HeldUp::Credentials { refused: false }, Outcome::NotSent)
    );
    assert_eq!(peer.reason().obstacle(), Some(Obstacle::CredentialsLate));
    drop(waiting);

    // Sent, refused for its credentials, and to be sent again with others.
    let (mut peer, handover) = handed();
    assert!(handover.begin());
    let waiting = handover.authorising();
    peer.pass(limit);
    assert_eq!(
        held_up(&peer),
        (
            HeldUp::Credentials { refused: true },
            Outcome::ErrorResponse
        )
    );
    drop(waiting);

    let (mut peer, handover) = handed();
    drop(handover.authorising());
    assert!(handover.begin());
    peer.pass(limit);
    assert!(matches!(
        peer.reason(),
        CloseReason::HandshakeTimeout { .. }
    ));
}

/// T3, S3: a refusal of `initialize` keeps its status, whatever its body; only what no later revision says is one of a
/// server of 2024-11-05.
#[test]
fn refused_initialize_may_be_of_the_event_stream() {
    for (status, code, may) in [
        (400, Some(-32600), true),
        (404, Some(-32000), true),
        (405, Some(-32000), true),
        (405, None, true),
        // So a modern server tells an unknown method.
        (404, Some(-32601), false),
        (400, Some(-32020), false),
        (400, Some(-32022), false),
        (200, Some(-32600), false),
        (406, Some(-32000), false),
        (500, None, false),
    ] {
        let mut peer = Peer::with(ClientConfig {
            binding: Binding::Http,
            ..ClientConfig::new("0")
        });
        let (_, key) = next(&mut peer);
        if let Some(code) = code {
            peer.respond_with(Some(key), status, &error(code));
        }
        peer.ended(key, fault(Some(status)));
        let reason = peer.reason();
        assert_eq!(reason.may_speak_event_stream(), may, "{status} {code:?}");
        if code.is_some() && status == 405 {
            assert_eq!(reason.http_status(), Some(405));
        }
    }
}
