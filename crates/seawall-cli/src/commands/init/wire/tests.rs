//! Files keep all but the servers: comments, order, indentation, line ends.

use super::*;

fn gateway(host: HostApp, variables: &[&str]) -> Entry {
    Gateway {
        program: "/bin/seawall".to_owned(),
        config: "/c/seawall.json".to_owned(),
        variables: variables.iter().map(|name| (*name).to_owned()).collect(),
    }
    .entry(host)
}

fn wired_json(text: &str, host: HostApp, served: &[&str]) -> String {
    let served: Vec<_> = served.iter().map(|id| (&Section::Whole, *id)).collect();
    json::wire(text, host.map_key(), &served, &gateway(host, &[])).expect("wired")
}

const VS_CODE: &str = r#"// mine
{
    // what to ask
    "inputs": [],
    "servers": {
        // the first
        "one": { "type": "stdio", "command": "one" }, // beside it
        /* stays */
        "two": {
            "url": "https://two.example/mcp",
        },
    },
    "other": [1, 2,3]
}
"#;

#[test]
fn comments_and_form_of_json_stay() {
    insta::assert_snapshot!(wired_json(VS_CODE, HostApp::VsCode, &["one"]), @r#"
    // mine
    {
        // what to ask
        "inputs": [],
        "servers": {
            // the first
            /* stays */
            "two": {
                "url": "https://two.example/mcp",
            },
            "seawall": {
                "type": "stdio",
                "command": "/bin/seawall",
                "args": ["serve", "--mcp-config", "/c/seawall.json"],
            },
        },
        "other": [1, 2,3]
    }
    "#);
}

#[test]
fn wiring_twice_is_wiring_once() {
    let once = wired_json(VS_CODE, HostApp::VsCode, &["one", "two"]);
    assert_eq!(wired_json(&once, HostApp::VsCode, &[]), once);
    let text = "[mcp_servers.a]\ncommand = \"a\"\n";
    let entry = gateway(HostApp::Codex, &["TOKEN"]);
    let once = toml::wire(text, &[(&Section::Whole, "a")], &entry).expect("wired");
    assert_eq!(toml::wire(&once, &[], &entry).expect("wired"), once);
}

#[test]
fn file_without_servers_gets_the_map() {
    for text in ["", "{}", "{\n}\n", "\u{feff}{\"theme\": \"dark\"}"] {
        let wired = wired_json(text, HostApp::Cursor, &[]);
        assert_eq!(wired.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        assert!(json::is_wired(&wired, "mcpServers"), "{wired}");
    }
}

#[test]
fn line_ends_of_windows_stay() {
    let text = "{\r\n  \"mcpServers\": {\r\n    \"a\": {\"command\": \"a\"}\r\n  }\r\n}\r\n";
    let wired = wired_json(text, HostApp::Cursor, &["a"]);
    assert_eq!(wired.matches('\n').count(), wired.matches("\r\n").count());
}

#[test]
fn projects_of_claude_code_lose_what_is_served_and_nothing_else() {
    let text = r#"{"numStartups": 7, "mcpServers": {}, "projects": {"/p": {"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}, "history": [1]}}}"#;
    let section = Section::Project("/p".to_owned());
    let entry = gateway(HostApp::ClaudeCode, &[]);
    let wired = json::wire(text, "mcpServers", &[(&section, "a")], &entry).expect("wired");
    let value: Value = serde_json::from_str(&wired).expect("JSON");
    assert_eq!(value["numStartups"], 7);
    assert_eq!(
        value["projects"]["/p"],
        json!({"mcpServers": {"b": {"command": "b"}}, "history": [1]})
    );
    assert_eq!(value["mcpServers"]["seawall"]["type"], "stdio");
}

const CODEX: &str = r#"# mine
model = "m"  # the best

[mcp_servers.one]
command = "one"
[mcp_servers.one.env]
A = "b"

# stays
[mcp_servers.two]
url = "https://two.example/mcp" # beside it

[projects."/p"]
trust_level = "trusted"
"#;

#[test]
fn comments_and_form_of_toml_stay() {
    let entry = gateway(HostApp::Codex, &["TOKEN"]);
    let wired = toml::wire(CODEX, &[(&Section::Whole, "one")], &entry).expect("wired");
    insta::assert_snapshot!(wired, @r#"
    # mine
    model = "m"  # the best

    # stays
    [mcp_servers.two]
    url = "https://two.example/mcp" # beside it

    [mcp_servers.seawall]
    command = "/bin/seawall"
    args = ["serve", "--mcp-config", "/c/seawall.json"]
    env_vars = ["TOKEN"]

    [projects."/p"]
    trust_level = "trusted"
    "#);
}

/// Codex waits for the gateway as long as it did for the most patient of the servers behind it, and goes on to.
#[test]
fn timeouts_of_codex_are_kept() {
    let text = "[mcp_servers.one]\ncommand = \"one\"\nstartup_timeout_sec = 20\ntool_timeout_sec = 600\n\n\
                [mcp_servers.two]\ncommand = \"two\"\nstartup_timeout_sec = 45.5\n";
    let served = [(&Section::Whole, "one"), (&Section::Whole, "two")];
    let entry = gateway(HostApp::Codex, &[]);
    let wired = toml::wire(text, &served, &entry).expect("wired");
    assert!(
        wired.contains("startup_timeout_sec = 45.5\ntool_timeout_sec = 600\n"),
        "{wired}"
    );
    assert_eq!(toml::wire(&wired, &[], &entry).expect("wired"), wired);
}

#[test]
fn another_server_called_seawall_is_refused() {
    let text = r#"{"mcpServers": {"seawall": {"command": "brick"}}}"#;
    let entry = gateway(HostApp::Cursor, &[]);
    json::wire(text, "mcpServers", &[], &entry).expect_err("refused");
    let text = "[mcp_servers.seawall]\ncommand = \"brick\"\n";
    toml::wire(text, &[], &entry).expect_err("refused");
}

#[test]
fn changed_file_gets_its_servers_back() {
    let before = r#"{"mcpServers": {"a": {"command": "a", "args": ["x"]}}, "n": 1}"#.to_owned();
    let wired = wired_json(&before, HostApp::Cursor, &["a"]);
    let changed = wired.replace("\"n\": 1", "\"n\": 2");
    let back = json::unwire(&changed, "mcpServers", &[before]).expect("unwired");
    let value: Value = serde_json::from_str(&back).expect("JSON");
    assert_eq!(
        value,
        json!({"mcpServers": {"a": {"command": "a", "args": ["x"]}}, "n": 2})
    );
    let entry = gateway(HostApp::Codex, &[]);
    let wired = toml::wire(CODEX, &[(&Section::Whole, "one")], &entry).expect("wired");
    let changed = wired.replace("\"m\"", "\"n\"");
    let back = toml::unwire(&changed, &[CODEX.to_owned()]).expect("unwired");
    let (back, before) = (
        back.parse::<toml_edit::DocumentMut>().expect("TOML"),
        CODEX.parse::<toml_edit::DocumentMut>().expect("TOML"),
    );
    assert_eq!(back["model"].as_str(), Some("n"));
    let servers = |document: &toml_edit::DocumentMut| {
        super::super::codex::json_of(&document["mcp_servers"]).expect("a table")
    };
    assert_eq!(servers(&back), servers(&before));
}

#[test]
fn variables_are_handed_on_where_a_host_can() {
    assert_eq!(
        gateway(HostApp::Codex, &["T"]).get("env_vars"),
        Some(&json!(["T"]))
    );
    assert_eq!(
        gateway(HostApp::Cursor, &["T"]).get("env"),
        Some(&json!({"T": "${env:T}"}))
    );
    assert_eq!(gateway(HostApp::ClaudeCode, &["T"]).get("env"), None);
}
