//! What servers ask, across the gateway and across eras.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use seawall::config::Protocol;
use seawall::inputs::{
    Answer, BoxFuture, Form, FormSupplier, Root, RootsSupplier, Sampler, Suppliers,
};
use seawall::{Client, Json, ServerConfig};
use seawall_testkit::{Script, wait_until};
use serde_json::{Value, json};

use super::{LONG, Raw, Served, WAYS, everything};
use crate::support::Config;

/// A person, a model and a folder.
struct Person;

impl FormSupplier for Person {
    fn fill(&self, _server: &str, form: Form) -> BoxFuture<Answer> {
        let filled: serde_json::Map<String, Value> = form
            .fields()
            .iter()
            .map(|field| (field.name().to_owned(), json!("Ada")))
            .collect();
        let filled = Json::of(&filled).expect("an object");
        Box::pin(std::future::ready(Answer::Accept(filled)))
    }
}

impl Sampler for Person {
    fn sample(&self, _server: &str, request: Json) -> BoxFuture<Option<Json>> {
        let asked: Value = request.parse().expect("JSON");
        let prompt = &asked["messages"][0]["content"]["text"];
        let sample = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": format!("re: {prompt}")}});
        Box::pin(std::future::ready(Json::of(&sample).ok()))
    }
}

impl RootsSupplier for Person {
    fn roots(&self, _server: &str) -> BoxFuture<Vec<Root>> {
        let root = Root::new("file:///srv/project").expect("a root");
        Box::pin(std::future::ready(vec![root.clone(), root]))
    }
}

fn everybody() -> Suppliers {
    let person = Arc::new(Person);
    Suppliers::default()
        .with_form(person.clone())
        .with_sampling(person.clone())
        .with_roots(person)
}

/// The server with everything, at a URL.
struct Everything {
    child: Child,
    url: String,
}

impl Everything {
    fn start() -> Self {
        let path = everything()["command"].as_str().expect("a path").to_owned();
        let mut child = Command::new(path)
            .args(["--http", "127.0.0.1:0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut url = String::new();
        BufReader::new(stdout)
            .read_line(&mut url)
            .expect("it tells its URL");
        let url = url.trim().to_owned();
        Self { child, url }
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A client with everything that a server may ask for, by one of the ways.
async fn client(config: &Config, way: (bool, Protocol)) -> (Client, Option<Served>) {
    let (over_http, protocol) = way;
    let (entry, served) = if over_http {
        let served = Served::start(config);
        (ServerConfig::url("gate", &served.url), Some(served))
    } else {
        let entry = ServerConfig::stdio("gate", env!("CARGO_BIN_EXE_seawall")).args([
            "serve",
            "--mcp-config",
            &config.path(),
        ]);
        (entry, None)
    };
    let entry = entry.protocol(protocol).build().expect("a valid entry");
    let client = Client::builder(entry)
        .suppliers(everybody())
        .connect()
        .await;
    (client.expect("connects"), served)
}

/// G2: whatever a server asks reaches its client and the answer the server, by every way in and out: clients and servers of
/// both eras, over stdio and HTTP.
#[tokio::test]
async fn questions_go_across_eras() {
    let remote = Everything::start();
    let over = |protocol: &str| {
        let mut entry = everything();
        entry["protocol"] = json!(protocol);
        let url = json!({"url": remote.url, "protocol": protocol});
        (entry, url)
    };
    let (old, new) = (over("legacy"), over("modern"));
    let config = Config::of(&[("sl", old.0), ("hl", old.1), ("sm", new.0), ("hm", new.1)]);
    for way in WAYS {
        let (client, _served) = client(&config, way).await;
        for server in ["sl", "hl", "sm", "hm"] {
            for (tool, arguments, says) in [
                (
                    "test_elicitation",
                    json!({"message": "who?"}),
                    "User response: action=accept, content={\"response\":\"Ada\"}",
                ),
                (
                    "test_sampling",
                    json!({"prompt": "hi"}),
                    "LLM response: re: \"hi\"",
                ),
                (
                    "test_input_required_result_list_roots",
                    json!({}),
                    "Found 2 root(s)",
                ),
                (
                    "test_input_required_result_multiple_inputs",
                    json!({}),
                    "Name: Ada; Greeting: re: \"Generate a greeting\"; Roots: 2",
                ),
                (
                    "test_input_required_result_multi_round",
                    json!({}),
                    "Multi-round complete for Ada who likes Ada",
                ),
            ] {
                let called = client.call(&format!("{server}__{tool}"), arguments).await;
                let result = called.unwrap_or_else(|error| {
                    panic!(
                        "{way:?} {server} {tool}: {error}: {:?}",
                        error.remote_message()
                    )
                });
                let text = result.raw().as_str().replace("\\\"", "\"");
                assert!(text.contains(says), "{way:?} {server} {tool}: {text}");
            }
            let name = format!("{server}__test_input_required_result_prompt");
            let prompt = client.prompt(&name, None).await.expect("answered");
            let text = prompt.as_str();
            assert!(
                text.contains("Prompt with context: Ada"),
                "{way:?} {server}: {text}"
            );
        }
    }
}

/// A legacy server with the tool `t`, at the moment at which that was called, as `call`.
fn called(folder: &Path) -> Script {
    Script::new()
        .record(folder.join("read"))
        .expect("initialize")
        .reply(r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"s","version":"1"}}"#)
        .expect_any()
        .expect("tools/list")
        .reply(r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#)
        .expect_as("tools/call", "call")
}

const FORM: &str = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message": "Who?","requestedSchema":{"type":"object","properties":{}}, "x-new":1.0}}"#;
const RESULT: &str = r#"{"content":[]}"#;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// What the server read, line by line.
fn read(folder: &tempfile::TempDir) -> Vec<Value> {
    let lines = std::fs::read_to_string(folder.path().join("read")).unwrap_or_default();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// The answer to the question `q`.
fn answered(folder: &tempfile::TempDir) -> Value {
    let lines = read(folder);
    let answer = lines.into_iter().find(|line| line["id"] == "q");
    answer.expect("it was answered")
}

fn forms() -> Value {
    json!({"elicitation": {}})
}

/// S2, S7: a server is told the truth of a client that cannot be asked: one of the revision with a handshake is refused in
/// words, whatever the client speaks; one of 2026-07-28 sees nothing declared.
#[test]
fn what_a_client_lacks_no_server_gets() {
    for modern in [false, true] {
        let folder = folder();
        let server = called(folder.path())
            .line(FORM)
            .expect_any()
            .reply_to("call", RESULT)
            .hang();
        let mut entries = vec![("s", server.server().entry())];
        let mut every = everything();
        every["protocol"] = json!("modern");
        entries.push(("every", every));
        let mut raw = Raw::with(&Config::of(&entries), modern, &json!({"roots": {}}));
        let result = raw.call("s__t", &json!({}));
        assert_eq!(result["result"]["content"], json!([]), "{result}");
        let error = answered(&folder)["error"].clone();
        assert_eq!(error["code"], -32_601);
        let words = error["message"].as_str().expect("a message");
        assert!(
            words.ends_with("does not have elicitation in form mode"),
            "{words}"
        );

        let refused = raw.call("every__test_elicitation", &json!({"message": "who?"}));
        let error = &refused["error"];
        let wanted = json!({"elicitation": {}});
        match modern {
            // What it lacks it is told as its revision has it.
            true => assert_eq!(
                (&error["code"], &error["data"]["requiredCapabilities"]),
                (&json!(-32_021), &wanted)
            ),
            false => assert_eq!(error["code"], -32_603),
        }
        assert_eq!(
            refused["error"]["data"]["jsonRpcCode"], -32_021,
            "{refused}"
        );
    }
}

/// G2: over stdio a legacy client is asked what the server asks, byte for byte, and the server gets what it answers.
#[test]
fn a_question_passes_unchanged() {
    let folder = folder();
    let server = called(folder.path())
        .line(FORM)
        .expect_any()
        .reply_to("call", RESULT)
        .hang();
    let mut raw = Raw::with(&Config::scripted(&server), false, &forms());
    let call = raw.send("tools/call", &json!({"name": "s__t"}));
    let question = raw.hear("elicitation/create");
    let params = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}, "x-new": 1.0});
    assert_eq!(
        (&question["method"], &question["params"]),
        (&json!("elicitation/create"), &params)
    );
    let error = json!({"code": -1, "message": "not now", "data": {"a": 1}});
    raw.write(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error}));
    assert_eq!(raw.answer(call)["result"]["content"], json!([]));
    assert_eq!(answered(&folder)["error"], error);
}

/// S8: a call that is cancelled while its client is asked takes the question back there, and is cancelled at the server.
#[test]
fn a_cancelled_call_takes_its_question_back() {
    let folder = folder();
    let cancelled = folder.path().join("cancelled");
    let server = called(folder.path())
        .line(FORM)
        .expect_cancel(&cancelled)
        .hang();
    let mut raw = Raw::with(&Config::scripted(&server), false, &forms());
    let call = raw.send("tools/call", &json!({"name": "s__t"}));
    let question = raw.hear("elicitation/create");
    raw.tell("notifications/cancelled", &json!({"requestId": call}));
    let told = raw.hear("notifications/cancelled");
    assert_eq!(told["params"]["requestId"], question["id"]);
    assert!(wait_until(LONG, || cancelled.exists()));
}

/// S7: what a server takes back is taken back at the client, and the call goes on.
#[test]
fn a_question_taken_back_is_taken_back_at_the_client() {
    let folder = folder();
    let server = called(folder.path())
        .line(FORM)
        .sleep(Duration::from_millis(200))
        .line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#)
        .sleep(Duration::from_millis(200))
        .reply_to("call", RESULT)
        .hang();
    let mut raw = Raw::with(&Config::scripted(&server), false, &forms());
    let call = raw.send("tools/call", &json!({"name": "s__t"}));
    let question = raw.hear("elicitation/create");
    let told = raw.hear("notifications/cancelled");
    assert_eq!(told["params"]["requestId"], question["id"]);
    assert_eq!(raw.answer(call)["result"]["content"], json!([]));
    assert!(read(&folder).iter().all(|line| line["id"] != "q"));
}

/// G2: a call of a legacy server waits for a client of 2026-07-28 under a state that is good once, for this call; hostile
/// ones are refused and leave it as it is.
#[test]
fn a_state_is_good_for_its_own_call() {
    let folder = folder();
    let server = called(folder.path())
        .line(FORM)
        .expect_any()
        .reply_to("call", RESULT)
        .hang();
    let mut raw = Raw::with(&Config::scripted(&server), true, &forms());
    let asks = raw.call("s__t", &json!({"a": 1}))["result"].clone();
    assert_eq!(asks["resultType"], "input_required", "{asks}");
    let requests = json!({"1": {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}, "x-new": 1.0}}});
    assert_eq!(asks["inputRequests"], requests);
    let state = asks["requestState"].as_str().expect("a state").to_owned();
    let answer = json!({"1": {"action": "decline"}});
    let with = |state: Value, arguments: Value| json!({"name": "s__t", "arguments": arguments, "requestState": state, "inputResponses": answer});
    let mut flipped = state.clone().into_bytes();
    flipped[0] ^= 1;
    let flipped = String::from_utf8(flipped).expect("ASCII");
    for hostile in [
        with(json!(state), json!({"a": 2})),
        with(json!(flipped), json!({"a": 1})),
        with(json!(""), json!({"a": 1})),
        with(json!("x".repeat(100_000)), json!({"a": 1})),
        with(json!([state]), json!({"a": 1})),
        with(json!("\u{0}\u{202e}"), json!({"a": 1})),
    ] {
        let refused = raw.ask("tools/call", &hostile);
        assert_eq!(refused["error"]["code"], -32_602, "{refused}");
    }
    assert!(
        read(&folder).iter().all(|line| line["id"] != "q"),
        "nothing was answered"
    );
    let good = with(json!(state), json!({"a": 1}));
    let result = raw.ask("tools/call", &good);
    assert_eq!(
        result["result"],
        json!({"resultType": "complete", "content": []})
    );
    assert_eq!(answered(&folder)["result"], json!({"action": "decline"}));
    let used = raw.ask("tools/call", &good);
    assert_eq!(used["error"]["code"], -32_602);
    let words = used["error"]["message"].as_str().expect("a message");
    assert!(words.contains("call again without it"), "{words}");
}

/// O4, S8: a client that never comes back costs the call, at its deadline; its server is told.
#[test]
fn a_client_that_never_comes_back() {
    let folder = folder();
    let cancelled = folder.path().join("cancelled");
    let server = called(folder.path())
        .line(FORM)
        .expect_cancel(&cancelled)
        .hang();
    let config = Config::scripted_with(&server, &json!({"requestTimeoutMs": 1_000}));
    let mut raw = Raw::with(&config, true, &forms());
    let asks = raw.call("s__t", &json!({}))["result"].clone();
    assert!(!cancelled.exists());
    assert!(wait_until(LONG, || cancelled.exists()));
    // Who comes too late learns what became of the call.
    let late = json!({"name": "s__t", "arguments": {}, "requestState": asks["requestState"], "inputResponses": {"1": {"action": "cancel"}}});
    let late = raw.ask("tools/call", &late);
    assert_eq!(late["error"]["data"]["code"], "timeout", "{late}");
    assert_eq!(late["error"]["data"]["outcome"], "no_response");
}

/// G2: of two clients' calls at one legacy server over stdio nobody can tell which it asks for: neither is asked, and the
/// server is told why. It is asked for when the other call is over.
#[tokio::test]
async fn nobody_is_asked_what_may_be_anothers() {
    let folder = folder();
    let server = called(folder.path())
        .expect_as("tools/call", "other")
        .line(FORM)
        .expect_any()
        .reply_to("other", RESULT)
        .sleep(Duration::from_millis(300))
        .line(&FORM.replace("\"q\"", "\"r\""))
        .expect_any()
        .reply_to("call", RESULT)
        .hang();
    let config = Config::scripted(&server);
    let served = Served::start(&config);
    let clients = [
        connected(&served, Protocol::Legacy).await,
        connected(&served, Protocol::Modern).await,
    ];
    let first = clients[0].call("s__t", json!({"n": 1}));
    let second = async {
        let is_called = || {
            read(&folder)
                .iter()
                .any(|line| line["method"] == "tools/call")
        };
        while !is_called() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        clients[1].call("s__t", json!({"n": 2})).await
    };
    let (first, second) = tokio::join!(first, second);
    first.expect("answered");
    second.expect("answered");
    let error = answered(&folder)["error"].clone();
    let words = error["message"].as_str().expect("a message");
    assert!(words.contains("nothing says which"), "{words}");
    let lines = read(&folder);
    let later = lines
        .iter()
        .find(|line| line["id"] == "r")
        .expect("answered");
    assert_eq!(later["result"]["action"], "accept", "{later}");
}

async fn connected(served: &Served, protocol: Protocol) -> Client {
    let entry = ServerConfig::url("gate", &served.url).protocol(protocol);
    let entry = entry.build().expect("a valid entry");
    let client = Client::builder(entry)
        .suppliers(everybody())
        .connect()
        .await;
    client.expect("connects")
}

/// G2: a caller's `_meta` reaches the server, trace context and unknown keys, and nothing that was said to the gateway.
#[test]
fn meta_reaches_the_server() {
    for modern in [false, true] {
        let folder = folder();
        let server = called(folder.path()).reply_to("call", RESULT).hang();
        let mut raw = Raw::with(&Config::scripted(&server), modern, &json!({}));
        let meta = json!({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "example.com/x": {"a": [1]}, "progressToken": "mine"});
        raw.ask("tools/call", &json!({"name": "s__t", "_meta": meta}));
        let lines = read(&folder);
        let call = lines.iter().find(|line| line["method"] == "tools/call");
        let seen = call.expect("called")["params"]["_meta"].clone();
        assert_eq!(seen["traceparent"], meta["traceparent"]);
        assert_eq!(seen["example.com/x"], meta["example.com/x"]);
        assert_ne!(seen["progressToken"], "mine");
        assert_eq!(seen.as_object().expect("an object").len(), 3, "{seen}");
    }
}

/// G2: lines of a server's log that belong to a call go to its client, before the answer, from the level on that it wants:
/// the session's, or on 2026-07-28 the request's, and none without.
#[test]
fn lines_of_the_log_go_to_their_client() {
    for protocol in ["legacy", "modern"] {
        let mut every = everything();
        every["protocol"] = json!(protocol);
        let config = Config::of(&[("every", every)]);
        let tool = json!({"name": "every__test_tool_with_logging"});
        let lines = |raw: &mut Raw, params: &Value| {
            raw.told.clear();
            raw.ask("tools/call", params);
            let told = raw.told.iter();
            told.filter(|one| one["method"] == "notifications/message")
                .count()
        };
        let mut old = Raw::with(&config, false, &json!({}));
        let first = lines(&mut old, &tool);
        // Without a level a server of the other revision is asked for none.
        assert_eq!(first, if protocol == "legacy" { 3 } else { 0 });
        let set = old.ask("logging/setLevel", &json!({"level": "error"}));
        assert_eq!(set["result"], json!({}));
        assert_eq!(lines(&mut old, &tool), 0);
        old.ask("logging/setLevel", &json!({"level": "info"}));
        assert_eq!(lines(&mut old, &tool), 3, "{protocol}");
        let odd = old.ask("logging/setLevel", &json!({"level": "loud"}));
        assert_eq!(odd["error"]["code"], -32_602);

        let mut new = Raw::with(&config, true, &json!({}));
        assert_eq!(lines(&mut new, &tool), 0);
        let at = |level: &str| {
            let mut wanted = tool.clone();
            wanted["_meta"] = json!({"io.modelcontextprotocol/logLevel": level});
            wanted
        };
        assert_eq!(lines(&mut new, &at("info")), 3, "{protocol}");
        assert_eq!(lines(&mut new, &at("error")), 0);
    }
}

/// R1: secrets of the server's entry are taken out of its lines.
#[test]
fn lines_of_the_log_have_no_secrets() {
    let secret = "s3cret-0123456789";
    let folder = folder();
    let line = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":{{"token":"{secret}"}}}}}}"#
    );
    let server = called(folder.path())
        .line(&line)
        .reply_to("call", RESULT)
        .hang();
    let config = Config::scripted_with(&server, &json!({"env": {"API_TOKEN": secret}}));
    let mut raw = Raw::with(&config, false, &json!({}));
    raw.call("s__t", &json!({}));
    let told: Vec<String> = raw.told.iter().map(Value::to_string).collect();
    assert!(
        told.iter().any(|one| one.contains("notifications/message")),
        "{told:?}"
    );
    assert!(told.iter().all(|one| !one.contains(secret)), "{told:?}");
}

/// G2: a page that is to be visited before a call is made again is told where the client's revision has that, and it can.
#[test]
fn pages_to_be_visited_first_are_told() {
    let error = r#"{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.com/","message":"m"}]}}"#;
    for (modern, capabilities, code) in [
        (false, json!({"elicitation": {"url": {}}}), -32_042),
        (false, forms(), -32_603),
        (true, forms(), -32_603),
    ] {
        let folder = folder();
        let server = called(folder.path()).reply_error(error).hang();
        let mut raw = Raw::with(&Config::scripted(&server), modern, &capabilities);
        let told = raw.call("s__t", &json!({}))["error"].clone();
        assert_eq!(told["code"], code, "{told}");
        let pages = told["data"]["elicitations"].as_array().map_or(0, Vec::len);
        assert_eq!(pages, usize::from(code == -32_042));
        assert_eq!(told["data"]["jsonRpcCode"], -32_042);
    }
}

/// G2: for a client of 2026-07-28 such a page is a round, and its next request makes the call again.
#[test]
fn pages_to_be_visited_first_are_a_round() {
    let error = r#"{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.com/","message":"m"}]}}"#;
    let folder = folder();
    let server = called(folder.path())
        .reply_error(error)
        .expect("tools/call")
        .reply(RESULT)
        .hang();
    let urls = json!({"elicitation": {"url": {}}});
    let mut raw = Raw::with(&Config::scripted(&server), true, &urls);
    let asks = raw.call("s__t", &json!({}))["result"].clone();
    assert_eq!(
        asks["inputRequests"]["1"]["params"]["url"], "https://example.com/",
        "{asks}"
    );
    let responses = json!({"1": {"action": "accept"}});
    let more = json!({"requestState": asks["requestState"], "inputResponses": responses});
    let result = raw.call("s__t", &more)["result"].clone();
    assert_eq!(result["resultType"], "complete", "{result}");
}

/// G2: what a server of an earlier revision says in a member that its revision does not have is no wish for a round.
#[test]
fn an_earlier_revision_asks_for_no_round() {
    let folder = folder();
    let lie = r#"{"content":[],"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"s"}"#;
    let server = called(folder.path()).reply_to("call", lie).hang();
    let mut raw = Raw::with(&Config::scripted(&server), true, &json!({}));
    let result = raw.call("s__t", &json!({}))["result"].clone();
    assert_eq!(result["resultType"], "complete", "{result}");
}
