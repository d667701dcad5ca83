//! Servers that others wrote, pinned and installed by `cargo xtask peers`: each listed, called and closed.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::Config;

/// The installed peers; none where the variable is not set.
fn peers() -> Vec<Value> {
    let Some(cache) = std::env::var_os("SEAWALL_PEERS").filter(|value| !value.is_empty()) else {
        return Vec::new();
    };
    let list = PathBuf::from(cache).join("peers.json");
    let text = std::fs::read_to_string(&list)
        .unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    serde_json::from_str(&text).expect("the list is JSON")
}

#[test]
fn each_real_server_is_listed_called_and_closed() {
    let peers = peers();
    let entries: Vec<(&str, Value)> = peers.iter().map(|peer| (name(peer), entry(peer))).collect();
    let config = Config::of(&entries);
    let tools = config.run(&["tools", "--json"]).exits(0).json();
    let tools = tools.as_array().expect("an array");
    for peer in &peers {
        let tool = peer["call"]["tool"].as_str().expect("a tool");
        let flow = format!("mcp/{}/{tool}", name(peer));
        assert!(
            tools.iter().any(|listed| listed["name"] == flow.as_str()),
            "no {flow}"
        );
        let arguments = peer["call"]["arguments"].to_string();
        let called = config
            .run(&["call", &flow, "--args", &arguments, "--json"])
            .exits(0);
        assert_eq!(called.json()["isError"], false, "{flow}");
    }
}

fn name(peer: &Value) -> &str {
    peer["name"].as_str().expect("a name")
}

fn entry(peer: &Value) -> Value {
    // Many of them start at once here, on machines with few cores.
    let mut entry = json!({"handshakeTimeoutMs": 60_000});
    for key in ["command", "args", "env"] {
        entry[key] = peer[key].clone();
    }
    entry
}
