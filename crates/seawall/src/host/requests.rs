//! Requests of one server that are no tool calls: resources, prompts, completion, what is followed. And which servers there
//! are to be asked.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use seawall_proto::connection::{Progress, Session};
use seawall_proto::{Json, Outcome};

use super::{Host, ServerState};
use crate::client::{Carried, Client, Pages, Request};
use crate::error::{Error, ErrorKind};
use crate::policy::Capability;

/// A server that is connected.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LiveSession {
    /// Its id.
    pub server: Arc<str>,
    /// Which of the host's connections it is: another one is another session.
    pub generation: u64,
    /// The session: revision, capabilities, what the server says of itself.
    pub session: Arc<Session>,
    /// What its flows declare, whether it has tools or not: its entry's grant (F4).
    pub declares: Arc<[Capability]>,
}

/// A request of a server: a future that ends in the server's result, unchanged, or in an [`Error`] that says what became of
/// it. Nothing retries it.
///
/// Nothing happens before it is polled first: the session that it goes to is the one that the server has then.
///
/// # Cancel safety
/// As [`Request`]: dropping it abandons the request.
///
/// # Drop behavior
/// Until it is polled first it is a clone of the [`Host`] too.
#[must_use = "a request does nothing until it is awaited"]
pub struct HostRequest {
    server: Arc<str>,
    timeout: Option<Duration>,
    carried: Carried,
    stage: Stage,
}

enum Stage {
    /// Nothing was done yet.
    Asked {
        host: Host,
        method: String,
        params: Option<Json>,
    },
    /// It is under way.
    Asking(Box<Request>),
    /// Its end was told: this became of it.
    Over(Outcome),
}

impl Host {
    /// The servers that are connected at this moment, in the order of the configuration: that in which they were admitted.
    #[must_use]
    pub fn sessions(&self) -> Vec<LiveSession> {
        let mut live: Vec<(u64, LiveSession)> = Vec::new();
        for (server, entry) in self.0.world.registry.servers() {
            let standing = entry.standing.borrow();
            if let Some((generation, session)) = &standing.session
                && let Some(client) = session.client()
            {
                let session = LiveSession {
                    server,
                    generation: *generation,
                    session: Arc::clone(client.shared_session()),
                    declares: Arc::clone(entry.config.grant().shared_capabilities()),
                };
                live.push((entry.place(), session));
            }
        }
        live.sort_by_key(|(place, _)| *place);
        live.into_iter().map(|(_, session)| session).collect()
    }

    /// The ids of all servers that are registered, or failed since, whether they are connected or not.
    #[must_use]
    pub fn servers(&self) -> Vec<String> {
        let registry = &self.0.world.registry;
        let held = registry
            .servers()
            .into_iter()
            .map(|(id, _)| id.as_ref().to_owned());
        let down = registry.down().into_iter();
        let down = down.map(|(config, _)| config.server().to_owned());
        held.chain(down).collect()
    }

    /// Any request of the protocol but `tools/call`, of one server; `params` is a JSON object. As
    /// [`Client::request`](crate::Client::request).
    ///
    /// # Errors
    /// The future's: the server is not up (`not_sent`); else as [`Request`].
    pub fn request(
        &self,
        server: &str,
        method: impl Into<String>,
        params: Option<Json>,
    ) -> HostRequest {
        HostRequest {
            server: server.into(),
            timeout: None,
            carried: Carried::default(),
            stage: Stage::Asked {
                host: self.clone(),
                method: method.into(),
                params,
            },
        }
    }

    /// `resources/list` of one server, through every page.
    ///
    /// # Errors
    /// The server is not up; else as [`Client::resources`](crate::Client::resources).
    ///
    /// # Cancel safety
    /// Dropping the future abandons the page under way.
    pub async fn resources(&self, server: &str) -> Result<Pages, Error> {
        self.live(&server.into())?.resources().await
    }

    /// `resources/templates/list` of one server, through every page; see [`resources`](Self::resources).
    ///
    /// # Errors
    /// As [`resources`](Self::resources).
    pub async fn resource_templates(&self, server: &str) -> Result<Pages, Error> {
        self.live(&server.into())?.resource_templates().await
    }

    /// `prompts/list` of one server, through every page; see [`resources`](Self::resources).
    ///
    /// # Errors
    /// As [`resources`](Self::resources).
    pub async fn prompts(&self, server: &str) -> Result<Pages, Error> {
        self.live(&server.into())?.prompts().await
    }

    /// Follows one more resource of a server's live session: a change of it is
    /// [`EventKind::ResourceChanged`](super::EventKind::ResourceChanged). At most 64 of one server are; the next session of
    /// the server follows none. On 2026-07-28 the server may follow less than it is asked to, and does not say so here.
    ///
    /// # Errors
    /// The server is not up; as many are followed as can be; else as [`Request`], on legacy revisions alone.
    ///
    /// # Cancel safety
    /// Whether it is followed is not known then.
    pub async fn follow(&self, server: &str, uri: &str) -> Result<(), Error> {
        self.live(&server.into())?.follow(uri).await
    }

    /// Follows a resource no longer; see [`follow`](Self::follow).
    ///
    /// # Errors
    /// The server is not up; else as [`Request`], on legacy revisions alone. In no case is it followed in a session that is
    /// made anew.
    pub async fn unfollow(&self, server: &str, uri: &str) -> Result<(), Error> {
        self.live(&server.into())?.unfollow(uri).await
    }

    /// The live session of a server.
    pub(super) fn live(&self, server: &Arc<str>) -> Result<Client, Error> {
        let not_up = |standing| Error::new(server, ErrorKind::NotUp(standing));
        let registry = &self.0.world.registry;
        let Ok(entry) = registry.find(server) else {
            let mut down = registry.down().into_iter();
            let is_down = down.any(|(config, _)| config.server() == &**server);
            return Err(not_up(match is_down {
                true => ServerState::Down.as_str(),
                false => "not registered",
            }));
        };
        let standing = entry.standing.borrow();
        let session = standing.session.as_ref();
        let client = session.and_then(|(_, session)| session.client());
        client
            .cloned()
            .ok_or_else(|| not_up(standing.state.as_str()))
    }
}

impl HostRequest {
    /// See [`Request::timeout`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// See [`Carried::on_progress`].
    pub fn on_progress(mut self, tell: impl FnMut(Progress) + Send + 'static) -> Self {
        self.carried.on_progress = Some(Box::new(tell));
        self
    }

    /// What it carries for whoever it is made for, in place of what was said of that before.
    pub fn carrying(mut self, carried: Carried) -> Self {
        self.carried = carried;
        self
    }

    fn begin(
        &mut self,
        host: &Host,
        method: String,
        params: Option<Json>,
    ) -> Result<Request, Error> {
        let request = host.live(&self.server)?.request(method, params);
        let request = request.carrying(std::mem::take(&mut self.carried));
        Ok(match self.timeout {
            Some(timeout) => request.timeout(timeout),
            None => request,
        })
    }
}

impl Future for HostRequest {
    type Output = Result<Json, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let unwound = Stage::Over(Outcome::NoResponse);
        let begun = match std::mem::replace(&mut self.stage, unwound) {
            Stage::Asked {
                host,
                method,
                params,
            } => self.begin(&host, method, params).map(Box::new),
            Stage::Asking(request) => Ok(request),
            Stage::Over(outcome) => {
                self.stage = Stage::Over(outcome);
                let kind = ErrorKind::Over(outcome);
                return Poll::Ready(Err(Error::new(&self.server, kind)));
            }
        };
        let ended = match begun {
            Err(error) => Err(error),
            Ok(mut request) => match Pin::new(&mut *request).poll(context) {
                Poll::Pending => {
                    self.stage = Stage::Asking(request);
                    return Poll::Pending;
                }
                Poll::Ready(ended) => ended,
            },
        };
        let outcome = ended
            .as_ref()
            .map_or_else(Error::outcome, |_| Outcome::Answered);
        self.stage = Stage::Over(outcome);
        Poll::Ready(ended)
    }
}

impl fmt::Debug for HostRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostRequest")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
