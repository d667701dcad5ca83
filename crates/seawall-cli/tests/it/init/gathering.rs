//! What is found, and what becomes of it.

use serde_json::{Value, json};

use super::{CONFIG, Home, VARIABLES, full_home};

fn server<'a>(report: &'a Value, host: &str, name: &str) -> &'a Value {
    let servers = report["servers"].as_array().expect("servers");
    let found = servers
        .iter()
        .find(|server| server["host"] == host && server["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} of {host} in {report}"))
}

#[test]
fn servers_of_every_host_are_gathered() {
    let home = full_home();
    let report = home.run_with(&["--json"], &VARIABLES).exits(0).json();
    let written = home.json(CONFIG);
    let work = home.path("work");
    assert_eq!(
        written["mcpServers"],
        json!({
            "github": {
                "command": "npx",
                "args": ["-y", "@modelcontextprotocol/server-github"],
                "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_0123456789abcdefghij"},
            },
            "files": {"command": "files", "args": ["."], "cwd": work},
            "github-claude-desktop": {
                "command": "npx",
                "args": ["-y", "@modelcontextprotocol/server-github"],
                "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_9876543210zyxwvutsrq"},
            },
            "time": {"command": "uvx", "args": ["mcp-server-time"]},
            "wiki": {
                "url": "https://wiki.example/mcp?key=hush",
                "headers": {"Authorization": "Bearer ${env:WIKI_TOKEN}"},
            },
            "io.example-search": {"url": "https://search.example/mcp"},
            "paid": {"command": "paid", "env": {"KEY": "${input:key}"}, "disabled": true},
            "tracker": {
                "url": "https://tracker.example/mcp",
                "bearerTokenEnv": "TRACKER_TOKEN",
                "requestTimeoutMs": 90_000,
            },
            "sleeping": {"command": "zzz", "disabled": true},
        })
    );
    assert_eq!(written["inputs"][0]["id"], "key");
    assert_eq!(server(&report, "claude-code", "old")["state"], "left");
    assert_eq!(server(&report, "cursor", "time")["state"], "same");
    assert_eq!(server(&report, "codex", "sleeping")["state"], "off");
    let paid = server(&report, "vscode", "paid");
    assert_eq!(paid["state"], "off");
    assert!(
        paid["reason"]
            .as_str()
            .is_some_and(|why| why.contains("\"key\"")),
        "{paid}"
    );
    let tracker = server(&report, "codex", "tracker");
    assert!(
        tracker["notes"]
            .to_string()
            .contains("supports_parallel_tool_calls"),
        "{tracker}"
    );
    // What was written is a configuration that other commands take.
    let checked = crate::support::seawall(&["check"])
        .arg(home.path(CONFIG))
        .envs(VARIABLES)
        .output()
        .expect("the binary runs");
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn table_shows_what_there_is_and_no_secret() {
    let home = full_home();
    let ran = home.run_with(&["--dry-run"], &VARIABLES).exits(0);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    for secret in ["ghp_", "hush", "w-hush", "t-hush"] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
    let json = home.run_with(&["--dry-run", "--json"], &VARIABLES).exits(0);
    assert!(
        !json.stdout.contains("ghp_") && !json.stdout.contains("hush"),
        "{}",
        json.stdout
    );
    let shown = ran
        .stdout
        .replace(home.path("").to_str().expect("UTF-8"), "HOME/");
    insta::assert_snapshot!(shown);
}

#[test]
fn secrets_in_arguments_and_addresses_are_not_shown() {
    let home = Home::new();
    home.put(
        ".cursor/mcp.json",
        r#"{"mcpServers": {
            "a": {"command": "a", "args": ["--api-key", "hush1", "--token=hush2", "--header", "Authorization: Bearer hush3", "postgres://u:hush4@db/x", "--db=postgres://u:hush5@db/x", "sk-0123456789abcdef"]},
            "b": {"url": "https://b.example/mcp?token=hush6", "headers": {"X": "hush7", "Y": "${env:B:-hush8}"}}
        }}"#,
    );
    for args in [&["--dry-run"][..], &["--dry-run", "--json"]] {
        let ran = home.run(args).exits(0);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.contains("hush") && !all.contains("sk-0"), "{all}");
        assert!(all.contains("--api-key"), "{all}");
    }
}

#[test]
fn folders_own_files_are_taken_only_if_asked_for() {
    let home = Home::new();
    home.put(
        "work/.mcp.json",
        r#"{"mcpServers": {"here": {"command": "run", "args": ["${workspaceFolder}/x"], "envFile": ".env"}}}"#,
    );
    home.put("work/.env", "A=b\n");
    let report = home.run(&["--json"]).exits(0).json();
    assert_eq!(report["servers"][0]["state"], "left");
    assert_eq!(report["config"]["state"], "not_there");
    let report = home.run(&["--json", "--project"]).exits(0).json();
    assert_eq!(report["servers"][0]["state"], "taken");
    let work = home.path("work");
    assert_eq!(
        home.json(CONFIG)["mcpServers"]["here"],
        json!({
            "command": "run",
            "args": [work.join("x")],
            "envFile": work.join(".env"),
            "cwd": work,
        })
    );
}

#[test]
fn what_is_not_understood_is_named_and_left() {
    let home = Home::new();
    home.put(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"a": {"type": "carrier-pigeon", "command": "a"}, "b": 7, "c": {"command": "c", "mood": "good"}, "d": {"command": "d", "env": {"T": "${env:SEAWALL_TEST_UNSET}"}}}}"#,
    );
    home.put(".codex/config.toml", "[mcp_servers\n");
    let report = home.run(&["--json"]).exits(0).json();
    assert_eq!(server(&report, "cursor", "a")["state"], "left");
    assert_eq!(server(&report, "cursor", "b")["state"], "left");
    let c = server(&report, "cursor", "c");
    assert_eq!(c["state"], "taken");
    assert!(
        c["notes"][0]
            .as_str()
            .is_some_and(|note| note.contains("mood")),
        "{c}"
    );
    let d = server(&report, "cursor", "d");
    assert_eq!(d["state"], "off");
    assert!(
        d["reason"]
            .as_str()
            .is_some_and(|why| why.contains("SEAWALL_TEST_UNSET")),
        "{d}"
    );
    let codex = &report["files"][1];
    assert_eq!(codex["state"], "unreadable");
    assert_eq!(
        home.json(CONFIG)["mcpServers"]["c"],
        json!({"command": "c"})
    );
}

#[test]
fn one_host_alone_can_be_asked_for() {
    let home = full_home();
    let report = home
        .run(&["--json", "--dry-run", "--host", "claude-desktop"])
        .exits(0)
        .json();
    let servers = report["servers"].as_array().expect("servers");
    assert!(
        servers
            .iter()
            .all(|server| server["host"] == "claude-desktop")
    );
    assert_eq!(servers.len(), 2);
}

#[test]
fn gateway_never_stands_behind_itself() {
    let home = Home::new();
    home.put(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"wall": {"command": "/opt/seawall", "args": ["serve"]}}}"#,
    );
    let report = home.run(&["--json"]).exits(0).json();
    assert_eq!(report["servers"][0]["state"], "gateway");
    assert_eq!(report["config"]["state"], "not_there");
    let cursor = home.path(".cursor/mcp.json");
    let cursor = cursor.to_str().expect("UTF-8");
    let ran = home
        .run(&["--force", "--wire", "--mcp-config", cursor])
        .exits(2);
    assert!(ran.stderr.contains("Cursor's own"), "{}", ran.stderr);
}
