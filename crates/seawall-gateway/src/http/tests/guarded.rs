//! Who comes, where somebody asks.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use seawall::HttpClient;
use seawall::config::{Source, check};
use serde_json::json;

use super::{Front, event, json_of, modern, modern_headers, plain, text_of};
use crate::clients::Guard;
use crate::http::{Page, Pages, Viewer};

const LAPTOP: &str = "laptop-laptop-laptop";
const BUILD: &str = "build-build-build-build";
const NARROW: &str = "narrow-narrow-narrow";

fn digest(token: &str) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(token.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn guarded(auth: &serde_json::Value) -> Front {
    let mut section = json!({"clients": {
        "laptop": {"tokenSha256": digest(LAPTOP)},
        "build": {"tokenSha256": digest(BUILD)},
        "narrow": {"tokenSha256": digest(NARROW), "envelope": ["fs:read:**"]},
    }});
    if !auth.is_null() {
        section["auth"] = auth.clone();
        section["clients"]["people"] = json!({"claims": {}});
    }
    let text = json!({"mcpServers": {}, "gateway": section}).to_string();
    let checked = check(&Source::new(&text));
    assert_eq!(checked.problems, []);
    let guard = Guard::of(&checked.gateway, HttpClient::new().unwrap()).unwrap();
    let Front { service, endpoint } = Front::new();
    let endpoint = endpoint.guarded(Arc::new(guard));
    Front { service, endpoint }
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// G3: without a token of its own nobody comes, on any revision, and nothing is told of what there is.
#[tokio::test]
async fn whoever_proves_nothing_is_nobody() {
    let front = guarded(&json!(null));
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
    let list = modern("tools/list", "");
    for said in [
        None,
        Some("Bearer"),
        Some("Bearer "),
        Some("Bearer wrong-wrong-wrong-wrong"),
        Some("Basic eDpsYXB0b3AtbGFwdG9wLWxhcHRvcA=="),
        Some(LAPTOP),
        Some("Bearer laptop-laptop-laptop, build-build-build-build"),
    ] {
        let mut headers = modern_headers("tools/list");
        headers.extend(said.map(|said| ("authorization", said)));
        let response = front.post(&headers, &list).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{said:?}");
        let challenge = response.headers()["www-authenticate"].to_str().unwrap();
        match said {
            None => assert_eq!(challenge, "Bearer"),
            Some(_) => assert_eq!(challenge, "Bearer error=\"invalid_token\""),
        }
        let mut headers = Vec::new();
        headers.extend(said.map(|said| ("authorization", said)));
        let response = front.post(&headers, initialize).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        for method in ["GET", "DELETE", "OPTIONS", "PUT"] {
            let response = front.send(method, &headers, "").await;
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{method}");
        }
    }
    // Two of them are none.
    let (one, other) = (bearer(LAPTOP), bearer(BUILD));
    let headers = [("authorization", one.as_str()), ("authorization", &other)];
    let response = front.post(&headers, initialize).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(front.service.running(), 0);
    let mut headers = modern_headers("tools/list");
    headers.push(("authorization", &one));
    assert_eq!(front.post(&headers, &list).await.status(), StatusCode::OK);
    assert_eq!(front.service.clients(), ["laptop"]);
}

/// G3: a page asks before it sends, without what it will send; and may read what it is asked for.
#[tokio::test]
async fn a_page_may_ask_first() {
    let front = guarded(&json!(null));
    let origin = ("origin", "http://localhost:6274");
    let response = front.send("OPTIONS", &[origin], "").await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    let response = front.post(&[origin], "{}").await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    let exposed = &response.headers()["access-control-expose-headers"];
    assert!(exposed.to_str().unwrap().contains("WWW-Authenticate"));
}

/// F4, G3: a session is of the client that opened it; to another it does not exist, whatever it does.
#[tokio::test]
async fn a_session_is_its_clients() {
    let front = guarded(&json!(null));
    let (laptop, build) = (bearer(LAPTOP), bearer(BUILD));
    let id = front.session_of("2025-11-25", Some(&laptop)).await;
    let of = |said: &str, method: &str, body: &str, id: &str| {
        let headers = [
            ("content-type".to_owned(), "application/json".to_owned()),
            ("mcp-session-id".to_owned(), id.to_owned()),
            ("authorization".to_owned(), said.to_owned()),
        ];
        (headers, method.to_owned(), body.to_owned())
    };
    let send = async |(headers, method, body): ([(String, String); 3], String, String)| {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(a, b)| (&**a, &**b)).collect();
        front.send(&method, &headers, &body).await
    };
    for (method, body) in [
        ("POST", plain(1, "tools/list")),
        ("GET", String::new()),
        ("DELETE", String::new()),
    ] {
        let others = send(of(&build, method, &body, &id)).await;
        let status = others.status();
        let none = send(of(&build, method, &body, &"0".repeat(32))).await;
        assert_eq!(
            (status, none.status()),
            (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND)
        );
        assert_eq!(json_of(others).await, json_of(none).await, "{method}");
    }
    let own = send(of(&laptop, "POST", &plain(1, "tools/list"), &id)).await;
    assert_eq!(own.status(), StatusCode::OK);
    let mut stream = send(of(&laptop, "GET", "", &id)).await.into_body();
    front
        .service
        .session()
        .notify("notifications/x", None)
        .unwrap();
    assert!(
        event(&mut stream)
            .await
            .unwrap()
            .contains("notifications/x")
    );
    let ended = send(of(&laptop, "DELETE", "", &id)).await;
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
}

/// G3: the metadata of the protected resource is there for everybody (RFC 9728), and a refusal says where.
#[tokio::test]
async fn the_metadata_says_who_issues_tokens() {
    let auth = json!({
        "issuer": "https://127.0.0.1:9/",
        "audience": "https://gate.example/mcp",
        "scopes": ["use", "more"],
    });
    let front = guarded(&auth);
    let refused = front.post(&[], "{}").await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(
        refused.headers()["www-authenticate"],
        "Bearer resource_metadata=\"https://gate.example/.well-known/oauth-protected-resource/mcp\", scope=\"use more\""
    );
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ] {
        let response = front.at("GET", path).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(
            json_of(response).await,
            json!({
                "resource": "https://gate.example/mcp",
                "authorization_servers": ["https://127.0.0.1:9/"],
                "bearer_methods_supported": ["header"],
                "resource_name": "Seawall",
                "scopes_supported": ["use", "more"],
            })
        );
    }
    let other = front
        .at("GET", "/.well-known/oauth-protected-resource/other")
        .await;
    assert_eq!(other.status(), StatusCode::UNAUTHORIZED);
    let posted = front
        .at("POST", "/.well-known/oauth-protected-resource")
        .await;
    assert_eq!(posted.status(), StatusCode::UNAUTHORIZED);
}

/// Pages that say who looks.
struct Looks;

impl Pages for Looks {
    fn page(&self, path: &str, viewer: Viewer) -> Option<Page> {
        let text = format!("{viewer:?}");
        matches!(path, "/" | "/readyz").then(|| Page::new(StatusCode::OK, "text/plain", text))
    }

    fn is_open(&self, path: &str) -> bool {
        path == "/readyz"
    }
}

/// G3, F4: pages tell of every server, so they are for clients that see everything; a browser proves who it is by `Basic`, with
/// the token as the password. What is open is a stranger's page to everybody else.
#[tokio::test]
async fn pages_are_for_who_sees_everything() {
    let Front { service, endpoint } = guarded(&json!(null));
    let endpoint = endpoint.beside(Arc::new(Looks));
    let front = Front { service, endpoint };
    let (laptop, narrow) = (bearer(LAPTOP), bearer(NARROW));
    let basic = |token: &str| format!("Basic {}", STANDARD.encode(format!("any:{token}")));
    let (by_name, by_narrow, by_none) = (basic(LAPTOP), basic(NARROW), basic("x"));
    let look = async |path: &str, said: Option<&str>| {
        let mut request = Request::builder().uri(path).header("host", "localhost");
        if let Some(said) = said {
            request = request.header("authorization", said);
        }
        let body = Full::new(Bytes::new());
        let response = front.endpoint.handle(request.body(body).unwrap()).await;
        let asked = response
            .headers()
            .get_all("www-authenticate")
            .iter()
            .count();
        (response.status().as_u16(), asked, text_of(response).await)
    };
    for said in [&laptop, &by_name] {
        for path in ["/", "/readyz"] {
            let (status, _, text) = look(path, Some(said)).await;
            assert_eq!((status, text.as_str()), (200, "Known"), "{path}");
        }
    }
    for said in [&narrow, &by_narrow] {
        assert_eq!(look("/", Some(said)).await.0, 403);
        assert_eq!(look("/readyz", Some(said)).await.2, "Stranger");
    }
    for said in [
        None,
        Some(by_none.as_str()),
        Some("Basic !"),
        Some("Bearer x"),
    ] {
        let (status, asked, text) = look("/", said).await;
        assert_eq!((status, asked), (401, 2), "{said:?}");
        assert!(!text.contains("Known"));
        assert_eq!(look("/readyz", said).await.2, "Stranger");
    }
    // The endpoint takes no passwords.
    assert_eq!(look("/mcp", Some(&by_name)).await.0, 401);
}
