//! Sessions of the revisions with a handshake: their begin, their requests, their end.
//!
//! Source: 2025-11-25, `basic/transports`, "Session Management".

use std::collections::HashMap;
use std::fmt::Write as _;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::BodyExt as _;
use seawall_proto::jsonrpc::{ErrorObject, INVALID_REQUEST, Inbound, Malformed};
use seawall_proto::mcp::Revision;
use seawall_proto::server::{CloseReason, refusal};
use tokio::time::{Instant, timeout};

use super::events::KeptAlive;
use super::streams::{ASIDE, First, Place, Reading, Streams};
use super::{Body, Endpoint, HttpLimits, headers, reply};
use crate::clients::Client;
use crate::service::Service;
use crate::service::session::{Outlet, Session};

/// How long a service may take to say what it offers.
const HANDSHAKE: Duration = Duration::from_secs(30);

/// The sessions that are, by their ids.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Arc<Entry>>>);

/// One session.
#[derive(Debug)]
pub(super) struct Entry {
    session: Session,
    streams: Arc<Streams>,
    used: Mutex<Instant>,
}

impl Sessions {
    /// The session of this id, if it is the client's.
    pub(super) fn get(&self, id: &str, client: &Client) -> Option<Arc<Entry>> {
        let entry = self.lock().get(id).cloned()?;
        if !entry.session.client().is_same(client) {
            return None;
        }
        entry.touch();
        Some(entry)
    }

    fn remove(&self, id: &str, client: &Client) -> Option<Arc<Entry>> {
        self.get(id, client)?;
        self.lock().remove(id)
    }

    /// Every session ends.
    pub(super) fn close(&self) {
        let all = std::mem::take(&mut *self.lock());
        for entry in all.values() {
            entry.close(CloseReason::Shutdown);
        }
    }

    /// Ends sessions that were idle for too long, and one more if there is no room; whether there is room.
    fn make_room(&self, limits: &HttpLimits) -> bool {
        let mut ended = Vec::new();
        let room = {
            let mut sessions = self.lock();
            let idle =
                |entry: &Arc<Entry>| !entry.streams.is_connected() && entry.session.pending() == 0;
            let old: Vec<String> = sessions
                .iter()
                .filter(|(_, entry)| idle(entry) && entry.unused() > limits.session_idle)
                .map(|(id, _)| id.clone())
                .collect();
            ended.extend(old.iter().filter_map(|id| sessions.remove(id)));
            if sessions.len() >= limits.max_sessions {
                let longest = sessions
                    .iter()
                    .filter(|(_, entry)| idle(entry))
                    .max_by_key(|(_, entry)| entry.unused())
                    .map(|(id, _)| id.clone());
                ended.extend(longest.and_then(|id| sessions.remove(&id)));
            }
            sessions.len() < limits.max_sessions
        };
        for entry in ended {
            entry.close(CloseReason::Shutdown);
        }
        room
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Entry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn new(client: Arc<Client>, limits: &HttpLimits) -> Self {
        let streams = Arc::new(Streams::new());
        let outlet = Outlet::Sorted(Box::new(Arc::clone(&streams)));
        Self {
            session: Session::new(client, limits.session.clone(), outlet),
            streams,
            used: Mutex::new(Instant::now()),
        }
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn unused(&self) -> Duration {
        self.used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .elapsed()
    }

    fn close(&self, reason: CloseReason) {
        self.session.close(reason);
        self.streams.close();
    }

    async fn first(&self, stream: u64) -> First {
        poll_fn(|cx| self.streams.poll_first(stream, cx)).await
    }
}

impl<S: Service> Endpoint<S> {
    /// A message of a session.
    pub(super) async fn in_session(
        &self,
        entry: &Arc<Entry>,
        frame: &Bytes,
        message: Result<Inbound, Malformed>,
    ) -> Response<Body> {
        let limits = &self.0.limits;
        let (stream, refused) = self.hand_in(entry, frame, message);
        let Some(stream) = stream else {
            return match refused.first() {
                None => reply::status(StatusCode::ACCEPTED),
                Some(error) => reply::error(StatusCode::BAD_REQUEST, error),
            };
        };
        if let Ok(First::Whole(answer)) = timeout(limits.patience, entry.first(stream)).await {
            entry.streams.forget(stream);
            return reply::json(StatusCode::OK, answer);
        }
        // An event without data makes clients of earlier revisions stumble.
        let primed = entry.session.revision() >= Some(Revision::V2025_11_25);
        let place = Place { stream, event: 0 };
        let priming = primed.then_some(limits.retry);
        match Reading::begin(&entry.streams, place, priming) {
            Some(reading) => self.stream(reading),
            None => reply::session_not_found(),
        }
    }

    /// `initialize` without a session begins one.
    pub(super) async fn begin_session(
        &self,
        client: Arc<Client>,
        frame: &Bytes,
        message: Result<Inbound, Malformed>,
    ) -> Response<Body> {
        let limits = &self.0.limits;
        let Some(id) = new_id() else {
            return reply::status(StatusCode::INTERNAL_SERVER_ERROR);
        };
        if !self.0.sessions.make_room(limits) {
            return reply::status(StatusCode::SERVICE_UNAVAILABLE);
        }
        let entry = Arc::new(Entry::new(client, limits));
        let (stream, _) = self.hand_in(&entry, frame, message);
        let first = match stream {
            Some(stream) => timeout(HANDSHAKE, entry.first(stream)).await.ok(),
            None => None,
        };
        let Some(First::Whole(answer)) = first else {
            entry.close(CloseReason::Shutdown);
            return reply::status(StatusCode::INTERNAL_SERVER_ERROR);
        };
        let mut response = reply::json(StatusCode::OK, answer);
        if entry.session.revision().is_none() {
            entry.close(CloseReason::Shutdown);
            return response;
        }
        if let Some(stream) = stream {
            entry.streams.forget(stream);
        }
        if let Ok(value) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(reply::SESSION, value);
        }
        self.0.sessions.lock().insert(id, entry);
        response
    }

    /// Hands a message in; its stream if there are requests in it, and what could not be read.
    fn hand_in(
        &self,
        entry: &Entry,
        frame: &Bytes,
        message: Result<Inbound, Malformed>,
    ) -> (Option<u64>, Vec<Bytes>) {
        let mut stream = None;
        let refused = entry
            .session
            .take(&self.0.service, frame, message, |taken| {
                if !taken.requests.is_empty() {
                    stream = Some(entry.streams.begin(&taken.requests));
                }
            });
        if let Some(stream) = stream {
            for frame in &refused {
                entry.streams.push(stream, frame.clone());
            }
        }
        (stream, refused)
    }

    /// The stream of what belongs to no request, or one that its client comes back to.
    pub(super) fn get(&self, client: &Client, headers: &HeaderMap) -> Response<Body> {
        let Some(id) = headers::session_id(headers) else {
            return reply::not_allowed();
        };
        let Some(entry) = self.0.sessions.get(id, client) else {
            return reply::session_not_found();
        };
        let place = match headers.get("last-event-id") {
            None => Some(Place {
                stream: ASIDE,
                event: 0,
            }),
            Some(id) => id.to_str().ok().and_then(Place::parse),
        };
        let reading = place.and_then(|place| Reading::begin(&entry.streams, place, None));
        let Some(reading) = reading else {
            let message = "Invalid request: no such Last-Event-ID";
            let error = ErrorObject::new(INVALID_REQUEST, message, None);
            return reply::error(StatusCode::BAD_REQUEST, &refusal(&error));
        };
        self.stream(reading)
    }

    fn stream(&self, reading: Reading) -> Response<Body> {
        let body = KeptAlive::new(reading, self.0.limits.keep_alive);
        reply::stream(body.boxed_unsync())
    }

    /// The client ends its session.
    pub(super) fn delete(&self, client: &Client, headers: &HeaderMap) -> Response<Body> {
        let Some(id) = headers::session_id(headers) else {
            return reply::not_allowed();
        };
        let Some(entry) = self.0.sessions.remove(id, client) else {
            return reply::session_not_found();
        };
        entry.close(CloseReason::ClientGone);
        reply::status(StatusCode::NO_CONTENT)
    }
}

/// 128 random bits, as text: who has it has the session.
fn new_id() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    let mut id = String::with_capacity(32);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    Some(id)
}
