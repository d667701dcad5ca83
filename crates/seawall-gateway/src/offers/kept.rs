//! The lists that were read last, and how servers took being asked for them.
//!
//! **Invariant:** at most one list of each kind is kept of a server, that of its live session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use seawall::host::LiveSession;
use seawall::{Host, Pages};
use seawall_proto::jsonrpc::METHOD_NOT_FOUND;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::kind::Kind;
use super::listing::Listing;
use super::notice::{Notice, Notices};

/// How long a server may take to give a list. Fixed: a client waits for the slowest of all.
const PATIENCE: Duration = Duration::from_secs(10);
/// As long as that one has who did not give it in time before. Fixed.
const LITTLE_PATIENCE: Duration = Duration::from_secs(1);
/// How old a list may be of a server that does not announce changes, before a key that is not in it is looked for again.
const RECENT: Duration = Duration::from_secs(1);

/// So long nobody who looks something up asks a server again that gave no list. Fixed.
const LEFT_ALONE: Duration = Duration::from_secs(30);

/// How new a list has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Asked for now.
    Anew,
    /// Of this moment, or of one not long ago.
    Recent,
    /// Whatever is kept, unless it is known to have changed.
    Kept,
}

/// The lists.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<HashMap<(Arc<str>, Kind), Slot>>);

/// Of one server and one kind.
#[derive(Debug)]
struct Slot {
    generation: u64,
    /// How often the server announced a change.
    news: u64,
    /// The newest list, and how often a change had been announced when it was asked for.
    newest: Option<(u64, Arc<Listing>)>,
    /// Who looks something up, and finds no list, asks for it one after the other.
    turn: Arc<Semaphore>,
    /// When it was asked last, if it gave none.
    failed: Option<Instant>,
    /// It did not even say so in time.
    is_slow: bool,
}

impl Slot {
    fn new(generation: u64) -> Self {
        Self {
            generation,
            news: 0,
            newest: None,
            turn: Arc::new(Semaphore::new(1)),
            failed: None,
            is_slow: false,
        }
    }

    fn changed(&mut self) {
        self.news += 1;
        // It may well give it now.
        self.failed = None;
    }
}

impl Kept {
    /// The list of one server; `None` if it does not give one, which is told.
    ///
    /// # Cancel safety
    /// Dropping it abandons what is asked.
    pub(super) async fn listing(
        &self,
        host: &Host,
        of: &LiveSession,
        kind: Kind,
        wanted: Wanted,
        notices: &Notices,
    ) -> Option<Arc<Listing>> {
        if wanted == Wanted::Anew {
            return self.ask(host, of, kind, notices).await;
        }
        if let Some(known) = self.find(of, kind, wanted) {
            return known;
        }
        let turn = self.slot(of, kind, |slot| Arc::clone(&slot.turn));
        let _turn = turn.acquire().await.ok()?;
        // Whoever had the turn before may have read it.
        match self.find(of, kind, wanted) {
            Some(known) => known,
            None => self.ask(host, of, kind, notices).await,
        }
    }

    /// The server announced that a list changed.
    pub(super) fn changed(&self, server: &str, kinds: &[Kind]) {
        for ((id, kind), slot) in self.lock().iter_mut() {
            if **id == *server && kinds.contains(kind) {
                slot.changed();
            }
        }
    }

    /// Changes may have been announced that were not heard.
    pub(super) fn changed_perhaps(&self) {
        self.lock().values_mut().for_each(Slot::changed);
    }

    /// Forgets the lists of sessions that are no more.
    pub(super) fn retain(&self, live: &[LiveSession]) {
        self.lock().retain(|(id, _), slot| {
            let mut live = live.iter();
            live.any(|one| one.server == *id && one.generation == slot.generation)
        });
    }

    /// What is known of a list without asking: it, or that there is none.
    fn find(&self, of: &LiveSession, kind: Kind, wanted: Wanted) -> Option<Option<Arc<Listing>>> {
        self.slot(of, kind, |slot| {
            if slot.failed.is_some_and(|at| at.elapsed() < LEFT_ALONE) {
                return Some(None);
            }
            let (asked_at, listing) = slot.newest.as_ref()?;
            let is_recent = kind.announces(of) || listing.asked.elapsed() <= RECENT;
            let is_good = *asked_at == slot.news && (wanted == Wanted::Kept || is_recent);
            is_good.then(|| Some(Arc::clone(listing)))
        })
    }

    async fn ask(
        &self,
        host: &Host,
        of: &LiveSession,
        kind: Kind,
        notices: &Notices,
    ) -> Option<Arc<Listing>> {
        let asked = Instant::now();
        let (news, is_slow) = self.slot(of, kind, |slot| (slot.news, slot.is_slow));
        let patience = if is_slow { LITTLE_PATIENCE } else { PATIENCE };
        let read = timeout(patience, read(host, of, kind)).await;
        let is_late = read.is_err();
        let (listing, why) = match read {
            Ok(Ok(pages)) => (Some(Arc::new(Listing::new(of, kind, pages, asked))), None),
            Ok(Err(error)) => (None, Some(error.message())),
            Err(_) => {
                let seconds = patience.as_secs();
                (None, Some(format!("it gave no list within {seconds} s")))
            }
        };
        let failed_before = self.slot(of, kind, |slot| {
            slot.is_slow = is_late;
            if let Some(listing) = &listing {
                let is_newer = slot
                    .newest
                    .as_ref()
                    .is_none_or(|(_, newest)| newest.asked <= asked);
                if is_newer {
                    slot.newest = Some((news, Arc::clone(listing)));
                }
            }
            let failed = listing.is_none().then_some(Instant::now());
            std::mem::replace(&mut slot.failed, failed).is_some()
        });
        if let Some(why) = why.filter(|_| !failed_before) {
            notices.tell(Notice::Unlisted {
                server: of.server.as_ref().to_owned(),
                what: kind.words(),
                why,
            });
        }
        listing
    }

    /// Does something with the slot of a session.
    fn slot<T>(&self, of: &LiveSession, kind: Kind, with: impl FnOnce(&mut Slot) -> T) -> T {
        let mut slots = self.lock();
        let slot = slots
            .entry((Arc::clone(&of.server), kind))
            .or_insert_with(|| Slot::new(of.generation));
        if slot.generation < of.generation {
            *slot = Slot::new(of.generation);
        }
        if slot.generation == of.generation {
            return with(slot);
        }
        // Of a session that is no more: nothing of it is kept.
        with(&mut Slot::new(of.generation))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Arc<str>, Kind), Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read(host: &Host, of: &LiveSession, kind: Kind) -> Result<Pages, seawall::Error> {
    let read = match kind {
        Kind::Resources => host.resources(&of.server).await,
        Kind::Templates => host.resource_templates(&of.server).await,
        Kind::Prompts => host.prompts(&of.server).await,
    };
    match read {
        // Many servers of resources have no templates, and know nothing of them.
        Err(error)
            if kind == Kind::Templates && error.json_rpc_code() == Some(METHOD_NOT_FOUND) =>
        {
            Ok(Pages::default())
        }
        read => read,
    }
}
