//! The endpoint, request by request, without a socket.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::Value;
use tokio::time::timeout;

use super::{Access, Body, Endpoint, HttpLimits};
use crate::tests::{Obedient, RESULT};

mod access;
mod bounds;
mod connections;
#[cfg(feature = "host")]
mod guarded;
mod modern;
mod sessions;
mod sockets;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

struct Front {
    service: Arc<Obedient>,
    endpoint: Endpoint<Obedient>,
}

impl Front {
    fn new() -> Self {
        Self::with(HttpLimits::default())
    }

    fn with(limits: HttpLimits) -> Self {
        let service = Arc::new(Obedient::default());
        let endpoint = Endpoint::new(Arc::clone(&service), Access::loopback(), limits);
        Self { service, endpoint }
    }

    async fn at(&self, method: &str, path: &str) -> Response<Body> {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("host", "127.0.0.1:8700");
        let body = Full::new(Bytes::new());
        self.endpoint.handle(request.body(body).unwrap()).await
    }

    async fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Response<Body> {
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "127.0.0.1:8700");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
        self.endpoint.handle(request.body(body).unwrap()).await
    }

    async fn post(&self, headers: &[(&str, &str)], body: &str) -> Response<Body> {
        let all = [&[("content-type", "application/json")], headers].concat();
        self.send("POST", &all, body).await
    }

    /// A request as 2026-07-28 wants it.
    async fn modern(&self, method: &str) -> Response<Body> {
        self.post(&modern_headers(method), &modern(method, ""))
            .await
    }

    /// A session; its id.
    async fn session(&self, revision: &str) -> String {
        self.session_of(revision, None).await
    }

    /// The same, of a client that proves who it is.
    async fn session_of(&self, revision: &str, said: Option<&str>) -> String {
        let proof: Vec<(&str, &str)> = said
            .map(|said| ("authorization", said))
            .into_iter()
            .collect();
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
        );
        let response = self.post(&proof, &body).await;
        assert_eq!(response.status(), StatusCode::OK);
        let id = response.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let said = json_of(response).await;
        assert_eq!(said["result"]["protocolVersion"], revision);
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let headers = [&proof[..], &[("mcp-session-id", id.as_str())]].concat();
        let response = self.post(&headers, initialized).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        id
    }

    async fn in_session(&self, id: &str, body: &str) -> Response<Body> {
        self.post(&[("mcp-session-id", id)], body).await
    }

    async fn listen(&self, id: &str, after: Option<&str>) -> Response<Body> {
        let mut headers = vec![("mcp-session-id", id)];
        headers.extend(after.map(|after| ("last-event-id", after)));
        self.send("GET", &headers, "").await
    }
}

fn modern_headers(method: &str) -> Vec<(&'static str, &str)> {
    vec![
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ]
}

/// A request with further members of its params, each with a comma before it.
fn modern(method: &str, more: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{META}{more}}}}}"#)
}

fn plain(id: u32, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

async fn text_of(response: Response<Body>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn json_of(response: Response<Body>) -> Value {
    assert_eq!(response.headers()["content-type"], "application/json");
    serde_json::from_str(&text_of(response).await).unwrap()
}

/// The status, and the code of the error.
async fn refused(response: Response<Body>) -> (u16, i64) {
    let status = response.status().as_u16();
    (
        status,
        json_of(response).await["error"]["code"].as_i64().unwrap(),
    )
}

/// The next event of a stream, within its `data` or whole; `None` at its end.
async fn event(body: &mut Body) -> Option<String> {
    let frame = timeout(Duration::from_secs(60), body.frame())
        .await
        .expect("nothing came")?;
    let data = frame.unwrap().into_data().unwrap();
    Some(String::from_utf8(data.to_vec()).unwrap())
}

fn answer(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{RESULT}}}"#)
}
