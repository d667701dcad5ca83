//! MCP Live at the command line: `channels`, `publish`, what `run` tells and what `doctor` finds, with the scripted server
//! over stdio and over a WebSocket.

use seawall_testkit::{
    McplAct, McplAnswer, McplPeer, McplServer, mcpl_incoming, mcpl_notification, mcpl_push,
    mcpl_register, mcpl_request,
};
use serde_json::{Value, json};

use crate::run::Running;
use crate::support::{Config, Ran};
use crate::terminal::{Terminal, finish};

/// What no output may hold.
const TOKEN: &str = "t0ken/with+odd&characters";
/// Until when a policy exchange is answered.
const UPDATE: &str = "featureSets/update";

/// An honest server that registers `room:1` as soon as it may.
fn with_room() -> McplServer {
    McplServer::honest().says_after(UPDATE, &mcpl_register(1))
}

/// Its entry over stdio, as the server `s`.
fn stdio(server: &McplServer, more: &Value) -> Config {
    let mut entry = server.stdio().entry();
    entry["protocol"] = json!("mcpl");
    Config::of(&[("s", with(entry, more))])
}

/// The entry of a peer, as the server `s`.
fn websocket(peer: &McplPeer, more: &Value) -> Config {
    let entry =
        json!({ "url": peer.url("/live?room=s3cret-query"), "bearerTokenEnv": "LIVE_TOKEN" });
    Config::of(&[("s", with(entry, more))])
}

fn with(mut entry: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().expect("an object") {
        entry[key] = value.clone();
    }
    entry
}

/// Runs with the token in the environment, and sees that neither it nor what is secret in the URL is shown.
#[track_caller]
fn run(config: &Config, args: &[&str]) -> Ran {
    let mut command = config.command(args);
    command.env("LIVE_TOKEN", TOKEN);
    let ran = Ran::from(command.output().expect("the binary runs"));
    nothing_secret(&format!("{ran:?}"));
    ran
}

#[track_caller]
fn nothing_secret(shown: &str) {
    let encoded = ["t0ken%2Fwith", "s3cret-query", "t0ken"];
    assert!(
        !encoded.iter().any(|secret| shown.contains(secret)),
        "{shown}"
    );
}

/// What was published, of all that a peer heard.
fn published(peer: &McplPeer) -> Vec<Value> {
    let heard = peer.heard_of("channels/publish").into_iter();
    heard.map(|message| message["params"].clone()).collect()
}

#[test]
fn channels_are_listed_with_what_each_may_do() {
    let config = stdio(&with_room(), &json!({}));
    let ran = run(&config, &["channels"]).exits(0);
    assert_eq!(ran.stderr, "");
    insta::assert_snapshot!(ran.stdout);
    let json = run(&config, &["channels", "--json"]).exits(0).json();
    assert_eq!(json[0]["server"], "s");
    assert_eq!(json[0]["id"], "room:1");
    assert_eq!(json[0]["open"], false);
    assert_eq!(json[0]["may"], json!(["publish", "receive", "open"]));
    assert_eq!(json[0]["descriptor"]["label"], "Room 1");

    let peer = with_room().token(TOKEN).websocket();
    let listens =
        json!({ "disabledCapabilities": ["channels.publish"], "channelSubscription": "auto" });
    let json = run(&websocket(&peer, &listens), &["channels", "--json"])
        .exits(0)
        .json();
    assert_eq!(json[0]["may"], json!(["receive", "open"]));
}

#[test]
fn servers_without_channels_are_told_of() {
    let cases = [
        (
            McplServer::honest(),
            json!({ "disabledCapabilities": ["channels"] }),
            "\"disabledCapabilities\" takes it away",
        ),
        (
            McplServer::before_policies(),
            json!({}),
            "\"mcplPolicy\": \"legacy\"",
        ),
        (McplServer::plain(), json!({}), "it does not speak MCP Live"),
        (
            McplServer::honest().result(UPDATE, r#"{"accepted":false,"fallback":"mcp-only"}"#),
            json!({}),
            "goes on as a plain server",
        ),
    ];
    for (server, more, words) in cases {
        let ran = run(&stdio(&server, &more), &["channels", "--json"]).exits(0);
        assert_eq!(ran.stdout, "[]\n");
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
    }
    let none = run(
        &stdio(&McplServer::honest(), &json!({})),
        &["channels", "--wait", "50"],
    )
    .exits(0);
    assert_eq!(none.stdout, "");
    assert_eq!(none.stderr, "no channels\n");
    let other = Config::of(&[("s", McplServer::plain().stdio().entry())]);
    run(&other, &["channels"]).exits(0);
    let named = run(&other, &["channels", "--server", "s"]).exits(2);
    assert!(named.stderr.contains("\"protocol\": \"mcpl\""), "{named:?}");
    run(&other, &["publish", "s/room:1", "hello"]).exits(2);
    let gone = Config::of(&[(
        "s",
        json!({ "command": "/nonexistent/server", "protocol": "mcpl" }),
    )]);
    run(&gone, &["channels"]).exits(3);
}

/// BEHAVIOUR T6: the token goes into the query of a WebSocket, and into nothing that is shown.
#[test]
fn message_is_delivered_and_its_channel_opened_before() {
    let peer = with_room().token(TOKEN).websocket();
    let config = websocket(&peer, &json!({}));
    let ran = run(&config, &["publish", "s/room:1", "hello, all"]).exits(0);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("delivered as m-1\n", "")
    );
    let sent = published(&peer);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["channelId"], "room:1");
    assert_eq!(
        sent[0]["content"],
        json!([{ "type": "text", "text": "hello, all" }])
    );
    assert!(sent[0].get("threadId").is_none());
    assert_eq!(peer.heard_of("channels/open").len(), 1);

    let blocks =
        r#"[{"type":"text","text":"x"},{"type":"image","data":"aGk=","mimeType":"image/png"}]"#;
    let args = ["publish", "s/room:1", "--args", blocks, "--json"];
    let json = run(&config, &args).exits(0).json();
    assert_eq!(json, json!({ "delivered": true, "messageId": "m-1" }));
    assert_eq!(
        published(&peer)[1]["content"],
        serde_json::from_str::<Value>(blocks).expect("JSON")
    );

    // What is open is not opened again, and where it may not be opened it is published to all the same.
    let open = json!({ "channelSubscription": "auto" });
    run(
        &stdio(&with_room(), &open),
        &["publish", "s/room:1", "hello"],
    )
    .exits(0);
    let closed = websocket(
        &peer,
        &json!({ "disabledCapabilities": ["channels.lifecycle"] }),
    );
    run(&closed, &["publish", "s/room:1", "hello"]).exits(0);
    assert_eq!(peer.heard_of("channels/open").len(), 2);
}

#[test]
fn message_that_is_not_delivered_is_not_said_to_be() {
    let server = with_room().result(
        "channels/publish",
        r#"{"delivered":false,"reason":"REMOTE-MARKER"}"#,
    );
    let config = stdio(&server, &json!({}));
    let ran = run(&config, &["publish", "s/room:1", "hello"]).exits(1);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("was not delivered"), "{ran:?}");
    assert!(!ran.stderr.contains("REMOTE"), "{ran:?}");
    let json = run(&config, &["publish", "s/room:1", "hello", "--json"])
        .exits(1)
        .json();
    assert_eq!(json, json!({ "delivered": false }));
}

/// BEHAVIOUR O1: what became of a message is told as it is known: nothing sent, refused, no receipt, no answer.
#[test]
fn unknown_outcomes_are_told_as_unknown() {
    let error = r#"{"code":-32017,"message":"REMOTE-MARKER"}"#;
    let cases = [
        // Refused.
        (
            with_room().error("channels/publish", error),
            4,
            "error_response",
            json!({}),
        ),
        // It contradicts itself.
        (
            with_room().result(
                "channels/publish",
                r#"{"delivered":false,"messageId":"m-1"}"#,
            ),
            5,
            "answered",
            json!({}),
        ),
        (
            with_room().result("channels/publish", "{}"),
            5,
            "answered",
            json!({}),
        ),
        // No answer.
        (
            with_room().answer("channels/publish", McplAnswer::Never),
            6,
            "no_response",
            json!({ "requestTimeoutMs": 300 }),
        ),
        (
            with_room().before("channels/publish", [McplAct::Drop]),
            6,
            "no_response",
            json!({}),
        ),
        // It could not be opened, so nothing was published.
        (
            with_room().error("channels/open", r#"{"code":-32024,"message":"no"}"#),
            3,
            "not_sent",
            json!({}),
        ),
        (
            with_room().result("channels/open", "{}"),
            3,
            "not_sent",
            json!({}),
        ),
    ];
    for (server, status, outcome, more) in cases {
        let ran = run(
            &stdio(&server, &more),
            &["publish", "s/room:1", "hello", "--json"],
        );
        let ran = ran.exits(status);
        let json = ran.json();
        assert_eq!(json["error"]["outcome"], outcome, "{json}");
        assert_eq!(json["error"]["server"], "s");
        assert!(!format!("{ran:?}").contains("REMOTE"), "{ran:?}");
        let message = json["error"]["message"].as_str().unwrap_or_default();
        let verify = matches!(status, 5 | 6);
        assert_eq!(message.contains("verify"), verify, "{message}");
        assert_eq!(
            message.contains("nothing was published"),
            status == 3,
            "{message}"
        );
    }
}

#[test]
fn what_may_not_be_published_is_not_sent() {
    let peer = with_room().websocket();
    let denied = websocket(
        &peer,
        &json!({ "disabledCapabilities": ["channels.publish"] }),
    );
    let ran = run(&denied, &["publish", "s/room:1", "hello"]).exits(3);
    assert!(
        ran.stderr
            .contains("\"disabledCapabilities\" takes it away; nothing was published"),
        "{ran:?}"
    );
    let config = websocket(&peer, &json!({}));
    let ran = run(&config, &["publish", "s/room:2", "hello", "--wait", "100"]).exits(3);
    assert!(ran.stderr.contains("no channel `room:2`"), "{ran:?}");
    assert!(ran.stderr.contains("did you mean `s/room:1`?"), "{ran:?}");
    let ran = run(
        &config,
        &["publish", "s/room:1", "hello", "--thread", "t-1"],
    )
    .exits(3);
    assert!(
        ran.stderr.contains("does not say that it puts a message"),
        "{ran:?}"
    );
    // It takes none, so it is not even opened.
    let register = json!({ "channels": [{ "id": "log", "type": "log", "label": "Log", "direction": "inbound" }] });
    let inbound = McplServer::honest()
        .says_after(UPDATE, &mcpl_request(1, "channels/register", &register))
        .websocket();
    let ran = run(
        &websocket(&inbound, &json!({})),
        &["publish", "s/log", "hello"],
    )
    .exits(3);
    assert!(
        ran.stderr.contains("the channel takes no messages"),
        "{ran:?}"
    );
    assert!(inbound.heard_of("channels/open").is_empty());
    // Usage.
    for args in [
        &["publish", "s/room:1", " "] as &[&str],
        &["publish", "s/room:1"],
        &["publish", "s/room:1", "--args", "{}"],
        &["publish", "s/room:1", "--args", "[oops"],
        &["publish", "room:1", "hello"],
        &["publish", "x/room:1", "hello"],
        &["publish", "s/room:1", "hello", "--args", "[]"],
    ] {
        run(&config, args).exits(2);
    }
    assert!(published(&peer).is_empty());
    let strict = stdio(&McplServer::before_policies(), &json!({}));
    let ran = run(&strict, &["publish", "s/room:1", "hello"]).exits(3);
    assert!(ran.stderr.contains("\"mcplPolicy\": \"legacy\""), "{ran:?}");
    run(
        &Config::of(&[(
            "s",
            json!({ "command": "/nonexistent/server", "protocol": "mcpl" }),
        )]),
        &["publish", "s/room:1", "hello"],
    )
    .exits(3);
}

/// A command that came for something else takes nothing, and says so.
#[test]
fn visitor_takes_nothing() {
    let peer = with_room()
        .says_after(UPDATE, &mcpl_push(2, "e-1", "hear me"))
        .websocket();
    run(&websocket(&peer, &json!({})), &["channels"]).exits(0);
    let replies = peer.heard_of("");
    let said = replies
        .iter()
        .find(|reply| reply["id"] == 2)
        .expect("an answer");
    assert_eq!(said["result"]["accepted"], false);
    assert_eq!(said["result"]["reason"], "not-listening");
}

/// BEHAVIOUR H7: each push, message, policy and change of a manifest is a line, numbered like all others.
#[test]
fn run_tells_of_all_that_a_server_says() {
    let narrowed = json!({ "version": "0.5", "pushEvents": true, "featureSets": { "alerts": { "uses": ["pushEvents"] } } });
    let changed = mcpl_notification(
        "mcpl/manifestChanged",
        &json!({
            "revision": format!("sha256:{}", "A".repeat(43)), "domains": ["capabilities", "featureSets"],
        }),
    );
    let server = with_room()
        .token(TOKEN)
        .says_after(UPDATE, &mcpl_push(2, "e-1", "the \u{1b}[2Jkettle"))
        .says_after(UPDATE, &mcpl_push(3, "e-1", "again"))
        .says_after(UPDATE, &mcpl_incoming(4, "m-9", "hello \u{202e}you"))
        .says_after(UPDATE, &mcpl_request(5, "scope/elevate", &json!({})))
        .after(
            UPDATE,
            [McplAct::Answer(
                "mcpl/manifest".to_owned(),
                McplAnswer::Result(narrowed.to_string()),
            )],
        )
        .says_after(UPDATE, &changed);
    let peer = server.websocket();
    let config = websocket(&peer, &json!({}));
    let mut command = config.command(&["run", "--json"]);
    command.env("LIVE_TOKEN", TOKEN);
    let running = Running::spawn(command);
    let policy = running.wait_for("policy", "s", 1);
    assert_eq!(policy["policy"], "in_force");
    running.wait_for("push", "s", 2);
    let told = running.told();
    let adds = |line: &Value| {
        let expanded = line["expanded"].as_array();
        expanded.is_some_and(|all| all.contains(&json!("pushEvents")))
    };
    assert!(told.iter().any(adds), "{told:#?}");
    let push = |outcome: &str| {
        let is_it = |line: &&Value| line["event"] == "push" && line["outcome"] == outcome;
        told.iter().find(is_it).cloned().unwrap_or_default()
    };
    let (taken, duplicate) = (push("taken"), push("duplicate"));
    assert_eq!(taken["featureSet"], "alerts");
    assert_eq!(taken["id"], "e-1");
    assert!(taken["text"].as_str().expect("a text").contains("kettle"));
    assert_eq!(duplicate["text"], "again");
    let message = running.wait_for("message", "s", 1);
    assert_eq!(message["channel"], "room:1");
    assert_eq!(message["author"], "Ann");
    assert_eq!(message["outcome"], "taken");
    running.wait_for("channels_changed", "s", 1);
    let manifest = running.wait_for("manifest_changed", "s", 1);
    let impacts = manifest["receipt"]["impacts"].as_array().expect("an array");
    assert!(
        impacts
            .iter()
            .any(|entry| entry["impact"] == "capability-revoked"),
        "{manifest}"
    );
    running.signal("TERM");
    let (ran, told) = running.finish();
    let ran = ran.exits(0);
    nothing_secret(&format!("{ran:?} {told:?}"));
    let sequences = told.iter().filter_map(|line| line["sequence"].as_u64());
    let sequences: Vec<u64> = sequences.collect();
    let counted: Vec<u64> = (1..=sequences.len() as u64).collect();
    assert_eq!(sequences, counted);
    let accepted = peer.heard_of("");
    let said = accepted
        .iter()
        .find(|reply| reply["id"] == 2)
        .expect("an answer");
    assert_eq!(said["result"]["accepted"], true);
}

/// A server before 0.5 has its tools and no more, unless its entry takes it as it is.
#[test]
fn run_tells_how_the_policy_exchange_ended() {
    let server = McplServer::before_policies().says_after(UPDATE, &mcpl_push(2, "e-1", "hear me"));
    let config = stdio(&server, &json!({}));
    let running = Running::start(&config, &[]);
    let policy = running.wait_for("policy", "s", 1);
    assert_eq!(policy["policy"], "mcp_only");
    assert!(
        policy["refusal"]
            .as_str()
            .expect("a text")
            .contains("\"mcplPolicy\": \"legacy\"")
    );
    running.signal("TERM");
    let (_, told) = running.finish();
    assert!(told.iter().all(|line| line["event"] != "push"));

    let config = stdio(&server, &json!({ "mcplPolicy": "legacy" }));
    let running = Running::start(&config, &[]);
    let policy = running.wait_for("policy", "s", 1);
    assert_eq!(policy["policy"], "in_force");
    running.wait_for("defect", "s", 1);
    assert_eq!(running.wait_for("push", "s", 1)["outcome"], "taken");
    running.signal("TERM");
    running.finish().0.exits(0);
}

/// BEHAVIOUR H7: the table tells a server of MCP Live from a plain one; what it pushes is said above.
#[test]
fn table_shows_who_speaks_first() {
    let live = with_room().says_after(UPDATE, &mcpl_push(2, "e-1", "the \u{202e}kettle"));
    let entry = |server: &McplServer| with(server.stdio().entry(), &json!({ "protocol": "mcpl" }));
    let config = Config::of(&[
        ("live", entry(&live)),
        ("old", entry(&McplServer::before_policies())),
    ]);
    let terminal = Terminal::open();
    let child = terminal.run(&config, &["run"], None);
    terminal.wait_for("2024-11-05 live ");
    terminal.wait_for("2024-11-05 mcp-only ");
    terminal.wait_for("live: push of alerts: the \\u{202e}kettle");
    terminal.wait_for("old: it has nothing of MCP Live");
    let kill = std::process::Command::new("kill")
        .args(["-s", "TERM", &child.id().to_string()])
        .status();
    assert!(kill.expect("kill runs").success());
    finish(child).exits(0);
}

/// The text without what differs from run to run.
fn live_part(stdout: &str) -> String {
    let lines = stdout.lines();
    let wanted = lines.skip_while(|line| !line.starts_with("  MCP Live"));
    wanted.collect::<Vec<_>>().join("\n")
}

#[test]
fn doctor_shows_grant_denials_and_channels() {
    let lifecycle = json!({ "observe": true });
    let server = with_room()
        .manifest_member("toolLifecycle", lifecycle)
        .manifest_member("modelInfo", json!(true));
    let config = stdio(
        &server,
        &json!({ "disabledCapabilities": ["channels.lifecycle"], "disabledFeatureSets": ["alerts"] }),
    );
    let ran = run(&config, &["doctor"]).exits(0);
    insta::assert_snapshot!(live_part(&ran.stdout));
    let json = run(&config, &["doctor", "--json"]).exits(0).json();
    let live = &json[0]["found"]["mcpl"];
    assert_eq!(json[0]["verdict"], "healthy");
    assert_eq!(live["policy"], "in_force");
    assert_eq!(live["version"], "0.5");
    assert_eq!(live["channels"][0]["id"], "room:1");
    assert_eq!(
        live["featureSets"][0],
        json!({ "name": "alerts", "on": false, "reason": "not_selected" })
    );
    let denied = live["denied"].as_array().expect("an array");
    assert!(
        denied
            .iter()
            .any(|one| one["capability"] == "toolLifecycle.observe")
    );
    let granted = live["granted"].as_array().expect("an array");
    assert!(!granted.contains(&json!("channels.lifecycle")));

    let peer = with_room().token(TOKEN).websocket();
    let json = run(&websocket(&peer, &json!({})), &["doctor", "--json"])
        .exits(0)
        .json();
    assert_eq!(json[0]["found"]["transport"], "websocket");
    assert_eq!(json[0]["found"]["mcpl"]["policy"], "in_force");
}

/// A server that works as a plain one alone, against its entry, is degraded, with the key that changes that.
#[test]
fn doctor_names_the_key_that_helps() {
    let refuses = |receipt: &str| McplServer::honest().result(UPDATE, receipt);
    let cases = [
        (
            McplServer::before_policies(),
            json!({}),
            "`mcplPolicy: \"legacy\"`",
        ),
        (
            refuses(r#"{"accepted":false,"fallback":"mcp-only"}"#),
            json!({}),
            "`enabledCapabilities`",
        ),
        (
            refuses(r#"{"accepted":false,"fallback":"close"}"#),
            json!({}),
            "`enabledCapabilities`",
        ),
        (refuses("[]"), json!({}), "`protocol: \"legacy\"`"),
        (McplServer::plain(), json!({}), "does not advertise"),
    ];
    for (server, more, words) in cases {
        let config = stdio(&server, &more);
        let ran = run(&config, &["doctor"]).exits(5);
        assert!(ran.stdout.contains(words), "{words}: {ran:?}");
        assert_eq!(
            run(&config, &["doctor", "--json"]).exits(5).json()[0]["verdict"],
            "degraded"
        );
    }
    let legacy = stdio(
        &McplServer::before_policies(),
        &json!({ "mcplPolicy": "legacy" }),
    );
    let json = run(&legacy, &["doctor", "--json"]).exits(0).json();
    assert_eq!(json[0]["found"]["mcpl"]["policy"], "in_force");
    // One that could do more than its entry asks for.
    let entry = McplServer::honest().stdio().entry();
    let ran = run(&Config::of(&[("s", entry)]), &["doctor"]).exits(0);
    assert!(ran.stdout.contains("`protocol: \"mcpl\"`"), "{ran:?}");
    // The wrong token.
    let peer = McplServer::honest().token("another").websocket();
    let ran = run(&websocket(&peer, &json!({})), &["doctor"]);
    assert_ne!(ran.status, Some(0));
    assert!(!ran.stdout.contains("REMOTE"), "{ran:?}");
}
