//! What every exchange with one server shares: its configuration and its session.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use seawall_proto::mcp::Revision;

use super::headers::{
    EVENT_STREAM, JSON, JSON_OR_EVENT_STREAM, LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID,
};
use super::{HttpConfig, Post, PostKind};

/// One server as its exchanges see it.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) config: HttpConfig,
    session: Mutex<Session>,
}

#[derive(Debug)]
struct Session {
    revision: Option<Revision>,
    id: Option<HeaderValue>,
    /// The session was forgotten, and its owner does not know yet.
    lost: bool,
}

impl Link {
    pub(super) fn new(config: HttpConfig) -> Self {
        let session = Mutex::new(Session {
            revision: config.revision,
            id: None,
            lost: false,
        });
        Self { config, session }
    }

    /// A handshake begins: the revision is open, and no session stands.
    pub(super) fn begin_session(&self) {
        let mut session = self.session();
        session.revision = None;
        session.id = None;
    }

    pub(super) fn negotiated(&self, revision: Revision) {
        self.session().revision = Some(revision);
    }

    /// Whether streams may be resumed and sessions exist: in every revision before 2026-07-28.
    pub(super) fn is_legacy(&self) -> bool {
        self.session().revision.is_none_or(Revision::is_legacy)
    }

    pub(super) fn session_id(&self) -> Option<HeaderValue> {
        self.session().id.clone()
    }

    /// Keeps the session id of a handshake's success, if there is one.
    pub(super) fn adopt_session(&self, headers: &HeaderMap) {
        if self.is_legacy() {
            let mut id = headers.get(SESSION_ID).cloned();
            if let Some(id) = &mut id {
                id.set_sensitive(true);
            }
            self.session().id = id;
        }
    }

    /// Forgets the session `id`; false if another one took its place, or it was forgotten before.
    pub(super) fn forget_session(&self, id: &HeaderValue) -> bool {
        let mut session = self.session();
        let stands = session.id.as_ref() == Some(id);
        if stands {
            session.id = None;
            session.lost = true;
        }
        stands
    }

    /// Whether a session was forgotten since this was asked last.
    pub(super) fn take_lost(&self) -> bool {
        std::mem::take(&mut self.session().lost)
    }

    /// The headers of a post, and the session id among them.
    pub(super) fn post_headers(&self, post: &Post) -> (HeaderMap, Option<HeaderValue>) {
        let mut headers = self.config.headers.clone();
        headers.insert(ACCEPT, JSON_OR_EVENT_STREAM);
        headers.insert(CONTENT_TYPE, JSON);
        for (name, value) in &post.headers {
            headers.insert(name.clone(), value.clone());
        }
        let session = match post.kind {
            PostKind::Initialize => {
                headers.remove(SESSION_ID);
                headers.remove(PROTOCOL_VERSION);
                None
            }
            _ => self.add_session(&mut headers),
        };
        (headers, session)
    }

    /// The headers of a GET for a stream, or of the DELETE at the end.
    pub(super) fn stream_headers(&self, last_event_id: Option<&[u8]>) -> HeaderMap {
        let mut headers = self.config.headers.clone();
        headers.insert(ACCEPT, EVENT_STREAM);
        self.add_session(&mut headers);
        if let Some(id) = last_event_id.and_then(|id| HeaderValue::from_bytes(id).ok()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        headers
    }

    fn add_session(&self, headers: &mut HeaderMap) -> Option<HeaderValue> {
        let session = self.session();
        // The header came with 2025-06-18.
        if let Some(revision) = session.revision
            && revision >= Revision::V2025_06_18
        {
            headers.insert(
                PROTOCOL_VERSION,
                HeaderValue::from_static(revision.as_str()),
            );
        }
        if let Some(id) = &session.id {
            headers.insert(SESSION_ID, id.clone());
        }
        session.id.clone()
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
