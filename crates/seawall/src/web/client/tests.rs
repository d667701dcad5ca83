//! What an HTTP client is built of.

use super::*;

/// A root certificate that is none is told, not passed over: trust that was asked for is there.
#[test]
fn root_certificates_are_pem() {
    for pem in ["", "not a certificate\n"] {
        let built = HttpClient::builder().root_certificate(pem).build();
        assert!(matches!(built, Err(HttpClientError::NoRootCertificate)));
    }
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let built = HttpClient::builder().root_certificate(broken).build();
    assert!(built.is_err());
}

/// The policy is asked with the method and the origin alone, before anything is sent.
#[test]
fn egress_policy_is_asked_with_method_and_origin() {
    let policy = |method: &str, origin: &str| method == "GET" && origin == "https://example.com";
    let client = HttpClient::builder()
        .egress(Arc::new(policy))
        .build()
        .unwrap();
    let url = |text: &str| Url::parse(text).unwrap();
    let allowed = url("https://example.com/a?b");
    assert!(client.request(Method::GET, &allowed).is_ok());
    for (method, refused) in [
        (Method::POST, "https://example.com/a"),
        (Method::GET, "http://example.com/a"),
        (Method::GET, "https://example.com:8443/secret"),
    ] {
        let refusal = client.request(method, &url(refused)).unwrap_err();
        assert!(!refusal.to_string().contains("secret"), "{refusal}");
    }
}
