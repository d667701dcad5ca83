//! Authorising the requests to one server, refusal by refusal.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use http::{Method, header};
use tokio::task::JoinSet;
use url::Url;

use super::builder::{OAuthBuilder, Settings};
use super::challenge::Challenge;
use super::client::StaticClient;
use super::credentials::{Kept, Scheme, Tokens};
use super::discovery::{Discovered, Preference, discover};
use super::grant::Grant;
use super::memory::{Active, How, Memory};
use super::scopes::Scopes;
use super::store::{self, Slot};
use super::token::{DPOP, Nonces, sensitive};
use crate::config::Secret;
use crate::web::{
    AuthError, Authorize, Boxed, Credentials, HttpClient, MAX_REDIRECTS, Refusal, Verdict,
    is_redirect, redirected,
};

/// How long the request that `login` begins with may take to be refused.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);

/// The login to one server. Cheap to clone; clones share it.
#[derive(Clone)]
pub struct OAuth {
    shared: Arc<Shared>,
}

/// What is known of a server's login.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialState {
    /// There is a token, or what gets one without a user.
    LoggedIn {
        /// The authorization server, as it names itself: remote text.
        issuer: String,
        /// When the token expires, if that was said; it may be renewed then.
        expires: Option<SystemTime>,
        /// The granted scopes: remote text.
        scopes: Vec<String>,
    },
    /// There was a login, and its token cannot be renewed.
    Expired,
    /// There is none.
    LoggedOut,
}

pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) slot: Slot,
    pub(super) nonces: Nonces,
    /// Held by whoever gets a token: one at a time.
    pub(super) turn: tokio::sync::Mutex<()>,
    memory: Mutex<Memory>,
    /// Renewals: they go on when the request that began them is dropped.
    pub(super) renewals: Mutex<JoinSet<()>>,
}

impl OAuth {
    /// Configures the login of the server `server` (its id) at `resource`.
    pub fn builder(server: impl Into<String>, resource: Url, http: HttpClient) -> OAuthBuilder {
        OAuthBuilder::new(server.into(), resource, http)
    }

    pub(super) fn new(settings: Settings) -> Self {
        let slot = settings.slot();
        Self {
            shared: Arc::new(Shared {
                slot,
                settings,
                nonces: Nonces::default(),
                turn: tokio::sync::Mutex::default(),
                memory: Mutex::default(),
                renewals: Mutex::default(),
            }),
        }
    }

    /// Gets a new token, even if there is one.
    ///
    /// # Errors
    /// Any [`AuthError`].
    ///
    /// # Cancel safety
    /// Dropping the future ends the login; a login before it stays.
    pub async fn login(&self) -> Result<(), AuthError> {
        let shared = &self.shared;
        let _turn = shared.turn.lock().await;
        shared.load().await?;
        let challenge = shared.probe().await?;
        shared.noted(shared.obtain(&challenge).await)
    }

    /// Forgets every login of this server, and tells the authorization servers so where they listen.
    ///
    /// # Errors
    /// [`AuthError::Store`]: the stored login could not be removed.
    pub async fn logout(&self) -> Result<(), AuthError> {
        let shared = &self.shared;
        let _turn = shared.turn.lock().await;
        let lock = store::lock(&shared.settings.store, &shared.slot).await?;
        let kept = shared.read().await?;
        store::erase(lock).await?;
        shared.memory().forget();
        for (issuer, login) in &kept.logins {
            shared.revoke(issuer, login).await;
        }
        Ok(())
    }

    /// What is stored of a login. Nothing is requested.
    ///
    /// # Errors
    /// [`AuthError::Store`].
    pub async fn state(&self) -> Result<CredentialState, AuthError> {
        let kept = self.shared.read().await?;
        let Some((issuer, login)) = kept.newest() else {
            return Ok(CredentialState::LoggedOut);
        };
        Ok(match &login.tokens {
            Some(tokens) if !tokens.is_over() || tokens.refresh.is_some() => {
                CredentialState::LoggedIn {
                    issuer: issuer.to_owned(),
                    expires: tokens.expires.and_then(|expires| {
                        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(expires))
                    }),
                    scopes: tokens.granted.iter().map(str::to_owned).collect(),
                }
            }
            _ => CredentialState::Expired,
        })
    }

    /// Has no renewal of a token begin any more, and waits for those that did: to be called before a runtime or a process
    /// ends, since the login is lost with a renewal that is abandoned. See [`Renewals::settle`](super::Renewals::settle).
    ///
    /// # Cancel safety
    /// It may be dropped and asked for again.
    pub async fn settle(&self) {
        self.shared.settings.renewals.settle().await;
    }

    /// The newest secrets of this login, at most 16 beside those that are configured, for the redactor (R1).
    #[must_use]
    pub fn secrets(&self) -> Vec<Secret> {
        let settings = &self.shared.settings;
        let client = settings.static_client.as_ref();
        let configured = client.and_then(StaticClient::known_secret);
        let configured = configured.into_iter().chain(settings.grant.secrets());
        let mut secrets = self.shared.memory().secrets();
        secrets.extend(configured.cloned());
        secrets
    }
}

#[cfg(test)]
impl OAuth {
    pub(super) fn shared_for_tests(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("server", &self.shared.settings.server)
            .finish_non_exhaustive()
    }
}

impl Authorize for OAuth {
    fn credentials<'a>(
        &'a self,
        method: &'a Method,
        url: &'a Url,
    ) -> Boxed<'a, Result<Option<Credentials>, AuthError>> {
        Box::pin(self.shared.credentials(method, url))
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> Boxed<'a, Result<Verdict, AuthError>> {
        Box::pin(async move { self.shared.refused(&refusal).await })
    }

    fn secrets(&self) -> Vec<Secret> {
        Self::secrets(self)
    }
}

impl Shared {
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn active(&self) -> Option<Active> {
        self.memory().active.clone()
    }

    /// What is stored.
    pub(super) async fn read(&self) -> Result<Kept, AuthError> {
        let text = store::load(&self.settings.store, &self.slot).await?;
        Ok(Kept::read(text.as_ref()))
    }

    async fn load(&self) -> Result<(), AuthError> {
        if !self.memory().loaded {
            let kept = self.read().await?;
            self.memory().adopt(&kept, How::Stored);
        }
        Ok(())
    }

    async fn credentials(
        self: &Arc<Self>,
        method: &Method,
        url: &Url,
    ) -> Result<Option<Credentials>, AuthError> {
        if url.origin() != self.settings.resource.origin() {
            return Ok(None);
        }
        self.load().await?;
        let mut active = self.active();
        if let Some(due) = active.as_ref().filter(|active| is_renewable(active)) {
            self.renew_due(due.generation).await?;
            active = self.active();
        }
        let tokens = active.as_ref().and_then(Active::tokens);
        match (&active, tokens) {
            // One that seems to be over is presented too: the server knows, and clocks and lifetimes may lie.
            (Some(active), Some(tokens)) => self.present(active, tokens, method, url).map(Some),
            _ => Ok(None),
        }
    }

    /// Renews the token of `generation`, unless that was done while waiting.
    async fn renew_due(self: &Arc<Self>, generation: u64) -> Result<(), AuthError> {
        let failures = self.memory().failures;
        let _turn = self.turn.lock().await;
        let Some(active) = self.active() else {
            return Ok(());
        };
        let Some(tokens) = active.tokens().filter(|_| active.generation == generation) else {
            return Ok(());
        };
        let renewed = match self.check_failed_since(failures) {
            Ok(()) => self.noted(self.renew(tokens.access.clone()).await),
            Err(failed) => Err(failed),
        };
        match renewed {
            // It is good for a moment still, so the request need not wait for better times.
            Err(_) if !tokens.is_over() => Ok(()),
            renewed => renewed.map(drop),
        }
    }

    fn present(
        &self,
        active: &Active,
        tokens: &Tokens,
        method: &Method,
        url: &Url,
    ) -> Result<Credentials, AuthError> {
        let token = tokens.access.reveal();
        let mut headers = Vec::with_capacity(2);
        let scheme = match (tokens.scheme, &active.key) {
            (Scheme::Dpop, Some(key)) => {
                let nonce = self.nonces.of(url);
                let proof = key.proof(method.as_str(), url, Some(token), nonce.as_deref())?;
                headers.push((DPOP.clone(), sensitive(&proof, url)?));
                "DPoP"
            }
            _ => "Bearer",
        };
        let value = sensitive(&format!("{scheme} {token}"), url)?;
        headers.push((header::AUTHORIZATION, value));
        Ok(Credentials {
            headers,
            generation: active.generation,
        })
    }

    pub(super) fn login_needed(&self) -> AuthError {
        AuthError::LoginNeeded {
            server: self.settings.server.clone(),
        }
    }

    pub(super) async fn discover(&self, challenge: &Challenge) -> Result<Discovered, AuthError> {
        let active = self.active();
        let client = self.settings.static_client.as_ref();
        let preferred = client
            .and_then(|client| client.issuer.as_deref())
            .or_else(|| active.as_ref().map(|active| active.issuer.as_str()));
        discover(
            &self.settings.http,
            &self.settings.resource,
            challenge.resource_metadata.as_deref(),
            preferred.map_or(Preference::First, Preference::Rather),
        )
        .await
    }

    /// A new login.
    pub(super) async fn obtain(&self, challenge: &Challenge) -> Result<(), AuthError> {
        if !self.can_obtain() {
            return Err(self.login_needed());
        }
        let found = self.discover(challenge).await?;
        self.grant(found, challenge).await
    }

    /// `result`; how it failed is remembered for those who wait for their turn.
    pub(super) fn noted<T>(&self, result: Result<T, AuthError>) -> Result<T, AuthError> {
        if let Err(error) = &result {
            self.memory().fail(error);
        }
        result
    }

    /// The error of whoever had the turn while this request waited for it: nobody is asked the same twice.
    pub(super) fn check_failed_since(&self, failures: u64) -> Result<(), AuthError> {
        let memory = self.memory();
        match &memory.failure {
            Some(failure) if memory.failures > failures => Err(failure.clone()),
            _ => Ok(()),
        }
    }

    /// Whether a token can be had without a stored one.
    pub(super) fn can_obtain(&self) -> bool {
        !matches!(self.settings.grant, Grant::AuthorizationCode) || self.settings.browser.is_some()
    }

    /// What the server says to a request without a token, asked as the transport asks: with the configured headers, and
    /// wherever it leads within its origin (T4).
    async fn probe(&self) -> Result<Challenge, AuthError> {
        let settings = &self.settings;
        let mut url = settings.resource.clone();
        for _ in 0..=MAX_REDIRECTS {
            let request = settings
                .http
                .request(Method::POST, &url)
                .map_err(super::fetch::refused)?
                .timeout(PROBE_TIMEOUT)
                .headers(settings.headers.clone())
                .header(header::CONTENT_TYPE, "application/json")
                .header(header::ACCEPT, "application/json, text/event-stream")
                .body(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#);
            // The metadata may be found without an answer.
            let Ok(response) = request.send().await else {
                break;
            };
            if !is_redirect(response.status()) {
                return Ok(Challenge::read(response.headers()));
            }
            let Ok(next) = redirected(&url, response.headers()) else {
                break;
            };
            url = next;
        }
        Ok(Challenge::default())
    }

    /// The scopes to ask for: those of the challenge, else those that the server lists; those that are configured; and
    /// those that were asked for before, so that nothing granted is lost (step-up).
    pub(super) fn wanted(
        &self,
        challenge: &Challenge,
        found: &Discovered,
        before: Option<&Scopes>,
    ) -> Scopes {
        let configured = &self.settings.scopes;
        let base = match &challenge.scopes {
            Some(scopes) if !scopes.is_empty() => scopes.clone(),
            _ if configured.is_empty() => found.scopes.clone().unwrap_or_default(),
            _ => Scopes::default(),
        };
        let base = base.union(configured);
        before.map_or_else(|| base.clone(), |before| base.union(before))
    }
}

fn is_renewable(active: &Active) -> bool {
    active
        .tokens()
        .is_some_and(|tokens| tokens.is_due() && tokens.refresh.is_some())
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
