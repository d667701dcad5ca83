//! Agents pointed to the gateway, and back.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{CONFIG, Home, VARIABLES, full_home};
use crate::support::seawall;

const FILES: [&str; 5] = [
    ".claude.json",
    ".config/Claude/claude_desktop_config.json",
    ".cursor/mcp.json",
    ".config/Code/User/mcp.json",
    ".codex/config.toml",
];

fn texts(home: &Home) -> Vec<String> {
    FILES.iter().map(|file| home.text(file)).collect()
}

#[test]
fn every_host_starts_the_gateway_and_goes_back() {
    let home = full_home();
    let before = texts(&home);
    let report = home
        .run_with(&["--wire", "--json"], &VARIABLES)
        .exits(0)
        .json();
    for file in report["files"].as_array().expect("files") {
        assert_eq!(file["state"], "wired", "{file}");
        let backup = file["backup"].as_str().expect("a backup");
        assert!(std::path::Path::new(backup).is_file());
    }
    let claude = home.json(".claude.json");
    assert_eq!(claude["numStartups"], 12);
    let servers = claude["mcpServers"].as_object().expect("a map");
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["seawall"]);
    let config = home.path(CONFIG);
    assert_eq!(
        servers["seawall"]["args"],
        json!(["serve", "--mcp-config", config])
    );
    let work = home.path("work");
    let work = work.to_str().expect("UTF-8");
    assert_eq!(claude["projects"][work]["mcpServers"], json!({}));
    assert!(home.text(".cursor/mcp.json").contains("// Cursor's"));
    // What the gateway does not serve stays.
    assert!(home.text(".config/Code/User/mcp.json").contains("\"paid\""));
    assert!(
        home.text(".codex/config.toml")
            .contains("[mcp_servers.sleeping]")
    );
    assert!(
        home.text(".codex/config.toml")
            .contains("env_vars = [\"TRACKER_TOKEN\", \"WIKI_TOKEN\"]")
    );
    // Once is enough.
    let wired = home.everything();
    let again = home
        .run_with(&["--wire", "--json"], &VARIABLES)
        .exits(0)
        .json();
    assert_eq!(again["config"]["state"], "unchanged");
    for file in again["files"].as_array().expect("files") {
        assert_eq!(file["state"], "wired_already", "{file}");
    }
    assert_eq!(home.everything(), wired);
    let back = home.run(&["--unwire", "--json"]).exits(0).json();
    for file in back["files"].as_array().expect("files") {
        assert_eq!(file["state"], "restored", "{file}");
    }
    assert_eq!(texts(&home), before);
    let left = home.everything();
    assert!(
        !left
            .iter()
            .any(|(path, _)| path.to_string_lossy().contains("backup")),
        "{left:?}"
    );
}

#[test]
fn file_that_changed_since_gets_its_servers_back_into_it() {
    let home = full_home();
    home.run_with(&["--wire"], &VARIABLES).exits(0);
    let changed = home.text(".claude.json").replace("12", "13");
    home.put(".claude.json", &changed);
    let back = home
        .run(&["--unwire", "--json", "--host", "claude-code"])
        .exits(0)
        .json();
    assert_eq!(back["files"][0]["state"], "merged");
    let claude = home.json(".claude.json");
    assert_eq!(claude["numStartups"], 13);
    assert_eq!(claude["mcpServers"]["github"]["command"], "npx");
    assert_eq!(claude["mcpServers"]["seawall"], Value::Null);
    let work = home.path("work");
    assert_eq!(
        claude["projects"][work.to_str().expect("UTF-8")]["mcpServers"]["files"]["command"],
        "files"
    );
}

#[test]
fn servers_added_later_are_wired_and_come_back_too() {
    let home = Home::new();
    home.put(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "a"}}}"#,
    );
    home.run(&["--wire"]).exits(0);
    let more = home.text(".cursor/mcp.json").replacen(
        "\"seawall\"",
        "\"b\": {\"command\": \"b\"}, \"seawall\"",
        1,
    );
    home.put(".cursor/mcp.json", &more);
    home.run(&["--wire", "--force"]).exits(0);
    assert_eq!(
        home.json(CONFIG)["mcpServers"],
        json!({"a": {"command": "a"}, "b": {"command": "b"}})
    );
    home.run(&["--unwire"]).exits(0);
    assert_eq!(
        home.json(".cursor/mcp.json")["mcpServers"],
        json!({"a": {"command": "a"}, "b": {"command": "b"}})
    );
}

#[test]
fn another_server_called_seawall_keeps_its_host_as_it_is() {
    let home = Home::new();
    let text = r#"{"mcpServers": {"seawall": {"command": "brick"}}}"#;
    home.put(".cursor/mcp.json", text);
    let ran = home.run(&["--wire"]).exits(2);
    assert!(ran.stderr.contains("left as it is"), "{}", ran.stderr);
    assert_eq!(home.text(".cursor/mcp.json"), text);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let real = home.put(
        "dotfiles/mcp.json",
        r#"{"mcpServers": {"a": {"command": "a"}}}"#,
    );
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("set");
    std::fs::create_dir(home.path(".cursor")).expect("a folder");
    std::os::unix::fs::symlink(&real, home.path(".cursor/mcp.json")).expect("a link");
    home.run(&["--wire"]).exits(0);
    let link = std::fs::symlink_metadata(home.path(".cursor/mcp.json")).expect("it is there");
    assert!(link.is_symlink());
    let mode = std::fs::metadata(&real)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(home.text("dotfiles/mcp.json").contains("serve"));
}

#[test]
fn wired_entry_starts_a_gateway_with_the_servers() {
    let home = Home::new();
    let seawall_path = env!("CARGO_BIN_EXE_seawall");
    home.put(
        ".cursor/mcp.json",
        &json!({"mcpServers": {"demo": {"command": seawall_path, "args": ["demo-server"]}}})
            .to_string(),
    );
    home.run(&["--wire"]).exits(0);
    let entry = home.json(".cursor/mcp.json")["mcpServers"]["seawall"].clone();
    let config = home.put(
        "host.json",
        &json!({"mcpServers": {"seawall": entry}}).to_string(),
    );
    let called = seawall(&["tools", "--json", "--mcp-config"])
        .arg(config)
        .stderr(Stdio::inherit())
        .output()
        .expect("the binary runs");
    let listed = String::from_utf8_lossy(&called.stdout);
    assert!(listed.contains("demo__add"), "{listed}");
}
