//! The MCP Live side of a connection: the handle that callers hold, and what drives its session.
//!
//! The [session](crate::mcpl) decides and does nothing; here what it decides is done. The connection's driver feeds it what
//! the server sends; callers ask through [`Mcpl`]. Both do so under one lock, held for moments and never across an await.
//!
//! **Invariant:** what a server may not be sent is decided under the same lock under which it is queued, so nothing overtakes
//! the end of a grant.
//! **Invariant:** a connection without the extension has none of this.
//! **Lock order:** the session's before the connection's.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use seawall_proto::Json;
use seawall_proto::connection::{CallId, Experiment, InputId, Untold};
use seawall_proto::jsonrpc::RequestId;
use secrecy::SecretString;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use super::secrets::Secrets;
use super::shared::Shared;
use super::{Client, Request};
use crate::config::{Endpoint, Protocol, ServerConfig};
use crate::error::Error;
use crate::mcpl::callbacks::Callbacks;
use crate::mcpl::capability::{CapabilitySet, host_advertisement};
use crate::mcpl::content::Record;
use crate::mcpl::features::Selection;
use crate::mcpl::fetch::Fetcher;
use crate::mcpl::grant::Grant;
use crate::mcpl::session::{Defect, Notice, Policy, Session, Terms, Unsent};
use crate::web::HttpClient;

mod channels;
mod consult;
mod event;
mod hooks;
mod pump;

#[cfg(test)]
mod tests;

use event::Teller;

pub use channels::Destination;
pub(crate) use event::Sink as McplSink;
pub use event::{McplEvent, Said};
pub(super) use pump::Pump;

/// So many notices are kept for a listener that is slow.
const KEPT_NOTICES: usize = 64;
/// What the extension is called under `capabilities.experimental`.
const NAME: &str = "mcpl";

/// The MCP Live side of a connection ([`Client::mcpl`]). Clones share it, and the connection.
///
/// Everything that it sends is looked at first: what the server is not granted, or has not acknowledged, is not sent
/// ([`McplError::Unsent`]).
///
/// # Drop behavior
/// As of the [`Client`] that it holds.
#[derive(Clone)]
pub struct Mcpl {
    client: Client,
    live: Arc<Live>,
}

/// Why a server was not asked, or gave no answer that is of use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McplError {
    /// Nothing was sent.
    #[error("{0}")]
    Unsent(Unsent),
    /// A notification was not sent: there is no room for it, or the session ended.
    #[error("{0}")]
    Untold(Untold),
    /// The request failed. It says what became of it.
    #[error("{0}")]
    Failed(Error),
    /// The server's answer cannot be used, or says no.
    #[error("its answer to {0} says that it was not done, or cannot be used")]
    Answer(&'static str),
}

impl From<Unsent> for McplError {
    fn from(unsent: Unsent) -> Self {
        Self::Unsent(unsent)
    }
}

/// A request of the server, for whoever answers it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    id: InputId,
    /// The server's own id of it.
    request: RequestId,
}

/// What the driver and the handles share.
pub(super) struct Live {
    config: ServerConfig,
    callbacks: Callbacks,
    session: OnceLock<Mutex<Session<Key>>>,
    notices: broadcast::Sender<Notice>,
    policy: watch::Sender<Policy>,
    /// Whoever watches many connections.
    teller: OnceLock<Teller>,
    /// Hooks that callers wait for.
    hooks: Mutex<Vec<CallId>>,
    /// The driver, to be woken when the session wants something done.
    driver: AtomicWaker,
}

impl Live {
    /// What there is to share, where the configuration wants MCP Live.
    pub(super) fn of(config: &ServerConfig, callbacks: &Callbacks) -> Option<Arc<Self>> {
        (config.protocol() == Protocol::Mcpl).then(|| {
            Arc::new(Self {
                config: config.clone(),
                callbacks: callbacks.clone(),
                session: OnceLock::new(),
                notices: broadcast::Sender::new(KEPT_NOTICES),
                policy: watch::Sender::new(Policy::Pending),
                teller: OnceLock::new(),
                hooks: Mutex::default(),
                driver: AtomicWaker::new(),
            })
        })
    }

    /// What is declared in `initialize`.
    pub(super) fn experiment(&self) -> Option<Experiment> {
        let declared = host_advertisement(&self.callbacks.offered());
        let declared = Json::of(&declared).ok()?;
        Some(Experiment {
            name: NAME,
            declared,
        })
    }

    /// The session with a server that says this of itself. Made by whoever comes first.
    fn session(&self, server: &seawall_proto::connection::Session) -> Option<&Mutex<Session<Key>>> {
        if let Some(session) = self.session.get() {
            return Some(session);
        }
        server.extension.as_ref()?;
        let terms = Terms {
            server: self.config.server(),
            policy: self.config.mcpl().cloned().unwrap_or_default(),
            offered: self.callbacks.offered(),
            named: self.callbacks.treatments.named(),
        };
        let session = Session::new(terms, &server.capabilities)?;
        Some(self.session.get_or_init(|| Mutex::new(session)))
    }

    /// Locked for moments; nothing else is locked under it.
    fn hooks(&self) -> MutexGuard<'_, Vec<CallId>> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock<'a>(&'a self, session: &'a Mutex<Session<Key>>) -> Locked<'a> {
        Locked {
            session: Some(session.lock().unwrap_or_else(PoisonError::into_inner)),
            driver: &self.driver,
        }
    }

    /// Has `sink` told of what happens, without these secrets.
    pub(super) fn told_to(&self, sink: McplSink, secrets: Secrets) {
        let now = Instant::now().into_std();
        // There is one, as a connection is made once.
        self.teller.set(Teller::new(sink, secrets, now)).ok();
    }

    fn tell(&self, notice: Notice) {
        if let Some(teller) = self.teller.get() {
            let now = Instant::now().into_std();
            teller.tell(&notice, now);
        }
        if let Notice::Policy(policy) = &notice {
            self.policy.send_replace(*policy);
        }
        // Nobody may be listening.
        self.notices.send(notice).ok();
    }
}

/// The session, locked. Dropping it wakes the driver if there is something to do, after the lock is released.
struct Locked<'a> {
    session: Option<MutexGuard<'a, Session<Key>>>,
    driver: &'a AtomicWaker,
}

impl Locked<'_> {
    #[expect(clippy::expect_used, reason = "the guard is taken out only by drop")]
    fn get(&mut self) -> &mut Session<Key> {
        self.session.as_deref_mut().expect("held until drop")
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let wants = self
            .session
            .take()
            .is_some_and(|session| session.has_acts());
        if wants {
            self.driver.wake();
        }
    }
}

/// What happens on a connection, from when it was subscribed to.
#[derive(Debug)]
pub struct Notices(broadcast::Receiver<Notice>);

/// What a listener gets.
#[derive(Debug, Clone)]
pub enum Noticed {
    /// The next one.
    Notice(Notice),
    /// So many came and went while the listener was busy.
    Missed(u64),
}

impl Notices {
    /// Waits for the next one; `None` once the connection and its handles are gone.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn next(&mut self) -> Option<Noticed> {
        match self.0.recv().await {
            Ok(notice) => Some(Noticed::Notice(notice)),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(Noticed::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

impl Client {
    /// The MCP Live side of the connection; `None` of a server that does not advertise it, and where the configuration does
    /// not ask for it.
    #[must_use]
    pub fn mcpl(&self) -> Option<Mcpl> {
        let live = self.handle.mcpl.as_ref()?;
        live.session(&self.handle.session)?;
        Some(Mcpl {
            client: self.clone(),
            live: Arc::clone(live),
        })
    }
}

impl Mcpl {
    /// The server's id.
    #[must_use]
    pub fn server(&self) -> &str {
        self.client.server()
    }

    /// What the server is granted at this moment: nothing, before it acknowledged its grant, and once the session ended.
    #[must_use]
    pub fn grant(&self) -> Grant {
        self.with(|session| session.grant().clone())
    }

    /// What it is to be granted of what it advertises, and what not and why.
    #[must_use]
    pub fn wanted(&self) -> Grant {
        self.with(|session| session.wanted().clone())
    }

    /// How far the policy exchange is.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.with(|session| session.policy())
    }

    /// Waits until the policy exchange came to an end: at most 15 s from the end of the handshake.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn settled(&self) -> Policy {
        let mut policy = self.live.policy.subscribe();
        // The sender is in `live`, so it is not gone.
        let settled = policy.wait_for(|policy| *policy != Policy::Pending).await;
        settled.map_or(Policy::Pending, |policy| *policy)
    }

    /// What happens from now on.
    #[must_use]
    pub fn notices(&self) -> Notices {
        Notices(self.live.notices.subscribe())
    }

    /// What this host offers to servers.
    #[must_use]
    pub fn offered(&self) -> CapabilitySet {
        self.live.callbacks.offered()
    }

    /// Fetches what references of this server lead to, by this way to the web: from the origin that the connection was dialed
    /// at alone, with the entry's token, within its `autofetch`. Keep it for as long as the server is known: what it fetched
    /// counts towards one total.
    #[must_use]
    pub fn fetcher(&self, http: HttpClient) -> Fetcher {
        let config = &self.live.config;
        let dialed = match config.endpoint() {
            Endpoint::WebSocket(entry) => Some(entry),
            Endpoint::Stdio(_) | Endpoint::Http(_) => None,
        };
        let bearer = dialed.and_then(|entry| entry.bearer_token.as_ref());
        let bearer = bearer.map(|token| SecretString::from(token.reveal().to_owned()));
        let autofetch = config.mcpl().and_then(|policy| policy.autofetch);
        Fetcher::new(http, dialed.map(|entry| &entry.url), bearer, autofetch)
    }

    /// What is known of a reference that the server gave, by the id that it has here; its URI is in it, so it is for whoever
    /// fetches it, and for no model.
    #[must_use]
    pub fn reference(&self, id: &str) -> Option<Record> {
        self.with(|session| session.references().record(id).cloned())
    }

    /// What the server says of itself now: its `experimental.mcpl`, as it wrote it.
    #[must_use]
    pub fn manifest(&self) -> Option<Json> {
        self.with(|session| Some(session.manifest().raw().clone()))
    }

    /// Which of its feature sets are on, and which are off and why.
    #[must_use]
    pub fn selection(&self) -> Selection {
        self.with(|session| session.selection().clone())
    }

    /// Looks at the session. It is there as long as a handle is.
    fn with<T: Default>(&self, look: impl FnOnce(&mut Session<Key>) -> T) -> T {
        match self.live.session.get() {
            Some(session) => look(self.live.lock(session).get()),
            None => T::default(),
        }
    }

    /// Queues a request under the lock under which it was found to be allowed. The rest of it is awaited without.
    fn begin<T>(
        &self,
        method: &'static str,
        timeout: Option<Duration>,
        make: impl FnOnce(&mut Session<Key>) -> Result<(Json, T), Unsent>,
    ) -> Result<(Request, T), McplError> {
        let session = self.live.session.get().ok_or(Unsent::Method)?;
        let mut locked = self.live.lock(session);
        locked.get().sends(method)?;
        let (params, kept) = make(locked.get())?;
        let mut request = self.client.request(method, Some(params));
        if let Some(timeout) = timeout {
            request = request.timeout(timeout);
        }
        let request = request.begun().map_err(McplError::Failed)?;
        Ok((request, kept))
    }

    /// Queues a notification, likewise.
    fn notify(
        &self,
        method: &'static str,
        make: impl FnOnce(&mut Session<Key>) -> Result<Json, Unsent>,
    ) -> Result<(), McplError> {
        let session = self.live.session.get().ok_or(Unsent::Method)?;
        let mut locked = self.live.lock(session);
        locked.get().sends(method)?;
        let params = make(locked.get())?;
        notify(&self.client.handle.shared, method, &params).map_err(McplError::Untold)
    }

    fn defect(&self, defect: Defect) {
        self.live.tell(Notice::Defect(defect));
    }
}

fn notify(shared: &Shared, method: &str, params: &Json) -> Result<(), Untold> {
    let mut guard = shared.lock();
    guard.state().connection.notify(method, Some(params))
}

impl fmt::Debug for Mcpl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mcpl")
            .field("server", &self.server())
            .finish_non_exhaustive()
    }
}
