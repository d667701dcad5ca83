//! The redactor of one connection, which learns of new tokens as they are given out (R1).

use std::sync::Arc;

use crate::config::Secret;
use crate::redact::{Redactor, RedactorBuilder};
use crate::web::Authorize;

/// The secrets of one connection: those of its entry, and whatever a login gives later.
#[derive(Clone)]
pub(super) struct Secrets {
    entry: RedactorBuilder,
    login: Option<Arc<dyn Authorize>>,
    /// The login's secrets that `current` knows.
    known: Vec<Secret>,
    current: Redactor,
}

impl Secrets {
    pub(super) fn new(entry: RedactorBuilder, login: Option<Arc<dyn Authorize>>) -> Self {
        Self {
            current: entry.clone().build(),
            entry,
            login,
            known: Vec::new(),
        }
    }

    /// The redactor that knows every secret given out by now.
    pub(super) fn redactor(&mut self) -> &Redactor {
        if let Some(login) = &self.login {
            let secrets = login.secrets();
            if secrets != self.known {
                // All of them: how many, and that they are the newest, is seen to where they come from.
                let tokens = secrets.iter().map(Secret::reveal);
                self.current = tokens
                    .fold(self.entry.clone(), RedactorBuilder::secret)
                    .build();
                self.known = secrets;
            }
        }
        &self.current
    }

    /// How often something was taken out so far.
    pub(super) fn replaced(&self) -> u64 {
        self.current.replaced()
    }
}

#[cfg(test)]
mod tests;
