use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use seawall::config::{Source, check};
use seawall::host::ServerState;
use seawall::{Host, HttpClient};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::*;
use crate::clients::Guard;
use crate::http::{Access, Body, Endpoint, HttpLimits};
use crate::{Gateway, Options};

fn endpoint() -> (Arc<Gateway>, Endpoint<Gateway>) {
    let host = Host::builder().build();
    let gateway = Arc::new(Gateway::new(host, Options::default()));
    let endpoint = Endpoint::new(
        Arc::clone(&gateway),
        Access::loopback(),
        HttpLimits::default(),
    );
    let site = Site::new(Arc::clone(&gateway));
    (gateway, endpoint.beside(Arc::new(site)))
}

async fn ask(endpoint: &Endpoint<Gateway>, method: Method, path: &str) -> Response<Body> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "127.0.0.1:8700");
    let request = request.body(Full::new(Bytes::new())).unwrap();
    endpoint.handle(request).await
}

async fn text_of(response: Response<Body>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn get(endpoint: &Endpoint<Gateway>, path: &str) -> (u16, String, String) {
    let response = ask(endpoint, Method::GET, path).await;
    let status = response.status().as_u16();
    let kind = response.headers()["content-type"].to_str().unwrap();
    let kind = kind.to_owned();
    (status, kind, text_of(response).await)
}

/// G3: each path is what it is, and any other is not found.
#[tokio::test]
async fn paths() {
    let (gateway, endpoint) = endpoint();
    gateway.started();
    let kinds = [
        ("/", 200, "text/html; charset=utf-8"),
        ("/status.json", 200, "application/json"),
        (
            "/metrics",
            200,
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        ),
        ("/healthz", 200, "text/plain; charset=utf-8"),
        ("/readyz", 200, "application/json"),
        ("/favicon.ico", 404, "text/plain; charset=utf-8"),
        ("/mcp/x", 404, "text/plain; charset=utf-8"),
        ("//", 404, "text/plain; charset=utf-8"),
        ("/status.json/..", 404, "text/plain; charset=utf-8"),
    ];
    for (path, status, kind) in kinds {
        let (found, found_kind, _) = get(&endpoint, path).await;
        assert_eq!((found, found_kind.as_str()), (status, kind), "{path}");
    }
    // The endpoint itself: a GET without a session.
    for path in ["/mcp", "/mcp/", "/mcp?x=1"] {
        let response = ask(&endpoint, Method::GET, path).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert_eq!(response.headers()["allow"], "GET, POST, DELETE");
    }
}

/// G3: pages are read only; a HEAD tells how long the page is and has none.
#[tokio::test]
async fn pages_are_read_only() {
    let (_, endpoint) = endpoint();
    for path in ["/", "/status.json", "/metrics", "/healthz", "/readyz"] {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            let response = ask(&endpoint, method, path).await;
            assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
            assert_eq!(response.headers()["allow"], "GET, HEAD");
        }
    }
    let head = ask(&endpoint, Method::HEAD, "/").await;
    let length = INDEX.len().to_string();
    assert_eq!(head.headers()["content-length"], length.as_str());
    assert_eq!(text_of(head).await, "");
}

/// G3: pages of other sites, also under names of their own that lead here, get none of them.
#[tokio::test]
async fn other_hosts_and_origins_see_nothing() {
    let (_, endpoint) = endpoint();
    for path in [
        "/",
        "/status.json",
        "/metrics",
        "/healthz",
        "/readyz",
        "/no",
    ] {
        for (host, origin) in [
            ("evil.example", None),
            ("127.0.0.1:8700", Some("https://evil.example")),
            ("127.0.0.1:8700", Some("null")),
        ] {
            let mut request = Request::builder().uri(path).header("host", host);
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            let request = request.body(Full::new(Bytes::new())).unwrap();
            let response = endpoint.handle(request).await;
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{path} {host}");
        }
    }
}

/// G3: every page forbids whatever it does not need: scripts, frames, other origins, guesses at its type, a cache.
#[tokio::test]
async fn pages_are_locked_down() {
    let (_, endpoint) = endpoint();
    for path in [
        "/",
        "/status.json",
        "/metrics",
        "/healthz",
        "/readyz",
        "/no",
    ] {
        let response = ask(&endpoint, Method::GET, path).await;
        let headers = response.headers();
        let is = |name: &str, value: &str| assert_eq!(headers[name], value, "{path}");
        is("cache-control", "no-store");
        is("x-content-type-options", "nosniff");
        is("x-frame-options", "DENY");
        is("referrer-policy", "no-referrer");
        is("cross-origin-resource-policy", "same-origin");
        assert!(!headers.contains_key("access-control-allow-origin"));
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}

/// G3: the policy of the page allows the very style and the very script that are in it, and there is nothing else to allow.
#[tokio::test]
async fn policy_is_of_what_is_in_the_page() {
    let (_, endpoint) = endpoint();
    let response = ask(&endpoint, Method::GET, "/").await;
    let policy = response.headers()["content-security-policy"].clone();
    let page = text_of(response).await;
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
        let begin = format!("<{tag}>");
        let parts: Vec<&str> = page.split(&begin).collect();
        assert_eq!(parts.len(), 2, "one {tag}");
        let inside = parts[1].split(&format!("</{tag}>")).next().unwrap();
        let hash = STANDARD.encode(Sha256::digest(inside));
        let allowed = format!("{directive} 'sha256-{hash}';");
        assert!(policy.to_str().unwrap().contains(&allowed), "{allowed}");
    }
    let html = page.split("<script>").next().unwrap();
    for outside in [
        " style=", " onload", " onclick", "http:", "//", "src=", "@import", "url(",
    ] {
        assert!(!html.contains(outside), "{outside}");
    }
}

/// G3: nothing of what the script shows becomes markup.
#[test]
fn script_makes_no_markup() {
    let script = include_str!("page.js");
    for way in [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval",
        "Function(",
        "href",
        "DOMParser",
        "srcdoc",
    ] {
        assert!(!script.contains(way), "{way}");
    }
}

/// G3: it is ready once the first connects are through, and not once it ends; what is not is named.
#[tokio::test]
async fn readiness() {
    let (gateway, endpoint) = endpoint();
    let ready = async || {
        let (status, _, text) = get(&endpoint, "/readyz").await;
        (status, serde_json::from_str::<Value>(&text).unwrap())
    };
    let starting = json!({"ready": false, "why": "starting"});
    assert_eq!(ready().await, (503, starting));
    assert_eq!(get(&endpoint, "/healthz").await.2, "ok\n");
    gateway.started();
    assert_eq!(ready().await, (200, json!({"ready": true})));
    gateway.drain(std::time::Duration::ZERO).await;
    let ending = json!({"ready": false, "why": "ending"});
    assert_eq!(ready().await, (503, ending));
    assert_eq!(get(&endpoint, "/healthz").await.0, 200);
}

/// G3: a stranger learns whether it is ready, and nothing else.
#[test]
fn strangers_learn_no_names() {
    let lacking = || Readiness::Lacking(vec![("a".to_owned(), ServerState::Down)]);
    let page = ready(lacking(), Viewer::Stranger);
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(&*page.body, b"{\"ready\":false}\n");
    let page = ready(lacking(), Viewer::Known);
    let told: Value = serde_json::from_slice(&page.body).unwrap();
    let why = "required servers are not up";
    let servers = json!([{"server": "a", "state": "down"}]);
    assert_eq!(
        told,
        json!({"ready": false, "why": why, "servers": servers})
    );
    let (gateway, _) = endpoint();
    let site = Site::new(gateway);
    let open = [
        "/",
        "/status.json",
        "/metrics",
        "/healthz",
        "/readyz",
        "/no",
    ];
    let open: Vec<&str> = open.into_iter().filter(|path| site.is_open(path)).collect();
    assert_eq!(open, ["/healthz", "/readyz"]);
}

/// G3, F4: where somebody asks, pages are for clients that may see everything, by either proof; what is open is for all, and
/// tells them no names.
#[tokio::test]
async fn pages_are_for_who_may_see_everything() {
    let digest = |token: &str| {
        let digest = Sha256::digest(token);
        digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let (all, few) = ("all-all-all-all-all", "few-few-few-few-few");
    let section = json!({"clients": {
        "all": {"tokenSha256": digest(all)},
        "few": {"tokenSha256": digest(few), "include": ["a"]},
    }});
    let text = json!({"mcpServers": {"a": {"command": "a"}}, "gateway": section}).to_string();
    let checked = check(&Source::new(&text));
    assert_eq!(checked.problems, []);
    let guard = Guard::of(&checked.gateway, HttpClient::new().unwrap()).unwrap();
    let (_, endpoint) = endpoint();
    let endpoint = endpoint.guarded(Arc::new(guard));
    let basic = format!("Basic {}", STANDARD.encode(format!("any:{all}")));
    let (all, few) = (format!("Bearer {all}"), format!("Bearer {few}"));
    let cases = [
        (None, 401, false),
        (Some("Bearer wrong-wrong-wrong-wrong"), 401, false),
        (Some(few.as_str()), 403, false),
        (Some(all.as_str()), 200, true),
        (Some(basic.as_str()), 200, true),
    ];
    for (said, status, is_known) in cases {
        let get = async |path: &str| {
            let mut request = Request::builder().uri(path).header("host", "localhost");
            if let Some(said) = said {
                request = request.header("authorization", said);
            }
            let request = request.body(Full::new(Bytes::new())).unwrap();
            endpoint.handle(request).await
        };
        for path in ["/", "/status.json", "/metrics"] {
            let response = get(path).await;
            assert_eq!(response.status(), status, "{said:?} {path}");
            if status == 401 {
                let told = response.headers().get_all("www-authenticate");
                assert!(
                    told.iter()
                        .any(|one| one.to_str().unwrap().starts_with("Basic "))
                );
            }
        }
        let missing = if status == 200 { 404 } else { status };
        assert_eq!(get("/no").await.status(), missing);
        assert_eq!(get("/healthz").await.status(), 200);
        let ready = get("/readyz").await;
        assert_eq!(ready.status(), 503);
        assert_eq!(text_of(ready).await.contains("why"), is_known, "{said:?}");
    }
}
