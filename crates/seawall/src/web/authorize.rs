//! What a request over HTTP is authorised with, and what is done about a refusal (T4, T5).

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use url::Url;

use super::AuthError;
use crate::config::Secret;

/// A future on the heap.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Authorises requests to one server.
pub(crate) trait Authorize: Send + Sync + fmt::Debug {
    /// The headers of a request that is about to be sent. It may wait for a refresh or a login.
    fn credentials<'a>(
        &'a self,
        method: &'a Method,
        url: &'a Url,
    ) -> Boxed<'a, Result<Option<Credentials>, AuthError>>;

    /// The server answered 401 or 403, so it did nothing: whether to send the request once more.
    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> Boxed<'a, Result<Verdict, AuthError>>;

    /// The secrets that were given out lately, for the redactor (R1). Those of the configuration are known without this.
    fn secrets(&self) -> Vec<Secret> {
        Vec::new()
    }
}

/// Headers that authorise one request, marked sensitive.
#[derive(Debug, Clone)]
pub(crate) struct Credentials {
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Which token these are of: so that the refusal of an old one is not held against a newer one.
    pub(crate) generation: u64,
}

/// What the server refused.
pub(crate) struct Refusal<'a> {
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "no authoriser needs it yet; every refusal has one"
        )
    )]
    pub(crate) method: &'a Method,
    pub(crate) url: &'a Url,
    /// 401 or 403.
    pub(crate) status: StatusCode,
    pub(crate) headers: &'a HeaderMap,
    /// The generation of the credentials that it came with; `None` if it came without.
    pub(crate) used: Option<u64>,
    /// How often credentials of this request were refused before.
    pub(crate) refusals: u32,
    pub(crate) waits: Waits,
}

/// Whether somebody waits for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    Somebody,
    /// It is made again and again in the background, or at the end of everything: no person is asked for its sake.
    Nobody,
}

/// What to do about a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Ask for credentials again and send the request once more.
    Retry,
    /// As [`Retry`](Self::Retry), but no credentials were refused: they lacked something that the refusal brought. It does
    /// not count as one of [`Refusal::refusals`].
    Amend,
    /// The refusal stands.
    GiveUp,
}
