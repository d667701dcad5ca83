//! From which level on each session wants lines of the log (2025-11-25, `server/utilities/logging`).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seawall::LogLevel;
use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, INVALID_PARAMS};

use crate::service::{Answer, Request, Session, SessionId};

/// The levels that sessions set.
#[derive(Debug, Default)]
pub(super) struct Levels(Mutex<HashMap<SessionId, (Session, LogLevel)>>);

impl Levels {
    /// Answers `logging/setLevel`.
    pub(super) fn set(&self, request: &Request, session: Option<&Session>) -> Answer {
        let params = request.params.as_ref();
        let level = params.and_then(|params| params.member("level"));
        let level = level.as_ref().and_then(Json::string);
        let Some(level) = level.and_then(|level| LogLevel::of(&level)) else {
            let message = "Invalid params: the level is none of RFC 5424";
            return Err(ErrorObject::new(INVALID_PARAMS, message, None));
        };
        if let Some(session) = session {
            let mut levels = self.lock();
            levels.retain(|_, (session, _)| !session.is_closed());
            levels.insert(session.id(), (session.clone(), level));
        }
        Ok(Json::empty_object())
    }

    /// What a session set.
    pub(super) fn of(&self, session: &Session) -> Option<LogLevel> {
        self.lock().get(&session.id()).map(|(_, level)| *level)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, (Session, LogLevel)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
