//! Who issues access tokens, and whether one is good.

use std::fmt;

use jsonwebtoken::{Validation, decode, decode_header};
use seawall::HttpClient;
use seawall::config::AuthConfig;
use serde_json::{Map, Value, json};
use url::Url;

use super::keys::{Keys, Place};
use super::signature::{self, TAKEN};
use crate::clients::roster::has_scopes;

/// How far clocks may differ, in seconds. Fixed.
const LEEWAY: u64 = 60;
/// Of keys without an id so many are tried. Fixed.
const MAX_TRIED: usize = 4;
/// Where the metadata of a protected resource is (RFC 9728, section 3).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The issuer whose access tokens are taken, and what is told of that.
pub(in super::super) struct Issuer {
    config: AuthConfig,
    keys: Keys,
    metadata_path: String,
    metadata_url: Url,
    metadata: String,
}

/// Why a token is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum NotTaken {
    /// It is not good.
    Invalid,
    /// It lacks scopes.
    Scopes,
    /// The keys cannot be had.
    Unavailable,
}

impl Issuer {
    pub(in super::super) fn new(config: AuthConfig, http: HttpClient) -> Self {
        signature::install();
        let place = match &config.jwks_uri {
            Some(url) => Place::At(url.clone()),
            None => Place::Of(config.issuer.clone()),
        };
        let own_path = match config.resource.path() {
            "/" => "",
            path => path,
        };
        let metadata_path = format!("{WELL_KNOWN}{own_path}");
        let mut metadata_url = config.resource.clone();
        metadata_url.set_path(&metadata_path);
        let mut metadata = json!({
            "resource": config.resource.as_str(),
            "authorization_servers": [config.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Seawall",
        });
        if !config.scopes.is_empty() {
            metadata["scopes_supported"] = json!(config.scopes);
        }
        Self {
            keys: Keys::new(http, place),
            metadata_path,
            metadata_url,
            metadata: metadata.to_string(),
            config,
        }
    }

    /// The claims of a token, if it is good.
    pub(in super::super) async fn check(
        &self,
        token: &str,
    ) -> Result<Map<String, Value>, NotTaken> {
        let header = decode_header(token).map_err(|_| NotTaken::Invalid)?;
        if !TAKEN.contains(&header.alg) || !header.typ.as_deref().is_none_or(is_access_token) {
            return Err(NotTaken::Invalid);
        }
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_audience(&[&self.config.audience]);
        validation.set_issuer(&[&self.config.issuer]);
        validation.set_required_spec_claims(&["exp", "aud", "iss"]);
        let id = header.kid.as_deref();
        let keys = self.keys.having(id).await;
        let keys = keys.map_err(|_| NotTaken::Unavailable)?;
        let mut keys = keys.of(id, header.alg).take(MAX_TRIED);
        let claims = keys.find_map(|key| {
            let good = decode::<Map<String, Value>>(token, &key.key, &validation);
            good.ok().map(|token| token.claims)
        });
        let claims = claims.ok_or(NotTaken::Invalid)?;
        if has_scopes(&claims, &self.config.scopes) {
            Ok(claims)
        } else {
            Err(NotTaken::Scopes)
        }
    }

    pub(in super::super) fn metadata_url(&self) -> &Url {
        &self.metadata_url
    }

    /// The metadata, at its own path and at the one without the resource's, where clients look next.
    pub(in super::super) fn metadata(&self, path: &str) -> Option<&str> {
        (path == self.metadata_path || path == WELL_KNOWN).then_some(&self.metadata)
    }

    /// The scopes to ask for, if any are needed.
    pub(in super::super) fn scopes(&self) -> Option<String> {
        let scopes = &self.config.scopes;
        (!scopes.is_empty()).then(|| scopes.join(" "))
    }

    pub(in super::super) fn own_host(&self) -> Option<&str> {
        self.config.resource.host_str()
    }
}

/// Tokens of other kinds say so (RFC 9068, section 4; RFC 8725, section 3.11).
fn is_access_token(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    matches!(
        kind.strip_prefix("application/").unwrap_or(&kind),
        "jwt" | "at+jwt"
    )
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
