//! Calls, from end to end.

use std::time::Duration;

use seawall::{Arguments, Client, ErrorCode, Outcome, Revision};
use seawall_testkit::{CallRule, Script, Serve, Server};

use super::*;

fn serving(serve: Serve) -> Server {
    Script::new().serve(serve).server()
}

/// S1, O5: the handshake, a call, its result byte for byte, unknown fields and blocks included.
#[tokio::test]
async fn a_result_passes_unchanged() {
    let result = r#"{"content":[{"type":"hologram","x":1.50,"big":12345678901234567890}],"later":{"b":1,"a":[ ]},"isError":false}"#;
    let server = serving(
        Serve::new()
            .tools(["t"])
            .calls(CallRule::Result(result.to_owned())),
    );
    let client = connected(&server).await;
    assert_eq!(client.session().revision, Revision::NEWEST_LEGACY);
    let answered = client.call("t", Arguments::none()).await.expect("a result");
    assert_eq!(answered.raw().as_str(), result);
    client.close().await.expect("closes");
}

/// S11, O5: a tool that failed is a result.
#[tokio::test]
async fn a_failed_tool_is_data() {
    let result = r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#;
    let server = serving(
        Serve::new()
            .tools(["t"])
            .calls(CallRule::Result(result.to_owned())),
    );
    let client = connected(&server).await;
    assert!(
        client
            .call("t", Arguments::none())
            .await
            .expect("a result")
            .is_error()
    );
}

/// L4, S10, F3: what can be refused here is refused before anything is sent, and the session goes on.
#[tokio::test]
async fn refusals_before_dispatch_send_nothing() {
    let client = connected(&serving(Serve::new().tools(["t"]))).await;
    let sent = || client.report().stats.frames_out;
    let before = sent();
    let unknown = client
        .call("nope", Arguments::none())
        .await
        .expect_err("unknown");
    assert_eq!(
        verdict(&unknown),
        (ErrorCode::ToolNotFound, Outcome::NotSent)
    );
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(127), "]".repeat(127));
    for arguments in ["[]", "7", "nonsense", "{\"a\":1e999}", &deep] {
        let refused = client
            .call("t", Arguments::text(arguments.to_owned()))
            .await
            .expect_err("refused");
        assert_eq!(
            verdict(&refused),
            (ErrorCode::ProtocolError, Outcome::NotSent),
            "{arguments}"
        );
    }
    let long = Arguments::text(format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20)));
    let refused = client.call("t", long).await.expect_err("too long");
    assert_eq!(
        verdict(&refused),
        (ErrorCode::ProtocolError, Outcome::NotSent)
    );
    let stale = format!("sha256:{}", "0".repeat(64))
        .parse()
        .expect("a digest");
    let refused = client
        .call("t", Arguments::none())
        .digest(stale)
        .await
        .expect_err("stale");
    assert_eq!(
        verdict(&refused),
        (ErrorCode::ToolNotFound, Outcome::NotSent)
    );
    assert_eq!(sent(), before);
    let current = client.flow("t").expect("published").digest();
    client
        .call("t", Arguments::none())
        .digest(current)
        .await
        .expect("answered");
    assert_eq!(sent(), before + 1);
}

/// O1, O2, O3: the server's refusals, by code and text; nothing of their text is public, the observer gets it.
#[tokio::test]
async fn remote_errors_become_codes() {
    for (error, expected) in [
        (
            r#"{"code":-32601,"message":"Unknown tool: REMOTE-MARKER"}"#,
            ErrorCode::ToolNotFound,
        ),
        (
            r#"{"code":-32602,"message":"Tool REMOTE-MARKER not found"}"#,
            ErrorCode::ToolNotFound,
        ),
        (
            r#"{"code":-32602,"message":"bad arguments REMOTE-MARKER"}"#,
            ErrorCode::ToolFailed,
        ),
        (
            r#"{"code":-32000,"message":"unknown tool REMOTE-MARKER","data":"REMOTE-MARKER"}"#,
            ErrorCode::ToolFailed,
        ),
    ] {
        let server = serving(
            Serve::new()
                .tools(["t"])
                .calls(CallRule::Error(error.to_owned())),
        );
        let (client, recorder) = observed(entry(&server)).await;
        let client = client.expect("connects");
        let failed = client
            .call("t", Arguments::none())
            .await
            .expect_err("refused");
        assert_eq!(
            verdict(&failed),
            (expected, Outcome::ErrorResponse),
            "{error}"
        );
        assert!(
            failed
                .json_rpc_code()
                .is_some_and(|code| failed.message().contains(&code.to_string()))
        );
        client.close().await.expect("closes");
        let told = recorder
            .seen()
            .into_iter()
            .any(|diagnostic| match diagnostic {
                Diagnostic::RemoteError { message, .. } => message.reveal().contains(MARKER),
                _ => false,
            });
        assert!(told);
    }
}

/// S11: structured output is checked, and what breaks the schema is `answered`, without value or path.
#[tokio::test]
async fn structured_output_is_checked() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}"#;
    let answering = |result: &str| {
        serving(
            Serve::new()
                .page([tool])
                .calls(CallRule::Result(result.to_owned())),
        )
    };
    let client = connected(&answering(r#"{"content":[],"structuredContent":{"n":1}}"#)).await;
    client.call("t", Arguments::none()).await.expect("valid");
    for result in [
        r#"{"content":[],"structuredContent":{"n":"REMOTE-MARKER"}}"#,
        r#"{"content":[],"structuredContent":null}"#,
        r#"{"structuredContent":false}"#,
        r#"{"content":{}}"#,
        r#"{"later":"REMOTE-MARKER"}"#,
        r#"{"content":[],"isError":"REMOTE-MARKER"}"#,
        r#"["REMOTE-MARKER"]"#,
    ] {
        let client = connected(&answering(result)).await;
        let error = client
            .call("t", Arguments::none())
            .await
            .expect_err("unusable");
        assert_eq!(
            verdict(&error),
            (ErrorCode::InvalidResponse, Outcome::Answered),
            "{result}"
        );
    }
}

/// S11: a schema that cannot be used refuses the call before it is sent.
#[tokio::test]
async fn an_unusable_output_schema_refuses_the_call() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"$ref":"https://example.invalid/REMOTE-MARKER"}}"#;
    let client = connected(&serving(Serve::new().page([tool]))).await;
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("unusable");
    assert_eq!(
        verdict(&error),
        (ErrorCode::InvalidResponse, Outcome::NotSent)
    );
}

/// K11, F1: the projection; an include that the catalog lacks fails the connect and leaves no process.
#[tokio::test]
async fn include_and_exclude_select_tools() {
    let server = serving(Serve::new().tools(["a", "b", "c"]));
    let config = entry(&server)
        .include(["a", "b"])
        .exclude(["b"])
        .name_prefix("p");
    let client = Client::connect(config.build().expect("valid"))
        .await
        .expect("connects");
    let names: Vec<_> = client
        .flows()
        .iter()
        .map(|flow| flow.name().to_owned())
        .collect();
    assert_eq!(names, ["p/a"]);
    client
        .call("p/a", Arguments::none())
        .await
        .expect("by its flow's name");
    let hidden = client
        .call("b", Arguments::none())
        .await
        .expect_err("excluded");
    assert_eq!(
        verdict(&hidden),
        (ErrorCode::ToolNotFound, Outcome::NotSent)
    );

    let missing = entry(&server).include(["a", "zzz"]).build().expect("valid");
    let error = Client::connect(missing).await.expect_err("lacks one");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ToolNotFound, Outcome::Answered)
    );
    assert!(error.message().contains("zzz"), "{error}");
}

/// S8, O2: a deadline behind dispatch is `no_response`; a thousand calls at once all end in their own results.
#[tokio::test]
async fn many_calls_in_flight_each_get_their_own_answer() {
    let client = connected(&serving(Serve::new().tools(["t"]))).await;
    let calls = (0..1000).map(|n| {
        let call = client.call("t", Arguments::text(format!("{{\"n\":{n}}}")));
        async move {
            let result = call.await.expect("answered");
            assert!(
                result.raw().as_str().contains(&format!("\\\"n\\\":{n}}}")),
                "{n}: {}",
                result.raw().as_str()
            );
        }
    });
    let mut all: Vec<_> = calls.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        all.retain_mut(|call| call.as_mut().poll(context).is_pending());
        if all.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    assert_eq!(client.report().buffered_bytes, 0);
}

/// T1, S8: dropping calls and the client together leaves nothing waiting.
#[tokio::test]
async fn a_deadline_after_dispatch_is_no_response() {
    let client = connected(&serving(Serve::new().tools(["t"]).calls(CallRule::Never))).await;
    let call = client
        .call("t", Arguments::none())
        .timeout(Duration::from_millis(50));
    let error = call.await.expect_err("times out");
    assert_eq!(verdict(&error), (ErrorCode::Timeout, Outcome::NoResponse));
    assert!(
        error.message().contains("verify state before retrying"),
        "{error}"
    );
}
