//! S5: how a session ends; the first reason wins, and every pending and later call gets it.

use std::task::{Poll, Waker};
use std::time::Duration;

use super::{LIST_RESULT, Peer, RESULT, config};
use crate::connection::{CallError, CloseReason, Event, ExitReason};
use crate::jsonrpc::Malformed;
use crate::limits::Limits;
use crate::outcome::{ErrorCode, Outcome};

fn endings() -> Vec<CloseReason> {
    vec![
        CloseReason::ScopeClosed,
        CloseReason::ChildExited(ExitReason::Code(3)),
        CloseReason::ChildExited(ExitReason::Signal(9)),
        CloseReason::ChildExited(ExitReason::Unknown),
        CloseReason::StdoutClosed,
        CloseReason::StdinClosed,
        CloseReason::TransportFailed,
        CloseReason::DriverGone,
        CloseReason::FrameTooLong { limit: 1 << 20 },
    ]
}

/// S5, O2: each ending: pending calls get it with what became of them, later calls get it as `not_sent`.
#[test]
fn each_ending_is_the_one_error_of_every_pending_and_later_call() {
    for reason in endings() {
        let mut peer = Peer::ready();
        let answered = peer.call();
        let sent = peer.call();
        peer.sent();
        peer.reply("3", RESULT);
        let begun = peer.call();
        let waiting = peer.call();
        peer.write(1);
        peer.connection.handle_closed(reason.clone());
        assert!(
            peer.take(answered).is_ok(),
            "what arrived before the end stays (H8)"
        );
        for (call, outcome) in [
            (sent, Outcome::NoResponse),
            (begun, Outcome::NoResponse),
            (waiting, Outcome::NotSent),
        ] {
            let expected = CallError::Closed {
                reason: reason.clone(),
                outcome,
            };
            assert_eq!(peer.take(call), Err(expected));
        }
        for _ in 0..3 {
            let error = peer.try_call("echo", "{}").unwrap_err();
            assert_eq!(error.code(), reason.code());
            assert_eq!(
                error,
                CallError::Closed {
                    reason: reason.clone(),
                    outcome: Outcome::NotSent
                }
            );
        }
        assert!(peer.sent().is_empty(), "nothing more is written");
        assert!(matches!(peer.events()[..], [Event::Closed]));
        assert_eq!(peer.connection.poll_timeout(), None);
        assert_eq!(peer.connection.pending_calls(), 0);
        assert_eq!(peer.connection.buffered_bytes(), 0);
    }
}

/// S5: the first reason wins over each later one; it is told once, and nothing revives the session.
#[test]
fn first_reason_wins() {
    for first in endings() {
        for second in endings() {
            let mut peer = Peer::ready();
            peer.connection.handle_closed(first.clone());
            peer.connection.handle_closed(second);
            peer.recv(r#"{"jsonrpc":"1.0"}"#);
            peer.recv(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
            peer.reply("2", LIST_RESULT);
            peer.pass(Duration::from_secs(1_000));
            assert_eq!(peer.reason(), &first);
            assert!(matches!(peer.events()[..], [Event::Closed]));
            assert!(peer.sent().is_empty());
        }
    }
}

/// S5, S6: a malformed tagged message ends the session with its kind, then the exit of the child changes nothing.
#[test]
fn malformed_message_ends_the_session() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.sent();
    peer.recv(r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1,"message":""}}"#);
    peer.connection
        .handle_closed(CloseReason::ChildExited(ExitReason::Code(0)));
    let reason = CloseReason::Malformed(Malformed::ResultAndError);
    assert_eq!(peer.reason(), &reason);
    assert_eq!(reason.code(), ErrorCode::ProtocolError);
    assert_eq!(
        peer.take(call),
        Err(CallError::Closed {
            reason,
            outcome: Outcome::NoResponse
        })
    );
}

/// S5, H8: what arrived whole before the fault is delivered, what comes after it is not.
#[test]
fn frames_after_the_end_are_nothing() {
    let mut peer = Peer::ready();
    let (before, after) = (peer.call(), peer.call());
    peer.sent();
    peer.reply("3", RESULT);
    peer.recv(r#"{"jsonrpc":"2.0","id":4,"result":{"content":[1e999]}}"#);
    peer.reply("4", RESULT);
    assert!(peer.take(before).is_ok());
    assert_eq!(peer.take(after).unwrap_err().outcome(), Outcome::NoResponse);
}

/// S5, O2: an end during the handshake tells what became of the request under way.
#[test]
fn end_during_the_handshake() {
    for reason in endings() {
        let mut unsent = Peer::with(config(Limits::default()));
        unsent.connection.handle_closed(reason.clone());
        assert_eq!(
            unsent.connection.connect_failure(),
            Some((&reason, Outcome::NotSent))
        );
        let mut sent = Peer::with(config(Limits::default()));
        sent.write(1);
        sent.connection.handle_closed(reason.clone());
        assert_eq!(
            sent.connection.connect_failure(),
            Some((&reason, Outcome::NoResponse))
        );
        assert_eq!(
            sent.try_call("echo", "{}").unwrap_err().code(),
            reason.code()
        );
    }
}

/// Each call ends once: its waker is woken once, its end taken once.
#[test]
fn end_is_told_once() {
    let mut peer = Peer::ready();
    let call = peer.call();
    assert!(peer.is_pending(call));
    assert!(peer.is_pending(call), "polled twice, one waker kept");
    peer.connection.handle_closed(CloseReason::ScopeClosed);
    let mut wakers = Vec::new();
    peer.connection.drain_wakers(&mut wakers);
    assert_eq!(wakers.len(), 1);
    peer.connection.drain_wakers(&mut wakers);
    assert_eq!(wakers.len(), 1);
    assert!(matches!(
        peer.connection.poll_call(call, Waker::noop()),
        Poll::Ready(Some(Err(_)))
    ));
    assert!(matches!(
        peer.connection.poll_call(call, Waker::noop()),
        Poll::Ready(None)
    ));
}

/// S4, S5: only a verdict on revisions is permanent.
#[test]
fn only_a_refused_revision_is_permanent() {
    for reason in endings() {
        assert!(!reason.is_permanent(), "{reason}");
    }
}
