//! 2026-07-28: each request by itself.

use std::time::Duration;

use super::{Front, answer, event, json_of, modern, modern_headers, plain, refused, text_of};

type Headers<'a> = &'a [(&'a str, &'a str)];

/// G2: the result is the service's, byte for byte.
#[tokio::test]
async fn an_answer_that_is_there_is_one_json_text() {
    let front = Front::new();
    let response = front.modern("tools/list").await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/json");
    assert!(!response.headers().contains_key("mcp-session-id"));
    assert_eq!(text_of(response).await, answer(1));
}

#[tokio::test]
async fn discovery_is_answered() {
    let front = Front::new();
    let said = json_of(front.modern("server/discover").await).await;
    assert_eq!(
        said["result"]["supportedVersions"],
        serde_json::json!(["2026-07-28"])
    );
    assert_eq!(
        said["result"]["capabilities"],
        serde_json::json!({"tools": {}})
    );
}

#[tokio::test]
async fn an_error_has_its_status() {
    let front = Front::new();
    for (method, status, code) in [
        ("unknown/method", 404, -32601),
        ("ping", 404, -32601),
        ("initialize", 404, -32601),
        ("test/needs", 400, -32021),
        ("test/ask", 200, 7),
    ] {
        assert_eq!(
            refused(front.modern(method).await).await,
            (status, code),
            "{method}"
        );
    }
    let old = modern("tools/list", "").replace("2026-07-28", "2027-01-01");
    let headers = [
        ("mcp-protocol-version", "2027-01-01"),
        ("mcp-method", "tools/list"),
    ];
    assert_eq!(
        refused(front.post(&headers, &old).await).await,
        (400, -32022)
    );
    let bare = refused(
        front
            .post(&modern_headers("tools/list"), &plain(1, "tools/list"))
            .await,
    );
    assert_eq!(bare.await, (400, -32602));
}

#[tokio::test]
async fn what_is_no_request_is_refused_or_accepted_without_an_answer() {
    let front = Front::new();
    let headers = modern_headers("x");
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let response = front.post(&headers, notification).await;
    assert_eq!(response.status(), 202);
    assert_eq!(text_of(response).await, "");
    let batch = format!("[{}]", modern("tools/list", ""));
    for body in [
        "{",
        "3",
        "[]",
        &batch,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        assert_eq!(
            refused(front.post(&headers, body).await).await,
            (400, -32600),
            "{body}"
        );
    }
}

/// T2 from the other side: headers and body say the same.
#[tokio::test]
async fn headers_that_do_not_match_are_refused() {
    let front = Front::new();
    let version = ("mcp-protocol-version", "2026-07-28");
    let call = ("mcp-method", "tools/call");
    let body = modern("tools/call", r#","name":"héllo""#);
    let encoded = ("mcp-name", "=?base64?aMOpbGxv?=");
    let wrong: [&[(&str, &str)]; 9] = [
        &[call, encoded],
        &[version, encoded],
        &[version, call],
        &[version, call, ("mcp-name", "hello")],
        &[version, call, ("mcp-name", "=?base64?aMOpbGxv")],
        &[version, call, ("mcp-name", "=?base64?aMOpbGx?=")],
        &[version, ("mcp-method", "TOOLS/CALL"), encoded],
        &[("mcp-protocol-version", "2025-11-25"), call, encoded],
        &[version, call, call, encoded],
    ];
    for headers in wrong {
        let response = front.post(headers, &body).await;
        assert_eq!(refused(response).await, (400, -32020), "{headers:?}");
    }
    let response = front.post(&[version, call, encoded], &body).await;
    assert_eq!(text_of(response).await, answer(1));
    let padded = [version, call, ("mcp-name", " \t plain  ")];
    let body = modern("tools/call", r#","name":"plain""#);
    assert_eq!(front.post(&padded, &body).await.status(), 200);
}

/// T2 from the other side: arguments that a tool mirrors.
#[tokio::test]
async fn mirrored_arguments_are_compared() {
    let front = Front::new();
    let base = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "mirrored"),
    ];
    let region = ("mcp-param-region", "eu");
    let cases: [(&str, Headers<'_>, bool); 9] = [
        (r#"{"r":"eu"}"#, &[region], true),
        (
            r#"{"r":"eu"}"#,
            &[("mcp-param-region", "=?base64?ZXU=?=")],
            true,
        ),
        (r#"{"r":"eu"}"#, &[("mcp-param-region", "us")], false),
        (r#"{"r":"eu"}"#, &[], false),
        (r#"{"r":null}"#, &[], true),
        ("{}", &[region], false),
        ("{}", &[("mcp-param-other", "x")], true),
        (r#"{"n":42}"#, &[("mcp-param-limit", "42.0")], true),
        (r#"{"n":42}"#, &[("mcp-param-limit", "43")], false),
    ];
    for (arguments, more, well) in cases {
        let body = modern(
            "tools/call",
            &format!(r#","name":"mirrored","arguments":{arguments}"#),
        );
        let response = front.post(&[&base, more].concat(), &body).await;
        if well {
            assert_eq!(response.status(), 200, "{arguments} {more:?}");
        } else {
            assert_eq!(
                refused(response).await,
                (400, -32020),
                "{arguments} {more:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_told_before_the_answer_makes_a_stream() {
    let front = Front::new();
    let response = front.modern("test/tell").await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let mut body = response.into_body();
    let told = |n: u32| {
        format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{n}}}\n\n"
        )
    };
    assert_eq!(event(&mut body).await, Some(told(1)));
    assert_eq!(event(&mut body).await, Some(told(2)));
    assert_eq!(
        event(&mut body).await,
        Some(format!("data: {}\n\n", answer(1)))
    );
    assert_eq!(event(&mut body).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_says_that_it_is_there() {
    let front = Front::new();
    let mut body = front.modern("test/never").await.into_body();
    for _ in 0..3 {
        assert_eq!(event(&mut body).await.as_deref(), Some(":\n\n"));
    }
}

/// G2, and 2026-07-28, `basic/patterns/cancellation`: who hangs up cancels.
#[tokio::test(start_paused = true)]
async fn hanging_up_drops_the_request() {
    let front = Front::new();
    let response = front.modern("test/never").await;
    assert_eq!(front.service.running(), 1);
    drop(response);
    assert_eq!(front.service.running(), 0);
    let early = tokio::time::timeout(Duration::from_millis(10), front.modern("test/never"));
    assert!(early.await.is_err(), "no head was sent yet");
    assert_eq!(front.service.running(), 0);
}

/// L6: who does not read holds up who tells.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_told_little() {
    let front = Front::new();
    let mut body = front.modern("test/flood").await.into_body();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(front.service.running(), 1);
    let mut events = 0;
    while event(&mut body).await.is_some() {
        events += 1;
    }
    assert_eq!(events, 1_001);
    assert_eq!(front.service.running(), 0);
}
