//! Logins that end with the process.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex};

use super::{Slot, StoreLock, TokenStore};
use crate::config::Secret;
use crate::web::StoreFault;

/// Keeps logins in memory. Clones share them.
#[derive(Clone, Default)]
pub struct MemoryStore {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    texts: BTreeMap<Slot, Secret>,
    locked: BTreeSet<Slot>,
}

struct Locked {
    shared: Arc<Mutex<Shared>>,
    slot: Slot,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl TokenStore for MemoryStore {
    fn load(&self, slot: &Slot) -> Result<Option<Secret>, StoreFault> {
        let shared = self.shared.lock().map_err(|_| StoreFault::Io)?;
        Ok(shared.texts.get(slot).cloned())
    }

    fn try_lock(&self, slot: &Slot) -> Result<Option<Box<dyn StoreLock>>, StoreFault> {
        let mut shared = self.shared.lock().map_err(|_| StoreFault::Io)?;
        if !shared.locked.insert(slot.clone()) {
            return Ok(None);
        }
        Ok(Some(Box::new(Locked {
            shared: Arc::clone(&self.shared),
            slot: slot.clone(),
        })))
    }
}

impl StoreLock for Locked {
    fn save(&self, text: &Secret) -> Result<(), StoreFault> {
        let mut shared = self.shared.lock().map_err(|_| StoreFault::Io)?;
        shared.texts.insert(self.slot.clone(), text.clone());
        Ok(())
    }

    fn erase(&self) -> Result<(), StoreFault> {
        let mut shared = self.shared.lock().map_err(|_| StoreFault::Io)?;
        shared.texts.remove(&self.slot);
        Ok(())
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if let Ok(mut shared) = self.shared.lock() {
            shared.locked.remove(&self.slot);
        }
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryStore")
    }
}
