//! How it ends.

use std::time::{Duration, Instant};

use seawall::config::Protocol;
use seawall_testkit::{CallRule, Script, Serve, is_alive, wait_until};
use serde_json::json;

use super::{LONG, Raw, Served};
use crate::support::{Config, run};

/// G1: over stdio it ends with its input, and every server with it; stdout carried protocol only.
#[test]
fn it_ends_with_its_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let pid = folder.path().join("pid");
    let server = Script::new()
        .write_pid(&pid)
        .serve(Serve::new().tools(["t"]));
    let mut raw = Raw::start(&Config::scripted(&server), &["--json", "-v"]);
    assert_eq!(raw.names(), ["s__t"]);
    raw.stdin = None;
    let ended = wait_until(LONG, || raw.child.try_wait().expect("a child").is_some());
    assert!(ended);
    assert_eq!(raw.child.wait().expect("a child").code(), Some(0));
    let pid = std::fs::read_to_string(&pid).expect("a pid");
    let pid = pid.trim().parse().expect("a number");
    assert!(wait_until(LONG, || !is_alive(pid)));
    for line in raw.lines.take().into_iter().flatten() {
        let line = line.expect("readable");
        assert!(
            serde_json::from_str::<serde_json::Value>(&line).is_ok(),
            "{line}"
        );
    }
}

/// G3: a signal lets what is under way end, within the budget, and refuses what comes later.
#[tokio::test]
async fn a_signal_lets_calls_end() {
    let server = Script::new().serve(Serve::new().tools(["t"]).calls(CallRule::Sleep));
    let config = Config::scripted(&server);
    let mut served = Served::start(&config);
    let client = served.client(Protocol::Legacy).await;
    let mut call = Box::pin(client.call("s__t", json!({"ms": 1_000})));
    let begun = tokio::time::timeout(Duration::from_millis(300), &mut call).await;
    assert!(begun.is_err(), "it is under way");
    let sent = std::process::Command::new("kill")
        .args(["-s", "TERM", &served.child.id().to_string()])
        .status();
    assert!(sent.expect("kill runs").success());
    call.await.expect("answered all the same");
    let begun = Instant::now();
    let ended = wait_until(LONG, || served.child.try_wait().expect("a child").is_some());
    assert!(ended && begun.elapsed() < Duration::from_secs(10));
    assert_eq!(served.child.wait().expect("a child").code(), Some(0));
    assert!(
        served
            .told
            .iter()
            .any(|line| line.contains("every server is gone"))
    );
}

/// G3: an address that others reach is refused before anything is started, with the remedy.
#[test]
fn other_addresses_are_refused() {
    for address in [
        "0.0.0.0:0",
        "[::]:8700",
        "192.0.2.1:8700",
        "[::ffff:192.0.2.1]:1",
    ] {
        let ran = run(&["serve", "--demo", "--http", address]);
        assert_eq!(ran.status, Some(2), "{address}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("use --http 127.0.0.1:"),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("connecting"), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}
