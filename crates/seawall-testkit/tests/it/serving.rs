use std::time::{Duration, Instant};

use seawall_testkit::{CallRule, Script, Serve, Server, Until, server_path};
use serde_json::{Value, json};

use super::{Peer, in_folder, read};

fn ask(peer: &mut Peer, line: &Value) -> Value {
    serde_json::from_str(&peer.ask(&line.to_string())).unwrap_or_else(|error| panic!("{error}"))
}

fn call(id: u32, name: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

#[test]
fn handshake_is_as_told() {
    let serve = Serve::new()
        .revision("2024-11-05")
        .capabilities("{}")
        .tools(["a", "b"])
        .tools(["c"])
        .until(Until::Listed);
    let mut peer = Peer::launch(&Script::new().serve(serve).exit(5).server());
    let initialized = ask(
        &mut peer,
        &json!({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}),
    );
    assert_eq!(initialized["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(initialized["result"]["capabilities"], json!({}));
    peer.send(r#"{"method":"notifications/initialized"}"#);
    assert_eq!(
        ask(&mut peer, &json!({"id": 2, "method": "ping"}))["result"],
        json!({})
    );
    assert_eq!(
        ask(&mut peer, &json!({"id": 2, "method": "x/y"}))["error"]["code"],
        -32601
    );
    let first = ask(&mut peer, &json!({"id": 3, "method": "tools/list"}));
    assert_eq!(first["result"]["tools"].as_array().map(Vec::len), Some(2));
    let wrong = ask(
        &mut peer,
        &json!({"id": 4, "method": "tools/list", "params": {"cursor": "other"}}),
    );
    assert_eq!(wrong["error"]["code"], -32602);
    let cursor = &first["result"]["nextCursor"];
    let last = ask(
        &mut peer,
        &json!({"id": 5, "method": "tools/list", "params": {"cursor": cursor}}),
    );
    assert_eq!(
        last["result"],
        json!({"tools": [{"name": "c", "inputSchema": {"type": "object"}}]})
    );
    assert_eq!(peer.wait().code(), Some(5));
}

#[test]
fn calls_follow_their_rule() {
    let serve = Serve::new()
        .calls_of(
            "fixed",
            CallRule::Result(r#"{"content":[],"x":1e400}"#.to_owned()),
        )
        .calls_of(
            "error",
            CallRule::Error(r#"{"code":-1,"message":"no"}"#.to_owned()),
        )
        .calls_of("text", CallRule::Text(10))
        .calls_of("never", CallRule::Never)
        .until(Until::Calls(5));
    let mut peer = Peer::launch(&Script::new().serve(serve).exit(0).server());
    peer.send(&call(1, "never", &json!({})).to_string());
    let echoed =
        peer.ask(r#"{"id":2,"method":"tools/call","params":{"name":"e","arguments":{"a": 1.0}}}"#);
    assert!(echoed.contains(r#""text":"{\"a\": 1.0}""#), "{echoed}");
    assert!(
        peer.ask(&call(3, "fixed", &json!({})).to_string())
            .contains(r#""id":3,"result":{"content":[],"x":1e400}"#)
    );
    assert_eq!(
        ask(&mut peer, &call(4, "error", &json!({})))["error"]["code"],
        -1
    );
    assert_eq!(
        ask(&mut peer, &call(5, "text", &json!({})))["result"]["content"][0]["text"],
        "xxxxxxxxxx"
    );
    assert!(peer.wait().success());
}

#[test]
fn plain_server_sleeps_beside_other_calls_and_honours_cancellation() {
    let folder = tempfile::tempdir().unwrap();
    let mut plain = Script::plain().server();
    plain.args = vec!["plain".to_owned()];
    let mut peer = Peer::launch(&plain);
    peer.send(&call(1, "sleep", &json!({"ms": 300})).to_string());
    peer.send(&call(2, "sleep", &json!({"ms": 200})).to_string());
    peer.send(r#"{"method":"notifications/cancelled","params":{"requestId":2}}"#);
    assert_eq!(
        ask(&mut peer, &call(3, "fail", &json!({})))["result"]["isError"],
        true
    );
    assert_eq!(
        ask(&mut peer, &call(4, "sleep", &json!({})))["error"]["code"],
        -32602
    );
    assert!(peer.line().contains(r#""id":1"#));
    assert!(peer.close_and_wait().success());
    drop(folder);
}

#[test]
fn delayed_reply_comes_and_the_wire_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let wire = in_folder(&folder, "wire");
    let serve = Serve::new().calls(CallRule::After(50, r#"{"content":[]}"#.to_owned()));
    let mut peer = Peer::launch(&Script::new().record(&wire).serve(serve).server());
    let began = Instant::now();
    peer.ask(&call(1, "x", &json!({})).to_string());
    assert!(began.elapsed() >= Duration::from_millis(50));
    assert_eq!(read(&wire).lines().count(), 1);
}

#[test]
fn server_is_found_once_and_described_for_a_configuration() {
    assert!(server_path().is_file());
    let entry = Script::plain().server().entry();
    assert_eq!(entry["command"], server_path().to_str().unwrap());
    let server: Server = Script::plain().server();
    assert_eq!(entry["args"], json!(server.args));
}
