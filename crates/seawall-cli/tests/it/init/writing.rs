//! Seawall's own file: private, whole, never over another.

use serde_json::json;

use super::{CONFIG, Home, VARIABLES, full_home};

#[cfg(unix)]
#[test]
fn configuration_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = full_home();
    home.run_with(&[], &VARIABLES).exits(0);
    let data = std::fs::metadata(home.path(CONFIG)).expect("it is there");
    assert_eq!(data.permissions().mode() & 0o777, 0o600);
}

#[test]
fn dry_run_writes_nothing() {
    let home = full_home();
    let before = home.everything();
    let report = home
        .run_with(&["--dry-run", "--wire", "--json"], &VARIABLES)
        .exits(0)
        .json();
    assert_eq!(report["config"]["state"], "would_be_written");
    assert_eq!(report["files"][0]["state"], "would_be_wired");
    assert_eq!(home.everything(), before);
}

#[test]
fn existing_file_is_added_to_only_by_force_and_keeps_what_it_has() {
    let home = Home::new();
    let mine = "{\n  // mine\n  \"gateway\": {},\n  \"mcpServers\": {\n    \"time\": { \"command\": \"clock\" }, // my own\n    \"same\": { \"command\": \"s\", \"exclude\": [\"x\"] }\n  }\n}\n";
    home.put(CONFIG, mine);
    home.put(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"time": {"command": "uvx"}, "same": {"command": "s"}}}"#,
    );
    let ran = home.run(&[]).exits(2);
    assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
    assert_eq!(home.text(CONFIG), mine);
    home.run(&["--force"]).exits(0);
    let text = home.text(CONFIG);
    assert!(
        text.contains("// mine") && text.contains("// my own"),
        "{text}"
    );
    insta::assert_snapshot!(text, @r#"
    {
      // mine
      "gateway": {},
      "mcpServers": {
        "time": { "command": "clock" }, // my own
        "same": { "command": "s", "exclude": ["x"] },
        "time-cursor": {
          "command": "uvx"
        }
      }
    }
    "#);
    // Now there is nothing to add, and nothing to force.
    home.run(&[]).exits(0);
    assert_eq!(home.text(CONFIG), text);
}

#[test]
fn file_that_cannot_be_added_to_is_refused() {
    for text in ["[]", "{", "{\"mcpServers\": []}"] {
        let home = full_home();
        home.put(CONFIG, text);
        let ran = home.run_with(&["--force"], &VARIABLES).exits(2);
        assert!(ran.stderr.contains("seawall.json"), "{}", ran.stderr);
        assert_eq!(home.text(CONFIG), text);
    }
}

#[test]
fn named_file_is_written_instead() {
    let home = full_home();
    let path = home.path("elsewhere/s.json");
    let path = path.to_str().expect("UTF-8");
    home.run_with(&["--mcp-config", path, "--host", "claude-desktop"], &[])
        .exits(0);
    let written = home.json("elsewhere/s.json");
    assert_eq!(
        written["mcpServers"]["time"],
        json!({"command": "uvx", "args": ["mcp-server-time"]})
    );
}

#[test]
fn without_any_host_there_is_a_hint() {
    let home = Home::new();
    let ran = home.run(&[]).exits(0);
    assert!(ran.stderr.contains("no servers"), "{}", ran.stderr);
    assert!(home.everything().is_empty());
}
