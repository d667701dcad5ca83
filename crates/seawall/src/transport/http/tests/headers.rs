//! Header values, and the headers of a post.

use super::super::encode_header_value;
use super::*;

/// T2: the examples of the specification, and the edges of the rule.
#[test]
fn values_are_encoded_by_the_sentinel_rule() {
    for (text, value) in [
        ("us-west1", "us-west1"),
        ("a b\tc", "a b\tc"),
        ("", ""),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("tab\t", "=?base64?dGFiCQ==?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("=?base64?open", "=?base64?open"),
        ("=?BASE64?x?=", "=?BASE64?x?="),
        ("\u{7f}", "=?base64?fw==?="),
    ] {
        assert_eq!(encode_header_value(text), value, "{text:?}");
    }
}

/// T2: a modern post carries the revision, both types, its own headers, the configured ones, and its length.
#[tokio::test]
async fn modern_post_carries_its_headers() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::json(200, REPLY)]);
    let mut config = modern(&peer.url("/mcp?x=1"));
    config
        .headers
        .insert("x-team", HeaderValue::from_static("blue"));
    config
        .headers
        .insert("accept", HeaderValue::from_static("text/plain"));
    let mut http = StreamableHttp::new(config);
    http.post(Post {
        headers: vec![
            (
                HeaderName::from_static("mcp-method"),
                HeaderValue::from_static("tools/call"),
            ),
            (
                HeaderName::from_static("mcp-name"),
                encode_header_value("é"),
            ),
        ],
        ..post(1, PostKind::Request)
    });
    assert_eq!(outcome(&mut http, 1).await, ended(&[(200, REPLY)], OK));
    let request = &peer.requests()[0];
    assert_eq!(
        (request.method.as_str(), request.target.as_str()),
        ("POST", "/mcp?x=1")
    );
    for (name, value) in [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "=?base64?w6k=?="),
        ("x-team", "blue"),
        ("content-length", "37"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    assert_eq!(request.header("mcp-session-id"), None);
    assert_eq!(request.header("transfer-encoding"), None);
    assert_eq!(request.body, post(1, PostKind::Request).body);
}

/// T3: a legacy handshake carries no revision; from 2025-06-18 on everything after it does, before that nothing.
#[tokio::test]
async fn legacy_revision_is_told_once_negotiated() {
    for (revision, header) in [
        (Revision::V2025_03_26, None),
        (Revision::V2025_06_18, Some("2025-06-18")),
        (Revision::V2025_11_25, Some("2025-11-25")),
    ] {
        let peer = HttpPeer::start(|_, request| match request.method.as_str() {
            "GET" => vec![HttpAct::answer(405, &[], "")],
            _ => vec![HttpAct::json(200, REPLY)],
        });
        let mut http = StreamableHttp::new(config(&peer.url("/")));
        http.post(post(1, PostKind::Initialize));
        outcome(&mut http, 1).await;
        http.negotiated(revision);
        http.post(post(2, PostKind::Notification));
        outcome(&mut http, 2).await;
        nothing(&mut http, Duration::from_millis(200)).await;
        let seen: Vec<_> = peer
            .requests()
            .iter()
            .map(|request| {
                let version = request.header("mcp-protocol-version").map(str::to_owned);
                (request.method.clone(), version)
            })
            .collect();
        let header = header.map(str::to_owned);
        let expected = [
            ("POST".to_owned(), None),
            ("POST".to_owned(), header.clone()),
            ("GET".to_owned(), header),
        ];
        assert_eq!(seen, expected);
    }
}
