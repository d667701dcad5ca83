//! How long to wait before the next attempt (H2).

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use crate::config::ServerConfig;

/// A connection that stood so long counts as one that works.
pub(crate) const STEADY: Duration = Duration::from_secs(30);
/// So many failures in a row are an incident, though each is tried again.
pub(crate) const FAILURES_TO_ALERT: u32 = 3;

/// Failures in a row. A connection counts as a success only once it stood for [`STEADY`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Notes a failure; yields how many there were in a row.
    pub(crate) fn fail(&mut self) -> u32 {
        self.failures = self.failures.saturating_add(1);
        self.failures
    }

    /// A connection stood for [`STEADY`].
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }

    /// Failures in a row.
    pub(crate) fn failures(self) -> u32 {
        self.failures
    }

    /// The delay before the next attempt: doubling with each failure from the entry's first to its longest, give or take
    /// a quarter.
    pub(crate) fn delay(self, config: &ServerConfig) -> Duration {
        let doublings = self.failures.saturating_sub(1).min(31);
        let whole = config
            .reconnect_interval()
            .saturating_mul(1 << doublings)
            .min(config.reconnect_max_interval());
        jittered(whole, random())
    }
}

/// `whole`, less or more by up to a quarter; `dice` spreads evenly.
pub(super) fn jittered(whole: Duration, dice: u32) -> Duration {
    let half = whole / 2;
    let spread = u128::from(dice) * half.as_nanos() / u128::from(u32::MAX);
    let spread = Duration::from_nanos(u64::try_from(spread).unwrap_or(u64::MAX));
    (whole - whole / 4).saturating_add(spread)
}

/// Enough chance to spread attempts; the standard library seeds its hashers with it.
fn random() -> u32 {
    let word = RandomState::new().build_hasher().finish();
    u32::try_from(word >> 32).unwrap_or_default()
}
