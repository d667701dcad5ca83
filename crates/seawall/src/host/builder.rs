//! A host in the making.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::dialer::{Dialer, Prepare};
use super::{AlertSink, Host, Inner};
use crate::client::ClientBuilder;
use crate::config::{Reconnect, ServerConfig};
use crate::events::Observer;
use crate::inputs::Suppliers;
use crate::journal::Journal;
use crate::mcpl::Callbacks;
use crate::supervisor::{Bus, Connector, Publisher, Registry, World};
use crate::web::HttpClient;

/// What a host is made of. See [`Host::builder`].
#[must_use = "a builder does nothing until it builds"]
#[derive(Default)]
pub struct HostBuilder {
    servers: Vec<ServerConfig>,
    reconnect: Reconnect,
    alerts: Vec<Arc<dyn AlertSink>>,
    observer: Option<Arc<dyn Observer>>,
    suppliers: Suppliers,
    relays: bool,
    http: Option<HttpClient>,
    prepare: Option<Arc<Prepare>>,
    journal: Option<Journal>,
    callbacks: Callbacks,
}

impl HostBuilder {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// What [`Host::start`] connects. Default: nothing.
    pub fn servers(mut self, servers: impl IntoIterator<Item = ServerConfig>) -> Self {
        self.servers.extend(servers);
        self
    }

    /// Makes lost connections again where the entry does not say. Default: not (H2).
    pub fn reconnect_default(mut self, reconnect: Reconnect) -> Self {
        self.reconnect = reconnect;
        self
    }

    /// Adds who is alerted when a server is down. Default: nobody but the events.
    pub fn alert(mut self, sink: Arc<dyn AlertSink>) -> Self {
        self.alerts.push(sink);
        self
    }

    /// Is told what servers say beside the protocol. Default: nobody.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Supplies what servers ask for. Default: nothing.
    pub fn suppliers(mut self, suppliers: Suppliers) -> Self {
        self.suppliers = suppliers;
        self
    }

    /// Whether calls may have a [`Relay`](crate::inputs::Relay), so that everything is declared to servers of the revisions
    /// with a handshake ([`ClientBuilder::relays`]). Default: not.
    pub fn relays(mut self, relays: bool) -> Self {
        self.relays = relays;
        self
    }

    /// The way to servers behind a URL, its egress policy with it, shared by all. Default: one of the host's own.
    pub fn http(mut self, http: HttpClient) -> Self {
        self.http = Some(http);
        self
    }

    /// Changes how one server is connected to, after all of the above, before each of its connects: a login
    /// ([`ClientBuilder::oauth`]), other suppliers. It is called by the server's supervisor: return soon.
    pub fn prepare(
        mut self,
        prepare: impl Fn(ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Self {
        self.prepare = Some(Arc::new(prepare));
        self
    }

    /// Records each call (J1): see [`journal`](crate::journal). Default: nowhere.
    pub fn journal(mut self, journal: Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Decides and takes what servers of MCP Live send. Default: nobody, so that they are offered nothing of it
    /// ([`ClientBuilder::mcpl`]).
    pub fn mcpl(mut self, callbacks: Callbacks) -> Self {
        self.callbacks = callbacks;
        self
    }

    /// Builds the host. Nothing is started.
    #[must_use]
    pub fn build(mut self) -> Host {
        let bus = Arc::new(Bus::new(std::mem::take(&mut self.alerts)));
        let dialer = Dialer::new(
            self.observer.clone(),
            self.suppliers.clone(),
            self.relays,
            self.http.clone(),
            self.prepare.clone(),
            (self.callbacks.clone(), Arc::clone(&bus)),
        );
        self.assemble(Arc::new(dialer), bus)
    }

    #[cfg(test)]
    pub(super) fn build_with(mut self, connector: Arc<dyn Connector>) -> Host {
        let bus = Arc::new(Bus::new(std::mem::take(&mut self.alerts)));
        self.assemble(connector, bus)
    }

    fn assemble(self, connector: Arc<dyn Connector>, bus: Arc<Bus>) -> Host {
        Host(Arc::new(Inner {
            world: Arc::new(World {
                connector,
                publisher: Publisher::new(),
                bus,
                registry: Registry::default(),
                reconnect_default: self.reconnect,
                generations: AtomicU64::new(0),
            }),
            tasks: Mutex::new(JoinSet::new()),
            lives: Mutex::default(),
            servers: Mutex::new(self.servers),
            applying: Semaphore::new(1),
            journal: self.journal,
        }))
    }
}

impl std::fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBuilder")
            .field("servers", &self.servers.len())
            .finish_non_exhaustive()
    }
}
