//! Calls, from end to end.

use std::time::Duration;

use seawall::config::ServerConfig;
use seawall::{Arguments, Client, ErrorCode, Outcome};
use seawall_testkit::{CallRule, Script, Serve, Server, is_alive, wait_until};

pub(crate) fn config(server: &Server) -> ServerConfig {
    ServerConfig::stdio("test", server.program_str())
        .args(server.args.iter().cloned())
        .build()
        .expect("a valid entry")
}

async fn plain() -> Client {
    Client::connect(config(&Script::plain().server()))
        .await
        .expect("connects")
}

/// S1, O5: the handshake, a call, its result byte for byte.
#[tokio::test]
async fn a_call_is_answered() {
    let client = plain().await;
    assert_eq!(client.session().revision.as_str(), "2025-11-25");
    let result = client
        .call("echo", Arguments::text(r#"{"text":"hi"}"#))
        .await
        .expect("a result");
    assert!(!result.is_error());
    assert!(result.raw().as_str().contains("hi"));
    client.close().await.expect("closes");
}

/// T1: close leaves no process; Drop leaves none either.
#[tokio::test]
async fn close_and_drop_leave_no_process() {
    let client = plain().await;
    let pid = client.report().pid.expect("a child");
    assert!(is_alive(pid));
    client.close().await.expect("closes");
    assert!(!is_alive(pid));
    let error = client
        .call("echo", Arguments::none())
        .await
        .expect_err("closed");
    assert_eq!(
        (error.code(), error.outcome()),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );

    let client = plain().await;
    let pid = client.report().pid.expect("a child");
    drop(client);
    assert!(wait_until(Duration::from_secs(2), || !is_alive(pid)));
}

/// S8, O2: a deadline behind dispatch is `no_response`.
#[tokio::test]
async fn a_deadline_after_dispatch_is_no_response() {
    let server = Script::new()
        .serve(Serve::new().tools(["hang"]).calls(CallRule::Never))
        .server();
    let client = Client::connect(config(&server)).await.expect("connects");
    let error = client
        .call("hang", Arguments::none())
        .timeout(Duration::from_millis(50))
        .await
        .expect_err("times out");
    assert_eq!(
        (error.code(), error.outcome()),
        (ErrorCode::Timeout, Outcome::NoResponse)
    );
    client.close().await.expect("closes");
}
