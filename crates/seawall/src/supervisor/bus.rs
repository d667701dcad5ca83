//! What happens at the host, told to whoever listens (H7).
//!
//! **Invariant:** telling never waits: who does not keep up is told how much was missed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use seawall_proto::connection::Change;
use tokio::sync::broadcast;

use crate::client::McplEvent;
use crate::error::Error;
use crate::events::Hidden;

/// So many events are kept for a listener that is slow.
pub const KEPT_EVENTS: usize = 1_024;

/// Something that happened at the host.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostEvent {
    /// Counts the host's events from 1, without a gap.
    pub sequence: u64,
    /// The server's id.
    pub server: Arc<str>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened to a server. Errors are written by Seawall: nothing here holds remote text that shows itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EventKind {
    /// A connect begins: the first, or another.
    Connecting {
        /// Failures in a row before it.
        failures: u32,
    },
    /// It is connected.
    Connected {
        /// Which connection of the host this is, counted from 1.
        generation: u64,
        /// How many tools were left out because of what their entries break (L7).
        quarantined: usize,
    },
    /// A connect failed.
    ConnectFailed {
        /// Why.
        error: Error,
    },
    /// The connection ended by itself.
    Lost {
        /// Why.
        error: Error,
    },
    /// The next attempt is due after a pause.
    Waiting {
        /// How long the pause is.
        delay: Duration,
    },
    /// Everything that was started for it is gone, and its id is free.
    Gone,
    /// A child could not be reaped: the id is held until a later disconnect succeeds (H1).
    Unreaped {
        /// Which child.
        error: Error,
    },
    /// A listing of its tools was published.
    Published {
        /// The number of the snapshot that holds it first.
        snapshot: u64,
        /// How many flows it has.
        flows: usize,
    },
    /// Its tool list could not be read again; the one that is published stays.
    RefreshFailed {
        /// Why.
        error: Error,
    },
    /// Its prompts changed.
    PromptsChanged,
    /// Its list of resources changed.
    ResourcesChanged,
    /// A resource that is followed changed.
    ResourceChanged {
        /// Which one: the server's own words.
        uri: Hidden,
    },
    /// It is down: told once per incident, with the alert.
    ServerDown(Down),
    /// It stood for 30 s after an incident.
    Recovered,
    /// Something of MCP Live.
    Mcpl(McplEvent),
}

/// Why a server counts as down.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Down {
    /// The failure that decided it.
    pub error: Error,
    /// Whether the host still tries.
    pub outlook: Outlook,
}

/// What the host does about a server that is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outlook {
    /// It tries again.
    Retrying,
    /// It does not: nothing says that it should, or trying again cannot help.
    Halted,
    /// It cannot: a child is still there.
    Held,
}

/// What a listener gets.
#[derive(Debug, Clone)]
pub enum Heard {
    /// The next event.
    Event(HostEvent),
    /// So many events came and went while the listener was busy.
    Missed(u64),
}

/// The events of a host from now on.
#[derive(Debug)]
pub struct Events(broadcast::Receiver<HostEvent>);

impl Events {
    /// Waits for the next event; `None` once the host is gone.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.0.recv().await {
            Ok(event) => Some(Heard::Event(event)),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(Heard::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Hears of a server that is down, once per incident (H7).
pub trait AlertSink: Send + Sync {
    /// Called by the server's supervisor, under no lock: return soon.
    fn server_down(&self, server: &str, down: &Down);

    /// The server stood for 30 s after an incident.
    fn recovered(&self, server: &str) {
        let _ = server;
    }
}

/// Where events are told.
pub(crate) struct Bus {
    sender: broadcast::Sender<HostEvent>,
    /// The last event's number; held for the moment of telling, so that numbers and order agree.
    last: Mutex<u64>,
    alerts: Vec<Arc<dyn AlertSink>>,
}

impl Bus {
    pub(crate) fn new(alerts: Vec<Arc<dyn AlertSink>>) -> Self {
        Self {
            sender: broadcast::Sender::new(KEPT_EVENTS),
            last: Mutex::new(0),
            alerts,
        }
    }

    pub(crate) fn subscribe(&self) -> Events {
        Events(self.sender.subscribe())
    }

    pub(crate) fn tell(&self, server: &Arc<str>, kind: EventKind) {
        match &kind {
            EventKind::ServerDown(down) => self.alert(|sink| sink.server_down(server, down)),
            EventKind::Recovered => self.alert(|sink| sink.recovered(server)),
            _ => {}
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        let event = HostEvent {
            sequence: *last,
            server: Arc::clone(server),
            kind,
        };
        // Nobody may be listening.
        self.sender.send(event).ok();
    }

    /// Alerts every sink. One that panics costs neither the others nor the supervisor, which has a child to end.
    fn alert(&self, tell: impl Fn(&dyn AlertSink)) {
        for sink in &self.alerts {
            if catch_unwind(AssertUnwindSafe(|| tell(&**sink))).is_err() {
                tracing::error!("an alert sink panicked");
            }
        }
    }

    pub(crate) fn changed(&self, server: &Arc<str>, change: Change) {
        let kind = match change {
            Change::Prompts => EventKind::PromptsChanged,
            Change::Resources => EventKind::ResourcesChanged,
            Change::Resource(uri) => EventKind::ResourceChanged {
                uri: Hidden::new(uri),
            },
            _ => return,
        };
        self.tell(server, kind);
    }
}
