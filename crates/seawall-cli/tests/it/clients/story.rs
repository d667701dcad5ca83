//! What the clients of the official SDKs and FastMCP do, and see.

use std::thread;

use serde_json::{Value, json};

use super::{ERAS, Way, clients, command, config, ended, gateway};

/// What every client sees, whatever it is, however it came, and whatever the server speaks.
fn expected(era: &str) -> Value {
    json!({
        "revision": if era == "modern" { "2026-07-28" } else { "2025-11-25" },
        "tools": 31,
        "plain": "This is a simple text response for testing.",
        "error": {"isError": true, "text": "This tool intentionally returns an error for testing"},
        "unknown": -32602,
        "structured": {"sum": 3},
        "image": {"type": "image", "mimeType": "image/png", "isData": true},
        "progress": [0.0, 50.0, 100.0],
        "cancelled": true,
        "changed": true,
        "elicited": r#"User response: action=accept, content={"response":"me"}"#,
    })
}

/// Of two values, whether numbers are the same however they are written.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}

/// What is wrong with what a client saw.
fn faults(client: &Value, server: &str, way: &str, target: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    for era in client["eras"].as_array().expect("eras") {
        let era = era.as_str().expect("text");
        let mut command = command(client);
        command.args([era, way]).args(target);
        let output = ended(command);
        let who = format!("{} ({era}) over {way} to a {server} server", client["name"]);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let Some(seen) = stdout
            .lines()
            .find_map(|line| serde_json::from_str::<Value>(line).ok())
        else {
            let stderr = String::from_utf8_lossy(&output.stderr);
            faults.push(format!("{who}: {} {stdout} {stderr}", output.status));
            continue;
        };
        for (key, wanted) in expected(era).as_object().expect("an object") {
            if !is_same(&seen[key], wanted) {
                faults.push(format!("{who}: {key}: {}", seen[key]));
            }
        }
    }
    faults
}

/// Sends each client through a gateway in front of the server of one era.
fn each(server: &'static str) {
    let config = config(server);
    let clients: Vec<Value> = clients()
        .into_iter()
        .filter(|client| client["name"] != "inspector")
        .collect();
    assert_eq!(clients.len(), 5, "each pinned client is installed");
    let gateway = gateway(&config);
    let mut all = Vec::new();
    for way in Way::both(&config) {
        let target = match &way {
            Way::Stdio => gateway.to_vec(),
            Way::Http(served) => vec![served.url().to_owned()],
        };
        let name = way.name();
        let one = &|client: &Value| faults(client, server, name, &target);
        if server == "legacy" && name == "http" {
            // They share one server, which does not say of whose call it asks: it is asked for one of them at a time.
            all.extend(clients.iter().flat_map(one));
            continue;
        }
        // At once, as an agent's many programs are.
        let seen: Vec<Vec<String>> = thread::scope(|scope| {
            let runs: Vec<_> = clients
                .iter()
                .map(|client| scope.spawn(move || one(client)))
                .collect();
            let joined = runs.into_iter().map(|run| run.join().expect("no panic"));
            joined.collect()
        });
        all.extend(seen.into_iter().flatten());
    }
    assert!(all.is_empty(), "{all:#?}");
}

/// BEHAVIOUR G1 and G2.
#[test]
#[ignore = "needs the peers: `cargo xtask test` installs them and runs this"]
fn each_client_gets_what_a_legacy_server_gives() {
    each(ERAS[0]);
}

/// BEHAVIOUR G1 and G2.
#[test]
#[ignore = "needs the peers: `cargo xtask test` installs them and runs this"]
fn each_client_gets_what_a_modern_server_gives() {
    each(ERAS[1]);
}
