//! The words that people read.

use super::*;

const BAD: &str = r#"// a file with much wrong
{
  "mcpServers": {
    "files": { "command": "npx", "args": "x", "env": { "ROOT": "${NO_SUCH_ROOT}", "MODE": true } },
    "web": { "url": "http://user:pw@example.com/mcp", "bearerTokenEnv": "EMPTY", "maxTools": 0, "requestTimeoutMs": 2147483648 },
    "both": { "command": "c", "url": "https://h/" },
    "live": { "type": "http", "url": "wss://h/", "protocol": "2023-01-01" },
    "..": { "command": "c", "namePrefix": "mcp/other" },
    "other": { "command": "c", "token": "t", "inputs": 1, "env": { "K": "${input:k} ${command:x}" } },
    "local": { "command": "c", "bearerTokenEnv": "TOKEN", "allowHostCommands": true }
  }
}
"#;

const WARNED: &str = r#"{
  "mcpServers": {
    "files": { "command": "npx", "colour": "red", "timeout": 60, "headers": {}, "env": { "API_KEY": "abc" } },
    "web": { "url": "http://example.com/?token=abc", "bearerTokenEnv": "TOKEN", "oauth": {}, "cwd": "/" },
    "owner/name": { "command": "c" }
  },
  "theme": "dark"
}
"#;

fn said(text: &str) -> Checked {
    check(&Source {
        path: Some(Path::new("conf/seawall.json")),
        origin: Origin::Flag,
        surroundings: &world(),
        ..Source::new(text)
    })
}

/// K3: flag, path, line, entry and field of every problem.
#[test]
fn problems_as_people_read_them() {
    insta::assert_snapshot!(said(BAD).into_servers().unwrap_err());
}

/// K1, K5, K10: the warnings.
#[test]
fn warnings_as_people_read_them() {
    let checked = said(WARNED);
    assert_eq!(checked.problems, []);
    let lines: Vec<String> = checked.warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// L1: whoever writes a configuration finds each key that there is.
#[test]
fn every_key_is_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(page).unwrap();
    for key in keys::KNOWN {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
}

/// K3: a syntax error, an unknown key, a file that is not there.
#[test]
fn whole_file_problems_as_people_read_them() {
    let texts = [
        "{\n  \"mcpServers\": {\n    oops\n",
        "[\n  {\"server\": \"a\", \"comand\": \"c\", \"args\": []}\n]",
        "{}",
    ];
    let lines: Vec<String> = texts
        .iter()
        .map(|text| said(text).into_servers().unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// K12: the same for programs.
#[test]
fn problem_as_programs_read_it() {
    let checked =
        said("[\n  {\"server\": \"a\", \"command\": \"c\", \"args\": [], \"maxTools\": 1.5}\n]");
    insta::assert_snapshot!(serde_json::to_string_pretty(&checked.problems).unwrap());
}
