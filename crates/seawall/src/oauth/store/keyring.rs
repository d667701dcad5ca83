//! Logins in the platform's keyring.
//!
//! **Invariant:** a file holds nothing older than the keyring does, so where there is one, it counts.

use std::fmt;
use std::sync::{Arc, OnceLock};

use keyring_core::{CredentialStore, Entry, Error};

use super::{FileStore, Slot, StoreLock, TokenStore};
use crate::config::Secret;
use crate::web::StoreFault;

/// The name that people see in their keyring.
const SERVICE: &str = "seawall-oauth";

/// Keeps logins in the platform's keyring: the Keychain, the Credential Manager, the Secret Service.
///
/// Where there is none, or it does not take a login, that login is kept in a file as [`FileStore`] does; the locks are files
/// in any case. The keyring is opened at the first use. Needs the feature `keyring`.
#[derive(Clone)]
pub struct KeyringStore {
    shared: Arc<Shared>,
}

struct Shared {
    keyring: OnceLock<Option<Arc<CredentialStore>>>,
    files: FileStore,
}

struct Locked {
    shared: Arc<Shared>,
    slot: Slot,
    file: Box<dyn StoreLock>,
}

impl KeyringStore {
    /// The platform's keyring, with `files` for the locks and for what the keyring does not take.
    #[must_use]
    pub fn new(files: FileStore) -> Self {
        Self {
            shared: Arc::new(Shared {
                keyring: OnceLock::new(),
                files,
            }),
        }
    }
}

#[cfg(test)]
impl KeyringStore {
    pub(in crate::oauth) fn with(keyring: Arc<CredentialStore>, files: FileStore) -> Self {
        let store = Self::new(files);
        let _ = store.shared.keyring.set(Some(keyring));
        store
    }

    pub(in crate::oauth) fn without(files: FileStore) -> Self {
        let store = Self::new(files);
        let _ = store.shared.keyring.set(None);
        store
    }
}

impl TokenStore for KeyringStore {
    fn load(&self, slot: &Slot) -> Result<Option<Secret>, StoreFault> {
        if let Some(text) = self.shared.files.load(slot)? {
            return Ok(Some(text));
        }
        match self.shared.entry(slot).map(|entry| entry.get_password()) {
            Some(Ok(text)) => Ok(Some(Secret::new(text))),
            None | Some(Err(Error::NoEntry)) => Ok(None),
            // A keyring that stays closed is no logout.
            Some(Err(_)) => Err(StoreFault::Keyring),
        }
    }

    fn try_lock(&self, slot: &Slot) -> Result<Option<Box<dyn StoreLock>>, StoreFault> {
        let file = self.shared.files.try_lock(slot)?;
        Ok(file.map(|file| {
            Box::new(Locked {
                shared: Arc::clone(&self.shared),
                slot: slot.clone(),
                file,
            }) as Box<dyn StoreLock>
        }))
    }
}

impl Shared {
    /// The slot's place in the keyring, if there is a keyring.
    fn entry(&self, slot: &Slot) -> Option<Entry> {
        let keyring = self.keyring.get_or_init(open).as_ref()?;
        Entry::new_in_store(keyring, SERVICE, &slot.name()).ok()
    }
}

impl Locked {
    /// Whether nothing of the slot is left in the keyring.
    fn clear(&self, entry: &Entry) -> Result<(), StoreFault> {
        match entry.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(_) => Err(StoreFault::Keyring),
        }
    }
}

impl StoreLock for Locked {
    fn save(&self, text: &Secret) -> Result<(), StoreFault> {
        let Some(entry) = self.shared.entry(&self.slot) else {
            return self.file.save(text);
        };
        if self.shared.files.load(&self.slot)?.is_some() {
            self.file.save(text)?;
        }
        if entry.set_password(text.reveal()).is_ok() {
            return self.file.erase();
        }
        self.file.save(text)?;
        // What it has of before is nobody's any longer; if it keeps it, nobody reads it.
        let _ = self.clear(&entry);
        Ok(())
    }

    fn erase(&self) -> Result<(), StoreFault> {
        let cleared = self
            .shared
            .entry(&self.slot)
            .map_or(Ok(()), |entry| self.clear(&entry));
        self.file.erase().and(cleared)
    }
}

impl fmt::Debug for KeyringStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyringStore")
    }
}

#[cfg(target_os = "macos")]
fn open() -> Option<Arc<CredentialStore>> {
    let store = apple_native_keyring_store::keychain::Store::new().ok()?;
    Some(store)
}

#[cfg(windows)]
fn open() -> Option<Arc<CredentialStore>> {
    let store = windows_native_keyring_store::Store::new().ok()?;
    Some(store)
}

#[cfg(all(unix, not(target_vendor = "apple"), not(target_os = "android")))]
fn open() -> Option<Arc<CredentialStore>> {
    let store = zbus_secret_service_keyring_store::Store::new().ok()?;
    Some(store)
}

#[cfg(not(any(
    target_os = "macos",
    windows,
    all(unix, not(target_vendor = "apple"), not(target_os = "android"))
)))]
fn open() -> Option<Arc<CredentialStore>> {
    None
}
