//! What the host offers at this moment: one immutable, numbered snapshot of every live session's newest listing (H5).
//!
//! **Invariant:** a listing is published by the [`Publication`] that its live session owns, and goes with it.
//! **Invariant:** no two flows of a snapshot have the same name: prefixes never meet (H6), names in a listing are unique
//! (S9, F5).

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

use crate::flows::Flow;

/// Every published tool, at one moment. Never changes; the next one has a higher number.
#[derive(Debug, Default)]
pub struct Snapshot {
    number: u64,
    /// By prefix.
    listings: BTreeMap<String, Arc<Listing>>,
}

/// What one live session listed last.
pub struct Listing {
    server: Arc<str>,
    generation: u64,
    flows: Vec<Flow>,
    by_tool: HashMap<String, usize>,
}

impl Snapshot {
    /// Its number: each change of what is published has a higher one.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The listings, in the order of their prefixes.
    pub fn listings(&self) -> impl Iterator<Item = &Listing> {
        self.listings.values().map(|listing| &**listing)
    }

    /// Every flow, server by server.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.listings().flat_map(|listing| listing.flows.iter())
    }

    /// The flow of this name, `<prefix>/<tool>`.
    #[must_use]
    pub fn flow(&self, name: &str) -> Option<&Flow> {
        self.find(name).map(|(_, flow)| flow)
    }

    pub(crate) fn find(&self, name: &str) -> Option<(&Listing, &Flow)> {
        // A tool's name has no slash, so the last one ends the prefix.
        let (prefix, tool) = name.rsplit_once('/')?;
        let listing = self.listings.get(prefix)?;
        let position = *listing.by_tool.get(tool)?;
        Some((listing, listing.flows.get(position)?))
    }
}

impl Listing {
    /// The id of the server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Which of the server's connections listed it, counted from 1 by the host.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The flows, in the server's order.
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("server", &self.server)
            .field("generation", &self.generation)
            .field("flows", &self.flows.len())
            .finish()
    }
}

/// Where snapshots are published. Clones share it.
#[derive(Clone)]
pub(crate) struct Publisher(Arc<watch::Sender<Arc<Snapshot>>>);

impl Publisher {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Arc::default())))
    }

    /// What is published now, and every snapshot that follows.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.0.subscribe()
    }

    pub(crate) fn current(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.borrow())
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Arc<Listing>>)) -> u64 {
        let mut number = 0;
        self.0.send_modify(|current| {
            let mut listings = current.listings.clone();
            change(&mut listings);
            number = current.number + 1;
            *current = Arc::new(Snapshot { number, listings });
        });
        number
    }
}

/// The place of one live session in what is published.
///
/// # Drop behavior
/// What it published is withdrawn.
pub(crate) struct Publication {
    publisher: Publisher,
    server: Arc<str>,
    prefix: String,
    generation: u64,
}

impl Publication {
    pub(crate) fn new(
        publisher: &Publisher,
        server: &Arc<str>,
        prefix: &str,
        generation: u64,
    ) -> Self {
        Self {
            publisher: publisher.clone(),
            server: Arc::clone(server),
            prefix: prefix.to_owned(),
            generation,
        }
    }

    /// Publishes the session's newest listing; yields the snapshot's number.
    pub(crate) fn publish(&self, flows: &[Flow]) -> u64 {
        let by_tool = flows
            .iter()
            .enumerate()
            .map(|(position, flow)| (flow.tool().to_owned(), position))
            .collect();
        let listing = Arc::new(Listing {
            server: Arc::clone(&self.server),
            generation: self.generation,
            flows: flows.to_vec(),
            by_tool,
        });
        self.publisher.change(|listings| {
            listings.insert(self.prefix.clone(), listing);
        })
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        let ours = |listing: &Arc<Listing>| listing.generation == self.generation;
        if self
            .publisher
            .current()
            .listings
            .get(&self.prefix)
            .is_some_and(ours)
        {
            self.publisher.change(|listings| {
                listings.remove(&self.prefix);
            });
        }
    }
}
