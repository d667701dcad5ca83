//! A connection to one server, and the handle that callers hold.
//!
//! [`Client::connect`] starts the server, agrees on a revision, reads the catalog, and yields a handle that clones for
//! nothing. One task per connection (its driver) reads and keeps time; a call costs no task of its own, and one that is
//! alone writes its own request.
//!
//! **Invariant:** no lock is held across an await.
//! **Invariant:** the last handle's drop leaves no process behind, with a runtime or without.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use seawall_proto::Outcome;
use seawall_proto::connection::{CallError, Change, Session};
use seawall_proto::limits::Limits;
use seawall_proto::mcp::{Catalog, ClientCapabilities, Tool};
use tokio::task::JoinSet;

mod arguments;
mod call;
mod carried;
mod connect;
mod driver;
mod launches;
mod link;
mod mcpl;
mod offer;
mod open;
mod questions;
mod refresh;
mod relays;
mod report;
mod requests;
mod secrets;
mod shared;
mod watch;

#[cfg(test)]
pub(crate) mod tests;

pub use arguments::Arguments;
pub use call::Call;
pub use carried::Carried;
pub use connect::ClientBuilder;
pub(crate) use launches::Launches;
pub use mcpl::{Destination, Mcpl, McplError, McplEvent, Noticed, Notices, Said};
pub use report::{EraSource, Report, Transport};
pub use requests::{Pages, Request};

use crate::config::ServerConfig;
use crate::error::{Error, ErrorKind};
use crate::flows::Flow;
use crate::redact::Redactor;
use crate::results::OutputValidator;
use crate::transport::stdio::NotReaped;
use link::Tree;
use mcpl::Live;
use offer::Offer;
use secrets::Secrets;
use shared::Shared;
use watch::StderrCount;

/// A connection to one MCP server. Clones share it; the last one's drop ends the server.
///
/// # Drop behavior
/// Dropping the last clone, and the calls made from it, kills the server's process group at once and waits at most 100 ms
/// for it to be gone. [`close`](Self::close) is the gentle way.
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
    /// The listing that this clone calls by.
    offer: Arc<Offer>,
}

/// What all clones share.
struct Handle {
    server: Arc<str>,
    config: ServerConfig,
    shared: Arc<Shared>,
    tree: Tree,
    transport: Transport,
    era: EraSource,
    tasks: Mutex<JoinSet<()>>,
    session: Arc<Session>,
    /// What is shared with the driver where the configuration wants MCP Live.
    mcpl: Option<Arc<Live>>,
    /// What the host itself supplies.
    supplied: ClientCapabilities,
    stderr: Arc<StderrCount>,
    /// What is taken out of the server's text before it goes into an error. Locked for moments.
    secrets: Mutex<Secrets>,
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
        ClientBuilder::new(config)
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

    /// All tools that the server listed: a snapshot that never changes (S9). [`refresh`](Self::refresh) yields another.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.offer.catalog
    }

    /// The published tools as flows, in the catalog's order: after `include` and `exclude` (F1, K11).
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        &self.offer.flows
    }

    /// The flow of this name, `<prefix>/<tool>`, or of the tool of this name.
    #[must_use]
    pub fn flow(&self, name: &str) -> Option<&Flow> {
        self.offer.flows.get(self.offer.position(name)?)
    }

    /// Calls a tool, named by its own name or its flow's, with a JSON object.
    ///
    /// Nothing happens before the call is polled. What cannot be refused before it is sent comes back as an [`Error`]
    /// that says what became of the request; a result that says `isError` is a result.
    pub fn call(&self, name: &str, arguments: impl Into<Arguments>) -> Call {
        let position = self.offer.find(name, self.handle.config.name_prefix());
        Call::new(self.clone(), position, arguments.into())
    }

    /// Waits for the next change that the server announces: of its tools, its prompts, its resources, or of a resource
    /// that is [followed](Self::subscribe). A change is told once, however often it was announced meanwhile, and to one
    /// of the clones that wait. `None` once the session ended.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn changed(&self) -> Option<Change> {
        self.handle.shared.change().await
    }

    /// What the connection measured so far.
    #[must_use]
    pub fn report(&self) -> Report {
        let handle = &self.handle;
        let catalog = &self.offer.catalog;
        let tools = catalog.tools();
        let (stderr_lines, stderr_withheld) = handle.stderr.get();
        let redactions = {
            let secrets = handle.secrets.lock();
            secrets.unwrap_or_else(PoisonError::into_inner).replaced()
        };
        let mut guard = handle.shared.lock();
        let connection = &guard.state().connection;
        Report {
            revision: handle.session.revision,
            transport: handle.transport,
            era: handle.era,
            pid: handle.tree.pid(),
            tools: tools.len(),
            quarantined: catalog.quarantined().to_vec(),
            catalog_pages: catalog.pages(),
            catalog_bytes: catalog.bytes(),
            longest_tool_name: tools
                .iter()
                .map(|tool| tool.name().len())
                .max()
                .unwrap_or(0),
            largest_tool_document: tools.iter().map(Tool::document_bytes).max().unwrap_or(0),
            stderr_lines,
            stderr_withheld,
            redactions,
            buffered_bytes: connection.buffered_bytes(),
            stats: connection.stats().clone(),
            limits: handle.config.limits().clone(),
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

    pub(crate) fn shared_session(&self) -> &Arc<Session> {
        &self.handle.session
    }

    pub(crate) fn limits(&self) -> &Limits {
        self.handle.config.limits()
    }

    /// What takes the secrets out of text of this connection, as they are known now (R1).
    pub(crate) fn redactor(&self) -> Redactor {
        let secrets = &self.handle.secrets;
        let mut secrets = secrets.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.redactor().clone()
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.handle.server, kind)
    }

    /// The error of a call, with what the server said of it, redacted and then cut (R2).
    fn call_error(&self, error: CallError) -> Error {
        let (CallError::Refused { told, .. } | CallError::RequestRefused { told, .. }) = &error
        else {
            return self.error(ErrorKind::Call(error));
        };
        let redactor = self.redactor();
        let data = told.data();
        let data = data.and_then(|data| crate::events::shown_data(data, &redactor));
        let shown = crate::events::shown_message(told.reveal(), &redactor);
        self.error(ErrorKind::Call(error.without_text()))
            .telling(shown, data)
    }

    /// The validator of a flow's output, if the tool declares a schema.
    fn output_validator(&self, position: usize) -> Result<Option<&OutputValidator>, Error> {
        let validator = self.offer.output_validator(position);
        validator.map_err(|_| self.error(ErrorKind::UnusableSchema))
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

impl Drop for Handle {
    fn drop(&mut self) {
        self.tree.kill_now();
    }
}
