//! What is served beside the endpoint: pages for people, scripts and probes, each at a path of its own.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};

use super::{Body, reply};

/// Where the endpoint is, if there is something beside it.
const ENDPOINT: &str = "/mcp";

const TEXT: &str = "text/plain; charset=utf-8";

/// Pages beside the endpoint.
pub trait Pages: Send + Sync {
    /// The page at this path, as this viewer may see it; `None` if there is none. It is asked in place: return soon.
    fn page(&self, path: &str, viewer: Viewer) -> Option<Page>;

    /// Whether the page at this path is for anybody who may come, without saying who it is.
    fn is_open(&self, path: &str) -> bool;
}

/// Who looks at a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    /// Somebody who may see how every server stands.
    Known,
    /// Anybody.
    Stranger,
}

/// A page.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Page {
    /// Its status.
    pub status: StatusCode,
    /// Its type.
    pub content_type: &'static str,
    /// Its text.
    pub body: Bytes,
    /// Its `Content-Security-Policy`. Default: nothing at all may be loaded, run or framed.
    pub policy: HeaderValue,
}

impl Page {
    /// A page of this type.
    #[must_use]
    pub fn new(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            content_type,
            body: body.into(),
            policy: HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
        }
    }
}

/// Whether this is the path of the endpoint.
pub(super) fn is_endpoint(path: &str) -> bool {
    path.strip_suffix('/').unwrap_or(path) == ENDPOINT
}

/// Answers a request for anything but the endpoint.
pub(super) fn answer(
    pages: &dyn Pages,
    method: &Method,
    path: &str,
    viewer: Viewer,
) -> Response<Body> {
    let Some(page) = pages.page(path, viewer) else {
        let text = "Not found. MCP is at /mcp, the status page at /.\n";
        return page_of(method, Page::new(StatusCode::NOT_FOUND, TEXT, text));
    };
    if !matches!(*method, Method::GET | Method::HEAD) {
        let mut response = reply::status(StatusCode::METHOD_NOT_ALLOWED);
        let allow = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(header::ALLOW, allow);
        return response;
    }
    page_of(method, page)
}

/// To a client that may not see everything.
pub(super) fn forbidden() -> Response<Body> {
    let text = "Forbidden: this is for clients that may see every server.\n";
    let page = Page::new(StatusCode::FORBIDDEN, TEXT, text);
    page_of(&Method::GET, page)
}

fn page_of(method: &Method, page: Page) -> Response<Body> {
    let length = page.body.len();
    let mut response = reply::text(page.status, page.content_type, page.body);
    let headers = response.headers_mut();
    let fixed = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        // A page of another origin, of another port too, can neither read nor embed it.
        (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, page.policy);
    if *method == Method::HEAD {
        let length = HeaderValue::from(length);
        headers.insert(header::CONTENT_LENGTH, length);
        *response.body_mut() = reply::empty();
    }
    response
}

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");
