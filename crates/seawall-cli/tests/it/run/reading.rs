//! The configuration, read again.

use std::path::Path;

use seawall_testkit::{Server, is_alive, wait_for_pid};
use serde_json::json;

use super::*;

/// Replaces the file as editors do: another one is moved to its name.
fn replace(config: &Config, text: &str) {
    let other = config.folder().join("other");
    std::fs::write(&other, text).expect("the file is written");
    std::fs::rename(&other, config.path()).expect("moved");
}

fn text(servers: &[(&str, &Server)], more: &Value) -> String {
    let mut map = serde_json::Map::new();
    for (id, server) in servers {
        let mut entry = server.entry();
        if let Some(more) = more.get(id).and_then(Value::as_object) {
            for (key, value) in more {
                entry[key] = value.clone();
            }
        }
        map.insert((*id).to_owned(), entry);
    }
    json!({ "mcpServers": map }).to_string()
}

fn pid(folder: &Path, id: &str) -> u32 {
    wait_for_pid(&folder.join(id), LONG).expect("a pid")
}

/// BEHAVIOUR H3, H8: SIGHUP reads the file again; what is new is connected, what changed restarted, what is gone
/// disconnected, and what is the same is left alone.
#[test]
fn sighup_applies_what_differs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = |id: &str| plain(&folder.path().join(id)).server();
    let (same, changed, gone, new) = (
        server("same"),
        server("changed"),
        server("gone"),
        server("new"),
    );
    let before = [("same", &same), ("changed", &changed), ("gone", &gone)];
    let config = Config::text(&text(&before, &json!({})));
    let running = Running::start(&config, &[]);
    running.wait_for("started", "", 1);
    let [kept, old, ended] = ["same", "changed", "gone"].map(|id| pid(folder.path(), id));
    let after = [("same", &same), ("changed", &changed), ("new", &new)];
    let more = json!({"changed": {"env": {"LEVEL": "2"}}});
    std::fs::write(config.path(), text(&after, &more)).expect("the file is written");
    running.signal("HUP");
    let reloaded = running.wait_for("reloaded", "", 1);
    assert_eq!(reloaded["connected"], json!(["new"]));
    assert_eq!(reloaded["restarted"], json!(["changed"]));
    assert_eq!(reloaded["disconnected"], json!(["gone"]));
    assert_eq!(reloaded["failed"], json!([]));
    assert!(is_alive(kept));
    assert!(!is_alive(old) && !is_alive(ended));
    assert_eq!(running.count("connecting", "same"), 1);
    let servers = ["same", "changed", "new"].map(|id| pid(folder.path(), id));
    assert!(servers.into_iter().all(is_alive));
    // It says so where nothing is different.
    running.signal("HUP");
    let reloaded = running.wait_for("reloaded", "", 2);
    assert_eq!(reloaded["restarted"], json!([]));
    running.signal("TERM");
    running.finish().0.exits(0);
    assert!(!servers.into_iter().any(is_alive));
}

/// BEHAVIOUR K3: a file that was replaced is read by itself; one that is bad, cut short or gone changes nothing and has every
/// problem told.
#[test]
fn replaced_file_is_applied_and_bad_one_changes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = |id: &str| plain(&folder.path().join(id)).server();
    let (a, b) = (server("a"), server("b"));
    let config = Config::text(&text(&[("a", &a)], &json!({})));
    let running = Running::start(&config, &[]);
    running.wait_for("started", "", 1);
    let first = pid(folder.path(), "a");
    replace(&config, &text(&[("a", &a), ("b", &b)], &json!({})));
    let reloaded = running.wait_for("reloaded", "", 1);
    assert_eq!(reloaded["connected"], json!(["b"]));

    let bad = json!({"mcpServers": {"a": {"command": 7}, "b": {"url": "gopher://x/"}}});
    replace(&config, &bad.to_string());
    let refused = running.wait_for("reload_refused", "", 1);
    assert_eq!(
        refused["problems"].as_array().map(Vec::len),
        Some(2),
        "{refused}"
    );
    std::fs::write(config.path(), "{\"mcpServers\": {\"a\"").expect("half a file");
    running.wait_for("reload_refused", "", 2);
    std::fs::remove_file(config.path()).expect("removed");
    running.wait_for("reload_refused", "", 3);
    assert!(is_alive(first) && is_alive(pid(folder.path(), "b")));

    replace(&config, &text(&[("b", &b)], &json!({})));
    let reloaded = running.wait_for("reloaded", "", 2);
    assert_eq!(reloaded["disconnected"], json!(["a"]));
    assert!(!is_alive(first));
    assert_eq!(running.count("reload_refused", ""), 3);
    running.signal("TERM");
    let (ran, _) = running.finish();
    let ran = ran.exits(0);
    assert!(
        ran.stderr.contains("command") && ran.stderr.contains("scheme"),
        "{}",
        ran.stderr
    );
}

/// BEHAVIOUR K1: a change of a file that an entry names is a change of the entry.
#[test]
fn changed_env_file_restarts_its_server() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let variables = folder.path().join("variables");
    std::fs::write(&variables, "LEVEL=1\n").expect("written");
    let [a, b] = ["a", "b"].map(|id| plain(&folder.path().join(id)).server());
    let more = json!({"a": {"envFile": variables}});
    let config = Config::text(&text(&[("a", &a), ("b", &b)], &more));
    let running = Running::start(&config, &[]);
    running.wait_for("started", "", 1);
    std::fs::write(&variables, "LEVEL=2\n").expect("written");
    let reloaded = running.wait_for("reloaded", "", 1);
    assert_eq!(reloaded["restarted"], json!(["a"]));
    running.signal("TERM");
    running.finish().0.exits(0);
}

/// BEHAVIOUR H8: a server that does not come up, at the start or by a new configuration, holds up no later configuration.
#[test]
fn server_that_does_not_come_up_holds_up_no_configuration() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let silent = |id: &str| {
        let script = Script::new().write_pid(folder.path().join(id));
        script.hang().server()
    };
    let (first, second) = (silent("first"), silent("second"));
    let good = plain(&folder.path().join("good")).server();
    let last = plain(&folder.path().join("last")).server();
    let long = |id: &str| json!({id: {"handshakeTimeoutMs": 600_000}});
    let config = Config::text(&text(&[("good", &good), ("first", &first)], &long("first")));
    let running = Running::start(&config, &[]);
    running.wait_for("published", "good", 1);
    let ended = pid(folder.path(), "first");
    replace(
        &config,
        &text(&[("good", &good), ("second", &second)], &long("second")),
    );
    running.signal("HUP");
    let started = running.wait_for("started", "", 1);
    assert_eq!(started["up"], json!(["good"]));
    // The connect is over at once, its child a moment later.
    running.wait_for("gone", "first", 1);
    assert!(!is_alive(ended));
    let ended = pid(folder.path(), "second");
    replace(
        &config,
        &text(&[("good", &good), ("last", &last)], &json!({})),
    );
    running.signal("HUP");
    running.wait_for("published", "last", 1);
    assert!(!is_alive(ended));
    running.wait_for("reloaded", "", 2);
    assert_eq!(running.count("connecting", "good"), 1);
    running.signal("TERM");
    running.finish().0.exits(0);
}
