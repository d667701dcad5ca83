//! S6, S7: what a server says beside the answers that it owes.

use std::time::Duration;

use super::{LIST_RESULT, Peer, RESULT, config};
use crate::connection::{ClientConfig, CloseReason, Event};
use crate::jsonrpc::{Malformed, Noise};
use crate::limits::Limits;

fn diagnosed() -> Peer {
    Peer::ready_with(ClientConfig {
        diagnostics: true,
        ..config(Limits::default())
    })
}

/// S6: every kind of noise is dropped and counted, a pending call is not touched, diagnostics get the line.
#[test]
fn noise_is_dropped_and_counted() {
    let mut peer = diagnosed();
    let call = peer.call();
    peer.sent();
    let lines = [
        ("", Noise::Blank),
        ("\u{feff}", Noise::Blank),
        ("listening on stdio", Noise::NotJson),
        (r#"{"jsonrpc":"2.0","id":3,"result":{"#, Noise::NotJson),
        ("42", Noise::Scalar),
        ("null", Noise::Scalar),
        ("true", Noise::Scalar),
        ("\"jsonrpc\"", Noise::Scalar),
        ("[]", Noise::Array),
        (
            r#"[{"jsonrpc":"2.0","id":3,"result":{"content":[]}}]"#,
            Noise::Array,
        ),
        ("{}", Noise::Untagged),
        (r#"{"id":3,"result":{"content":[]}}"#, Noise::Untagged),
    ];
    for (line, kind) in lines {
        peer.recv(line);
        match &peer.events()[..] {
            [
                Event::Noise {
                    kind: told,
                    line: kept,
                },
            ] => {
                assert_eq!((*told, &kept[..]), (kind, line.as_bytes()));
            }
            other => panic!("{line}: {other:?}"),
        }
    }
    assert_eq!(peer.connection.stats().noise, 12);
    assert!(peer.is_pending(call));
    assert!(peer.sent().is_empty());
    assert!(peer.is_open());
}

/// S6: without diagnostics nothing is kept of noise or of errors.
#[test]
fn nothing_is_kept_without_diagnostics() {
    let mut peer = Peer::ready();
    peer.call();
    peer.sent();
    peer.recv("noise");
    peer.recv(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#);
    peer.refuse("3", 1, "x");
    assert!(peer.events().is_empty());
}

/// S6: every malformed kind ends the session, in the handshake too.
#[test]
fn malformed_messages_end_the_session() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","method":"x","params":{}{}}}"#,
        "[".repeat(128),
        "]".repeat(128)
    );
    for (frame, kind) in [
        (r#"{"jsonrpc":"1.0","method":"x"}"#, Malformed::Version),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#,
            Malformed::DuplicateKey,
        ),
        (r#"{"jsonrpc":"2.0","method":7}"#, Malformed::Method),
        (
            r#"{"jsonrpc":"2.0","method":"x","params":7}"#,
            Malformed::Params,
        ),
        (r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#, Malformed::Id),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#,
            Malformed::RequestAndReply,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            Malformed::ResultAndError,
        ),
        (r#"{"jsonrpc":"2.0","id":1}"#, Malformed::Empty),
        (
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            Malformed::ResultWithoutId,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
            Malformed::ErrorObject,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"x","params":[1e999]}"#,
            Malformed::NumberOverflow,
        ),
        (&deep, Malformed::TooDeep),
    ] {
        let mut peer = Peer::ready();
        peer.recv(frame);
        assert_eq!(peer.reason(), &CloseReason::Malformed(kind), "{frame}");
        let mut early = Peer::with(config(Limits::default()));
        early.recv(frame);
        assert_eq!(early.reason(), &CloseReason::Malformed(kind), "{frame}");
    }
}

/// S6: an error that answers nothing goes to diagnostics, and the session stays.
#[test]
fn uncorrelated_error_goes_to_diagnostics() {
    let mut peer = diagnosed();
    let call = peer.call();
    peer.sent();
    for id in ["", r#""id":null,"#] {
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"m"}}}}"#
        ));
        assert!(
            matches!(&peer.events()[..], [Event::UncorrelatedError(error)] if error.code == -32700)
        );
    }
    assert_eq!(peer.connection.stats().uncorrelated_errors, 2);
    assert!(peer.is_pending(call));
    assert!(peer.is_open());
}

/// S6: a batch is taken on 2025-03-26 and only there; a batch in a batch and an empty one are noise.
#[test]
fn batches_are_taken_on_one_revision_only() {
    let batch = format!(
        r#"[{{"jsonrpc":"2.0","method":"notifications/x","params":{{"a":{{"b":1}}}}}}, 7, [], {{"result":{RESULT},"jsonrpc":"2.0","id":3}},{{"jsonrpc":"2.0","id":"p","method":"ping"}},{{"untagged":1}}]"#
    );
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut peer = Peer::ready_on(revision, config(Limits::default()));
        let call = peer.call();
        peer.sent();
        peer.recv(&batch);
        peer.recv("[]");
        assert!(peer.is_open());
        if revision == "2025-03-26" {
            assert_eq!(peer.take(call).unwrap().raw().as_str(), RESULT);
            assert_eq!(peer.sent(), [r#"{"jsonrpc":"2.0","id":"p","result":{}}"#]);
            assert_eq!(peer.connection.stats().notifications, 1);
            assert_eq!(
                peer.connection.stats().noise,
                4,
                "7, [], the untagged object, and the empty batch"
            );
        } else {
            assert!(peer.is_pending(call), "{revision}");
            assert_eq!(peer.connection.stats().noise, 2, "{revision}");
        }
    }
}

/// S5, S6: a malformed element ends the session; elements before it count, those after it do not.
#[test]
fn malformed_element_of_a_batch_ends_the_session() {
    let mut peer = Peer::ready_on("2025-03-26", config(Limits::default()));
    let (before, after) = (peer.call(), peer.call());
    peer.sent();
    peer.recv(&format!(
        r#"[{{"jsonrpc":"2.0","id":3,"result":{RESULT}}},{{"jsonrpc":"2.0"}},{{"jsonrpc":"2.0","id":4,"result":{RESULT}}}]"#
    ));
    assert_eq!(peer.reason(), &CloseReason::Malformed(Malformed::Empty));
    assert!(peer.take(before).is_ok());
    assert!(peer.take(after).is_err());
}

/// S6: there are no batches before a revision is agreed on.
#[test]
fn batch_before_the_handshake_is_noise() {
    let mut peer = Peer::with(config(Limits::default()));
    peer.sent();
    peer.recv(&format!(
        r#"[{{"jsonrpc":"2.0","id":1,"result":{LIST_RESULT}}}]"#
    ));
    assert_eq!(peer.connection.stats().noise, 1);
    assert!(peer.is_open());
}

/// S7: a ping is answered with its exact id, whatever that is, also while calls are pending; ids are independent.
#[test]
fn ping_is_answered_with_its_exact_id() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.sent();
    let long = "x".repeat(10_000);
    for id in [
        "3",
        "0",
        "-7",
        "-0",
        "12345678901234567890123456789012345678901234567890",
        "\"3\"",
        "\"\"",
        r#""\u0061\ud800\/""#,
        &format!("\"{long}\""),
    ] {
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","id": {id} ,"method":"ping"}}"#
        ));
        assert_eq!(
            peer.sent(),
            [format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)]
        );
    }
    peer.recv(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{}}}"#);
    assert_eq!(peer.sent().len(), 1);
    assert!(peer.is_pending(call));
    assert_eq!(peer.connection.stats().requests, 10);
}

/// S7: any other request is answered -32601, with its exact id and nothing of its method.
#[test]
fn other_requests_are_refused() {
    let mut peer = Peer::ready();
    for method in [
        "sampling/createMessage",
        "roots/list",
        "elicitation/create",
        "Ping",
        "ping ",
        "",
        "initialize",
        "MARKER",
    ] {
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","id":"a","method":"{method}","params":{{}}}}"#
        ));
        assert_eq!(
            peer.sent(),
            [r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}"#]
        );
    }
    assert!(peer.is_open());
}

/// S7: a ping notification has no answer.
#[test]
fn notification_has_no_answer() {
    let mut peer = Peer::ready();
    for method in [
        "ping",
        "notifications/message",
        "notifications/cancelled",
        "x",
    ] {
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":3}}}}"#
        ));
    }
    assert!(peer.sent().is_empty());
    assert_eq!(peer.connection.stats().notifications, 4);
}

/// S7: replies pass the bound on outbound frames, and who breaks it is told as it is.
#[test]
fn reply_over_the_frame_limit_ends_the_session() {
    let ping = |id: usize| {
        let id = "x".repeat(id);
        format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#)
    };
    let around = r#"{"jsonrpc":"2.0","id":"","result":{}}"#.len();
    let limit = 400;
    let limits = Limits {
        max_outbound_frame_bytes: limit,
        ..Limits::default()
    };
    let mut peer = Peer::ready_with(config(limits));
    peer.recv(&ping(limit - around));
    assert!(peer.is_open());
    peer.recv(&ping(limit - around + 1));
    assert_eq!(peer.reason(), &CloseReason::ReplyTooLong { limit });
}

/// S7: a reply that finds no room in the queue within `requestTimeoutMs` ends the session; one that does, does not.
#[test]
fn reply_that_finds_no_room_ends_the_session() {
    let limits = Limits {
        queue_capacity: 2,
        ..Limits::default()
    };
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut peer = Peer::ready_with(config(limits.clone()));
    peer.recv(ping);
    peer.recv(ping);
    assert_eq!(
        peer.connection.poll_timeout(),
        None,
        "both are in the queue"
    );
    peer.pass(Duration::from_secs(1));
    peer.recv(ping);
    peer.pass(Duration::from_millis(119_999));
    assert!(peer.is_open());
    peer.pass(Duration::from_millis(1));
    assert_eq!(peer.reason(), &CloseReason::ReplyBlocked);

    let mut reading = Peer::ready_with(config(limits));
    for _ in 0..3 {
        reading.recv(ping);
    }
    let first = reading.connection.transmit().next().unwrap().len();
    reading.write(first);
    assert_eq!(
        reading.connection.poll_timeout(),
        None,
        "the third found room"
    );
    reading.pass(Duration::from_secs(1_000));
    assert!(reading.is_open());
    assert_eq!(reading.sent().len(), 2);
}

/// S7, L1: replies keep the outbound bound: at the limit one is sent, one past it ends the session.
#[test]
fn replies_keep_the_outbound_bound() {
    let limits = Limits {
        max_outbound_frame_bytes: 1_000,
        ..Limits::default()
    };
    let around = r#"{"jsonrpc":"2.0","id":"","result":{}}"#.len();
    for (length, open) in [(1_000 - around, true), (1_001 - around, false)] {
        let mut peer = Peer::ready_with(config(limits.clone()));
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#,
            "i".repeat(length)
        ));
        assert_eq!(peer.is_open(), open);
        assert_eq!(peer.sent().len(), usize::from(open));
    }
}

/// S7: the counters of what came.
#[test]
fn frames_are_counted() {
    let mut peer = Peer::ready();
    let before = peer.connection.stats().clone();
    peer.recv("noise");
    peer.recv("noise of 17 bytes");
    let after = peer.connection.stats();
    assert_eq!(after.frames_in - before.frames_in, 2);
    assert_eq!(after.bytes_in - before.bytes_in, 22);
}
