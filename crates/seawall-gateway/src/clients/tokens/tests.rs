//! Tokens against a small issuer on loopback.

use std::future::Future as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use seawall::HttpClient;
use seawall::config::{GatewayConfig, Source, check};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::keys::{Keys, Place};
use crate::clients::{Client, Guard, Proof, Refused};

const AUDIENCE: &str = "https://gate.example/mcp";

/// An issuer: its metadata, its keys, and how often they were asked for.
struct Issuer {
    url: String,
    keys: Arc<Mutex<Value>>,
    asked: Arc<AtomicUsize>,
    _serving: JoinSet<()>,
}

impl Issuer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(json!({"keys": []})));
        let asked = Arc::new(AtomicUsize::new(0));
        let (of, given, count) = (url.clone(), Arc::clone(&keys), Arc::clone(&asked));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 4_096];
                let read = stream.read(&mut request).await.unwrap();
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                let (status, body) = match request.split(' ').nth(1) {
                    Some("/.well-known/openid-configuration") => {
                        let keys = format!("{of}/keys");
                        (200, json!({"issuer": of, "jwks_uri": keys}))
                    }
                    Some("/keys") => {
                        count.fetch_add(1, Ordering::SeqCst);
                        (200, given.lock().unwrap().clone())
                    }
                    _ => (404, json!({})),
                };
                let body = body.to_string();
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                // Whoever asked may be gone.
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self {
            url,
            keys,
            asked,
            _serving: serving,
        }
    }

    fn publish(&self, keys: &[Value]) {
        *self.keys.lock().unwrap() = json!({"keys": keys});
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// A guard that takes its tokens.
    fn guard(&self, clients: &Value, more: &Value) -> Guard {
        let mut auth = json!({"issuer": self.url, "audience": AUDIENCE});
        for (key, value) in more.as_object().unwrap() {
            auth[key] = value.clone();
        }
        guard(&json!({"clients": clients, "auth": auth}))
    }

    /// Claims that are good for a while.
    fn claims(&self) -> Value {
        json!({"iss": self.url, "aud": AUDIENCE, "exp": now() + 60, "sub": "u"})
    }
}

fn guard(section: &Value) -> Guard {
    Guard::of(&config(section), HttpClient::new().unwrap()).unwrap()
}

fn config(section: &Value) -> GatewayConfig {
    let text = json!({"mcpServers": {}, "gateway": section}).to_string();
    let checked = check(&Source::new(&text));
    assert_eq!(checked.problems, []);
    checked.gateway
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs()
}

fn anybody() -> Value {
    json!({"people": {"claims": {}}})
}

async fn admit(guard: &Guard, token: &str) -> Result<Arc<Client>, Refused> {
    let mut headers = HeaderMap::new();
    let said = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    headers.insert("authorization", said);
    guard.admit(&headers, Proof::Bearer).await
}

/// A key of Ed25519, and its tokens.
struct Signer {
    pair: Ed25519KeyPair,
    id: &'static str,
}

impl Signer {
    fn new(id: &'static str) -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap();
        Self { pair, id }
    }

    fn jwk(&self) -> Value {
        let x = URL_SAFE_NO_PAD.encode(self.pair.public_key().as_ref());
        json!({"kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": x})
    }

    fn sign(&self, claims: &Value) -> String {
        self.sign_with(&json!({"alg": "EdDSA", "kid": self.id}), claims)
    }

    fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let text = text_of(header, claims);
        let signature = self.pair.sign(text.as_bytes());
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

fn text_of(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

/// G3: a good token is taken, its keys found by the issuer's metadata and fetched once; its subject is told from another.
#[tokio::test]
async fn a_good_token_is_taken() {
    let (issuer, signer) = (Issuer::start().await, Signer::new("k"));
    issuer.publish(&[json!({"kty": "new"}), signer.jwk()]);
    let guard = issuer.guard(&anybody(), &json!({}));
    let client = admit(&guard, &signer.sign(&issuer.claims())).await.unwrap();
    assert_eq!((client.name(), client.subject()), ("people", Some("u")));
    let mut claims = issuer.claims();
    claims["sub"] = json!("other");
    claims["aud"] = json!(["elsewhere", AUDIENCE]);
    let header = json!({"alg": "EdDSA", "kid": "k", "typ": "at+jwt"});
    let other = admit(&guard, &signer.sign_with(&header, &claims)).await;
    assert!(!other.unwrap().is_same(&client));
    // Without an id any of the keys may be meant.
    let unnamed = signer.sign_with(&json!({"alg": "EdDSA"}), &issuer.claims());
    assert!(admit(&guard, &unnamed).await.is_ok());
    assert_eq!(issuer.asked(), 1);
}

/// G3: issuer, audience and time are checked, each alone makes a token worthless.
#[tokio::test]
async fn what_a_token_says_is_checked() {
    let (issuer, signer) = (Issuer::start().await, Signer::new("k"));
    issuer.publish(&[signer.jwk()]);
    let guard = issuer.guard(&anybody(), &json!({}));
    let cases: [(&str, Value); 11] = [
        ("iss", json!("https://issuer.example/")),
        ("iss", Value::Null),
        ("iss", json!(format!("{}/", issuer.url))),
        ("aud", json!("https://gate.example/")),
        ("aud", json!([])),
        ("aud", Value::Null),
        ("exp", json!(now() - 3_600)),
        ("exp", Value::Null),
        ("exp", json!("soon")),
        ("nbf", json!(now() + 3_600)),
        ("nbf", json!("later")),
    ];
    for (claim, value) in cases {
        let mut claims = issuer.claims();
        claims[claim] = value.clone();
        let refused = admit(&guard, &signer.sign(&claims)).await.unwrap_err();
        assert_eq!(refused, Refused::Invalid, "{claim} {value}");
    }
    for header in [
        json!({"alg": "EdDSA", "kid": "k", "typ": "logout+jwt"}),
        json!({"alg": "EdDSA", "kid": "k", "crit": ["exp"], "exp": 1}),
        json!({"alg": "EdDSA", "kid": "other"}),
        json!({"alg": "ES256", "kid": "k"}),
        json!({"alg": "none", "kid": "k"}),
        json!({"kid": "k"}),
    ] {
        let token = signer.sign_with(&header, &issuer.claims());
        assert_eq!(admit(&guard, &token).await.unwrap_err(), Refused::Invalid);
    }
    let good = signer.sign(&issuer.claims());
    let (text, _) = good.rsplit_once('.').unwrap();
    let others = Signer::new("k").sign(&issuer.claims());
    for token in [
        &others,
        text,
        &format!("{text}."),
        &format!("{good}.x"),
        "a.b.c",
        "..",
        &"x".repeat(20_000),
    ] {
        assert_eq!(admit(&guard, token).await.unwrap_err(), Refused::Invalid);
    }
    assert!(admit(&guard, &good).await.is_ok());
}

/// G3: what any reader of the public keys could have made is no token, and a key is good for what it says alone.
#[tokio::test]
async fn algorithms_are_listed() {
    let (issuer, signer) = (Issuer::start().await, Signer::new("k"));
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.as_ref(), &random).unwrap();
    let point = &pair.public_key().as_ref()[1..];
    let (x, y) = point.split_at(32);
    let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
    let ec = json!({"kty": "EC", "crv": "P-256", "kid": "e", "alg": "ES256", "x": x, "y": y});
    let oct = json!({"kty": "oct", "kid": "o", "k": URL_SAFE_NO_PAD.encode("secret")});
    let encryption = Signer::new("enc");
    let mut enc = encryption.jwk();
    enc["use"] = json!("enc");
    let foreign = Signer::new("foreign");
    let mut named = foreign.jwk();
    named["alg"] = json!("RS256");
    issuer.publish(&[signer.jwk(), ec, oct, enc, named]);
    let guard = issuer.guard(&anybody(), &json!({}));

    let text = text_of(&json!({"alg": "ES256", "kid": "e"}), &issuer.claims());
    let signature = pair.sign(&random, text.as_bytes()).unwrap();
    let es256 = format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()));
    assert!(admit(&guard, &es256).await.is_ok());

    let hmac = |id: &str, secret: &[u8]| {
        let text = text_of(&json!({"alg": "HS256", "kid": id}), &issuer.claims());
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
        let tag = ring::hmac::sign(&key, text.as_bytes());
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()))
    };
    for token in [
        hmac("o", b"secret"),
        hmac("k", signer.pair.public_key().as_ref()),
        encryption.sign(&issuer.claims()),
        foreign.sign(&issuer.claims()),
    ] {
        assert_eq!(admit(&guard, &token).await.unwrap_err(), Refused::Invalid);
    }
}

/// G3: tokens of RSA keys, which were signed once for all.
#[tokio::test]
async fn rsa_tokens_are_taken() {
    let signed: Value = serde_json::from_str(include_str!("rsa.json")).unwrap();
    let issuer = Issuer::start().await;
    *issuer.keys.lock().unwrap() = signed.clone();
    let keys = format!("{}/keys", issuer.url);
    let auth = json!({"issuer": "https://issuer.example/", "audience": AUDIENCE, "jwksUri": keys});
    let guard = guard(&json!({"clients": anybody(), "auth": auth}));
    for algorithm in ["RS256", "PS256"] {
        let token = signed[algorithm].as_str().unwrap();
        assert!(admit(&guard, token).await.is_ok(), "{algorithm}");
        let mut broken = token.to_owned();
        broken.replace_range(token.len() - 8..token.len() - 4, "AAAA");
        assert_eq!(admit(&guard, &broken).await.unwrap_err(), Refused::Invalid);
    }
}

/// F4, G3: which client comes is what its token says; scopes that every token needs are looked at first.
#[tokio::test]
async fn claims_tell_the_client() {
    let (issuer, signer) = (Issuer::start().await, Signer::new("k"));
    issuer.publish(&[signer.jwk()]);
    let clients = json!({
        "admins": {"claims": {"groups": "admin", "scope": "write"}},
        "robot": {"claims": {"client_id": "build"}},
        "writers": {"claims": {"scope": "write"}}
    });
    let guard = issuer.guard(&clients, &json!({"scopes": ["use"]}));
    let with = |more: Value| {
        let mut claims = issuer.claims();
        claims["scope"] = json!("use");
        for (claim, value) in more.as_object().unwrap() {
            claims[claim] = value.clone();
        }
        signer.sign(&claims)
    };
    for (more, name) in [
        (
            json!({"groups": ["a", "admin"], "scope": "use write"}),
            "admins",
        ),
        (
            json!({"groups": ["administrator"], "scope": "use write"}),
            "writers",
        ),
        (json!({"client_id": "build"}), "robot"),
        (
            json!({"scp": ["use"], "scope": "", "client_id": "build"}),
            "robot",
        ),
    ] {
        let client = admit(&guard, &with(more)).await.unwrap();
        assert_eq!(client.name(), name);
    }
    for more in [
        json!({"groups": "admin"}),
        json!({"client_id": "build2"}),
        json!({"client_id": "build", "scope": "user"}),
        json!({"client_id": "build", "scope": null}),
        json!({"scope": "use writer"}),
    ] {
        let token = with(more);
        assert_eq!(admit(&guard, &token).await.unwrap_err(), Refused::Forbidden);
    }
}

/// L6, G3: a key that is not known has the keys fetched, and a flood of such has them fetched once in a while; a new key is
/// known soon.
#[tokio::test]
async fn unknown_keys_are_looked_for_with_a_pause() {
    let (issuer, old, new) = (
        Issuer::start().await,
        Signer::new("old"),
        Signer::new("new"),
    );
    issuer.publish(&[old.jwk()]);
    let guard = issuer.guard(&anybody(), &json!({}));
    assert!(admit(&guard, &old.sign(&issuer.claims())).await.is_ok());
    issuer.publish(&[old.jwk(), new.jwk()]);
    for id in ["a", "b", "c"] {
        let token = Signer::new(id).sign(&issuer.claims());
        assert_eq!(admit(&guard, &token).await.unwrap_err(), Refused::Invalid);
    }
    assert_eq!(issuer.asked(), 1);
    // A paused clock would end the requests too.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    assert!(admit(&guard, &new.sign(&issuer.claims())).await.is_ok());
    assert_eq!(issuer.asked(), 2);
}

/// G3: keys that cannot be had make nobody come again for another token; and what waited goes on once they are there.
#[tokio::test]
async fn keys_that_are_missing_are_no_fault_of_a_token() {
    let (issuer, signer) = (Issuer::start().await, Signer::new("k"));
    *issuer.keys.lock().unwrap() = json!("none");
    let guard = issuer.guard(&anybody(), &json!({}));
    let token = signer.sign(&issuer.claims());
    let both = tokio::join!(admit(&guard, &token), admit(&guard, &token));
    assert_eq!(both.0.unwrap_err(), Refused::Unavailable);
    assert_eq!(both.1.unwrap_err(), Refused::Unavailable);
    assert_eq!(issuer.asked(), 1);
    assert!(guard.challenge(&Refused::Unavailable).is_none());
}

/// L6: whoever hangs up while keys are fetched does not keep others from them.
#[tokio::test]
async fn a_fetch_goes_on_without_who_asked_for_it() {
    let (issuer, signer) = (Issuer::start().await, Signer::new("k"));
    issuer.publish(&[signer.jwk()]);
    let place = Place::At(format!("{}/keys", issuer.url).parse().unwrap());
    let keys = Keys::new(HttpClient::new().unwrap(), place);
    {
        let asking = keys.having(Some("k"));
        tokio::pin!(asking);
        let first = std::future::poll_fn(|cx| std::task::Poll::Ready(asking.as_mut().poll(cx)));
        assert!(first.await.is_pending());
    }
    assert!(keys.having(Some("k")).await.is_ok());
    assert_eq!(issuer.asked(), 1);
}
