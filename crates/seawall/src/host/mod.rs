//! Many servers, one owner each, and what they offer together.
//!
//! A [`Host`] connects servers side by side, keeps them up, replaces them while it runs, and ends them without a trace.
//! Each server has a supervisor, a task that owns everything about it; every operation here is a message to it.
//!
//! ```
//! use std::time::Duration;
//!
//! use seawall::{Arguments, Host, ServerConfig};
//!
//! # #[cfg(unix)]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = seawall_testkit::Script::plain().server();
//! # let (command, args) = (server.program_str(), server.args.clone());
//! let config = ServerConfig::stdio("demo", command).args(args).build()?;
//! let host = Host::builder().servers([config]).build();
//! host.start(Duration::from_secs(10)).await?;
//! for flow in host.tools().flows() {
//!     println!("{}: {}", flow.name(), flow.description());
//! }
//! let result = host.call("mcp/demo/echo", Arguments::text(r#"{"text": "hello"}"#)).await?;
//! println!("{}", result.raw().as_str());
//! host.stop(Duration::from_secs(10)).await?;
//! # Ok(())
//! # }
//! # #[cfg(not(unix))]
//! # fn main() {}
//! ```
//!
//! **Invariant:** whatever one server does costs that server only (H8).
//! **Invariant:** what [`Host::tools`] shows is the newest listing of each live session, and nothing else (H5).

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle as Runtime;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinSet;
use tracing::Instrument;

mod alert;
mod apply;
mod builder;
mod call;
mod caller;
mod dialer;
mod mcpl;
mod requests;
mod start;
mod status;
mod stop;
mod turns;

#[cfg(test)]
mod tests;

pub use crate::supervisor::{
    AlertSink, Connected, Down, EndedBy, EventKind, Events, Heard, Held, HostError, HostEvent,
    KEPT_EVENTS, Listing, Operation, Outlook, ServerState, Snapshot, Totals,
};
pub use alert::{AlertLog, AlertLogError, MAX_WAITING_ALERTS, Webhook, WebhookError};
pub use apply::Applied;
pub use builder::HostBuilder;
pub use call::HostCall;
pub use caller::Caller;
pub use requests::{HostRequest, LiveSession};
pub use start::{StartError, Started};
pub use status::ServerStatus;
pub use stop::StopError;

use crate::config::ServerConfig;
use crate::journal::Journal;
use crate::supervisor::{Answered, Command, Life, Supervisor, World};

/// Many servers. Clones share them.
///
/// # Drop behavior
/// Dropping the last clone, and the [`HostCall`]s that were not polled yet, kills every server's process group, but for a
/// server that a call is under way to: that one goes when the call ends or is dropped. [`stop`](Self::stop) is the gentle way.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

struct Inner {
    world: Arc<World>,
    /// The supervisors. Locked for moments, never across an await.
    tasks: Mutex<JoinSet<()>>,
    /// What the supervisors own, for the drop of the host. Locked for moments, never across an await.
    lives: Mutex<Vec<Life>>,
    /// What `start()` connects.
    servers: Mutex<Vec<ServerConfig>>,
    /// Whose turn it is to apply a configuration.
    applying: Semaphore,
    journal: Option<Journal>,
}

impl Host {
    /// A host with more than the defaults.
    pub fn builder() -> HostBuilder {
        HostBuilder::new()
    }

    /// Connects a server, and waits until its tools are published.
    ///
    /// A server with reconnect whose first attempt fails stays registered and is tried again: [`Connected::Retrying`].
    ///
    /// # Errors
    /// The id or the prefix is held, the host is stopping (nothing was started then); the connect failed for good, or
    /// was ended by a [`disconnect`](Self::disconnect) or a [`stop`](Self::stop); or it failed and its child could not be
    /// reaped, and holds the id from then on (H1).
    ///
    /// # Cancel safety
    /// The connect goes on without the caller; `disconnect` ends it.
    pub async fn connect(&self, config: ServerConfig) -> Result<Connected, HostError> {
        let server: Arc<str> = config.server().into();
        let answered = self.begin(config)?;
        answered
            .await
            .unwrap_or(Err(HostError::NoRuntime { server }))
    }

    /// Ends a server: a connect in flight at once, a session with its calls, a wait for the next attempt. Waits until
    /// everything that was started for it is confirmed gone; then the id is free.
    ///
    /// # Errors
    /// There is no such server; or a child could not be reaped. It stays registered then, without tools, and another
    /// disconnect tries again (H1).
    ///
    /// # Cancel safety
    /// The end goes on without the caller; another disconnect waits for the same end.
    pub async fn disconnect(&self, server: &str) -> Result<(), HostError> {
        let entry = match self.0.world.registry.find(server) {
            Ok(entry) => entry,
            Err(_) if self.0.world.registry.forget_down(server) => return Ok(()),
            Err(error) => return Err(error),
        };
        let (answer, answered) = oneshot::channel();
        let command = Command::Disconnect {
            server: server.into(),
            by: EndedBy::Disconnect,
            answer: Some(answer),
        };
        if entry.mailbox.send(command).await.is_err() {
            // It went meanwhile.
            return Ok(());
        }
        answered.await.unwrap_or(Ok(()))
    }

    /// Replaces a server: checks everything about the new entry and holds the id and the prefix that it moves to, ends the
    /// server, and connects by the new entry (H3).
    ///
    /// # Errors
    /// Before anything is ended: the server is not registered, or is not in a state for it; the new id or prefix is held;
    /// the host is stopping. After: [`HostError::RestartFailed`], which says first that the server is down. With reconnect
    /// it is tried again all the same, by the new entry.
    ///
    /// # Cancel safety
    /// The restart goes on without the caller.
    pub async fn restart(&self, server: &str, config: ServerConfig) -> Result<(), HostError> {
        let (answer, answered) = oneshot::channel();
        let config = Arc::new(config);
        self.0
            .world
            .registry
            .restart(server, &config, answer, None)?;
        let gone = || HostError::NoRuntime {
            server: server.into(),
        };
        answered.await.unwrap_or_else(|_| Err(gone())).map(drop)
    }

    /// Has a server's tool list read now, and waits until it is published.
    ///
    /// # Errors
    /// The server is not connected, its catalog is frozen, or the list could not be read; the one published stays.
    ///
    /// # Cancel safety
    /// The list is read and published without the caller.
    pub async fn refresh(&self, server: &str) -> Result<(), HostError> {
        let entry = self.0.world.registry.find_open(server)?;
        let (answer, answered) = oneshot::channel();
        let unknown = || HostError::NotRegistered {
            server: server.into(),
        };
        if entry
            .mailbox
            .send(Command::Refresh { answer })
            .await
            .is_err()
        {
            return Err(unknown());
        }
        answered.await.unwrap_or_else(|_| Err(unknown()))
    }

    /// Every published tool at this moment.
    #[must_use]
    pub fn tools(&self) -> Arc<Snapshot> {
        self.0.world.publisher.current()
    }

    /// Every published tool, now and at each change.
    #[must_use]
    pub fn watch_tools(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.0.world.publisher.subscribe()
    }

    /// What happens from now on. Slow listeners lose the oldest events and are told how many (H7).
    #[must_use]
    pub fn events(&self) -> Events {
        self.0.world.bus.subscribe()
    }

    /// Admits a server and starts its life.
    fn begin(&self, config: ServerConfig) -> Result<Answered, HostError> {
        let server: Arc<str> = config.server().into();
        let Ok(runtime) = Runtime::try_current() else {
            return Err(HostError::NoRuntime { server });
        };
        let (supervisor, asked, answered) = Supervisor::admit(&self.0.world, Arc::new(config))?;
        let span = tracing::debug_span!("supervisor", server = %server);
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        let (life, living) = Life::new(Box::pin(supervisor.run(asked).instrument(span)));
        tasks.spawn_on(living, &runtime);
        drop(tasks);
        let mut lives = self.0.lives.lock().unwrap_or_else(PoisonError::into_inner);
        lives.retain(|life| !life.is_over());
        lives.push(life);
        Ok(answered)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let lives = self.lives.get_mut().unwrap_or_else(PoisonError::into_inner);
        lives.drain(..).for_each(|life| life.end());
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.0.world.registry.servers();
        let ids: HashSet<&str> = servers.iter().map(|(server, _)| &**server).collect();
        f.debug_struct("Host").field("servers", &ids).finish()
    }
}
