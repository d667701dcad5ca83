//! Calls: what is refused before it is sent, what is answered, and what became of each.

use std::time::Duration;

use super::{Peer, RESULT, config, field};
use crate::connection::{CallError, CloseReason, Time};
use crate::json::Json;
use crate::limits::{DEFAULT_MAX_OUTBOUND_FRAME_BYTES, Limits};
use crate::mcp::ResultFault;
use crate::outcome::{ErrorCode, Outcome};

fn nested_object(depth: usize) -> String {
    "{\"a\":".repeat(depth - 1) + "{}" + &"}".repeat(depth - 1)
}

/// O4, O5: a call on the wire; its id is its progress token, and arguments and name go as they are.
#[test]
fn call_on_the_wire() {
    let mut peer = Peer::ready();
    peer.try_call("add", "{ \"a\":1.50,\r\n\"b\":\"x\\n\" }")
        .unwrap();
    assert_eq!(
        peer.sent(),
        [
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"\\u0061dd\",\"arguments\":{ \"a\":1.50,  \"b\":\"x\\n\" },\"_meta\":{\"progressToken\":3}}}"
        ]
    );
    let next = peer.call();
    assert_eq!(field(&peer.sent()[0], "/id"), 4);
    peer.reply("4", RESULT);
    assert_eq!(peer.take(next).unwrap().raw().as_str(), RESULT);
}

/// S10: a name that the snapshot lacks is refused before anything is written.
#[test]
fn unknown_tool_sends_nothing() {
    let mut peer = Peer::ready();
    for name in ["", "Echo", "echo ", "\\u0061dd", "demo/echo"] {
        let error = peer.try_call(name, "{}").unwrap_err();
        assert_eq!(error, CallError::UnknownTool);
        assert_eq!(
            (error.code(), error.outcome()),
            (ErrorCode::ToolNotFound, Outcome::NotSent)
        );
    }
    assert!(peer.sent().is_empty());
    assert!(peer.is_open());
}

/// L4: arguments whose root is no object are refused, nothing is sent, the session goes on.
#[test]
fn arguments_that_are_no_object_send_nothing() {
    let mut peer = Peer::ready();
    for arguments in ["[]", "null", "1", "\"{}\"", "true", "[{}]"] {
        let error = peer.try_call("echo", arguments).unwrap_err();
        assert_eq!(error, CallError::ArgumentsKind, "{arguments}");
        assert_eq!(
            (error.code(), error.outcome()),
            (ErrorCode::ProtocolError, Outcome::NotSent)
        );
    }
    assert!(peer.sent().is_empty());
    assert!(peer.is_open());
}

/// L2, L4: 128 nested containers go out, counting envelope and params; 129 do not.
#[test]
fn arguments_at_the_depth_limit_and_one_past_it() {
    let mut peer = Peer::ready();
    peer.try_call("echo", &nested_object(126)).unwrap();
    assert_eq!(Json::check(peer.sent().remove(0)).unwrap().depth(), 128);
    let error = peer.try_call("echo", &nested_object(127)).unwrap_err();
    assert_eq!(error, CallError::ArgumentsTooDeep);
    assert_eq!(error.outcome(), Outcome::NotSent);
    assert!(peer.sent().is_empty());
    assert!(peer.is_open());
}

/// L1 (maxOutboundFrameBytes), L4: the exact encoded size, at the limit and one past it.
#[test]
fn request_at_the_outbound_limit_and_one_past_it() {
    let mut peer = Peer::ready();
    let limit = DEFAULT_MAX_OUTBOUND_FRAME_BYTES;
    let arguments = |padding: usize| format!("{{\"s\":\"{}\"}}", "x".repeat(padding));
    peer.try_call("echo", &arguments(0)).unwrap();
    let around = peer.sent()[0].len();
    peer.try_call("echo", &arguments(limit - around)).unwrap();
    assert_eq!(peer.sent()[0].len(), limit);
    for padding in [limit - around + 1, limit, 2 * limit] {
        let error = peer.try_call("echo", &arguments(padding)).unwrap_err();
        assert_eq!(error, CallError::RequestTooLong { limit });
        assert_eq!(
            (error.code(), error.outcome()),
            (ErrorCode::ProtocolError, Outcome::NotSent)
        );
    }
    assert!(peer.sent().is_empty());
    assert!(peer.is_open());
}

/// O5: a result, an isError result and their content pass byte for byte; S11: isError is data.
#[test]
fn results_pass_byte_for_byte() {
    let mut peer = Peer::ready();
    for result in [
        r#"{ "content":[{"type":"x","data":"\u00e9\/"}] ,"_meta":{"n":1.50E+2}}"#,
        r#"{"isError":true,"content":[{"type":"text","text":"Unknown tool: x"}]}"#,
        r#"{"structuredContent":null}"#,
        r#"{"structuredContent":{"big":123456789012345678901234567890},"content":[]}"#,
    ] {
        let call = peer.call();
        let id = field(&peer.sent()[0], "/id").to_string();
        peer.reply(&id, result);
        let found = peer.take(call).unwrap();
        assert_eq!(found.raw().as_str(), result);
        assert_eq!(found.is_error(), result.contains("true"));
    }
}

/// S11, O2: a complete answer that cannot be used is `invalid_response`, `answered`; the session goes on.
#[test]
fn unusable_answer_is_answered() {
    let mut peer = Peer::ready();
    for (result, fault) in [
        ("{}", ResultFault::Empty),
        ("null", ResultFault::NotAnObject),
        (r#"{"content":{}}"#, ResultFault::Content),
        (r#"{"content":[],"isError":0}"#, ResultFault::IsError),
        (r#"{"content":[],"content":[]}"#, ResultFault::DuplicateKey),
    ] {
        let call = peer.call();
        let id = field(&peer.sent()[0], "/id").to_string();
        peer.reply(&id, result);
        let error = peer.take(call).unwrap_err();
        assert_eq!(error, CallError::Unusable(fault));
        assert_eq!(
            (error.code(), error.outcome()),
            (ErrorCode::InvalidResponse, Outcome::Answered)
        );
    }
    assert!(peer.is_open());
}

/// O2, O3: a JSON-RPC error is `error_response`, with its code; the words decide between two classes.
#[test]
fn json_rpc_error_is_an_error_response() {
    let mut peer = Peer::ready();
    for (code, message, class) in [
        (-32602, "Unknown tool: x", ErrorCode::ToolNotFound),
        (-32601, "tool not found", ErrorCode::ToolNotFound),
        (-32602, "missing argument", ErrorCode::ToolFailed),
        (-32000, "Unknown tool: x", ErrorCode::ToolFailed),
        (-32022, "x", ErrorCode::ToolFailed),
        (1, "x", ErrorCode::ToolFailed),
    ] {
        let call = peer.call();
        let id = field(&peer.sent()[0], "/id").to_string();
        peer.refuse(&id, code, message);
        let error = peer.take(call).unwrap_err();
        assert_eq!(
            (error.code(), error.outcome()),
            (class, Outcome::ErrorResponse),
            "{code} {message}"
        );
        assert_eq!(error.json_rpc_code(), Some(code));
        assert!(error.to_string().contains(&code.to_string()));
    }
    assert!(peer.is_open());
}

/// S6: replies are matched by id in any order; a decimal string is the integer; others are dropped and counted.
#[test]
fn replies_are_matched_by_id() {
    let mut peer = Peer::ready();
    let calls: Vec<_> = (0..3).map(|_| peer.call()).collect();
    peer.sent();
    for stray in ["99", "\"x\"", "0", "-3", "\"03\"", "1", "2"] {
        peer.reply(stray, RESULT);
    }
    assert_eq!(peer.connection.stats().stray_replies, 7);
    peer.reply("\"5\"", r#"{"content":[5]}"#);
    peer.reply("3", r#"{"content":[3]}"#);
    peer.refuse(r#""\u0034""#, -1, "");
    assert_eq!(
        peer.take(calls[2]).unwrap().raw().as_str(),
        r#"{"content":[5]}"#
    );
    assert_eq!(
        peer.take(calls[0]).unwrap().raw().as_str(),
        r#"{"content":[3]}"#
    );
    assert_eq!(peer.take(calls[1]).unwrap_err().json_rpc_code(), Some(-1));
    peer.reply("3", RESULT);
    assert_eq!(peer.connection.stats().stray_replies, 8, "answered before");
    assert!(peer.is_open());
}

/// O2: the first answer ends a call, a second one changes nothing.
#[test]
fn first_answer_counts() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.sent();
    peer.reply("3", r#"{"content":[1]}"#);
    peer.reply("3", r#"{"content":[2]}"#);
    peer.refuse("3", -1, "");
    assert_eq!(
        peer.take(call).unwrap().raw().as_str(),
        r#"{"content":[1]}"#
    );
    assert_eq!(peer.connection.take(call), None, "taken once");
    assert_eq!(peer.connection.stats().stray_replies, 2);
}

/// O2: an answer to a call that was not dispatched is not its answer; one byte dispatches it.
#[test]
fn answer_before_the_first_byte_is_stray() {
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.reply("3", RESULT);
    assert_eq!(peer.connection.stats().stray_replies, 1);
    assert!(peer.is_pending(call));
    peer.write(1);
    peer.reply("3", RESULT);
    assert!(peer.take(call).is_ok());
}

/// L1 (requestTimeoutMs), O2: the deadline bounds the whole call; dispatched is `no_response`, else `not_sent`.
#[test]
fn deadline_tells_what_became_of_the_call() {
    let mut peer = Peer::ready();
    let sent = peer.call();
    peer.sent();
    let begun = peer.call();
    let waiting = peer.call();
    peer.write(1);
    peer.pass(Duration::from_millis(119_999));
    for call in [sent, begun, waiting] {
        assert!(peer.is_pending(call));
    }
    peer.pass(Duration::from_millis(1));
    for (call, outcome) in [
        (sent, Outcome::NoResponse),
        (begun, Outcome::NoResponse),
        (waiting, Outcome::NotSent),
    ] {
        let error = peer.take(call).unwrap_err();
        assert_eq!(
            error,
            CallError::Timeout {
                limit_ms: 120_000,
                outcome
            }
        );
        assert_eq!(error.code(), ErrorCode::Timeout);
        assert_eq!(
            error.to_string().contains("verify state"),
            outcome == Outcome::NoResponse
        );
    }
    assert!(peer.is_open());
}

/// A call's own timeout goes before the default.
#[test]
fn own_timeout_goes_before_the_default() {
    let mut peer = Peer::ready();
    let arguments = Json::check("{}").unwrap();
    let short = peer
        .connection
        .call(peer.now, "echo", &arguments, Some(Duration::from_millis(5)))
        .unwrap();
    let endless = peer
        .connection
        .call(peer.now, "echo", &arguments, Some(Duration::MAX))
        .unwrap();
    let zero = peer
        .connection
        .call(peer.now, "echo", &arguments, Some(Duration::ZERO))
        .unwrap();
    assert_eq!(peer.connection.poll_timeout(), Some(peer.now));
    peer.pass(Duration::ZERO);
    assert!(peer.take(zero).is_err());
    assert_eq!(
        peer.connection.poll_timeout(),
        Some(peer.now.after(Duration::from_millis(5)))
    );
    peer.pass(Duration::from_millis(5));
    assert_eq!(peer.take(short).unwrap_err().code(), ErrorCode::Timeout);
    assert!(peer.is_pending(endless));
    assert_eq!(
        peer.connection.poll_timeout(),
        Some(Time::from_epoch(Duration::MAX))
    );
}

/// A late clock never loses a deadline, and a call's timeout never outlives its session.
#[test]
fn deadlines_are_met_however_late_the_clock_is_told() {
    let mut peer = Peer::ready();
    let calls: Vec<_> = (0..100).map(|_| peer.call()).collect();
    peer.sent();
    peer.pass(Duration::from_secs(1_000_000));
    for call in calls {
        assert_eq!(peer.take(call).unwrap_err().code(), ErrorCode::Timeout);
    }
    let call = peer.call();
    peer.connection.handle_closed(CloseReason::StdoutClosed);
    assert_eq!(peer.connection.poll_timeout(), None);
    peer.pass(Duration::from_secs(1_000_000));
    assert_eq!(
        peer.take(call).unwrap_err().code(),
        ErrorCode::ConnectionClosed
    );
}

/// O4: progress reaches its call only: known token, dispatched, not ended; the newest counts, once.
#[test]
fn progress_reaches_its_call_only() {
    let progress = |token: &str, rest: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token}{rest}}}}}"#
        )
    };
    let mut peer = Peer::ready();
    let call = peer.call();
    peer.recv(&progress("3", ",\"progress\":1"));
    assert_eq!(peer.connection.take_progress(call), None, "not dispatched");
    peer.sent();
    assert!(peer.is_pending(call));
    peer.recv(&progress("3", ",\"progress\":1"));
    let mut wakers = Vec::new();
    peer.connection.drain_wakers(&mut wakers);
    assert_eq!(wakers.len(), 1);
    peer.recv(&progress(
        "3",
        ",\"progress\":2.5,\"total\":1e1,\"message\":\"\\u0061\"",
    ));
    for other in ["4", "\"x\"", "null", "-3", "3.0"] {
        peer.recv(&progress(other, ",\"progress\":9"));
    }
    peer.recv(&progress("3", ""));
    peer.recv(&progress("3", ",\"progress\":\"9\""));
    peer.recv(r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#);
    peer.recv(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[3,9]}"#);
    let found = peer.connection.take_progress(call).unwrap();
    assert_eq!(
        (found.progress, found.total, found.message.as_deref()),
        (2.5, Some(10.0), Some("a"))
    );
    assert_eq!(peer.connection.take_progress(call), None);
    peer.reply("3", RESULT);
    peer.recv(&progress("3", ",\"progress\":9"));
    assert_eq!(peer.connection.take_progress(call), None, "it ended");
    assert!(peer.take(call).is_ok());
    assert!(peer.is_open());
}

/// L1 (queueCapacity): a call past it waits its turn within its own deadline; it is not refused.
#[test]
fn call_past_the_queue_waits_its_turn() {
    let mut peer = Peer::ready_with(config(Limits {
        queue_capacity: 2,
        ..Limits::default()
    }));
    let calls: Vec<_> = (0..5).map(|_| peer.call()).collect();
    assert_eq!(peer.connection.stats().most_queued, 5);
    assert_eq!(peer.sent().len(), 5);
    for (call, id) in calls.into_iter().zip(3..) {
        peer.reply(&id.to_string(), RESULT);
        assert!(peer.take(call).is_ok());
    }
}
