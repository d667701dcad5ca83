//! Modern servers, and servers of either era, over stdio (S2, S3, S7, S8, O4).

use std::time::{Duration, Instant};

use seawall::config::Protocol;
use seawall::{Arguments, Change, Revision};
use seawall_testkit::{CallRule, Script, Serve, Until, is_alive};

use super::http_rounds::{input_required, suppliers};
use super::*;

const DISCOVERED: &str =
    r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}"#;
const LISTED: &str =
    r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"resultType":"complete"}"#;
const RESULT: &str = r#"{"content":[],"resultType":"complete"}"#;

/// A modern server up to its first call.
fn discovered() -> Script {
    Script::new()
        .expect("server/discover")
        .reply(DISCOVERED)
        .expect("tools/list")
        .reply(LISTED)
}

fn of_era(server: &Server, protocol: Protocol) -> ServerConfigBuilder {
    entry(server).protocol(protocol)
}

async fn connect_as(server: &Server, protocol: Protocol) -> Result<Client, Error> {
    let config = of_era(server, protocol).build().expect("a valid entry");
    Client::connect(config).await
}

/// S2: a modern server over stdio is discovered, listed and called, and nothing else is said.
#[tokio::test]
async fn a_modern_server_over_stdio() {
    for protocol in [Protocol::Modern, Protocol::Auto] {
        let folder = tempfile::tempdir().expect("a folder");
        let lines = folder.path().join("lines");
        let server = Script::new()
            .record(&lines)
            .expect("server/discover")
            .reply(DISCOVERED)
            .expect("tools/list")
            .reply(LISTED)
            .expect("tools/call")
            .line(r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#)
            .line(r#"{"jsonrpc":"2.0","id":9,"method":"roots/list"}"#)
            .reply(RESULT)
            .expect("tools/call")
            .reply(r#"{"content":[]}"#)
            .server();
        let client = connect_as(&server, protocol).await.expect("connects");
        assert_eq!(client.session().revision, Revision::V2026_07_28);
        client.call("t", Arguments::none()).await.expect("answered");
        client.call("t", Arguments::none()).await.expect("answered");
        let pid = client.report().pid.expect("a child");
        client.close().await.expect("closes");
        assert!(!is_alive(pid));
        // S7: the modern stdio binding has no client responses.
        let lines = std::fs::read_to_string(&lines).expect("recorded");
        assert_eq!(lines.lines().count(), 4, "{lines}");
        assert!(
            lines
                .lines()
                .all(|line| line.contains("io.modelcontextprotocol/protocolVersion"))
        );
    }
}

/// S3: a server that does not know the probe is a legacy one: whatever it answers, and whether it answers.
#[tokio::test]
async fn auto_over_stdio_falls_back() {
    let answers: [fn(Script) -> Script; 4] = [
        |script| script.reply_error(r#"{"code":-32601,"message":"REMOTE-MARKER"}"#),
        |script| script.reply_error(r#"{"code":-32602,"message":"REMOTE-MARKER"}"#),
        |script| script.line("REMOTE-MARKER").reply("{}"),
        // It stays silent, as some do before their handshake.
        |script| script,
    ];
    for (at, answer) in answers.into_iter().enumerate() {
        let script = answer(Script::new().expect("server/discover"));
        let server = script.serve(Serve::new().tools(["t"])).server();
        let client = connect_as(&server, Protocol::Auto).await;
        let client = client.unwrap_or_else(|error| panic!("{at}: {error}"));
        assert_eq!(client.session().revision, Revision::V2025_11_25, "{at}");
        client.call("t", Arguments::none()).await.expect("answered");
        client.close().await.expect("closes");
    }
}

/// S3: a server that exits on the probe is launched once more, without it; `modern` alone is not.
#[tokio::test]
async fn auto_relaunches_once() {
    // Exits on anything but `initialize`.
    let script = r#"read line; case $line in *server/discover*) echo died >> "$0"; exit 3;; esac
echo launched >> "$0"
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}'
read line; read line; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'
read line"#;
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let entry = || {
        let log = log.to_str().expect("UTF-8").to_owned();
        ServerConfig::stdio("test", "sh").args(["-c".to_owned(), script.to_owned(), log])
    };
    let config = entry().protocol(Protocol::Auto).build().expect("valid");
    let client = Client::connect(config).await.expect("connects");
    assert!(client.session().revision.is_legacy());
    client.close().await.expect("closes");
    let text = std::fs::read_to_string(&log).expect("a log");
    assert_eq!(text, "died\nlaunched\n");
    let config = entry().protocol(Protocol::Modern).build().expect("valid");
    let error = Client::connect(config).await.expect_err("exits");
    assert_eq!(error.code(), ErrorCode::ConnectionClosed);
    let text = std::fs::read_to_string(&log).expect("a log");
    assert_eq!(text, "died\nlaunched\ndied\n");
    // One that always exits is launched twice, and the error is of the last.
    let config = ServerConfig::stdio("test", "sh")
        .args(["-c", "read line; exit 4"])
        .protocol(Protocol::Auto);
    let began = Instant::now();
    let error = Client::connect(config.build().expect("valid"))
        .await
        .expect_err("exits");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse)
    );
    assert!(error.message().contains("code 4"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10));
}

/// S3, S4: a modern error is a modern server's; nothing else is tried.
#[tokio::test]
async fn auto_does_not_fall_back_from_a_modern_error() {
    let server = Script::new()
        .expect("server/discover")
        .reply_error(
            r#"{"code":-32022,"message":"REMOTE-MARKER","data":{"supported":["2099-01-01"]}}"#,
        )
        .hang()
        .server();
    let error = connect_as(&server, Protocol::Auto)
        .await
        .expect_err("newer");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ProtocolError, Outcome::ErrorResponse)
    );
    assert!(error.is_permanent());
    assert!(error.message().contains("2099-01-01"), "{error}");
}

/// S6: garbage as the answer to the probe ends the connect, in its own words, and the child.
#[tokio::test]
async fn garbage_on_the_probe() {
    for protocol in [Protocol::Modern, Protocol::Auto] {
        let server = Script::new()
            .expect("server/discover")
            .line(r#"{"jsonrpc":"1.0","id":1,"result":"REMOTE-MARKER"}"#)
            .hang()
            .server();
        let error = connect_as(&server, protocol).await.expect_err("malformed");
        assert_eq!(
            verdict(&error),
            (ErrorCode::ProtocolError, Outcome::NoResponse)
        );
    }
}

/// O4: rounds over stdio, one call in each: supplied, and unsupplied.
#[tokio::test]
async fn rounds_over_stdio() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = folder.path().join("lines");
    let server = discovered()
        .record(&lines)
        .expect("tools/call")
        .reply(&input_required("a\\u0062"))
        .expect("tools/call")
        .reply(RESULT)
        .expect("tools/call")
        .reply(RESULT)
        .server();
    let config = of_era(&server, Protocol::Modern).build().expect("valid");
    let client = Client::builder(config)
        .suppliers(suppliers(Duration::ZERO))
        .connect()
        .await
        .expect("connects");
    client.call("t", Arguments::none()).await.expect("answered");
    client.call("t", Arguments::none()).await.expect("answered");
    client.close().await.expect("closes");
    let lines = std::fs::read_to_string(&lines).expect("recorded");
    let second = lines.lines().nth(1).expect("a second leg");
    assert!(second.contains(r#""requestState":"a\u0062""#), "{second}");
    assert!(second.contains("Ada") && second.contains("file:///home/ada"));

    let server = discovered()
        .expect("tools/call")
        .reply(&input_required("s"))
        .expect("tools/call")
        .reply(RESULT)
        .server();
    let client = connect_as(&server, Protocol::Modern)
        .await
        .expect("connects");
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("nobody supplies");
    assert_eq!(verdict(&error).1, Outcome::NoResponse);
    client.call("t", Arguments::none()).await.expect("goes on");
}

/// O4, S8: the deadline between two legs claims no cancellation, and sends none; in a leg it sends one.
#[tokio::test]
async fn deadlines_over_stdio() {
    let folder = tempfile::tempdir().expect("a folder");
    let cancelled = folder.path().join("cancelled");
    let server = discovered()
        .expect("tools/call")
        .reply(&input_required("s"))
        .expect("tools/call")
        .expect_cancel(&cancelled)
        .expect("tools/call")
        .reply(RESULT)
        .server();
    let config = of_era(&server, Protocol::Modern).build().expect("valid");
    let client = Client::builder(config)
        .suppliers(suppliers(Duration::from_secs(60)))
        .connect()
        .await
        .expect("connects");
    let short = Duration::from_millis(300);
    let error = client
        .call("t", Arguments::none())
        .timeout(short)
        .await
        .expect_err("between legs");
    assert_eq!(verdict(&error), (ErrorCode::Timeout, Outcome::NoResponse));
    assert!(error.message().contains("nothing was in flight"), "{error}");
    assert_eq!(client.report().stats.cancelled, 0);
    let error = client
        .call("t", Arguments::none())
        .timeout(short)
        .await
        .expect_err("in a leg");
    assert_eq!(verdict(&error), (ErrorCode::Timeout, Outcome::NoResponse));
    assert!(!error.message().contains("in flight"), "{error}");
    client.call("t", Arguments::none()).await.expect("goes on");
    assert_eq!(client.report().stats.cancelled, 1);
    let text = std::fs::read_to_string(&cancelled).expect("one came");
    assert!(text.contains("notifications/cancelled"), "{text}");
}

/// H5: a modern server's changes over stdio, on the stream that it acknowledged.
#[tokio::test]
async fn changes_over_stdio() {
    let changed = |id: u64, method: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{method}\",\"params\":{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}},\"notifications\":{{\"toolsListChanged\":true}}}}}}"
        )
    };
    let server = Script::new()
        .expect("server/discover")
        .reply(r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"resultType":"complete"}"#)
        .expect("subscriptions/listen")
        // Before it is acknowledged, and of somebody else's stream, nothing counts.
        .line(&changed(2, "tools/list_changed"))
        .line(&changed(77, "subscriptions/acknowledged"))
        .line(&changed(2, "subscriptions/acknowledged"))
        .line(&changed(77, "tools/list_changed"))
        .expect("tools/list")
        .reply(LISTED)
        .expect("tools/call")
        .line(&changed(2, "tools/list_changed"))
        .line(&changed(2, "tools/list_changed"))
        .reply(RESULT)
        .expect("tools/call")
        .reply(RESULT)
        .server();
    let client = connect_as(&server, Protocol::Modern)
        .await
        .expect("connects");
    let early = tokio::time::timeout(Duration::from_millis(200), client.changed()).await;
    assert!(early.is_err(), "{early:?}");
    client.call("t", Arguments::none()).await.expect("answered");
    assert_eq!(client.changed().await, Some(Change::Tools));
    client.call("t", Arguments::none()).await.expect("answered");
    client.close().await.expect("closes");
    assert_eq!(client.changed().await, None);
}

/// O4: results that are not final, or no results, over stdio.
#[tokio::test]
async fn results_that_are_not_final() {
    for result in [
        r#"{"resultType":"REMOTE-MARKER","content":[]}"#,
        r#"{"resultType":7,"content":[]}"#,
        r#"{"resultType":"input_required"}"#,
        r#"{"resultType":"input_required","inputRequests":[],"requestState":"s"}"#,
        r#"{"resultType":"input_required","requestState":7}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"REMOTE-MARKER"}}}"#,
    ] {
        let server = discovered()
            .expect("tools/call")
            .reply(result)
            .expect("tools/call")
            .reply(RESULT)
            .server();
        let client = connect_as(&server, Protocol::Modern)
            .await
            .expect("connects");
        let call = client.call("t", Arguments::none());
        let error = call.await.expect_err(result);
        assert_eq!(verdict(&error).1, Outcome::NoResponse, "{result}: {error}");
        client.call("t", Arguments::none()).await.expect("goes on");
    }
}

/// S5: a modern server that dies is told with its exit, and with what it has of the calls.
#[tokio::test]
async fn a_modern_server_that_dies() {
    let server = discovered().expect("tools/call").exit(9).server();
    let client = connect_as(&server, Protocol::Modern)
        .await
        .expect("connects");
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("it died");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse)
    );
    assert!(error.message().contains("code 9"), "{error}");
    let legacy = Script::new()
        .serve(
            Serve::new()
                .tools(["t"])
                .calls(CallRule::Never)
                .until(Until::Listed),
        )
        .server();
    // S4: a legacy server that is pinned to be modern says what to write.
    let error = connect_as(&legacy, Protocol::Modern)
        .await
        .expect_err("legacy");
    assert!(error.message().contains("\"protocol\""), "{error}");
}
