//! What is offered to whom at one moment (F4).
//!
//! **Invariant:** what a client may not see is in nothing that is made for it, so that it is told of it as of what does not
//! exist.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use seawall::host::Snapshot;

use crate::clients::Client;
use crate::names::Names;
use crate::tools::Offered;

/// Views that are kept; there are as many as clients that do not see everything. Fixed.
const MAX_VIEWS: usize = 1_024;

/// What the newest snapshots that were asked for offer: to whoever sees everything, and to others by their names.
#[derive(Debug, Default)]
pub(super) struct Views(Mutex<Made>);

#[derive(Debug, Default)]
struct Made {
    whole: Option<(u64, Arc<Offered>)>,
    narrowed: HashMap<String, (u64, Arc<Offered>)>,
}

impl Views {
    /// What is offered to anybody.
    pub(super) fn whole(&self, snapshot: &Snapshot, names: Names) -> Arc<Offered> {
        let number = snapshot.number();
        if let Some((_, offered)) = self.lock().whole.as_ref().filter(|made| made.0 == number) {
            return Arc::clone(offered);
        }
        let offered = Arc::new(Offered::of(snapshot, names));
        let whole = &mut self.lock().whole;
        if whole.as_ref().is_none_or(|(made, _)| *made < number) {
            *whole = Some((number, Arc::clone(&offered)));
        }
        offered
    }

    /// What is offered to this client.
    pub(super) fn of(&self, client: &Client, snapshot: &Snapshot, names: Names) -> Arc<Offered> {
        if !client.is_narrowed() {
            return self.whole(snapshot, names);
        }
        let number = snapshot.number();
        let known = self.lock().narrowed.get(client.name()).cloned();
        if let Some((_, offered)) = known.filter(|made| made.0 == number) {
            return offered;
        }
        let offered = Arc::new(self.whole(snapshot, names).to(client));
        let narrowed = &mut self.lock().narrowed;
        if narrowed.len() >= MAX_VIEWS && !narrowed.contains_key(client.name()) {
            narrowed.clear();
        }
        narrowed.insert(client.name().to_owned(), (number, Arc::clone(&offered)));
        offered
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
