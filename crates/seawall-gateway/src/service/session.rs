//! One client's connection with its tasks: what both fronts have in common.
//!
//! **Invariant:** each request has a task of its own, in the session's set; when the request ends, so does the task.
//! **Invariant:** the lock is never held across an await, and no service is called under it.

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, INTERNAL_ERROR, Inbound, Malformed};
use seawall_proto::limits::ServerLimits;
use seawall_proto::mcp::Revision;
use seawall_proto::server::{
    self, AskId, CloseReason, Event, Lane, NotSent, Outbound, RequestKey, ServerConnection, Taken,
};
use tokio::sync::{Notify, oneshot};
use tokio::task::{AbortHandle, JoinSet};

use crate::clients::Client;
use crate::service::{Answer, AskError, Exchange, Request, Service, Way};

/// A session, of this process. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(u64);

impl SessionId {
    #[cfg(feature = "host")]
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// A client that is connected, or has a session. Clones are the same.
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    id: SessionId,
    client: Arc<Client>,
    state: Mutex<State>,
    outlet: Outlet,
    /// Something may be written.
    to_write: Notify,
    /// Something was taken to be written.
    taken: Notify,
    /// It ended.
    ended: Notify,
}

struct State {
    connection: ServerConnection,
    asks: HashMap<AskId, oneshot::Sender<Answer>>,
    running: HashMap<RequestKey, AbortHandle>,
    tasks: JoinSet<()>,
    /// Nothing more comes: it ends once all is answered.
    ending: bool,
}

/// Where frames go.
pub(crate) enum Outlet {
    /// Whoever writes takes them.
    Pulled,
    /// They are sorted at once.
    Sorted(Box<dyn Sort>),
}

/// Sorts frames into streams.
pub(crate) trait Sort: Send + Sync {
    /// Takes one.
    fn sort(&self, outbound: Outbound);
    /// This request is not answered: its stream ends.
    fn cancelled(&self, key: RequestKey);
    /// Ends the connection of this request's stream.
    fn hang_up(&self, key: RequestKey);
}

impl Session {
    pub(crate) fn new(client: Arc<Client>, limits: ServerLimits, outlet: Outlet) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(Arc::new(Shared {
            id: SessionId(NEXT.fetch_add(1, Ordering::Relaxed)),
            client,
            state: Mutex::new(State {
                connection: ServerConnection::new(limits),
                asks: HashMap::new(),
                running: HashMap::new(),
                tasks: JoinSet::new(),
                ending: false,
            }),
            outlet,
            to_write: Notify::new(),
            taken: Notify::new(),
            ended: Notify::new(),
        }))
    }

    /// Which one it is.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.0.id
    }

    /// Whose it is, for all its life.
    #[must_use]
    pub fn client(&self) -> &Arc<Client> {
        &self.0.client
    }

    /// Whether it ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().connection.close_reason().is_some()
    }

    /// Waits until it ended.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn ended(&self) {
        loop {
            let mut ended = pin!(self.0.ended.notified());
            // From here on an end is not missed.
            ended.as_mut().enable();
            if self.is_closed() {
                return;
            }
            ended.await;
        }
    }

    /// The revision that is spoken, once the client opened.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.lock().connection.revision()
    }

    /// Tells the client something that belongs to no request.
    ///
    /// # Errors
    /// [`NotSent`] says why not.
    pub fn notify(&self, method: &str, params: Option<&Json>) -> Result<(), NotSent> {
        let mut state = self.lock();
        let sent = state.connection.notify(None, method, params);
        self.flush(&mut state);
        sent
    }

    pub(crate) fn notify_during(
        &self,
        key: RequestKey,
        method: &str,
        params: Option<&Json>,
    ) -> Result<(), NotSent> {
        let mut state = self.lock();
        let sent = state.connection.notify(Some(key), method, params);
        self.flush(&mut state);
        sent
    }

    /// Asks the client for something.
    pub(crate) async fn ask(
        &self,
        during: Option<RequestKey>,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Json, AskError> {
        let (sender, receiver) = oneshot::channel();
        let ask = {
            let mut state = self.lock();
            let asked = state.connection.request(during, method, params);
            let ask = asked.map_err(AskError::NotSent)?;
            state.asks.insert(ask, sender);
            self.flush(&mut state);
            ask
        };
        // If nobody waits any longer, the client is told; if it answered, there is nothing to withdraw.
        let _withdraw = Withdraw {
            session: self,
            during,
            ask,
        };
        match receiver.await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(AskError::Refused(error)),
            Err(_) => Err(AskError::Gone),
        }
    }

    pub(crate) fn hang_up(&self, key: RequestKey) {
        // Earlier revisions tell clients no place to come back to.
        let resumed = self.revision() >= Some(Revision::V2025_11_25);
        if let (Outlet::Sorted(sort), true) = (&self.0.outlet, resumed) {
            sort.hang_up(key);
        }
    }

    /// Takes a frame of the client. `sorted` learns which requests are in it before anything is said of them; the frames
    /// that refuse what could not be read come back where they are sorted.
    pub(crate) fn take<S: Service>(
        &self,
        service: &Arc<S>,
        frame: &Bytes,
        message: Result<Inbound, Malformed>,
        sorted: impl FnOnce(&Taken),
    ) -> Vec<Bytes> {
        let mut later = Vec::new();
        let refused = {
            let mut state = self.lock();
            let taken = state.connection.handle_message(frame, message);
            sorted(&taken);
            while let Some(event) = state.connection.poll_event() {
                self.on_event(&mut state, service, event, &mut later);
            }
            self.flush(&mut state)
        };
        for call in later {
            match call {
                Later::Opened => service.opened(self),
                Later::Told(method, params) => service.told(self, &method, params.as_ref()),
            }
        }
        refused
    }

    fn on_event<S: Service>(
        &self,
        state: &mut State,
        service: &Arc<S>,
        event: Event,
        later: &mut Vec<Later>,
    ) {
        match event {
            Event::Request(request) => self.begin(state, service, request),
            Event::Initialized => later.push(Later::Opened),
            Event::Notification { method, params } => later.push(Later::Told(method, params)),
            Event::Cancelled(key) => {
                if let Some(task) = state.running.remove(&key) {
                    task.abort();
                }
                if let Outlet::Sorted(sort) = &self.0.outlet {
                    sort.cancelled(key);
                }
            }
            Event::Answer { ask, answer } => {
                if let Some(waiting) = state.asks.remove(&ask) {
                    // Who waited may have gone in this very moment.
                    let _ = waiting.send(answer);
                }
            }
            _ => {}
        }
    }

    fn begin<S: Service>(&self, state: &mut State, service: &Arc<S>, request: server::Request) {
        let server::Request {
            key,
            id,
            method,
            params,
            meta,
            ..
        } = request;
        while state.tasks.try_join_next().is_some() {}
        let service = Arc::clone(service);
        let finish = Finish {
            session: self.clone(),
            key,
            answer: None,
        };
        let task = state.tasks.spawn(async move {
            let mut finish = finish;
            let client = Arc::clone(finish.session.client());
            let answer = match method.as_str() {
                "initialize" => Ok(service
                    .offer(&client, &meta)
                    .initialize_result(meta.revision)),
                "server/discover" => Ok(service.offer(&client, &meta).discover_result()),
                _ => {
                    let exchange = Exchange(Way::Shared(finish.session.clone(), key));
                    let request = Request {
                        id,
                        method,
                        params,
                        meta,
                        client,
                    };
                    service.serve(request, exchange).await
                }
            };
            finish.answer = Some(answer);
        });
        state.running.insert(key, task);
    }

    /// It ends: nothing is answered any more, and whatever runs for it is stopped.
    pub(crate) fn close(&self, reason: CloseReason) {
        let mut state = self.lock();
        state.connection.handle_closed(reason);
        state.asks.clear();
        state.running.clear();
        state.tasks.abort_all();
        drop(state);
        self.0.to_write.notify_one();
        self.0.taken.notify_one();
        self.0.ended.notify_waiters();
    }

    /// Nothing more comes of the client: once all is answered, there is no more [to write](Self::to_write).
    pub(crate) fn end_input(&self) {
        self.lock().ending = true;
        self.0.to_write.notify_one();
    }

    /// The frames to be written next, at least one; `None` when there will be none.
    pub(crate) async fn to_write(&self) -> Option<Vec<Bytes>> {
        loop {
            {
                let mut state = self.lock();
                let waiting = std::iter::from_fn(|| state.connection.poll_transmit());
                let frames: Vec<Bytes> = waiting.map(|outbound| outbound.frame).collect();
                if !frames.is_empty() {
                    drop(state);
                    self.0.taken.notify_one();
                    return Some(frames);
                }
                let over = state.ending && state.connection.pending() == 0;
                if over || state.connection.close_reason().is_some() {
                    return None;
                }
            }
            self.0.to_write.notified().await;
        }
    }

    /// Waits until more may be read.
    pub(crate) async fn readable(&self) {
        while !self.lock().connection.wants_read() {
            self.0.taken.notified().await;
        }
    }

    /// Requests that are not answered.
    pub(crate) fn pending(&self) -> usize {
        self.lock().connection.pending()
    }

    /// Hands frames on; the refusals come back where frames are sorted.
    fn flush(&self, state: &mut State) -> Vec<Bytes> {
        let mut refusals = Vec::new();
        match &self.0.outlet {
            Outlet::Pulled => self.0.to_write.notify_one(),
            Outlet::Sorted(sort) => {
                while let Some(outbound) = state.connection.poll_transmit() {
                    if outbound.lane == Lane::Refusal {
                        refusals.push(outbound.frame);
                    } else {
                        sort.sort(outbound);
                    }
                }
            }
        }
        refusals
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.id)
    }
}

/// What the service is told once the lock is released.
enum Later {
    Opened,
    Told(String, Option<Json>),
}

/// Answers a request when its task ends, however it does.
struct Finish {
    session: Session,
    key: RequestKey,
    answer: Option<Answer>,
}

impl Drop for Finish {
    fn drop(&mut self) {
        let answer = self
            .answer
            .take()
            .unwrap_or_else(|| Err(ErrorObject::new(INTERNAL_ERROR, "Internal error", None)));
        let mut state = self.session.lock();
        state.running.remove(&self.key);
        // Of a request that was cancelled nothing is said; a result that is too large became an error.
        let _ = state.connection.respond(self.key, answer.as_ref());
        self.session.flush(&mut state);
    }
}

struct Withdraw<'a> {
    session: &'a Session,
    during: Option<RequestKey>,
    ask: AskId,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let mut state = self.session.lock();
        state.asks.remove(&self.ask);
        state.connection.withdraw(self.during, self.ask);
        self.session.flush(&mut state);
    }
}
