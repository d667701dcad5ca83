//! A connection to one server, and the handle that callers hold.
//!
//! [`Client::connect`] starts the server, agrees on a revision, reads the catalog, and yields a handle that clones for
//! nothing. One task per connection (its driver) reads and keeps time; a call costs no task of its own, and one that is
//! alone writes its own request.
//!
//! **Invariant:** no lock is held across an await.
//! **Invariant:** the last handle's drop leaves no process behind, with a runtime or without.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use seawall_proto::Outcome;
use seawall_proto::connection::{CallError, ClientConfig, Connection, Session, Time};
use seawall_proto::limits::Limits;
use seawall_proto::mcp::{Catalog, Quarantined, Revision, Tool};
use tokio::runtime::Handle as Runtime;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument;

mod arguments;
mod call;
mod driver;
mod link;
mod open;
mod report;
mod shared;
mod watch;

#[cfg(test)]
mod tests;

pub use arguments::Arguments;
pub use call::Call;
pub use report::Report;

use crate::config::{Protocol, ServerConfig};
use crate::error::{Error, ErrorKind};
use crate::events::{Diagnostic, Observer};
use crate::flows::{Flow, project};
use crate::redact::Redactor;
use crate::results::{OutputValidator, UnusableSchema};
use crate::transport::stdio::NotReaped;
use driver::Driver;
use link::{Link, Tree};
use open::open;
use shared::Shared;
use watch::{StderrCount, Watch};

/// A connection to one MCP server. Clones share it; the last one's drop ends the server.
///
/// # Drop behavior
/// Dropping the last clone, and the calls made from it, kills the server's process group at once and waits at most 100 ms
/// for it to be gone. [`close`](Self::close) is the gentle way.
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

/// How to connect, where the defaults do not fit. See [`Client::builder`].
#[must_use = "a builder does nothing until it connects"]
pub struct ClientBuilder {
    config: ServerConfig,
    observer: Option<Arc<dyn Observer>>,
}

/// What all clones share.
struct Handle {
    server: Arc<str>,
    limits: Limits,
    shared: Arc<Shared>,
    tree: Tree,
    tasks: Mutex<JoinSet<()>>,
    session: Arc<Session>,
    catalog: Arc<Catalog>,
    flows: Vec<Flow>,
    /// Where the flow of each published tool stands, by the tool's name.
    published: HashMap<String, usize>,
    /// The validator of each flow's output, compiled when a call first needs it (S11).
    validators: Vec<OnceLock<Result<Option<OutputValidator>, UnusableSchema>>>,
    stderr: Arc<StderrCount>,
}

impl Client {
    /// Starts the server of `config`, shakes hands, reads its catalog.
    ///
    /// # Errors
    /// Whatever fails, fails the connect whole: the child is reaped before this returns, and an error says so if it
    /// could not be (S1, T1).
    ///
    /// # Cancel safety
    /// Dropping the future kills the child's process group.
    ///
    /// # Panics
    /// Inside a tokio runtime that was built without I/O or without time; outside of one it is an error.
    pub async fn connect(config: ServerConfig) -> Result<Self, Error> {
        Self::builder(config).connect().await
    }

    /// A connect with more than the defaults.
    pub fn builder(config: ServerConfig) -> ClientBuilder {
        ClientBuilder {
            config,
            observer: None,
        }
    }

    /// The server's id.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.handle.server
    }

    /// The negotiated session: revision, capabilities, what the server says of itself.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.handle.session
    }

    /// All tools that the server listed: a snapshot that never changes (S9).
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.handle.catalog
    }

    /// The published tools as flows, in the catalog's order: after `include` and `exclude` (F1, K11).
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        &self.handle.flows
    }

    /// The flow of this name, `<prefix>/<tool>`, or of the tool of this name.
    #[must_use]
    pub fn flow(&self, name: &str) -> Option<&Flow> {
        self.handle.flows.get(self.position(name)?)
    }

    fn position(&self, name: &str) -> Option<usize> {
        let by_tool = self.handle.published.get(name).copied();
        by_tool.or_else(|| {
            self.handle
                .flows
                .iter()
                .position(|flow| flow.name() == name)
        })
    }

    /// Calls a tool, named by its own name or its flow's, with a JSON object.
    ///
    /// Nothing happens before the call is polled. What cannot be refused before it is sent comes back as an [`Error`]
    /// that says what became of the request; a result that says `isError` is a result.
    pub fn call(&self, name: &str, arguments: impl Into<Arguments>) -> Call {
        Call::new(self.clone(), self.position(name), arguments.into())
    }

    /// What the connection measured so far.
    #[must_use]
    pub fn report(&self) -> Report {
        let handle = &self.handle;
        let tools = handle.catalog.tools();
        let (stderr_lines, stderr_withheld) = handle.stderr.get();
        let mut guard = handle.shared.lock();
        let connection = &guard.state().connection;
        Report {
            revision: handle.session.revision,
            pid: handle.tree.pid(),
            tools: tools.len(),
            quarantined: handle.catalog.quarantined().to_vec(),
            catalog_pages: handle.catalog.pages(),
            catalog_bytes: handle.catalog.bytes(),
            longest_tool_name: tools
                .iter()
                .map(|tool| tool.name().len())
                .max()
                .unwrap_or(0),
            largest_tool_document: tools.iter().map(Tool::document_bytes).max().unwrap_or(0),
            stderr_lines,
            stderr_withheld,
            buffered_bytes: connection.buffered_bytes(),
            stats: connection.stats().clone(),
            limits: handle.limits.clone(),
        }
    }

    /// Why the session ended, if it did: the error that every call gets from now on (S5).
    #[must_use]
    pub fn closed(&self) -> Option<Error> {
        let mut guard = self.handle.shared.lock();
        let reason = guard.state().connection.close_reason()?.clone();
        let outcome = Outcome::NotSent;
        let closed = CallError::Closed { reason, outcome };
        drop(guard);
        Some(self.error(ErrorKind::Call(closed)))
    }

    /// Ends the session and waits until the server's process is gone: its stdin is closed, then it gets a moment, then
    /// SIGTERM, and 2 s later SIGKILL (T1). Calls under way end with `connection_closed`.
    ///
    /// # Errors
    /// The child could not be reaped; a later call tries again.
    ///
    /// # Cancel safety
    /// The end goes on without the caller; a later call waits for the same end.
    pub async fn close(&self) -> Result<(), Error> {
        let ended = self.end().await;
        ended.map_err(|unreaped| self.error(ErrorKind::Unreaped(unreaped)))
    }

    async fn end(&self) -> Result<(), NotReaped> {
        self.handle.shared.lock().state().closing = true;
        self.handle.shared.finished().await;
        // The driver said that it is done, so joining it waits for nothing.
        let mut tasks = std::mem::take(
            &mut *self
                .handle
                .tasks
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        while tasks.join_next().await.is_some() {}
        let first = self.handle.shared.lock().state().unreaped.take();
        match first {
            Some(unreaped) => Err(unreaped),
            None => self.handle.tree.end().await,
        }
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.handle.server, kind)
    }

    /// The validator of a flow's output, if the tool declares a schema.
    fn output_validator(&self, position: usize) -> Result<Option<&OutputValidator>, Error> {
        let (Some(flow), Some(kept)) = (
            self.handle.flows.get(position),
            self.handle.validators.get(position),
        ) else {
            return Ok(None);
        };
        let schema = flow.output_document();
        let compiled = kept.get_or_init(|| schema.map(OutputValidator::compile).transpose());
        match compiled {
            Ok(validator) => Ok(validator.as_ref()),
            Err(_) => Err(self.error(ErrorKind::UnusableSchema)),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.handle.server)
            .field("revision", &self.handle.session.revision)
            .finish_non_exhaustive()
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

impl Drop for Handle {
    fn drop(&mut self) {
        self.tree.kill_now();
    }
}

impl ClientBuilder {
    /// Is told what the server says beside the protocol: stderr, noise, errors' own texts (S12). Without one, that is
    /// counted and dropped.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Connects; see [`Client::connect`].
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect(self) -> Result<Client, Error> {
        let server: Arc<str> = self.config.server().into();
        if Runtime::try_current().is_err() {
            return Err(Error::new(&server, ErrorKind::NoRuntime));
        }
        if !self.config.grant().is_empty() {
            // Accepting a grant without keeping it would give more than was granted.
            return Err(Error::new(&server, ErrorKind::NotBuilt("`grant`")));
        }
        let pin = match self.config.protocol() {
            Protocol::Legacy => None,
            Protocol::Pinned(revision) if revision.is_legacy() => Some(revision),
            Protocol::Pinned(_) | Protocol::Modern => {
                return Err(Error::new(
                    &server,
                    ErrorKind::NotBuilt("the protocol of revision 2026-07-28"),
                ));
            }
            Protocol::Mcpl => return Err(Error::new(&server, ErrorKind::NotBuilt("MCPL"))),
            Protocol::Auto => {
                return Err(Error::new(
                    &server,
                    ErrorKind::NotBuilt("`protocol: \"auto\"`"),
                ));
            }
        };
        let (link, redactor) = open(&self.config).map_err(|kind| Error::new(&server, kind))?;
        self.connect_over(server, pin, link, redactor).await
    }

    /// Connects over a link that is open.
    async fn connect_over(
        self,
        server: Arc<str>,
        pin: Option<Revision>,
        link: Link,
        redactor: Redactor,
    ) -> Result<Client, Error> {
        let limits = self.config.limits().clone();
        let epoch = Instant::now();
        let mut protocol = ClientConfig::new(env!("CARGO_PKG_VERSION"));
        protocol.limits = limits.clone();
        protocol.pin = pin;
        protocol.diagnostics = self.observer.is_some();
        let connection = Connection::client(Time::default(), protocol);
        let Link { sink, ends } = link;
        let tree = ends.tree.clone();
        let shared = Shared::new(connection, sink, epoch);
        let watch = Watch::new(
            Arc::clone(&server),
            self.observer.clone(),
            redactor,
            limits.max_stderr_bytes,
        );
        let stderr_count = watch.counted();
        let driver = Driver::new(Arc::clone(&shared), ends, limits.max_frame_bytes, watch);
        let opening = Opening(Some(tree.clone()));
        let mut tasks = JoinSet::new();
        tasks.spawn(
            driver
                .run()
                .instrument(tracing::debug_span!("mcp", server = %server)),
        );
        let ready = shared.ready().await;
        let (session, catalog) = match ready {
            Ok(ready) => ready,
            Err((reason, outcome)) => {
                shared.finished().await;
                let unreaped = shared.lock().state().unreaped.take();
                let kind = ErrorKind::Connect {
                    reason,
                    outcome,
                    unreaped,
                };
                return Err(Error::new(&server, kind));
            }
        };
        if let Some(observer) = &self.observer {
            for Quarantined { index, fault, .. } in catalog.quarantined().iter().copied() {
                observer.observe(
                    &server,
                    &Diagnostic::QuarantinedTool {
                        index,
                        reason: fault,
                    },
                );
            }
        }
        let projected = project(
            &catalog,
            &server,
            self.config.name_prefix(),
            self.config.include(),
            self.config.exclude(),
        );
        let (flows, refused) = match projected {
            Ok(flows) => (flows, None),
            Err(refused) => (Vec::new(), Some(refused)),
        };
        let published = flows
            .iter()
            .enumerate()
            .map(|(position, flow)| (flow.tool().to_owned(), position))
            .collect();
        let validators = flows.iter().map(|_| OnceLock::new()).collect();
        opening.disarm();
        let client = Client {
            handle: Arc::new(Handle {
                server,
                limits,
                shared,
                tree,
                tasks: Mutex::new(tasks),
                session,
                catalog,
                flows,
                published,
                validators,
                stderr: stderr_count,
            }),
        };
        match refused {
            None => Ok(client),
            Some(error) => {
                let unreaped = client.end().await.err();
                Err(client.error(ErrorKind::Project { error, unreaped }))
            }
        }
    }
}
