//! What a reference leads to, fetched by the host and by nobody else (RFC-005, sections 6 and 7).
//!
//! Only from the origin that the server was dialed at, and from no other; a server that was not dialed, as one over stdio, has
//! none. That a reference was received fetches nothing: somebody asks, or the operator's `autofetch` says that small ones are
//! fetched at once.
//!
//! **Invariant:** the credential of a connection goes to the origin of that connection only, and is put into no URL.
//! **Invariant:** what does not fit its digest, its bound or its time is given to nobody, in part or whole.

mod kind;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::{Bytes, BytesMut};
use http::Method;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use url::{Origin, Url};

use super::content::{Record, ReferenceId, Testimony};
use super::policy::{Autofetch, DEFAULT_AUTOFETCH_TOTAL_BYTES};
use crate::web::{EgressRefused, HttpClient, is_redirect};

/// The most of one reference, however it is asked for.
pub const MAX_FETCH_BYTES: u64 = 256 * 1024 * 1024;
/// How long a fetch that somebody asked for may take.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a fetch that nobody asked for may take.
pub const EAGER_TIMEOUT: Duration = Duration::from_secs(10);

/// Fetches the references of one server. It should outlive the connections to it, as its total does not begin anew.
pub struct Fetcher {
    http: HttpClient,
    home: Option<Home>,
    bearer: Option<SecretString>,
    autofetch: Option<Autofetch>,
    received: AtomicU64,
}

/// The origin that the server was dialed at, as one of HTTP.
struct Home {
    scheme: &'static str,
    origin: Origin,
}

/// What a reference led to, verified. Debug shows no byte of it.
#[derive(Clone)]
pub struct Fetched {
    id: ReferenceId,
    bytes: Bytes,
    kind: kind::Kind,
    digest: DigestCheck,
}

/// Whether the bytes are those that the server named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DigestCheck {
    /// The server named a digest, and they have it.
    Matches,
    /// The server named none.
    Unsaid,
}

/// Why there is nothing. The texts hold nothing that a server wrote, and no URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The server was not dialed at an origin, so there is none to fetch from.
    #[error("the server has no origin to fetch from")]
    NoOrigin,
    /// The reference's URI is no URL, or has user information in it.
    #[error("the reference's address cannot be used")]
    Address,
    /// Its scheme is not that of the server's origin.
    #[error("the reference's scheme is not allowed")]
    Scheme,
    /// It leads to another origin than the server's.
    #[error("the reference leads to another origin than its server's")]
    OtherOrigin,
    /// It is expired, or says so in a way that cannot be read.
    #[error("the reference is expired")]
    Expired,
    /// It claims to be larger than may be fetched; nothing was requested.
    #[error("the reference claims more than {limit} bytes")]
    ClaimTooLarge {
        /// The bound.
        limit: u64,
    },
    /// As much was fetched of the server's references as may be.
    #[error("no more may be fetched of this server's references")]
    TotalSpent,
    /// The egress policy does not allow the request.
    #[error("the egress policy does not allow the request")]
    Egress,
    /// The answer points elsewhere.
    #[error("the answer is a redirect, which is not followed")]
    Redirect,
    /// The answer is another than 200.
    #[error("the answer is HTTP {0}")]
    Status(u16),
    /// The answer is in a content coding that is not read.
    #[error("the answer is in a content coding that is not read")]
    Coding,
    /// The answer is longer than it may be.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// The bound.
        limit: u64,
    },
    /// The bytes are not those that the server named.
    #[error("the answer is not what the reference's digest says")]
    Digest,
    /// It took too long.
    #[error("it took too long")]
    TimedOut,
    /// The request failed, or the answer broke off.
    #[error("the request failed")]
    Unreachable,
}

impl Fetcher {
    /// A fetcher for a server. `dialed` is the `ws` or `wss` URL of its connection, if it has one; `bearer` goes to that
    /// origin, as `Authorization`; without `autofetch` nothing is fetched unasked.
    #[must_use]
    pub fn new(
        http: HttpClient,
        dialed: Option<&Url>,
        bearer: Option<SecretString>,
        autofetch: Option<Autofetch>,
    ) -> Self {
        Self {
            http,
            home: dialed.and_then(Home::of),
            bearer,
            autofetch,
            received: AtomicU64::new(0),
        }
    }

    /// Whether a reference is to be fetched before anybody asks: the operator says so, it claims a size within the bound,
    /// and nothing else speaks against it.
    #[must_use]
    pub fn is_eager(&self, testimony: &Testimony, now: SystemTime) -> bool {
        let limit = self.autofetch.map(|autofetch| autofetch.max_bytes);
        let claims = testimony.size_bytes().zip(limit);
        claims.is_some_and(|(claim, limit)| claim <= limit.min(MAX_FETCH_BYTES))
            && self.check(testimony, MAX_FETCH_BYTES, now).is_ok()
    }

    /// Fetches a reference that [`is_eager`](Self::is_eager), in at most [`EAGER_TIMEOUT`].
    ///
    /// # Errors
    /// [`FetchError`].
    ///
    /// # Cancel safety
    /// Dropping it ends the request.
    pub async fn fetch_eagerly(
        &self,
        record: &Record,
        now: SystemTime,
    ) -> Result<Fetched, FetchError> {
        let limit = self.autofetch.map_or(0, |autofetch| autofetch.max_bytes);
        self.fetch_within(record, limit, EAGER_TIMEOUT, now).await
    }

    /// Fetches a reference that somebody asked for: at most `max_bytes`, and never more than [`MAX_FETCH_BYTES`], in at most
    /// [`FETCH_TIMEOUT`].
    ///
    /// # Errors
    /// [`FetchError`].
    ///
    /// # Cancel safety
    /// Dropping it ends the request.
    pub async fn fetch(
        &self,
        record: &Record,
        max_bytes: u64,
        now: SystemTime,
    ) -> Result<Fetched, FetchError> {
        self.fetch_within(record, max_bytes, FETCH_TIMEOUT, now)
            .await
    }

    async fn fetch_within(
        &self,
        record: &Record,
        max_bytes: u64,
        patience: Duration,
        now: SystemTime,
    ) -> Result<Fetched, FetchError> {
        let testimony = record.testimony();
        let limit = max_bytes.min(MAX_FETCH_BYTES);
        let url = self.check(testimony, limit, now)?;
        let request = self
            .http
            .request(Method::GET, &url)
            .map_err(|EgressRefused { .. }| FetchError::Egress)?
            .timeout(patience);
        let request = match &self.bearer {
            Some(bearer) => request.bearer_auth(bearer.expose_secret()),
            None => request,
        };
        let mut response = request.send().await.map_err(failed)?;
        if is_redirect(response.status()) {
            return Err(FetchError::Redirect);
        }
        if response.status() != http::StatusCode::OK {
            return Err(FetchError::Status(response.status().as_u16()));
        }
        // What was decoded here lost this header with its coding.
        if response.headers().contains_key(CONTENT_ENCODING) {
            return Err(FetchError::Coding);
        }
        let (mut bytes, mut hash) = (BytesMut::new(), Sha256::new());
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            self.count(chunk.len())?;
            if (bytes.len() + chunk.len()) as u64 > limit {
                return Err(FetchError::TooLong { limit });
            }
            hash.update(&chunk);
            bytes.extend_from_slice(&chunk);
        }
        let digest = match testimony.digest() {
            Some(said) if said != named(&hash.finalize()) => return Err(FetchError::Digest),
            Some(_) => DigestCheck::Matches,
            None => DigestCheck::Unsaid,
        };
        let said = response.headers().get(CONTENT_TYPE);
        let said = said.and_then(|said| said.to_str().ok());
        Ok(Fetched {
            id: record.id().clone(),
            kind: kind::Kind::of(&bytes, said),
            bytes: bytes.freeze(),
            digest,
        })
    }

    /// Where the reference leads, if it may be fetched at all.
    fn check(&self, testimony: &Testimony, limit: u64, now: SystemTime) -> Result<Url, FetchError> {
        let home = self.home.as_ref().ok_or(FetchError::NoOrigin)?;
        let url = Url::parse(testimony.uri()).map_err(|_| FetchError::Address)?;
        if url.scheme() != home.scheme {
            return Err(FetchError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::Address);
        }
        if url.origin() != home.origin {
            return Err(FetchError::OtherOrigin);
        }
        if testimony.expires().is_past(now) {
            return Err(FetchError::Expired);
        }
        let claim = testimony.size_bytes().unwrap_or_default();
        if claim > limit {
            return Err(FetchError::ClaimTooLarge { limit });
        }
        let left = self
            .total()
            .saturating_sub(self.received.load(Ordering::Relaxed));
        if left == 0 || claim > left {
            return Err(FetchError::TotalSpent);
        }
        Ok(url)
    }

    fn total(&self) -> u64 {
        self.autofetch
            .map_or(DEFAULT_AUTOFETCH_TOTAL_BYTES, |autofetch| {
                autofetch.max_total_bytes
            })
    }

    /// What came counts, also if nothing is made of it.
    fn count(&self, bytes: usize) -> Result<(), FetchError> {
        let bytes = bytes as u64;
        let before = self.received.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.total() {
            return Err(FetchError::TotalSpent);
        }
        Ok(())
    }
}

impl Fetched {
    /// The reference that it is.
    #[must_use]
    pub fn id(&self) -> &ReferenceId {
        &self.id
    }

    /// Its bytes, in no content coding.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The media type by its first bytes, else the one of the answer, else `application/octet-stream`. The reference's own
    /// claim decides nothing.
    #[must_use]
    pub fn media_type(&self) -> &str {
        self.kind.media_type()
    }

    /// Whether it is what the server named.
    #[must_use]
    pub fn digest(&self) -> DigestCheck {
        self.digest
    }

    /// A name to keep it under, of the reference's id and an ending of Seawall's own.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.id, self.kind.extension())
    }
}

impl Home {
    fn of(dialed: &Url) -> Option<Self> {
        let scheme = match dialed.scheme() {
            "ws" => "http",
            "wss" => "https",
            _ => return None,
        };
        let (_, rest) = dialed.as_str().split_once(':')?;
        let origin = Url::parse(&format!("{scheme}:{rest}")).ok()?.origin();
        Some(Self { scheme, origin })
    }
}

/// A digest as a reference names it.
fn named(hash: &[u8]) -> String {
    format!("sha256:{}", URL_SAFE_NO_PAD.encode(hash))
}

#[expect(clippy::needless_pass_by_value, reason = "it maps an error")]
fn failed(error: reqwest::Error) -> FetchError {
    if error.is_timeout() {
        FetchError::TimedOut
    } else {
        FetchError::Unreachable
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher")
            .field("autofetch", &self.autofetch)
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched")
            .field("id", &self.id)
            .field("bytes", &self.bytes.len())
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}
