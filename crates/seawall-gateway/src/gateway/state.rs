//! How the gateway stands, for whoever looks at it from outside.

use seawall::host::{ServerState, ServerStatus};
use tokio::time::Instant;

use super::{Gateway, MAX_LISTENERS, Stage};
use crate::observe::{Gauges, Observe};

/// Whether clients can be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// They can.
    Ready,
    /// The servers are being connected for the first time.
    Starting,
    /// Required servers are not up: their ids, and how they stand.
    Lacking(Vec<(String, ServerState)>),
    /// Nothing new is begun.
    Ending,
}

impl Gateway {
    /// Whether clients can be served.
    pub(crate) fn readiness(&self) -> Readiness {
        match *self.stage.borrow() {
            Stage::Starting if Instant::now() < self.patient_until => return Readiness::Starting,
            Stage::Ending => return Readiness::Ending,
            Stage::Starting | Stage::Serving => {}
        }
        readiness_of(&self.host.status())
    }

    /// Every server.
    pub(crate) fn servers(&self) -> Vec<ServerStatus> {
        self.host.status()
    }

    /// What is counted of calls.
    pub(crate) fn observed(&self) -> &Observe {
        &self.observe
    }

    /// What is counted of everything.
    pub(crate) fn gauges(&self) -> Gauges {
        Gauges {
            begun: self.begun,
            sessions: self.told.count(),
            subscriptions: MAX_LISTENERS.saturating_sub(self.listeners.available_permits()),
            servers: self.servers(),
            meters: self.observe.meters(),
        }
    }
}

/// Whether what is required is up.
pub(super) fn readiness_of(servers: &[ServerStatus]) -> Readiness {
    let is_up = |state| matches!(state, ServerState::Up | ServerState::Degraded);
    let lacking: Vec<_> = servers
        .iter()
        .filter(|server| server.required && !is_up(server.state))
        .map(|server| (server.server.clone(), server.state))
        .collect();
    match lacking.is_empty() {
        true => Readiness::Ready,
        false => Readiness::Lacking(lacking),
    }
}
