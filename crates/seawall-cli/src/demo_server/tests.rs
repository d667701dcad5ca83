use std::io::Cursor;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::session::Session;
use super::{MAX_LINE_BYTES, run};

/// Feeds `lines` to a server and gives what it wrote.
fn served(input: impl Into<Vec<u8>>) -> Vec<Value> {
    let mut output = Vec::new();
    run(Cursor::new(input.into()), &mut output).expect("memory does not fail");
    let text = String::from_utf8(output).expect("a reply is UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a reply is JSON"))
        .collect()
}

fn initialized(revision: &str) -> Session {
    let mut session = Session::default();
    let line = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
    session.handle_line(Instant::now(), line.to_string().as_bytes());
    session.take_outgoing();
    session
}

fn ask(session: &mut Session, now: Instant, message: &Value) -> Vec<Value> {
    session.handle_line(now, message.to_string().as_bytes());
    taken(session)
}

fn taken(session: &mut Session) -> Vec<Value> {
    let parse = |line: String| serde_json::from_str(&line).expect("a reply is JSON");
    session.take_outgoing().into_iter().map(parse).collect()
}

fn call(id: u32, name: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}})
}

fn result(name: &str, arguments: &Value) -> Value {
    let mut session = initialized("2025-11-25");
    let mut replies = ask(&mut session, Instant::now(), &call(1, name, arguments));
    assert_eq!(replies.len(), 1);
    replies[0]["result"].take()
}

#[test]
fn known_revision_is_spoken_and_unknown_one_is_answered_with_the_newest() {
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let line = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize",
            "params": {"protocolVersion": asked}});
        let replies = served(format!("{line}\n"));
        assert_eq!(replies[0]["result"]["protocolVersion"], answered);
        assert_eq!(replies[0]["id"], "a");
    }
}

#[test]
fn id_is_echoed_exactly_as_it_was_written() {
    let mut output = Vec::new();
    let line = br#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}"#;
    run(Cursor::new(line.to_vec()), &mut output).expect("memory does not fail");
    let expected: &[u8] =
        b"{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"result\":{}}\n";
    assert_eq!(output, expected);
}

#[test]
fn garbage_is_answered_with_an_error_and_the_session_goes_on() {
    let replies = served(concat!(
        "not json\n\n42\n{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"no/such\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\r\n",
    ));
    let codes: Vec<_> = replies
        .iter()
        .map(|reply| reply["error"]["code"].as_i64())
        .collect();
    assert_eq!(
        codes,
        [
            Some(-32700),
            Some(-32600),
            Some(-32600),
            Some(-32600),
            Some(-32601),
            None
        ]
    );
    assert_eq!(replies[5]["result"], json!({}));
}

#[test]
fn line_over_the_limit_ends_the_server() {
    let replies = served(vec![b'x'; MAX_LINE_BYTES + 1]);
    assert_eq!(replies.len(), 1);
    assert_eq!(replies[0]["error"]["code"], -32700);
    let mut at_the_limit = vec![b' '; MAX_LINE_BYTES - 40];
    at_the_limit.extend(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(at_the_limit.len(), MAX_LINE_BYTES);
    assert_eq!(served(at_the_limit)[0]["result"], json!({}));
}

#[test]
fn tools_need_a_handshake_first() {
    let replies = served("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
    assert_eq!(replies[0]["error"]["code"], -32600);
}

#[test]
fn every_listed_tool_can_be_called() {
    let mut session = initialized("2025-11-25");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let replies = ask(&mut session, Instant::now(), &list);
    let tools = replies[0]["result"]["tools"].as_array().expect("a list");
    let names: Vec<_> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(
        names,
        ["echo", "add", "sleep", "fail", "image", "structured"]
    );
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object");
    }
    let arguments = json!({"text": "a", "a": 1, "b": 2, "ms": 0});
    for name in names {
        let replies = ask(&mut session, Instant::now(), &call(2, name, &arguments));
        assert!(
            replies.iter().all(|reply| reply.get("error").is_none()),
            "{name}"
        );
    }
}

#[test]
fn cursor_is_refused_since_there_is_one_page() {
    let mut session = initialized("2025-11-25");
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x"}});
    let replies = ask(&mut session, Instant::now(), &list);
    assert_eq!(replies[0]["error"]["code"], -32602);
}

#[test]
fn unknown_tool_is_refused_with_invalid_params() {
    let mut session = initialized("2025-11-25");
    let replies = ask(&mut session, Instant::now(), &call(1, "nope", &json!({})));
    assert_eq!(replies[0]["error"]["code"], -32602);
    assert_eq!(replies[0]["error"]["message"], "unknown tool");
}

#[test]
fn integers_add_up_exactly_past_2_to_the_53() {
    let sum = result("add", &json!({"a": 9_007_199_254_740_993_u64, "b": 1}));
    assert_eq!(sum["content"][0]["text"], "9007199254740994");
    let sum = result("add", &json!({"a": 0.5, "b": 2}));
    assert_eq!(sum["content"][0]["text"], "2.5");
    let sum = result("add", &json!({"a": 1e308, "b": 1e308}));
    assert_eq!(sum["isError"], true);
    assert_eq!(result("add", &json!({"a": "1", "b": 2}))["isError"], true);
}

#[test]
fn fail_says_so_in_its_result() {
    let failed = result("fail", &json!({"message": "no"}));
    assert_eq!(
        failed,
        json!({"content": [{"type": "text", "text": "no"}], "isError": true})
    );
}

#[test]
fn structured_results_exist_from_2025_06_18_on() {
    for (revision, has) in [("2025-03-26", false), ("2025-06-18", true)] {
        let mut session = initialized(revision);
        let now = Instant::now();
        let replies = ask(
            &mut session,
            now,
            &call(1, "structured", &json!({"text": "a b"})),
        );
        let counts = replies[0]["result"].get("structuredContent").cloned();
        assert_eq!(counts, has.then(|| json!({"characters": 3, "words": 2})));
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let replies = ask(&mut session, now, &list);
        let last = &replies[0]["result"]["tools"][5];
        assert_eq!(last.get("outputSchema").is_some(), has);
    }
}

#[test]
fn sleep_answers_when_its_time_has_come_and_not_before() {
    let mut session = initialized("2025-11-25");
    let now = Instant::now();
    assert!(ask(&mut session, now, &call(1, "sleep", &json!({"ms": 100}))).is_empty());
    assert_eq!(
        session.next_deadline(),
        Some(now + Duration::from_millis(100))
    );
    session.handle_timeout(now + Duration::from_millis(99));
    assert!(taken(&mut session).is_empty());
    session.handle_timeout(now + Duration::from_millis(100));
    assert_eq!(
        taken(&mut session)[0]["result"]["content"][0]["text"],
        "slept 100 ms"
    );
    assert_eq!(session.next_deadline(), None);
}

#[test]
fn cancelled_sleep_is_never_answered() {
    let mut session = initialized("2025-11-25");
    let now = Instant::now();
    ask(&mut session, now, &call(1, "sleep", &json!({"ms": 100})));
    ask(&mut session, now, &call(2, "sleep", &json!({"ms": 100})));
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert!(ask(&mut session, now, &cancel).is_empty());
    session.handle_timeout(now + Duration::from_secs(1));
    let replies = taken(&mut session);
    assert_eq!(replies.len(), 1);
    assert_eq!(replies[0]["id"], 2);
}

#[test]
fn sleep_tells_its_progress_if_it_was_asked_to() {
    let mut session = initialized("2025-11-25");
    let now = Instant::now();
    let mut message = call(1, "sleep", &json!({"ms": 1000}));
    message["params"]["_meta"] = json!({"progressToken": "p"});
    ask(&mut session, now, &message);
    session.handle_timeout(now + Duration::from_millis(250));
    let told = taken(&mut session);
    assert_eq!(told[0]["method"], "notifications/progress");
    assert_eq!(
        told[0]["params"],
        json!({"progressToken": "p", "progress": 250, "total": 1000})
    );
}

#[test]
fn batch_is_answered_with_an_array_in_the_one_revision_that_has_it() {
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]);
    let replies = ask(&mut initialized("2025-03-26"), Instant::now(), &batch);
    assert_eq!(replies[0].as_array().map(Vec::len), Some(2));
    let replies = ask(&mut initialized("2025-11-25"), Instant::now(), &batch);
    assert_eq!(replies[0]["error"]["code"], -32600);
}

/// Also a request whose text Rust strings cannot hold, or that nests as deep as a message may, ends by its id: without
/// one its caller would wait until the deadline.
#[test]
fn params_that_cannot_be_read_are_refused_by_their_id() {
    let mut session = initialized("2025-11-25");
    for (arguments, error) in [
        (r#"{"text":"\ud800"}"#.to_owned(), json!(-32602)),
        (
            format!(
                r#"{{"text":"x","y":{}{}}}"#,
                "[".repeat(125),
                "]".repeat(125)
            ),
            Value::Null,
        ),
    ] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
        );
        session.handle_line(Instant::now(), line.as_bytes());
        let replies = taken(&mut session);
        assert_eq!(replies.len(), 1);
        assert_eq!(replies[0]["id"], 7);
        assert_eq!(replies[0]["error"]["code"], error);
    }
}

#[test]
fn sleeping_call_is_cancelled_however_its_id_is_escaped() {
    let mut session = initialized("2025-11-25");
    let now = Instant::now();
    let call = r#"{"jsonrpc":"2.0","id":"\u0061","method":"tools/call","params":{"name":"sleep","arguments":{"ms":9}}}"#;
    session.handle_line(now, call.as_bytes());
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}});
    session.handle_line(now, cancel.to_string().as_bytes());
    assert_eq!(session.next_deadline(), None);
}
