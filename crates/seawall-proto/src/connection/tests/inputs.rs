//! S2, S7: what a server with a handshake asks of the host, by requests of its own.

use super::{Peer, RESULT, all_capabilities, config, field};
use crate::connection::{ClientConfig, Event};
use crate::limits::{Limits, MAX_INPUTS};
use crate::mcp::InputMethod;

fn peer() -> Peer {
    peer_with(Limits::default())
}

fn peer_with(limits: Limits) -> Peer {
    Peer::ready_with(ClientConfig {
        capabilities: all_capabilities(),
        ..config(limits)
    })
}

fn ask(peer: &mut Peer, id: &str, method: &str) {
    peer.recv(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"x":[1]}}}}"#
    ));
}

fn take_back(peer: &mut Peer, id: &str) {
    peer.recv(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ));
}

/// S7: what the host supplies comes out as an event, and goes back with the exact id.
#[test]
fn supplied_request_is_answered_with_its_exact_id() {
    for (id, method, kind) in [
        ("0", "roots/list", InputMethod::ListRoots),
        ("\"\\u0061\"", "sampling/createMessage", InputMethod::Sample),
        ("3", "elicitation/create", InputMethod::ElicitForm),
    ] {
        let mut peer = peer();
        let call = peer.call();
        peer.sent();
        ask(&mut peer, id, method);
        let events = peer.events();
        let [
            Event::Input {
                id: input,
                method,
                params: Some(params),
                call: None,
            },
        ] = &events[..]
        else {
            panic!("{events:?}");
        };
        assert_eq!((*method, params.as_str()), (kind, r#"{"x":[1]}"#));
        assert!(peer.sent().is_empty());
        peer.supply(*input, Some(r#"{"a":1}"#));
        assert_eq!(
            peer.sent(),
            [format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":1}}}}"#
            )]
        );
        peer.supply(*input, Some("{}"));
        assert!(peer.sent().is_empty(), "answered once");
        peer.reply("3", RESULT);
        assert!(peer.take(call).is_ok());
    }
}

/// S7: what the host cannot supply, and an answer past a bound, is an error of its own.
#[test]
fn request_that_cannot_be_supplied_is_refused() {
    let deep = "[".repeat(128) + &"]".repeat(128);
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(1_000));
    for answer in [None, Some(deep.as_str()), Some(long.as_str())] {
        let mut peer = peer_with(Limits {
            max_outbound_frame_bytes: 1_000,
            ..Limits::default()
        });
        ask(&mut peer, "7", "roots/list");
        let asked = peer.asked();
        peer.supply(asked[0], answer);
        let sent = peer.sent();
        assert_eq!(field(&sent[0], "/error/code"), -32603);
        assert_eq!(field(&sent[0], "/id"), 7);
        assert!(peer.is_open());
    }
}

/// S2, S7: a mode or a method that was not declared is refused, and nobody is asked.
#[test]
fn undeclared_request_is_refused() {
    let mut peer = Peer::ready_with(ClientConfig {
        capabilities: crate::mcp::ClientCapabilities {
            elicitation_url: true,
            ..Default::default()
        },
        ..config(Limits::default())
    });
    for (method, params) in [
        ("elicitation/create", "{}"),
        ("elicitation/create", r#"{"mode":"form"}"#),
        ("elicitation/create", r#"{"mode":null}"#),
        ("elicitation/create", r#"{"mode":7}"#),
        ("sampling/createMessage", "{}"),
        ("roots/list", "{}"),
    ] {
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#
        ));
        assert_eq!(field(&peer.sent()[0], "/error/code"), -32601, "{method}");
    }
    peer.recv(r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"mode":"url"}}"#);
    assert_eq!(peer.asked().len(), 1);
}

/// S7: a request that the server takes back is withdrawn, and not answered.
#[test]
fn request_that_was_taken_back_is_not_answered() {
    let mut peer = peer();
    ask(&mut peer, "7", "roots/list");
    ask(&mut peer, "\"7\"", "roots/list");
    let asked = peer.asked();
    take_back(&mut peer, "7");
    assert!(matches!(
        peer.events()[..],
        [Event::InputWithdrawn { id }] if id == asked[0]
    ));
    peer.supply(asked[0], Some("{}"));
    assert!(peer.sent().is_empty());
    peer.supply(asked[1], Some("{}"));
    assert_eq!(field(&peer.sent()[0], "/id"), "7");
    take_back(&mut peer, "99");
    assert!(peer.events().is_empty());
}

/// L6: more requests at once than the bound are refused; asking and taking back leaves nothing behind.
#[test]
fn requests_at_once_are_bounded() {
    let mut peer = peer();
    for id in 0..MAX_INPUTS {
        ask(&mut peer, &id.to_string(), "roots/list");
    }
    assert!(peer.sent().is_empty());
    ask(&mut peer, "99", "roots/list");
    assert_eq!(field(&peer.sent()[0], "/error/code"), -32603);
    assert_eq!(peer.asked().len(), MAX_INPUTS);

    let mut flood = self::peer();
    for id in 0..10_000 {
        ask(&mut flood, &id.to_string(), "roots/list");
        take_back(&mut flood, &id.to_string());
    }
    assert!(flood.events().is_empty());
    assert!(flood.sent().is_empty());
}

/// S7: an input outlives the calls; the end of the session ends it.
#[test]
fn end_of_the_session_ends_inputs() {
    let mut peer = peer();
    ask(&mut peer, "7", "roots/list");
    let asked = peer.asked();
    peer.connection
        .handle_closed(crate::connection::CloseReason::StdoutClosed);
    assert!(matches!(peer.events()[..], [Event::Closed]));
    peer.supply(asked[0], Some("{}"));
    assert!(peer.sent().is_empty());
}

/// S2: a mode that is null is none, as servers write it that serialise an absent value: a form.
#[test]
fn null_mode_is_form_mode() {
    let mut peer = Peer::ready_with(ClientConfig {
        capabilities: crate::mcp::ClientCapabilities {
            elicitation_form: true,
            ..Default::default()
        },
        ..config(Limits::default())
    });
    peer.recv(r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"mode":null}}"#);
    assert_eq!(peer.asked().len(), 1);
}
