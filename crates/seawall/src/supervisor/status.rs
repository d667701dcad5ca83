//! How a server stands, for whoever asks (H7).

use std::fmt;
use std::sync::Arc;

use super::connector::Session;
use super::totals::Totals;
use crate::error::Error;

/// How a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerState {
    /// A connect is under way.
    Connecting,
    /// It is connected.
    Up,
    /// It is connected, and some of its tools were left out (L7).
    Degraded,
    /// It waits for its next attempt.
    Waiting,
    /// Its connection is being torn down.
    Closing,
    /// A child of it could not be reaped; its id is held.
    Unreaped,
    /// It failed and nothing of it is left; its id is free.
    Down,
}

impl ServerState {
    /// The state in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Up => "up",
            Self::Degraded => "degraded",
            Self::Waiting => "waiting to reconnect",
            Self::Closing => "being torn down",
            Self::Unreaped => "held by a child that could not be reaped",
            Self::Down => "down",
        }
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a supervisor shows of its server.
#[derive(Clone)]
pub(crate) struct Standing {
    pub(crate) state: ServerState,
    /// The live session, and its generation.
    pub(crate) session: Option<(u64, Arc<dyn Session>)>,
    pub(crate) last_error: Option<Error>,
    /// Failures in a row.
    pub(crate) failures: u32,
    /// Sessions that there were.
    pub(crate) connects: u64,
    /// What those of them counted that have ended.
    pub(crate) past: Totals,
}

impl Standing {
    pub(crate) fn new() -> Self {
        Self {
            state: ServerState::Connecting,
            session: None,
            last_error: None,
            failures: 0,
            connects: 0,
            past: Totals::default(),
        }
    }
}
