//! What a caller wants of one call: its own `_meta`, what may be asked for, whose the rounds are, how much is logged.

use super::{DISCOVERED, Peer, RESULT, all_capabilities, config, field, modern, modern_http};
use crate::connection::{
    CallError, CallId, ClientConfig, Event, InputId, Rounds, Terms, Unfinished,
};
use crate::json::Json;
use crate::jsonrpc::ErrorObject;
use crate::limits::Limits;
use crate::mcp::{ClientCapabilities, InputMethod};

const ASKS: &str = r#"{"inputRequests" : {"k":{"method":"roots/list"}},"resultType":"input_required","requestState":"s","x":1.0}"#;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

fn call(peer: &mut Peer, terms: Terms) -> Result<CallId, CallError> {
    peer.connection.call(peer.now, "echo", json("{}"), terms)
}

fn with_meta(meta: &str) -> Terms {
    Terms {
        meta: Some(json(meta)),
        ..Terms::default()
    }
}

fn callers(responses: Option<&str>, state: Option<&str>) -> Terms {
    let (responses, state) = (responses.map(json), state.map(json));
    Terms {
        capabilities: Some(all_capabilities()),
        rounds: Rounds::Callers { responses, state },
        ..Terms::default()
    }
}

/// G2: a caller's `_meta` goes along, its bytes unchanged, but for what says something of one hop.
#[test]
fn callers_meta_goes_along() {
    let meta = r#"{"traceparent":"00-1","x/y":{"a": 1.50},"\u0061":[1e2],"progressToken":"theirs","io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{"roots":{}},"io.modelcontextprotocol/subscriptionId":7}"#;
    let kept = r#""traceparent":"00-1","x/y":{"a": 1.50},"\u0061":[1e2],"#;
    for mut peer in [Peer::ready(), Peer::modern_with(DISCOVERED, modern())] {
        call(&mut peer, with_meta(meta)).unwrap();
        let sent = peer.sent().remove(0);
        assert!(sent.contains(kept), "{sent}");
        assert!(sent.contains(r#""name":"echo","arguments":{}"#), "{sent}");
        assert_eq!(sent.matches("progressToken").count(), 1);
        assert_eq!(field(&sent, "/params/_meta/progressToken"), 3);
        assert!(
            !sent.contains("2099") && !sent.contains("subscriptionId"),
            "{sent}"
        );
        assert!(!sent.contains("roots"), "{sent}");
        // Any other request's too, in place of what its parameters say.
        let params = json(r#"{"uri":"u","_meta":{"old":1}}"#);
        let terms = with_meta(r#"{"traceparent":"2"}"#);
        let now = peer.now;
        let asked = peer
            .connection
            .request(now, "resources/read", Some(params), terms);
        assert!(asked.is_ok());
        let sent = peer.sent().remove(0);
        assert_eq!(field(&sent, "/params/_meta/traceparent"), "2");
        assert!(!sent.contains("old"), "{sent}");
    }
}

/// L2, L4: a `_meta` that is no object, nests too deep or is too long sends nothing.
#[test]
fn callers_meta_is_bounded() {
    let limits = Limits {
        max_outbound_frame_bytes: 1_000,
        ..Limits::default()
    };
    let mut peer = Peer::ready_with(config(limits));
    let deep = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(call(&mut peer, with_meta(&deep(125))).is_ok());
    peer.sent();
    let refused = call(&mut peer, with_meta(&deep(126))).unwrap_err();
    assert_eq!(refused, CallError::ArgumentsTooDeep);
    assert_eq!(
        call(&mut peer, with_meta("1")).unwrap_err(),
        CallError::ArgumentsKind
    );
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(1_000));
    let refused = call(&mut peer, with_meta(&long)).unwrap_err();
    assert_eq!(refused, CallError::RequestTooLong { limit: 1_000 });
    assert!(peer.sent().is_empty());
}

/// S2, G2: a request of 2026-07-28 declares what its own caller supplies, in every leg, and nothing else may be asked for.
#[test]
fn capabilities_are_the_requests_own() {
    let roots = ClientCapabilities {
        roots: true,
        ..ClientCapabilities::default()
    };
    let mut peer = Peer::modern_with(DISCOVERED, modern());
    let terms = |capabilities| Terms {
        capabilities: Some(capabilities),
        ..Terms::default()
    };
    let one = call(&mut peer, terms(roots)).unwrap();
    call(&mut peer, Terms::default()).unwrap();
    let declared = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
    let sent = peer.sent();
    assert_eq!(field(&sent[0], declared), serde_json::json!({"roots": {}}));
    assert_eq!(field(&sent[1], declared), serde_json::json!({}));
    peer.reply("3", ASKS);
    let events = peer.events();
    let [
        Event::Input {
            id, call: Some(of), ..
        },
    ] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(*of, one);
    peer.supply(*id, Some("{}"));
    assert_eq!(
        field(&peer.sent()[0], declared),
        serde_json::json!({"roots": {}})
    );
    let none = call(&mut peer, terms(ClientCapabilities::default())).unwrap();
    peer.sent();
    peer.reply("6", ASKS);
    let why = Unfinished::Unsupplied(InputMethod::ListRoots);
    assert_eq!(peer.take(none).unwrap_err(), CallError::Unfinished(why));
}

/// O4, G2: with its caller's rounds a result that asks is the call's result as it stands, and the caller's answers and
/// state go out as they came.
#[test]
fn rounds_of_the_caller() {
    for http in [false, true] {
        let config = if http { modern_http() } else { modern() };
        let mut peer = Peer::modern_with(DISCOVERED, config);
        let answer = |peer: &mut Peer, id: u64, result: &str| match http {
            true => peer.respond(id, 200, result),
            false => peer.reply(&id.to_string(), result),
        };
        let first = call(&mut peer, callers(None, None)).unwrap();
        assert!(!peer.go()[0].contains("inputResponses"));
        answer(&mut peer, 3, ASKS);
        let asks = peer.take(first).unwrap();
        assert!(asks.asks());
        assert_eq!(asks.raw().as_str(), ASKS);
        assert!(peer.events().is_empty(), "nobody else is asked");

        let state = r#""\u0061\ud800 s""#;
        let terms = callers(Some(r#"{"k":{"roots" : []}}"#), Some(state));
        let second = call(&mut peer, terms).unwrap();
        let sent = peer.go().remove(0);
        let expected =
            format!(r#""inputResponses":{{"k":{{"roots" : []}}}},"requestState":{state},"#);
        assert!(sent.contains(&expected), "{sent}");
        answer(&mut peer, 4, RESULT);
        assert!(!peer.take(second).unwrap().asks());
        assert_eq!(peer.connection.buffered_bytes(), 0);
    }
}

/// O4: what a server may not ask, and what is no wish for a round, is refused with its caller's rounds too.
#[test]
fn rounds_of_the_caller_are_checked() {
    let mut none = callers(None, None);
    none.capabilities = Some(ClientCapabilities::default());
    let unsupplied = Unfinished::Unsupplied(InputMethod::ListRoots);
    for (terms, result, why) in [
        (none, ASKS, unsupplied),
        (
            callers(None, None),
            r#"{"resultType":"input_required"}"#,
            Unfinished::Malformed,
        ),
        (
            callers(None, None),
            r#"{"resultType":"task"}"#,
            Unfinished::ResultType,
        ),
    ] {
        let mut peer = Peer::modern_with(DISCOVERED, modern());
        let failed = call(&mut peer, terms).unwrap();
        peer.sent();
        peer.reply("3", result);
        assert_eq!(peer.take(failed).unwrap_err(), CallError::Unfinished(why));
    }
    let mut peer = Peer::modern_with(DISCOVERED, modern());
    for terms in [callers(Some("[]"), None), callers(None, Some("7"))] {
        assert_eq!(
            call(&mut peer, terms).unwrap_err(),
            CallError::ArgumentsKind
        );
    }
    // A result that is whole is checked as ever.
    let empty = call(&mut peer, callers(None, None)).unwrap();
    peer.sent();
    peer.reply("3", r#"{"resultType":"complete"}"#);
    assert!(matches!(peer.take(empty), Err(CallError::Unusable(_))));
}

/// G2: a revision without rounds takes no answers and no state; nothing is sent. Without them the call is as any other.
#[test]
fn no_rounds_on_earlier_revisions() {
    let mut peer = Peer::ready();
    for terms in [callers(Some("{}"), None), callers(None, Some("\"s\""))] {
        assert_eq!(call(&mut peer, terms).unwrap_err(), CallError::NoRounds);
    }
    assert!(peer.sent().is_empty());
    let plain = call(&mut peer, callers(None, None)).unwrap();
    assert_eq!(peer.sent().len(), 1);
    // There the member means nothing.
    peer.reply("3", ASKS);
    assert!(matches!(peer.take(plain), Err(CallError::Unusable(_))));
}

/// S7, G2: over exchanges a question names the call on whose stream it came; elsewhere nothing tells.
#[test]
fn questions_name_their_call() {
    let of = |peer: &mut Peer| match &peer.events()[..] {
        [Event::Input { id, call, .. }] => (*id, *call),
        other => panic!("{other:?}"),
    };
    let ask = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#);
    let mut peer = Peer::legacy_http_with(all_capabilities());
    let one = peer.call();
    let other = peer.call();
    peer.go();
    peer.respond_with(Some(4), 200, &ask(1));
    assert_eq!(of(&mut peer).1, Some(other));
    peer.respond_with(Some(3), 200, &ask(2));
    assert_eq!(of(&mut peer).1, Some(one));
    peer.respond_with(None, 200, &ask(3));
    assert_eq!(of(&mut peer).1, None);
    let mut stream = Peer::ready_with(ClientConfig {
        relayed: all_capabilities(),
        ..config(Limits::default())
    });
    stream.call();
    stream.sent();
    stream.recv(&ask(1));
    assert_eq!(of(&mut stream).1, None);
}

/// S2: what callers may supply is declared in `initialize`, but not with each request of 2026-07-28.
#[test]
fn relayed_capabilities_are_declared_once() {
    let relaying = |config: ClientConfig| ClientConfig {
        relayed: all_capabilities(),
        ..config
    };
    let mut legacy = Peer::with(relaying(config(Limits::default())));
    let declared = field(&legacy.sent()[0], "/params/capabilities");
    let expected =
        serde_json::json!({"roots": {}, "sampling": {}, "elicitation": {"form": {}, "url": {}}});
    assert_eq!(declared, expected);
    let mut modern = Peer::modern_with(DISCOVERED, relaying(modern()));
    modern.call();
    assert!(!modern.sent()[0].contains("roots"));
}

/// S7: a refusal is told in its own words, with the exact id; one past the bounds is an error all the same.
#[test]
fn a_question_is_refused_in_words() {
    let mut peer = Peer::ready_with(ClientConfig {
        capabilities: all_capabilities(),
        ..config(Limits {
            max_outbound_frame_bytes: 1_000,
            ..Limits::default()
        })
    });
    let mut refuse = |message: &str, data: Option<Json>| {
        peer.recv(r#"{"jsonrpc":"2.0","id":"\u0061","method":"roots/list"}"#);
        let asked: Vec<InputId> = peer.asked();
        let error = ErrorObject::new(-1, message, data);
        peer.connection.refuse(peer.now, asked[0], &error);
        peer.connection.refuse(peer.now, asked[0], &error);
        let sent = peer.sent();
        assert_eq!(sent.len(), 1);
        sent[0].clone()
    };
    assert_eq!(
        refuse("no\n", Some(json("{\"a\":\n1}"))),
        r#"{"jsonrpc":"2.0","id":"\u0061","error":{"code":-1,"message":"no\n","data":{"a": 1}}}"#
    );
    let deep = json(&("[".repeat(127) + &"]".repeat(127)));
    assert!(!refuse("no", Some(deep)).contains("data"));
    assert_eq!(
        field(&refuse(&"x".repeat(1_000), None), "/error/code"),
        -32603
    );

    let mut modern = Peer::modern_with(
        DISCOVERED,
        ClientConfig {
            capabilities: all_capabilities(),
            ..modern()
        },
    );
    let asked_for = modern.call();
    modern.sent();
    modern.reply("3", ASKS);
    let asked = modern.asked();
    let error = ErrorObject::new(-1, "no", None);
    modern.connection.refuse(modern.now, asked[0], &error);
    let why = Unfinished::NotAnswered;
    assert_eq!(
        modern.take(asked_for).unwrap_err(),
        CallError::Unfinished(why)
    );
}

/// G2: the level of the log goes with the request, or raises the session's, which is never lowered.
#[test]
fn log_level_of_a_call() {
    let level = "/params/_meta/io.modelcontextprotocol~1logLevel";
    let at = |level| Terms {
        log_level: Some(level),
        ..Terms::default()
    };
    let mut peer = Peer::modern_with(DISCOVERED, modern());
    call(&mut peer, at("info")).unwrap();
    call(&mut peer, Terms::default()).unwrap();
    let sent = peer.sent();
    assert_eq!(field(&sent[0], level), "info");
    assert_eq!(field(&sent[1], level), serde_json::Value::Null);
    // A level in the caller's own `_meta` goes before the connection's.
    peer.connection.set_log_level(Some("error"));
    call(
        &mut peer,
        with_meta(r#"{"io.modelcontextprotocol/logLevel":"debug"}"#),
    )
    .unwrap();
    let sent = peer.sent();
    assert_eq!(sent[0].matches("logLevel").count(), 1);
    assert_eq!(field(&sent[0], level), "debug");

    for (capabilities, asked) in [
        ("{\"tools\":{},\"logging\":{}}", true),
        ("{\"tools\":{}}", false),
    ] {
        let mut peer = Peer::with(config(Limits::default()));
        peer.sent();
        peer.reply(
            "1",
            &super::INITIALIZE_RESULT.replace("{\"tools\":{}}", capabilities),
        );
        peer.sent();
        peer.reply("2", super::LIST_RESULT);
        let mut levels = Vec::new();
        for level in ["warning", "error", "warning", "debug", "info"] {
            call(&mut peer, at(level)).unwrap();
            levels.extend(peer.sent().iter().filter_map(|frame| {
                let level = field(frame, "/params/level");
                (field(frame, "/method") == "logging/setLevel").then_some(level)
            }));
        }
        let expected: &[&str] = if asked { &["warning", "debug"] } else { &[] };
        assert_eq!(levels, expected);
    }
}

/// G2: a line of the log is told where callers may supply, with the call on whose stream it came.
#[test]
fn lines_of_the_log_name_their_call() {
    let line =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let mut peer = Peer::modern_with(
        DISCOVERED,
        ClientConfig {
            relayed: all_capabilities(),
            ..modern_http()
        },
    );
    let of = peer.call();
    peer.go();
    peer.respond_with(Some(3), 200, line);
    let events = peer.events();
    assert!(
        matches!(&events[..], [Event::Log { call: Some(call), .. }] if *call == of),
        "{events:?}"
    );
    let mut quiet = Peer::modern_with(DISCOVERED, modern_http());
    quiet.call();
    quiet.go();
    quiet.respond_with(Some(3), 200, line);
    assert!(quiet.events().is_empty());
}
