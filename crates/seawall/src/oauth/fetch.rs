//! The requests of a login: bounded in size and time, and all through the egress policy.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};
use serde::de::DeserializeOwned;
use url::Url;

use crate::web::{AuthError, EgressRefused, Exchange, FetchError, Fetched, HttpClient, Unsound};

/// A longer document is refused.
pub(super) const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;

/// How long one request of a login may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) use crate::web::shown_origin as origin;

pub(super) fn unsound(url: &Url, fault: Unsound) -> AuthError {
    AuthError::Unsound {
        origin: origin(url),
        fault,
    }
}

/// Sends one request and reads its answer whole.
pub(super) async fn send(
    http: &HttpClient,
    method: Method,
    url: &Url,
    what: Exchange,
    headers: HeaderMap,
    body: Option<Bytes>,
) -> Result<Fetched, AuthError> {
    let mut request = http
        .request(method, url)
        .map_err(refused)?
        .timeout(REQUEST_TIMEOUT)
        .header(header::ACCEPT, "application/json")
        .headers(headers);
    if let Some(body) = body {
        request = request.body(body);
    }
    HttpClient::fetch(request, MAX_DOCUMENT_BYTES)
        .await
        .map_err(|error| match error {
            FetchError::Egress(error) => refused(error),
            FetchError::Request(_) => unreachable(url, what),
            FetchError::TooLong { .. } => unsound(url, Unsound::TooLong),
        })
}

/// What an address that may hold a metadata document holds.
pub(super) enum Found<T> {
    Document(T),
    /// Something else: a site may have a page at every address, so the next one may hold the document.
    Other,
    Nothing,
}

/// The metadata document at `url`.
pub(super) async fn document<T: DeserializeOwned>(
    http: &HttpClient,
    url: &Url,
    what: Exchange,
) -> Result<Found<T>, AuthError> {
    let fetched = send(http, Method::GET, url, what, HeaderMap::new(), None).await?;
    if fetched.status.is_server_error() {
        return Err(unreachable(url, what));
    }
    if fetched.status != StatusCode::OK {
        return Ok(Found::Nothing);
    }
    Ok(serde_json::from_slice(&fetched.body).map_or(Found::Other, Found::Document))
}

pub(super) fn refused(error: EgressRefused) -> AuthError {
    AuthError::Egress {
        method: error.method.to_string(),
        origin: error.origin,
    }
}

pub(super) fn unreachable(url: &Url, what: Exchange) -> AuthError {
    AuthError::Unreachable {
        origin: origin(url),
        what,
    }
}
