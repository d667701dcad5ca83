//! Resources, prompts and completion through the gateway.

use std::path::Path;
use std::time::{Duration, Instant};

use seawall::{Change, Client, Json};
use seawall_testkit::{Script, Serve, Until};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{LONG, Raw, Served, WAYS, client, everything};
use crate::support::Config;

/// Entries with members that nobody knows, numbers that a decoder would change, and texts with something hidden in them.
const RESOURCE: &str = r#"{ "x-new":{"b":1.0,"b":2},"uri":"odd:1","name":"o\u200bne","description":"a\n\u202eb","size":1e2}"#;
const RESOURCE_SHOWN: &str = r#"{ "x-new":{"b":1.0,"b":2},"uri":"odd:1","name":"o\\u{200b}ne","description":"a\n\\u{202e}b","size":1e2}"#;
const TEMPLATE: &str = r#"{"uriTemplate":"odd:t/{v}","name":"t", "title":"\u2066"}"#;
const TEMPLATE_SHOWN: &str = r#"{"uriTemplate":"odd:t/{v}","name":"t", "title":"\\u{2066}"}"#;
const PROMPT: &str = r#"{"name":"p","description":"\u200b","arguments":[{"name":"a"}], "n":1.0}"#;
const PROMPT_SHOWN: &str =
    r#"{"name":"odd__p","description":"\\u{200b}","arguments":[{"name":"a"}], "n":1.0}"#;
const READ: &str = r#"{ "contents":[{"uri":"odd:1","text":"\u0041"}],"n":1.00}"#;
const GOT: &str = r#"{ "messages":[] ,"n":1.00}"#;
const COMPLETED: &str = r#"{"completion":{ "values":["x"]} ,"n":1.00}"#;

fn odd() -> Serve {
    Serve::new()
        .capabilities(r#"{"resources":{},"prompts":{},"completions":{}}"#)
        .answers(
            "resources/list",
            &format!(r#"{{"resources":[{RESOURCE}]}}"#),
        )
        .answers(
            "resources/templates/list",
            &format!(r#"{{"resourceTemplates":[{TEMPLATE}]}}"#),
        )
        .answers("prompts/list", &format!(r#"{{"prompts":[{PROMPT}]}}"#))
        .answers("resources/read", READ)
        .answers("prompts/get", GOT)
        .answers("completion/complete", COMPLETED)
}

/// A server of resources with these URIs, and templates, that reads what it is named for.
fn library(name: &str, uris: &[&str], templates: &[&str]) -> Serve {
    let resources: Vec<Value> = uris
        .iter()
        .map(|uri| json!({"uri": uri, "name": name}))
        .collect();
    let templates: Vec<Value> = templates
        .iter()
        .map(|uri| json!({"uriTemplate": uri, "name": name}))
        .collect();
    Serve::new()
        .capabilities(r#"{"tools":{},"resources":{}}"#)
        .tools(["t"])
        .answers(
            "resources/list",
            &json!({ "resources": resources }).to_string(),
        )
        .answers(
            "resources/templates/list",
            &json!({ "resourceTemplates": templates }).to_string(),
        )
        .answers(
            "resources/read",
            &json!({"contents": [{"uri": "x:x", "text": name}]}).to_string(),
        )
}

/// What came to a server that records, by method.
fn came(record: &Path, method: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(record).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.parse::<Value>().ok());
    lines.filter(|line| line["method"] == method).collect()
}

fn texts(entries: &[Json]) -> Vec<&str> {
    entries.iter().map(Json::as_str).collect()
}

fn member(entry: &Json, name: &str) -> String {
    let value = entry.member(name).expect("the member");
    value.string().expect("a string").into_owned()
}

/// G1, G2, G4, G5: every way to the gateway shows every server's resources, templates and prompts: the servers' own entries,
/// prompts under the names that the gateway gives, with what is hidden in texts made visible; and what is asked for is the
/// server's own.
#[tokio::test]
async fn every_client_is_offered_what_all_servers_offer() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record");
    let server = Script::new().record(&record).serve(odd()).server();
    let config = Config::of(&[("every", everything()), ("odd", server.entry())]);
    for way in WAYS {
        let (client, _served) = client(&config, way).await;
        let resources = client.resources().await.expect("a list").entries;
        assert_eq!(resources.len(), 4, "{way:?}");
        assert!(texts(&resources).contains(&RESOURCE_SHOWN), "{way:?}");
        let templates = client.resource_templates().await.expect("a list").entries;
        assert!(texts(&templates).contains(&TEMPLATE_SHOWN), "{way:?}");
        let prompts = client.prompts().await.expect("a list").entries;
        assert_eq!(prompts.len(), 6, "{way:?}");
        assert!(texts(&prompts).contains(&PROMPT_SHOWN), "{way:?}");
        let names: Vec<_> = prompts.iter().map(|one| member(one, "name")).collect();
        assert!(names.contains(&"every__test_simple_prompt".to_owned()));

        let is_legacy = client.session().revision.is_legacy();
        let is = |result: &Json, own: &str, more: &str| match is_legacy {
            true => assert_eq!(result.as_str(), own),
            false => assert_eq!(result.as_str(), format!("{{{more}{}", &own[1..])),
        };
        let done = r#""resultType":"complete","#;
        for uri in ["odd:1", "odd:t/7"] {
            let read = client.read_resource(uri).await.expect("a result");
            let hints = format!(r#"{done}"ttlMs":0,"cacheScope":"private","#);
            is(&read, READ, &hints);
        }
        let arguments = Json::check(r#"{"a":"\u0041"}"#).expect("JSON");
        let got = client.prompt("odd__p", Some(&arguments)).await;
        is(&got.expect("a result"), GOT, done);
        for reference in [
            json!({"type": "ref/prompt", "name": "odd__p"}),
            json!({"type": "ref/resource", "uri": "odd:t/{v}"}),
        ] {
            let params = json!({"ref": reference, "argument": {"name": "a", "value": "x"}});
            let completed = client.complete(Json::of(&params).expect("JSON")).await;
            is(&completed.expect("a result"), COMPLETED, done);
        }
        client.close().await.expect("closes");
    }
    for got in came(&record, "prompts/get") {
        assert_eq!(got["params"]["name"], "p");
        assert_eq!(got["params"]["arguments"], json!({"a": "A"}));
    }
    let completed = came(&record, "completion/complete");
    assert_eq!(completed.len(), 2 * WAYS.len());
    assert_eq!(
        completed[0]["params"]["ref"],
        json!({"type": "ref/prompt", "name": "p"})
    );
}

/// G1: a URI goes to the server that lists it, the first of them in the configuration's order, else to that whose template is
/// the closest; one that nobody has is refused, and sent to nobody.
#[test]
fn a_uri_is_sent_to_the_server_that_it_is_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = |name: &str| folder.path().join(name);
    let server = |name: &str, uris: &[&str], templates: &[&str]| {
        let script = Script::new().record(record(name));
        script.serve(library(name, uris, templates)).server()
    };
    let first = server("first", &["x:both", "x:first"], &["{+anything}:wide"]);
    let second = server("second", &["x:both"], &["t:{v}", "x:{v}:wide"]);
    let entries = format!(
        r#"{{"mcpServers":{{"z":{},"a":{}}}}}"#,
        first.entry(),
        second.entry()
    );
    let config = Config::text(&entries);
    let mut raw = Raw::start(&config, &[]);
    let listed = raw.ask("resources/list", &json!({}));
    let uris: Vec<&Value> = listed["result"]["resources"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["uri"])
        .collect();
    assert_eq!(uris, ["x:both", "x:first"]);
    for (uri, who) in [
        ("x:both", "first"),
        ("x:first", "first"),
        ("t:1", "second"),
        ("x:1:wide", "second"),
        ("y:1:wide", "first"),
    ] {
        let read = raw.ask("resources/read", &json!({ "uri": uri }));
        assert_eq!(read["result"]["contents"][0]["text"], who, "{uri}");
        let asked = came(&record(who), "resources/read");
        let last = asked.last().expect("it was asked");
        assert_eq!(last["params"]["uri"], uri);
    }
    let asked = |name: &str| came(&record(name), "resources/read").len();
    assert_eq!((asked("first"), asked("second")), (3, 2));
    for method in ["resources/read", "resources/subscribe"] {
        let refused = raw.ask(method, &json!({"uri": "z:1"}));
        assert_eq!(refused["error"]["code"], -32_002, "{method}");
        let data = json!({"code": "not_found", "outcome": "not_sent", "uri": "z:1"});
        assert_eq!(refused["error"]["data"], data);
    }
    let refused = raw.ask("prompts/get", &json!({"name": "p"}));
    assert_eq!(refused["error"]["code"], -32_602);
    assert_eq!((asked("first"), asked("second")), (3, 2));
}

/// G1: what nobody lists is of the only server of resources, if there can be no other.
#[tokio::test]
async fn an_unlisted_uri_is_of_the_only_server() {
    let only = Script::new().serve(library("only", &[], &[])).server();
    let plain = Script::plain().server();
    let config = Config::of(&[("only", only.entry()), ("plain", plain.entry())]);
    let mut raw = Raw::start(&config, &[]);
    let read = raw.ask("resources/read", &json!({"uri": "x:1"}));
    assert_eq!(read["result"]["contents"][0]["text"], "only");
    // One that is not there may have it.
    let gone = json!({"command": "/nonexistent/server"});
    let config = Config::of(&[("only", only.entry()), ("gone", gone)]);
    let mut raw = Raw::start(&config, &[]);
    let refused = raw.ask("resources/read", &json!({"uri": "x:1"}));
    assert_eq!(refused["error"]["code"], -32_002);
}

/// G2, O1, O2: an error of a server is told as one of a call is: its code, its words, and what became of the request.
#[tokio::test]
async fn a_refusal_is_told_with_the_resource() {
    let config = Config::of(&[("every", everything())]);
    for way in WAYS {
        let (client, _served) = client(&config, way).await;
        let read = client.read_resource("test://none").await;
        let refused = read.expect_err("there is none");
        // The server's own code on 2026-07-28, whatever the client's revision.
        assert_eq!(refused.json_rpc_code(), Some(-32_602), "{way:?}");
        let told = refused.remote_message().expect("its words");
        assert_eq!(
            told.reveal(),
            "MCP server \"every\": it refused the request with JSON-RPC error -32602; it said: Resource not found"
        );
    }
    let mut old = everything();
    old["protocol"] = json!("legacy");
    let served = Served::start(&Config::of(&[("every", old)]));
    for (protocol, code) in [
        (seawall::config::Protocol::Legacy, -32_002),
        (seawall::config::Protocol::Modern, -32_602),
    ] {
        let client = served.client(protocol).await;
        let read = client.read_resource("test://none").await;
        let refused = read.expect_err("there is none");
        assert_eq!(refused.json_rpc_code(), Some(code));
    }
}

/// H8, G1: a server that gives no list costs the others' nothing but a wait, once; it is told of, and one that declares no
/// resources is not asked for them.
#[test]
fn a_server_that_gives_no_list_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record");
    let hanging = Serve::new()
        .capabilities(r#"{"tools":{},"resources":{}}"#)
        .tools(["t"])
        .until(Until::Listed);
    let hanging = Script::new().serve(hanging).hang().server();
    let lying = Serve::new().capabilities(r#"{"tools":{},"resources":{},"prompts":{}}"#);
    let lying = Script::new().serve(lying).server();
    let silent = odd().capabilities(r#"{"tools":{}}"#);
    let silent = Script::new().record(&record).serve(silent).server();
    let good = Script::new().serve(library("good", &["x:1"], &[])).server();
    let config = Config::of(&[
        ("good", good.entry()),
        ("hanging", hanging.entry()),
        ("lying", lying.entry()),
        ("silent", silent.entry()),
    ]);
    let served = Served::start(&config);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let client = served.client(seawall::config::Protocol::Modern).await;
        let list = async |client: &Client| {
            let begun = Instant::now();
            let listed = client.resources().await.expect("a list").entries;
            assert_eq!(listed.len(), 1);
            begun.elapsed()
        };
        let first = list(&client).await;
        assert!(first >= Duration::from_secs(9), "{first:?}");
        let second = list(&client).await;
        assert!(second < Duration::from_secs(5), "{second:?}");
        let begun = Instant::now();
        client.read_resource("x:1").await.expect("read");
        assert!(begun.elapsed() < Duration::from_secs(1));
        assert!(client.prompts().await.expect("a list").entries.is_empty());
    });
    assert!(came(&record, "resources/list").is_empty());
    assert!(came(&record, "prompts/list").is_empty());
    let mut told: Vec<String> = Vec::new();
    let is_told = |told: &[String], text: &str| told.iter().any(|line| line.contains(text));
    while !is_told(&told, "\"lying\": its prompts are left out")
        || !is_told(&told, "\"lying\": its resources are left out")
        || !is_told(
            &told,
            "\"hanging\": its resources are left out: it gave no list within 10 s",
        )
    {
        told.push(served.told.recv_timeout(LONG).expect("it is told"));
    }
}

/// G4: prompts of one plain name are left out, both, and told of.
#[test]
fn prompts_that_meet_are_left_out() {
    let prompts = |names: &[&str]| {
        let prompts: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
        let serve = Serve::new().capabilities(r#"{"prompts":{}}"#);
        let serve = serve.answers("prompts/list", &json!({ "prompts": prompts }).to_string());
        Script::new().serve(serve).server().entry()
    };
    let config = Config::of(&[("one", prompts(&["p", "q"])), ("two", prompts(&["p"]))]);
    let names = |raw: &mut Raw| -> Vec<Value> {
        let listed = raw.ask("prompts/list", &json!({}));
        let prompts = listed["result"]["prompts"].as_array().expect("a list");
        prompts.iter().map(|one| one["name"].clone()).collect()
    };
    let mut raw = Raw::start(&config, &["--names", "plain"]);
    assert_eq!(names(&mut raw), ["q"]);
    let refused = raw.ask("prompts/get", &json!({"name": "p"}));
    assert_eq!(refused["error"]["code"], -32_602);
    let mut raw = Raw::start(&config, &[]);
    assert_eq!(names(&mut raw), ["one__p", "one__q", "two__p"]);
}

/// G2: a list too long for one frame comes in pages, whole and in the configuration's order.
#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let long = "x".repeat(50_000);
    let resources: Vec<Value> = (0..18)
        .map(|number| json!({"uri": format!("x:{number}"), "name": "n", "description": long}))
        .collect();
    let serve = Serve::new().capabilities(r#"{"resources":{}}"#);
    let serve = serve.answers(
        "resources/list",
        &json!({ "resources": resources }).to_string(),
    );
    let server = Script::new().serve(serve).server();
    let config = Config::of(&[("s", server.entry())]);
    for way in WAYS {
        let (client, _served) = client(&config, way).await;
        let listed = client.resources().await.expect("a list");
        let uris: Vec<String> = listed
            .entries
            .iter()
            .map(|one| member(one, "uri"))
            .collect();
        let expected: Vec<String> = (0..18).map(|number| format!("x:{number}")).collect();
        assert_eq!(uris, expected, "{way:?}");
        assert_eq!(listed.pages, 2);
    }
    let mut raw = Raw::start(&config, &[]);
    let refused = raw.ask("resources/list", &json!({"cursor": "x:99"}));
    assert_eq!(refused["error"]["code"], -32_602);
}

/// G2, H5: on every way, to servers of both eras, changes of a followed resource and of the prompts are told; a resource is
/// told of no longer once it is followed no longer.
#[tokio::test]
async fn changes_are_told_across_eras() {
    const WATCHED: &str = "test://watched-resource";
    for protocol in ["legacy", "modern"] {
        let mut entry = everything();
        entry["protocol"] = json!(protocol);
        let config = Config::of(&[("e", entry)]);
        for way in WAYS {
            let (client, _served) = client(&config, way).await;
            let watched = [WATCHED.to_owned()];
            client.subscribe(&watched).await.expect("followed");
            let uri = json!({ "uri": WATCHED });
            let followed = Change::Resource(WATCHED.to_owned());
            let change = ("e__test_trigger_resource_change", &uri);
            assert!(
                is_told(&client, change, &followed).await,
                "{protocol} {way:?}"
            );
            let change = ("e__test_trigger_prompt_change", &json!({}));
            assert!(is_told(&client, change, &Change::Prompts).await);
            client.subscribe(&[]).await.expect("no longer");
        }
    }
}

/// Whether what a tool changes is told; it is called until it is, since streams are opened anew in their own time.
async fn is_told(client: &Client, (tool, arguments): (&str, &Value), expected: &Change) -> bool {
    let until = Instant::now() + LONG;
    while Instant::now() < until {
        let call = client.call(tool, arguments.clone());
        call.await.expect("answered");
        let told = async {
            loop {
                match client.changed().await {
                    Some(change) if change == *expected => return,
                    Some(_) => {}
                    None => std::future::pending().await,
                }
            }
        };
        if timeout(Duration::from_millis(500), told).await.is_ok() {
            return true;
        }
    }
    false
}

/// G2, L6: what several clients follow is asked of the server once, and let go of when the last of them leaves, even without
/// a word.
#[tokio::test]
async fn what_nobody_follows_is_let_go_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record");
    let serve = library("s", &["x:1"], &[])
        .capabilities(r#"{"tools":{},"resources":{"subscribe":true}}"#)
        .answers("resources/subscribe", "{}")
        .answers("resources/unsubscribe", "{}");
    let server = Script::new().record(&record).serve(serve).server();
    let served = Served::start(&Config::of(&[("s", server.entry())]));
    let uris = ["x:1".to_owned()];
    let old = served.client(seawall::config::Protocol::Legacy).await;
    old.subscribe(&uris).await.expect("followed");
    let new = served.client(seawall::config::Protocol::Modern).await;
    new.subscribe(&uris).await.expect("followed");
    let other = served.client(seawall::config::Protocol::Legacy).await;
    other.subscribe(&uris).await.expect("followed");
    old.close().await.expect("closes");
    other.subscribe(&[]).await.expect("no longer");
    // The stream of the modern one was opened by now.
    new.read_resource("x:1").await.expect("read");
    assert_eq!(came(&record, "resources/subscribe").len(), 1);
    assert!(came(&record, "resources/unsubscribe").is_empty());
    drop(new);
    let let_go = async {
        while came(&record, "resources/unsubscribe").is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LONG, let_go).await.expect("let go of");
    assert_eq!(
        came(&record, "resources/unsubscribe")[0]["params"]["uri"],
        "x:1"
    );
}

/// H5, G2: what comes and goes with a server is told as a change of the lists.
#[test]
fn a_server_that_goes_is_told_as_a_change() {
    let serve = odd()
        .capabilities(r#"{"tools":{},"resources":{},"prompts":{}}"#)
        .tools(["t"])
        .until(Until::Calls(1));
    let server = Script::new().serve(serve).exit(3).server();
    let mut raw = Raw::start(&Config::of(&[("s", server.entry())]), &[]);
    assert_eq!(raw.names(), ["s__t"]);
    raw.told.clear();
    raw.call("s__t", &json!({}));
    let is_told = |raw: &Raw, list: &str| {
        let method = format!("notifications/{list}/list_changed");
        raw.told.iter().any(|one| one["method"] == *method)
    };
    while !is_told(&raw, "resources") || !is_told(&raw, "prompts") {
        let message = raw.read();
        raw.told.push(message);
    }
}

/// F4, G1: what a client may not see, or is not trusted with, is neither listed, nor read, nor completed, nor told of: as if it
/// were not there, and its server is sent nothing.
#[test]
fn what_a_client_may_not_see_is_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record");
    let hidden =
        odd().capabilities(r#"{"resources":{"subscribe":true},"prompts":{},"completions":{}}"#);
    let hidden = Script::new().record(&record).serve(hidden).server();
    let good = Script::new()
        .serve(library("good", &["x:1"], &["{+v}"]))
        .server();
    let config = json!({
        "mcpServers": {"odd": hidden.entry(), "seen": good.entry()},
        "gateway": {"clients": {
            "excluded": {"exclude": ["odd"]},
            "included": {"include": ["seen", "odd/none"]},
            "tools": {"exclude": ["odd", "seen"]},
            "untrusted": {"envelope": ["fs:read:**"]},
        }},
    });
    let config = Config::text(&config.to_string());
    for (client, seen) in [
        ("excluded", &["x:1"][..]),
        ("included", &["x:1"]),
        ("tools", &[]),
        ("untrusted", &[]),
    ] {
        let mut raw = Raw::start(&config, &["--client", client]);
        let listed = raw.ask("resources/list", &json!({}));
        let uris: Vec<Value> = listed["result"]["resources"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["uri"].clone())
            .collect();
        assert_eq!(uris, seen, "{client}");
        let listed = raw.ask("prompts/list", &json!({}));
        assert_eq!(listed["result"]["prompts"], json!([]), "{client}");
        let got = raw.ask("prompts/get", &json!({"name": "odd__p"}));
        assert_eq!(got["error"]["data"]["code"], "not_found", "{client}");
        let reference = json!({"type": "ref/prompt", "name": "odd__p"});
        let params = json!({"ref": reference, "argument": {"name": "a", "value": ""}});
        let completed = raw.ask("completion/complete", &params);
        assert_eq!(completed["error"]["data"]["code"], "not_found", "{client}");
        let read = raw.ask("resources/read", &json!({"uri": "odd:1"}));
        let text = &read["result"]["contents"][0]["text"];
        match seen {
            // It is the other server's, whose template makes it.
            ["x:1"] => assert_eq!(text, "good", "{client}"),
            _ => assert_eq!(read["error"]["code"], -32_002, "{client}"),
        }
    }
    for method in ["resources/read", "prompts/get", "completion/complete"] {
        assert!(came(&record, method).is_empty(), "{method}");
    }
}

/// H2, G2: what is followed is asked for anew of a server that came back, and told as a change, since some may have been
/// missed.
#[test]
fn what_is_followed_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record");
    let serve = library("s", &["x:1"], &[])
        .capabilities(r#"{"tools":{},"resources":{"subscribe":true}}"#)
        .answers("resources/subscribe", "{}")
        .until(Until::Calls(1));
    let server = Script::new().record(&record).serve(serve).exit(3).server();
    let mut entry = server.entry();
    entry["reconnectIntervalMs"] = json!(100);
    let mut raw = Raw::start(&Config::of(&[("s", entry)]), &[]);
    let followed = raw.ask("resources/subscribe", &json!({"uri": "x:1"}));
    assert_eq!(followed["result"], json!({}));
    raw.told.clear();
    raw.call("s__t", &json!({}));
    loop {
        let message = raw.read();
        if message["method"] == "notifications/resources/updated" {
            assert_eq!(message["params"], json!({"uri": "x:1"}));
            break;
        }
    }
    assert_eq!(came(&record, "resources/subscribe").len(), 2);
}

/// G2, L6: a server's refusal to tell of a resource is the client's answer, and one that tells of none is not asked.
#[test]
fn a_resource_that_is_not_told_of_is_refused() {
    let refusing =
        library("s", &["x:1"], &[]).capabilities(r#"{"tools":{},"resources":{"subscribe":true}}"#);
    let config = Config::scripted(&Script::new().serve(refusing));
    let mut raw = Raw::start(&config, &[]);
    for _ in 0..2 {
        let refused = raw.ask("resources/subscribe", &json!({"uri": "x:1"}));
        let data = &refused["error"]["data"];
        assert_eq!(data["jsonRpcCode"], -32_601, "{refused}");
        assert_eq!(data["outcome"], "error_response");
        assert_eq!(data["uri"], "x:1");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record");
    let script = Script::new().record(&record);
    let config = Config::scripted(&script.serve(library("s", &["x:1"], &[])));
    let mut raw = Raw::start(&config, &[]);
    let refused = raw.ask("resources/subscribe", &json!({"uri": "x:1"}));
    assert_eq!(refused["error"]["data"]["outcome"], "not_sent");
    assert!(came(&record, "resources/subscribe").is_empty());
}
