//! What the gateway shows of itself: numbers, probes, the status page.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use seawall::Arguments;
use seawall::config::Protocol;
use seawall_testkit::{CallRule, Script, Serve, pause, wait_for_pid};
use serde_json::{Value, json};

use super::{LONG, Served};
use crate::support::Config;

/// The status and the body at a path.
fn get(served: &Served, path: &str) -> (u16, String) {
    let address = served.address();
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let status = answer
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let body = answer.split_once("\r\n\r\n").expect("headers end").1;
    (status.expect("a status"), body.to_owned())
}

fn json_at(served: &Served, path: &str) -> Value {
    serde_json::from_str(&get(served, path).1).expect("JSON")
}

/// Waits until a path is answered with this status; the body.
fn until(served: &Served, path: &str, status: u16) -> String {
    let begun = Instant::now();
    loop {
        let (found, body) = get(served, path);
        if found == status {
            return body;
        }
        assert!(begun.elapsed() < LONG, "{path} is {found}: {body}");
        pause(Duration::from_millis(20));
    }
}

/// A server whose only tool has these annotations, and answers so.
fn server(annotations: &str, answer: CallRule) -> Value {
    let tool =
        format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"annotations":{annotations}}}"#);
    let script = Script::new().serve(Serve::new().page([tool]).calls(answer));
    script.server().entry()
}

/// G3: after calls, the numbers say what they were, by server, class and outcome; no tool and no client is in them.
#[tokio::test]
async fn numbers_tell_of_calls_and_servers() {
    let result = |text: &str| CallRule::Result(text.to_owned());
    let config = Config::of(&[
        (
            "reads",
            server(r#"{"readOnlyHint":true}"#, result(r#"{"content":[]}"#)),
        ),
        (
            "wipes",
            server(
                r#"{"destructiveHint":true}"#,
                result(r#"{"content":[],"isError":true}"#),
            ),
        ),
    ]);
    let served = Served::start(&config);
    until(&served, "/readyz", 200);
    let client = served.client(Protocol::Modern).await;
    for tool in ["reads__t", "reads__t", "wipes__t"] {
        client
            .call(tool, Arguments::none())
            .await
            .expect("a result");
    }
    let text = get(&served, "/metrics").1;
    for line in [
        r#"seawall_calls_total{server="reads",class="read_only",outcome="ok"} 2"#,
        r#"seawall_calls_total{server="wipes",class="destructive",outcome="tool_error"} 1"#,
        r#"seawall_calls_in_flight{server="reads"} 0"#,
        r#"seawall_call_duration_seconds_count{server="reads"} 2"#,
        r#"seawall_server_state{server="reads",state="up"} 1"#,
        r#"seawall_server_state{server="reads",state="down"} 0"#,
        r#"seawall_server_restarts_total{server="wipes"} 0"#,
        r#"seawall_server_tools{server="wipes"} 1"#,
        "# EOF",
    ] {
        assert!(text.lines().any(|one| one == line), "no {line} in\n{text}");
    }
    let received = r#"seawall_server_received_bytes_total{server="reads"} "#;
    let received = text.lines().find_map(|line| line.strip_prefix(received));
    let received: u64 = received.expect("bytes").parse().expect("a number");
    assert!(received > 100, "{received}");
    assert!(!text.contains("reads__t") && !text.contains("local"));

    let status = json_at(&served, "/status.json");
    assert_eq!(status["gateway"]["state"], "ready");
    let calls = &status["servers"][0]["calls"];
    assert_eq!((&calls["good"], &calls["bad"]), (&json!(2), &json!(0)));
    assert_eq!(calls["newest"].as_array().map(Vec::len), Some(2));
    let newest = &status["recent"][0];
    assert_eq!(
        [&newest["server"], &newest["tool"], &newest["outcome"]],
        ["wipes", "t", "tool_error"]
    );
}

/// G3: arguments and results are in none of the pages.
#[tokio::test]
async fn pages_tell_nothing_of_what_calls_say() {
    let answer =
        CallRule::Result(r#"{"content":[{"type":"text","text":"xyzzy-answer"}]}"#.to_owned());
    let config = Config::of(&[("s", server("{}", answer))]);
    let served = Served::start(&config);
    until(&served, "/readyz", 200);
    let client = served.client(Protocol::Legacy).await;
    let asked = Arguments::text(r#"{"x":"xyzzy-question"}"#);
    client.call("s__t", asked).await.expect("a result");
    client
        .call("s__t", Arguments::none())
        .await
        .expect("a result");
    for path in ["/", "/status.json", "/metrics", "/readyz"] {
        let (_, text) = get(&served, path);
        assert!(!text.contains("xyzzy"), "{path}");
    }
}

/// G3: it is not ready while a required server is down, which is named; it is again when that is back.
#[test]
fn readiness_follows_required_servers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("pid");
    let server = Script::new().write_pid(&file);
    let server = server.serve(Serve::new().tools(["t"]));
    let mut entry = server.server().entry();
    entry["required"] = json!(true);
    entry["reconnectIntervalMs"] = json!(60_000);
    let config = Config::of(&[("needed", entry)]);
    let served = Served::start(&config);
    until(&served, "/readyz", 200);
    let status = json_at(&served, "/status.json");
    assert_eq!(status["servers"][0]["required"], true);
    let pid = wait_for_pid(&file, LONG).expect("a pid").to_string();
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid])
        .status();
    assert!(killed.expect("kill runs").success());
    let told: Value = serde_json::from_str(&until(&served, "/readyz", 503)).expect("JSON");
    assert_eq!(told["why"], "required servers are not up");
    assert_eq!(told["servers"][0]["server"], "needed");
    assert_eq!(get(&served, "/healthz"), (200, "ok\n".to_owned()));
}
