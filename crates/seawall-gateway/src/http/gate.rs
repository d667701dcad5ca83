//! Who a request is of: whoever its headers prove, or where nobody is asked the local client.
//!
//! Source: 2026-07-28, `basic/authorization`.

use std::sync::Arc;
#[cfg(feature = "host")]
use std::sync::OnceLock;

use http::{HeaderMap, Request, Response};
#[cfg(feature = "host")]
use http::{HeaderValue, Method, StatusCode, header};
#[cfg(feature = "host")]
use seawall_proto::jsonrpc::{ErrorObject, INVALID_REQUEST};
#[cfg(feature = "host")]
use seawall_proto::server::refusal;

use super::Body;
#[cfg(feature = "host")]
use super::reply;
use crate::clients::Client;
#[cfg(feature = "host")]
use crate::clients::{Guard, Proof, Refused};

/// Asks, once there is who asks.
#[derive(Debug, Default)]
pub(super) struct Gate {
    #[cfg(feature = "host")]
    guard: OnceLock<Arc<Guard>>,
}

#[cfg(feature = "host")]
impl Gate {
    /// Asks from now on; the first who does stays.
    pub(super) fn close(&self, guard: Arc<Guard>) {
        let _ = self.guard.set(guard);
    }

    /// What is told to whoever asks for it, without being asked: how to prove who one is (RFC 9728, section 3).
    pub(super) fn open_document<B>(&self, request: &Request<B>) -> Option<Response<Body>> {
        let document = self.guard.get()?.metadata(request.uri().path())?;
        (request.method() == Method::GET)
            .then(|| reply::json(StatusCode::OK, document.to_owned().into()))
    }

    /// Whose request it is, or what it is answered.
    pub(super) async fn admit(&self, headers: &HeaderMap) -> Result<Arc<Client>, Response<Body>> {
        self.admit_by(headers, Proof::Bearer).await
    }

    /// The same for what browsers and scripts come for: a token is also the password of Basic.
    pub(super) async fn admit_to_page(
        &self,
        headers: &HeaderMap,
    ) -> Result<Arc<Client>, Response<Body>> {
        self.admit_by(headers, Proof::BearerOrBasic).await
    }

    /// The same, also by other proof.
    async fn admit_by(
        &self,
        headers: &HeaderMap,
        proof: Proof,
    ) -> Result<Arc<Client>, Response<Body>> {
        let Some(guard) = self.guard.get() else {
            return Ok(Client::local());
        };
        let admitted = guard.admit(headers, proof).await;
        admitted.map_err(|refused| refuse(guard, &refused, proof))
    }
}

#[cfg(not(feature = "host"))]
impl Gate {
    pub(super) fn open_document<B>(&self, _request: &Request<B>) -> Option<Response<Body>> {
        None
    }

    /// Whose request it is.
    pub(super) async fn admit(&self, _headers: &HeaderMap) -> Result<Arc<Client>, Response<Body>> {
        Ok(Client::local())
    }

    /// The same.
    pub(super) async fn admit_to_page(
        &self,
        headers: &HeaderMap,
    ) -> Result<Arc<Client>, Response<Body>> {
        self.admit(headers).await
    }
}

#[cfg(feature = "host")]
fn refuse(guard: &Guard, refused: &Refused, proof: Proof) -> Response<Body> {
    let (status, what) = match refused {
        Refused::Unproven => (
            StatusCode::UNAUTHORIZED,
            "Unauthorized: a bearer token is needed",
        ),
        Refused::Invalid => (
            StatusCode::UNAUTHORIZED,
            "Unauthorized: the token is not valid here, or not any longer",
        ),
        Refused::Forbidden => (
            StatusCode::FORBIDDEN,
            "Forbidden: the access token lacks permissions, or is of nobody who may come",
        ),
        Refused::Unavailable => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Unavailable: the issuer of the access token does not give its keys; try again later",
        ),
    };
    let error = ErrorObject::new(INVALID_REQUEST, what, None);
    let mut response = reply::error(status, &refusal(&error));
    let headers = response.headers_mut();
    if let Some(challenge) = guard.challenge(refused) {
        headers.append(header::WWW_AUTHENTICATE, challenge);
    }
    if proof == Proof::BearerOrBasic && status == StatusCode::UNAUTHORIZED {
        let basic = HeaderValue::from_static("Basic realm=\"seawall\", charset=\"UTF-8\"");
        headers.append(header::WWW_AUTHENTICATE, basic);
    }
    response
}
