//! S8: what becomes of a call whose caller is gone.

use std::time::Duration;

use super::{Peer, RESULT, config};
use crate::connection::Abandoned;
use crate::limits::Limits;
use crate::outcome::Outcome;

const CANCEL_3: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;

/// S8: abandoned before its frame reached the transport: the frame is skipped, nothing is cancelled.
#[test]
fn abandoned_before_dispatch_is_skipped() {
    let mut peer = Peer::ready();
    let first = peer.call();
    let second = peer.call();
    assert_eq!(peer.connection.abandon(first), Abandoned::NotSent);
    assert_eq!(peer.connection.abandon(first), Abandoned::Unknown);
    let sent = peer.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].contains("\"id\":4"));
    assert!(peer.is_pending(second));
    assert_eq!(peer.connection.stats().cancelled, 0);
    assert_eq!(peer.connection.pending_calls(), 1);
}

/// S8: a frame partly written is finished, then exactly one cancellation follows.
#[test]
fn partly_written_frame_is_finished_then_cancelled_once() {
    let mut peer = Peer::ready();
    let call = peer.call();
    let whole = peer.connection.transmit().next().unwrap().to_vec();
    peer.write(10);
    let later = peer.call();
    assert_eq!(peer.connection.abandon(call), Abandoned::NoResponse);
    let sent = peer.sent();
    assert_eq!(
        sent[0].as_bytes(),
        &whole[10..whole.len() - 1],
        "half a frame would poison the stream"
    );
    assert!(sent[1].contains("\"id\":4"));
    assert_eq!(sent[2], CANCEL_3);
    assert_eq!(sent.len(), 3);
    assert_eq!(peer.connection.abandon(call), Abandoned::Unknown);
    assert!(peer.sent().is_empty());
    assert!(peer.is_pending(later));
}

/// S8: abandoned after dispatch: exactly one cancellation; the late answer is dropped and counted.
#[test]
fn abandoned_after_dispatch_is_cancelled_once() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.sent();
    assert_eq!(peer.connection.abandon(call), Abandoned::NoResponse);
    assert_eq!(peer.sent(), [CANCEL_3]);
    peer.reply("3", RESULT);
    assert_eq!(peer.connection.stats().stray_replies, 1);
    assert!(peer.sent().is_empty());
    assert_eq!(peer.connection.poll_timeout(), None);
    assert_eq!(peer.connection.buffered_bytes(), 0);
}

/// S8: a deadline cancels once; letting go of the ended call afterwards cancels nothing more.
#[test]
fn deadline_cancels_once() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.sent();
    let skipped = peer.call();
    peer.pass(Duration::from_secs(120));
    assert_eq!(
        peer.sent(),
        [CANCEL_3],
        "and the frame not begun is skipped"
    );
    let Abandoned::Ended(Err(error)) = peer.connection.abandon(call) else {
        panic!("it ended");
    };
    assert_eq!(error.outcome(), Outcome::NoResponse);
    assert_eq!(peer.take(skipped).unwrap_err().outcome(), Outcome::NotSent);
    peer.pass(Duration::from_secs(120));
    assert!(peer.sent().is_empty());
}

/// S8: never after any reply: neither for a call that was answered, nor for one whose answer overtakes the cancellation.
#[test]
fn nothing_is_cancelled_after_a_reply() {
    let mut peer = Peer::ready();
    let answered = peer.call();
    let refused = peer.call();
    let unusable = peer.call();
    peer.sent();
    peer.reply("3", RESULT);
    peer.refuse("4", -32000, "x");
    peer.reply("5", "{}");
    for call in [answered, refused, unusable] {
        assert!(matches!(peer.connection.abandon(call), Abandoned::Ended(_)));
    }
    assert!(peer.sent().is_empty());

    let overtaken = peer.call();
    let other = peer.call();
    peer.sent();
    peer.connection.abandon(overtaken);
    peer.connection.abandon(other);
    peer.reply("6", RESULT);
    assert_eq!(
        peer.sent(),
        [CANCEL_3.replace('3', "7")],
        "the answer came before the cancellation was begun"
    );
}

/// S8: a cancellation that was begun is finished, whatever comes.
#[test]
fn begun_cancellation_is_finished() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.sent();
    peer.connection.abandon(call);
    peer.write(1);
    peer.reply("3", RESULT);
    assert_eq!(peer.sent(), [&CANCEL_3[1..]]);
}

/// S8: a full queue drops the cancellation rather than delay the deadline.
#[test]
fn full_queue_drops_the_cancellation() {
    let mut peer = Peer::ready_with(config(Limits {
        queue_capacity: 2,
        ..Limits::default()
    }));
    let call = peer.call();
    peer.sent();
    peer.call();
    peer.connection.abandon(call);
    assert_eq!(peer.connection.stats().cancelled, 1, "room for one more");
    assert_eq!(peer.sent().len(), 2);

    let call = peer.call();
    peer.sent();
    peer.call();
    peer.call();
    peer.connection.abandon(call);
    assert_eq!(peer.connection.stats().cancels_dropped, 1);
    let sent = peer.sent();
    assert_eq!(sent.len(), 2);
    assert!(
        sent.iter().all(|frame| frame.contains("tools/call")),
        "{sent:?}"
    );
}

/// S8: nothing is cancelled on a session that ended.
#[test]
fn ended_session_cancels_nothing() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.sent();
    peer.recv(r#"{"jsonrpc":"2.0","id":3}"#);
    assert!(matches!(
        peer.connection.abandon(call),
        Abandoned::Ended(Err(_))
    ));
    assert!(peer.sent().is_empty());
}
