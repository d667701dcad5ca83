//! Where to resume a stream, and when (T3).

use std::time::Duration;

use bytes::Bytes;

use super::events::Events;
use super::limits::{DEFAULT_RETRY, MIN_RETRY};

/// What is kept of a stream to resume it.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    last_event_id: Option<Bytes>,
    retry: Option<Duration>,
}

impl Cursor {
    /// Takes over what `events` said. Whether the stream is further on than before.
    pub(super) fn follow(&mut self, events: &Events) -> bool {
        self.retry = events.decoder().retry().or(self.retry);
        let id = events.decoder().last_event_id();
        let moved = id.is_some() && id != self.last_event_id.as_ref();
        if moved {
            self.last_event_id = id.cloned();
        }
        moved
    }

    pub(super) fn forget(&mut self) {
        self.last_event_id = None;
    }

    pub(super) fn last_event_id(&self) -> Option<&[u8]> {
        self.last_event_id.as_deref()
    }

    /// How long to wait before the stream is resumed: as long as it asked (2025-11-25, `basic/transports`), however long
    /// that is; whoever waits has a deadline of their own.
    pub(super) fn pause(&self) -> Duration {
        self.retry.unwrap_or(DEFAULT_RETRY).max(MIN_RETRY)
    }
}
