//! What is done about a refusal: a newer token, a login, more permissions, or nothing.

use std::sync::Arc;

use http::StatusCode;

use super::challenge::Challenge;
use super::fetch::origin;
use super::grant::Grant;
use super::memory::{Active, How};
use super::renew::Renewal;
use super::scopes::Scopes;
use super::session::Shared;
use super::store;
use crate::web::{AuthError, Refusal, Verdict, Waits};

/// One request is sent at most this often with new credentials.
const MAX_REFUSALS: u32 = 3;

/// How often one server may ask for more permissions while this process lives.
const MAX_STEP_UPS: u32 = 8;

impl Shared {
    pub(super) async fn refused(
        self: &Arc<Self>,
        refusal: &Refusal<'_>,
    ) -> Result<Verdict, AuthError> {
        if refusal.url.origin() != self.settings.resource.origin() {
            return Ok(Verdict::GiveUp);
        }
        let challenge = Challenge::read(refusal.headers);
        let nonce = self.nonces.take(refusal.url, refusal.headers);
        match refusal.status {
            StatusCode::UNAUTHORIZED if refusal.refusals >= MAX_REFUSALS => Ok(Verdict::GiveUp),
            StatusCode::UNAUTHORIZED if nonce && challenge.wants_nonce => Ok(Verdict::Amend),
            StatusCode::UNAUTHORIZED => self.unauthorized(refusal, &challenge).await,
            StatusCode::FORBIDDEN if challenge.insufficient_scope => {
                self.step_up(refusal, &challenge).await
            }
            _ => Ok(Verdict::GiveUp),
        }
    }

    /// 401: whatever the request came with is not good (any more).
    async fn unauthorized(
        self: &Arc<Self>,
        refusal: &Refusal<'_>,
        challenge: &Challenge,
    ) -> Result<Verdict, AuthError> {
        let failures = self.memory().failures;
        let _turn = self.turn.lock().await;
        self.check_failed_since(failures)?;
        if self.is_outdated(refusal.used) {
            return Ok(Verdict::Retry);
        }
        let active = self.active();
        if let (Some(active), Some(_)) = (&active, refusal.used)
            && active.how == How::Granted
            && refusal.refusals > 0
        {
            return Err(token_refused(active));
        }
        if self.others_logged_in().await? {
            return Ok(Verdict::Retry);
        }
        if let (Some(active), Some(_)) = (&active, refusal.used)
            && !self.can_obtain()
            && let Some(tokens) = active.tokens()
            && tokens.is_new()
            && !tokens.is_over()
            && (tokens.refresh.is_none() || refusal.refusals > 0)
        {
            // A login now would get another of the same kind.
            return Err(token_refused(active));
        }
        let replaced = self.replace(active, refusal, challenge).await;
        match refusal.waits {
            Waits::Somebody => self.noted(replaced),
            // For whoever waits a person may be asked.
            Waits::Nobody => replaced,
        }
    }

    /// Gets another token than the refused one: a newer one, or one of a new login.
    async fn replace(
        self: &Arc<Self>,
        active: Option<Active>,
        refusal: &Refusal<'_>,
        challenge: &Challenge,
    ) -> Result<Verdict, AuthError> {
        let tokens = active.as_ref().and_then(Active::tokens);
        let refresh = tokens.filter(|tokens| tokens.refresh.is_some());
        let disturbs = self.would_disturb(refusal.waits);
        if refresh.is_none() && (disturbs || !self.can_obtain()) {
            return Err(self.login_needed());
        }
        let found = self.discover(challenge).await?;
        if let (Some(active), Some(tokens)) = (&active, refresh)
            && active.issuer == found.server.issuer
            && refusal.refusals == 0
            && self.renew(tokens.access.clone()).await? == Renewal::Done
        {
            return Ok(Verdict::Retry);
        }
        if disturbs {
            return Err(self.login_needed());
        }
        self.grant(found, challenge).await?;
        Ok(Verdict::Retry)
    }

    /// 403 with `insufficient_scope`: the token is good, and does not reach.
    async fn step_up(
        self: &Arc<Self>,
        refusal: &Refusal<'_>,
        challenge: &Challenge,
    ) -> Result<Verdict, AuthError> {
        let failures = self.memory().failures;
        let _turn = self.turn.lock().await;
        self.check_failed_since(failures)?;
        if self.is_outdated(refusal.used) || self.others_logged_in().await? {
            return Ok(Verdict::Retry);
        }
        let refused = || AuthError::ScopesRefused {
            server: self.settings.server.clone(),
        };
        let Some(needed) = &challenge.scopes else {
            return Err(refused());
        };
        let requested = self.active().map(|active| active.login.requested);
        if requested.is_some_and(|requested| requested.covers(needed))
            || refusal.refusals >= MAX_REFUSALS
        {
            return Err(refused());
        }
        let needed_more = || AuthError::ScopesNeeded {
            server: self.settings.server.clone(),
        };
        if !self.can_obtain() {
            self.ask_for_later(needed).await?;
            return Err(needed_more());
        }
        if self.would_disturb(refusal.waits) {
            return Err(needed_more());
        }
        let often = {
            let mut memory = self.memory();
            memory.step_ups += 1;
            memory.step_ups > MAX_STEP_UPS
        };
        if often {
            return Err(refused());
        }
        self.noted(self.obtain(challenge).await)?;
        Ok(Verdict::Retry)
    }

    /// Whether a new login would ask a person though nobody waits for what it is for.
    fn would_disturb(&self, waits: Waits) -> bool {
        waits == Waits::Nobody && matches!(self.settings.grant, Grant::AuthorizationCode)
    }

    /// Has the next login, of whichever process, ask for these scopes too.
    async fn ask_for_later(&self, needed: &Scopes) -> Result<(), AuthError> {
        let lock = store::lock(&self.settings.store, &self.slot).await?;
        let mut kept = self.read().await?;
        if let Some(login) = kept.newest_mut()
            && !login.requested.covers(needed)
        {
            login.requested = login.requested.union(needed);
            self.write(lock, &kept).await?;
        }
        Ok(())
    }

    /// Whether another process left another token than ours, which is ours now.
    async fn others_logged_in(&self) -> Result<bool, AuthError> {
        let kept = self.read().await?;
        Ok(self.memory().adopt(&kept, How::Stored))
    }

    /// Whether there is another token than the refused one.
    fn is_outdated(&self, used: Option<u64>) -> bool {
        self.active()
            .is_some_and(|active| active.tokens().is_some() && used != Some(active.generation))
    }
}

fn token_refused(active: &Active) -> AuthError {
    AuthError::TokenRefused {
        issuer: origin(&active.login.token_endpoint),
    }
}
