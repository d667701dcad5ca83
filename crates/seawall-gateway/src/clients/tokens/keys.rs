//! The issuer's keys: fetched when they are needed, kept, and fetched again.
//!
//! **Invariant:** they are fetched by one at a time, at most once in [`PAUSE`], whoever asks for them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use seawall::HttpClient;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use url::Url;

use super::signature::TAKEN;

/// The keys are fetched at most so often, also for tokens whose key is not known. Fixed.
const PAUSE: Duration = Duration::from_secs(30);
/// Keys that are older are fetched anew when they are needed: one that was taken away is not good for longer. Fixed.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// Keys that are older are not used, if they cannot be fetched anew. Fixed.
const USABLE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a document may take, and how long it may be. Fixed.
const PATIENCE: Duration = Duration::from_secs(10);
const MAX_DOCUMENT_BYTES: usize = 256 * 1024;
/// So many keys of a set are looked at. Fixed.
const MAX_KEYS: usize = 64;

/// Where the keys are.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// There.
    At(Url),
    /// Where the metadata of this issuer says.
    Of(String),
}

/// The keys of an issuer.
pub(super) struct Keys {
    http: HttpClient,
    place: Place,
    loaded: Arc<watch::Sender<Loaded>>,
    fetching: Mutex<Fetching>,
}

#[derive(Debug, Default)]
struct Fetching {
    began: Option<Instant>,
    tasks: JoinSet<()>,
}

#[derive(Debug, Clone, Default)]
struct Loaded {
    set: Option<(Instant, Arc<KeySet>)>,
    /// How often a fetch ended.
    ended: u64,
}

/// Keys that were published together.
#[derive(Default)]
pub(super) struct KeySet(Vec<Key>);

pub(super) struct Key {
    id: Option<String>,
    algorithm: Option<Algorithm>,
    pub(super) key: DecodingKey,
}

/// The keys cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unavailable;

impl Keys {
    pub(super) fn new(http: HttpClient, place: Place) -> Self {
        Self {
            http,
            place,
            loaded: Arc::default(),
            fetching: Mutex::default(),
        }
    }

    /// The newest keys, among them one of this id if the issuer has it.
    ///
    /// # Cancel safety
    /// A fetch that was begun goes on.
    pub(super) async fn having(&self, id: Option<&str>) -> Result<Arc<KeySet>, Unavailable> {
        let now = Instant::now();
        let known = self.usable(now);
        let suits = known.as_ref().is_some_and(|(at, set)| {
            now.duration_since(*at) < FRESH && id.is_none_or(|id| set.has(id))
        });
        if !suits {
            self.refresh().await;
        }
        let set = self.usable(now).map(|(_, set)| set);
        set.ok_or(Unavailable)
    }

    fn usable(&self, now: Instant) -> Option<(Instant, Arc<KeySet>)> {
        let set = self.loaded.borrow().set.clone()?;
        (now.saturating_duration_since(set.0) < USABLE).then_some(set)
    }

    /// Waits for the end of a fetch, unless the last one was just now.
    async fn refresh(&self) {
        let mut loaded = self.loaded.subscribe();
        let before = loaded.borrow_and_update().ended;
        {
            let mut fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
            while fetching.tasks.try_join_next().is_some() {}
            if fetching.tasks.is_empty() {
                let now = Instant::now();
                let is_early = |began| now.duration_since(began) < PAUSE;
                if fetching.began.is_some_and(is_early) {
                    return;
                }
                fetching.began = Some(now);
                let (http, place) = (self.http.clone(), self.place.clone());
                let sender = Arc::clone(&self.loaded);
                fetching.tasks.spawn(async move {
                    let set = fetch(&http, &place).await;
                    sender.send_modify(|loaded| {
                        loaded.ended += 1;
                        if let Some(set) = set {
                            loaded.set = Some((Instant::now(), Arc::new(set)));
                        }
                    });
                });
            }
        }
        // Whoever fetches is ended with this.
        let _ = loaded.wait_for(|loaded| loaded.ended != before).await;
    }
}

async fn fetch(http: &HttpClient, place: &Place) -> Option<KeySet> {
    let url = match place {
        Place::At(url) => url.clone(),
        Place::Of(issuer) => discover(http, issuer).await?,
    };
    let document = read(http, &url).await?;
    KeySet::parse(&document)
}

/// Where the issuer says that its keys are (RFC 8414, section 3; OpenID Connect Discovery, section 4).
async fn discover(http: &HttpClient, issuer: &str) -> Option<Url> {
    #[derive(Deserialize)]
    struct Metadata {
        issuer: String,
        jwks_uri: Url,
    }
    let base = Url::parse(issuer).ok()?;
    let path = base.path().trim_end_matches('/');
    let places = [
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
        format!("{path}/.well-known/openid-configuration"),
    ];
    for place in places {
        let mut url = base.clone();
        url.set_path(&place);
        let Some(document) = read(http, &url).await else {
            continue;
        };
        let metadata: Result<Metadata, _> = serde_json::from_slice(&document);
        // Another's metadata would have another's keys taken.
        if let Ok(metadata) = metadata
            && metadata.issuer == issuer
            && (metadata.jwks_uri.scheme() == "https" || base.scheme() == "http")
        {
            return Some(metadata.jwks_uri);
        }
    }
    None
}

async fn read(http: &HttpClient, url: &Url) -> Option<bytes::Bytes> {
    let read = http.document(url, MAX_DOCUMENT_BYTES, PATIENCE).await;
    read.ok()
}

impl KeySet {
    /// The keys of a set that can be used (RFC 7517, section 5: others are ignored); `None` if it is no set.
    fn parse(document: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set: Set = serde_json::from_slice(document).ok()?;
        let keys = set.keys.into_iter().take(MAX_KEYS);
        Some(Self(keys.filter_map(Key::of).collect()))
    }

    fn has(&self, id: &str) -> bool {
        self.0.iter().any(|key| key.id.as_deref() == Some(id))
    }

    /// The keys that a token of this header may be signed with.
    pub(super) fn of<'k>(
        &'k self,
        id: Option<&'k str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &'k Key> {
        self.0.iter().filter(move |key| {
            id.is_none_or(|id| key.id.as_deref() == Some(id))
                && key.key.family() == algorithm.family()
                && key.algorithm.is_none_or(|own| own == algorithm)
        })
    }
}

impl Key {
    fn of(value: Value) -> Option<Self> {
        // One that names an algorithm is for no other, also if that is one that is not known here.
        let named = value.get("alg").and_then(Value::as_str);
        let algorithm = match named {
            None => None,
            Some(name) => {
                let known = name.parse().ok();
                Some(known.filter(|algorithm| TAKEN.contains(algorithm))?)
            }
        };
        let jwk: Jwk = serde_json::from_value(value).ok()?;
        let usage = jwk.common.public_key_use.as_ref();
        if usage.is_some_and(|usage| *usage != PublicKeyUse::Signature) {
            return None;
        }
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        Some(Self {
            id: jwk.common.key_id,
            algorithm,
            key,
        })
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}
