//! Which pages are shown to anybody, and as what.

use seawall_proto::Json;
use serde_json::json;

use super::{Page, PageError};
use crate::inputs::limits::{MAX_MESSAGE_BYTES, MAX_URL_BYTES};

fn page(url: &str) -> Result<Page, PageError> {
    Page::parse(&Json::of(&json!({"mode": "url", "message": "why", "url": url})).unwrap())
}

#[test]
fn https_and_loopback_are_shown() {
    for url in [
        "https://mcp.example.com/ui/set_api_key?a=b#c",
        "http://127.0.0.1:8080/x",
        "http://localhost/",
        "http://[::1]:3000/",
    ] {
        let page = page(url).unwrap();
        assert_eq!(page.url().as_str(), url);
        assert_eq!(page.message(), "why");
        assert!(!page.is_punycode());
    }
    let page = page("https://EXAMPLE.com:8443/a").unwrap();
    assert_eq!(
        (page.host_ascii(), page.origin().as_str()),
        ("example.com", "https://example.com:8443")
    );
    assert_eq!(format!("{page:?}"), r#"Page("https://example.com:8443")"#);
}

#[test]
fn a_host_beyond_ascii_is_punycode() {
    let page = page("https://www.аpple.com/").unwrap();
    assert!(page.is_punycode());
    assert_eq!(page.host_ascii(), "www.xn--pple-43d.com");
    assert!(page.url().as_str().is_ascii());
}

#[test]
fn what_must_not_be_opened_is_refused() {
    for (url, expected) in [
        ("http://example.com/", PageError::Scheme),
        ("http://localhost.example.com/", PageError::Scheme),
        ("file:///etc/passwd", PageError::Scheme),
        ("javascript:alert(1)", PageError::Scheme),
        ("data:text/html,x", PageError::Scheme),
        ("vscode://x/y", PageError::Scheme),
        ("/relative", PageError::Address),
        ("https://", PageError::Address),
        ("", PageError::Address),
        ("https://bank.example@evil.example/", PageError::UserInfo),
        ("https://:p@evil.example/", PageError::UserInfo),
    ] {
        assert_eq!(page(url).unwrap_err(), expected, "{url}");
    }
    for params in [
        json!({}),
        json!([]),
        json!({"url": "https://a.example/"}),
        json!({"message": "m", "url": 1}),
    ] {
        assert_eq!(
            Page::parse(&Json::of(&params).unwrap()).unwrap_err(),
            PageError::Malformed
        );
    }
}

/// L6: what a server can size is bounded, also after it grew by its encoding.
#[test]
fn a_page_past_a_bound_is_refused() {
    let start = "https://a.example/";
    let long = |bytes: usize| format!("{start}{}", "x".repeat(bytes - start.len()));
    page(&long(MAX_URL_BYTES)).unwrap();
    assert_eq!(
        page(&long(MAX_URL_BYTES + 1)).unwrap_err(),
        PageError::TooLong
    );
    let grows = format!("{start}{}", "é".repeat(MAX_URL_BYTES / 4));
    assert_eq!(page(&grows).unwrap_err(), PageError::TooLong);
    let message = json!({"message": "m".repeat(MAX_MESSAGE_BYTES + 1), "url": start});
    assert_eq!(
        Page::parse(&Json::of(&message).unwrap()).unwrap_err(),
        PageError::TooLong
    );
}
