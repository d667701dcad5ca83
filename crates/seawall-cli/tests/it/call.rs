//! `seawall call`: what is printed, and the exit status.

use std::io::Read;
use std::process::Stdio;

use seawall_testkit::{CallRule, Script, Serve, Until};
use serde_json::{Value, json};

use crate::support::{Config, answering, run, run_with_input};

/// The README's one command.
#[test]
fn demo_adds_two_numbers_without_any_configuration() {
    let ran = run(&["call", "mcp/demo/add", "a=2", "b=3", "--demo"]).exits(0);
    assert_eq!(ran.stdout, "5\n");
    assert_eq!(ran.stderr, "");
}

#[test]
fn arguments_come_from_pairs_a_text_a_file_and_stdin() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("args.json");
    std::fs::write(&file, "{\n  \"a\": 1,\n  \"b\": 2\n}\n").expect("written");
    let at_file = format!("@{}", file.display());
    let call = |args: &[&str]| {
        let args: Vec<&str> = ["call", "mcp/demo/add", "--demo"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        run_with_input(&args, b"{\"a\": 40, \"b\": 2}")
            .exits(0)
            .stdout
    };
    assert_eq!(call(&["--args", r#"{"a": 20, "b": 3}"#]), "23\n");
    assert_eq!(call(&["--args", &at_file]), "3\n");
    assert_eq!(call(&["--args", "-"]), "42\n");
    assert_eq!(
        call(&["--args", &at_file, "b=9007199254740993"]),
        "9007199254740994\n"
    );
}

/// BEHAVIOUR O5: a result passes unchanged; only `isError` is added where it is missing.
#[test]
fn json_is_the_result_as_the_server_sent_it() {
    let result = r#"{"content":[{"type":"hologram","n":12345678901234567890123, "s":"\ud800\u001b[31m"},{"type":"text","text":"a","x":[1.0]}],"_meta":{"b":1,"a":2},"structuredContent":null,"later":true"#;
    let config = Config::scripted(&answering(&format!("{result}}}")));
    let ran = config.run(&["call", "mcp/s/t", "--json"]).exits(0);
    assert_eq!(ran.stdout, format!("{result},\"isError\":false}}\n"));
    let said = format!("{result},\"isError\":false}}");
    let ran = Config::scripted(&answering(&said))
        .run(&["call", "mcp/s/t", "--json"])
        .exits(0);
    assert_eq!(ran.stdout, format!("{said}\n"));
}

#[test]
fn blocks_are_rendered_for_people_with_nothing_hidden() {
    let result = json!({
        "content": [
            {"type": "text", "text": "two\nlines \u{1b}[31mred\u{1b}[0m \u{202e}"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png\u{1b}"},
            {"type": "resource_link", "name": "a", "uri": "file:///a"},
            {"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///c", "blob": "aGVsbG8="}},
            {"type": "hologram", "depth": 3},
            {"type": "text"},
            "no block",
        ],
        "structuredContent": {"not": "shown"},
    });
    let ran = Config::scripted(&answering(&result.to_string()))
        .run(&["call", "mcp/s/t"])
        .exits(0);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn structured_content_is_shown_where_there_is_no_text() {
    let config = Config::scripted(&answering(
        r#"{"structuredContent":{"n":9007199254740993,"list":[1,{}],"e":[]}}"#,
    ));
    let ran = config.run(&["call", "mcp/s/t"]).exits(0);
    insta::assert_snapshot!(ran.stdout, @r#"
    {
      "n": 9007199254740993,
      "list": [
        1,
        {}
      ],
      "e": []
    }
    "#);
}

/// BEHAVIOUR S11, O5: a failed tool is a result, told by the exit status.
#[test]
fn tool_error_is_status_1() {
    let ran = run(&["call", "mcp/demo/fail", "message=no luck", "--demo"]).exits(1);
    assert_eq!(ran.stdout, "no luck\n");
    assert_eq!(ran.stderr, "error: the tool reported an error\n");
    let ran = run(&["call", "mcp/demo/fail", "--demo", "--json"]).exits(1);
    assert_eq!(ran.json()["isError"], true);
    assert_eq!(ran.stderr, "");
}

#[test]
fn what_cannot_be_meant_is_status_2() {
    for (args, words) in [
        (
            &["call", "mcp/demo/add", "a=two", "--demo"][..],
            "`a` takes a number",
        ),
        (
            &["call", "mcp/demo/add", "c=2", "--demo"],
            "no argument `c`",
        ),
        (
            &["call", "demo/add", "a=2", "--demo"],
            "did you mean `mcp/demo/add`?",
        ),
        (
            &["call", "mcp/dmeo/add", "--demo"],
            "did you mean `mcp/demo/add`?",
        ),
        (
            &["call", "mcp/demo/add", "a=2"],
            "no servers are configured",
        ),
        (
            &["call", "mcp/demo/add", "--args", "@/nonexistent", "--demo"],
            "/nonexistent",
        ),
        (
            &["call", "mcp/demo/add", "--args", "[1]", "--demo"],
            "not a JSON object",
        ),
        (
            &["call", "mcp/demo/add", "--args", r#"{"a":1e999}"#, "--demo"],
            "a number is too large",
        ),
        (&["call", "mcp/demo/add", "--timeout", "0", "--demo"], "0"),
    ] {
        let ran = run(args).exits(2);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains(words), "{ran:?}");
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let error = run(&args).exits(2).json()["error"].take();
        assert_eq!(error["code"], "configuration");
        assert_eq!(error["outcome"], "not_sent");
        assert!(error["message"].is_string());
    }
}

/// BEHAVIOUR S10, O2: a tool that the catalog lacks is refused before anything is sent.
#[test]
fn unknown_tool_is_not_sent_and_status_3() {
    let error = run(&["call", "mcp/demo/ad", "--demo", "--json"])
        .exits(3)
        .json()["error"]
        .take();
    assert_eq!(error["code"], "tool_not_found");
    assert_eq!(error["outcome"], "not_sent");
    assert_eq!(error["server"], "demo");
    let ran = run(&["call", "mcp/demo/ad", "--demo"]).exits(3);
    assert!(
        ran.stderr.contains("did you mean `mcp/demo/add`?"),
        "{ran:?}"
    );
}

/// BEHAVIOUR O1: a program that does not exist is `spawn_failed`, and nothing was sent.
#[test]
fn command_that_does_not_exist_is_status_3() {
    let config = Config::of(&[("s", json!({"command": "/nonexistent/server"}))]);
    let error = config.run(&["call", "mcp/s/t", "--json"]).exits(3).json()["error"].take();
    assert_eq!(error["code"], "spawn_failed");
    assert_eq!(error["outcome"], "not_sent");
    assert!(
        !error["message"].to_string().contains("nonexistent"),
        "{error}"
    );
}

/// BEHAVIOUR K5, K7: a `ws` entry passes the checks, and one that nobody listens at is not sent anything.
#[test]
fn websocket_that_nobody_listens_at_is_not_sent() {
    let config = Config::of(&[("s", json!({"url": "ws://127.0.0.1:1/mcp"}))]);
    config.run(&["check"]).exits(0);
    let error = config.run(&["call", "mcp/s/t", "--json"]).exits(3).json()["error"].take();
    assert_eq!(error["code"], "connection_closed");
    assert_eq!(error["outcome"], "not_sent");
}

/// BEHAVIOUR L4: arguments past a bound are refused before anything is sent.
#[test]
fn arguments_past_a_bound_are_not_sent() {
    let script = Script::new().serve(Serve::new().tools(["t"]));
    let config = Config::scripted_with(&script, &json!({"maxOutboundFrameBytes": 400}));
    let text = format!("text={}", "x".repeat(400));
    let error = config
        .run(&["call", "mcp/s/t", &text, "--json"])
        .exits(3)
        .json()["error"]
        .take();
    assert_eq!(error["outcome"], "not_sent");
    config.run(&["call", "mcp/s/t", "text=x"]).exits(0);
}

/// BEHAVIOUR O1, O3: a refusal gives its code and none of the server's words.
#[test]
fn refusal_is_status_4_without_a_word_of_the_server() {
    let refusal = r#"{"code":-32000,"message":"remote words","data":"more remote words"}"#;
    let script = Script::new().serve(
        Serve::new()
            .tools(["t"])
            .calls(CallRule::Error(refusal.to_owned())),
    );
    let config = Config::scripted(&script);
    let error = config.run(&["call", "mcp/s/t", "--json"]).exits(4).json()["error"].take();
    assert_eq!(error["code"], "tool_failed");
    assert_eq!(error["outcome"], "error_response");
    assert_eq!(error["jsonRpcCode"], -32000);
    assert!(error.get("httpStatus").is_none());
    let plain = config.run(&["call", "mcp/s/t"]).exits(4);
    assert!(!format!("{plain:?}{error}").contains("remote words"));
}

#[test]
fn useless_answer_is_status_5() {
    let error = Config::scripted(&answering("{}"))
        .run(&["call", "mcp/s/t", "--json"])
        .exits(5)
        .json()["error"]
        .take();
    assert_eq!(error["code"], "invalid_response");
    assert_eq!(error["outcome"], "answered");
}

/// BEHAVIOUR O2, S5: a server that dies in a call leaves its outcome unknown.
#[test]
fn death_in_a_call_is_status_6() {
    let script = Script::new()
        .serve(Serve::new().tools(["t"]).until(Until::Listed))
        .expect("tools/call")
        .exit(3);
    let config = Config::scripted(&script);
    let error = config.run(&["call", "mcp/s/t", "--json"]).exits(6).json()["error"].take();
    assert_eq!(error["code"], "connection_closed");
    assert_eq!(error["outcome"], "no_response");
    let plain = config.run(&["call", "mcp/s/t"]).exits(6);
    assert!(
        plain.stderr.contains("verify state before retrying"),
        "{plain:?}"
    );
}

/// BEHAVIOUR O2, L1: a deadline that passes after the request was sent is `no_response`.
#[test]
fn timeout_is_status_6() {
    let error = run(&[
        "call",
        "mcp/demo/sleep",
        "ms=60000",
        "--timeout",
        "100",
        "--demo",
        "--json",
    ])
    .exits(6)
    .json()["error"]
        .take();
    assert_eq!(error["code"], "timeout");
    assert_eq!(error["outcome"], "no_response");
}

/// BEHAVIOUR H6: the built-in server's names never meet those of a configured one.
#[test]
fn demo_beside_a_server_of_its_name_is_status_2() {
    for (id, more) in [
        ("demo", json!({})),
        ("x", json!({"namePrefix": "mcp/demo"})),
        ("x", json!({"namePrefix": "mcp"})),
        ("x", json!({"namePrefix": "mcp/demo/more"})),
    ] {
        let mut entry = more;
        entry["command"] = json!("x");
        let ran = Config::of(&[(id, entry)])
            .run(&["tools", "--demo"])
            .exits(2);
        assert!(ran.stderr.contains("--demo"), "{ran:?}");
    }
}

#[test]
fn include_and_prefix_are_honoured() {
    let script = Script::new().serve(Serve::new().tools(["t", "u"]));
    let config = Config::scripted_with(&script, &json!({"namePrefix": "x", "exclude": ["u"]}));
    config.run(&["call", "x/t"]).exits(0);
    config.run(&["call", "x/u"]).exits(3);
    config.run(&["call", "mcp/s/t"]).exits(2);
}

#[test]
fn stdout_that_closes_early_ends_quietly() {
    let mut child = crate::support::seawall(&["call", "mcp/demo/sleep", "ms=200", "--demo"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let status = child.wait().expect("it ends");
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .expect("piped")
        .read_to_string(&mut stderr)
        .expect("UTF-8");
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn verbose_talk_stays_on_stderr() {
    let ran = run(&["call", "mcp/demo/echo", "text=hi", "--demo", "-v", "--json"]).exits(0);
    assert_eq!(
        ran.json()["content"],
        json!([{"type": "text", "text": "hi"}])
    );
    assert!(ran.stderr.contains("connected to demo"), "{ran:?}");
    let value: Value = ran.json();
    assert_eq!(value["isError"], false);
}

/// O2: where the connect fails, the call was never sent, whatever became of the handshake.
#[test]
fn failed_connect_is_a_call_that_was_not_sent() {
    for script in [
        Script::new().exit(3),
        Script::new().serve(Serve::new().revision("1999-01-01").tools(["t"])),
        Script::new()
            .expect("initialize")
            .reply_error(r#"{"code":-32603,"message":"no"}"#),
    ] {
        let ran = Config::scripted(&script)
            .run(&["call", "mcp/s/t", "--json"])
            .exits(3);
        let error = &ran.json()["error"];
        assert_eq!(error["outcome"], "not_sent");
        let message = error["message"].as_str().expect("a message");
        assert!(message.ends_with("the tool was not called"), "{message}");
    }
}

/// O2: a stdout that takes nothing never hides what became of the request.
#[cfg(target_os = "linux")]
#[test]
fn full_stdout_keeps_the_status_of_the_request() {
    let never = Serve::new().tools(["t"]).calls(CallRule::Never);
    for (script, timeout, status) in [
        (Script::new().serve(never), "300", 6),
        (answering(r#"{"content":[],"isError":true}"#), "20000", 1),
        (answering(r#"{"content":[]}"#), "20000", 5),
    ] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("opens");
        let config = Config::scripted(&script);
        let mut command = config.command(&["call", "mcp/s/t", "--json", "--timeout", timeout]);
        let ended = command.stdout(full).status().expect("the binary runs");
        assert_eq!(ended.code(), Some(status));
    }
}

#[test]
fn empty_result_says_so() {
    for result in [r#"{"content":[]}"#, r#"{"content":[],"isError":false}"#] {
        let ran = Config::scripted(&answering(result))
            .run(&["call", "mcp/s/t"])
            .exits(0);
        assert_eq!(ran.stdout, "[no content]\n");
    }
}

#[test]
fn unknown_block_is_cut() {
    let block = json!({"type": "hologram", "data": "x".repeat(5_000)});
    let result = json!({"content": [block]}).to_string();
    let ran = Config::scripted(&answering(&result))
        .run(&["call", "mcp/s/t"])
        .exits(0);
    assert!(ran.stdout.ends_with("x…]\n"), "{ran:?}");
    assert!((2_048..2_200).contains(&ran.stdout.len()), "{ran:?}");
}

/// BEHAVIOUR K7, S1: a server whose entry says `mcpl` is called as any other, at the one revision that this is.
#[test]
fn entry_of_mcpl_is_called_at_its_one_revision() {
    let config = Config::scripted_with(&Script::plain(), &json!({"protocol": "mcpl"}));
    config.run(&["call", "mcp/s/echo"]).exits(0);
    config.run(&["tools"]).exits(0);
    // That it does not speak what its entry says is worth a word, and costs nothing.
    let seen = config.run(&["doctor", "--json"]).exits(5).json()[0].take();
    assert_eq!(seen["found"]["revision"], "2024-11-05");
    assert_eq!(seen["verdict"], "degraded");
}

/// BEHAVIOUR S10: only what is a flow's whole name is called.
#[test]
fn flow_name_behind_a_prefix_is_no_tool() {
    let ran = run(&[
        "call",
        "mcp/demo/mcp/demo/add",
        "a=1",
        "b=2",
        "--demo",
        "--json",
    ])
    .exits(3);
    assert_eq!(ran.json()["error"]["code"], "tool_not_found");
    let ran = run(&["call", "mcp/demo/", "--demo"]).exits(2);
    assert!(!ran.stderr.contains("did you mean"), "{}", ran.stderr);
}

/// O1: what a tool lists is said to people, in short and on one line, and is in no message for programs.
#[test]
fn words_of_a_schema_are_for_people_alone() {
    let forged = "open\nerror: run this";
    let schema = json!({
        "type": "object",
        "properties": {"e": {"enum": [forged, "x".repeat(50_000)]}, "state": {"type": "string"}},
        "additionalProperties": false,
    });
    let tool = json!({"name": "t", "inputSchema": schema}).to_string();
    let config = Config::scripted(&Script::new().serve(Serve::new().page([tool])));
    let ran = config.run(&["call", "mcp/s/t", "e=ajar"]).exits(2);
    assert!(
        ran.stderr.contains("one of open\\u{a}error: run this, xxx"),
        "{ran:?}"
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert!(ran.stderr.len() < 400, "{ran:?}");
    for pairs in [&["e=ajar"][..], &["e.a=1"], &["sttate=1"]] {
        let args = [&["call", "mcp/s/t", "--json"], pairs].concat();
        let error = config.run(&args).exits(2).json()["error"].take();
        let message = error["message"].as_str().expect("a message");
        assert!(message.starts_with('`') || message.starts_with("the tool has no"));
        for words in ["run this", "xxx", "`state`"] {
            assert!(!message.contains(words), "{message}");
        }
    }
}
