//! One server's list, as it was read once.

use std::collections::HashMap;
use std::sync::Arc;

use seawall::host::LiveSession;
use seawall::{Json, Pages};
use tokio::time::Instant;

use super::kind::Kind;

/// The entries of one server, by their keys: URIs, templates, or names. Never changes.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) of: LiveSession,
    pub(super) entries: Vec<Entry>,
    by_key: HashMap<Arc<str>, usize>,
    /// When it was asked for.
    pub(super) asked: Instant,
}

/// One entry.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Arc<str>,
    /// As the server wrote it.
    pub(super) raw: Json,
}

impl Listing {
    /// An entry without a key, or with that of one before it, is none that could be asked for, and is left out.
    pub(super) fn new(of: &LiveSession, kind: Kind, pages: Pages, asked: Instant) -> Self {
        let mut listing = Self {
            of: of.clone(),
            entries: Vec::with_capacity(pages.entries.len()),
            by_key: HashMap::with_capacity(pages.entries.len()),
            asked,
        };
        for raw in pages.entries {
            let key = raw.member(kind.key());
            let Some(key) = key.as_ref().and_then(Json::string) else {
                continue;
            };
            let key: Arc<str> = key.as_ref().into();
            if listing.has(&key) {
                continue;
            }
            listing
                .by_key
                .insert(Arc::clone(&key), listing.entries.len());
            listing.entries.push(Entry { key, raw });
        }
        listing
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.by_key.contains_key(key)
    }

    pub(super) fn server(&self) -> &Arc<str> {
        &self.of.server
    }
}
