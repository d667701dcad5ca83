use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    UnparsedPublicKey,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::world::{Reply, Running, Seen};
use crate::config::Secret;
use crate::oauth::{
    Assertion, ClientRegistration, Dpop, Grant, IdentityProvider, MemoryStore, OAuth, OAuthBuilder,
    SigningKey, StaticClient, TokenStore,
};
use crate::web::{AuthError, OAuthErrorCode, SettingsFault, Unsound};

/// A configuration that cannot ask anybody.
fn machine(running: &Running, grant: Grant, client: StaticClient) -> OAuthBuilder {
    OAuth::builder("demo", running.url(), running.http.clone())
        .grant(grant)
        .client(ClientRegistration::Static(client))
}

fn part(jwt: &str, nth: usize) -> Value {
    let part = jwt.split('.').nth(nth).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

fn verify(jwt: &str, public: &[u8]) {
    let (text, signature) = jwt.rsplit_once('.').unwrap();
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public)
        .verify(text.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap())
        .unwrap();
}

/// T5, SEP-1046
#[tokio::test]
async fn a_client_stands_for_itself_with_a_secret() {
    let running = Running::start().await;
    let client = StaticClient::new("machine").secret(Secret::new("hush"));
    let oauth = machine(&running, Grant::ClientCredentials, client);
    assert_eq!(running.call(&oauth.build().unwrap()).await, Ok(200));
    let token = &running.seen("/token")[0];
    assert_eq!(token.field("grant_type"), "client_credentials");
    assert_eq!(token.field("resource"), running.url().as_str());
    let basic = format!("Basic {}", STANDARD.encode("machine:hush"));
    assert_eq!(token.header("authorization"), basic);
}

/// T5, SEP-1046
#[tokio::test]
async fn a_client_stands_for_itself_with_a_key() {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random)
        .unwrap();
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(pkcs8.as_ref())
    );
    let key = SigningKey::from_pem(&Secret::new(pem)).unwrap().key_id("k");

    let running = Running::start().await;
    let client = StaticClient::new("machine").private_key(key);
    let oauth = machine(&running, Grant::ClientCredentials, client);
    assert_eq!(running.call(&oauth.build().unwrap()).await, Ok(200));
    let token = &running.seen("/token")[0];
    assert_eq!(
        token.field("client_assertion_type"),
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    );
    let assertion = token.field("client_assertion");
    verify(assertion, pair.public_key().as_ref());
    let (header, claims) = (part(assertion, 0), part(assertion, 1));
    assert_eq!(header, json!({ "alg": "ES256", "typ": "JWT", "kid": "k" }));
    assert_eq!(claims["iss"], "machine");
    assert_eq!(claims["sub"], "machine");
    assert_eq!(claims["aud"], running.world.origin);
    assert!(claims["exp"].as_u64() > claims["iat"].as_u64());
}

#[test]
fn a_key_of_no_known_kind_is_refused() {
    for pem in [
        "",
        "nonsense",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ] {
        let error = SigningKey::from_pem(&Secret::new(pem)).unwrap_err();
        assert_eq!(error, AuthError::Settings(SettingsFault::PrivateKey));
    }
}

/// T5, SEP-1933
#[tokio::test]
async fn a_workload_shows_its_assertion_once() {
    let running = Running::start().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "the.workload.jwt\n").unwrap();
    let grant = Grant::JwtBearer(Assertion::File(path));
    let oauth = machine(&running, grant.clone(), StaticClient::new("workload"));
    assert_eq!(running.call(&oauth.build().unwrap()).await, Ok(200));
    let token = &running.seen("/token")[0];
    assert_eq!(
        token.field("grant_type"),
        "urn:ietf:params:oauth:grant-type:jwt-bearer"
    );
    assert_eq!(token.field("assertion"), "the.workload.jwt");
    assert_eq!(token.field("client_id"), "workload");

    let refusing = Running::with(|seen, _| {
        let refusal = json!({ "error": "invalid_scope" });
        (seen.path == "/token").then(|| Reply::json(400, &refusal))
    })
    .await;
    let oauth = machine(&refusing, grant, StaticClient::new("workload"));
    let error = refusing.call(&oauth.build().unwrap()).await.unwrap_err();
    let code = OAuthErrorCode::InvalidScope;
    assert!(matches!(error, AuthError::Refused { code: c, .. } if c == code));
    assert_eq!(refusing.seen("/token").len(), 1);
}

/// T5, SEP-990
#[tokio::test]
async fn an_identity_provider_vouches_for_the_user() {
    let running = Running::with(|seen, _| {
        let grant = json!({
            "access_token": "the.id.jag",
            "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            "token_type": "N_A",
        });
        (seen.path == "/idp").then(|| Reply::json(200, &grant))
    })
    .await;
    let provider = IdentityProvider::new(
        Url::parse(&format!("{}/idp", running.world.origin)).unwrap(),
        StaticClient::new("at-the-idp"),
        Assertion::Fixed(Secret::new("the.id.token")),
    );
    let client = StaticClient::new("at-the-as").secret(Secret::new("hush"));
    let oauth = machine(&running, Grant::EnterpriseManaged(provider), client);
    assert_eq!(running.call(&oauth.build().unwrap()).await, Ok(200));
    let exchange = &running.seen("/idp")[0];
    for (name, value) in [
        (
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ),
        (
            "requested_token_type",
            "urn:ietf:params:oauth:token-type:id-jag",
        ),
        (
            "subject_token_type",
            "urn:ietf:params:oauth:token-type:id_token",
        ),
        ("subject_token", "the.id.token"),
        ("audience", running.world.origin.as_str()),
        ("resource", running.url().as_str()),
        ("client_id", "at-the-idp"),
    ] {
        assert_eq!(exchange.field(name), value, "{name}");
    }
    let token = &running.seen("/token")[0];
    assert_eq!(token.field("assertion"), "the.id.jag");
    assert!(token.header("authorization").starts_with("Basic "));
}

/// Checks a proof, and gives its claims.
fn proof(seen: &Seen) -> Value {
    let proof = seen.header("dpop");
    let header = part(proof, 0);
    assert_eq!(header["typ"], "dpop+jwt");
    assert_eq!(header["alg"], "ES256");
    assert!(header["jwk"].get("d").is_none());
    let coordinate = |name: &str| {
        let text = header["jwk"][name].as_str().unwrap();
        URL_SAFE_NO_PAD.decode(text).unwrap()
    };
    let point = [vec![4], coordinate("x"), coordinate("y")].concat();
    verify(proof, &point);
    part(proof, 1)
}

/// T5, SEP-1932: a fresh proof with each request, with the nonce that was asked for.
#[tokio::test]
async fn a_bound_token_comes_with_a_fresh_proof() {
    let running = Running::with(|seen, world| {
        let nonce = |name: &str| {
            seen.header("dpop").split('.').nth(1).is_some_and(|claims| {
                let claims = URL_SAFE_NO_PAD.decode(claims).unwrap();
                String::from_utf8(claims).unwrap().contains(name)
            })
        };
        match seen.path.as_str() {
            "/token" if !nonce("as-nonce") => Some(
                Reply::json(400, &json!({ "error": "use_dpop_nonce" }))
                    .header("DPoP-Nonce", "as-nonce"),
            ),
            "/mcp" if seen.header("authorization").is_empty() => {
                Some(Reply::status(401).header("WWW-Authenticate", "DPoP algs=\"ES256\""))
            }
            "/mcp" if !nonce("rs-nonce") => Some(
                Reply::status(401)
                    .header("WWW-Authenticate", "DPoP error=\"use_dpop_nonce\"")
                    .header("DPoP-Nonce", "rs-nonce"),
            ),
            _ => Some(world.default(seen)),
        }
    })
    .await;
    running.change(|state| {
        state.metadata["dpop_signing_alg_values_supported"] = json!(["RS256", "ES256"]);
        state.token["token_type"] = json!("DPoP");
    });
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(running.call(&oauth).await, Ok(200));

    let tokens = running.seen("/token");
    assert_eq!(tokens.len(), 2);
    let claims = proof(&tokens[1]);
    assert_eq!(claims["htm"], "POST");
    assert_eq!(claims["htu"], format!("{}/token", running.world.origin));
    assert_eq!(claims["nonce"], "as-nonce");
    let requests = running.seen("/mcp");
    let claims: Vec<Value> = requests[1..].iter().map(proof).collect();
    let hash = URL_SAFE_NO_PAD.encode(Sha256::digest("token-1"));
    for (seen, claims) in requests[1..].iter().zip(&claims) {
        assert_eq!(seen.header("authorization"), "DPoP token-1");
        assert_eq!(claims["ath"], hash);
        assert_eq!(claims["htu"], running.url().as_str());
    }
    assert_eq!(claims.len(), 3);
    assert_ne!(claims[0]["jti"], claims[1]["jti"]);
    assert_eq!(claims[2]["nonce"], "rs-nonce");
}

/// T5
#[tokio::test]
async fn a_bound_token_is_wanted_only_where_the_server_asks_or_the_configuration_does() {
    let running = Running::start().await;
    running.change(|state| state.metadata["dpop_signing_alg_values_supported"] = json!(["ES256"]));
    assert_eq!(
        running.call(&running.oauth().build().unwrap()).await,
        Ok(200)
    );
    assert_eq!(running.seen("/token")[0].header("dpop"), "");

    let required = running.oauth().dpop(Dpop::Required).build().unwrap();
    let error = running.call(&required).await.unwrap_err();
    let not_bound = Unsound::NotBound;
    assert!(matches!(error, AuthError::Unsound { fault, .. } if fault == not_bound));
    assert_ne!(running.seen("/token")[1].header("dpop"), "");
}

/// A world that binds its tokens, and takes each of its nonces once.
async fn binding() -> Running {
    let running = Running::with(|seen, world| {
        if seen.path == "/mcp" && seen.header("authorization").starts_with("DPoP") {
            let mut state = world.state.lock().unwrap();
            let nonce = format!("nonce-{}", state.nonces);
            if part(seen.header("dpop"), 1)["nonce"] != json!(nonce) {
                return Some(
                    Reply::status(401)
                        .header("WWW-Authenticate", "DPoP error=\"use_dpop_nonce\"")
                        .header("DPoP-Nonce", nonce),
                );
            }
            state.nonces += 1;
        }
        None
    })
    .await;
    running.change(|state| {
        state.metadata["dpop_signing_alg_values_supported"] = json!(["ES256"]);
        state.resource["dpop_bound_access_tokens_required"] = json!(true);
        state.token["token_type"] = json!("DPoP");
        state.token["refresh_token"] = json!("refresh");
    });
    running
}

/// T5: a nonce that is wanted is no refusal of the token, so what is over afterwards is renewed, not logged in for.
#[tokio::test]
async fn a_nonce_that_is_wanted_does_not_stand_in_for_a_refused_token() {
    let running = binding().await;
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    running.change(|state| state.accepted.clear());
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(running.seen("/authorize").len(), 1);
    let tokens = running.seen("/token");
    assert_eq!(tokens.last().unwrap().field("grant_type"), "refresh_token");
}

/// T5: a bound token is never renewed into one that anybody could use.
#[tokio::test]
async fn a_renewal_does_not_loosen_what_was_bound() {
    let running = binding().await;
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    running.change(|state| state.token["expires_in"] = json!(0));
    running.oauth_in(&store).login().await.unwrap();
    running.change(|state| state.token["token_type"] = json!("Bearer"));
    let oauth = running.oauth_in(&store);
    let error = running.call(&oauth).await.unwrap_err();
    let not_bound = Unsound::NotBound;
    assert!(matches!(error, AuthError::Unsound { fault, .. } if fault == not_bound));
    let loose = |seen: &Seen| seen.header("authorization").starts_with("Bearer");
    assert!(!running.seen("/mcp").iter().any(loose));
}
