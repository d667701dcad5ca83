//! What a call carries for whoever it is made for.

use std::fmt;
use std::sync::Arc;

use seawall_proto::Json;
use seawall_proto::connection::{Bound, Progress, Rounds, Terms};
use seawall_proto::mcp::ClientCapabilities;

use super::shared::TellProgress;
use crate::events::LogLevel;
use crate::inputs::Relay;

/// What a call, or a request, carries for whoever it is made for: one client of several behind a gateway, say. The default
/// is nothing.
#[derive(Default)]
pub struct Carried {
    pub(super) relay: Option<Arc<dyn Relay>>,
    meta: Option<Json>,
    log_level: Option<LogLevel>,
    rounds: Rounds,
    pub(crate) on_progress: Option<TellProgress>,
}

impl Carried {
    /// Has what the server asks for, while it works on this, go to `relay` in place of the host's suppliers; see [`Relay`].
    #[must_use]
    pub fn relay(mut self, relay: Arc<dyn Relay>) -> Self {
        self.relay = Some(relay);
        self
    }

    /// The `_meta` of whoever the call is made for, a JSON object. It goes along unchanged, trace context and unknown keys
    /// with it, but for the keys that say something of one hop: `progressToken`, the protocol version, the client and its
    /// capabilities, the level of the log, a subscription. It goes in place of a `_meta` in a request's parameters, which goes
    /// along by the same rules.
    #[must_use]
    pub fn meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Has the server log from this level on: while it works on this, on 2026-07-28; on earlier revisions, where a session
    /// has one level for all, from now on, unless it was told to log more.
    #[must_use]
    pub fn log_level(mut self, level: LogLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Leaves another round to the caller: if a server of 2026-07-28 asks for input, that is the result
    /// ([`ToolResult::asks`](crate::ToolResult::asks)), and a later call brings the answers (a JSON object) and the state (a
    /// JSON string) that the server gave. What may be asked for is what the [`relay`](Self::relay) supplies. On earlier
    /// revisions it is without effect, and answers or a state are refused: nothing is sent
    /// ([`Error::has_no_rounds`](crate::Error::has_no_rounds)).
    #[must_use]
    pub fn one_leg(mut self, responses: Option<Json>, state: Option<Json>) -> Self {
        self.rounds = Rounds::Callers { responses, state };
        self
    }

    /// Is told the newest progress that the server reported. It runs where the call is polled, never under a lock;
    /// progress that comes faster than the call is polled is told once.
    #[must_use]
    pub fn on_progress(mut self, tell: impl FnMut(Progress) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }

    /// As the connection takes it; `supplied` is what the host itself supplies.
    pub(super) fn terms(&mut self, bound: Bound, supplied: ClientCapabilities) -> Terms {
        let rounds = std::mem::take(&mut self.rounds);
        let capabilities = self.relay.as_ref().map(|relay| match &rounds {
            // What is asked for goes to the caller alone.
            Rounds::Callers { .. } => relay.capabilities(),
            Rounds::Ours => relay.capabilities().or(supplied),
        });
        let mut terms = Terms::from(bound);
        terms.meta = self.meta.take();
        terms.capabilities = capabilities;
        terms.log_level = self.log_level.map(LogLevel::as_str);
        terms.rounds = rounds;
        terms
    }
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carried").finish_non_exhaustive()
    }
}
