//! Signed texts (RFC 7515, 7519): the little of them that a client writes. Nothing here reads one.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};

use crate::config::Secret;
use crate::web::{AuthError, SettingsFault};

/// How long an assertion of ours is good for.
const ASSERTION_LIFETIME: Duration = Duration::from_secs(120);

/// A private key that signs assertions. Debug shows nothing of it.
pub struct SigningKey {
    pair: KeyPair,
    id: Option<String>,
}

enum KeyPair {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// A PKCS #8 key in PEM: P-256 (`ES256`), Ed25519 (`EdDSA`) or RSA (`RS256`).
    ///
    /// # Errors
    /// [`SettingsFault::PrivateKey`].
    pub fn from_pem(pem: &Secret) -> Result<Self, AuthError> {
        let fault = || AuthError::Settings(SettingsFault::PrivateKey);
        let der =
            PrivatePkcs8KeyDer::from_pem_slice(pem.reveal().as_bytes()).map_err(|_| fault())?;
        let der = der.secret_pkcs8_der();
        let pair = p256(der)
            .map(KeyPair::P256)
            .or_else(|| {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der);
                pair.ok().map(KeyPair::Ed25519)
            })
            .or_else(|| RsaKeyPair::from_pkcs8(der).ok().map(KeyPair::Rsa))
            .ok_or_else(fault)?;
        Ok(Self { pair, id: None })
    }

    /// Names the key (`kid`), where the authorization server knows several.
    #[must_use]
    pub fn key_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The assertion with which a client authenticates to `audience` (RFC 7523, section 3).
    pub(super) fn client_assertion(
        &self,
        client: &str,
        audience: &str,
    ) -> Result<Secret, AuthError> {
        let now = unix_now();
        let mut header = json!({ "typ": "JWT", "alg": self.algorithm() });
        if let Some(id) = &self.id {
            header["kid"] = json!(id);
        }
        let claims = json!({
            "iss": client,
            "sub": client,
            "aud": audience,
            "jti": random_text()?,
            "iat": now,
            "exp": now + ASSERTION_LIFETIME.as_secs(),
        });
        self.sign(&header, &claims).map(Secret::new)
    }

    fn algorithm(&self) -> &'static str {
        match &self.pair {
            KeyPair::P256(_) => "ES256",
            KeyPair::Ed25519(_) => "EdDSA",
            KeyPair::Rsa(_) => "RS256",
        }
    }

    fn sign(&self, header: &Value, claims: &Value) -> Result<String, AuthError> {
        sign(header, claims, |text| match &self.pair {
            KeyPair::P256(pair) => sign_p256(pair, text),
            KeyPair::Ed25519(pair) => Some(pair.sign(text).as_ref().to_vec()),
            KeyPair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(
                    &RSA_PKCS1_SHA256,
                    &SystemRandom::new(),
                    text,
                    &mut signature,
                )
                .ok()
                .map(|()| signature)
            }
        })
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(****)")
    }
}

/// A compact JWS of `claims`.
pub(super) fn sign(
    header: &Value,
    claims: &Value,
    signature: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
) -> Result<String, AuthError> {
    let mut text = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header.to_string()),
        URL_SAFE_NO_PAD.encode(claims.to_string())
    );
    let signature = signature(text.as_bytes()).ok_or(AuthError::Settings(SettingsFault::Random))?;
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut text);
    Ok(text)
}

/// A P-256 key out of its PKCS #8 form.
pub(super) fn p256(pkcs8: &[u8]) -> Option<EcdsaKeyPair> {
    let random = SystemRandom::new();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random).ok()
}

pub(super) fn sign_p256(pair: &EcdsaKeyPair, text: &[u8]) -> Option<Vec<u8>> {
    let signature = pair.sign(&SystemRandom::new(), text).ok()?;
    Some(signature.as_ref().to_vec())
}

/// 32 random bytes as text: a PKCE verifier, a state, an id. Never guessed, never repeated.
pub(super) fn random_text() -> Result<String, AuthError> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| AuthError::Settings(SettingsFault::Random))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Seconds since 1970; 0 before.
pub(super) fn unix_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
