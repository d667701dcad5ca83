//! TLS for the test's own server. The key is public: it guards nothing, and nobody trusts its root.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The root certificate of the servers here, in PEM. Its own key was thrown away.
pub const TEST_ROOT: &str = include_str!("tls/root.pem");

const CERTIFICATE: &[u8] = include_bytes!("tls/leaf.pem");
const KEY: &[u8] = include_bytes!("tls/leaf.key");

/// What a server for `127.0.0.1` with a certificate of [`TEST_ROOT`] says of itself.
#[must_use]
#[expect(clippy::expect_used, reason = "a test cannot go on without it")]
pub fn test_tls() -> ServerConfig {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(KEY).expect("its key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("TLS 1.2 and 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("they belong together")
}
