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
    session: Mutex<Standing>,
}

/// The session that stands: what goes into the headers of whatever belongs to it.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    revision: Option<Revision>,
    pub(super) id: Option<HeaderValue>,
}

impl Link {
    pub(super) fn new(config: HttpConfig) -> Self {
        let session = Mutex::new(Standing {
            revision: config.revision,
            id: None,
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

    /// The session as it stands now.
    pub(super) fn standing(&self) -> Standing {
        self.session().clone()
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
        }
        stands
    }

    /// The headers of a post that belongs to `session`.
    pub(super) fn post_headers(&self, post: &Post, session: &Standing) -> HeaderMap {
        let mut headers = self.config.headers.clone();
        headers.insert(ACCEPT, JSON_OR_EVENT_STREAM);
        headers.insert(CONTENT_TYPE, JSON);
        for (name, value) in &post.headers {
            headers.insert(name.clone(), value.clone());
        }
        if post.kind == PostKind::Initialize {
            headers.remove(SESSION_ID);
            headers.remove(PROTOCOL_VERSION);
        } else {
            session.add_to(&mut headers);
        }
        headers
    }

    /// The headers of a GET for a stream of `session`, or of the DELETE at its end.
    pub(super) fn stream_headers(
        &self,
        session: &Standing,
        last_event_id: Option<&[u8]>,
    ) -> HeaderMap {
        let mut headers = self.config.headers.clone();
        headers.insert(ACCEPT, EVENT_STREAM);
        session.add_to(&mut headers);
        if let Some(id) = last_event_id.and_then(|id| HeaderValue::from_bytes(id).ok()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        headers
    }

    fn session(&self) -> MutexGuard<'_, Standing> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Standing {
    fn add_to(&self, headers: &mut HeaderMap) {
        // The header came with 2025-06-18.
        if let Some(revision) = self.revision
            && revision >= Revision::V2025_06_18
        {
            headers.insert(
                PROTOCOL_VERSION,
                HeaderValue::from_static(revision.as_str()),
            );
        }
        if let Some(id) = &self.id {
            headers.insert(SESSION_ID, id.clone());
        }
    }
}
