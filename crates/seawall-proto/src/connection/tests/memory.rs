//! L6, L8: memory stays bounded whatever a server sends.

use bytes::Bytes;

use super::{Peer, RESULT, config};
use crate::connection::{CallError, ClientConfig};
use crate::limits::Limits;
use crate::outcome::{ErrorCode, Outcome};

/// L6: 10^6 notifications, noise lines, stray replies and errors leave nothing behind.
#[test]
fn million_frames_leave_nothing_behind() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.sent();
    let frames = [
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#,
        "a line of noise",
        r#"{"jsonrpc":"2.0","id":999,"result":{"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1,"message":"x"}}"#,
    ]
    .map(|frame| Bytes::from_static(frame.as_bytes()));
    for _ in 0..200_000 {
        for frame in &frames {
            peer.connection.handle_frame(peer.now, frame);
        }
    }
    assert_eq!(peer.connection.stats().frames_in, 1_000_002);
    assert_eq!(peer.connection.buffered_bytes(), 0);
    assert_eq!(peer.connection.stats().most_queued, 2, "of the handshake");
    assert!(peer.events().is_empty());
    assert!(peer.connection.wants_read());
    assert!(peer.is_pending(call));
}

/// L6: with diagnostics, events that nobody takes are dropped and counted past a bound; the ending is never dropped.
#[test]
fn diagnostics_that_nobody_takes_are_bounded() {
    let mut peer = Peer::ready_with(ClientConfig {
        diagnostics: true,
        ..config(Limits::default())
    });
    for _ in 0..10_000 {
        peer.recv("noise");
    }
    peer.recv(r#"{"jsonrpc":"2.0"}"#);
    let events = peer.events();
    assert!(events.len() < 200, "{}", events.len());
    assert!(matches!(
        events.last(),
        Some(crate::connection::Event::Closed)
    ));
    assert_eq!(
        peer.connection.stats().diagnostics_dropped + events.len() as u64,
        10_001
    );
    assert_eq!(peer.connection.stats().noise, 10_000);
}

/// L8: results that nobody took pause the reader; taking them resumes it; deadlines run meanwhile.
#[test]
fn results_not_taken_pause_the_reader() {
    let limits = Limits {
        max_buffered_bytes: 10_000,
        ..Limits::default()
    };
    let mut peer = Peer::ready_with(config(limits));
    let calls: Vec<_> = (0..10).map(|_| peer.call()).collect();
    peer.sent();
    let result = format!(r#"{{"content":["{}"]}}"#, "x".repeat(3_000));
    let mut arrived = 0;
    while peer.connection.wants_read() && arrived < 10 {
        peer.reply(&(3 + arrived).to_string(), &result);
        arrived += 1;
    }
    assert_eq!(arrived, 4, "past the bound by one frame at most");
    assert!(peer.connection.buffered_bytes() <= 10_000 + 3_300);
    let error = peer.try_call("echo", "{}").unwrap_err();
    assert_eq!(error, CallError::BufferFull { limit: 10_000 });
    assert_eq!(
        (error.code(), error.outcome()),
        (ErrorCode::ProtocolError, Outcome::NotSent)
    );
    peer.pass(std::time::Duration::from_secs(120));
    for call in &calls[4..] {
        assert_eq!(peer.take(*call).unwrap_err().code(), ErrorCode::Timeout);
    }
    assert!(!peer.connection.wants_read());
    peer.sent();
    assert!(peer.take(calls[0]).is_ok());
    assert!(peer.connection.wants_read(), "room again");
    for call in &calls[1..4] {
        assert!(peer.take(*call).is_ok());
    }
    assert_eq!(peer.connection.buffered_bytes(), 0);
    assert!(peer.try_call("echo", "{}").is_ok());
}

/// L8: frames not yet written count: new calls are refused as `not_sent`, and the session goes on.
#[test]
fn frames_not_written_refuse_new_calls() {
    let limits = Limits {
        max_buffered_bytes: 10_000,
        ..Limits::default()
    };
    let mut peer = Peer::ready_with(config(limits));
    let answers: Vec<_> = (0..100).map(|_| peer.try_call("echo", "{}")).collect();
    assert_eq!(
        answers.last(),
        Some(&Err(CallError::BufferFull { limit: 10_000 }))
    );
    assert!(peer.connection.buffered_bytes() <= 10_000);
    assert!(answers.iter().filter(|answer| answer.is_ok()).count() > 20);
    assert!(
        peer.connection.wants_read(),
        "calls of ours alone never pause the reader"
    );
    peer.sent();
    assert_eq!(peer.connection.buffered_bytes(), 0);
    assert!(peer.try_call("echo", "{}").is_ok());
}

/// L8: outbound and inbound count together.
#[test]
fn outbound_and_inbound_count_together() {
    let limits = Limits {
        max_buffered_bytes: 10_000,
        ..Limits::default()
    };
    let mut peer = Peer::ready_with(config(limits));
    let first = peer.call();
    peer.sent();
    let refused = (0..100).find_map(|_| peer.try_call("echo", "{}").err());
    assert_eq!(refused, Some(CallError::BufferFull { limit: 10_000 }));
    peer.reply("3", &format!(r#"{{"content":["{}"]}}"#, "x".repeat(3_000)));
    assert!(!peer.connection.wants_read());
    assert!(peer.connection.buffered_bytes() <= 10_000 + 3_300);
    peer.take(first).unwrap();
    assert!(peer.connection.wants_read());
}

/// L8: the replies that a server asks for and does not read pause the reader.
#[test]
fn replies_not_read_pause_the_reader() {
    let limits = Limits {
        max_buffered_bytes: 10_000,
        ..Limits::default()
    };
    let mut peer = Peer::ready_with(config(limits));
    let mut asked = 0;
    while peer.connection.wants_read() {
        peer.recv(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        asked += 1;
        assert!(asked < 1_000);
    }
    assert!(peer.connection.buffered_bytes() < 10_200);
    peer.sent();
    assert!(peer.connection.wants_read());
}

/// L8: what a small result keeps alive counts, not what it shows: a padded envelope hides no memory.
#[test]
fn padding_around_a_result_counts() {
    let padding = "p".repeat(100_000);
    for (revision, frame) in [
        (
            "2025-11-25",
            format!(r#"{{"jsonrpc":"2.0","id":3,"pad":"{padding}","result":{RESULT}}}"#),
        ),
        (
            "2025-11-25",
            format!(r#"{{"jsonrpc":"2.0","id":3,"result":{RESULT},"pad":"{padding}"}}"#),
        ),
        (
            "2025-03-26",
            format!(r#"[{{"jsonrpc":"2.0","id":3,"result":{RESULT}}},"{padding}"]"#),
        ),
    ] {
        let mut peer = Peer::ready_on(revision, config(Limits::default()));
        let call = peer.call();
        peer.sent();
        let frame = Bytes::from(frame);
        peer.connection.handle_frame(peer.now, &frame);
        let counted = peer.connection.buffered_bytes();
        assert!(counted >= RESULT.len());
        let alive = !frame.is_unique();
        assert!(
            !alive || counted >= frame.len(),
            "{counted} counted of {}",
            frame.len()
        );
        assert_eq!(peer.take(call).unwrap().raw().as_str(), RESULT);
        assert_eq!(peer.connection.buffered_bytes(), 0);
    }
}

/// L6: the text of a progress report is cut, so that no number of pending calls makes it matter.
#[test]
fn progress_text_is_bounded() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.sent();
    for (length, kept) in [(1_000, 1_000), (4_096, 4_096), (1_000_000, 4_095)] {
        let text = if length == 1_000_000 {
            "あ".repeat(300_000)
        } else {
            "x".repeat(length)
        };
        peer.recv(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":3,"progress":1,"message":"{text}"}}}}"#));
        let progress = peer.connection.take_progress(call).unwrap();
        assert_eq!(progress.message.unwrap().len(), kept);
    }
}
