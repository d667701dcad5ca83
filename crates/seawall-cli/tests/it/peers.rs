//! Servers that others wrote, pinned and installed by `cargo xtask peers`: each listed, called and closed.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::Config;

/// The installed peers.
fn peers() -> Vec<Value> {
    let cache =
        std::env::var_os("SEAWALL_PEERS").expect("SEAWALL_PEERS: `cargo xtask test` sets it");
    let list = PathBuf::from(cache).join("peers.json");
    let text = std::fs::read_to_string(&list)
        .unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    serde_json::from_str(&text).expect("the list is JSON")
}

#[test]
#[ignore = "needs the peers: `cargo xtask test` installs them and runs this"]
fn each_real_server_is_listed_called_and_closed() {
    let peers = peers();
    assert_eq!(peers.len(), 9, "each pinned server is installed");
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
    let visits = config.run(&["doctor", "--json"]).exits(0).json();
    let visits = visits.as_array().expect("an array");
    assert_eq!(visits.len(), peers.len());
    for visit in visits {
        assert_eq!(visit["verdict"], "healthy", "{visit}");
        assert_eq!(visit["found"]["revision"], "2025-11-25", "{visit}");
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
