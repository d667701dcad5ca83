//! Which call a server speaks of, and whom that call relays to.
//!
//! **Invariant:** nobody is asked, or told, what may be meant for another party.

use std::collections::BTreeMap;
use std::sync::Arc;

use seawall_proto::connection::CallId;

use crate::inputs::Relay;

/// The relays of the calls under way, oldest first.
#[derive(Default)]
pub(super) struct Relays(BTreeMap<CallId, Arc<dyn Relay>>);

/// Whose something is.
pub(super) enum Whose {
    /// The host's own: no call that it may belong to relays.
    Host,
    /// These calls' of one party, oldest first; never none.
    Party(Vec<Arc<dyn Relay>>),
    /// One of several parties', and nothing tells which.
    Unknown,
}

impl Relays {
    pub(super) fn add(&mut self, call: CallId, relay: Arc<dyn Relay>) {
        self.0.insert(call, relay);
    }

    pub(super) fn remove(&mut self, call: CallId) -> Option<Arc<dyn Relay>> {
        self.0.remove(&call)
    }

    /// Whose that is what the server said, of `call` if that is known.
    pub(super) fn whose(&self, call: Option<CallId>) -> Whose {
        if let Some(call) = call {
            let relay = self.0.get(&call).cloned();
            return relay.map_or(Whose::Host, |relay| Whose::Party(vec![relay]));
        }
        let Some(party) = self.0.values().next().map(|relay| relay.party()) else {
            return Whose::Host;
        };
        if self.0.values().any(|relay| relay.party() != party) {
            return Whose::Unknown;
        }
        Whose::Party(self.0.values().cloned().collect())
    }
}
