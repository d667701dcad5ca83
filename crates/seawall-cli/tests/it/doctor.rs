//! `seawall doctor`.

use seawall_testkit::{Script, Serve, tool};
use serde_json::json;

use crate::support::{Config, run};

/// The text without what differs from run to run or with each change of the engine.
fn without_measures(text: &str) -> String {
    let line = |line: &str| {
        let measured = [
            "handshakeTimeoutMs",
            "maxFrameBytes",
            "maxOutboundFrameBytes",
            "queueCapacity",
            "maxBufferedBytes",
        ];
        let name = line
            .split("  ")
            .find(|part| !part.trim().is_empty())
            .unwrap_or_default()
            .trim();
        if line.ends_with(" ms") || measured.contains(&name) {
            return format!(" {name} …");
        }
        line.to_owned()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn demo_is_healthy() {
    let ran = run(&["doctor", "--demo"]).exits(0);
    insta::assert_snapshot!(without_measures(&ran.stdout));
    let json = run(&["doctor", "--demo", "--json"]).exits(0).json();
    assert_eq!(json[0]["verdict"], "healthy");
    assert_eq!(json[0]["found"]["revision"], "2025-11-25");
    assert_eq!(json[0]["found"]["tools"], 6);
    assert!(json[0].get("error").is_none());
}

/// BEHAVIOUR L7, S6: what was left out, what was dropped and what nobody sees is named, with what to do.
#[test]
fn oddities_are_named_with_a_remedy() {
    let hidden = json!({"name": "t", "description": "x\u{200b}\u{202e}y", "inputSchema": {"type": "object"}});
    let script = Script::new()
        .stderr("one\ntwo\n")
        .line("Server ready!")
        .serve(Serve::new().page([
            hidden.to_string(),
            json!({"name": "bad"}).to_string(),
            tool("ok"),
        ]));
    let config = Config::scripted_with(
        &script,
        &json!({"invalidTools": "quarantine", "maxTools": 3}),
    );
    let ran = config.run(&["doctor"]).exits(5);
    insta::assert_snapshot!(without_measures(&ran.stdout));
    let json = config.run(&["doctor", "--json"]).exits(5).json();
    assert_eq!(json[0]["verdict"], "degraded");
    assert_eq!(json[0]["found"]["noiseLines"], 1);
    assert_eq!(json[0]["found"]["stderrLines"], 2);
    assert_eq!(json[0]["found"]["quarantined"][0]["index"], 1);
    assert_eq!(json[0]["found"]["invisibleCharacters"][0]["count"], 2);
}

#[test]
fn worst_failure_is_the_status_and_every_server_is_told_of() {
    let silent = Script::new().hang().server().entry();
    let mut silent = silent;
    silent["handshakeTimeoutMs"] = json!(200);
    let config = Config::of(&[
        ("absent", json!({"command": "/nonexistent/server"})),
        (
            "dying",
            Script::new()
                .stderr("no such file: x\u{1b}\n")
                .exit(1)
                .server()
                .entry(),
        ),
        ("fine", Script::plain().server().entry()),
        ("silent", silent),
    ]);
    let ran = config.run(&["doctor", "--json"]).exits(6);
    let json = ran.json();
    let verdicts: Vec<_> = (0..4)
        .map(|at| json[at]["verdict"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(verdicts, ["failed", "failed", "healthy", "failed"]);
    assert_eq!(json[0]["error"]["code"], "spawn_failed");
    assert_eq!(json[3]["error"]["code"], "timeout");
    let plain = config.run(&["doctor", "dying", "absent"]);
    insta::assert_snapshot!(without_measures(&plain.stdout));
    config.run(&["doctor", "fine"]).exits(0);
    config.run(&["doctor", "nobody"]).exits(2);
}

/// BEHAVIOUR S6, S12: what a server says beside the protocol is shown to who asks for it, with nothing hidden.
#[test]
fn noise_and_stderr_are_shown_to_who_asks_twice() {
    let script = Script::new()
        .stderr("said on stderr\u{1b}\n")
        .line("said on stdout")
        .serve(Serve::new().tools(["t"]));
    let config = Config::scripted(&script);
    let loud = config.run(&["tools", "-vv"]).exits(0);
    for words in [
        "s| said on stderr\\u{1b}",
        "said on stdout",
        "connected to s",
    ] {
        assert!(loud.stderr.contains(words), "{words}: {loud:?}");
    }
    let once = config.run(&["tools", "-v"]).exits(0);
    assert!(!once.stderr.contains("said on"), "{once:?}");
}
