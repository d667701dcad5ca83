//! Where to resume a stream, and when (T3).

use std::time::Duration;

use bytes::Bytes;

use super::events::Events;
use super::limits::{DEFAULT_RETRY, MAX_RETRY, MIN_RETRY};

/// What is kept of a stream to resume it.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    last_event_id: Option<Bytes>,
    retry: Option<Duration>,
}

impl Cursor {
    /// Takes over what `events` said.
    pub(super) fn follow(&mut self, events: &Events) {
        if let Some(id) = events.decoder().last_event_id() {
            self.last_event_id = Some(id.clone());
        }
        self.retry = events.decoder().retry().or(self.retry);
    }

    pub(super) fn forget(&mut self) {
        self.last_event_id = None;
    }

    pub(super) fn last_event_id(&self) -> Option<&[u8]> {
        self.last_event_id.as_deref()
    }

    /// How long to wait before the stream is resumed.
    pub(super) fn pause(&self) -> Duration {
        self.retry
            .unwrap_or(DEFAULT_RETRY)
            .clamp(MIN_RETRY, MAX_RETRY)
    }
}
