//! Redirects.

use super::*;
use crate::web::{Elsewhere, redirected};

fn to(status: u16, location: &str) -> Vec<HttpAct> {
    vec![HttpAct::answer(
        status,
        &[&format!("location: {location}")],
        "",
    )]
}

/// T4: within the origin a redirect is followed with method, body and headers kept, whatever its status.
#[tokio::test]
async fn redirect_within_the_origin_keeps_everything() {
    for code in [301, 302, 303, 307, 308] {
        let peer = HttpPeer::start(move |before, _| match before {
            0 => to(code, "/other?y#f"),
            _ => vec![HttpAct::json(200, REPLY)],
        });
        let mut config = modern(&peer.url("/mcp"));
        config
            .headers
            .insert("x-key", HeaderValue::from_static("k"));
        let mut http = StreamableHttp::new(config);
        http.post(post(1, PostKind::Request));
        assert_eq!(outcome(&mut http, 1).await, ended(&[(200, REPLY)], OK));
        let requests = peer.requests();
        assert_eq!(requests[1].method, "POST");
        assert_eq!(requests[1].target, "/other?y");
        assert_eq!(requests[1].body, requests[0].body);
        assert_eq!(requests[1].header("x-key"), Some("k"));
    }
}

/// T4: three redirects are followed, a fourth is not; a loop ends there.
#[tokio::test]
async fn redirect_loop_ends_after_three() {
    let peer = HttpPeer::start(|_, _| to(307, "/mcp"));
    let mut http = StreamableHttp::new(modern(&peer.url("/mcp")));
    http.post(post(1, PostKind::Request));
    let end = End::Redirect { origin: None };
    assert_eq!(outcome(&mut http, 1).await, ended(&[], end));
    assert_eq!(peer.requests().len(), 4);

    let peer = HttpPeer::start(|before, _| match before {
        0..3 => to(307, "/mcp"),
        _ => vec![HttpAct::json(200, REPLY)],
    });
    let mut http = StreamableHttp::new(modern(&peer.url("/mcp")));
    http.post(post(1, PostKind::Request));
    assert_eq!(outcome(&mut http, 1).await, ended(&[(200, REPLY)], OK));
}

/// T4: to another origin, another port or scheme included, nothing goes; the origin is named, without its path.
#[tokio::test]
async fn redirect_to_another_origin_is_refused() {
    let other = HttpPeer::start(|_, _| vec![HttpAct::json(200, REPLY)]);
    let origin = format!("http://{}", other.address());
    for (location, origin) in [
        (other.url("/secret?token=1"), Some(origin)),
        (
            "//elsewhere.invalid/x".to_owned(),
            Some("http://elsewhere.invalid".to_owned()),
        ),
        (
            "https://127.0.0.1/".to_owned(),
            Some("https://127.0.0.1".to_owned()),
        ),
        ("http://[".to_owned(), None),
        ("data:text/plain,x".to_owned(), None),
    ] {
        let acts = to(307, &location);
        assert_eq!(
            one(acts).await,
            ended(&[], End::Redirect { origin }),
            "{location}"
        );
    }
    assert_eq!(
        one(vec![HttpAct::answer(302, &[], "")]).await,
        ended(&[], End::Redirect { origin: None })
    );
    assert_eq!(other.requests().len(), 0);
}

/// O1: a host that a server points to is said back only as far as a name may be long.
#[test]
fn redirect_says_no_endless_origin() {
    let from = "https://example.com/mcp".parse().unwrap();
    let origin_of = |host: &str| {
        let mut headers = HeaderMap::new();
        let location = format!("https://{host}:1/mcp");
        headers.insert("location", HeaderValue::from_str(&location).unwrap());
        redirected(&from, &headers).unwrap_err().origin.unwrap()
    };
    let label = "a".repeat(61);
    let longest = format!("{label}.{label}.{label}.{label}.aaaaa");
    assert_eq!(longest.len(), 253);
    assert_eq!(origin_of(&longest), format!("https://{longest}:1"));
    for past in [format!("a{longest}"), "a".repeat(60_000)] {
        assert_eq!(origin_of(&past), "https://(a name that is too long)");
    }
}

/// T4: from https to http is another origin.
#[test]
fn redirect_to_cleartext_is_refused() {
    let from = "https://example.com/mcp".parse().unwrap();
    let mut headers = HeaderMap::new();
    headers.insert(
        "location",
        HeaderValue::from_static("http://example.com/mcp"),
    );
    let elsewhere = Elsewhere {
        origin: Some("http://example.com".to_owned()),
    };
    assert_eq!(redirected(&from, &headers), Err(elsewhere));
}

/// T4: credentials that a server writes into its own address are not sent.
#[tokio::test]
async fn credentials_in_a_location_are_dropped() {
    let peer = HttpPeer::start(|before, request| match before {
        0 => to(
            307,
            &format!("http://u:p@{}/x", request.header("host").unwrap()),
        ),
        _ => vec![HttpAct::json(200, REPLY)],
    });
    let mut http = StreamableHttp::new(modern(&peer.url("/mcp")));
    http.post(post(1, PostKind::Request));
    assert_eq!(outcome(&mut http, 1).await, ended(&[(200, REPLY)], OK));
    assert_eq!(peer.requests()[1].header("authorization"), None);
}
