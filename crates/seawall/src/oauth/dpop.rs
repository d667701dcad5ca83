//! Proof of possession (RFC 9449): a token that is worth nothing without the key that it is bound to.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::jwt::{p256, random_text, sign, sign_p256, unix_now};
use crate::config::Secret;
use crate::web::{AuthError, SettingsFault};

/// The one algorithm that is offered.
pub(super) const ALGORITHM: &str = "ES256";

/// Whether tokens are bound to a key (DPoP, RFC 9449).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dpop {
    /// If the server asks for it and its authorization server can. The default.
    #[default]
    Auto,
    /// Always; a login that gives no bound token fails.
    Required,
    /// Never.
    Off,
}

/// A P-256 key that tokens are bound to. Debug shows nothing of it.
pub(super) struct DpopKey {
    pair: EcdsaKeyPair,
    stored: Secret,
    jwk: Value,
}

impl DpopKey {
    pub(super) fn generate() -> Result<Self, AuthError> {
        let fault = AuthError::Settings(SettingsFault::Random);
        let pkcs8 =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
                .map_err(|_| fault.clone())?;
        Self::from_pkcs8(pkcs8.as_ref()).ok_or(fault)
    }

    /// A key out of the form that [`stored`](Self::stored) gave.
    pub(super) fn restore(stored: &Secret) -> Option<Self> {
        let pkcs8 = URL_SAFE_NO_PAD.decode(stored.reveal()).ok()?;
        Self::from_pkcs8(&pkcs8)
    }

    /// The form in which it is kept.
    pub(super) fn stored(&self) -> &Secret {
        &self.stored
    }

    /// A proof for one request, never used twice.
    pub(super) fn proof(
        &self,
        method: &str,
        url: &Url,
        token: Option<&str>,
        nonce: Option<&str>,
    ) -> Result<String, AuthError> {
        let mut target = url.clone();
        target.set_query(None);
        target.set_fragment(None);
        let mut claims = json!({
            "jti": random_text()?,
            "htm": method,
            "htu": target.as_str(),
            "iat": unix_now(),
        });
        if let Some(token) = token {
            claims["ath"] = json!(URL_SAFE_NO_PAD.encode(Sha256::digest(token)));
        }
        if let Some(nonce) = nonce {
            claims["nonce"] = json!(nonce);
        }
        let header = json!({ "typ": "dpop+jwt", "alg": ALGORITHM, "jwk": self.jwk });
        sign(&header, &claims, |text| sign_p256(&self.pair, text))
    }

    fn from_pkcs8(pkcs8: &[u8]) -> Option<Self> {
        let pair = p256(pkcs8)?;
        let point = pair.public_key().as_ref().strip_prefix(&[4])?;
        let (x, y) = point.split_at_checked(32)?;
        let jwk = json!({
            "kty": "EC",
            "crv": "P-256",
            "x": URL_SAFE_NO_PAD.encode(x),
            "y": URL_SAFE_NO_PAD.encode(y),
        });
        Some(Self {
            stored: Secret::new(URL_SAFE_NO_PAD.encode(pkcs8)),
            pair,
            jwk,
        })
    }
}

impl fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DpopKey(****)")
    }
}
