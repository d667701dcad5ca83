//! S2, S3, S4: the revision without a handshake.

use std::time::Duration;

use super::{DISCOVERED, LIST_RESULT, Peer, RESULT, all_capabilities, config, field, modern};
use crate::connection::{CallError, ClientConfig, CloseReason, Era, Event, HandshakeFault, Step};
use crate::json::Json;
use crate::limits::Limits;
use crate::mcp::{CatalogFault, ClientCapabilities, Revision};
use crate::outcome::{ErrorCode, Outcome};

const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"seawall","version":"0.0.0-test"},"io.modelcontextprotocol/clientCapabilities":{}"#;

fn probed(config: ClientConfig) -> Peer {
    let mut peer = Peer::with(config);
    assert_eq!(field(&peer.sent()[0], "/method"), "server/discover");
    peer
}

fn refuse_revision(peer: &mut Peer, id: u64, supported: &str) {
    peer.recv(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"MARKER","data":{{"supported":[{supported}],"requested":"2026-07-28"}}}}}}"#
    ));
}

/// S2: discovery, the list and a call on the wire: `_meta` on every request, nothing declared by default.
#[test]
fn discovery_on_the_wire() {
    let mut peer = Peer::with(modern());
    assert_eq!(
        peer.sent(),
        [format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{{{META}}}}}}}"#
        )]
    );
    peer.reply("1", DISCOVERED);
    assert_eq!(
        peer.sent(),
        [format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{"_meta":{{{META}}}}}}}"#
        )]
    );
    peer.reply("2", LIST_RESULT);
    assert!(matches!(peer.events()[..], [Event::Ready]));
    let session = peer.connection.session().unwrap();
    assert_eq!(session.revision, Revision::V2026_07_28);
    assert_eq!(
        session.server_info.as_ref().unwrap().as_str(),
        r#"{"name":"demo","version":"1"}"#
    );
    let call = peer.call();
    assert_eq!(
        peer.sent(),
        [format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"echo","arguments":{{}},"_meta":{{{META},"progressToken":3}}}}}}"#
        )]
    );
    peer.reply("3", RESULT);
    assert!(peer.take(call).is_ok());
}

/// S2: exactly what the host supplies is declared, on both eras.
#[test]
fn what_is_supplied_is_declared() {
    let some = ClientCapabilities {
        elicitation_url: true,
        sampling: true,
        sampling_tools: true,
        sampling_context: true,
        ..ClientCapabilities::default()
    };
    for (capabilities, declared) in [
        (ClientCapabilities::default(), "{}"),
        (
            all_capabilities(),
            r#"{"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}"#,
        ),
        (
            some,
            r#"{"sampling":{"tools":{},"context":{}},"elicitation":{"url":{}}}"#,
        ),
    ] {
        let declared: serde_json::Value = serde_json::from_str(declared).unwrap();
        let mut peer = Peer::with(ClientConfig {
            capabilities,
            ..modern()
        });
        assert_eq!(
            field(
                &peer.sent()[0],
                "/params/_meta/io.modelcontextprotocol~1clientCapabilities"
            ),
            declared
        );
        let mut peer = Peer::with(ClientConfig {
            capabilities,
            ..config(Limits::default())
        });
        assert_eq!(field(&peer.sent()[0], "/params/capabilities"), declared);
    }
}

/// S2: a caller's own `_meta` goes along, but for what says who we are; other members go as they came.
#[test]
fn own_meta_of_a_caller_goes_along() {
    let mut peer = Peer::modern_with(DISCOVERED, modern());
    let params = Json::check(
        r#"{"uri":"a\u0062","_meta":{"io.modelcontextprotocol/logLevel":"info","io.modelcontextprotocol/protocolVersion":"x","progressToken":"theirs","traceparent":"t"},"x":1}"#,
    )
    .unwrap();
    peer.connection
        .request(peer.now, "resources/read", Some(params), None)
        .unwrap();
    assert_eq!(
        peer.sent(),
        [format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{{"uri":"a\u0062","x":1,"_meta":{{"io.modelcontextprotocol/logLevel":"info","traceparent":"t",{META},"progressToken":3}}}}}}"#
        )]
    );
}

/// S3, S4: -32022 that lists the very revision is tried once more, within the same deadline, and then is a verdict.
#[test]
fn revision_that_is_refused_and_listed_is_tried_once_more() {
    for era in [Era::Modern, Era::Auto] {
        let mut peer = probed(ClientConfig { era, ..modern() });
        peer.pass(Duration::from_secs(3));
        refuse_revision(&mut peer, 1, r#""2026-07-28""#);
        let again = peer.sent();
        assert_eq!(field(&again[0], "/method"), "server/discover");
        assert_eq!(field(&again[0], "/id"), 2);
        let next = peer.connection.poll_timeout().unwrap();
        let whole = Duration::from_secs(if era == Era::Auto { 2 } else { 7 });
        assert_eq!(next.since(peer.now), whole, "the deadline stays");
        let mut fine = Peer::with(ClientConfig { era, ..modern() });
        fine.sent();
        refuse_revision(&mut fine, 1, r#""2025-11-25","2026-07-28""#);
        fine.sent();
        fine.reply("2", DISCOVERED);
        assert!(fine.is_open());

        refuse_revision(&mut peer, 2, r#""2026-07-28""#);
        let text = peer.reason().to_string();
        assert!(peer.reason().is_permanent());
        assert!(text.contains("which it lists"), "{text}");
        assert!(!text.contains("write \"protocol\""), "{text}");
        assert!(peer.sent().is_empty());
    }
}

/// S3, S4: -32022 that lists only others never falls back; the message says what each side speaks and what to write.
#[test]
fn revision_that_is_refused_for_others_is_a_verdict() {
    for (era, supported, words) in [
        (
            Era::Modern,
            r#""2025-11-25""#,
            "\"protocol\": \"2025-11-25\"",
        ),
        (
            Era::Auto,
            r#""2025-06-18","2025-11-25""#,
            "\"protocol\": \"2025-11-25\"",
        ),
        (Era::Auto, r#""2027-01-01""#, "2025-11-25, 2026-07-28)"),
        (Era::Modern, r#""2027-01-01""#, "pins; it speaks 2027-01-01"),
        (Era::Modern, "", "pins"),
    ] {
        let mut peer = probed(ClientConfig { era, ..modern() });
        refuse_revision(&mut peer, 1, supported);
        let (reason, outcome) = peer.connection.connect_failure().unwrap();
        assert!(reason.is_permanent());
        assert_eq!(reason.json_rpc_code(), Some(-32022));
        assert_eq!(outcome, Outcome::ErrorResponse);
        let text = reason.to_string();
        assert!(text.contains(words), "{text}");
        assert!(!text.contains("leave `protocol` out"), "{text}");
        assert!(!text.contains("MARKER"), "{text}");
        assert!(peer.sent().is_empty(), "never a fallback");
    }
}

/// S4: a discovery without our revision is a verdict too.
#[test]
fn discovery_without_our_revision_is_a_verdict() {
    for era in [Era::Modern, Era::Auto] {
        let mut peer = probed(ClientConfig { era, ..modern() });
        peer.reply(
            "1",
            &DISCOVERED.replace("[\"2026-07-28\"]", "[\"2027-01-01\",7,\"MARKER\"]"),
        );
        assert!(peer.reason().is_permanent());
        assert_eq!(
            peer.connection.connect_failure().unwrap().1,
            Outcome::Answered
        );
        let text = peer.reason().to_string();
        assert!(
            text.contains("2027-01-01") && !text.contains("MARKER"),
            "{text}"
        );
    }
}

/// S2: each field of the answer to `server/discover` is checked.
#[test]
fn each_field_of_discovery_is_checked() {
    use HandshakeFault::{
        DuplicateKey, NoCapabilities, NoTools, NoVersion, NotAnObject, ResultType,
    };
    for (result, fault) in [
        ("null", NotAnObject),
        ("[]", NotAnObject),
        ("{}", NoVersion),
        (r#"{"supportedVersions":"2026-07-28"}"#, NoVersion),
        (r#"{"supportedVersions":["2026-07-28"]}"#, NoCapabilities),
        (
            r#"{"supportedVersions":["2026-07-28"],"capabilities":[]}"#,
            NoCapabilities,
        ),
        (
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#,
            NoTools,
        ),
        (
            r#"{"supportedVersions":["2026-07-28"],"supportedVersions":[],"capabilities":{}}"#,
            DuplicateKey,
        ),
        (
            r#"{"resultType":"input_required","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"requestState":"x"}"#,
            ResultType,
        ),
        (
            r#"{"resultType":7,"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#,
            ResultType,
        ),
    ] {
        let mut peer = probed(modern());
        peer.reply("1", result);
        assert_eq!(peer.reason(), &CloseReason::Discovery(fault), "{result}");
        assert_eq!(peer.reason().code(), ErrorCode::ProtocolError);
    }
}

/// S2, O4: a page that wishes for another round, or is of an unknown kind, fails the connect, and a later reading only
/// itself; without a kind it is complete.
#[test]
fn page_of_another_kind_is_refused() {
    for kind in ["\"input_required\"", "\"task\"", "null", "7"] {
        let page = LIST_RESULT.replacen('{', &format!("{{\"resultType\":{kind},"), 1);
        let mut peer = probed(modern());
        peer.reply("1", DISCOVERED);
        peer.sent();
        peer.reply("2", &page);
        assert_eq!(
            peer.reason(),
            &CloseReason::Catalog(CatalogFault::ResultType),
            "{kind}"
        );

        let mut peer = Peer::modern_with(DISCOVERED, modern());
        peer.connection.relist(peer.now);
        peer.sent();
        peer.reply("3", &page);
        assert!(
            matches!(
                peer.events()[..],
                [Event::RelistFailed(CloseReason::Catalog(
                    CatalogFault::ResultType
                ))]
            ),
            "{kind}"
        );
        assert_eq!(peer.connection.catalog().unwrap().tools().len(), 2);
    }
}

/// S3: over one stream every error but the recognised modern ones falls back, and nothing is keyed to one code.
#[test]
fn other_errors_fall_back_where_either_era_is_spoken() {
    for code in [-32601, -32600, -32602, -32000, -32001, -1, 404, 0] {
        let mut peer = probed(ClientConfig {
            era: Era::Auto,
            ..modern()
        });
        peer.refuse("1", code, "x");
        let sent = peer.sent();
        assert_eq!(field(&sent[0], "/method"), "initialize", "{code}");
        assert!(!sent[0].contains("_meta"), "{}", sent[0]);
        assert_eq!(field(&sent[0], "/id"), 2);
        peer.reply("2", super::INITIALIZE_RESULT);
        let sent = peer.sent();
        assert_eq!(
            sent[1], r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
            "nothing modern is left"
        );
        peer.reply("3", LIST_RESULT);
        assert_eq!(
            peer.connection.session().unwrap().revision,
            Revision::V2025_11_25
        );

        let mut pinned = probed(modern());
        pinned.refuse("1", code, "x");
        assert_eq!(
            pinned.reason(),
            &CloseReason::HandshakeRefused {
                step: Step::Discover,
                code,
                status: None,
            }
        );
        assert!(
            pinned
                .reason()
                .to_string()
                .contains("\"protocol\": \"legacy\"")
        );
    }
}

/// S3: the recognised modern errors never fall back.
#[test]
fn modern_errors_never_fall_back() {
    for code in [-32020, -32021] {
        let mut peer = probed(ClientConfig {
            era: Era::Auto,
            ..modern()
        });
        peer.refuse("1", code, "x");
        assert_eq!(
            peer.reason(),
            &CloseReason::HandshakeRefused {
                step: Step::Discover,
                code,
                status: None,
            }
        );
        assert!(peer.sent().is_empty());
    }
}

/// S3: an answer that is no discovery comes from a server that does not know the question.
#[test]
fn answer_that_is_no_discovery_falls_back() {
    for result in [
        "{}",
        "null",
        r#"{"tools":[]}"#,
        r#"{"supportedVersions":1}"#,
    ] {
        let mut peer = probed(ClientConfig {
            era: Era::Auto,
            ..modern()
        });
        peer.reply("1", result);
        assert_eq!(field(&peer.sent()[0], "/method"), "initialize", "{result}");
    }
}

/// S3: silence on the probe falls back after 5 s; a probe that was never written is taken back.
#[test]
fn silence_on_the_probe_falls_back() {
    let auto = ClientConfig {
        era: Era::Auto,
        ..modern()
    };
    let mut peer = probed(auto.clone());
    peer.pass(Duration::from_millis(4_999));
    assert!(peer.sent().is_empty());
    peer.pass(Duration::from_millis(1));
    let sent = peer.sent();
    assert_eq!(field(sent.last().unwrap(), "/method"), "initialize");
    let waited = (Step::Discover, Duration::from_secs(5));
    assert_eq!(peer.connection.stats().handshake, [waited]);
    peer.reply("1", DISCOVERED);
    assert_eq!(peer.connection.stats().stray_replies, 1, "too late");
    peer.reply("2", super::INITIALIZE_RESULT);
    assert_eq!(peer.sent().len(), 2);

    let mut unread = Peer::with(auto);
    unread.pass(Duration::from_secs(5));
    let sent = unread.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(field(&sent[0], "/method"), "initialize");

    let mut pinned = probed(modern());
    pinned.pass(Duration::from_secs(9));
    assert!(pinned.is_open());
    pinned.pass(Duration::from_secs(1));
    assert_eq!(
        pinned.reason(),
        &CloseReason::HandshakeTimeout {
            step: Step::Discover,
            limit_ms: 10_000
        }
    );
    assert_eq!(
        pinned.connection.connect_failure().unwrap().1,
        Outcome::NoResponse
    );
}

/// S7: a modern server's request is counted and not answered; while the era is not known a ping is.
#[test]
fn requests_of_a_modern_server_are_not_answered() {
    let mut peer = Peer::modern_with(
        DISCOVERED,
        ClientConfig {
            capabilities: all_capabilities(),
            ..modern()
        },
    );
    for method in ["ping", "roots/list", "x"] {
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"{method}"}}"#
        ));
    }
    assert_eq!(peer.connection.stats().requests, 3);
    assert!(peer.sent().is_empty());
    assert!(peer.events().is_empty());
    assert!(peer.is_open());

    let mut probing = probed(ClientConfig {
        era: Era::Auto,
        capabilities: all_capabilities(),
        ..modern()
    });
    probing.recv(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
    probing.recv(r#"{"jsonrpc":"2.0","id":8,"method":"roots/list"}"#);
    let sent = probing.sent();
    assert_eq!(sent[0], r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    assert_eq!(field(&sent[1], "/error/code"), -32601);
    assert!(probing.events().is_empty(), "nothing is declared yet");
}

/// L5: an empty cursor is one like any other on modern; seen before it fails the connect.
#[test]
fn empty_cursor_is_followed() {
    let mut peer = probed(modern());
    peer.reply("1", DISCOVERED);
    peer.sent();
    peer.reply("2", r#"{"tools":[],"nextCursor":""}"#);
    assert_eq!(field(&peer.sent()[0], "/params/cursor"), "");
    peer.reply("3", r#"{"tools":[],"nextCursor":""}"#);
    assert_eq!(
        peer.reason(),
        &CloseReason::Catalog(CatalogFault::RepeatedCursor)
    );
}

/// S8: over one stream a modern call is cancelled by a notification, once.
#[test]
fn modern_call_over_a_stream_is_cancelled_by_a_notification() {
    let mut peer = Peer::modern_with(DISCOVERED, modern());
    let call = peer.call();
    peer.sent();
    peer.connection.abandon(call);
    assert_eq!(
        peer.sent(),
        [r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#]
    );
    assert!(peer.orders().is_empty());
}

/// O4: a result without a kind, and one that says so, are complete; any other kind is not final and has no outcome.
#[test]
fn kind_of_a_result_decides() {
    for (kind, complete) in [
        ("", true),
        (r#""resultType":"complete","#, true),
        (r#""resultType":"compl\u0065te","#, true),
        (r#""resultType":"task","#, false),
        (r#""resultType":"","#, false),
        (r#""resultType":null,"#, false),
        (r#""resultType":{},"#, false),
    ] {
        let result = RESULT.replacen('{', &format!("{{{kind}"), 1);
        let mut peer = Peer::modern_with(DISCOVERED, modern());
        let call = peer.call();
        peer.sent();
        peer.reply("3", &result);
        let ended = peer.take(call);
        assert_eq!(ended.is_ok(), complete, "{kind}");
        if let Err(error) = ended {
            assert!(matches!(error, CallError::Unfinished(_)));
            assert_eq!(
                (error.outcome(), error.code()),
                (Outcome::NoResponse, ErrorCode::InvalidResponse)
            );
            assert!(error.to_string().contains("verify state"), "{error}");
        }
        assert!(peer.sent().is_empty());

        // On a revision with a handshake the member means nothing.
        let mut legacy = Peer::ready();
        let call = legacy.call();
        legacy.sent();
        legacy.reply("3", &result);
        assert!(legacy.take(call).is_ok(), "{kind}");
    }
}

/// S2: the level of the server's log goes with each request, from when it is wanted until it is not.
#[test]
fn log_level_goes_with_each_request() {
    const LEVEL: &str = "/params/_meta/io.modelcontextprotocol~1logLevel";
    let mut peer = Peer::modern_with(DISCOVERED, modern());
    let level_of_a_call = |peer: &mut Peer| {
        peer.call();
        field(&peer.sent()[0], LEVEL)
    };
    assert!(level_of_a_call(&mut peer).is_null());
    peer.connection.set_log_level(Some("warning"));
    assert_eq!(level_of_a_call(&mut peer), "warning");
    peer.connection.set_log_level(None);
    assert!(level_of_a_call(&mut peer).is_null());

    let mut legacy = Peer::ready();
    legacy.connection.set_log_level(Some("warning"));
    legacy.call();
    assert!(!legacy.sent()[0].contains("logLevel"));
}

/// A server of this revision sends no requests: one is told of and not answered.
#[test]
fn request_of_a_modern_server_is_a_violation() {
    let mut peer = Peer::modern_with(
        DISCOVERED,
        ClientConfig {
            diagnostics: true,
            ..modern()
        },
    );
    peer.recv(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#);
    assert!(matches!(peer.events()[..], [Event::Violation]));
    assert!(peer.sent().is_empty() && peer.is_open());
}
