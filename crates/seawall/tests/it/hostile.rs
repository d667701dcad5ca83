//! Servers that send what they should not (L, S4, S6, S7, S9, S12).

use std::time::{Duration, Instant};

use seawall::{Arguments, Hidden};
use seawall_testkit::{CallRule, Script, Serve, Until, is_alive, tool};

use super::*;

const HANDSHAKE: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"REMOTE-MARKER","version":"1"}}"#;

fn listed() -> Script {
    Script::new().serve(
        Serve::new()
            .tools(["t"])
            .calls(CallRule::Never)
            .until(Until::Calls(1)),
    )
}

/// S6, S12: noise is dropped, counted, and shown to the observer, redacted before it is cut.
#[tokio::test]
async fn noise_is_dropped_and_shown() {
    let secret = "s3cr3t-value-of-the-child";
    let long = format!("{} {secret}", "y".repeat(190));
    let server = Script::new()
        .write("\u{feff}\n\nnot json\n[1]\nnull\n42\n{\"untagged\":1}\n")
        .line(&long)
        .stderr(format!("starting with {secret}\n"))
        .serve(Serve::new().tools(["t"]))
        .server();
    let (client, recorder) = observed(entry(&server).env("API_TOKEN", secret)).await;
    let client = client.expect("connects");
    client.call("t", Arguments::none()).await.expect("answered");
    assert_eq!(client.report().stats.noise, 8);
    client.close().await.expect("closes");
    let seen = recorder.seen();
    let texts: Vec<&Hidden> = seen
        .iter()
        .filter_map(|diagnostic| match diagnostic {
            Diagnostic::Noise { text, .. } => Some(text),
            Diagnostic::Stderr { tail, .. } => Some(tail),
            _ => None,
        })
        .collect();
    assert_eq!(texts.len(), 9);
    let all: String = texts.iter().map(|text| text.reveal()).collect();
    assert!(all.contains("not json") && all.contains("starting with"));
    assert!(!all.contains(&secret[..6]), "{all}");
    assert!(!format!("{seen:?}").contains("not json"));
}

/// S5, S6, O1, L2: what claims to be JSON-RPC and is not ends the session, and none of it is repeated.
#[tokio::test]
async fn malformed_messages_end_the_session() {
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{}{}}}",
        "[".repeat(128),
        "]".repeat(128)
    );
    for line in [
        r#"{"jsonrpc":"1.0","id":3,"result":"REMOTE-MARKER"}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1,"message":"REMOTE-MARKER"}}"#,
        r#"{"jsonrpc":"2.0","id":3.5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":3}"#,
        r#"{"jsonrpc":"2.0","id":3,"id":3,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":"REMOTE-MARKER"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"n":1e999}}"#,
        r#"{"jsonrpc":"2.0","method":7}"#,
        &deep,
    ] {
        let client = connected(&listed().line(line).hang().server()).await;
        let pid = client.report().pid.expect("a child");
        let error = client
            .call("t", Arguments::none())
            .await
            .expect_err("malformed");
        assert_eq!(
            verdict(&error),
            (ErrorCode::ProtocolError, Outcome::NoResponse),
            "{line}"
        );
        client.close().await.expect("closes");
        assert!(!is_alive(pid));
    }
}

/// L1, L6: a line without end fails at the limit; the limit itself is fine.
#[tokio::test]
async fn frames_are_bounded() {
    let flood = listed().flood("x".repeat(1 << 16), 1 << 12).hang().server();
    let client = connected(&flood).await;
    let before = Instant::now();
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("too long");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ProtocolError, Outcome::NoResponse)
    );
    assert!(error.message().contains("maxFrameBytes"), "{error}");
    assert!(before.elapsed() < Duration::from_secs(20));

    let result = |length: usize| format!("{{\"content\":[],\"pad\":\"{}\"}}", "x".repeat(length));
    let frame = |length: usize| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}}",
            result(length)
        )
        .len()
    };
    let fits = 4096 - frame(0);
    for (length, fine) in [(fits, true), (fits + 1, false)] {
        let server = Script::new()
            .serve(
                Serve::new()
                    .tools(["t"])
                    .calls(CallRule::Result(result(length))),
            )
            .server();
        let client = connect_limited(&server, |limits| limits.max_frame_bytes = 4096)
            .await
            .expect("connects");
        let answered = client.call("t", Arguments::none()).await;
        assert_eq!(answered.is_ok(), fine, "{length}");
    }
}

/// L6: a million notifications cost nothing that stays, and the reply behind them arrives.
#[tokio::test]
async fn a_flood_of_notifications_is_survived() {
    let notification = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n";
    let server = Script::new()
        .serve(Serve::new().tools(["t"]).until(Until::Calls(1)))
        .flood(notification, 1_000_000)
        .serve(Serve::new().tools(["t"]))
        .server();
    let client = connected(&server).await;
    client.call("t", Arguments::none()).await.expect("answered");
    client
        .call("t", Arguments::none())
        .timeout(Duration::from_secs(60))
        .await
        .expect("answered");
    let report = client.report();
    assert_eq!(report.stats.notifications, 1_000_000);
    assert_eq!(report.buffered_bytes, 0);
}

/// S12, L6: a flood on stderr is drained while calls go on.
#[tokio::test]
async fn a_flood_of_stderr_is_drained() {
    let server = Script::new()
        .stderr_flood("warning: something\n", 100_000)
        .serve(Serve::new().tools(["t"]))
        .server();
    let client = connected(&server).await;
    client.call("t", Arguments::none()).await.expect("answered");
    assert_eq!(client.report().stderr_lines, 100_000);
}

/// S12: what a server says last on stderr, as it is told to go, reaches the observer.
#[tokio::test]
async fn the_last_words_on_stderr_are_shown() {
    let script = r#"trap 'echo goodbye >&2; exit 0' TERM
read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}'
read line; read line; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'
while :; do sleep 0.05; done"#;
    for _ in 0..5 {
        let (client, recorder) =
            observed(ServerConfig::stdio("test", "sh").args(["-c", script])).await;
        client.expect("connects").close().await.expect("closes");
        let words = recorder
            .seen()
            .into_iter()
            .any(|diagnostic| match diagnostic {
                Diagnostic::Stderr { tail, .. } => tail.reveal().contains("goodbye"),
                _ => false,
            });
        assert!(words);
    }
}

/// S7: a ping is answered with its exact id while a call is pending; another request is refused with -32601.
#[tokio::test]
async fn requests_of_the_server_are_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = folder.path().join("lines");
    let server = listed()
        .record(&lines)
        .line(r#"{"jsonrpc":"2.0","id":"a\u002d1","method":"ping"}"#)
        .line(r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#)
        .expect_any()
        .expect_any()
        .line(r#"{"jsonrpc":"2.0","id":"3","result":{"content":[]}}"#)
        .server();
    let client = connected(&server).await;
    // S6: and the string form of a pending id is that id.
    client.call("t", Arguments::none()).await.expect("answered");
    let lines = std::fs::read_to_string(&lines).expect("recorded");
    assert!(
        lines.contains(r#"{"jsonrpc":"2.0","id":"a\u002d1","result":{}}"#),
        "{lines}"
    );
    assert!(
        lines.contains(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601"#),
        "{lines}"
    );
}

/// S1, S4: each side's revisions are named; text that is no revision is not.
#[tokio::test]
async fn a_refused_revision_is_a_permanent_verdict() {
    for (revision, named) in [
        ("1999-01-01", true),
        ("2026-07-28", true),
        ("REMOTE-MARKER", false),
    ] {
        let server = Script::new()
            .serve(Serve::new().revision(revision).tools(["t"]))
            .server();
        let error = connect(&server).await.expect_err("no common revision");
        assert_eq!(
            verdict(&error),
            (ErrorCode::ProtocolError, Outcome::Answered)
        );
        assert!(error.is_permanent());
        assert!(error.message().contains("2025-11-25"), "{error}");
        assert_eq!(error.message().contains(revision), named, "{error}");
    }
    let server = Script::new()
        .expect("initialize")
        .reply_error(r#"{"code":-32022,"message":"REMOTE-MARKER","data":{"supported":["2026-07-28"],"requested":"x"}}"#)
        .hang()
        .server();
    let error = connect(&server).await.expect_err("modern only");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ProtocolError, Outcome::ErrorResponse)
    );
    assert!(error.is_permanent() && error.json_rpc_code() == Some(-32022));
    assert!(
        error.message().contains("\"protocol\": \"modern\""),
        "{error}"
    );
}

/// S1: each part of the handshake that is wrong fails the connect, and reaps the child.
#[tokio::test]
async fn a_wrong_handshake_fails_the_connect() {
    for result in [
        "[]",
        r#"{"capabilities":{"tools":{}}}"#,
        r#"{"protocolVersion":"2025-11-25"}"#,
        r#"{"protocolVersion":"2025-11-25","capabilities":[]}"#,
        r#"{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}}}"#,
    ] {
        let server = Script::new()
            .expect("initialize")
            .reply(result)
            .hang()
            .server();
        let error = connect(&server).await.expect_err("a wrong handshake");
        assert_eq!(
            verdict(&error),
            (ErrorCode::ProtocolError, Outcome::Answered),
            "{result}"
        );
    }
    let server = Script::new().hang().server();
    let silent = connect_limited(&server, |limits| {
        limits.handshake_timeout = Duration::from_millis(200);
    })
    .await;
    assert_eq!(
        verdict(&silent.expect_err("silent")),
        (ErrorCode::Timeout, Outcome::NoResponse)
    );
}

/// S9, L5, L7: a catalog that breaks a rule fails the connect, or loses the tool that breaks it.
#[tokio::test]
async fn a_wrong_catalog_fails_the_connect_or_is_quarantined() {
    let bad = r#"{"name":"REMOTE/MARKER","inputSchema":{"type":"object"}}"#;
    let server = Script::new()
        .serve(Serve::new().page([tool("a"), bad.to_owned(), tool("c")]))
        .server();
    let error = connect(&server).await.expect_err("one tool is wrong");
    assert_eq!(
        verdict(&error),
        (ErrorCode::InvalidResponse, Outcome::Answered)
    );
    assert!(error.message().contains("tool 1 "), "{error}");
    let client = connect_limited(&server, |limits| {
        limits.invalid_tools = seawall::InvalidTools::Quarantine;
    })
    .await
    .expect("connects without it");
    assert_eq!(client.flows().len(), 2);
    assert_eq!(
        client.report().quarantined.first().map(|tool| tool.index),
        Some(1)
    );

    let pages = (0..3).fold(Serve::new(), |serve, page| {
        serve.tools([["a", "b", "c"][page]])
    });
    let server = Script::new().serve(pages).server();
    let client = connected(&server).await;
    assert_eq!(
        (client.flows().len(), client.report().catalog_pages),
        (3, 3)
    );
    for change in [
        (|limits: &mut Limits| limits.max_tools = 2) as fn(&mut Limits),
        |limits| limits.max_catalog_pages = 2,
    ] {
        let error = connect_limited(&server, change)
            .await
            .expect_err("past the limit");
        assert_eq!(
            verdict(&error),
            (ErrorCode::InvalidResponse, Outcome::Answered)
        );
    }
    let looping = Script::new()
        .expect("initialize")
        .reply(HANDSHAKE)
        .expect("notifications/initialized")
        .expect("tools/list")
        .reply(r#"{"tools":[],"nextCursor":"x"}"#)
        .expect("tools/list")
        .reply(r#"{"tools":[],"nextCursor":"x"}"#)
        .hang()
        .server();
    let error = connect(&looping).await.expect_err("a cursor that repeats");
    assert_eq!(
        verdict(&error),
        (ErrorCode::InvalidResponse, Outcome::Answered)
    );
}

/// L3: bytes that come one by one make the same session.
#[tokio::test]
async fn one_byte_writes_are_put_together() {
    let reply = "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"é€😀\"}]}}\r\n";
    let server = listed()
        .write_pieces(reply, 1, Duration::from_micros(200))
        .server();
    let client = connected(&server).await;
    let result = client.call("t", Arguments::none()).await.expect("answered");
    assert!(result.raw().as_str().contains("é€😀"));
}

/// Half a line and then silence ends at the deadline, not later.
#[tokio::test]
async fn half_a_line_ends_at_the_deadline() {
    let client = connected(
        &listed()
            .write("{\"jsonrpc\":\"2.0\",\"id\":3,")
            .hang()
            .server(),
    )
    .await;
    let before = Instant::now();
    let call = client
        .call("t", Arguments::none())
        .timeout(Duration::from_millis(200));
    let error = call.await.expect_err("half a line");
    assert_eq!(verdict(&error), (ErrorCode::Timeout, Outcome::NoResponse));
    assert!(before.elapsed() < Duration::from_secs(2));
}

/// A server that never reads delays no deadline, and is gone after `close`.
#[tokio::test]
async fn a_server_that_never_reads_delays_no_deadline() {
    let server = Script::new()
        .serve(Serve::new().tools(["t"]).until(Until::Listed))
        .hang()
        .server();
    let client = connected(&server).await;
    let pid = client.report().pid.expect("a child");
    let before = Instant::now();
    let arguments = || Arguments::text(format!("{{\"pad\":\"{}\"}}", "x".repeat(900_000)));
    let [first, second] = [300, 200].map(|ms| {
        client
            .call("t", arguments())
            .timeout(Duration::from_millis(ms))
    });
    let (first, second) = tokio::join!(first, second);
    let first = verdict(&first.expect_err("nobody reads"));
    let second = verdict(&second.expect_err("nobody reads"));
    assert_eq!(first, (ErrorCode::Timeout, Outcome::NoResponse));
    assert_eq!(second, (ErrorCode::Timeout, Outcome::NotSent));
    assert!(before.elapsed() < Duration::from_secs(3));
    client.close().await.expect("closes");
    assert!(!is_alive(pid));
}
