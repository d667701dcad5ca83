//! Requests of a host's servers that are no tool calls.

use std::time::Duration;

use seawall::config::Protocol;
use seawall::host::{EventKind, Heard};
use seawall::{Arguments, ErrorCode, Host, Json, Outcome, ServerConfig};
use seawall_testkit::{CallRule, Script, Serve, everything_path};
use tokio::time::timeout;

use super::{MARKER, verdict};

const LONG: Duration = Duration::from_secs(20);
const WATCHED: &str = "test://watched-resource";

async fn add(host: &Host, id: &str, script: &Script) {
    let server = script.server();
    let entry = ServerConfig::stdio(id, server.program_str()).args(server.args.iter().cloned());
    let config = entry.build().expect("a valid entry");
    host.connect(config).await.expect("connects");
}

fn uri(uri: &str) -> Option<Json> {
    Json::of(&serde_json::json!({ "uri": uri })).ok()
}

/// O2, H8: a request of a server ends in the server's own bytes, or says truthfully what became of it; so does one of a
/// server that is not there, of which nothing is sent.
#[tokio::test]
async fn request_goes_to_the_server_that_is_named() {
    let host = Host::builder().build();
    let result = r#"{ "contents":[] ,"n":1.00}"#;
    let reading = Serve::new().capabilities(r#"{"resources":{}}"#);
    let reading = reading.answers("resources/read", result);
    add(&host, "z", &Script::new().serve(reading)).await;
    add(&host, "a", &Script::plain()).await;

    let read = host.request("z", "resources/read", uri("x://y")).await;
    assert_eq!(read.expect("a result").as_str(), result);
    let refused = host.request("a", "resources/read", uri("x://y")).await;
    let refused = refused.expect_err("refused");
    assert_eq!(refused.outcome(), Outcome::ErrorResponse);
    assert_eq!(refused.json_rpc_code(), Some(-32_601));
    let told = refused.remote_message().expect("what it said");
    assert_eq!(told.reveal(), "Method not found");
    assert!(!refused.to_string().contains("Method"), "{refused}");

    let nobody = host.request("b", "ping", None).await.expect_err("nobody");
    assert_eq!(nobody.outcome(), Outcome::NotSent);
    assert_eq!(
        nobody.to_string(),
        "MCP server \"b\": it is not connected: it is not registered; nothing was sent"
    );
    let mut late = host.request("z", "ping", None);
    host.disconnect("z").await.expect("ends");
    let gone = (&mut late).await.expect_err("it is gone");
    assert_eq!(gone.code(), ErrorCode::ConnectionClosed);
    assert_eq!(gone.outcome(), Outcome::NotSent);
    let again = late.await.expect_err("told before");
    assert_eq!(again.outcome(), Outcome::NotSent);
}

/// H7: the sessions are those that are, in the order of the configuration; a new one of a server has a new number.
#[tokio::test]
async fn sessions_are_in_the_order_of_the_configuration() {
    let host = Host::builder().build();
    for id in ["z", "a", "m"] {
        let capabilities = format!(r#"{{"prompts":{{"of":"{id}"}}}}"#);
        let serve = Serve::new().capabilities(&capabilities);
        add(&host, id, &Script::new().serve(serve)).await;
    }
    let ids = |host: &Host| -> Vec<String> {
        let sessions = host.sessions();
        let id = |one: &seawall::host::LiveSession| one.server.to_string();
        sessions.iter().map(id).collect()
    };
    assert_eq!(ids(&host), ["z", "a", "m"]);
    let first = host.sessions().remove(0);
    assert_eq!(
        first.session.capabilities.as_str(),
        r#"{"prompts":{"of":"z"}}"#
    );
    host.disconnect("a").await.expect("ends");
    assert_eq!(ids(&host), ["z", "m"]);
    host.disconnect("z").await.expect("ends");
    add(&host, "z", &Script::plain()).await;
    assert_eq!(ids(&host), ["m", "z"]);
    let last = host.sessions().remove(1);
    assert!(last.generation > first.generation);
}

/// H7, L6: a resource that is followed is told of, until it is followed no longer; one more than can be is refused.
#[tokio::test]
async fn followed_resources_are_told_of() {
    for protocol in [Protocol::Legacy, Protocol::Modern] {
        let host = Host::builder().build();
        let path = everything_path().to_str().expect("UTF-8");
        let entry = ServerConfig::stdio("e", path).protocol(protocol);
        let config = entry.build().expect("a valid entry");
        host.connect(config).await.expect("connects");
        let mut events = host.events();
        host.follow("e", WATCHED).await.expect("followed");
        // On modern revisions the stream of changes is opened anew in its own time.
        let told = async {
            loop {
                let arguments = serde_json::json!({ "uri": WATCHED });
                let call = host.call("mcp/e/test_trigger_resource_change", arguments);
                call.await.expect("answered");
                let soon = Duration::from_millis(500);
                if timeout(soon, change_of(&mut events)).await == Ok(true) {
                    return;
                }
            }
        };
        timeout(LONG, told).await.expect("in time");
        for number in 1..64 {
            let followed = host.follow("e", &format!("test://{number}")).await;
            followed.expect("followed");
        }
        let full = host.follow("e", "test://64").await.expect_err("too many");
        assert_eq!(full.outcome(), Outcome::NotSent);
        host.follow("e", WATCHED)
            .await
            .expect("is followed already");
        host.unfollow("e", WATCHED).await.expect("no longer");
        host.follow("e", "test://64").await.expect("there is room");
    }
}

async fn change_of(events: &mut seawall::host::Events) -> bool {
    while let Some(Heard::Event(event)) = events.next().await {
        if let EventKind::ResourceChanged { uri } = &event.kind {
            return uri.reveal() == WATCHED;
        }
    }
    false
}

/// R1, O1: the `data` of a server's error is there for who asks, with secrets taken out, and too long a one is not; none of it
/// is in the error's own text.
#[tokio::test]
async fn data_of_an_error_is_redacted() {
    let data = format!(r#"{{"n":1.00,"of":"{MARKER}","key":"hunter2-hunter2"}}"#);
    let error = format!(r#"{{"code":-32042,"message":"m","data":{data}}}"#);
    let long = format!(
        r#"{{"code":7,"message":"m","data":"{}"}}"#,
        "x".repeat(20_000)
    );
    let serve = Serve::new()
        .tools(["short", "long"])
        .calls_of("short", CallRule::Error(error))
        .calls_of("long", CallRule::Error(long));
    let server = Script::new().serve(serve).server();
    let entry = ServerConfig::stdio("test", server.program_str())
        .args(server.args.iter().cloned())
        .env("API_KEY", "hunter2-hunter2");
    let host = Host::builder().build();
    let config = entry.build().expect("a valid entry");
    host.connect(config).await.expect("connects");
    let refused = host.call("mcp/test/short", Arguments::none()).await;
    let refused = refused.expect_err("refused");
    verdict(&refused);
    let told = refused.remote_data().expect("data").as_str();
    assert!(told.starts_with(&format!(r#"{{"n":1.00,"of":"{MARKER}","key":""#)));
    assert!(!told.contains("hunter2"), "{told}");
    let refused = host.call("mcp/test/long", Arguments::none()).await;
    assert_eq!(refused.expect_err("refused").remote_data(), None);
}
