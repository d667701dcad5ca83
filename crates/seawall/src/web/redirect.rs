//! Where a redirect may lead: to the same origin (T4).

use http::header::LOCATION;
use http::{HeaderMap, StatusCode};
use url::Url;

use super::shown_origin;

/// So many redirects are followed, and no more.
pub(crate) const MAX_REDIRECTS: u32 = 3;

/// A redirect that is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// Where it leads; `None` if that is nowhere.
    pub(crate) origin: Option<String>,
}

/// Whether the answer points elsewhere.
pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Where an answer of `from` points.
///
/// # Errors
/// [`Elsewhere`] if that is nowhere, or another origin.
pub(crate) fn redirected(from: &Url, headers: &HeaderMap) -> Result<Url, Elsewhere> {
    let nowhere = Elsewhere { origin: None };
    let Some(location) = headers.get(LOCATION).and_then(|value| value.to_str().ok()) else {
        return Err(nowhere);
    };
    let Ok(mut to) = from.join(location) else {
        return Err(nowhere);
    };
    if !to.origin().is_tuple() {
        // A `file:` or `data:` address has no origin that could be named.
        return Err(nowhere);
    }
    if to.origin() != from.origin() {
        return Err(Elsewhere {
            origin: Some(shown_origin(&to)),
        });
    }
    // Credentials that a server puts into its own address are none of ours.
    if to.set_username("").is_err() || to.set_password(None).is_err() {
        return Err(nowhere);
    }
    to.set_fragment(None);
    Ok(to)
}
