//! What the operator is told of what is offered: what is left out, and why.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many wait to be taken; later ones are dropped. Fixed.
const MAX_WAITING: usize = 64;
/// So many names that meet are told of, each once. Fixed.
const MAX_MEETING: usize = 256;

/// Something that is left out of what clients are offered. Its text is Seawall's, but for names and URIs, which are quoted and
/// the servers'.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// A server's list could not be read. Told once, until it can.
    Unlisted {
        /// The server's id.
        server: String,
        /// What it is a list of.
        what: &'static str,
        /// Why, in Seawall's words.
        why: String,
    },
    /// Several servers have one URI or template: that of the first is offered, in the configuration's order.
    UrisMeet {
        /// The URI or the template: a server's text.
        uri: String,
        /// The servers' ids, in that order.
        servers: Vec<String>,
    },
    /// Several prompts would have one name: none is offered.
    PromptsMeet {
        /// The name: a server's text.
        name: String,
        /// The servers' ids.
        servers: Vec<String>,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlisted { server, what, why } => {
                write!(f, "MCP server {server:?}: its {what} are left out: {why}")
            }
            Self::UrisMeet { uri, servers } => write!(
                f,
                "{uri:?} is offered by {}: the first of them is asked for it",
                servers.join(", ")
            ),
            Self::PromptsMeet { name, servers } => write!(
                f,
                "prompts that would all be named {name:?} are left out (of {})",
                servers.join(", ")
            ),
        }
    }
}

/// What was not told yet.
#[derive(Debug, Default)]
pub(super) struct Notices(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Notice>,
    met: HashSet<String>,
}

impl Notices {
    pub(super) fn tell(&self, notice: Notice) {
        let mut state = self.lock();
        if let Notice::UrisMeet { uri: name, .. } | Notice::PromptsMeet { name, .. } = &notice {
            let is_news = state.met.len() < MAX_MEETING && state.met.insert(name.clone());
            if !is_news {
                return;
            }
        }
        if state.waiting.len() < MAX_WAITING {
            state.waiting.push(notice);
        }
    }

    /// Takes what was not taken yet.
    pub(super) fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut self.lock().waiting)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
