//! `seawall doctor`.

use seawall_testkit::{HttpAct, HttpPeer, Script, Serve, tool};
use serde_json::json;

use crate::support::{Config, run};
use crate::web::handshaking;

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

/// BEHAVIOUR S3, R1: of a server behind a URL it is said how it is reached, how that was found out, and where it is, without
/// what may be secret in that.
#[test]
fn server_behind_a_url_is_healthy() {
    let peer = handshaking();
    let url = peer.url("/mcp?key=s3cret-value#part");
    let config = Config::of(&[("web", json!({"url": url, "oauth": false}))]);
    let ran = config.run(&["doctor"]).exits(0);
    let shown = peer.url("/mcp?[redacted]");
    assert!(ran.stdout.contains(&shown), "{ran:?}");
    assert!(!format!("{ran:?}").contains("s3cret"), "{ran:?}");
    let origin = peer.url("");
    insta::assert_snapshot!(without_measures(&ran.stdout).replace(&origin, "http://…"));
    let json = config.run(&["doctor", "--json"]).exits(0).json();
    assert_eq!(json[0]["url"], shown);
    assert_eq!(json[0]["found"]["transport"], "streamable_http");
    assert_eq!(json[0]["found"]["era"], "legacy");
    assert_eq!(json[0]["found"]["eraSource"], "fell_back");
    let pinned = json!({"url": peer.url("/mcp"), "protocol": "legacy", "oauth": false});
    let pinned = Config::of(&[("web", pinned)]);
    let json = pinned.run(&["doctor", "--json"]).exits(0).json();
    assert_eq!(json[0]["found"]["eraSource"], "configured");
}

/// What commonly fails between here and a server has a remedy of its own, which speaks of no program.
#[test]
fn network_failures_have_remedies() {
    let status =
        |status: u16| HttpPeer::start(move |_, _| vec![HttpAct::answer(status, &[], "s3cret")]);
    let peers = [401, 403, 404, 429, 503].map(status);
    let page = HttpPeer::start(|_, _| {
        vec![HttpAct::answer(
            200,
            &["content-type: text/html"],
            "<p>hello",
        )]
    });
    let away = HttpPeer::start(|_, _| {
        vec![HttpAct::answer(
            302,
            &["location: https://elsewhere.example/x?s3cret"],
            "",
        )]
    });
    let silent = HttpPeer::start(|_, _| vec![HttpAct::Hang]);
    let plain = HttpPeer::at_once(vec![HttpAct::answer(400, &[], "s3cret"), HttpAct::Close]);
    let tls = HttpPeer::start_tls(|_, _| vec![HttpAct::Close]);
    let https_on_http = plain.url("/").replace("http://", "https://");
    let quick = json!({"handshakeTimeoutMs": 300, "oauth": false});
    let cases = [
        (peers[0].url("/"), "it wants credentials"),
        (peers[1].url("/"), "does not allow it"),
        (peers[2].url("/"), "is `url` whole?"),
        (peers[3].url("/"), "enough of requests"),
        (peers[4].url("/"), "a problem of its own"),
        (page.url("/"), "MCP endpoint, not its web page"),
        (away.url("/"), "write the address that it points to"),
        (silent.url("/"), "raise `handshakeTimeoutMs`"),
        ("http://127.0.0.1:9/".to_owned(), "nobody listens there"),
        (
            "http://no-such-host.invalid/".to_owned(),
            "cannot be looked up",
        ),
        (tls.url("/"), "its certificate is not trusted"),
        (https_on_http, "no TLS there"),
    ];
    for (url, words) in cases {
        let mut entry = quick.clone();
        entry["url"] = json!(url);
        let ran = Config::of(&[("web", entry)]).run(&["doctor"]);
        assert_ne!(ran.status, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(words), "{words}: {ran:?}");
        assert!(!ran.stdout.contains("s3cret"), "{ran:?}");
        assert!(!ran.stdout.contains("command"), "{ran:?}");
    }
    let peer = status(401);
    let token = json!({"url": peer.url("/"), "bearerTokenEnv": "PATH"});
    let ran = Config::of(&[("web", token)]).run(&["doctor"]);
    assert!(
        ran.stdout.contains("the token of `bearerTokenEnv`"),
        "{ran:?}"
    );
}

/// BEHAVIOUR S1: a server without tools can be looked at.
#[test]
fn server_without_tools_is_healthy() {
    let script = Script::new().serve(Serve::new().capabilities(r#"{"prompts":{}}"#));
    let config = Config::scripted(&script);
    let ran = config.run(&["doctor"]).exits(0);
    assert!(
        ran.stdout.contains("it offers no tools, but prompts"),
        "{ran:?}"
    );
}

#[test]
fn last_words_are_few() {
    let words: String = (1..=7).map(|at| format!("word {at}\n")).collect();
    let config = Config::scripted(&Script::new().stderr(words).exit(1));
    let ran = config.run(&["doctor"]);
    let shown: Vec<&str> = ran
        .stdout
        .lines()
        .filter_map(|line| line.split_once("| "))
        .map(|(_, word)| word)
        .collect();
    assert_eq!(
        shown,
        ["word 3", "word 4", "word 5", "word 6", "word 7"],
        "{ran:?}"
    );
}

/// BEHAVIOUR S4: who speaks MCP in another revision is not told to be no MCP server.
#[test]
fn revision_that_the_entry_rules_out_has_its_own_remedy() {
    let script = Script::new().serve(Serve::new().revision("2025-03-26").tools(["t"]));
    let config = Config::scripted_with(&script, &json!({"protocol": "2024-11-05"}));
    let visit = &config.run(&["doctor", "--json"]).exits(5).json()[0];
    let remedy = visit["remedies"][0].as_str().expect("a remedy");
    assert!(remedy.contains("`protocol`"), "{remedy}");
    let config = Config::scripted_with(&script, &json!({"include": ["other"]}));
    let visit = &config.run(&["doctor", "--json"]).exits(5).json()[0];
    let remedy = visit["remedies"][0].as_str().expect("a remedy");
    assert!(remedy.contains("`include`"), "{remedy}");
}

/// BEHAVIOUR S11: a tool that could not be called is named, with the reason and what to do; `tools` tells it too.
#[test]
fn tools_with_an_unusable_output_schema_are_named() {
    let with = |name: &str, schema: serde_json::Value| {
        json!({"name": name, "inputSchema": {"type": "object"}, "outputSchema": schema}).to_string()
    };
    let pattern =
        |pattern: &str| json!({"type": "object", "properties": {"p": {"pattern": pattern}}});
    let script = Script::new().serve(Serve::new().page([
        with(
            "remote",
            json!({"type": "object", "$ref": "https://example.org/s.json"}),
        ),
        with("inner", pattern("^(?:(?!-)[a-z-]+\\.)+$")),
        with("leading", pattern("^(?!foo)[a-z]+$")),
        with(
            "dialect",
            json!({"type": "object", "$schema": "https://example.org/d"}),
        ),
    ]));
    let config = Config::scripted(&script);
    let ran = config.run(&["doctor"]).exits(5);
    for words in [
        "degraded",
        "tool `remote` cannot be called: the outputSchema has a reference",
        "tool `inner` cannot be called: the outputSchema has a pattern",
        "tool `dialect` cannot be called: the outputSchema is written in an unknown dialect",
        "leave the tool out with `exclude`",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {ran:?}");
    }
    assert!(!ran.stdout.contains("leading"), "{ran:?}");
    let json = config.run(&["doctor", "--json"]).exits(5).json();
    assert_eq!(json[0]["verdict"], "degraded");
    assert_eq!(json[0]["found"]["unusable"][0]["tool"], "remote");
    let ran = config.run(&["tools"]).exits(0);
    assert!(
        ran.stderr.contains("tool `inner` cannot be called"),
        "{ran:?}"
    );
    let json = config.run(&["tools", "--json"]).exits(0).json();
    for tool in json.as_array().into_iter().flatten() {
        assert_eq!(
            tool["unusable"].is_string(),
            tool["tool"] != "leading",
            "{tool}"
        );
    }
    let excluded = json!({"exclude": ["remote", "inner", "dialect"]});
    let config = Config::scripted_with(&script, &excluded);
    config.run(&["doctor"]).exits(0);
}

/// BEHAVIOUR S3: how long a silent server was asked for its era is shown, as is what spares that.
#[test]
fn an_unanswered_probe_is_shown() {
    let script = Script::new()
        .expect("server/discover")
        .serve(Serve::new().tools(["t"]));
    let config = Config::scripted_with(&script, &json!({"protocol": "auto"}));
    let json = config.run(&["doctor", "--json"]).exits(0).json();
    let probe = &json[0]["found"]["handshake"][0];
    assert_eq!(probe["step"], "server/discover", "{json}");
    assert!(
        probe["ms"].as_f64().is_some_and(|ms| ms >= 5_000.0),
        "{json}"
    );
    let limits = json[0]["found"]["limits"].as_array();
    let time = limits
        .into_iter()
        .flatten()
        .find(|at| at["option"] == "handshakeTimeoutMs");
    let used = time.and_then(|time| time["used"].as_u64());
    assert!(used.is_some_and(|used| used >= 5_000), "{json}");
    assert!(json[0]["remedies"].to_string().contains("legacy"), "{json}");
}

/// The remedy is for what failed: a limit is named where one was passed, and noise where there was some.
#[test]
fn remedies_are_for_what_failed() {
    let serving = || Script::new().serve(Serve::new().tools(["one", "two"]));
    let long =
        json!({"name": "t", "description": "d".repeat(100), "inputSchema": {"type": "object"}});
    let long = Script::new().serve(Serve::new().page([long.to_string()]));
    let noisy = Script::new().line("Server ready!").hang();
    let bad = Script::new().serve(Serve::new().page([json!({"name": "bad"}).to_string()]));
    for (script, more, words) in [
        (
            serving(),
            json!({"maxFrameBytes": 100}),
            "raise `maxFrameBytes`",
        ),
        (
            serving(),
            json!({"maxOutboundFrameBytes": 10}),
            "raise `maxOutboundFrameBytes`",
        ),
        (serving(), json!({"maxTools": 1}), "raise `maxTools`"),
        (
            long,
            json!({"maxToolDocumentBytes": 50}),
            "raise `maxToolDocumentBytes`",
        ),
        (
            noisy,
            json!({"handshakeTimeoutMs": 300}),
            "was not protocol",
        ),
        (bad, json!({}), "tell the server's author"),
    ] {
        let ran = Config::scripted_with(&script, &more).run(&["doctor", "--json"]);
        let remedies = ran.json()[0]["remedies"].to_string();
        assert!(remedies.contains(words), "{words}: {ran:?}");
        assert!(!remedies.contains("does not speak MCP"), "{ran:?}");
    }
}
