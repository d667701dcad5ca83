//! What clients are shown.

use seawall::Change;
use seawall::config::Protocol;
use seawall_testkit::{CallRule, Script, Serve, Until};
use serde_json::json;
use tokio::time::timeout;

use super::{LONG, Raw, Served, WAYS, client, everything};
use crate::support::Config;

/// An entry with members that nobody knows, numbers that a decoder would change, and a text with something hidden in it.
const ODD: &str = r#"{ "x-new": {"b":1.0,"a":1e2,"b":2},"name":"odd tool","title":"T\u200b","inputSchema":{"type":"object","x":"\u202e"},"description":"one\ntwo \u202ethree","annotations":{ "title":"a\u2066","readOnlyHint":true}}"#;
const SHOWN: &str = r#"{ "x-new": {"b":1.0,"a":1e2,"b":2},"name":"odd__odd_tool_HASH","title":"T\\u{200b}","inputSchema":{"type":"object","x":"\u202e"},"description":"one\ntwo \\u{202e}three","annotations":{ "title":"a\\u{2066}","readOnlyHint":true}}"#;

/// G1, G2, G4, G5: every way to the gateway shows every server's tools: the servers' own entries, with the names that the
/// gateway gives, and what is hidden in descriptions and titles made visible.
#[tokio::test]
async fn every_client_is_shown_the_servers_own_entries() {
    let odd = Script::new().serve(Serve::new().page([ODD]));
    let config = Config::of(&[("odd", odd.server().entry()), ("every", everything())]);
    for way in WAYS {
        let (client, _served) = client(&config, way).await;
        let tools = client.catalog().tools();
        assert_eq!(tools.len(), 32, "{way:?}");
        assert!(client.catalog().get("every__test_simple_text").is_some());
        let odd = tools.iter().find(|tool| tool.name().starts_with("odd__"));
        let odd = odd.expect("the odd tool");
        let hash = odd.name().rsplit('_').next().expect("a hash");
        assert_eq!(odd.raw().as_str(), SHOWN.replace("HASH", hash), "{way:?}");
        client.close().await.expect("closes");
    }
}

/// H5, G2: a change of a server's list is told to a session, and the new list is what it says.
#[test]
fn a_session_is_told_of_a_change() {
    let server = Script::new()
        .serve(
            Serve::new()
                .capabilities(r#"{"tools":{"listChanged":true}}"#)
                .tools(["t"])
                .until(Until::Calls(1)),
        )
        .line(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)
        .expect("tools/list")
        .reply(r#"{"tools":[{"name":"u","inputSchema":{"type":"object"}}]}"#)
        .hang();
    let mut raw = Raw::start(&Config::scripted(&server), &[]);
    assert_eq!(raw.names(), ["s__t"]);
    raw.told.clear();
    raw.call("s__t", &json!({}));
    let told = |raw: &Raw| {
        let mut told = raw.told.iter();
        told.any(|one| one["method"] == "notifications/tools/list_changed")
    };
    while !told(&raw) {
        let message = raw.read();
        raw.told.push(message);
    }
    assert_eq!(raw.names(), ["s__u"]);
}

/// H5, G2: a client of 2026-07-28 that subscribed is told too, over both transports.
#[tokio::test]
async fn a_subscriber_is_told_of_a_change() {
    let config = Config::of(&[("every", everything())]);
    for over_http in [false, true] {
        let (client, _served) = client(&config, (over_http, Protocol::Modern)).await;
        let call = client.call("every__test_trigger_tool_change", json!({}));
        call.await.expect("answered");
        let change = timeout(LONG, client.changed()).await;
        assert_eq!(change.expect("in time"), Some(Change::Tools));
    }
}

/// G4: with plain names tools keep their own, and two of one name are refused, named with their servers.
#[test]
fn plain_names_are_kept_or_refused() {
    let server = || Script::new().serve(Serve::new().tools(["t"]).calls(CallRule::Echo));
    let mut raw = Raw::start(&Config::scripted(&server()), &["--names", "plain"]);
    assert_eq!(raw.names(), ["t"]);
    let called = raw.call("t", &json!({"a": 1}));
    assert_eq!(called["result"]["content"][0]["text"], r#"{"a":1}"#);

    let two = Config::of(&[
        ("one", server().server().entry()),
        ("two", server().server().entry()),
    ]);
    let ran = two.run(&["serve", "--names", "plain", "--http", "127.0.0.1:0"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("\"t\" is offered by one and two"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stdout, "");
}

/// G1: clients of both eras are served at once, on one endpoint.
#[tokio::test]
async fn both_eras_at_once() {
    let config = Config::of(&[("every", everything())]);
    let served = Served::start(&config);
    let (old, new) = tokio::join!(
        served.client(Protocol::Legacy),
        served.client(Protocol::Modern)
    );
    assert!(old.session().revision.is_legacy() && !new.session().revision.is_legacy());
    let call = |client: &seawall::Client| client.call("every__test_simple_text", json!({}));
    let (by_old, by_new) = tokio::join!(call(&old), call(&new));
    let content = |result: Result<seawall::ToolResult, _>| {
        let result = result.expect("answered");
        result.content().expect("content").as_str().to_owned()
    };
    assert_eq!(content(by_old), content(by_new));
}

/// G2: a list too long for one frame comes in pages, whole and in the servers' order; a cursor that there is none of is refused.
#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let tool = |name: &str| {
        let text = "x".repeat(55_000);
        format!(r#"{{"name":"{name}","description":"{text}","inputSchema":{{"type":"object"}}}}"#)
    };
    let ids: Vec<String> = (10..26).map(|number| format!("s{number}")).collect();
    let script = Script::new().serve(Serve::new().page([tool("b"), tool("a")]));
    // A long script is in a file, which goes with this.
    let server = script.server();
    let entry = server.entry();
    let entries: Vec<_> = ids.iter().map(|id| (&**id, entry.clone())).collect();
    let config = Config::of(&entries);
    for way in WAYS {
        let (client, _served) = client(&config, way).await;
        let tools = client.catalog().tools();
        let names: Vec<&str> = tools.iter().map(seawall::Tool::name).collect();
        let expected: Vec<String> = ids
            .iter()
            .flat_map(|id| [format!("{id}__b"), format!("{id}__a")])
            .collect();
        assert_eq!(names, expected, "{way:?}");
        assert_eq!(client.catalog().pages(), 3);
    }
    let mut raw = Raw::start(&config, &[]);
    let refused = raw.ask("tools/list", &json!({"cursor": "s10__c"}));
    assert_eq!(refused["error"]["code"], -32_602);
}
