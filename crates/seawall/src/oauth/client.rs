//! Being a client of an authorization server: configured, by a metadata document, or registered (RFC 7591).

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::credentials::hidden;
use super::discovery::AuthorizationServer;
use super::fetch::{origin, send, unsound};
use super::jwt::{SigningKey, unix_now};
use super::scopes::Scopes;
use super::token::error_code;
use crate::config::Secret;
use crate::web::{AuthError, Exchange, HttpClient, Unsound};

/// A longer client id or secret is refused, for it is kept and sent.
const MAX_CLIENT_BYTES: usize = 32 * 1024;

/// How Seawall is a client of an authorization server. Several may be configured; they are tried in this order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ClientRegistration {
    /// Registered by hand.
    Static(StaticClient),
    /// The URL of a client metadata document, where the authorization server takes one: `https`, with a path.
    MetadataDocument(Url),
    /// Registered by itself at the first login (RFC 7591). Configured by default.
    Dynamic,
    /// Never registers by itself.
    NotDynamic,
}

/// A client that was registered by hand.
#[derive(Debug, Clone)]
pub struct StaticClient {
    pub(super) id: String,
    pub(super) issuer: Option<String>,
    pub(super) proof: ClientProof,
}

/// How a configured client authenticates.
#[derive(Debug, Clone)]
pub(super) enum ClientProof {
    Public,
    Secret(Secret),
    Key(Arc<SigningKey>),
}

impl StaticClient {
    /// A client without a secret.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            issuer: None,
            proof: ClientProof::Public,
        }
    }

    /// Authenticates with a secret (`client_secret_basic` or `client_secret_post`, as the authorization server wants).
    #[must_use]
    pub fn secret(mut self, secret: Secret) -> Self {
        self.proof = ClientProof::Secret(secret);
        self
    }

    /// Authenticates with a signed assertion (`private_key_jwt`, RFC 7523).
    #[must_use]
    pub fn private_key(mut self, key: SigningKey) -> Self {
        self.proof = ClientProof::Key(Arc::new(key));
        self
    }

    /// The authorization server that the client is registered with: it is shown to no other one. Without this, the first
    /// one that the server names counts.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    pub(super) fn key(&self) -> Option<&SigningKey> {
        match &self.proof {
            ClientProof::Key(key) => Some(key),
            _ => None,
        }
    }

    pub(super) fn known_secret(&self) -> Option<&Secret> {
        match &self.proof {
            ClientProof::Secret(secret) => Some(secret),
            _ => None,
        }
    }

    /// The client, as `server` wants it to authenticate.
    pub(super) fn for_server(&self, server: &AuthorizationServer) -> Client {
        let (secret, method) = match &self.proof {
            ClientProof::Public => (None, ClientAuth::None),
            ClientProof::Secret(secret) => (Some(secret.clone()), secret_method(server)),
            ClientProof::Key(_) => (None, ClientAuth::PrivateKeyJwt),
        };
        Client {
            id: self.id.clone(),
            secret,
            method,
            secret_expires: None,
            scopes: None,
        }
    }
}

/// A client as it is shown to a token endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) id: String,
    #[serde(default, with = "hidden::option")]
    pub(super) secret: Option<Secret>,
    pub(super) method: ClientAuth,
    /// When the secret expires, in seconds since 1970.
    pub(super) secret_expires: Option<u64>,
    /// The scopes that it registered for, which are all that it may ask for; `None` if it did not register by itself.
    #[serde(default)]
    pub(super) scopes: Option<Scopes>,
}

/// How a client authenticates at a token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientAuth {
    None,
    ClientSecretBasic,
    ClientSecretPost,
    PrivateKeyJwt,
}

impl Client {
    /// A client without a secret.
    pub(super) fn public(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            secret: None,
            method: ClientAuth::None,
            secret_expires: None,
            scopes: None,
        }
    }

    /// Whether it may ask for `wanted`, as far as is known.
    pub(super) fn may_ask_for(&self, wanted: &Scopes) -> bool {
        self.scopes.as_ref().is_none_or(|own| own.covers(wanted))
    }

    pub(super) fn is_over(&self) -> bool {
        self.secret_expires
            .is_some_and(|expires| expires <= unix_now())
    }
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    client_secret_expires_at: Option<u64>,
    token_endpoint_auth_method: Option<String>,
    scope: Option<String>,
}

/// Registers a client for `redirect` that may ask for `scopes` (RFC 7591, section 2: without them, for what the server
/// makes the default).
pub(super) async fn register(
    http: &HttpClient,
    server: &AuthorizationServer,
    endpoint: &Url,
    name: &str,
    redirect: &Url,
    scopes: &Scopes,
) -> Result<Client, AuthError> {
    let method = match &server.client_auth {
        Some(methods) if !methods.iter().any(|method| method == "none") => {
            wire_name(secret_method(server))
        }
        _ => "none",
    };
    let mut body = json!({
        "client_name": name,
        "redirect_uris": [redirect.as_str()],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native",
    });
    if let Some(scope) = scopes.parameter() {
        body["scope"] = scope.into();
    }
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    let what = Exchange::Registration;
    let body = Some(Bytes::from(body.to_string()));
    let fetched = send(http, Method::POST, endpoint, what, headers, body).await?;
    if !fetched.status.is_success() {
        return Err(AuthError::Refused {
            origin: origin(endpoint),
            what,
            code: error_code(&fetched.body),
        });
    }
    let registered: Registered =
        serde_json::from_slice(&fetched.body).map_err(|_| unsound(endpoint, Unsound::Malformed))?;
    let longest = registered.client_secret.as_ref().map_or(0, String::len);
    let longest = longest.max(registered.client_id.len());
    if registered.client_id.is_empty() || longest > MAX_CLIENT_BYTES {
        return Err(unsound(endpoint, Unsound::Malformed));
    }
    let secret = registered.client_secret.filter(|secret| !secret.is_empty());
    let method = match registered.token_endpoint_auth_method.as_deref() {
        _ if secret.is_none() => ClientAuth::None,
        Some("none") => ClientAuth::None,
        Some("client_secret_basic") => ClientAuth::ClientSecretBasic,
        Some("client_secret_post") => ClientAuth::ClientSecretPost,
        _ => secret_method(server),
    };
    // Whatever it made of them: they were asked for, and asking again gives nothing else.
    let given = registered.scope.as_deref().map(Scopes::parse);
    Ok(Client {
        id: registered.client_id,
        secret: secret.map(Secret::new),
        method,
        secret_expires: registered.client_secret_expires_at.filter(|at| *at != 0),
        scopes: Some(scopes.union(&given.unwrap_or_default())),
    })
}

/// How a client with a secret authenticates: in the body where the server says that it may, which every server of OAuth 2.1
/// takes (section 2.4.1; some that list both take Basic only with the client's id in the body too), else with Basic (RFC 8414's
/// default).
fn secret_method(server: &AuthorizationServer) -> ClientAuth {
    let takes = |name: &str| {
        let methods = server.client_auth.as_ref();
        methods.is_some_and(|methods| methods.iter().any(|method| method == name))
    };
    if takes("client_secret_post") {
        ClientAuth::ClientSecretPost
    } else {
        ClientAuth::ClientSecretBasic
    }
}

fn wire_name(method: ClientAuth) -> &'static str {
    match method {
        ClientAuth::None => "none",
        ClientAuth::ClientSecretBasic => "client_secret_basic",
        ClientAuth::ClientSecretPost => "client_secret_post",
        ClientAuth::PrivateKeyJwt => "private_key_jwt",
    }
}
