//! The command line of the MCP Inspector: one request for each start.

use serde_json::{Value, json};

use super::{ERAS, Way, clients, command, config, ended, gateway};

/// The tools that it calls: their arguments, and a part of what is to come of it.
const CALLS: [(&str, &[&str], &str, &str); 4] = [
    (
        "test_simple_text",
        &[],
        "/content/0/text",
        r#""This is a simple text response for testing.""#,
    ),
    ("test_error_handling", &[], "/isError", "true"),
    (
        "test_structured_content",
        &["--tool-arg", "a=1", "b=2"],
        "/structuredContent",
        r#"{"sum":3}"#,
    ),
    (
        "test_image_content",
        &[],
        "/content/0/mimeType",
        r#""image/png""#,
    ),
];

/// Asks one thing; what it printed, and its exit status.
fn ask(inspector: &Value, target: &[String], way: &Way, args: &[&str]) -> (Value, Option<i32>) {
    let mut command = command(inspector);
    command.arg("--cli").args(target);
    if let Way::Http(_) = way {
        command.args(["--transport", "http"]);
    }
    command.args(args);
    let output = ended(command);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let json = stdout.find('{').and_then(|at| stdout.get(at..));
    let value = json.and_then(|json| serde_json::from_str(json).ok());
    (value.unwrap_or_default(), output.status.code())
}

/// BEHAVIOUR G1 and G2.
#[test]
#[ignore = "needs the peers: `cargo xtask test` installs them and runs this"]
fn inspector_lists_and_calls() {
    let clients = clients();
    let inspector = clients.iter().find(|client| client["name"] == "inspector");
    let inspector = inspector.expect("it is installed");
    // Each start takes a second or two: a way for each era is enough.
    for (at, era) in ERAS.into_iter().enumerate() {
        let config = config(era);
        let gateway = gateway(&config);
        let [stdio, http] = Way::both(&config);
        let way = if at == 0 { stdio } else { http };
        let target = match &way {
            Way::Stdio => gateway.to_vec(),
            Way::Http(served) => vec![served.url().to_owned()],
        };
        let (listed, status) = ask(inspector, &target, &way, &["--method", "tools/list"]);
        assert_eq!(status, Some(0), "{listed}");
        assert_eq!(listed["tools"].as_array().map(Vec::len), Some(31));
        for (tool, args, part, wanted) in CALLS {
            let mut asked = vec!["--method", "tools/call", "--tool-name", tool];
            asked.extend(args);
            let (result, status) = ask(inspector, &target, &way, &asked);
            assert_eq!(status, Some(0), "{tool}: {result}");
            let wanted: Value = serde_json::from_str(wanted).expect("JSON");
            assert_eq!(result.pointer(part), Some(&wanted), "{tool}: {result}");
        }
        let asked = ["--method", "tools/call", "--tool-name", "no_such_tool"];
        let (result, status) = ask(inspector, &target, &way, &asked);
        assert_eq!((result, status), (json!(null), Some(1)));
    }
}
