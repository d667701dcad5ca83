//! The signatures that are taken, checked by `ring`.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};

/// What a token may be signed with: nothing that its reader could have made too, and not `none`.
pub(super) const TAKEN: [Algorithm; 9] = [
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
];

/// Has the library check signatures in this way, unless the process has it do so in another.
pub(super) fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: no_signer,
        verifier_factory: verifier,
        key_utils: KeyUtils::new_unimplemented(),
    };
    // The first of the process stays.
    let _ = PROVIDER.install_default();
}

struct Check {
    algorithm: Algorithm,
    key: DecodingKey,
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    if !TAKEN.contains(algorithm) || algorithm.family() != key.family() {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    Ok(Box::new(Check {
        algorithm: *algorithm,
        key: key.clone(),
    }))
}

impl Verifier<Vec<u8>> for Check {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let plain: &dyn VerificationAlgorithm = match self.algorithm {
            Algorithm::ES256 => &ECDSA_P256_SHA256_FIXED,
            Algorithm::ES384 => &ECDSA_P384_SHA384_FIXED,
            Algorithm::EdDSA => &ED25519,
            Algorithm::RS256 => return self.rsa(&RSA_PKCS1_2048_8192_SHA256, message, signature),
            Algorithm::RS384 => return self.rsa(&RSA_PKCS1_2048_8192_SHA384, message, signature),
            Algorithm::RS512 => return self.rsa(&RSA_PKCS1_2048_8192_SHA512, message, signature),
            Algorithm::PS256 => return self.rsa(&RSA_PSS_2048_8192_SHA256, message, signature),
            Algorithm::PS384 => return self.rsa(&RSA_PSS_2048_8192_SHA384, message, signature),
            Algorithm::PS512 => return self.rsa(&RSA_PSS_2048_8192_SHA512, message, signature),
            _ => return Err(signature::Error::new()),
        };
        let key = self.key.try_get_as_bytes();
        let key = key.map_err(|_| signature::Error::new())?;
        let checked = UnparsedPublicKey::new(plain, key).verify(message, signature);
        checked.map_err(|_| signature::Error::new())
    }
}

impl Check {
    fn rsa(
        &self,
        algorithm: &RsaParameters,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), signature::Error> {
        let DecodingKeyKind::RsaModulusExponent { n, e } = self.key.kind() else {
            return Err(signature::Error::new());
        };
        let checked = RsaPublicKeyComponents { n, e }.verify(algorithm, message, signature);
        checked.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Check {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
