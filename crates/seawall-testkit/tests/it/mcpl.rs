//! A server of MCP Live follows its script over stdio.

use seawall_testkit::{McplAct, McplServer, mcpl_push};
use serde_json::{Value, json};

use super::*;

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn it_says_what_its_script_says_however_long_that_is() {
    let long = json!({ "text": "x".repeat(100_000) });
    let server = McplServer::honest()
        .before("ping", [McplAct::Flood(r#"{"n":{n}}"#.to_owned(), 2)])
        .result("ping", &long.to_string())
        .says_after("ping", &mcpl_push(1, "e", "text"));
    // Kept until the script is read: it is a file.
    let server = server.stdio();
    let mut peer = Peer::launch(&server);
    let hello = peer.ask(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    let hello = parsed(&hello);
    assert_eq!(hello["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(
        hello["result"]["capabilities"]["experimental"]["mcpl"]["version"],
        "0.5"
    );
    assert_eq!(
        parsed(&peer.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)),
        json!({ "n": 0 })
    );
    assert_eq!(parsed(&peer.line()), json!({ "n": 1 }));
    assert_eq!(parsed(&peer.line())["result"], long);
    assert_eq!(parsed(&peer.line())["method"], "push/event");
    assert!(peer.close_and_wait().success());
}

#[test]
fn it_breaks_off_where_its_script_says_so() {
    let server =
        McplServer::honest().before("tools/list", [McplAct::Tear("0123456789".to_owned())]);
    let mut peer = Peer::launch(&server.stdio());
    peer.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(peer.rest(), b"01234");
    assert_eq!(peer.wait().code(), Some(1));
}
