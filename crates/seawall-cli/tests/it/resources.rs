//! `seawall resources` and `seawall read`.

use seawall_testkit::{Script, Serve};
use serde_json::{Value, json};

use crate::support::{Config, run};

const BOTH: &str = r#"{"tools":{},"resources":{}}"#;

/// A server of resources, and nothing else.
fn library() -> Serve {
    Serve::new()
        .capabilities(r#"{"resources":{}}"#)
        .answers(
            "resources/list",
            r#"{"resources":[{"uri":"note://1","name":"one","mimeType":"text/plain","description":"The first.\nNo more.","size":1.0e1},{"uri":"note://2","name":"tw\u001bo"}]}"#,
        )
        .answers(
            "resources/templates/list",
            r#"{"resourceTemplates":[{"uriTemplate":"note://{number}","name":"any"}]}"#,
        )
}

/// A server that reads one thing, whatever the URI.
fn reading(contents: &str) -> Script {
    let result = format!(r#"{{"contents":[{contents}],"more":1.0e1}}"#);
    Script::new().serve(library().answers("resources/read", &result))
}

#[test]
fn resources_are_listed_for_people() {
    let config = Config::scripted(&Script::new().serve(library()));
    let ran = config.run(&["resources"]).exits(0);
    assert_eq!(ran.stderr, "");
    insta::assert_snapshot!(ran.stdout);
    let ran = config.run(&["resources", "--templates"]).exits(0);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn json_has_the_servers_own_entries() {
    let config = Config::scripted(&Script::new().serve(library()));
    let ran = config.run(&["resources", "--json"]).exits(0);
    let first = r#"[{"uri":"note://1","name":"one","mimeType":"text/plain","description":"The first.\nNo more.","size":1.0e1,"server":"s"},"#;
    assert!(ran.stdout.starts_with(first), "{ran:?}");
    let templates = config
        .run(&["resources", "--templates", "--json"])
        .exits(0)
        .json();
    assert_eq!(templates[0]["uriTemplate"], "note://{number}");
    assert_eq!(templates[0]["server"], "s");
}

/// A server without the capability is asked nothing (it would refuse), and that is no failure of a list.
#[test]
fn server_without_resources_is_not_asked() {
    let config = Config::of(&[
        ("library", Script::new().serve(library()).server().entry()),
        ("plain", Script::plain().server().entry()),
    ]);
    let ran = config.run(&["resources", "--json"]).exits(0);
    assert_eq!(ran.json().as_array().map(Vec::len), Some(2));
    assert_eq!(ran.stderr, "MCP server \"plain\": it offers no resources\n");
    let none = config
        .run(&["resources", "--server", "plain", "--json"])
        .exits(0);
    assert_eq!(none.json(), json!([]));
    let read = config
        .run(&["read", "note://1", "--server", "plain", "--json"])
        .exits(3);
    assert_eq!(read.json()["error"]["outcome"], "not_sent");
    assert_eq!(
        read.json()["error"]["message"],
        "it offers no resources; nothing was asked of it"
    );
}

/// BEHAVIOUR H8: what one server does costs that server only.
#[test]
fn server_that_fails_costs_the_others_nothing() {
    let refusing = Script::new().serve(Serve::new().capabilities(BOTH));
    let config = Config::of(&[
        ("bad", json!({"command": "/nonexistent/server"})),
        ("library", Script::new().serve(library()).server().entry()),
        ("refusing", refusing.server().entry()),
    ]);
    let ran = config.run(&["resources", "--json"]).exits(4);
    assert_eq!(ran.json().as_array().map(Vec::len), Some(2));
    for server in ["\"bad\"", "\"refusing\""] {
        assert!(ran.stderr.contains(server), "{ran:?}");
    }
    let one = config
        .run(&["resources", "--server", "refusing", "--json"])
        .exits(4);
    assert_eq!(one.json()["error"]["jsonRpcCode"], -32601);
    let bad = config
        .run(&["read", "note://1", "--server", "bad", "--json"])
        .exits(3);
    assert_eq!(bad.json()["error"]["code"], "spawn_failed");
    assert!(
        bad.json()["error"]["message"]
            .as_str()
            .is_some_and(|message| message.ends_with("; nothing was read"))
    );
}

/// BEHAVIOUR O5: text reaches a pipe as it is, with nothing added; `--json` is the server's own bytes.
#[test]
fn text_is_read_as_it_is() {
    let contents = r#"{"uri":"note://1","text":"a\u001b[2J\r\nb\ud83c\udf0a"}"#;
    let config = Config::scripted(&reading(contents));
    let ran = config.run(&["read", "note://1"]).exits(0);
    assert_eq!(ran.stdout, "a\u{1b}[2J\r\nb\u{1f30a}");
    assert_eq!(ran.stderr, "");
    let json = config.run(&["read", "note://1", "--json"]).exits(0);
    assert_eq!(
        json.stdout,
        format!("{{\"contents\":[{contents}],\"more\":1.0e1}}\n")
    );
}

#[test]
fn parts_come_one_after_the_other() {
    let config = Config::scripted(&reading(
        r#"{"uri":"a","text":"one"},{"uri":"b","blob":"dHdvCg"},{"uri":"c","text":"three"}"#,
    ));
    let ran = config.run(&["read", "folder://x"]).exits(0);
    assert_eq!(ran.stdout, "one\ntwo\nthree");
}

#[test]
fn binary_goes_to_a_file_or_a_pipe() {
    let config = Config::scripted(&reading(r#"{"uri":"a","blob":"AP+A"}"#));
    let output = config
        .command(&["read", "img://a"])
        .output()
        .expect("the binary runs");
    assert_eq!(output.stdout, [0, 0xff, 0x80]);
    let path = config.folder().join("out");
    let path_text = path.to_str().expect("a UTF-8 path");
    let ran = config
        .run(&["read", "img://a", "--output", path_text])
        .exits(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr, format!("3 bytes to {path_text}\n"));
    assert_eq!(std::fs::read(&path).expect("was written"), [0, 0xff, 0x80]);
    let nowhere = config.folder().join("no/such");
    let nowhere = nowhere.to_str().expect("a UTF-8 path");
    let ran = config
        .run(&["read", "img://a", "--output", nowhere])
        .exits(5);
    assert!(ran.stderr.contains("cannot write"), "{ran:?}");
    config
        .run(&["read", "img://a", "--output", nowhere, "--json"])
        .exits(2);
}

#[test]
fn answer_that_cannot_be_used_is_status_5() {
    for (contents, fault) in [
        (
            r#"{"uri":"a","blob":"%%"}"#,
            "has a blob that is not base64",
        ),
        (
            r#"{"uri":"a"}"#,
            "has contents that are neither text nor a blob",
        ),
    ] {
        let ran = Config::scripted(&reading(contents))
            .run(&["read", "a"])
            .exits(5);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains(fault), "{ran:?}");
    }
    let script = Script::new().serve(library().answers("resources/read", "{}"));
    let ran = Config::scripted(&script).run(&["read", "a"]).exits(5);
    assert!(ran.stderr.contains("holds no contents"), "{ran:?}");
}

#[test]
fn server_is_the_one_that_lists_the_uri() {
    let other = Serve::new()
        .capabilities(BOTH)
        .answers(
            "resources/list",
            r#"{"resources":[{"uri":"note://1","name":"a"},{"uri":"note://9","name":"b"}]}"#,
        )
        .answers(
            "resources/read",
            r#"{"contents":[{"uri":"note://9","text":"nine"}]}"#,
        );
    let config = Config::of(&[
        ("library", Script::new().serve(library()).server().entry()),
        ("other", Script::new().serve(other).server().entry()),
        ("plain", Script::plain().server().entry()),
    ]);
    let ran = config.run(&["read", "note://9"]).exits(0);
    assert_eq!(ran.stdout, "nine");
    let ran = config.run(&["read", "note://5"]).exits(2);
    assert!(
        ran.stderr.contains("no server lists `note://5`") && ran.stderr.contains("--server"),
        "{ran:?}"
    );
    let ran = config.run(&["read", "note://1"]).exits(2);
    assert!(ran.stderr.contains("(library, other)"), "{ran:?}");
    // The server refuses to read: it says so itself, and its list is pointed to.
    let ran = config
        .run(&["read", "note://2", "--server", "library"])
        .exits(4);
    assert!(
        ran.stderr.contains("seawall resources --server library"),
        "{ran:?}"
    );
    config
        .run(&["read", "note://2", "--server", "librar"])
        .exits(2);
}

/// A list whose entries are none is refused whole, never repaired.
#[test]
fn list_of_something_else_is_refused() {
    let script = Script::new().serve(library().answers("resources/list", r#"{"resources":["x"]}"#));
    let ran = Config::scripted(&script)
        .run(&["resources", "--json"])
        .exits(5);
    let json: Value = ran.json();
    assert_eq!(json["error"]["code"], "invalid_response");
}

#[test]
fn demo_offers_none() {
    let ran = run(&["resources", "--demo"]).exits(0);
    assert_eq!(ran.stderr, "MCP server \"demo\": it offers no resources\n");
    assert_eq!(ran.stdout, "");
}
