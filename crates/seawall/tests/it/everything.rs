//! The library against `everything-server`: both of Seawall's roles, over real pipes and sockets, on every way of opening.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seawall::config::{Protocol, ServerConfigBuilder};
use seawall::{Change, Client, ErrorCode, Outcome, ServerConfig};
use seawall_testkit::everything_path;
use serde_json::Value;

use super::http_rounds::suppliers;

/// The server at a URL; it ends with this.
struct Everything {
    child: Child,
    url: String,
}

impl Everything {
    fn start() -> Self {
        let mut child = Command::new(everything_path())
            .args(["--http", "127.0.0.1:0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdout = child.stdout.take().expect("piped");
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url).expect("its URL");
        let url = url.trim().to_owned();
        Self { child, url }
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn connect(entry: ServerConfigBuilder, protocol: Protocol) -> Client {
    let config = entry.protocol(protocol).build().expect("a valid entry");
    Client::builder(config)
        .suppliers(suppliers(Duration::ZERO))
        .connect()
        .await
        .expect("connects")
}

fn stdio() -> ServerConfigBuilder {
    let path = everything_path().to_str().expect("UTF-8");
    ServerConfig::stdio("test", path)
}

async fn text(client: &Client, tool: &str, arguments: &str) -> String {
    let result = client
        .call(tool, seawall::Arguments::text(arguments.to_owned()))
        .await;
    let result: Value =
        serde_json::from_str(result.expect("a result").raw().as_str()).expect("JSON");
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// What a client does with a server, whichever way it was reached.
async fn everything(client: &Client) {
    let modern = !client.session().revision.is_legacy();
    assert!(client.catalog().tools().len() > 25);
    let said = text(client, "test_simple_text", "{}").await;
    assert_eq!(said, "This is a simple text response for testing.");
    let reported = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&reported);
    client
        .call("test_tool_with_progress", seawall::Arguments::none())
        .on_progress(move |progress| told.lock().expect("not poisoned").push(progress.progress))
        .await
        .expect("a result");
    assert_eq!(*reported.lock().expect("not poisoned"), [0.0, 50.0, 100.0]);
    let asked = text(client, "test_input_required_result_elicitation", "{}").await;
    assert_eq!(asked, "Hello, Ada!");
    let asked = text(client, "test_input_required_result_list_roots", "{}").await;
    assert_eq!(asked, "Found 1 root(s)");
    let mirrored = text(
        client,
        "test_mirrored_header",
        r#"{"region":"häfen","limit":-7}"#,
    )
    .await;
    assert!(mirrored.contains("häfen"), "{mirrored}");
    let late = client
        .call("test_slow", seawall::Arguments::text(r#"{"ms":30000}"#))
        .timeout(Duration::from_millis(200))
        .await
        .expect_err("it is late");
    assert_eq!(
        (late.code(), late.outcome()),
        (ErrorCode::Timeout, Outcome::NoResponse)
    );
    assert_eq!(
        client.resources().await.expect("resources").entries.len(),
        3
    );
    assert_eq!(client.prompts().await.expect("prompts").entries.len(), 5);
    let watched = "test://watched-resource".to_owned();
    client
        .subscribe(std::slice::from_ref(&watched))
        .await
        .expect("followed");
    // On modern revisions the stream of changes is opened anew in its own time.
    let changed = async {
        loop {
            let change = tokio::time::timeout(Duration::from_millis(500), client.changed());
            match change.await {
                Ok(Some(Change::Resource(uri))) => break assert_eq!(uri, watched),
                Ok(change) => assert!(change.is_some(), "the session ended"),
                Err(_) => {
                    let arguments = format!(r#"{{"uri":"{watched}"}}"#);
                    text(client, "test_trigger_resource_change", &arguments).await;
                }
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), changed)
        .await
        .expect("a change");
    assert_eq!(modern, client.session().revision.as_str() == "2026-07-28");
    client.close().await.expect("closes");
}

/// S1, S2, S3, G2: over pipes.
#[tokio::test]
async fn both_roles_understand_each_other_over_pipes() {
    for protocol in [Protocol::Legacy, Protocol::Modern, Protocol::Auto] {
        let client = connect(stdio(), protocol).await;
        assert_eq!(
            client.session().revision.is_legacy(),
            protocol == Protocol::Legacy
        );
        everything(&client).await;
    }
}

/// S1, S2, S3, T2, T3, G2: over HTTP.
#[tokio::test]
async fn both_roles_understand_each_other_over_http() {
    let server = Everything::start();
    for protocol in [Protocol::Legacy, Protocol::Modern, Protocol::Auto] {
        let client = connect(ServerConfig::url("test", &server.url), protocol).await;
        assert_eq!(
            client.session().revision.is_legacy(),
            protocol == Protocol::Legacy
        );
        everything(&client).await;
    }
}
