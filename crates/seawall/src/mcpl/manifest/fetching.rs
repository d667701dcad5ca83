//! When a manifest is fetched, and what is known of the one in force.

use std::time::{Duration, Instant, SystemTime};

use super::digest::Revision;

/// The least time between two fetches of one connection: what is announced sooner waits, and shares a fetch.
pub const MIN_FETCH_INTERVAL: Duration = Duration::from_secs(10);
/// The timeout of `mcpl/manifest`.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(15);

/// Bounds how often one connection's manifest is fetched, whatever its server announces.
///
/// Source: MCP Live 0.5.0-draft §17.8.
#[derive(Debug, Clone, Default)]
pub struct Fetching {
    begun: Option<Instant>,
    under_way: bool,
    wanted: bool,
    coalesced: u64,
}

impl Fetching {
    /// None was fetched yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The server announced a change. An announcement that comes while another waits shares its fetch.
    pub fn announced(&mut self) {
        self.coalesced += u64::from(self.wanted);
        self.wanted = true;
    }

    /// When the next fetch is due: `None` if nothing was announced or one is under way, at once if `now` or earlier.
    #[must_use]
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let is_free = self.wanted && !self.under_way;
        let earliest = self.begun.map(|begun| begun + MIN_FETCH_INTERVAL);
        is_free.then(|| earliest.map_or(now, |earliest| earliest.max(now)))
    }

    /// A fetch begins.
    pub fn begin(&mut self, now: Instant) {
        self.begun = Some(now);
        self.under_way = true;
        self.wanted = false;
    }

    /// It has ended, however it did. What was announced meanwhile wants another.
    pub fn end(&mut self) {
        self.under_way = false;
    }

    /// How many announcements shared the fetch of another: a server that announces so much has a defect to tell of.
    #[must_use]
    pub fn coalesced(&self) -> u64 {
        self.coalesced
    }
}

/// What is known of the manifest in force on one connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct State {
    /// The digest of the last manifest that was read, if it has one.
    pub last_validated_revision: Option<Revision>,
    /// When it came.
    pub last_fetched_at: Option<SystemTime>,
    /// When the server last took note of a grant.
    pub last_negotiated_at: Option<SystemTime>,
}
