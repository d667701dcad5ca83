//! Start, loss, stop.

use std::process::Command;
use std::time::Instant;

use seawall_testkit::{
    CallRule, HttpAct, HttpPeer, Script, Serve, Until, is_alive, wait_for_pid, wait_until,
};
use serde_json::{Value, json};

use super::*;

fn with(mut entry: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().expect("an object") {
        entry[key] = value.clone();
    }
    entry
}

/// BEHAVIOUR H7, H4: events are one JSON object a line, numbered without a gap; SIGTERM ends with status 0 and no process.
#[test]
fn events_are_lines_and_sigterm_leaves_nobody() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pids = ["a", "b"].map(|id| folder.path().join(id));
    let [a, b] = [&pids[0], &pids[1]].map(|pid| plain(pid).server());
    let config = Config::of(&[("a", a.entry()), ("b", b.entry())]);
    let running = Running::start(&config, &[]);
    let started = running.wait_for("started", "", 1);
    assert_eq!(started["up"], json!(["a", "b"]));
    let numbers = pids.map(|pid| wait_for_pid(&pid, LONG).expect("a pid"));
    running.signal("TERM");
    let (ran, told) = running.finish();
    let ran = ran.exits(0);
    assert_eq!(ran.stderr, "");
    assert!(!numbers.into_iter().any(is_alive));
    let sequences: Vec<u64> = told
        .iter()
        .filter_map(|line| line["sequence"].as_u64())
        .collect();
    let counted: Vec<u64> = (1..=sequences.len() as u64).collect();
    assert_eq!(sequences, counted);
    let of_a: Vec<&Value> = told
        .iter()
        .filter(|line| line["server"] == "a")
        .map(|line| &line["event"])
        .collect();
    assert_eq!(of_a, ["connecting", "connected", "published", "gone"]);
    let published = told.iter().find(|line| line["event"] == "published");
    assert_eq!(published.expect("published")["tools"], 1);
    assert!(told.iter().all(|line| line["timeMs"].is_u64()));
    assert_eq!(told[told.len() - 2]["event"], "gone");
    assert_eq!(told[told.len() - 1]["event"], "stopped");
}

/// BEHAVIOUR H2: a lost server comes back unless its entry says no; that one raises the alert, and the others stay.
#[test]
fn lost_server_comes_back_unless_its_entry_says_no() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (back, gone) = (folder.path().join("back"), folder.path().join("gone"));
    let (b, g) = (plain(&back).server(), plain(&gone).server());
    let config = Config::of(&[
        ("back", with(b.entry(), &json!({"reconnectIntervalMs": 10}))),
        ("gone", with(g.entry(), &json!({"reconnect": false}))),
    ]);
    let log = folder.path().join("alerts");
    let peer = HttpPeer::start(|_, _| vec![HttpAct::json(200, "{}")]);
    let mut command = config.command(&["run", "--json"]);
    command.arg("--alert-log").arg(&log);
    command.env("SEAWALL_ALERT_WEBHOOK", peer.url("/hook/secret"));
    let running = Running::spawn(command);
    running.wait_for("started", "", 1);
    for file in [&back, &gone] {
        let pid = wait_for_pid(file, LONG).expect("a pid").to_string();
        let killed = Command::new("kill").args(["-s", "KILL", &pid]).status();
        assert!(killed.expect("kill runs").success());
    }
    running.wait_for("connected", "back", 2);
    running.wait_for("waiting", "back", 1);
    let down = running.wait_for("server_down", "gone", 1);
    assert_eq!(down["outlook"], "halted");
    assert_eq!(down["error"]["code"], "connection_closed");
    running.wait_for("gone", "gone", 1);
    assert_eq!(running.count("waiting", "gone"), 0);
    let alerts = std::fs::read_to_string(&log).expect("the log");
    assert_eq!(alerts.lines().count(), 1, "{alerts}");
    assert!(wait_until(LONG, || !peer.requests().is_empty()));
    running.signal("INT");
    let (ran, _) = running.finish();
    assert!(!ran.exits(0).stderr.contains("secret"));
}

/// BEHAVIOUR H9: at the start the failure of a server without reconnect, or of a required one, stops the host and is named.
#[test]
fn failed_start_is_named_and_leaves_nobody() {
    for more in [json!({"reconnect": false}), json!({"required": true})] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pid = folder.path().join("pid");
        let well = plain(&pid).server();
        let ill = json!({"command": "/nonexistent/server"});
        let config = Config::of(&[("well", well.entry()), ("ill", with(ill, &more))]);
        let peer = HttpPeer::start(|_, _| vec![HttpAct::json(200, "{}")]);
        let mut command = config.command(&["run"]);
        command.env("SEAWALL_ALERT_WEBHOOK", peer.url("/hook"));
        let ran = Ran::from(command.output().expect("the binary runs")).exits(3);
        // Whoever is to be alerted is, although it ended at once.
        assert_eq!(peer.requests().len(), 1);
        assert!(
            ran.stderr.contains("MCP server \"ill\": "),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("nonexistent"), "{}", ran.stderr);
        let ran = config.run(&["run", "--json"]).exits(3);
        let last: Value = serde_json::from_str(ran.stdout.lines().last().expect("a line"))
            .expect("a line of JSON");
        assert_eq!(last["error"]["server"], "ill");
        assert_eq!(last["error"]["outcome"], "not_sent");
        if let Some(pid) = wait_for_pid(&pid, Duration::ZERO) {
            assert!(!is_alive(pid));
        }
    }
    // Another one's failure is an alert, and the host goes on.
    let config = Config::of(&[("ill", json!({"command": "/nonexistent/server"}))]);
    let running = Running::start(&config, &[]);
    let started = running.wait_for("started", "", 1);
    assert_eq!(started["retrying"], json!(["ill"]));
    assert_eq!(running.count("server_down", "ill"), 1);
    running.signal("TERM");
    running.finish().0.exits(0);
}

/// BEHAVIOUR H4: the stop keeps to its budget and names who is not gone; that one goes all the same.
#[test]
fn budget_is_kept_and_who_is_left_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pid = folder.path().join("pid");
    let script = Script::new()
        .ignore_sigterm()
        .write_pid(&pid)
        .serve(Serve::new().tools(["t"]).until(Until::Listed))
        .hang();
    let config = Config::scripted(&script);
    let running = Running::start(&config, &["--budget", "100"]);
    running.wait_for("started", "", 1);
    let server = wait_for_pid(&pid, LONG).expect("a pid");
    let begun = Instant::now();
    running.signal("TERM");
    let (ran, told) = running.finish();
    assert!(begun.elapsed() < Duration::from_secs(2));
    ran.exits(6);
    let last = told.last().expect("a line");
    assert_eq!(last["error"]["server"], "s");
    assert_eq!(last["error"]["outcome"], "no_response");
    assert!(wait_until(Duration::from_secs(5), || !is_alive(server)));
}

/// BEHAVIOUR H4, H8: a stdout that nobody reads, or that is gone, keeps nobody from ending.
#[test]
fn stuck_stdout_holds_up_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let record = folder.path().join("record");
    let script = Script::new()
        .record(&record)
        .serve(Serve::new().tools(["t"]).until(Until::Listed))
        .exit(0);
    let more = json!({"reconnectIntervalMs": 1, "reconnectMaxIntervalMs": 1});
    let config = Config::scripted_with(&script, &more);
    let mut child = config
        .command(&["run", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // More sessions than a pipe holds the events of.
    let sessions = || {
        let text = std::fs::read_to_string(&record).unwrap_or_default();
        text.matches("tools/list").count()
    };
    assert!(wait_until(3 * LONG, || sessions() > 150), "{}", sessions());
    send("TERM", &child);
    let ended = wait_until(LONG, || child.try_wait().expect("waited for").is_some());
    assert!(ended, "it hangs");
    assert_eq!(child.wait().expect("it ended").code(), Some(0));

    let pid = folder.path().join("pid");
    let config = Config::scripted_with(
        &plain(&pid).serve(Serve::new().calls(CallRule::Echo)),
        &json!({"reconnectIntervalMs": 1}),
    );
    let mut child = config
        .command(&["run"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    if let Some(pid) = wait_for_pid(&pid, Duration::ZERO) {
        assert!(!is_alive(pid));
    }
}

/// BEHAVIOUR K3: what cannot be alerted is a usage error; a webhook's URL is a secret.
#[test]
fn unusable_alerts_are_usage_errors() {
    let config = Config::text(r#"{"mcpServers": {}}"#);
    let folder = config.folder().to_str().expect("a UTF-8 path");
    let ran = config.run(&["run", "--alert-log", folder]).exits(2);
    assert!(ran.stderr.contains("--alert-log: "), "{ran:?}");
    let mut command = config.command(&["run"]);
    command.env("SEAWALL_ALERT_WEBHOOK", "ftp://example.org/secret");
    let ran = Ran::from(command.output().expect("the binary runs")).exits(2);
    assert!(ran.stderr.contains("SEAWALL_ALERT_WEBHOOK"), "{ran:?}");
    assert!(!ran.stderr.contains("secret"));
    config.run(&["run", "--budget", "0"]).exits(2);
}
