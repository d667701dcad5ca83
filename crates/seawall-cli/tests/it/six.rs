//! Six tools on every official SDK, each revision that it speaks, over stdio and HTTP: the same calls give the same results and
//! the same outcomes.

use std::path::PathBuf;

use seawall_testkit::RealPeer;
use serde_json::{Value, json};

use crate::support::{Config, Ran};

/// The peers with the six tools, and server-everything over HTTP, as `cargo xtask peers` installed them.
fn peers() -> Vec<Value> {
    let cache =
        std::env::var_os("SEAWALL_PEERS").expect("SEAWALL_PEERS: `cargo xtask test` sets it");
    let list = PathBuf::from(cache).join("six.json");
    let text = std::fs::read_to_string(&list)
        .unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    serde_json::from_str(&text).expect("the list is JSON")
}

/// The tools, their arguments, and what each gives; `ask` apart, which wants somebody to ask.
fn calls() -> [(&'static str, Value, Value); 5] {
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    [
        (
            "echo",
            json!({"text": "gr\u{fc}\u{df}e \u{1f30a} \u{2028}"}),
            json!({"content": text("gr\u{fc}\u{df}e \u{1f30a} \u{2028}"), "isError": false}),
        ),
        (
            "add",
            json!({"a": 2, "b": 3}),
            json!({"content": text("{\"sum\":5}"), "structuredContent": {"sum": 5}, "isError": false}),
        ),
        (
            "fail",
            json!({}),
            json!({"content": text("failed on purpose"), "isError": true}),
        ),
        (
            "slow",
            json!({"ms": 60}),
            json!({"content": text("took 60 ms"), "isError": false}),
        ),
        (
            "image",
            json!({}),
            json!({"content": [{"type": "image", "data": pixel, "mimeType": "image/png"}], "isError": false}),
        ),
    ]
}

#[test]
#[ignore = "needs the peers: `cargo xtask test` installs them and runs this"]
fn the_six_calls_are_the_same_over_stdio() {
    each(|peer| peer["transport"] == "stdio");
}

#[test]
#[ignore = "needs the peers: `cargo xtask test` installs them and runs this"]
fn the_six_calls_are_the_same_over_http() {
    each(|peer| peer["transport"] == "http" && peer["six"] == true);
}

/// BEHAVIOUR T3: Streamable HTTP with sessions, and HTTP+SSE as the last fallback of `auto`.
#[test]
#[ignore = "needs the peers: `cargo xtask test` installs them and runs this"]
fn server_everything_is_called_over_both_http_transports() {
    let mut faults = Vec::new();
    for peer in peers().iter().filter(|peer| is_named(peer, "everything")) {
        let server = start(peer);
        for protocol in words(&peer["protocols"]) {
            let config = config(json!({"url": server.url()}), protocol);
            let ran = called(&config, "echo", &json!({"message": "hello"}));
            if ran.status != Some(0) || ran.json()["content"][0]["text"] != "Echo: hello" {
                faults.push(format!("{} {protocol}: {ran:?}", peer["name"]));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// All peers of a kind, side by side: most of their time is start-up. Every fault is told, not just the first.
fn each(kind: impl Fn(&Value) -> bool) {
    let peers: Vec<Value> = peers().into_iter().filter(kind).collect();
    assert_eq!(peers.len(), 7, "each pinned peer is installed");
    let faults: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = peers
            .iter()
            .map(|peer| scope.spawn(|| faults_of(peer)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("the thread ends"))
            .collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn faults_of(peer: &Value) -> Vec<String> {
    let server = (peer["transport"] == "http").then(|| start(peer));
    let entry = match &server {
        Some(server) => json!({"url": server.url()}),
        None => json!({"command": peer["command"], "args": peer["args"], "env": peer["env"]}),
    };
    let mut faults = Vec::new();
    for protocol in words(&peer["protocols"]) {
        let config = config(entry.clone(), protocol);
        if protocol == "auto" && is_named(peer, "rmcp-legacy") {
            faults.extend(fault_of_verdict(&config));
            continue;
        }
        for (tool, arguments, expected) in calls() {
            let ran = called(&config, tool, &arguments);
            let status = i32::from(expected["isError"] == true);
            if ran.status != Some(status) || essence(&ran.json()) != expected {
                faults.push(format!("{} {protocol} {tool}: {ran:?}", peer["name"]));
            }
        }
        // Nobody is there to be asked, so none of them gets an answer; how they take that is theirs to choose.
        let ran = called(&config, "ask", &json!({}));
        let told = match ran.status {
            Some(1) => ran.json()["isError"] == true,
            Some(4) => ran.json()["error"]["outcome"] == "error_response",
            Some(6) => ran.json()["error"]["outcome"] == "no_response",
            _ => false,
        };
        if !told {
            faults.push(format!("{} {protocol} ask: {ran:?}", peer["name"]));
        }
    }
    faults
}

fn is_named(peer: &Value, name: &str) -> bool {
    peer["name"]
        .as_str()
        .is_some_and(|peer| peer.starts_with(name))
}

/// BEHAVIOUR S3, S4: this one answers the probe with a modern error that lists older revisions alone: a verdict, never a
/// fallback, that says what to write.
fn fault_of_verdict(config: &Config) -> Option<String> {
    let ran = called(config, "echo", &json!({"text": "x"}));
    let error = &ran.json()["error"];
    let told = ran.status == Some(3)
        && error["jsonRpcCode"] == -32022
        && error["message"]
            .as_str()
            .is_some_and(|message| message.contains("write \"protocol\": \"2025-11-25\""));
    (!told).then(|| format!("the verdict: {ran:?}"))
}

/// The peer of that name.
pub(crate) fn peer(name: &str) -> Value {
    let found = peers().into_iter().find(|peer| peer["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is installed"))
}

/// Starts a peer over HTTP.
pub(crate) fn start(peer: &Value) -> RealPeer {
    let env = peer["env"].as_object().expect("an object");
    let env = env
        .iter()
        .map(|(name, value)| (name, value.as_str().expect("a string")));
    let command = peer["command"].as_str().expect("a command");
    RealPeer::start(command, words(&peer["args"]), env)
}

fn config(mut entry: Value, protocol: &str) -> Config {
    entry["protocol"] = protocol.into();
    // Many of them start at once here, on machines with few cores.
    entry["handshakeTimeoutMs"] = 60_000.into();
    Config::of(&[("p", entry)])
}

fn called(config: &Config, tool: &str, arguments: &Value) -> Ran {
    let flow = format!("mcp/p/{tool}");
    config.run(&["call", &flow, "--args", &arguments.to_string(), "--json"])
}

/// A result without what an SDK adds by itself: `_meta`, `resultType`, and members of content blocks that say nothing.
fn essence(result: &Value) -> Value {
    let mut essence = json!({"isError": result["isError"]});
    for key in ["content", "structuredContent"] {
        if let Some(value) = result.get(key) {
            essence[key] = value.clone();
        }
    }
    for block in essence["content"].as_array_mut().into_iter().flatten() {
        if let Some(block) = block.as_object_mut() {
            block.retain(|_, value| !value.is_null());
        }
    }
    essence
}

fn words(value: &Value) -> Vec<&str> {
    let words = value.as_array().expect("an array");
    words
        .iter()
        .map(|word| word.as_str().expect("a string"))
        .collect()
}
