//! Who may speak to the endpoint.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;

use super::{Access, Front, modern, modern_headers, refused};

async fn status(front: &Front, host: Option<&str>, origin: Option<&str>) -> u16 {
    let mut request = Request::post("/mcp").header("content-type", "application/json");
    for (name, value) in modern_headers("tools/list") {
        request = request.header(name, value);
    }
    if let Some(host) = host {
        request = request.header("host", host);
    }
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    let request = request
        .body(Full::new(Bytes::from(modern("tools/list", ""))))
        .unwrap();
    front.endpoint.handle(request).await.status().as_u16()
}

/// A page's own name may lead to this machine (DNS rebinding).
#[tokio::test]
async fn only_loopback_names_are_answered() {
    let front = Front::new();
    for host in [
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1:8700",
        "127.9.9.9",
        "[::1]:80",
        "[::1]",
    ] {
        assert_eq!(status(&front, Some(host), None).await, 200, "{host}");
    }
    for host in [
        "evil.example.com",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "192.168.0.1",
        "localhost:x",
        "[::1",
        "::1",
        "",
        "localhost@evil.example",
        "[::2]",
    ] {
        assert_eq!(status(&front, Some(host), None).await, 403, "{host}");
    }
    assert_eq!(status(&front, None, None).await, 403);
}

#[tokio::test]
async fn only_pages_of_loopback_are_answered() {
    let front = Front::new();
    for origin in [
        "http://localhost:6274",
        "https://127.0.0.1",
        "http://[::1]:3000",
    ] {
        assert_eq!(
            status(&front, Some("localhost"), Some(origin)).await,
            200,
            "{origin}"
        );
    }
    for origin in [
        "http://evil.example.com",
        "null",
        "file://",
        "http://localhost.evil.example",
        "http://localhost:80/path",
        "http://user@localhost",
        "chrome-extension://x",
        "",
    ] {
        assert_eq!(
            status(&front, Some("localhost"), Some(origin)).await,
            403,
            "{origin}"
        );
    }
}

#[tokio::test]
async fn what_is_configured_is_answered_too() {
    let mut front = Front::new();
    let access = Access::loopback()
        .with_host("Gate.example")
        .with_origin("https://app.example");
    front.endpoint = super::Endpoint::new(
        std::sync::Arc::clone(&front.service),
        access,
        super::HttpLimits::default(),
    );
    let origin = Some("https://app.example");
    assert_eq!(status(&front, Some("gate.example:443"), origin).await, 200);
    assert_eq!(
        status(&front, Some("gate.example"), Some("https://app.example:1")).await,
        403
    );
    assert_eq!(status(&front, Some("other.example"), origin).await, 403);
}

#[tokio::test]
async fn a_page_that_asks_first_is_told_what_it_may() {
    let front = Front::new();
    let headers = [
        ("origin", "http://localhost:6274"),
        ("access-control-request-headers", "content-type,mcp-method"),
    ];
    let response = front.send("OPTIONS", &headers, "").await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    let allowed = &response.headers()["access-control-allow-headers"];
    assert_eq!(allowed, "content-type,mcp-method");
    assert_eq!(
        response.headers()["access-control-allow-origin"],
        "http://localhost:6274"
    );
    assert_eq!(front.send("OPTIONS", &[], "").await.status(), 405);
    let evil = [("origin", "http://evil.example")];
    let response = front.send("OPTIONS", &evil, "").await;
    assert!(
        !response
            .headers()
            .contains_key("access-control-allow-origin")
    );
    assert_eq!(refused(response).await, (403, -32600));
}

#[tokio::test]
async fn other_methods_and_other_bodies_are_refused() {
    let front = Front::new();
    for method in ["GET", "DELETE", "PUT", "PATCH"] {
        assert_eq!(front.send(method, &[], "").await.status(), 405, "{method}");
    }
    for kind in ["text/plain", "application/json-seq", ""] {
        let response = front.send("POST", &[("content-type", kind)], "{}").await;
        assert_eq!(response.status(), 415, "{kind}");
    }
    let kind = [("content-type", "Application/JSON; charset=utf-8")];
    assert_eq!(front.send("POST", &kind, "{}").await.status(), 400);
}
