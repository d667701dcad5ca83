//! What a call carries for whoever it is made for.

use std::sync::Arc;

use seawall_proto::Json;
use seawall_proto::connection::{Bound, Rounds, Terms};
use seawall_proto::mcp::ClientCapabilities;

use crate::events::LogLevel;
use crate::inputs::Relay;

/// What a call carries for whoever it is made for.
#[derive(Default)]
pub(crate) struct Carried {
    pub(crate) relay: Option<Arc<dyn Relay>>,
    pub(crate) meta: Option<Json>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) rounds: Rounds,
}

impl Carried {
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
