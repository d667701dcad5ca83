//! Clients with names: what each may see and call, who may come at all, and a search in place of a long list.

use std::io::{Read, Write};
use std::net::TcpStream;

use seawall_testkit::{CallRule, Script, Serve};
use serde_json::{Value, json};

use super::{Raw, Served};
use crate::support::Config;

const LAPTOP: &str = "laptop-token-of-many-characters";
const BUILD: &str = "build-token-of-many-characters";
const CLIENTS: [(&str, &str); 2] = [("LAPTOP_TOKEN", LAPTOP), ("BUILD_TOKEN", BUILD)];

/// Two servers and these clients; what the first server's entry says more.
fn config(gateway: &Value, more: &Value) -> Config {
    let files = Script::new().serve(
        Serve::new()
            .tools(["read_file", "delete_file"])
            .calls(CallRule::Result(r#"{ "content":[],"n":1.00 }"#.to_owned())),
    );
    let wiki = Script::new().serve(Serve::new().tools(["search_pages"]));
    let mut entry = files.server().entry();
    for (key, value) in more.as_object().expect("an object") {
        entry[key] = value.clone();
    }
    let text = json!({
        "mcpServers": {"files": entry, "wiki": wiki.server().entry()},
        "gateway": gateway,
    });
    Config::text(&text.to_string())
}

fn served(gateway: &Value, more: &Value) -> Served {
    let config = config(gateway, more);
    let mut command = config.command(&["serve", "--http", "127.0.0.1:0"]);
    command.envs(CLIENTS);
    Served::spawn(command)
}

fn clients() -> Value {
    json!({"clients": {
        "laptop": {"token": "${LAPTOP_TOKEN}"},
        "build": {
            "token": "${BUILD_TOKEN}",
            "envelope": ["fs:read:**"],
            "exclude": ["files/delete_file"]
        },
    }})
}

/// One request of 2026-07-28; status, head and body.
fn post(served: &Served, token: &str, method: &str, params: &Value) -> (u16, String, String) {
    let mut params = params.clone();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let name = params["name"]
        .as_str()
        .map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {method}\r\n{name}Content-Type: application/json\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        served.address(),
        body.len()
    );
    let mut stream = TcpStream::connect(served.address()).expect("it listens");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let head: Vec<&str> = head
        .lines()
        .filter(|line| !line.to_lowercase().starts_with("date:"))
        .collect();
    (status.expect("a status"), head.join("\n"), body.to_owned())
}

fn names(served: &Served, token: &str, meta: &Value) -> Vec<String> {
    let (status, _, body) = post(served, token, "tools/list", &json!({"_meta": meta}));
    assert_eq!(status, 200, "{body}");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let tools = body["result"]["tools"].as_array().expect("a list");
    let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
    tools.iter().map(name).collect()
}

/// F4, G3: a client sees what its envelope covers and its lists leave, and of everything else it is told as of what there is
/// not: the same status, the same headers, the same bytes.
#[test]
fn what_a_client_may_not_see_does_not_exist() {
    let served = served(&clients(), &json!({"grant": ["fs:read:/srv/**"]}));
    let none = json!({});
    let all = [
        "files__read_file",
        "files__delete_file",
        "wiki__search_pages",
    ];
    assert_eq!(names(&served, LAPTOP, &none), all);
    // The wiki declares everything, which the envelope does not cover.
    assert_eq!(names(&served, BUILD, &none), all[..1]);
    for params in [
        json!({"arguments": {}}),
        json!({"arguments": {}, "_meta": {"progressToken": 1}}),
        json!({"arguments": 1}),
    ] {
        let call = |token, tool: &str| {
            let mut params = params.clone();
            params["name"] = json!(tool);
            post(&served, token, "tools/call", &params)
        };
        let unknown = call(BUILD, "wiki__search_nothing");
        for hidden in &all[1..] {
            assert_eq!(call(BUILD, hidden), unknown);
            assert_eq!(call(BUILD, &format!("{hidden}_")), unknown);
        }
        let seen = call(LAPTOP, all[1]);
        assert_eq!(seen == unknown, params["arguments"] == 1);
        assert_eq!(call(BUILD, all[0]).0, 200);
    }
    // A cursor is a name too.
    let listed = |cursor: &str| post(&served, BUILD, "tools/list", &json!({"cursor": cursor}));
    assert_eq!(listed("wiki__search_pages"), listed("wiki__search_nothing"));
    assert_ne!(listed("files__read_file"), listed("wiki__search_nothing"));
}

/// G2: a client's own call comes back byte for byte, bounded or not, and its calls do not wait for each other.
#[test]
fn a_clients_call_is_made() {
    let served = served(&clients(), &json!({"grant": ["fs:read:/srv/**"]}));
    for token in [LAPTOP, BUILD] {
        let params = json!({"name": "files__read_file", "arguments": {}});
        let (status, _, body) = post(&served, token, "tools/call", &params);
        assert_eq!(status, 200);
        assert!(body.contains(r#""content":[],"n":1.00 }"#), "{body}");
    }
}

/// G3: whoever has no token gets nothing, on loopback too once clients have names.
#[test]
fn whoever_has_no_token_gets_nothing() {
    let served = served(&clients(), &json!({}));
    for token in ["", "x", "laptop", &LAPTOP[1..]] {
        let (status, head, body) = post(&served, token, "tools/list", &json!({}));
        assert_eq!(status, 401, "{body}");
        assert!(head.contains("Bearer"), "{head}");
        assert!(!body.contains("files"), "{body}");
    }
}

/// F4: the client over stdio is who the flag names.
#[test]
fn a_client_over_stdio_has_its_name() {
    let config = config(&clients(), &json!({"grant": ["fs:read:/srv/**"]}));
    let start = |more: &[&str]| {
        let mut args = vec!["serve"];
        args.extend(more);
        let mut command = config.command(&args);
        command.envs(CLIENTS);
        Raw::spawn(command)
    };
    assert_eq!(start(&["--client", "build"]).names(), ["files__read_file"]);
    assert_eq!(start(&[]).names().len(), 3);
    let mut command = config.command(&["serve", "--client", "nobody"]);
    let output = command.envs(CLIENTS).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("--client nobody") && said.contains("build, laptop"),
        "{said}"
    );
}

/// G2, F4: with tool search the list is two tools; what they find and call is what the client sees and nothing else, and a
/// result is the tool's own, byte for byte.
#[test]
fn tools_are_searched() {
    let mut gateway = clients();
    gateway["toolSearch"] = json!(true);
    let served = served(&gateway, &json!({"grant": ["fs:read:/srv/**"]}));
    let none = json!({});
    assert_eq!(names(&served, LAPTOP, &none), ["search_tools", "call_tool"]);
    // The ordinary list is there for who asks.
    let asks = json!({"seawall/toolSearch": false});
    assert_eq!(names(&served, LAPTOP, &asks).len(), 3);
    assert_eq!(names(&served, BUILD, &asks), ["files__read_file"]);
    let search = |token, query: &str| {
        let params = json!({"name": "search_tools", "arguments": {"query": query}});
        let (status, _, body) = post(&served, token, "tools/call", &params);
        assert_eq!(status, 200, "{body}");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(body["result"]["resultType"], "complete");
        let text = body["result"]["content"][0]["text"]
            .as_str()
            .expect("a text");
        let found: Value = serde_json::from_str(text).expect("JSON");
        let tools = found["tools"].as_array().expect("a list").clone();
        let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
        tools.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(
        search(LAPTOP, "delete a file"),
        ["files__delete_file", "files__read_file"]
    );
    assert_eq!(search(LAPTOP, "search the wiki"), ["wiki__search_pages"]);
    assert_eq!(
        search(BUILD, "delete a file, search the wiki"),
        ["files__read_file"]
    );
    let call = |token, tool: &str| {
        let arguments = json!({"name": tool, "arguments": {}});
        post(
            &served,
            token,
            "tools/call",
            &json!({"name": "call_tool", "arguments": arguments}),
        )
    };
    let direct = |token, tool: &str| {
        post(
            &served,
            token,
            "tools/call",
            &json!({"name": tool, "arguments": {}}),
        )
    };
    assert!(
        call(LAPTOP, "files__read_file")
            .2
            .contains(r#""content":[],"n":1.00 }"#)
    );
    assert_eq!(
        call(LAPTOP, "files__read_file"),
        direct(LAPTOP, "files__read_file")
    );
    assert_eq!(
        call(BUILD, "wiki__search_pages"),
        direct(BUILD, "wiki__nothing")
    );
}

/// F4: what a client says of itself goes before what the section says; without a search its two tools are not there.
#[test]
fn a_client_may_have_the_ordinary_list() {
    let mut gateway = clients();
    gateway["toolSearch"] = json!(true);
    gateway["clients"]["laptop"]["toolSearch"] = json!(false);
    let served = served(&gateway, &json!({}));
    assert_eq!(names(&served, LAPTOP, &json!({})).len(), 3);
    let params = json!({"name": "search_tools", "arguments": {"query": "x"}});
    let (_, _, body) = post(&served, LAPTOP, "tools/call", &params);
    assert!(body.contains("Unknown tool"), "{body}");
}

/// K3, R1: `check` shows who may come, and no token.
#[test]
fn check_shows_who_may_come() {
    let config = config(&clients(), &json!({}));
    for (args, words) in [
        (&["check"][..], "gateway: build (token), laptop (token)"),
        (&["check", "--json"], "\"exclude\":[\"files/delete_file\"]"),
    ] {
        let output = config
            .command(args)
            .envs(CLIENTS)
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        let flat: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let flat = flat.replace(": [ \"", ":[\"").replace("\" ]", "\"]");
        assert!(flat.contains(words), "{flat}");
        assert!(!said.contains(LAPTOP), "{said}");
    }
    let ran = config.run(&["check"]).exits(2);
    assert!(
        ran.stderr.contains("gateway.clients.laptop.token"),
        "{ran:?}"
    );
}
