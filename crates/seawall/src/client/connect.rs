//! A connect: which way to the server, in which order, and the handle at its end.

use std::sync::{Arc, Mutex};

use seawall_proto::Outcome;
use seawall_proto::connection::{
    Binding, ClientConfig, CloseReason, Connection, Era, Obstacle, Step, Time, ToolsNeed,
};
use seawall_proto::mcp::{ClientCapabilities, Quarantined, Revision};
use tokio::runtime::Handle as Runtime;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument;

use super::driver::Core;
use super::driver::exchange::ExchangeDriver;
use super::driver::stream::StreamDriver;
use super::launches::Launches;
use super::link::{Link, Opened, Sink, Tree};
use super::mcpl::{Live, McplSink, Pump};
use super::offer::Offer;
use super::open::{Dialect, Way, open};
use super::report::{EraSource, Transport};
use super::secrets::Secrets;
use super::shared::Shared;
use super::watch::Watch;
use super::{Client, Handle};
use crate::config::{Endpoint, Protocol, ServerConfig};
use crate::error::{Error, ErrorKind};
use crate::events::{Diagnostic, Observer};
use crate::inputs::Suppliers;
use crate::mcpl::Callbacks;
use crate::oauth::OAuth;
use crate::transport::stdio::NotReaped;
use crate::web::{Authorize, HttpClient};

/// How to connect, where the defaults do not fit. See [`Client::builder`].
#[must_use = "a builder does nothing until it connects"]
pub struct ClientBuilder {
    pub(super) config: ServerConfig,
    pub(super) observer: Option<Arc<dyn Observer>>,
    pub(super) suppliers: Suppliers,
    pub(super) http: Option<HttpClient>,
    pub(super) authorizer: Option<Arc<dyn Authorize>>,
    tools: ToolsNeed,
    relayed: ClientCapabilities,
    callbacks: Callbacks,
    sink: Option<McplSink>,
    era: Option<Era>,
    launches: Launches,
}

/// What is spoken in one attempt.
#[derive(Debug, Clone, Copy)]
struct Spoken {
    era: Era,
    pin: Option<Revision>,
    dialect: Dialect,
}

impl ClientBuilder {
    pub(super) fn new(config: ServerConfig) -> Self {
        Self {
            config,
            observer: None,
            suppliers: Suppliers::default(),
            http: None,
            authorizer: None,
            tools: ToolsNeed::Required,
            relayed: ClientCapabilities::default(),
            callbacks: Callbacks::default(),
            sink: None,
            era: None,
            launches: Launches::default(),
        }
    }

    /// The entry that is connected to.
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// Is told what the server says beside the protocol: stderr, noise, errors' own texts (S12). Without one, that is
    /// counted and dropped.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Supplies what the server asks for. Exactly this is declared to it; the default is nothing (S2).
    pub fn suppliers(mut self, suppliers: Suppliers) -> Self {
        self.suppliers = suppliers;
        self
    }

    /// The way to servers behind a URL: share one client, and its pool, among many servers. The default is a new one.
    pub fn http(mut self, http: HttpClient) -> Self {
        self.http = Some(http);
        self
    }

    /// Authorises requests to a server behind a URL. A configured bearer token goes before it; with an entry that starts a
    /// process, the connect is refused (K8).
    ///
    /// A login that the connect itself comes upon is bounded as the handshake is, by `handshakeTimeoutMs`; for one at a
    /// browser, log in before ([`OAuth::login`]).
    pub fn oauth(mut self, oauth: OAuth) -> Self {
        self.authorizer = Some(Arc::new(oauth));
        self
    }

    /// Declares everything that there is to a server of a revision with a handshake, as calls may have a
    /// [`Relay`](crate::inputs::Relay) that supplies it. By default exactly what the suppliers have is declared.
    pub fn relays(mut self, relays: bool) -> Self {
        self.relayed = if relays {
            ClientCapabilities::all()
        } else {
            ClientCapabilities::default()
        };
        self
    }

    /// Decides and takes what a server of MCP Live sends, where the entry's protocol is `mcpl`. What nobody takes is not
    /// offered to it; the default is nobody.
    pub fn mcpl(mut self, callbacks: Callbacks) -> Self {
        self.callbacks = callbacks;
        self
    }

    /// Connects to a server without tools too; its catalog is empty then. By default that fails the connect (S1).
    pub fn tools_optional(mut self) -> Self {
        self.tools = ToolsNeed::Optional;
        self
    }

    /// The era that an earlier connect to the same server found ([`Session::revision`](crate::Session)), where the entry
    /// says `auto`: it is tried first, and the server is probed again if that fails (S3).
    pub fn remembered(mut self, revision: Revision) -> Self {
        self.era = Some(if revision.is_legacy() {
            Era::Legacy
        } else {
            Era::Modern
        });
        self
    }

    /// Has `sink` told of what happens with MCP Live.
    pub(crate) fn mcpl_sink(mut self, sink: McplSink) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Has whatever the connect starts noted there too, so that its end can be asked for, and asked for again.
    pub(crate) fn launches(mut self, launches: Launches) -> Self {
        self.launches = launches;
        self
    }

    /// Connects; see [`Client::connect`].
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect(self) -> Result<Client, Error> {
        let server: Arc<str> = self.config.server().into();
        let failed = |kind| Error::new(&server, kind);
        if Runtime::try_current().is_err() {
            return Err(failed(ErrorKind::NoRuntime));
        }
        if self.authorizer.is_some() && matches!(self.config.endpoint(), Endpoint::Stdio(_)) {
            return Err(failed(ErrorKind::LoginOverStdio));
        }
        let (era, pin) = match self.config.protocol() {
            Protocol::Legacy => (Era::Legacy, None),
            Protocol::Pinned(revision) if revision.is_legacy() => (Era::Legacy, Some(revision)),
            Protocol::Modern | Protocol::Pinned(_) => (Era::Modern, None),
            Protocol::Auto => (self.era.unwrap_or(Era::Auto), None),
            Protocol::Mcpl => (Era::Legacy, Some(Revision::V2024_11_05)),
        };
        let mut spoken = Spoken {
            era,
            pin,
            dialect: Dialect::Streamable,
        };
        let mut first = None;
        loop {
            let failure = match self.attempt(&server, spoken).await {
                Ok(client) => return Ok(client),
                Err(failure) => failure,
            };
            let next = self.after(&failure, spoken, first.is_some());
            let error = failure.into_error(&server);
            let next = next.filter(|_| !self.launches.is_closed());
            match next {
                Some(next) => {
                    first.get_or_insert(error);
                    spoken = next;
                }
                // What a fallback that is none says is less than what the first attempt said.
                None => {
                    return Err(match first {
                        Some(first) if error.is_unanswered() => first,
                        _ => error,
                    });
                }
            }
        }
    }

    /// What to try after an attempt that failed so, if anything.
    fn after(&self, failure: &Failure, spoken: Spoken, again: bool) -> Option<Spoken> {
        match failure {
            Failure::Handshake {
                reason,
                step,
                unreaped: None,
                ..
            } => self.next(spoken, reason, *step, again),
            // No second process beside one that could not be ended: that has to be told (T1).
            _ => None,
        }
    }

    /// What to try after a handshake that failed so, if anything (S3).
    fn next(
        &self,
        spoken: Spoken,
        reason: &CloseReason,
        step: Step,
        again: bool,
    ) -> Option<Spoken> {
        let auto = self.config.protocol() == Protocol::Auto;
        let over_http = matches!(self.config.endpoint(), Endpoint::Http(_));
        if reason.obstacle().is_some_and(Obstacle::is_of_credentials) {
            // In no other era it would be authorised, and nobody is asked twice.
            return None;
        }
        if auto && self.era.is_some() && !again && !matches!(spoken.era, Era::Auto) {
            // What was remembered does not hold any longer.
            return Some(Spoken {
                era: Era::Auto,
                ..spoken
            });
        }
        let died = matches!(
            reason,
            CloseReason::ChildExited(_) | CloseReason::StdoutClosed | CloseReason::StdinClosed
        );
        if !over_http && spoken.era == Era::Auto && step == Step::Discover && died {
            // Some older servers exit on a probe; one more launch, without it.
            return Some(Spoken {
                era: Era::Legacy,
                ..spoken
            });
        }
        let refused = reason.may_speak_event_stream();
        let speaks_it = spoken.pin.is_none_or(|pin| pin == Revision::V2024_11_05);
        if over_http && refused && speaks_it && spoken.dialect == Dialect::Streamable {
            // 2025-03-26, `basic/transports`, "Backwards Compatibility": the transport of 2024-11-05.
            return Some(Spoken {
                era: Era::Legacy,
                dialect: Dialect::EventStream,
                ..spoken
            });
        }
        None
    }

    /// How the era of an attempt that led to `revision` was found out.
    fn era_source(&self, spoken: Spoken, revision: Revision) -> EraSource {
        if self.config.protocol() != Protocol::Auto {
            return EraSource::Configured;
        }
        match (spoken.era, self.era) {
            (Era::Auto, _) if revision.is_legacy() => EraSource::FellBack,
            (Era::Auto, _) => EraSource::Discovered,
            (_, Some(_)) if spoken.dialect == Dialect::Streamable => EraSource::Remembered,
            _ => EraSource::FellBack,
        }
    }

    /// Connects one way.
    async fn attempt(&self, server: &Arc<str>, spoken: Spoken) -> Result<Client, Failure> {
        let way = Way {
            dialect: spoken.dialect,
            modern: spoken.era != Era::Legacy,
        };
        let (opened, secrets) = open(self, way).map_err(Failure::Other)?;
        self.connect_over(server, spoken, opened, secrets).await
    }

    /// Connects, as a legacy client or one of MCP Live, over a link that is open.
    #[cfg(test)]
    pub(crate) async fn connect_link(self, link: Link) -> Result<Client, Error> {
        let server: Arc<str> = self.config.server().into();
        let live = self.config.protocol() == Protocol::Mcpl;
        let spoken = Spoken {
            era: Era::Legacy,
            pin: live.then_some(Revision::V2024_11_05),
            dialect: Dialect::Streamable,
        };
        let secrets = Secrets::new(crate::redact::Redactor::builder(), None);
        self.connect_over(&server, spoken, Opened::Stream(link), secrets)
            .await
            .map_err(|failure| failure.into_error(&server))
    }

    /// Connects over what is open.
    async fn connect_over(
        &self,
        server: &Arc<str>,
        spoken: Spoken,
        opened: Opened,
        secrets: Secrets,
    ) -> Result<Client, Failure> {
        let server = Arc::clone(server);
        let limits = self.config.limits().clone();
        let epoch = Instant::now();
        let mut protocol = ClientConfig::new(env!("CARGO_PKG_VERSION"));
        protocol.limits = limits.clone();
        protocol.era = spoken.era;
        protocol.pin = spoken.pin;
        protocol.capabilities = self.suppliers.capabilities();
        protocol.relayed = self.relayed;
        protocol.tools = self.tools;
        protocol.max_total_timeout = self.config.max_total_timeout();
        protocol.diagnostics = self.observer.is_some();
        if matches!(opened, Opened::Http(_)) {
            protocol.binding = Binding::Http;
        }
        let mcpl = Live::of(&self.config, &self.callbacks);
        if let (Some(live), Some(sink)) = (&mcpl, &self.sink) {
            live.told_to(Arc::clone(sink), secrets.clone());
        }
        protocol.experiment = mcpl.as_ref().and_then(|live| live.experiment());
        let connection = Connection::client(Time::default(), protocol);
        let watch = Watch::new(
            Arc::clone(&server),
            self.observer.clone(),
            secrets.clone(),
            limits.max_stderr_bytes,
        );
        let stderr = watch.counted();
        let suppliers = self.suppliers.clone();
        let mut tasks = JoinSet::new();
        let span = tracing::debug_span!("mcp", server = %server);
        let transport = match (&opened, spoken.dialect) {
            (Opened::Stream(link), _) if link.is_websocket() => Transport::WebSocket,
            (Opened::Stream(_), _) => Transport::Stdio,
            (Opened::Http(_), Dialect::Streamable) => Transport::StreamableHttp,
            (Opened::Http(_), Dialect::EventStream) => Transport::EventStream,
        };
        let (shared, tree) = match opened {
            Opened::Stream(Link { sink, ends }) => {
                let tree = ends.tree.clone();
                let shared = Shared::new(connection, sink, epoch);
                let pump = mcpl.clone().map(|live| Box::new(Pump::new(live, &shared)));
                let core = Core::new(&shared, tree.clone(), watch, &server, suppliers, pump);
                let driver = StreamDriver::new(core, ends, limits.max_frame_bytes);
                tasks.spawn(driver.run().instrument(span));
                (shared, tree)
            }
            Opened::Http(http) => {
                let shared = Shared::new(connection, Sink::Exchanges, epoch);
                // There is no MCP Live over HTTP.
                let core = Core::new(&shared, Tree::None, watch, &server, suppliers, None);
                tasks.spawn(ExchangeDriver::new(core, http).run().instrument(span));
                (shared, Tree::None)
            }
        };
        self.launches.add(&shared, &tree);
        let opening = Opening(Some(tree.clone()));
        let (session, catalog) = match shared.ready().await {
            Ok(ready) => ready,
            Err((reason, outcome, step)) => {
                shared.finished().await;
                let unreaped = shared.lock().state().unreaped.take();
                return Err(Failure::Handshake {
                    step,
                    reason,
                    outcome,
                    unreaped,
                });
            }
        };
        if let Some(observer) = &self.observer {
            for Quarantined { index, fault, .. } in catalog.quarantined() {
                observer.observe(
                    &server,
                    &Diagnostic::QuarantinedTool {
                        index: *index,
                        reason: *fault,
                    },
                );
            }
        }
        let (offer, refused) = match Offer::of(catalog, &server, &self.config).await {
            Ok(offer) => (offer, None),
            Err(refused) => (Offer::default(), Some(refused)),
        };
        opening.disarm();
        let client = Client {
            handle: Arc::new(Handle {
                server,
                config: self.config.clone(),
                shared,
                tree,
                mcpl,
                transport,
                era: self.era_source(spoken, session.revision),
                tasks: Mutex::new(tasks),
                session,
                supplied: self.suppliers.capabilities(),
                stderr,
                secrets: Mutex::new(secrets),
            }),
            offer: Arc::new(offer),
        };
        match refused {
            None => Ok(client),
            Some(error) => {
                let unreaped = client.end().await.err();
                Err(Failure::Other(ErrorKind::Project { error, unreaped }))
            }
        }
    }
}

/// Why one attempt failed.
enum Failure {
    Handshake {
        step: Step,
        reason: CloseReason,
        outcome: Outcome,
        unreaped: Option<NotReaped>,
    },
    Other(ErrorKind),
}

impl Failure {
    fn into_error(self, server: &Arc<str>) -> Error {
        let kind = match self {
            Self::Handshake {
                reason,
                outcome,
                unreaped,
                ..
            } => ErrorKind::Connect {
                reason,
                outcome,
                unreaped,
            },
            Self::Other(kind) => kind,
        };
        Error::new(server, kind)
    }
}

/// Kills what was started, unless the connect came to its end.
struct Opening(Option<Tree>);

impl Opening {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(tree) = &self.0 {
            tree.kill_now();
        }
    }
}

#[cfg(test)]
mod tests;
