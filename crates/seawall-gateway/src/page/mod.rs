//! What a gateway shows of itself over HTTP: a status page for people, its numbers for scripts and for Prometheus, and two
//! probes.
//!
//! | path | what it is |
//! | --- | --- |
//! | `/` | the status page, which reads `/status.json` every two seconds |
//! | `/status.json` | servers, the newest calls, and how long they took |
//! | `/metrics` | everything that is counted, in the text format of OpenMetrics |
//! | `/healthz` | 200: the process serves |
//! | `/readyz` | 200 once the first connects are through and what is required is up, else 503 |
//!
//! **Invariant:** nothing of what a call says or answers is in any of them.
//! **Invariant:** the page is the same bytes for everybody; what others wrote comes as JSON and becomes text, never markup.

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::gateway::{Gateway, Readiness};
use crate::http::{Page, Pages, Viewer};
use crate::observe::{self, exposition};

mod status;

#[cfg(test)]
mod tests;

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// The page, whole.
const INDEX: &str = concat!(
    include_str!("head.html"),
    "<style>",
    include_str!("page.css"),
    "</style>\n",
    include_str!("body.html"),
    "<script>",
    include_str!("page.js"),
    "</script>\n</body>\n</html>\n"
);

/// The pages of a gateway, to be served [beside](crate::http::Endpoint::beside) its endpoint.
#[derive(Debug, Clone)]
pub struct Site {
    gateway: Arc<Gateway>,
}

impl Site {
    /// The pages of this gateway.
    #[must_use]
    pub fn new(gateway: Arc<Gateway>) -> Self {
        Self { gateway }
    }
}

impl Pages for Site {
    fn page(&self, path: &str, viewer: Viewer) -> Option<Page> {
        Some(match path {
            "/" => index(),
            "/status.json" => of_json(StatusCode::OK, &status::of(&self.gateway)),
            "/metrics" => metrics(&self.gateway),
            "/healthz" => Page::new(StatusCode::OK, TEXT, "ok\n"),
            "/readyz" => ready(self.gateway.readiness(), viewer),
            _ => return None,
        })
    }

    fn is_open(&self, path: &str) -> bool {
        matches!(path, "/healthz" | "/readyz")
    }
}

fn index() -> Page {
    static POLICY: OnceLock<Option<HeaderValue>> = OnceLock::new();
    let mut page = Page::new(StatusCode::OK, HTML, Bytes::from_static(INDEX.as_bytes()));
    let policy = POLICY.get_or_init(|| HeaderValue::from_str(&policy()).ok());
    if let Some(policy) = policy {
        page.policy = policy.clone();
    }
    page
}

/// Only this very style and this very script, and what they read from here.
fn policy() -> String {
    let source = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        source(include_str!("page.css")),
        source(include_str!("page.js"))
    )
}

fn metrics(gateway: &Gateway) -> Page {
    match exposition(gateway.gauges()) {
        Ok(text) => Page::new(StatusCode::OK, observe::CONTENT_TYPE, text),
        Err(_) => Page::new(StatusCode::INTERNAL_SERVER_ERROR, TEXT, ""),
    }
}

fn ready(readiness: Readiness, viewer: Viewer) -> Page {
    let status = match readiness {
        Readiness::Ready => StatusCode::OK,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut body = json!({"ready": readiness == Readiness::Ready});
    if viewer == Viewer::Known {
        match readiness {
            Readiness::Ready => {}
            Readiness::Starting => body["why"] = json!("starting"),
            Readiness::Ending => body["why"] = json!("ending"),
            Readiness::Lacking(servers) => {
                let server = |(id, state)| json!({"server": id, "state": status::word(state)});
                body["why"] = json!("required servers are not up");
                body["servers"] = servers.into_iter().map(server).collect();
            }
        }
    }
    of_json(status, &body)
}

fn of_json(status: StatusCode, value: &Value) -> Page {
    Page::new(status, JSON, format!("{value}\n"))
}
