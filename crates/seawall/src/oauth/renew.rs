//! Renewing a token: once, whatever the number of tasks and processes that want it.
//!
//! Lock, look again, then ask. The lock ends with the process that holds it, and the store is replaced whole, so a process
//! killed anywhere inside leaves the old tokens or the new ones.

use std::sync::{Arc, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::client::Client;
use super::credentials::{Kept, Login, Scheme, Tokens};
use super::dpop::{Dpop, DpopKey};
use super::fetch::unsound;
use super::jwt::SigningKey;
use super::memory::How;
use super::session::Shared;
use super::store::{self, StoreLock};
use super::token::TokenRequest;
use crate::config::Secret;
use crate::web::{AuthError, Exchange, OAuthErrorCode, SettingsFault, Unsound};

/// What became of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Renewal {
    /// There is a newer token.
    Done,
    /// There is nothing to renew with (any more): a new login is needed.
    Impossible,
}

impl Shared {
    /// Gets a newer token than `stale`.
    ///
    /// # Cancel safety
    /// A renewal goes on when the future is dropped, as long as the runtime does: a refresh token that was used must not
    /// get lost. [`Renewals`](super::Renewals) waits for it.
    pub(super) async fn renew(self: &Arc<Self>, stale: Secret) -> Result<Renewal, AuthError> {
        let no_runtime = || AuthError::Settings(SettingsFault::NoRuntime);
        let runtime = Handle::try_current().map_err(|_| no_runtime())?;
        let (done, outcome) = oneshot::channel();
        let shared = Arc::clone(self);
        {
            let mut renewals = self.renewals.lock().unwrap_or_else(PoisonError::into_inner);
            while renewals.try_join_next().is_some() {}
            let renewal = async move {
                let _ = done.send(shared.renew_now(&stale).await);
            };
            renewals.spawn_on(renewal, &runtime);
        }
        outcome.await.unwrap_or_else(|_| Err(no_runtime()))
    }

    async fn renew_now(&self, stale: &Secret) -> Result<Renewal, AuthError> {
        let lock = store::lock(&self.settings.store, &self.slot).await?;
        let kept = self.read().await?;
        let (Some((issuer, login)), true) = (kept.newest(), self.still(&kept, stale)) else {
            return Ok(self.take_over(&kept));
        };
        let Some((tokens, refresh)) = login
            .tokens
            .as_ref()
            .and_then(|tokens| Some((tokens, tokens.refresh.as_ref()?)))
        else {
            return Ok(self.take_over(&kept));
        };
        // From here until it is kept it must not be abandoned.
        let Some(_under_way) = self.settings.renewals.begin() else {
            return Err(AuthError::Ending);
        };
        match self.refresh(issuer, login, tokens, refresh).await {
            Ok(renewed) => {
                let mut login = login.clone();
                login.tokens = Some(renewed);
                let mut newer = kept.clone();
                newer.put(issuer, login);
                self.memory().adopt(&newer, How::Renewed);
                self.write(lock, &newer).await?;
                Ok(Renewal::Done)
            }
            Err(AuthError::Refused {
                code: OAuthErrorCode::InvalidGrant,
                ..
            }) => self.drop_tokens(lock, refresh).await,
            // A configured client is mended where it is configured, and the tokens are good all the same.
            Err(AuthError::Refused {
                code: OAuthErrorCode::InvalidClient,
                ..
            }) if self.registered(login) => self.drop_tokens(lock, refresh).await,
            Err(error) => Err(error),
        }
    }

    /// Whether the login's client registered itself, and so can do that again.
    fn registered(&self, login: &Login) -> bool {
        let document = self.settings.metadata_document.as_ref();
        self.settings.static_client.is_none()
            && document.is_none_or(|url| url.as_str() != login.client.id)
    }

    /// Whether the newest stored token is still the stale one, or over like it.
    fn still(&self, kept: &Kept, stale: &Secret) -> bool {
        let tokens = kept.newest().and_then(|(_, login)| login.tokens.as_ref());
        tokens.is_some_and(|tokens| tokens.access == *stale || tokens.is_over())
    }

    /// Uses what another task or process left.
    fn take_over(&self, kept: &Kept) -> Renewal {
        let mut memory = self.memory();
        memory.adopt(kept, How::Stored);
        let tokens = memory.active.as_ref().and_then(|active| active.tokens());
        match tokens {
            Some(tokens) if !tokens.is_over() => Renewal::Done,
            _ => Renewal::Impossible,
        }
    }

    async fn refresh(
        &self,
        issuer: &str,
        login: &Login,
        tokens: &Tokens,
        refresh: &Secret,
    ) -> Result<Tokens, AuthError> {
        let key = login.dpop_key.as_ref().and_then(DpopKey::restore);
        let client = self.client_of(login);
        let request = TokenRequest {
            endpoint: &login.token_endpoint,
            what: Exchange::Refresh,
            client: &client,
            key: self.signing_key(),
            issuer,
            form: vec![
                ("grant_type", "refresh_token"),
                ("refresh_token", refresh.reveal()),
                ("resource", &login.resource),
            ],
            dpop: key.as_ref(),
        };
        let response = request.send(&self.settings.http, &self.nonces).await?;
        let mut renewed = response.tokens(&login.token_endpoint, &tokens.granted)?;
        self.check_bound(renewed.scheme, Some(tokens.scheme), key.as_ref())
            .map_err(|fault| unsound(&login.token_endpoint, fault))?;
        if renewed.refresh.is_none() {
            renewed.refresh = Some(refresh.clone());
        }
        Ok(renewed)
    }

    /// Whether a token is bound to the key as it has to be: as is configured, and as the one `before` it was.
    pub(super) fn check_bound(
        &self,
        scheme: Scheme,
        before: Option<Scheme>,
        key: Option<&DpopKey>,
    ) -> Result<(), Unsound> {
        let wanted = self.settings.dpop == Dpop::Required || before == Some(Scheme::Dpop);
        match (scheme, key) {
            (Scheme::Dpop, None) => Err(Unsound::Malformed),
            (Scheme::Bearer, _) if wanted => Err(Unsound::NotBound),
            _ => Ok(()),
        }
    }

    /// The refresh token is not good any more: its tokens go, unless newer ones stand there.
    pub(super) async fn drop_tokens(
        &self,
        lock: Box<dyn StoreLock>,
        refused: &Secret,
    ) -> Result<Renewal, AuthError> {
        let mut kept = self.read().await?;
        let Some(login) = kept.newest_mut() else {
            return Ok(self.take_over(&kept));
        };
        let tokens = login.tokens.as_ref();
        if tokens.and_then(|tokens| tokens.refresh.as_ref()) == Some(refused) {
            login.tokens = None;
            // A client that is not known any more is registered anew.
            login.redirect = None;
            self.write(lock, &kept).await?;
        }
        Ok(self.take_over(&kept))
    }

    /// Writes what is kept; the lock is given back after that.
    pub(super) async fn write(
        &self,
        lock: Box<dyn StoreLock>,
        kept: &Kept,
    ) -> Result<(), AuthError> {
        match kept.write() {
            Some(text) => store::save(lock, text).await.map(drop),
            None => Ok(()),
        }
    }

    /// The client of a login; a configured secret is not stored with it.
    pub(super) fn client_of(&self, login: &Login) -> Client {
        let mut client = login.client.clone();
        if let Some(configured) = &self.settings.static_client
            && configured.id == client.id
            && let Some(secret) = configured.known_secret()
        {
            client.secret = Some(secret.clone());
        }
        client
    }

    pub(super) fn signing_key(&self) -> Option<&SigningKey> {
        self.settings.static_client.as_ref()?.key()
    }

    /// Tells an authorization server that a login is over (RFC 7009). It need not listen.
    pub(super) async fn revoke(&self, issuer: &str, login: &Login) {
        let (Some(endpoint), Some(tokens)) = (&login.revocation_endpoint, &login.tokens) else {
            return;
        };
        let (token, hint) = match &tokens.refresh {
            Some(refresh) => (refresh, "refresh_token"),
            None => (&tokens.access, "access_token"),
        };
        let client = self.client_of(login);
        let request = TokenRequest {
            endpoint,
            what: Exchange::Token,
            client: &client,
            key: self.signing_key(),
            issuer,
            form: vec![("token", token.reveal()), ("token_type_hint", hint)],
            dpop: None,
        };
        let _ = request.attempt(&self.settings.http, &self.nonces).await;
    }
}
