//! Every request of the protocol that is no tool call: resources, prompts, completion, the log's level, subscriptions.
//!
//! Names, URIs and cursors go to the server as they are given; results come back as the server wrote them.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use seawall_proto::connection::{Abandoned, CallError, CallId, Connection, Progress};
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::Reply;
use seawall_proto::limits::{MAX_SUBSCRIPTIONS, MAX_TIMEOUT_MS};
use seawall_proto::{Json, Outcome};
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::{Carried, Client};
use crate::error::{Error, ErrorKind};
use crate::events::LogLevel;

/// A busy server is left alone at least this long before its list is asked for again.
const SHORTEST_REST: Duration = Duration::from_millis(100);

/// A request: a future that ends in the server's result, unchanged, or in an [`Error`] that says what became of it.
///
/// Nothing happens before it is polled first; its deadline begins then.
///
/// # Cancel safety
/// As of a [`Call`](super::Call): dropping it abandons the request.
#[must_use = "a request does nothing until it is awaited"]
pub struct Request {
    client: Client,
    stage: Stage,
    timeout: Option<Duration>,
    carried: Carried,
}

enum Stage {
    Unsent {
        method: String,
        params: Result<Option<Json>, CallError>,
    },
    Pending(CallId),
    Over(Outcome),
}

impl Request {
    fn new(client: Client, method: String, params: Result<Option<Json>, CallError>) -> Self {
        Self {
            client,
            stage: Stage::Unsent { method, params },
            timeout: None,
            carried: Carried::default(),
        }
    }

    /// The deadline of the whole request, instead of `requestTimeoutMs`; at most 2^31 - 1 ms, which is 24 days.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout.min(Duration::from_millis(MAX_TIMEOUT_MS)));
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

    /// Queues it now, in place of when it is polled first.
    pub(super) fn begun(mut self) -> Result<Self, Error> {
        let unwound = Stage::Over(Outcome::NoResponse);
        self.stage = match std::mem::replace(&mut self.stage, unwound) {
            Stage::Unsent { method, params } => match self.begin(method, params) {
                Ok(id) => Stage::Pending(id),
                Err(error) => {
                    self.stage = Stage::Over(error.outcome());
                    return Err(error);
                }
            },
            stage => stage,
        };
        Ok(self)
    }

    /// What the connection calls it, while it is under way.
    pub(super) fn id(&self) -> Option<CallId> {
        match self.stage {
            Stage::Pending(id) => Some(id),
            Stage::Unsent { .. } | Stage::Over(_) => None,
        }
    }

    /// Lets go of the request and tells what became of it; the result, if it had ended before.
    ///
    /// # Errors
    /// As awaiting it; a request that had not ended is an error whose outcome says whether it had been dispatched.
    pub fn abandon(mut self) -> Result<Json, Error> {
        let kind = match std::mem::replace(&mut self.stage, Stage::Over(Outcome::NoResponse)) {
            Stage::Unsent { .. } => ErrorKind::Abandoned(Outcome::NotSent),
            Stage::Over(outcome) => ErrorKind::Over(outcome),
            Stage::Pending(id) => match self.client.abandon(id) {
                Ok(Ok(reply)) => return Ok(reply.result),
                Ok(Err(error)) => return Err(self.client.call_error(error)),
                Err(kind) => kind,
            },
        };
        Err(self.client.error(kind))
    }

    fn begin(
        &mut self,
        method: String,
        params: Result<Option<Json>, CallError>,
    ) -> Result<CallId, Error> {
        let refused = |error| self.client.error(ErrorKind::Call(error));
        let params = params.map_err(refused)?;
        let supplied = self.client.handle.supplied;
        let terms = self.carried.terms(self.timeout.into(), supplied);
        let mut guard = self.client.handle.shared.lock();
        let now = guard.now();
        let state = guard.state();
        let begun = state.connection.request(now, method, params, terms);
        if let (Ok(id), Some(relay)) = (&begun, self.carried.relay.take()) {
            state.relays.add(*id, relay);
        }
        drop(guard);
        begun.map_err(refused)
    }

    fn over(&mut self, result: Result<Json, Error>) -> Poll<Result<Json, Error>> {
        let outcome = result
            .as_ref()
            .map_or_else(Error::outcome, |_| Outcome::Answered);
        self.stage = Stage::Over(outcome);
        Poll::Ready(result)
    }
}

impl Future for Request {
    type Output = Result<Json, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let stage = std::mem::replace(&mut self.stage, Stage::Over(Outcome::NoResponse));
        let id = match stage {
            Stage::Unsent { method, params } => match self.begin(method, params) {
                Ok(id) => id,
                Err(error) => return self.over(Err(error)),
            },
            Stage::Pending(id) => id,
            Stage::Over(outcome) => {
                let told = self.client.error(ErrorKind::Over(outcome));
                self.stage = Stage::Over(outcome);
                return Poll::Ready(Err(told));
            }
        };
        // Kept from here on, so that whatever unwinds, the request is let go of.
        self.stage = Stage::Pending(id);
        let this = &mut *self;
        let shared = &this.client.handle.shared;
        match shared.poll_ended(id, &mut this.carried.on_progress, context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(reply))) => self.over(Ok(reply.result)),
            Poll::Ready(Some(Err(error))) => {
                let failed = self.client.call_error(error);
                self.over(Err(failed))
            }
            Poll::Ready(None) => {
                let unknown = self.client.error(ErrorKind::Over(Outcome::NoResponse));
                self.over(Err(unknown))
            }
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Stage::Pending(id) = self.stage {
            let _left = self.client.handle.shared.lock().state().abandon(id);
        }
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("server", &self.client.server())
            .finish_non_exhaustive()
    }
}

/// All entries of a list, gathered page by page.
///
/// The bounds are those of the tool list (L5): `maxCatalogPages` pages, `maxTools` entries, no cursor twice; a list past
/// one of them is an error, never truncated.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Pages {
    /// The entries, each as the server wrote it.
    pub entries: Vec<Json>,
    /// How many pages there were.
    pub pages: usize,
}

impl Client {
    /// Lets go of a call or a request: its reply if it had ended before, else what became of it.
    pub(super) fn abandon(&self, id: CallId) -> Result<Result<Reply, CallError>, ErrorKind> {
        // The relay is the embedder's: it goes after the lock.
        let (left, _relay) = self.handle.shared.lock().state().abandon(id);
        Err(match left {
            Abandoned::Ended(reply) => return Ok(reply),
            Abandoned::NotSent => ErrorKind::Abandoned(Outcome::NotSent),
            Abandoned::Refused => ErrorKind::Abandoned(Outcome::ErrorResponse),
            Abandoned::BetweenLegs => ErrorKind::AbandonedBetweenLegs,
            Abandoned::NoResponse | Abandoned::Unknown => ErrorKind::Abandoned(Outcome::NoResponse),
        })
    }

    /// Any request of the protocol; `params` is a JSON object.
    ///
    /// A modern connection adds its `_meta`; a `requestState` or `inputResponses` of the caller's is not for it to send.
    pub fn request(&self, method: impl Into<String>, params: Option<Json>) -> Request {
        Request::new(self.clone(), method.into(), Ok(params))
    }

    fn request_of(&self, method: &str, params: &serde_json::Value) -> Request {
        // A value of ours always has a JSON text.
        self.request(method, Json::of(params).ok())
    }

    /// `resources/list`, through every page. A server that is busy (429, 503) is asked again within the deadline of the page.
    ///
    /// # Errors
    /// As [`Request`]; `invalid_response` for a list past its bounds.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the page under way.
    pub async fn resources(&self) -> Result<Pages, Error> {
        self.pages("resources/list", "resources").await
    }

    /// `resources/templates/list`, through every page; see [`resources`](Self::resources).
    ///
    /// # Errors
    /// As [`resources`](Self::resources).
    pub async fn resource_templates(&self) -> Result<Pages, Error> {
        self.pages("resources/templates/list", "resourceTemplates")
            .await
    }

    /// `prompts/list`, through every page; see [`resources`](Self::resources).
    ///
    /// # Errors
    /// As [`resources`](Self::resources).
    pub async fn prompts(&self) -> Result<Pages, Error> {
        self.pages("prompts/list", "prompts").await
    }

    /// `resources/read` of a URI.
    pub fn read_resource(&self, uri: &str) -> Request {
        self.request_of("resources/read", &json!({ "uri": uri }))
    }

    /// `prompts/get`; `arguments` is a JSON object of strings.
    pub fn prompt(&self, name: &str, arguments: Option<&Json>) -> Request {
        let mut params = format!("{{\"name\":{}", serde_json::Value::from(name));
        if let Some(arguments) = arguments {
            params.push_str(",\"arguments\":");
            params.push_str(arguments.as_str());
        }
        params.push('}');
        // Both parts are JSON, so all that can be wrong with them together is that they nest too deep.
        let params = Json::check(params).map_err(|_| CallError::ArgumentsTooDeep);
        Request::new(self.clone(), "prompts/get".to_owned(), params.map(Some))
    }

    /// `completion/complete`; `params` is its parameters: `ref`, `argument`, `context`.
    pub fn complete(&self, params: Json) -> Request {
        self.request("completion/complete", Some(params))
    }

    /// Has the server log from this level on; what it logs is [`Diagnostic::Log`](crate::Diagnostic::Log) to an installed
    /// observer.
    ///
    /// On legacy revisions this is `logging/setLevel`; on 2026-07-28 the level goes with each request made from now on.
    ///
    /// # Errors
    /// As [`Request`], on legacy revisions alone.
    pub async fn set_log_level(&self, level: LogLevel) -> Result<(), Error> {
        let keep = |connection: &mut Connection| connection.set_log_level(Some(level.as_str()));
        if !self.session().revision.is_legacy() {
            keep(&mut self.handle.shared.lock().state().connection);
            return Ok(());
        }
        let params = json!({ "level": level.as_str() });
        self.ask_and_keep("logging/setLevel", &params, keep).await
    }

    /// Follows these resources, at most 64, and no others from now on: a change of one is a
    /// [`Change::Resource`](crate::Change::Resource) of [`changed`](Self::changed).
    ///
    /// On 2026-07-28 the stream of changes is opened anew with them; on legacy revisions each new one is a
    /// `resources/subscribe` and each that is followed no longer a `resources/unsubscribe`. A session that the server
    /// forgot follows them again once it is made anew.
    ///
    /// # Errors
    /// As [`Request`], on legacy revisions alone; what was done before stays.
    pub async fn subscribe(&self, uris: &[String]) -> Result<(), Error> {
        let wanted: BTreeSet<String> = uris.iter().take(MAX_SUBSCRIPTIONS).cloned().collect();
        if !self.session().revision.is_legacy() {
            self.handle.shared.lock().state().connection.follow(wanted);
            return Ok(());
        }
        let followed = self.followed();
        for uri in followed.difference(&wanted) {
            self.unfollow(uri).await?;
        }
        for uri in wanted.difference(&followed) {
            self.follow(uri).await?;
        }
        Ok(())
    }

    /// Follows one more resource, if it is not one too many; see [`subscribe`](Self::subscribe).
    pub(crate) async fn follow(&self, uri: &str) -> Result<(), Error> {
        let followed = self.followed();
        if followed.len() >= MAX_SUBSCRIPTIONS && !followed.contains(uri) {
            return Err(self.error(ErrorKind::FollowsAll));
        }
        let add = |connection: &mut Connection| {
            let more = std::iter::once(uri.to_owned());
            let followed: Vec<String> = connection.followed().map(str::to_owned).collect();
            connection.follow(more.chain(followed));
        };
        if !self.session().revision.is_legacy() {
            add(&mut self.handle.shared.lock().state().connection);
            return Ok(());
        }
        let params = json!({ "uri": uri });
        self.ask_and_keep("resources/subscribe", &params, add).await
    }

    /// Follows one resource no longer, whatever the server says to that.
    pub(crate) async fn unfollow(&self, uri: &str) -> Result<(), Error> {
        {
            let mut guard = self.handle.shared.lock();
            let connection = &mut guard.state().connection;
            let others = connection.followed().filter(|followed| *followed != uri);
            let others: Vec<String> = others.map(str::to_owned).collect();
            connection.follow(others);
        }
        if !self.session().revision.is_legacy() {
            return Ok(());
        }
        let params = json!({ "uri": uri });
        self.request_of("resources/unsubscribe", &params).await?;
        Ok(())
    }

    /// The resources that are followed.
    fn followed(&self) -> BTreeSet<String> {
        let mut guard = self.handle.shared.lock();
        let connection = &guard.state().connection;
        connection.followed().map(str::to_owned).collect()
    }

    /// Asks for something that a session remembers, and has the connection keep it for sessions made anew. One that was made
    /// between the answer and now knows nothing of it, so it is asked too.
    async fn ask_and_keep(
        &self,
        method: &str,
        params: &serde_json::Value,
        keep: impl Fn(&mut Connection),
    ) -> Result<(), Error> {
        let mut asked = self.sessions_made_anew();
        loop {
            self.request_of(method, params).await?;
            let mut guard = self.handle.shared.lock();
            let connection = &mut guard.state().connection;
            let sessions = connection.sessions_made_anew();
            if sessions == asked {
                keep(connection);
                return Ok(());
            }
            asked = sessions;
        }
    }

    fn sessions_made_anew(&self) -> u32 {
        let mut guard = self.handle.shared.lock();
        guard.state().connection.sessions_made_anew()
    }

    /// One page. Reading a list does nothing, so a server that is busy is asked again within the page's deadline, once the
    /// time is over that it asks for.
    async fn page(&self, method: &str, params: Option<Json>) -> Result<Json, Error> {
        let began = Instant::now();
        let limit = self.handle.config.limits().request_timeout;
        let mut request = self.request(method, params.clone());
        loop {
            let error = match request.await {
                Ok(page) => return Ok(page),
                Err(error) => error,
            };
            let left = limit.saturating_sub(began.elapsed());
            let rest = error.rest_asked_for().map(|rest| rest.max(SHORTEST_REST));
            let Some(rest) = rest.filter(|rest| *rest < left) else {
                return Err(error);
            };
            // The end of the session ends the rest too: the next request says why.
            let _ = timeout(rest, self.handle.shared.finished()).await;
            request = self.request(method, params.clone()).timeout(left - rest);
        }
    }

    async fn pages(&self, method: &str, member: &str) -> Result<Pages, Error> {
        let limits = self.handle.config.limits();
        let mut gathered = Pages::default();
        let mut seen = std::collections::HashSet::new();
        let mut cursor: Option<Json> = None;
        loop {
            let params = cursor
                .as_ref()
                .and_then(|cursor| Json::check(format!("{{\"cursor\":{}}}", cursor.as_str())).ok());
            let page = self.page(method, params).await?;
            let unusable = || self.error(ErrorKind::List { limit: None });
            let past = |limit| self.error(ErrorKind::List { limit: Some(limit) });
            let entries = page
                .member(member)
                .filter(|entries| entries.as_bytes().starts_with(b"["))
                .ok_or_else(unusable)?;
            gathered.pages += 1;
            gathered.entries.extend(entries.elements());
            if gathered
                .entries
                .iter()
                .any(|entry| entry.kind() != Kind::Object)
            {
                return Err(unusable());
            }
            if gathered.entries.len() > limits.max_tools {
                return Err(past(limits.max_tools));
            }
            let next = page
                .member("nextCursor")
                .filter(|next| next.as_str() != "null");
            let Some(next) = next else {
                return Ok(gathered);
            };
            let text = next.string().ok_or_else(unusable)?.into_owned();
            let empty = text.is_empty() && self.session().revision.is_legacy();
            if empty || !seen.insert(text) {
                return Err(unusable());
            }
            if gathered.pages >= limits.max_catalog_pages {
                return Err(past(limits.max_catalog_pages));
            }
            cursor = Some(next);
        }
    }
}
