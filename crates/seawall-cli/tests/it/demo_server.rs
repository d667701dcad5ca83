//! The built-in server, driven through its pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{run_with_input, seawall};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;

#[test]
fn session_over_pipes_is_answered_line_by_line() {
    let input = format!(
        "{INITIALIZE}\n{}\n{}\n{}\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}"#,
    );
    let ran = run_with_input(&["demo-server"], input.as_bytes());
    assert_eq!(ran.status, Some(0));
    assert_eq!(ran.stderr, "");
    let replies: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("stdout carries protocol and nothing else"))
        .collect();
    let ids: Vec<&Value> = replies.iter().map(|reply| &reply["id"]).collect();
    assert_eq!(ids, [&json!(0), &json!("l"), &json!(7)]);
    assert_eq!(replies[2]["result"]["content"][0]["text"], "5");
}

#[test]
fn image_is_a_png() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"image"}}"#;
    let ran = run_with_input(&["demo-server"], format!("{INITIALIZE}\n{call}").as_bytes());
    let reply: Value =
        serde_json::from_str(ran.stdout.lines().last().expect("a reply")).expect("JSON");
    let block = &reply["result"]["content"][0];
    assert_eq!(block["mimeType"], "image/png");
    // The signature of a PNG file, in base64.
    assert!(
        block["data"]
            .as_str()
            .is_some_and(|data| data.starts_with("iVBORw0KGgo"))
    );
}

#[test]
fn server_ends_with_its_input_though_a_call_sleeps() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":600000}}}"#;
    let ran = run_with_input(
        &["demo-server"],
        format!("{INITIALIZE}\n{call}\n").as_bytes(),
    );
    assert_eq!(ran.status, Some(0));
    assert_eq!(ran.stdout.lines().count(), 1);
}

#[test]
fn ping_is_answered_while_a_call_sleeps() {
    let mut child = seawall(&["demo-server"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let mut next = || {
        let line = lines.next().expect("a line").expect("readable");
        serde_json::from_str::<Value>(&line).expect("JSON")
    };
    writeln!(stdin, "{INITIALIZE}").expect("written");
    assert_eq!(next()["id"], 0);
    for (id, ms) in [(1, 600_000), (2, 20)] {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "sleep", "arguments": {"ms": ms}}});
        writeln!(stdin, "{call}").expect("written");
    }
    writeln!(stdin, r#"{{"jsonrpc":"2.0","id":3,"method":"ping"}}"#).expect("written");
    let mut ids = [next()["id"].clone(), next()["id"].clone()].map(|id| id.as_i64());
    ids.sort_unstable();
    assert_eq!(ids, [Some(2), Some(3)]);
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}
