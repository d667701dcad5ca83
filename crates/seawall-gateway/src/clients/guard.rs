//! Who a request is of, by what its headers prove.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, header};
use seawall::HttpClient;
use seawall::config::GatewayConfig;

use super::tokens::{Issuer, NotTaken};
use super::{Client, Roster};

/// A longer token is none: it would only cost the time to look at it.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Asks whoever comes over HTTP who they are.
pub struct Guard {
    roster: Roster,
    issuer: Option<Issuer>,
}

/// Why a request is nobody's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// It proves nothing: 401.
    Unproven,
    /// What it proves with is not good, or not good any longer: 401.
    Invalid,
    /// Its access token lacks permissions, or is of nobody who may come: 403.
    Forbidden,
    /// Who issued its access token cannot be asked for the keys: 503.
    Unavailable,
}

/// Where a token may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// `Authorization: Bearer`.
    Bearer,
    /// Or as the password of `Authorization: Basic`, which browsers can be asked for.
    BearerOrBasic,
}

impl Guard {
    /// The guard of a checked configuration; `None` if it names nobody, so that nobody can be asked.
    #[must_use]
    pub fn of(config: &GatewayConfig, http: HttpClient) -> Option<Self> {
        let roster = Roster::of(config);
        let auth = config.auth.clone();
        let issuer = auth.map(|auth| Issuer::new(auth, http));
        (roster.has_tokens() || issuer.is_some()).then_some(Self { roster, issuer })
    }

    /// Whose request it is.
    ///
    /// # Errors
    /// [`Refused`].
    ///
    /// # Cancel safety
    /// Dropping it leaves nothing half done.
    pub async fn admit(&self, headers: &HeaderMap, proof: Proof) -> Result<Arc<Client>, Refused> {
        let mut said = headers.get_all(header::AUTHORIZATION).into_iter();
        let said = match (said.next(), said.next()) {
            (None, _) => return Err(Refused::Unproven),
            (Some(said), None) => said,
            _ => return Err(Refused::Invalid),
        };
        let token = token_of(said, proof).ok_or(Refused::Invalid)?;
        if token.is_empty() || token.len() > MAX_TOKEN_BYTES {
            return Err(Refused::Invalid);
        }
        if let Some(client) = self.roster.of_token(&token) {
            return Ok(client);
        }
        let Some(issuer) = &self.issuer else {
            return Err(Refused::Invalid);
        };
        let claims = issuer.check(&token).await.map_err(|not| match not {
            NotTaken::Invalid => Refused::Invalid,
            NotTaken::Scopes => Refused::Forbidden,
            NotTaken::Unavailable => Refused::Unavailable,
        })?;
        self.roster.of_claims(&claims).ok_or(Refused::Forbidden)
    }

    /// What a refusal says in `WWW-Authenticate` (RFC 6750, section 3; RFC 9728, section 5.1).
    #[must_use]
    pub fn challenge(&self, refused: &Refused) -> Option<HeaderValue> {
        let mut parts: Vec<String> = Vec::new();
        match refused {
            Refused::Unproven => {}
            Refused::Invalid => parts.push("error=\"invalid_token\"".to_owned()),
            Refused::Forbidden => parts.push("error=\"insufficient_scope\"".to_owned()),
            Refused::Unavailable => return None,
        }
        if let Some(issuer) = &self.issuer {
            parts.push(format!("resource_metadata=\"{}\"", issuer.metadata_url()));
            if let Some(scopes) = issuer.scopes() {
                parts.push(format!("scope=\"{scopes}\""));
            }
        }
        let challenge = match parts.is_empty() {
            true => "Bearer".to_owned(),
            false => format!("Bearer {}", parts.join(", ")),
        };
        HeaderValue::from_str(&challenge).ok()
    }

    /// The document at a path, if it is one where the metadata of the protected resource is (RFC 9728, section 3).
    #[must_use]
    pub fn metadata(&self, path: &str) -> Option<&str> {
        self.issuer.as_ref()?.metadata(path)
    }

    /// The host of its own address, which it is to be answered as.
    #[must_use]
    pub fn own_host(&self) -> Option<&str> {
        self.issuer.as_ref()?.own_host()
    }

    /// Who may come.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        &self.roster
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("roster", &self.roster)
            .finish_non_exhaustive()
    }
}

/// The token that a header presents.
fn token_of(said: &HeaderValue, proof: Proof) -> Option<String> {
    let (scheme, rest) = said.to_str().ok()?.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.to_owned());
    }
    if proof == Proof::BearerOrBasic && scheme.eq_ignore_ascii_case("basic") {
        let pair = String::from_utf8(STANDARD.decode(rest).ok()?).ok()?;
        return Some(pair.split_once(':')?.1.to_owned());
    }
    None
}
