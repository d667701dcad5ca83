//! The token endpoint: one form, one answer, whatever the grant (RFC 6749, 7523, 8693, 8707, 9449).

use std::collections::BTreeMap;
use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde::Deserialize;
use serde_json::Value;
use url::{Url, form_urlencoded};

use super::client::{Client, ClientAuth};
use super::credentials::{Scheme, Tokens};
use super::dpop::DpopKey;
use super::fetch::{origin, send, unreachable, unsound};
use super::jwt::{SigningKey, unix_now};
use super::scopes::Scopes;
use crate::config::Secret;
use crate::web::{AuthError, Exchange, Fetched, HttpClient, OAuthErrorCode, Unsound};

/// A longer token is refused: it could not be sent anyway.
const MAX_TOKEN_BYTES: usize = 32 * 1024;

/// How many origins' nonces are remembered.
const MAX_NONCES: usize = 16;

pub(super) static DPOP: HeaderName = HeaderName::from_static("dpop");
static DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// The newest nonce of each origin (RFC 9449, sections 8 and 9).
#[derive(Debug, Default)]
pub(super) struct Nonces(Mutex<BTreeMap<String, String>>);

impl Nonces {
    /// Remembers the nonce of an answer. Whether there was one.
    pub(super) fn take(&self, url: &Url, headers: &HeaderMap) -> bool {
        let nonce = headers
            .get(&DPOP_NONCE)
            .and_then(|nonce| nonce.to_str().ok());
        let Some(nonce) = nonce.filter(|nonce| !nonce.is_empty() && nonce.len() <= 1024) else {
            return false;
        };
        let Ok(mut nonces) = self.0.lock() else {
            return false;
        };
        let origin = origin(url);
        if nonces.len() >= MAX_NONCES && !nonces.contains_key(&origin) {
            nonces.clear();
        }
        nonces.insert(origin, nonce.to_owned());
        true
    }

    pub(super) fn of(&self, url: &Url) -> Option<String> {
        self.0.lock().ok()?.get(&origin(url)).cloned()
    }
}

/// One request of a token endpoint.
pub(super) struct TokenRequest<'r> {
    pub(super) endpoint: &'r Url,
    pub(super) what: Exchange,
    pub(super) client: &'r Client,
    /// With what a client of `private_key_jwt` signs.
    pub(super) key: Option<&'r SigningKey>,
    /// For whom an assertion is meant.
    pub(super) issuer: &'r str,
    pub(super) form: Vec<(&'static str, &'r str)>,
    pub(super) dpop: Option<&'r DpopKey>,
}

/// What a token endpoint gave.
#[derive(Deserialize)]
pub(super) struct TokenResponse {
    pub(super) access_token: Option<String>,
    token_type: Option<String>,
    expires_in: Option<Value>,
    refresh_token: Option<String>,
    scope: Option<String>,
    pub(super) issued_token_type: Option<String>,
    error: Option<Value>,
}

impl TokenRequest<'_> {
    /// Sends the request; once more if the endpoint wants its nonce in the proof.
    pub(super) async fn send(
        &self,
        http: &HttpClient,
        nonces: &Nonces,
    ) -> Result<TokenResponse, AuthError> {
        let first = self.attempt(http, nonces).await?;
        let fresh = nonces.take(self.endpoint, &first.headers);
        let answer = if fresh && self.dpop.is_some() && wants_nonce(&first) {
            let second = self.attempt(http, nonces).await?;
            nonces.take(self.endpoint, &second.headers);
            second
        } else {
            first
        };
        self.read(&answer)
    }

    /// Sends the request once.
    pub(super) async fn attempt(
        &self,
        http: &HttpClient,
        nonces: &Nonces,
    ) -> Result<Fetched, AuthError> {
        let (headers, body) = self.write(nonces)?;
        let body = Some(Bytes::from(body));
        send(http, Method::POST, self.endpoint, self.what, headers, body).await
    }

    fn write(&self, nonces: &Nonces) -> Result<(HeaderMap, String), AuthError> {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded"),
        );
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(&self.form);
        self.authenticate(&mut form, &mut headers)?;
        if let Some(key) = self.dpop {
            let nonce = nonces.of(self.endpoint);
            let proof = key.proof("POST", self.endpoint, None, nonce.as_deref())?;
            headers.insert(DPOP.clone(), sensitive(&proof, self.endpoint)?);
        }
        Ok((headers, form.finish()))
    }

    fn authenticate(
        &self,
        form: &mut form_urlencoded::Serializer<'_, String>,
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        let client = self.client;
        match (client.method, &client.secret, self.key) {
            (ClientAuth::ClientSecretBasic, Some(secret), _) => {
                let encode = |text: &str| {
                    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
                };
                let pair = format!("{}:{}", encode(&client.id), encode(secret.reveal()));
                let value = format!("Basic {}", STANDARD.encode(pair));
                headers.insert(header::AUTHORIZATION, sensitive(&value, self.endpoint)?);
            }
            (ClientAuth::ClientSecretPost, Some(secret), _) => {
                form.append_pair("client_id", &client.id);
                form.append_pair("client_secret", secret.reveal());
            }
            (ClientAuth::PrivateKeyJwt, _, Some(key)) => {
                let assertion = key.client_assertion(&client.id, self.issuer)?;
                form.append_pair("client_id", &client.id);
                form.append_pair(
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                );
                form.append_pair("client_assertion", assertion.reveal());
            }
            _ => {
                form.append_pair("client_id", &client.id);
            }
        }
        Ok(())
    }

    fn read(&self, answer: &Fetched) -> Result<TokenResponse, AuthError> {
        if answer.status.is_server_error() {
            return Err(unreachable(self.endpoint, self.what));
        }
        let refused = || AuthError::Refused {
            origin: origin(self.endpoint),
            what: self.what,
            code: error_code(&answer.body),
        };
        if !answer.status.is_success() {
            return Err(refused());
        }
        let response: TokenResponse = serde_json::from_slice(&answer.body)
            .map_err(|_| unsound(self.endpoint, Unsound::Malformed))?;
        // Some say no with a 200.
        if response.access_token.is_none() && response.error.is_some() {
            return Err(refused());
        }
        Ok(response)
    }
}

impl TokenResponse {
    /// The tokens, checked. `requested` is what a server that names no scope has granted (RFC 6749, section 5.1).
    pub(super) fn tokens(self, endpoint: &Url, requested: &Scopes) -> Result<Tokens, AuthError> {
        let malformed = || unsound(endpoint, Unsound::Malformed);
        let sendable = |token: &String| {
            token.len() <= MAX_TOKEN_BYTES && token.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let access = self
            .access_token
            .filter(|token| !token.is_empty() && sendable(token))
            .ok_or_else(malformed)?;
        let scheme = match self.token_type.as_deref() {
            Some(scheme) if scheme.eq_ignore_ascii_case("bearer") => Scheme::Bearer,
            Some(scheme) if scheme.eq_ignore_ascii_case("dpop") => Scheme::Dpop,
            _ => return Err(malformed()),
        };
        let lifetime = match &self.expires_in {
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_u64(),
            None => None,
        };
        Ok(Tokens {
            access: Secret::new(access),
            scheme,
            refresh: self
                .refresh_token
                .filter(|token| !token.is_empty() && token.len() <= MAX_TOKEN_BYTES)
                .map(Secret::new),
            expires: lifetime.map(|lifetime| unix_now().saturating_add(lifetime)),
            issued: Some(unix_now()),
            granted: self
                .scope
                .map_or_else(|| requested.clone(), |scope| Scopes::parse(&scope)),
        })
    }
}

/// A header's value that is shown nowhere.
pub(super) fn sensitive(text: &str, endpoint: &Url) -> Result<HeaderValue, AuthError> {
    let mut value =
        HeaderValue::from_str(text).map_err(|_| unsound(endpoint, Unsound::Malformed))?;
    value.set_sensitive(true);
    Ok(value)
}

fn wants_nonce(answer: &Fetched) -> bool {
    answer.status.is_client_error() && error_name(&answer.body).as_deref() == Some("use_dpop_nonce")
}

fn error_name(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        error: String,
    }
    serde_json::from_slice(body)
        .ok()
        .map(|named: Named| named.error)
}

/// The error that an answer names.
pub(super) fn error_code(body: &[u8]) -> OAuthErrorCode {
    error_name(body).map_or(OAuthErrorCode::Other, |name| code_of(&name))
}

/// What an error's name means.
pub(super) fn code_of(name: &str) -> OAuthErrorCode {
    match name {
        "invalid_request" => OAuthErrorCode::InvalidRequest,
        "invalid_client" => OAuthErrorCode::InvalidClient,
        "invalid_grant" => OAuthErrorCode::InvalidGrant,
        "unauthorized_client" => OAuthErrorCode::UnauthorizedClient,
        "unsupported_grant_type" => OAuthErrorCode::UnsupportedGrantType,
        "unsupported_response_type" => OAuthErrorCode::UnsupportedResponseType,
        "invalid_scope" => OAuthErrorCode::InvalidScope,
        "invalid_target" => OAuthErrorCode::InvalidTarget,
        "access_denied" => OAuthErrorCode::AccessDenied,
        "server_error" | "temporarily_unavailable" => OAuthErrorCode::ServerError,
        "invalid_redirect_uri" => OAuthErrorCode::InvalidRedirectUri,
        "invalid_client_metadata" => OAuthErrorCode::InvalidClientMetadata,
        "use_dpop_nonce" | "invalid_dpop_proof" => OAuthErrorCode::Dpop,
        _ => OAuthErrorCode::Other,
    }
}
