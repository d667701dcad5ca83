//! O1, O2: the text and the class of every failure.

use std::error::Error as _;
use std::sync::Arc;

use super::{INITIALIZE_RESULT, Peer, config};
use crate::connection::{
    CallError, ClientConfig, CloseReason, ExitReason, HandshakeFault, HeldUp, RevisionRefusal, Step,
};
use crate::jsonrpc::Malformed;
use crate::limits::Limits;
use crate::mcp::{CatalogFault, ResultFault, Revision, ToolFault};
use crate::outcome::{ErrorCode, Outcome};

/// One of each reason, and its class.
fn reasons() -> Vec<(CloseReason, ErrorCode)> {
    use ErrorCode::{ConnectionClosed, InvalidResponse, ProtocolError, Timeout};
    let step = Step::ListTools { page: 2 };
    let refusal = RevisionRefusal {
        proposed: Revision::NEWEST_LEGACY,
        pinned: false,
        offered: vec![String::from("2099-01-01")],
        code: None,
        data: None,
    };
    vec![
        (CloseReason::ScopeClosed, ConnectionClosed),
        (
            CloseReason::ChildExited(ExitReason::Code(7)),
            ConnectionClosed,
        ),
        (
            CloseReason::ChildExited(ExitReason::Signal(15)),
            ConnectionClosed,
        ),
        (CloseReason::StdoutClosed, ConnectionClosed),
        (CloseReason::StdinClosed, ConnectionClosed),
        (CloseReason::TransportFailed, ConnectionClosed),
        (CloseReason::DriverGone, ConnectionClosed),
        (CloseReason::Malformed(Malformed::Id), ProtocolError),
        (CloseReason::FrameTooLong { limit: 5 }, ProtocolError),
        (CloseReason::ReplyBlocked, ProtocolError),
        (CloseReason::ReplyTooLong { limit: 5 }, ProtocolError),
        (CloseReason::HandshakeTimeout { step, limit_ms: 5 }, Timeout),
        (
            CloseReason::HandshakeUnsent {
                step,
                limit_ms: 5,
                held_up: HeldUp::Introduction,
            },
            Timeout,
        ),
        (
            CloseReason::HandshakeRefused {
                step,
                code: -32601,
                status: None,
            },
            ProtocolError,
        ),
        (
            CloseReason::Handshake(HandshakeFault::NoTools),
            ProtocolError,
        ),
        (CloseReason::Revision(Arc::new(refusal)), ProtocolError),
        (CloseReason::Catalog(CatalogFault::Page), InvalidResponse),
        (
            CloseReason::Catalog(CatalogFault::Tool {
                index: 4,
                fault: ToolFault::NoName,
            }),
            InvalidResponse,
        ),
        (
            CloseReason::RequestTooLong { step, limit: 5 },
            ProtocolError,
        ),
    ]
}

/// O1: each reason has its class, and a text that does not print its source twice.
#[test]
fn each_reason_has_its_class() {
    for (reason, code) in reasons() {
        assert_eq!(reason.code(), code, "{reason}");
        let text = reason.to_string();
        assert!(
            text.chars().next().is_some_and(char::is_lowercase),
            "{text}"
        );
        if let Some(source) = reason.source() {
            assert!(!text.contains(&source.to_string()), "{text}");
        }
    }
    assert!(reasons()[1].0.to_string().contains("code 7"));
    assert!(reasons()[2].0.to_string().contains("signal 15"));
}

/// O1, O2: each failure of a call has its class and its outcome; the unknown one says what to do.
#[test]
fn each_failure_of_a_call_has_its_class_and_outcome() {
    use Outcome::{Answered, ErrorResponse, NoResponse, NotSent};
    let closed = |outcome| CallError::Closed {
        reason: CloseReason::StdoutClosed,
        outcome,
    };
    let refused = |tool_not_found| CallError::Refused {
        code: -32602,
        tool_not_found,
        told: crate::connection::RemoteText::default(),
    };
    for (error, code, outcome) in [
        (CallError::UnknownTool, ErrorCode::ToolNotFound, NotSent),
        (CallError::NotReady, ErrorCode::ConnectionClosed, NotSent),
        (CallError::ArgumentsKind, ErrorCode::ProtocolError, NotSent),
        (
            CallError::ArgumentsTooDeep,
            ErrorCode::ProtocolError,
            NotSent,
        ),
        (
            CallError::RequestTooLong { limit: 1 },
            ErrorCode::ProtocolError,
            NotSent,
        ),
        (
            CallError::BufferFull { limit: 1 },
            ErrorCode::ProtocolError,
            NotSent,
        ),
        (
            CallError::Timeout {
                limit_ms: 1,
                outcome: NotSent,
            },
            ErrorCode::Timeout,
            NotSent,
        ),
        (
            CallError::Timeout {
                limit_ms: 1,
                outcome: NoResponse,
            },
            ErrorCode::Timeout,
            NoResponse,
        ),
        (closed(NotSent), ErrorCode::ConnectionClosed, NotSent),
        (closed(NoResponse), ErrorCode::ConnectionClosed, NoResponse),
        (refused(true), ErrorCode::ToolNotFound, ErrorResponse),
        (refused(false), ErrorCode::ToolFailed, ErrorResponse),
        (
            CallError::Unusable(ResultFault::Empty),
            ErrorCode::InvalidResponse,
            Answered,
        ),
    ] {
        assert_eq!((error.code(), error.outcome()), (code, outcome), "{error}");
        let text = error.to_string();
        assert_eq!(
            text.contains("verify state before retrying"),
            outcome == NoResponse,
            "{text}"
        );
        if let Some(source) = error.source() {
            assert!(!text.contains(&source.to_string()), "{text}");
        }
    }
}

#[test]
fn words_of_codes_and_outcomes() {
    use ErrorCode as C;
    let codes = [
        C::SpawnFailed,
        C::ConnectionClosed,
        C::Timeout,
        C::ProtocolError,
        C::ToolNotFound,
        C::ToolFailed,
        C::InvalidResponse,
        C::CapabilityRefused,
        C::Configuration,
    ];
    assert_eq!(
        codes.map(|code| code.to_string()).join(" "),
        "spawn_failed connection_closed timeout protocol_error tool_not_found tool_failed invalid_response capability_refused configuration"
    );
    let outcomes = [
        Outcome::NotSent,
        Outcome::ErrorResponse,
        Outcome::Answered,
        Outcome::NoResponse,
    ];
    assert_eq!(
        outcomes.map(|outcome| outcome.to_string()).join(" "),
        "not_sent error_response answered no_response"
    );
}

/// O1: whatever a server writes MARKER into, no error that comes of it shows it, nor does any event's Debug.
#[test]
fn no_failure_repeats_the_servers_text() {
    let handshake = |at_list: bool, frame: &str| {
        let mut peer = Peer::with(ClientConfig {
            diagnostics: true,
            ..config(Limits::default())
        });
        peer.sent();
        if at_list {
            peer.reply("1", INITIALIZE_RESULT);
            peer.sent();
        }
        peer.recv(frame);
        let reason = peer.reason().clone();
        let events = peer.events();
        let call = peer.try_call("MARKER", r#"{"MARKER":1}"#).unwrap_err();
        assert!(
            !format!("{reason} {reason:?} {events:?} {call} {call:?}").contains("MARKER"),
            "{frame}: {reason:?} {events:?}"
        );
    };
    for frame in [
        r#"{"jsonrpc":"MARKER"}"#,
        r#"{"jsonrpc":"2.0","MARKER":"MARKER"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":"MARKER"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"MARKER","capabilities":{"tools":{}}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":"MARKER"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"MARKER","data":"MARKER"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"MARKER","data":{"supported":["MARKER"],"MARKER":1}}}"#,
    ] {
        handshake(false, frame);
    }
    for result in [
        r#"{"MARKER":[]}"#,
        r#"{"tools":[{"name":"MARKER"}]}"#,
        r#"{"tools":[{"name":"MARKER/","inputSchema":{"type":"object"}}]}"#,
        r#"{"tools":["MARKER"]}"#,
        r#"{"tools":[],"nextCursor":["MARKER"]}"#,
    ] {
        handshake(
            true,
            &format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#),
        );
    }
    let mut peer = Peer::ready_with(ClientConfig {
        diagnostics: true,
        ..config(Limits::default())
    });
    for answer in [
        r#""error":{"code":-32602,"message":"tool MARKER not found","data":"MARKER"}"#,
        r#""result":"MARKER""#,
        r#""result":{"MARKER":1}"#,
        r#""result":{"content":"MARKER"}"#,
        r#""result":{"content":[],"isError":"MARKER"}"#,
    ] {
        let call = peer.try_call("echo", r#"{"MARKER":1}"#).unwrap();
        let id = super::field(&peer.sent()[0], "/id");
        peer.recv(&format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#));
        let error = peer.take(call).unwrap_err();
        let events = peer.events();
        assert!(
            !format!("{error} {error:?} {events:?}").contains("MARKER"),
            "{answer}"
        );
    }
    peer.recv("MARKER noise");
    peer.recv(r#"{"jsonrpc":"2.0","error":{"code":1,"message":"MARKER"}}"#);
    let events = peer.events();
    assert_eq!(events.len(), 2);
    assert!(!format!("{events:?}").contains("MARKER"), "{events:?}");
    let call = peer.try_call("echo", r#"{"MARKER":1}"#).unwrap();
    assert!(!format!("{:?} {call:?}", peer.connection.stats()).contains("MARKER"));
}
