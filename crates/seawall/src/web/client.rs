//! The one way to the web: a pool of connections, the caller's trust, and the egress policy that is asked before the
//! first byte.
//!
//! **Invariant:** nothing is requested of an origin that the policy did not allow; redirects are never followed here.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::Method;
use url::Url;

use super::shown_origin;

/// How long a connection may take to stand, the proxy's and TLS's part included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Decides what may be requested of whom.
///
/// It is asked for every request that a server's configuration or a server's answer causes: the server's own, and those
/// of a login. It is asked before a name is looked up.
pub trait EgressPolicy: Send + Sync {
    /// Whether a request with `method` may go to `origin`, which is `scheme://host[:port]`. A WebSocket is a `GET` to an
    /// origin whose scheme is `ws` or `wss`.
    fn allow(&self, method: &str, origin: &str) -> bool;
}

impl<F: Fn(&str, &str) -> bool + Send + Sync> EgressPolicy for F {
    fn allow(&self, method: &str, origin: &str) -> bool {
        self(method, origin)
    }
}

/// An HTTP client for many servers: one pool of connections. Cheap to clone.
///
/// The system's proxies (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`) and its trusted certificates (on Linux `SSL_CERT_FILE`
/// and `SSL_CERT_DIR` too) are honoured.
#[derive(Clone)]
pub struct HttpClient {
    client: reqwest::Client,
    egress: Option<Arc<dyn EgressPolicy>>,
    roots: Arc<[reqwest::Certificate]>,
    /// For connections that become something else; made when the first one is wanted.
    upgrading: Arc<OnceLock<reqwest::Client>>,
}

/// Makes connections that become WebSockets: with the same trust, proxies and policy, over HTTP/1.1 alone, each once.
#[derive(Clone)]
pub(crate) struct Upgrader {
    client: reqwest::Client,
    egress: Option<Arc<dyn EgressPolicy>>,
}

/// How requests go out, where the defaults do not fit. See [`HttpClient::builder`].
#[derive(Default)]
#[must_use = "a builder does nothing until it builds"]
pub struct HttpClientBuilder {
    roots: Vec<Vec<u8>>,
    egress: Option<Arc<dyn EgressPolicy>>,
}

/// Why an HTTP client cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpClientError {
    /// A root certificate is not one in PEM.
    #[error("a root certificate is not a PEM certificate")]
    RootCertificate(#[source] reqwest::Error),
    /// What is given as root certificates holds none in PEM.
    #[error("there is no PEM certificate among the root certificates")]
    NoRootCertificate,
    /// The system's TLS or proxy settings cannot be used.
    #[error("the system's TLS or proxy settings cannot be used")]
    System(#[source] reqwest::Error),
}

/// The egress policy does not allow a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the egress policy does not allow {method} {origin}")]
pub(crate) struct EgressRefused {
    /// The request's method.
    pub(crate) method: Method,
    /// The origin that it would have gone to.
    pub(crate) origin: String,
}

/// Why a small document could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    /// The policy refused before anything was sent.
    #[error(transparent)]
    Egress(#[from] EgressRefused),
    /// The request failed, or the answer broke off.
    #[error("the request failed")]
    Request(#[source] reqwest::Error),
    /// The answer is longer than the caller wants to read.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// The bound.
        limit: usize,
    },
}

/// Why [`HttpClient::document`] has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The egress policy does not allow it.
    #[error("the egress policy does not allow the request")]
    Egress,
    /// The request failed, took too long, or the answer broke off.
    #[error("the request failed")]
    Unreachable,
    /// The answer is another than 200.
    #[error("the answer is HTTP {0}")]
    Status(u16),
    /// The answer is longer than what is read.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// The bound.
        limit: usize,
    },
}

/// A small document, read whole.
pub(crate) struct Fetched {
    pub(crate) status: http::StatusCode,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl HttpClient {
    /// A client with the defaults: the system's proxies and certificates, no egress policy.
    ///
    /// # Errors
    /// [`HttpClientError::System`].
    pub fn new() -> Result<Self, HttpClientError> {
        Self::builder().build()
    }

    /// A client with more than the defaults.
    pub fn builder() -> HttpClientBuilder {
        HttpClientBuilder::default()
    }

    /// A request of `url`, once the egress policy allowed it.
    pub(crate) fn request(
        &self,
        method: Method,
        url: &Url,
    ) -> Result<reqwest::RequestBuilder, EgressRefused> {
        self.check(&method, url)?;
        Ok(self.client.request(method, url.clone()))
    }

    /// Sends `request` as it stands, once the egress policy allowed it.
    pub(crate) fn execute(
        &self,
        request: reqwest::Request,
    ) -> Result<impl Future<Output = reqwest::Result<reqwest::Response>> + use<>, EgressRefused>
    {
        self.check(request.method(), request.url())?;
        Ok(self.client.execute(request))
    }

    /// What makes connections that become WebSockets.
    ///
    /// # Errors
    /// [`HttpClientError::System`].
    pub(crate) fn upgrader(&self) -> Result<Upgrader, HttpClientError> {
        let client = match self.upgrading.get() {
            Some(client) => client.clone(),
            None => {
                let builder = base().http1_only().pool_max_idle_per_host(0).no_gzip();
                let client = trusting(builder, &self.roots)
                    .build()
                    .map_err(HttpClientError::System)?;
                self.upgrading.get_or_init(|| client).clone()
            }
        };
        Ok(Upgrader {
            client,
            egress: self.egress.clone(),
        })
    }

    fn check(&self, method: &Method, url: &Url) -> Result<(), EgressRefused> {
        check(self.egress.as_deref(), method, url)
    }

    /// The small document at `url`: one GET, whose answer is 200, read whole. No redirect is followed.
    ///
    /// # Errors
    /// [`DocumentError`]; its text has nothing in it that the server wrote.
    ///
    /// # Cancel safety
    /// Dropping it ends the request.
    pub async fn document(
        &self,
        url: &Url,
        limit: usize,
        patience: Duration,
    ) -> Result<Bytes, DocumentError> {
        let request = self
            .request(Method::GET, url)
            .map_err(|_| DocumentError::Egress)?;
        let request = request
            .timeout(patience)
            .header(http::header::ACCEPT, "application/json");
        let fetched = Self::fetch(request, limit)
            .await
            .map_err(|error| match error {
                FetchError::Egress(_) => DocumentError::Egress,
                FetchError::Request(_) => DocumentError::Unreachable,
                FetchError::TooLong { limit } => DocumentError::TooLong { limit },
            })?;
        match fetched.status {
            http::StatusCode::OK => Ok(fetched.body),
            status => Err(DocumentError::Status(status.as_u16())),
        }
    }

    /// Sends `request` and reads at most `limit` bytes of its answer, after decompression.
    pub(crate) async fn fetch(
        request: reqwest::RequestBuilder,
        limit: usize,
    ) -> Result<Fetched, FetchError> {
        let mut response = request.send().await.map_err(FetchError::Request)?;
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(FetchError::Request)? {
            if body.len() + chunk.len() > limit {
                return Err(FetchError::TooLong { limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Fetched {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            body: body.freeze(),
        })
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

impl Upgrader {
    /// A request at `url` that asks for an upgrade, once the egress policy allowed one to `asked`: the same place, as the
    /// configuration has it.
    pub(crate) fn request(
        &self,
        asked: &Url,
        url: Url,
    ) -> Result<reqwest::RequestBuilder, EgressRefused> {
        check(self.egress.as_deref(), &Method::GET, asked)?;
        Ok(self.client.get(url))
    }
}

impl fmt::Debug for Upgrader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upgrader").finish_non_exhaustive()
    }
}

impl HttpClientBuilder {
    /// Trusts the certificates of `pem` beside the system's.
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots.push(pem.into());
        self
    }

    /// Asks `policy` before each request.
    pub fn egress(mut self, policy: Arc<dyn EgressPolicy>) -> Self {
        self.egress = Some(policy);
        self
    }

    /// The client.
    ///
    /// # Errors
    /// A root certificate is not PEM, or the system's settings cannot be used.
    pub fn build(self) -> Result<HttpClient, HttpClientError> {
        let mut roots = Vec::new();
        for pem in &self.roots {
            let bundle = reqwest::Certificate::from_pem_bundle(pem)
                .map_err(HttpClientError::RootCertificate)?;
            if bundle.is_empty() {
                return Err(HttpClientError::NoRootCertificate);
            }
            roots.extend(bundle);
        }
        let builder = base().connect_timeout(CONNECT_TIMEOUT);
        Ok(HttpClient {
            client: trusting(builder, &roots)
                .build()
                .map_err(HttpClientError::System)?,
            egress: self.egress,
            roots: roots.into(),
            upgrading: Arc::default(),
        })
    }
}

/// What holds for every request.
fn base() -> reqwest::ClientBuilder {
    // The first provider of the process stays; another one's is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("seawall/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        // A request that may have been carried out is never sent again behind our back.
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .referer(false)
}

fn trusting(
    builder: reqwest::ClientBuilder,
    roots: &[reqwest::Certificate],
) -> reqwest::ClientBuilder {
    roots
        .iter()
        .cloned()
        .fold(builder, reqwest::ClientBuilder::add_root_certificate)
}

fn check(
    egress: Option<&dyn EgressPolicy>,
    method: &Method,
    url: &Url,
) -> Result<(), EgressRefused> {
    let Some(policy) = egress else {
        return Ok(());
    };
    let origin = url.origin().ascii_serialization();
    if policy.allow(method.as_str(), &origin) {
        return Ok(());
    }
    Err(EgressRefused {
        method: method.clone(),
        origin: shown_origin(url),
    })
}

impl fmt::Debug for HttpClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClientBuilder").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
