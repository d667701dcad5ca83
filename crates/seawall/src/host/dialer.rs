//! Connections by [`Client`], as supervisors want them.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_util::FutureExt as _;
use seawall_proto::connection::Change;
use seawall_proto::mcp::Revision;

use crate::client::{Client, ClientBuilder, Launches};
use crate::config::{Endpoint, Protocol, ServerConfig};
use crate::error::{Error, ErrorKind};
use crate::events::Observer;
use crate::flows::Flow;
use crate::inputs::Suppliers;
use crate::mcpl::Callbacks;
use crate::supervisor::{BoxFuture, Bus, Connector, Dial, EventKind, Launch, Session};
use crate::web::HttpClient;

pub(super) type Prepare = dyn Fn(ClientBuilder) -> ClientBuilder + Send + Sync;

/// Connects for real.
pub(super) struct Dialer {
    observer: Option<Arc<dyn Observer>>,
    suppliers: Suppliers,
    relays: bool,
    http: OnceLock<HttpClient>,
    prepare: Option<Arc<Prepare>>,
    callbacks: Callbacks,
    /// Where what happens with MCP Live is told.
    bus: Arc<Bus>,
    eras: Arc<Eras>,
}

/// The era of each server that its entry does not tell (S3), by its id; another endpoint is another server.
#[derive(Default)]
struct Eras(Mutex<HashMap<String, (Endpoint, Revision)>>);

impl Eras {
    fn recall(&self, config: &ServerConfig) -> Option<Revision> {
        let eras = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (endpoint, revision) = eras.get(config.server())?;
        (endpoint == config.endpoint()).then_some(*revision)
    }

    fn remember(&self, config: &ServerConfig, revision: Revision) {
        let mut eras = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let era = (config.endpoint().clone(), revision);
        eras.insert(config.server().to_owned(), era);
    }
}

impl Dialer {
    pub(super) fn new(
        observer: Option<Arc<dyn Observer>>,
        suppliers: Suppliers,
        relays: bool,
        http: Option<HttpClient>,
        prepare: Option<Arc<Prepare>>,
        (callbacks, bus): (Callbacks, Arc<Bus>),
    ) -> Self {
        Self {
            observer,
            suppliers,
            relays,
            http: http.map_or_else(OnceLock::new, OnceLock::from),
            prepare,
            callbacks,
            bus,
            eras: Arc::default(),
        }
    }

    /// The way to the web that all servers share; made when the first of them wants it.
    fn http(&self) -> Option<HttpClient> {
        if let Some(http) = self.http.get() {
            return Some(http.clone());
        }
        // One that cannot be made fails the connect, which tries again and says why.
        let made = HttpClient::new().ok()?;
        Some(self.http.get_or_init(|| made).clone())
    }
}

impl Connector for Dialer {
    fn dial(&self, config: &Arc<ServerConfig>) -> Dial {
        let launches = Launches::default();
        let mut builder = Client::builder(ServerConfig::clone(config))
            .suppliers(self.suppliers.clone())
            .relays(self.relays)
            .tools_optional();
        if let Some(observer) = &self.observer {
            builder = builder.observer(Arc::clone(observer));
        }
        if matches!(config.endpoint(), Endpoint::Http(_))
            && let Some(http) = self.http()
        {
            builder = builder.http(http);
        }
        let server: Arc<str> = config.server().into();
        if config.protocol() == Protocol::Mcpl {
            // Whoever keeps a connection for longer than the host keeps no listener waiting.
            let (bus, server) = (Arc::downgrade(&self.bus), Arc::clone(&server));
            builder = builder
                .mcpl(self.callbacks.clone())
                .mcpl_sink(Arc::new(move |event| {
                    if let Some(bus) = bus.upgrade() {
                        bus.tell(&server, EventKind::Mcpl(event));
                    }
                }));
        }
        // What is the embedding program's may panic; that must not cost the supervisor, which has children to end.
        let prepared = match &self.prepare {
            Some(prepare) => catch_unwind(AssertUnwindSafe(|| prepare(builder)))
                .map_err(|_| Error::new(&server, ErrorKind::Panicked)),
            None => Ok(builder),
        };
        let auto = config.protocol() == Protocol::Auto;
        let remembered = self.eras.recall(config).filter(|_| auto);
        let noted = launches.clone();
        let eras = Arc::clone(&self.eras);
        let config = Arc::clone(config);
        let connecting = async move {
            let mut builder = prepared?.launches(noted);
            if let Some(revision) = remembered {
                builder = builder.remembered(revision);
            }
            let client = builder.connect().await?;
            if auto {
                eras.remember(&config, client.session().revision);
            }
            Ok(Arc::new(Live(client)) as Arc<dyn Session>)
        };
        let of_whom = Arc::clone(&server);
        let caught = AssertUnwindSafe(connecting).catch_unwind();
        let connecting = caught.map(move |connected| {
            connected.unwrap_or_else(|_| Err(Error::new(&of_whom, ErrorKind::Panicked)))
        });
        Dial {
            connecting: Box::pin(connecting),
            launch: Arc::new(Started { launches, server }),
        }
    }
}

pub(super) struct Started {
    pub(super) launches: Launches,
    pub(super) server: Arc<str>,
}

impl Launch for Started {
    fn close(&self) {
        self.launches.close();
    }

    fn end(&self) -> BoxFuture<Result<(), Error>> {
        let launches = self.launches.clone();
        let server = Arc::clone(&self.server);
        Box::pin(async move { launches.end(&server).await })
    }
}

pub(super) struct Live(pub(super) Client);

impl Session for Live {
    fn flows(&self) -> &[Flow] {
        self.0.flows()
    }

    fn quarantined(&self) -> usize {
        self.0.catalog().quarantined().len()
    }

    fn closed(&self) -> Option<Error> {
        self.0.closed()
    }

    fn changed(&self) -> BoxFuture<Option<Change>> {
        let client = self.0.clone();
        Box::pin(async move { client.changed().await })
    }

    fn refresh(&self) -> BoxFuture<Result<Arc<dyn Session>, Error>> {
        let client = self.0.clone();
        Box::pin(async move {
            let refreshed = client.refresh().await?;
            Ok(Arc::new(Self(refreshed)) as Arc<dyn Session>)
        })
    }

    fn client(&self) -> Option<&Client> {
        Some(&self.0)
    }
}
