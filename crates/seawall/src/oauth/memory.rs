//! What an [`OAuth`](super::OAuth) knows at the moment.

use std::collections::VecDeque;
use std::sync::Arc;

use super::credentials::{Kept, Login, Tokens};
use super::dpop::DpopKey;
use crate::config::Secret;
use crate::web::AuthError;

/// How many secrets the redactor is given: the newest (R1).
const MAX_SECRETS: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The store was read.
    pub(super) loaded: bool,
    pub(super) active: Option<Active>,
    /// The generation of the newest token that there was.
    generation: u64,
    /// How many logins failed, and how the last of them did.
    pub(super) failures: u64,
    pub(super) failure: Option<AuthError>,
    /// How often more permissions were asked for.
    pub(super) step_ups: u32,
    secrets: VecDeque<Secret>,
}

/// The login that requests are made with.
#[derive(Debug, Clone)]
pub(super) struct Active {
    pub(super) issuer: String,
    pub(super) login: Login,
    pub(super) key: Option<Arc<DpopKey>>,
    pub(super) generation: u64,
    pub(super) how: How,
}

/// How the token came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Stored,
    Renewed,
    Granted,
}

impl Active {
    pub(super) fn tokens(&self) -> Option<&Tokens> {
        self.login.tokens.as_ref()
    }
}

impl Memory {
    /// Takes over the newest login of a store. Whether its access token is another one than before.
    pub(super) fn adopt(&mut self, kept: &Kept, how: How) -> bool {
        self.loaded = true;
        let Some((issuer, login)) = kept.newest() else {
            self.active = None;
            return false;
        };
        let access = |active: &Active| active.tokens().map(|tokens| tokens.access.clone());
        let before = self.active.as_ref().and_then(access);
        let after = login.tokens.as_ref().map(|tokens| tokens.access.clone());
        if before == after
            && let Some(active) = &mut self.active
        {
            issuer.clone_into(&mut active.issuer);
            active.login = login.clone();
            return false;
        }
        self.generation += 1;
        self.remember(login);
        let key = login.dpop_key.as_ref().and_then(DpopKey::restore);
        self.active = Some(Active {
            issuer: issuer.to_owned(),
            login: login.clone(),
            key: key.map(Arc::new),
            generation: self.generation,
            how,
        });
        after.is_some()
    }

    pub(super) fn forget(&mut self) {
        self.active = None;
    }

    pub(super) fn fail(&mut self, error: &AuthError) {
        self.failures += 1;
        self.failure = Some(error.clone());
    }

    pub(super) fn secrets(&self) -> Vec<Secret> {
        self.secrets.iter().cloned().collect()
    }

    fn remember(&mut self, login: &Login) {
        let tokens = login.tokens.iter();
        let secrets = tokens
            .flat_map(|tokens| [Some(&tokens.access), tokens.refresh.as_ref()])
            .chain([login.client.secret.as_ref(), login.dpop_key.as_ref()])
            .flatten();
        for secret in secrets {
            self.secrets.retain(|known| known != secret);
            self.secrets.push_front(secret.clone());
        }
        self.secrets.truncate(MAX_SECRETS);
    }
}
