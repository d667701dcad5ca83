//! `seawall check`, and what every command says of a configuration that cannot be used.

use seawall_testkit::Script;
use serde_json::json;

use crate::support::{Config, run, seawall};

const BAD: &str = r#"{"mcpServers": {
  "a": {"command": ""},
  "b": {"command": "x", "args": [1], "handshakeTimeoutMs": 0},
  "c": {"command": "fine", "colour": "blue"}
}}"#;

/// BEHAVIOUR K3: every problem of the file is listed, naming the flag, the path, the entry and the field.
#[test]
fn every_problem_is_listed() {
    let config = Config::text(BAD);
    for args in [
        &["check"][..],
        &["tools"],
        &["doctor"],
        &["call", "mcp/a/t"],
    ] {
        let ran = config.run(args).exits(2);
        for words in [
            "--mcp-config",
            "seawall.json",
            "\"a\"",
            "command",
            "\"b\"",
            "args",
            "handshakeTimeoutMs",
        ] {
            assert!(ran.stderr.contains(words), "{words}: {ran:?}");
        }
    }
    let json = config.run(&["check", "--json"]).exits(2).json();
    assert!(
        json["problems"]
            .as_array()
            .is_some_and(|problems| problems.len() >= 3),
        "{json}"
    );
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(1));
    let error = config.run(&["tools", "--json"]).exits(2).json()["error"].take();
    assert_eq!(error["code"], "configuration");
}

/// BEHAVIOUR F4, K3: a grant that authorises nothing is told by its entry and its index; a good one narrows nothing that
/// `tools` shows.
#[test]
fn bad_grant_is_told_by_its_index() {
    let bad = r#"{"mcpServers": {"a": {"command": "x", "grant": ["fs:read:/srv/**", "*"]}}}"#;
    let ran = Config::text(bad).run(&["check"]).exits(2);
    for words in ["\"a\"", "grant[1]", "namespace:operation:resource"] {
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
    }
    assert!(!ran.stderr.contains("grant[0]"), "{ran:?}");
    let good = json!({"grant": ["fs:read:/srv/**"], "onConflict": "allow"});
    let granted = Config::scripted_with(&Script::plain(), &good);
    granted.run(&["check"]).exits(0);
    let shape = |config: &Config| {
        let tools = config.run(&["tools", "--json"]).exits(0).json();
        let first = tools[0].as_object().expect("an object").clone();
        first.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(shape(&granted), shape(&Config::scripted(&Script::plain())));
}

/// BEHAVIOUR K12: the checks spawn nothing and dial nothing.
#[test]
fn good_file_is_status_0_and_nothing_is_spawned() {
    let config = Config::of(&[("a", json!({"command": "/nonexistent/server"}))]);
    let ran = config.run(&["check"]).exits(0);
    assert!(ran.stdout.contains('a'), "{ran:?}");
    let named = run(&["check", &config.path(), "--json"]).exits(0).json();
    assert_eq!(named["servers"], json!(["a"]));
    assert_eq!(named["problems"], json!([]));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pid = folder.path().join("pid");
    let config = Config::scripted(&Script::new().write_pid(&pid));
    config.run(&["check"]).exits(0);
    assert!(!pid.exists(), "the server was started");
}

/// BEHAVIOUR K2: the flag wins over the variable; without both, `seawall.json` in the working directory.
#[test]
fn configuration_is_found_in_its_order() {
    let (flag, variable, here) = (
        Config::of(&[("flag", json!({"command": "x"}))]),
        Config::of(&[("variable", json!({"command": "x"}))]),
        Config::of(&[("here", json!({"command": "x"}))]),
    );
    let servers = |with_flag: bool, with_variable: bool| {
        let mut command = if with_flag {
            flag.command(&["check", "--json"])
        } else {
            seawall(&["check", "--json"])
        };
        command.current_dir(here.folder());
        if with_variable {
            command.env("SEAWALL_MCP_CONFIG", variable.path());
        }
        let ran: crate::support::Ran = command.output().expect("the binary runs").into();
        ran.exits(0).json()["servers"].take()
    };
    assert_eq!(servers(true, true), json!(["flag"]));
    assert_eq!(servers(false, true), json!(["variable"]));
    assert_eq!(servers(false, false), json!(["here"]));
}

/// BEHAVIOUR K3: a file that is missing or not JSON is a usage error with the place.
#[test]
fn missing_or_broken_file_is_status_2() {
    let ran = run(&["tools", "--mcp-config", "/nonexistent.json"]).exits(2);
    assert!(ran.stderr.contains("/nonexistent.json"), "{ran:?}");
    let ran = Config::text("{\n  \"mcpServers\": {]\n}")
        .run(&["tools"])
        .exits(2);
    assert!(ran.stderr.contains(":2:"), "{ran:?}");
}

/// BEHAVIOUR K1: a key of another host's that means nothing here is one warning, and no failure.
#[test]
fn warnings_are_told_and_are_no_failure() {
    let config = Config::of(&[("a", json!({"command": "x", "colour": "blue"}))]);
    let ran = config.run(&["check"]).exits(0);
    assert_eq!(ran.stderr.matches("warning: ").count(), 1, "{ran:?}");
    assert!(ran.stderr.contains("colour"), "{ran:?}");
}

/// A command line that cannot be meant is told whole, in JSON too.
#[test]
fn usage_error_in_json_names_what_is_missing() {
    for (args, words) in [
        (&["call", "--json"][..], "<FLOW>"),
        (&["--json", "nonsense"], "nonsense"),
        (
            &["call", "mcp/a/t", "--json", "--timeout", "0"],
            "--timeout",
        ),
    ] {
        let error = run(args).exits(2).json()["error"].take();
        assert_eq!(error["code"], "configuration");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{message}");
    }
}

/// A path need not be text: what is said of it is JSON all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_no_text_is_shown_as_far_as_it_is() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use crate::support::Ran;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(OsStr::from_bytes(b"\xff.json"));
    std::fs::write(&path, r#"{"mcpServers": {"a": {"command": ""}}}"#).expect("written");
    for named in [false, true] {
        let mut command = seawall(&["check", "--json"]);
        if named {
            command.arg("--mcp-config");
        }
        let ran: Ran = command.arg(&path).output().expect("it runs").into();
        let json = ran.exits(2).json();
        for path in [&json["path"], &json["problems"][0]["path"]] {
            let path = path.as_str().unwrap_or_default();
            assert!(path.ends_with("\u{fffd}.json"), "{json}");
        }
    }
    let home = folder.path().join(OsStr::from_bytes(b"\xfe"));
    std::fs::create_dir(&home).expect("created");
    std::fs::write(
        home.join(".claude.json"),
        r#"{"mcpServers": {"a": {"command": "c"}}}"#,
    )
    .expect("written");
    let ran: Ran = seawall(&["init", "--dry-run", "--json"])
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .current_dir(&home)
        .output()
        .expect("it runs")
        .into();
    let json = ran.exits(0).json();
    assert!(json.to_string().contains('\u{fffd}'), "{json}");
}
