//! A clock reading, as a number.

use std::time::Duration;

/// A moment: how long after an epoch of the driver's choice. It never runs backwards between two calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(Duration);

impl Time {
    /// The moment `since` after the epoch.
    #[must_use]
    pub const fn from_epoch(since: Duration) -> Self {
        Self(since)
    }

    /// How long after the epoch.
    #[must_use]
    pub const fn since_epoch(self) -> Duration {
        self.0
    }

    /// This moment plus `duration`, at most the end of time.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }

    /// How long after `earlier`; zero if before it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
