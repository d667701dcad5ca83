//! `seawall tools`.

use std::time::Duration;

use seawall_testkit::{CallRule, Script, Serve};
use serde_json::{Value, json};

use crate::support::{Config, run};

#[test]
fn demo_tools_are_listed_for_people() {
    let ran = run(&["tools", "--demo"]).exits(0);
    assert_eq!(ran.stderr, "");
    insta::assert_snapshot!(ran.stdout);
}

/// BEHAVIOUR F1: a flow's name, its description that says whose words it holds, the server's schema by value.
#[test]
fn json_has_the_declaration_of_each_tool() {
    let tools = run(&["tools", "--demo", "--json"]).exits(0).json();
    let tools = tools.as_array().expect("an array");
    let add = &tools[1];
    assert_eq!(add["name"], "mcp/demo/add");
    assert_eq!(add["server"], "demo");
    assert_eq!(add["tool"], "add");
    assert_eq!(
        add["description"],
        "MCP tool \"add\" on server \"demo\". Server-supplied description: Add two numbers."
    );
    assert_eq!(add["inputSchema"]["additionalProperties"], false);
    assert!(add.get("outputSchema").is_none());
    assert!(
        add["digest"]
            .as_str()
            .is_some_and(|digest| digest.len() >= 64)
    );
    assert_eq!(
        tools[5]["outputSchema"]["required"],
        json!(["characters", "words"])
    );
}

#[test]
fn what_a_server_says_is_visible_to_people_and_exact_in_json() {
    let tool = json!({"name": "t", "description": "a\u{1b}[2J\u{200b}b", "inputSchema": {"type": "object"}});
    let config = Config::scripted(&Script::new().serve(Serve::new().page([tool.to_string()])));
    let plain = config.run(&["tools"]).exits(0);
    assert!(plain.stdout.contains("a\\u{1b}[2J\\u{200b}b"), "{plain:?}");
    let json: Value = config.run(&["tools", "--json"]).exits(0).json();
    assert!(
        json[0]["description"]
            .as_str()
            .is_some_and(|text| text.ends_with("a\u{1b}[2J\u{200b}b"))
    );
}

/// BEHAVIOUR H8: what one server does costs that server only.
#[test]
fn server_that_fails_costs_the_others_nothing() {
    let good = Script::new()
        .serve(Serve::new().tools(["t"]))
        .server()
        .entry();
    let config = Config::of(&[
        ("bad", json!({"command": "/nonexistent/server"})),
        ("good", good),
    ]);
    let ran = config.run(&["tools", "--json"]).exits(3);
    assert_eq!(ran.json()[0]["name"], "mcp/good/t");
    assert!(ran.stderr.contains("bad"), "{ran:?}");
    let one = config
        .run(&["tools", "--server", "good", "--json"])
        .exits(0);
    assert_eq!(one.json().as_array().map(Vec::len), Some(1));
    let bad = config.run(&["tools", "--server", "bad", "--json"]).exits(3);
    assert_eq!(bad.json()["error"]["code"], "spawn_failed");
}

#[test]
fn server_nobody_configured_is_status_2() {
    let ran = run(&["tools", "--server", "dem", "--demo"]).exits(2);
    assert!(ran.stderr.contains("did you mean `demo`?"), "{ran:?}");
}

#[test]
fn without_servers_there_is_a_hint_and_an_empty_list() {
    let ran = run(&["tools", "--json"]).exits(0);
    assert_eq!(ran.json(), json!([]));
    assert!(ran.stderr.contains("--demo"), "{ran:?}");
}

/// BEHAVIOUR S1: a server without tools is no failure of a list, and none that a tool can be called of.
#[test]
fn server_without_tools_has_none() {
    let script = Script::new().serve(Serve::new().capabilities("{}"));
    let config = Config::scripted(&script);
    let ran = config.run(&["tools"]).exits(0);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("", "no tools\n")
    );
    let ran = config.run(&["call", "mcp/s/t"]).exits(3);
    assert!(ran.stderr.contains("declares no tools"), "{ran:?}");
}

#[test]
fn first_line_of_what_a_server_says_stands_for_the_rest() {
    let tool =
        json!({"name": "t", "description": "First.\nSecond.", "inputSchema": {"type": "object"}});
    let config = Config::scripted(&Script::new().serve(Serve::new().page([tool.to_string()])));
    let plain = config.run(&["tools"]).exits(0).stdout;
    assert!(
        plain.contains("First.") && !plain.contains("Second."),
        "{plain}"
    );
    let whole = config.run(&["tools", "-v"]).exits(0).stdout;
    assert!(
        whole.contains("First.") && whole.contains("Second."),
        "{whole}"
    );
}

/// As docstrings have it: the first line with something in it, wherever that is.
#[test]
fn empty_lines_say_nothing() {
    let tool = json!({
        "name": "t", "description": "\n    Do a thing.\n\n    At length.\n    ", "inputSchema": {"type": "object"},
    });
    let config = Config::scripted(&Script::new().serve(Serve::new().page([tool.to_string()])));
    let plain = config.run(&["tools"]).exits(0).stdout;
    assert!(plain.ends_with("  Do a thing.\n"), "{plain}");
    let whole = config.run(&["tools", "-v"]).exits(0).stdout;
    assert!(whole.ends_with("At length.\n"), "{whole}");
}

/// However long each takes, the order is that of the configuration, or of the command line; no server comes twice.
#[test]
fn servers_keep_their_order_and_come_once() {
    let slow = Script::new()
        .sleep(Duration::from_millis(400))
        .serve(Serve::new().tools(["t"]));
    let quick = Script::new().serve(Serve::new().tools(["t"]));
    let config = Config::of(&[
        ("a-slow", slow.server().entry()),
        ("b-quick", quick.server().entry()),
    ]);
    let listed = |args: &[&str], key: &str| -> Vec<String> {
        let json = config.run(args).exits(0).json();
        let servers = json.as_array().expect("an array").iter();
        servers
            .map(|one| one[key].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(
        listed(&["tools", "--json"], "name"),
        ["mcp/a-slow/t", "mcp/b-quick/t"]
    );
    assert_eq!(
        listed(&["doctor", "--json"], "server"),
        ["a-slow", "b-quick"]
    );
    let named = ["doctor", "--json", "b-quick", "a-slow", "b-quick"];
    assert_eq!(listed(&named, "server"), ["b-quick", "a-slow"]);
}

#[test]
fn flow_without_a_tool_is_status_2() {
    for flow in ["mcp/demo/", "mcp/demo", "mcp", ""] {
        let ran = run(&["call", flow, "--demo"]).exits(2);
        assert!(
            ran.stderr.contains("is the flow of no configured server"),
            "{ran:?}"
        );
    }
}

/// BEHAVIOUR K1: a server that is switched off is said to be, by whatever name it is asked for.
#[test]
fn disabled_server_is_said_to_be_disabled() {
    let config =
        Config::text(r#"{"mcpServers": {"off": {"command": "off-program", "disabled": true}}}"#);
    for args in [
        &["call", "mcp/off/t"][..],
        &["call", "off/t"],
        &["tools", "--server", "off"],
        &["doctor", "off"],
    ] {
        let ran = config.run(args).exits(2);
        assert!(
            ran.stderr
                .contains("server `off` is disabled in the configuration"),
            "{ran:?}"
        );
    }
    let ran = config.run(&["call", "mcp/offer/t"]).exits(2);
    assert!(!ran.stderr.contains("disabled"), "{ran:?}");
}

/// With too few files to open there is an error, never a panic.
#[cfg(unix)]
#[test]
fn want_of_file_descriptors_is_an_error() {
    for files in 4..24 {
        let line = format!("ulimit -n {files}; exec \"$0\" tools --demo");
        let output = std::process::Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_seawall")])
            .output()
            .expect("a shell runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() || said.contains("Too many open files"),
            "{files}: {:?} {said}",
            output.status
        );
        assert!(!said.contains("panicked"), "{files}: {said}");
    }
}

/// One lone surrogate in a schema costs a character, not the types of the arguments.
#[test]
fn a_lone_surrogate_costs_a_character() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object","required":["a"],"properties":{"a":{"type":"string","description":"\ud800"},"b":{"type":"integer"}}}}"#;
    let script = Script::new().serve(Serve::new().page([tool]).calls(CallRule::Echo));
    let config = Config::scripted(&script);
    let ran = config.run(&["tools"]).exits(0);
    assert!(ran.stdout.contains("a b?"), "{ran:?}");
    let ran = config.run(&["call", "mcp/s/t", "a=5", "b=6"]).exits(0);
    assert!(ran.stdout.contains(r#"{"a":"5","b":6}"#), "{ran:?}");
}
