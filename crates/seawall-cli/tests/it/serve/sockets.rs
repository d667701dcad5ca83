//! Clients whose pipes are sockets, as the children of Node.js have them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use seawall_testkit::{Script, Serve};
use serde_json::{Value, json};

use super::LONG;
use crate::support::Config;

/// G1: a client at the other end of two sockets is served; what it takes slowly comes whole, and its end is the gateway's.
#[test]
fn a_client_at_sockets_is_served() {
    let echo = Script::new().serve(Serve::new().tools(["t"]));
    let config = Config::scripted(&echo);
    let pair = || UnixStream::pair().expect("a pair of sockets");
    let ((mut ours, theirs), (answers, output)) = (pair(), pair());
    let mut child = config
        .command(&["serve"])
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(OwnedFd::from(output)))
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    answers.set_read_timeout(Some(LONG)).expect("a timeout");
    let mut answers = BufReader::new(answers).lines();
    let mut next = || -> Value {
        let line = answers.next().expect("an answer").expect("in time");
        serde_json::from_str(&line).expect("JSON")
    };
    let mut say = |message: &Value| writeln!(ours, "{message}").expect("it reads");
    let client = json!({"name": "c", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    assert_eq!(next()["result"]["protocolVersion"], "2025-11-25");
    say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    // Far more than a socket holds, several times, before anything is read.
    let text = "x".repeat(700_000);
    for id in 1..=4 {
        let params = json!({"name": "s__t", "arguments": {"text": text}});
        say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    let mut answered = Vec::new();
    while answered.len() < 4 {
        let answer = next();
        if let Some(id) = answer["id"].as_i64() {
            assert!(answer["result"].to_string().contains(&text), "{id}");
            answered.push(id);
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3, 4]);
    ours.shutdown(Shutdown::Both).expect("an end");
    assert!(child.wait().expect("it ends").success());
}
