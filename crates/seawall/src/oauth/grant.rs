//! What a token is asked for with.

use std::path::PathBuf;

use url::Url;

use super::client::StaticClient;
use crate::config::Secret;
use crate::web::{AuthError, SettingsFault};

/// How a token is come by.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Grant {
    /// A user logs in with a browser. The default.
    #[default]
    AuthorizationCode,
    /// The client stands for itself (SEP-1046). It has to be a [`StaticClient`] with a secret or a key.
    ClientCredentials,
    /// A workload's own assertion (RFC 7523, SEP-1933).
    JwtBearer(Assertion),
    /// An identity provider decides for the user (enterprise-managed authorization, SEP-990).
    EnterpriseManaged(IdentityProvider),
}

impl Grant {
    /// What of it must not be recorded, so far as it is known before it is used.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let (assertion, client) = match self {
            Self::AuthorizationCode | Self::ClientCredentials => (None, None),
            Self::JwtBearer(assertion) => (Some(assertion), None),
            Self::EnterpriseManaged(provider) => (Some(&provider.id_token), Some(&provider.client)),
        };
        let fixed = assertion.and_then(|assertion| match assertion {
            Assertion::Fixed(text) => Some(text),
            Assertion::File(_) => None,
        });
        fixed
            .into_iter()
            .chain(client.and_then(StaticClient::known_secret))
    }
}

/// A signed text that somebody else made. Debug hides it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Assertion {
    /// Always this one.
    Fixed(Secret),
    /// What the file holds at the time, as an orchestrator puts it there.
    File(PathBuf),
}

impl Assertion {
    pub(super) async fn read(&self) -> Result<Secret, AuthError> {
        match self {
            Self::Fixed(text) => Ok(text.clone()),
            Self::File(path) => {
                let path = path.clone();
                let text = tokio::task::spawn_blocking(move || std::fs::read_to_string(path)).await;
                let fault = || AuthError::Settings(SettingsFault::Assertion);
                let text = text.map_err(|_| fault())?.map_err(|_| fault())?;
                Ok(Secret::new(text.trim()))
            }
        }
    }
}

/// An organisation's identity provider, which vouches for the user.
#[derive(Debug, Clone)]
pub struct IdentityProvider {
    pub(super) token_endpoint: Url,
    pub(super) client: StaticClient,
    pub(super) id_token: Assertion,
}

impl IdentityProvider {
    /// `client` is the one that the id token was issued to.
    #[must_use]
    pub fn new(token_endpoint: Url, client: StaticClient, id_token: Assertion) -> Self {
        Self {
            token_endpoint,
            client,
            id_token,
        }
    }
}
