//! A server's own metadata (RFC 9728).

use serde::Deserialize;
use url::Url;

use crate::oauth::address;
use crate::oauth::dpop::ALGORITHM;
use crate::oauth::fetch::{Found, document, unsound};
use crate::oauth::scopes::Scopes;
use crate::web::{AuthError, Exchange, HttpClient, Unsound};

/// Where it stands by default, below the origin.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

#[derive(Debug, Deserialize)]
pub(super) struct ResourceMetadata {
    pub(super) resource: String,
    #[serde(default)]
    pub(super) authorization_servers: Vec<String>,
    scopes_supported: Option<Vec<String>>,
    dpop_signing_alg_values_supported: Option<Vec<String>>,
    dpop_bound_access_tokens_required: Option<bool>,
}

impl ResourceMetadata {
    pub(super) fn scopes(&self) -> Option<Scopes> {
        let scopes = self.scopes_supported.as_ref()?;
        Some(scopes.iter().map(String::as_str).collect())
    }

    pub(super) fn wants_dpop(&self) -> bool {
        let offered = self.dpop_signing_alg_values_supported.as_deref();
        self.dpop_bound_access_tokens_required == Some(true)
            || offered.is_some_and(|offered| offered.iter().any(|name| name == ALGORITHM))
    }
}

/// The metadata and where it stood: where the refusal says, else at the server's path, else at its root.
pub(super) async fn find(
    http: &HttpClient,
    resource: &Url,
    announced: Option<&str>,
) -> Result<Option<(ResourceMetadata, Url)>, AuthError> {
    let announced = announced
        .map(|text| {
            address::metadata(text, resource).ok_or_else(|| unsound(resource, Unsound::Address))
        })
        .transpose()?;
    let mut other = None;
    for url in announced.into_iter().chain(well_known(resource)) {
        match document(http, &url, Exchange::ResourceMetadata).await? {
            Found::Document(ResourceMetadata {
                resource: named, ..
            }) if !is_of(&named, resource) => {
                return Err(unsound(&url, Unsound::ResourceMismatch));
            }
            Found::Document(metadata) => return Ok(Some((metadata, url))),
            Found::Other => other = other.or(Some(url)),
            Found::Nothing => {}
        }
    }
    // Not taken for a server without metadata: there was something.
    other.map_or(Ok(None), |url| Err(unsound(&url, Unsound::Malformed)))
}

/// At the server's path, then at its root.
fn well_known(resource: &Url) -> Vec<Url> {
    let mut root = resource.clone();
    root.set_fragment(None);
    root.set_query(None);
    root.set_path(WELL_KNOWN);
    let path = resource.path().trim_end_matches('/');
    if path.is_empty() && resource.query().is_none() {
        return vec![root];
    }
    let mut at_path = root.clone();
    at_path.set_path(&format!("{WELL_KNOWN}{path}"));
    at_path.set_query(resource.query());
    vec![at_path, root]
}

/// Whether `named` stands for the server at `resource`: its own address, or one above it at the same origin.
fn is_of(named: &str, resource: &Url) -> bool {
    let Ok(named) = Url::parse(named) else {
        return false;
    };
    let above = named.path().trim_end_matches('/');
    let below = resource.path().strip_prefix(above);
    named.origin() == resource.origin()
        && named.fragment().is_none()
        && named.username().is_empty()
        && named.password().is_none()
        && below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        && (named.query().is_none() || named.query() == resource.query())
}
