//! S1, S4: `initialize`, `notifications/initialized`, `tools/list` through every page.

use std::time::Duration;

use super::{INITIALIZE_RESULT, LIST_RESULT, Peer, config, field};
use crate::connection::{ClientConfig, CloseReason, Event, HandshakeFault, Step};
use crate::limits::Limits;
use crate::mcp::{CatalogFault, Revision};
use crate::outcome::{ErrorCode, Outcome};

fn answered(result: &str) -> Peer {
    let mut peer = Peer::with(config(Limits::default()));
    peer.sent();
    peer.reply("1", result);
    peer
}

/// S1: what goes over the wire, in its order.
#[test]
fn handshake_on_the_wire() {
    let mut peer = Peer::with(config(Limits::default()));
    assert_eq!(
        peer.sent(),
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"seawall","version":"0.0.0-test"}}}"#
        ]
    );
    peer.reply("1", INITIALIZE_RESULT);
    assert!(peer.connection.session().is_none());
    assert_eq!(
        peer.sent(),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        ]
    );
    peer.reply("2", r#"{"tools":[],"nextCursor":"a\u0020\"b"}"#);
    assert!(peer.connection.catalog().is_none());
    assert_eq!(
        peer.sent(),
        [r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"a\u0020\"b"}}"#],
        "the cursor goes back as it came"
    );
    peer.reply("3", LIST_RESULT);
    assert!(peer.sent().is_empty());
    assert!(matches!(peer.events()[..], [Event::Ready]));
    assert_eq!(peer.connection.catalog().unwrap().pages(), 2);
    assert_eq!(peer.connection.catalog().unwrap().tools().len(), 2);
    assert_eq!(peer.connection.poll_timeout(), None);
    let session = peer.connection.session().unwrap();
    assert_eq!(session.revision, Revision::V2025_11_25);
    assert_eq!(
        session.server_info.as_ref().unwrap().as_str(),
        r#"{"name":"demo","version":"1"}"#
    );
    let steps: Vec<Step> = peer
        .connection
        .stats()
        .handshake
        .iter()
        .map(|(step, _)| *step)
        .collect();
    assert_eq!(
        steps,
        [
            Step::Initialize,
            Step::ListTools { page: 1 },
            Step::ListTools { page: 2 }
        ]
    );
}

/// S1: every revision with a handshake is taken; the newest is proposed.
#[test]
fn every_revision_with_a_handshake_is_accepted() {
    for revision in Revision::LEGACY {
        let peer = Peer::ready_on(revision.as_str(), config(Limits::default()));
        assert_eq!(peer.connection.session().unwrap().revision, revision);
    }
}

/// S1: a pin proposes its revision and accepts no other (MCPL: exactly 2024-11-05).
#[test]
fn pin_proposes_its_revision_and_accepts_no_other() {
    for pin in Revision::LEGACY {
        for answer in Revision::LEGACY {
            let mut peer = Peer::with(ClientConfig {
                pin: Some(pin),
                ..config(Limits::default())
            });
            assert_eq!(
                field(&peer.sent()[0], "/params/protocolVersion"),
                pin.as_str()
            );
            peer.reply(
                "1",
                &INITIALIZE_RESULT.replace("2025-11-25", answer.as_str()),
            );
            if pin == answer {
                assert!(peer.is_open());
                continue;
            }
            let text = peer.reason().to_string();
            assert!(
                text.contains(pin.as_str()) && text.contains(answer.as_str()),
                "{text}"
            );
            assert!(text.contains("pins"), "{text}");
            assert!(peer.reason().is_permanent());
        }
    }
}

/// S1, S4: another revision is a permanent `protocol_error` that names both sides.
#[test]
fn revision_of_neither_side_is_a_permanent_verdict_naming_both() {
    for (version, suggestion) in [
        ("2099-01-01", None),
        ("2026-07-28", Some("\"protocol\": \"modern\"")),
        ("0000-00-00", None),
    ] {
        let mut peer = answered(&INITIALIZE_RESULT.replace("2025-11-25", version));
        let (reason, outcome) = peer.connection.connect_failure().unwrap();
        assert_eq!(
            (reason.code(), outcome),
            (ErrorCode::ProtocolError, Outcome::Answered)
        );
        assert!(reason.is_permanent());
        let text = reason.to_string();
        assert!(text.contains(version), "{text}");
        for revision in Revision::LEGACY {
            assert!(text.contains(revision.as_str()), "{text}");
        }
        assert_eq!(
            text.contains("write \"protocol\""),
            suggestion.is_some(),
            "{text}"
        );
        assert!(
            suggestion.is_none_or(|words| text.contains(words)),
            "{text}"
        );
        assert!(peer.sent().is_empty(), "nothing follows a refusal");
    }
}

/// S1: a version without the form of a revision is not repeated.
#[test]
fn version_without_the_form_of_one_is_not_repeated() {
    for version in [
        "MARKER",
        "2025-11-2x",
        "2025-11-25 ",
        "2025/11/25",
        "",
        "２025-11-25",
        "20251125",
    ] {
        let peer = answered(&INITIALIZE_RESULT.replace("2025-11-25", version));
        assert!(
            matches!(peer.reason(), CloseReason::Revision(_)),
            "{version}"
        );
        let text = peer.reason().to_string();
        assert!(
            version.is_empty() || !text.replace("2025-11-25)", "").contains(version),
            "{text}"
        );
    }
}

/// S1: each field wrong.
#[test]
fn each_field_of_the_answer_is_checked() {
    use HandshakeFault::{NoCapabilities, NoTools, NoVersion, NotAnObject};
    for (result, fault) in [
        ("null", NotAnObject),
        ("[]", NotAnObject),
        ("\"2025-11-25\"", NotAnObject),
        ("{}", NoVersion),
        (
            r#"{"protocolVersion":null,"capabilities":{"tools":{}}}"#,
            NoVersion,
        ),
        (
            r#"{"protocolVersion":20251125,"capabilities":{"tools":{}}}"#,
            NoVersion,
        ),
        (
            r#"{"protocolVersion":["2025-11-25"],"capabilities":{"tools":{}}}"#,
            NoVersion,
        ),
        (r#"{"protocolVersion":"2025-11-25"}"#, NoCapabilities),
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":null}"#,
            NoCapabilities,
        ),
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":[]}"#,
            NoCapabilities,
        ),
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":"tools"}"#,
            NoCapabilities,
        ),
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#,
            NoTools,
        ),
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":null}}"#,
            NoTools,
        ),
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":true}}"#,
            NoTools,
        ),
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":{"prompts":{"tools":{}}}}"#,
            NoTools,
        ),
    ] {
        let mut peer = answered(result);
        assert_eq!(peer.reason(), &CloseReason::Handshake(fault), "{result}");
        assert_eq!(peer.reason().code(), ErrorCode::ProtocolError);
        assert_eq!(
            peer.connection.connect_failure().unwrap().1,
            Outcome::Answered
        );
        assert!(!peer.reason().is_permanent());
        assert!(peer.sent().is_empty());
        assert!(matches!(peer.events()[..], [Event::Closed]));
    }
    assert!(
        answered(r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"x":1},"y":2}"#)
            .is_open()
    );
}

/// S4: -32022 with its list: code and data kept, both sides named, permanent.
#[test]
fn refused_revision_keeps_code_and_data() {
    let mut peer = Peer::with(config(Limits::default()));
    peer.sent();
    peer.recv(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"MARKER","data":{"supported":["2026-07-28","MARKER",7],"requested":"2025-11-25"}}}"#);
    let CloseReason::Revision(refusal) = peer.reason() else {
        panic!("{:?}", peer.reason());
    };
    assert_eq!(refusal.code, Some(-32022));
    assert_eq!(refusal.offered, ["2026-07-28"]);
    assert_eq!(
        refusal.data.as_ref().unwrap().as_str(),
        r#"{"supported":["2026-07-28","MARKER",7],"requested":"2025-11-25"}"#
    );
    let text = peer.reason().to_string();
    assert!(!text.contains("MARKER"), "{text}");
    assert!(
        text.contains("-32022") && text.contains("2026-07-28") && text.contains("modern"),
        "{text}"
    );
    assert!(peer.reason().is_permanent());
    assert_eq!(peer.reason().json_rpc_code(), Some(-32022));
    assert_eq!(
        peer.connection.connect_failure().unwrap().1,
        Outcome::ErrorResponse
    );
}

/// S4: what is said is true: a server that lists a revision that Seawall speaks is not said to speak none.
#[test]
fn refusal_that_lists_a_revision_of_ours_says_to_pin_it() {
    let mut peer = Peer::with(config(Limits::default()));
    peer.sent();
    peer.recv(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"","data":{"supported":["2024-11-05","2025-06-18"]}}}"#);
    let text = peer.reason().to_string();
    assert!(!text.contains("speaks no revision"), "{text}");
    assert!(
        text.contains("2025-11-25") && text.contains("\"protocol\": \"2025-06-18\""),
        "{text}"
    );
    assert!(!text.contains("leave `protocol` out"), "{text}");
}

/// S4: a refusal without a usable list still says what we speak and claims nothing about the server.
#[test]
fn refusal_without_a_list_claims_nothing() {
    for data in [
        "",
        r#","data":null"#,
        r#","data":{"supported":"2025-06-18"}"#,
        r#","data":{"supported":[]}"#,
    ] {
        let mut peer = Peer::with(config(Limits::default()));
        peer.sent();
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32022,"message":"m"{data}}}}}"#
        ));
        let text = peer.reason().to_string();
        assert!(
            text.contains("2025-11-25") && text.contains("-32022"),
            "{text}"
        );
        assert!(!text.contains("that it named"), "it named none: {text}");
        assert!(peer.reason().is_permanent());
    }
}

/// S4: the list that a refusal keeps is bounded.
#[test]
fn refusal_keeps_a_bounded_list() {
    let many = vec!["\"2030-01-01\""; 10_000].join(",");
    let mut peer = Peer::with(config(Limits::default()));
    peer.sent();
    peer.recv(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32022,"message":"","data":{{"supported":[{many}]}}}}}}"#));
    assert!(peer.reason().to_string().len() < 1_000);
}

/// S1, O2: another error on a handshake request fails the connect with its code only.
#[test]
fn refused_handshake_request_fails_the_connect() {
    let mut peer = Peer::with(config(Limits::default()));
    peer.sent();
    peer.refuse("1", -32601, "MARKER tool not found");
    assert_eq!(
        peer.reason(),
        &CloseReason::HandshakeRefused {
            step: Step::Initialize,
            code: -32601,
            status: None,
        }
    );
    assert_eq!(peer.reason().code(), ErrorCode::ProtocolError);
    assert_eq!(
        peer.connection.connect_failure().unwrap().1,
        Outcome::ErrorResponse
    );

    let mut peer = answered(INITIALIZE_RESULT);
    peer.sent();
    peer.refuse("2", -32022, "MARKER");
    assert_eq!(
        peer.reason(),
        &CloseReason::HandshakeRefused {
            step: Step::ListTools { page: 1 },
            code: -32022,
            status: None,
        },
        "on tools/list it is no verdict on a revision"
    );
}

/// L1 (handshakeTimeoutMs): each exchange has its own 10 s; nothing is cancelled (S8: never for `initialize`).
#[test]
fn each_exchange_has_its_own_deadline() {
    let almost = Duration::from_millis(9_999);
    let mut peer = Peer::with(config(Limits::default()));
    peer.sent();
    peer.pass(almost);
    peer.reply("1", INITIALIZE_RESULT);
    peer.sent();
    peer.pass(almost);
    peer.reply("2", r#"{"tools":[],"nextCursor":"c"}"#);
    peer.sent();
    peer.pass(almost);
    assert!(peer.is_open());
    peer.pass(Duration::from_millis(1));
    assert_eq!(
        peer.reason(),
        &CloseReason::HandshakeTimeout {
            step: Step::ListTools { page: 2 },
            limit_ms: 10_000
        }
    );
    assert_eq!(peer.reason().code(), ErrorCode::Timeout);
    assert_eq!(
        peer.connection.connect_failure().unwrap().1,
        Outcome::NoResponse
    );
    assert!(peer.sent().is_empty(), "no cancellation");

    let mut unread = Peer::with(config(Limits::default()));
    unread.pass(Duration::from_millis(10_000));
    assert_eq!(
        unread.connection.connect_failure().unwrap().1,
        Outcome::NotSent
    );
    assert!(unread.sent().is_empty(), "never cancel initialize");
    let mut late = Peer::with(config(Limits::default()));
    late.sent();
    late.pass(Duration::from_millis(10_000));
    assert!(late.sent().is_empty(), "never cancel initialize");
}

/// S1, L5: a catalog fault fails the connect whole, as `invalid_response`, answered.
#[test]
fn catalog_fault_fails_the_connect_whole() {
    let mut peer = answered(INITIALIZE_RESULT);
    peer.sent();
    peer.reply("2", r#"{"tools":[],"nextCursor":""}"#);
    assert_eq!(peer.reason(), &CloseReason::Catalog(CatalogFault::Cursor));
    assert_eq!(peer.reason().code(), ErrorCode::InvalidResponse);
    assert_eq!(
        peer.connection.connect_failure().unwrap().1,
        Outcome::Answered
    );
    assert!(peer.connection.catalog().is_none());
}

/// O2: an answer to a handshake request that was not written yet is nobody's answer.
#[test]
fn early_answer_is_stray() {
    let mut peer = Peer::with(config(Limits::default()));
    peer.reply("1", INITIALIZE_RESULT);
    assert_eq!(peer.connection.stats().stray_replies, 1);
    peer.sent();
    peer.reply("1", INITIALIZE_RESULT);
    peer.reply("2", LIST_RESULT);
    assert_eq!(peer.connection.stats().stray_replies, 2);
    peer.reply("1", INITIALIZE_RESULT);
    assert_eq!(peer.connection.stats().stray_replies, 3, "answered before");
    peer.sent();
    peer.reply("\"2\"", LIST_RESULT);
    assert!(
        peer.connection.session().is_some(),
        "a decimal string is the integer (S6)"
    );
}

/// L1 (maxOutboundFrameBytes): the handshake's own frames keep the bound; one that cannot is `not_sent`.
#[test]
fn handshake_frames_keep_the_outbound_bound() {
    let length = Peer::with(config(Limits::default())).sent()[0].len();
    let limits = |max_outbound_frame_bytes| Limits {
        max_outbound_frame_bytes,
        ..Limits::default()
    };
    let mut at = Peer::with(config(limits(length)));
    assert_eq!(at.sent().len(), 1);
    let mut past = Peer::with(config(limits(length - 1)));
    assert_eq!(
        past.connection.connect_failure(),
        Some((
            &CloseReason::RequestTooLong {
                step: Step::Initialize,
                limit: length - 1
            },
            Outcome::NotSent
        ))
    );
    assert!(past.sent().is_empty());
    at.reply("1", INITIALIZE_RESULT);
    at.sent();
    at.reply(
        "2",
        &format!(r#"{{"tools":[],"nextCursor":"{}"}}"#, "c".repeat(length)),
    );
    assert_eq!(
        at.connection.connect_failure(),
        Some((
            &CloseReason::RequestTooLong {
                step: Step::ListTools { page: 2 },
                limit: length
            },
            Outcome::NotSent
        ))
    );
}

/// S1: a server may speak before the handshake is over; it is answered, and a call is not yet possible.
#[test]
fn server_may_speak_before_the_handshake_is_over() {
    let mut peer = Peer::with(config(Limits::default()));
    peer.sent();
    peer.recv(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    peer.recv(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#);
    assert_eq!(peer.sent(), [r#"{"jsonrpc":"2.0","id":0,"result":{}}"#]);
    let error = peer.try_call("echo", "{}").unwrap_err();
    assert_eq!(
        (error.code(), error.outcome()),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    peer.reply("1", INITIALIZE_RESULT);
    assert_eq!(peer.sent().len(), 2);
}
