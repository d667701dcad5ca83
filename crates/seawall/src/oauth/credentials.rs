//! What is kept of a login: the client, the tokens and the key, by issuer.
//!
//! **Invariant:** what one issuer gave is never shown to another one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

use super::client::Client;
use super::jwt::unix_now;
use super::scopes::Scopes;
use crate::config::Secret;

/// The layout of the kept text.
const VERSION: u32 = 1;

/// A token is renewed this long before it expires, in seconds.
const RENEW_BEFORE: u64 = 30;

/// A token that was issued so many seconds ago is a new one.
const NEW_FOR: u64 = 60;

/// Everything that is kept for one server and one way of being a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    version: u32,
    /// The issuer of the newest login.
    pub(super) current: Option<String>,
    pub(super) logins: BTreeMap<String, Login>,
}

/// What one issuer gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Login {
    pub(super) resource: String,
    pub(super) client: Client,
    /// The redirect address that the client was registered with, if it was registered here.
    pub(super) redirect: Option<Url>,
    pub(super) token_endpoint: Url,
    pub(super) revocation_endpoint: Option<Url>,
    /// The scopes that were asked for so far.
    pub(super) requested: Scopes,
    /// `None` after the refresh token was refused: the client is still good.
    pub(super) tokens: Option<Tokens>,
    #[serde(default, with = "hidden::option")]
    pub(super) dpop_key: Option<Secret>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Tokens {
    #[serde(with = "hidden")]
    pub(super) access: Secret,
    pub(super) scheme: Scheme,
    #[serde(default, with = "hidden::option")]
    pub(super) refresh: Option<Secret>,
    /// When it expires, in seconds since 1970, if that was said.
    pub(super) expires: Option<u64>,
    /// When it was issued, in seconds since 1970.
    #[serde(default)]
    pub(super) issued: Option<u64>,
    pub(super) granted: Scopes,
}

/// How a token is presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Scheme {
    Bearer,
    #[serde(rename = "DPoP")]
    Dpop,
}

impl Kept {
    /// What a store gave; nothing if it is not ours to read.
    pub(super) fn read(text: Option<&Secret>) -> Self {
        text.and_then(|text| serde_json::from_str::<Self>(text.reveal()).ok())
            .filter(|kept| kept.version == VERSION)
            .unwrap_or_default()
    }

    /// What a store keeps.
    pub(super) fn write(&self) -> Option<Secret> {
        serde_json::to_string(self).ok().map(Secret::new)
    }

    /// The newest login.
    pub(super) fn newest(&self) -> Option<(&str, &Login)> {
        let issuer = self.current.as_deref()?;
        Some((issuer, self.logins.get(issuer)?))
    }

    pub(super) fn newest_mut(&mut self) -> Option<&mut Login> {
        self.logins.get_mut(self.current.as_deref()?)
    }

    /// Keeps `login` as the newest one.
    pub(super) fn put(&mut self, issuer: &str, login: Login) {
        self.current = Some(issuer.to_owned());
        self.logins.insert(issuer.to_owned(), login);
    }
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            version: VERSION,
            current: None,
            logins: BTreeMap::new(),
        }
    }
}

impl Tokens {
    /// Whether the token is (nearly) over.
    pub(super) fn is_due(&self) -> bool {
        self.expires
            .is_some_and(|expires| expires <= unix_now().saturating_add(RENEW_BEFORE))
    }

    /// Whether the token was issued just now.
    pub(super) fn is_new(&self) -> bool {
        let now = unix_now();
        self.issued
            .is_some_and(|issued| issued <= now && now - issued < NEW_FOR)
    }

    /// Whether the token is over.
    pub(super) fn is_over(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= unix_now())
    }
}

/// Secrets as texts, in what is kept and nowhere else.
pub(super) mod hidden {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::config::Secret;

    pub(in crate::oauth) fn serialize<S: Serializer>(
        secret: &Secret,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.reveal())
    }

    pub(in crate::oauth) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Secret, D::Error> {
        String::deserialize(deserializer).map(Secret::new)
    }

    pub(in crate::oauth) mod option {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        use crate::config::Secret;

        pub(in crate::oauth) fn serialize<S: Serializer>(
            secret: &Option<Secret>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            secret.as_ref().map(Secret::reveal).serialize(serializer)
        }

        pub(in crate::oauth) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Secret>, D::Error> {
            let text = Option::<String>::deserialize(deserializer)?;
            Ok(text.map(Secret::new))
        }
    }
}
