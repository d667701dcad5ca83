//! S2, S7: an extension that both sides declare; between any others, none of it exists.

use std::time::Duration;

use super::{LIST_RESULT, Peer, config, field};
use crate::connection::{ClientConfig, Event, Experiment, HandshakeFault, InputId, Step, Untold};
use crate::json::Json;
use crate::limits::{Limits, MAX_INPUTS, MAX_WAITING_NOTICES};
use crate::mcp::{ClientCapabilities, Revision};

const DECLARED: &str = r#"{"x":{"version":"1"}}"#;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

fn declaring(limits: Limits) -> ClientConfig {
    ClientConfig {
        pin: Some(Revision::V2024_11_05),
        experiment: Some(Experiment {
            name: "x",
            declared: json(r#"{"version":"1"}"#),
        }),
        ..config(limits)
    }
}

fn initialized(experimental: &str) -> String {
    format!(
        r#"{{"protocolVersion":"2024-11-05","capabilities":{{"tools":{{}},"experimental":{experimental}}}}}"#
    )
}

/// A peer whose tools are not listed yet.
fn listing(experimental: &str, config: ClientConfig) -> Peer {
    let mut peer = Peer::with(config);
    peer.sent();
    peer.reply("1", &initialized(experimental));
    assert!(peer.is_open());
    peer.sent();
    peer
}

fn ready(experimental: &str, config: ClientConfig) -> Peer {
    let mut peer = listing(experimental, config);
    peer.reply("2", LIST_RESULT);
    let extended = peer.connection.session().unwrap().extension.is_some();
    match (extended, &peer.events()[..]) {
        (true, [Event::Extended(_), Event::Ready]) | (false, [Event::Ready]) => peer,
        (_, events) => panic!("{events:?}"),
    }
}

fn ask(peer: &mut Peer, id: &str, method: &str) {
    peer.recv(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"a":[1]}}}}"#
    ));
}

fn tell(peer: &mut Peer, method: &str) {
    peer.recv(&format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{{}}}}"#
    ));
}

fn asked(peer: &mut Peer) -> Vec<(InputId, String)> {
    let events = peer.events().into_iter();
    events
        .filter_map(|event| match event {
            Event::Extension {
                id, method, params, ..
            } => {
                assert_eq!(params.unwrap().as_str(), r#"{"a":[1]}"#);
                Some((id, method))
            }
            _ => None,
        })
        .collect()
}

/// S2: the extension is declared beside what is supplied, and nothing else is.
#[test]
fn extension_is_declared_in_initialize() {
    for (capabilities, declared) in [
        (ClientCapabilities::default(), serde_json::json!({})),
        (
            super::all_capabilities(),
            serde_json::from_str(&super::all_capabilities().to_json()).unwrap(),
        ),
    ] {
        let mut peer = Peer::with(ClientConfig {
            capabilities,
            ..declaring(Limits::default())
        });
        let sent = peer.sent();
        let mut expected: serde_json::Value = declared;
        expected["experimental"] = serde_json::json!({"x": {"version": "1"}});
        assert_eq!(field(&sent[0], "/params/capabilities"), expected);
        assert_eq!(field(&sent[0], "/params/protocolVersion"), "2024-11-05");
    }
}

/// S2: unless both sides declare it, its requests are unknown methods, its notifications nothing, and none is sent.
#[test]
fn undeclared_extension_does_not_exist() {
    let plain = || ClientConfig {
        pin: Some(Revision::V2024_11_05),
        ..config(Limits::default())
    };
    for (experimental, config) in [
        (DECLARED, plain()),
        ("{}", declaring(Limits::default())),
        (r#"{"x":true}"#, declaring(Limits::default())),
        (r#"{"x":null}"#, declaring(Limits::default())),
        (r#"{"y":{}}"#, declaring(Limits::default())),
        ("true", declaring(Limits::default())),
        (r#"[{"x":{}}]"#, declaring(Limits::default())),
    ] {
        let mut peer = ready(experimental, config);
        assert!(peer.connection.session().unwrap().extension.is_none());
        ask(&mut peer, "7", "x/ask");
        assert_eq!(field(&peer.sent()[0], "/error/code"), -32601);
        tell(&mut peer, "x/tell");
        assert!(peer.events().is_empty(), "{experimental}");
        let told = peer.connection.notify("x/tell", None);
        assert_eq!(told, Err(Untold::NoSession));
        assert!(peer.sent().is_empty());
    }
}

/// S7: a request comes out with what it says, before the tools are listed too, and goes back with its exact id.
#[test]
fn request_of_the_extension_is_answered_once() {
    let mut peer = listing(DECLARED, declaring(Limits::default()));
    ask(&mut peer, "1", "x/early");
    let early = asked(&mut peer);
    assert_eq!(early[0].1, "x/early");
    peer.reply("2", LIST_RESULT);
    ask(&mut peer, "\"1\"", "x/late");
    let late = asked(&mut peer);
    let refusal = crate::jsonrpc::ErrorObject::new(-32002, "no", Some(json("{\"c\":1}")));
    peer.connection.refuse(peer.now, late[0].0, &refusal);
    peer.supply(early[0].0, Some("{}"));
    peer.supply(late[0].0, Some("{}"));
    assert_eq!(
        peer.sent(),
        [
            r#"{"jsonrpc":"2.0","id":"1","error":{"code":-32002,"message":"no","data":{"c":1}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ]
    );
}

/// S7: what the base protocol knows is answered by it, and told by it, with the extension too.
#[test]
fn base_protocol_stays_as_it_is() {
    let mut peer = ready(DECLARED, declaring(Limits::default()));
    for (method, pointer) in [("ping", "/result"), ("ping", "/id")] {
        ask(&mut peer, "9", method);
        assert!(!field(&peer.sent()[0], pointer).is_null());
    }
    assert!(asked(&mut peer).is_empty());
    tell(&mut peer, "notifications/tools/list_changed");
    assert!(matches!(peer.events()[..], [Event::Changed(_)]));
    tell(&mut peer, "x/tell");
    assert!(matches!(
        &peer.events()[..],
        [Event::ExtensionTold { method, params: Some(_) }] if method == "x/tell"
    ));
}

/// L6: requests of the extension are bounded as every input is, and notifications that nobody takes are counted.
#[test]
fn floods_of_the_extension_are_bounded() {
    let mut peer = ready(DECLARED, declaring(Limits::default()));
    for id in 0..=MAX_INPUTS {
        ask(&mut peer, &id.to_string(), "x/ask");
    }
    let sent = peer.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(field(&sent[0], "/error/code"), -32603);
    assert_eq!(asked(&mut peer).len(), MAX_INPUTS);
    for _ in 0..MAX_WAITING_NOTICES + 3 {
        tell(&mut peer, "x/tell");
    }
    assert_eq!(peer.events().len(), MAX_WAITING_NOTICES);
    assert_eq!(peer.connection.stats().notices_dropped, 3);
}

/// S7: a request that the server takes back is withdrawn; one that nobody was told of leaves nothing behind.
#[test]
fn request_of_the_extension_may_be_taken_back() {
    let mut peer = ready(DECLARED, declaring(Limits::default()));
    let back = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    ask(&mut peer, "7", "x/ask");
    peer.recv(back);
    assert!(peer.events().is_empty());
    ask(&mut peer, "7", "x/ask");
    let told = asked(&mut peer);
    peer.recv(back);
    assert!(matches!(peer.events()[..], [Event::InputWithdrawn { id }] if id == told[0].0));
    peer.supply(told[0].0, Some("{}"));
    assert!(peer.sent().is_empty());
}

/// L3: a notification that does not fit is not queued, and the session goes on.
#[test]
fn notification_that_does_not_fit_is_not_queued() {
    let limits = Limits {
        max_outbound_frame_bytes: 400,
        queue_capacity: 2,
        ..Limits::default()
    };
    let mut peer = ready(DECLARED, declaring(limits));
    let long = json(&format!("{{\"a\":\"{}\"}}", "x".repeat(380)));
    let longer = json(&format!("{{\"a\":\"{}\"}}", "x".repeat(1_000)));
    let deep = json(&format!("{{\"a\":{}{}}}", "[".repeat(127), "]".repeat(127)));
    let connection = &mut peer.connection;
    for (params, why) in [
        (json("[]"), Untold::Params),
        (deep, Untold::Params),
        (long, Untold::TooLong),
        (longer, Untold::TooLong),
    ] {
        assert_eq!(connection.notify("x/tell", Some(&params)), Err(why));
    }
    let params = json("{\"a\":\n1}");
    assert_eq!(connection.notify("x/tell", Some(&params)), Ok(()));
    assert_eq!(connection.notify("x/tell", None), Ok(()));
    assert_eq!(
        connection.notify("x/tell", None),
        Err(Untold::QueueFull),
        "the queue holds two"
    );
    assert_eq!(
        peer.sent(),
        [
            r#"{"jsonrpc":"2.0","method":"x/tell","params":{"a": 1}}"#,
            r#"{"jsonrpc":"2.0","method":"x/tell"}"#,
        ]
    );
    let closed = crate::connection::CloseReason::StdoutClosed;
    peer.connection.handle_closed(closed);
    assert_eq!(
        peer.connection.notify("x/tell", None),
        Err(Untold::NoSession)
    );
}

/// S1: a server without tools is of use where it declares the extension, and only there.
#[test]
fn extension_makes_up_for_missing_tools() {
    for (experimental, useful) in [(DECLARED, true), ("{}", false)] {
        let mut peer = Peer::with(declaring(Limits::default()));
        peer.sent();
        peer.reply("1", &initialized(experimental).replace("\"tools\":{},", ""));
        assert_eq!(peer.is_open(), useful);
        if useful {
            let events = peer.events();
            assert!(matches!(events[..], [Event::Extended(_), Event::Ready]));
        }
    }
}

/// S1: an extension that is declared twice is a broken handshake, and a revision other than the pinned one a mismatch.
#[test]
fn ambiguous_declaration_is_refused() {
    use crate::connection::CloseReason;
    let mut peer = Peer::with(declaring(Limits::default()));
    peer.sent();
    peer.reply("1", &initialized(r#"{"x":{},"x":{}}"#));
    let fault = CloseReason::Handshake(HandshakeFault::DuplicateKey);
    assert_eq!(*peer.reason(), fault);
    let mut peer = Peer::with(declaring(Limits::default()));
    peer.sent();
    peer.reply(
        "1",
        &initialized(DECLARED).replace("2024-11-05", "2025-06-18"),
    );
    assert!(peer.reason().is_permanent());
    let mut peer = Peer::with(declaring(Limits::default()));
    peer.sent();
    peer.reply("1", r#"{"capabilities":{"tools":{}}}"#);
    let fault = CloseReason::Handshake(HandshakeFault::NoVersion);
    assert_eq!(*peer.reason(), fault);
    peer.pass(Duration::from_secs(1));
    assert_eq!(peer.connection.handshake_step(), Step::Initialize);
}
