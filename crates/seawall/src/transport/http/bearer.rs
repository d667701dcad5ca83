//! A bearer token that the configuration names (T4).

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::header::AUTHORIZATION;
use http::{HeaderValue, Method};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::config::Secret;
use crate::redact::MAX_TOKENS;
use crate::web::{AuthError, Authorize, Boxed, Credentials, Refusal, Verdict};

/// A bearer token, resolved again once when it is refused.
pub(crate) struct StaticBearer {
    resolve: Box<dyn Fn() -> Option<SecretString> + Send + Sync>,
    current: Mutex<Current>,
}

struct Current {
    token: SecretString,
    /// The newest tokens that were given out, this one among them: none of them is to be shown (R1).
    given: VecDeque<SecretString>,
    generation: u64,
}

impl StaticBearer {
    /// The bearer `token`; `resolve` is asked for a newer one when it is refused with 401, and must not wait.
    pub(crate) fn new(
        token: SecretString,
        resolve: impl Fn() -> Option<SecretString> + Send + Sync + 'static,
    ) -> Self {
        Self {
            resolve: Box::new(resolve),
            current: Mutex::new(Current {
                given: VecDeque::from([token.clone()]),
                token,
                generation: 0,
            }),
        }
    }

    /// The bearer `token` of the environment variable `name`.
    pub(crate) fn of_variable(name: String, token: SecretString) -> Self {
        Self::new(token, move || {
            std::env::var(&name).ok().map(SecretString::from)
        })
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verdict(&self, refusal: &Refusal<'_>) -> Verdict {
        if refusal.status.as_u16() != 401 {
            return Verdict::GiveUp;
        }
        let mut current = self.current();
        if refusal.used != Some(current.generation) {
            // Another request had it resolved meanwhile.
            return Verdict::Retry;
        }
        if refusal.refusals > 0 {
            return Verdict::GiveUp;
        }
        match (self.resolve)() {
            Some(token) if token.expose_secret() != current.token.expose_secret() => {
                current.given.push_back(token.clone());
                if current.given.len() > MAX_TOKENS {
                    current.given.pop_front();
                }
                current.token = token;
                current.generation += 1;
                Verdict::Retry
            }
            _ => Verdict::GiveUp,
        }
    }
}

impl Authorize for StaticBearer {
    fn credentials<'a>(
        &'a self,
        _: &'a Method,
        _: &'a Url,
    ) -> Boxed<'a, Result<Option<Credentials>, AuthError>> {
        let current = self.current();
        let value = HeaderValue::try_from(format!("Bearer {}", current.token.expose_secret()));
        // A token that no header can carry authorises nothing; the server's refusal says so.
        let credentials = value.ok().map(|mut value| {
            value.set_sensitive(true);
            Credentials {
                headers: vec![(AUTHORIZATION, value)],
                generation: current.generation,
            }
        });
        Box::pin(std::future::ready(Ok(credentials)))
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> Boxed<'a, Result<Verdict, AuthError>> {
        Box::pin(std::future::ready(Ok(self.verdict(&refusal))))
    }

    fn secrets(&self) -> Vec<Secret> {
        let current = self.current();
        let given = current.given.iter();
        given
            .map(|token| Secret::new(token.expose_secret()))
            .collect()
    }
}

impl fmt::Debug for StaticBearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticBearer").finish_non_exhaustive()
    }
}
