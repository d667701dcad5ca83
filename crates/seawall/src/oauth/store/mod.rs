//! Where logins are kept. A store keeps one text per [`Slot`] and knows nothing of what is in it.
//!
//! **Invariant:** only the holder of a slot's lock writes it, so whoever looks again under the lock sees the newest text.

mod file;
#[cfg(feature = "keyring")]
mod keyring;
mod memory;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

pub use file::FileStore;
#[cfg(feature = "keyring")]
pub use keyring::KeyringStore;
pub use memory::MemoryStore;

use crate::config::Secret;
use crate::web::{AuthError, StoreFault};

/// How often a lock that another one holds is asked for again.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// How long a lock is waited for: a refresh may take as long as two requests of a login.
const PATIENCE: Duration = Duration::from_secs(90);

/// Which login: of which server, as which client. Debug shows no address.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    resource: String,
    client: String,
}

impl Slot {
    pub(super) fn new(resource: String, client: String) -> Self {
        Self { resource, client }
    }

    /// The server's canonical address.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Which client: its id, or how it comes to one.
    #[must_use]
    pub fn client(&self) -> &str {
        &self.client
    }

    /// A name for the slot that is a file's name everywhere: 32 hex digits.
    #[must_use]
    pub fn name(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.resource.as_bytes());
        hash.update([0]);
        hash.update(self.client.as_bytes());
        hash.finalize()
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot({})", self.name())
    }
}

/// Keeps logins. Its methods may block; they are called where blocking is allowed.
pub trait TokenStore: Send + Sync + fmt::Debug {
    /// The text of a slot, whole: never half of two.
    ///
    /// # Errors
    /// The store cannot be read. A slot that was never written is no error.
    fn load(&self, slot: &Slot) -> Result<Option<Secret>, StoreFault>;

    /// The slot's lock, or `None` while another task or process holds it. It never waits.
    ///
    /// # Errors
    /// The store cannot be locked.
    fn try_lock(&self, slot: &Slot) -> Result<Option<Box<dyn StoreLock>>, StoreFault>;
}

/// A slot that nobody else writes. Dropping it gives the lock back; so does the end of its process, however it ends.
pub trait StoreLock: Send {
    /// Replaces the slot's text, whole or not at all.
    ///
    /// # Errors
    /// The text could not be kept; the one before is still there.
    fn save(&self, text: &Secret) -> Result<(), StoreFault>;

    /// Removes the slot's text.
    ///
    /// # Errors
    /// The text could not be removed.
    fn erase(&self) -> Result<(), StoreFault>;
}

/// The text of a slot.
pub(super) async fn load(
    store: &Arc<dyn TokenStore>,
    slot: &Slot,
) -> Result<Option<Secret>, AuthError> {
    let (store, slot) = (Arc::clone(store), slot.clone());
    blocking(move || store.load(&slot)).await
}

/// The lock of a slot, waited for.
///
/// # Cancel safety
/// Dropping the future gives up a lock that was just given.
pub(super) async fn lock(
    store: &Arc<dyn TokenStore>,
    slot: &Slot,
) -> Result<Box<dyn StoreLock>, AuthError> {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let (asked, wanted) = (Arc::clone(store), slot.clone());
        if let Some(lock) = blocking(move || asked.try_lock(&wanted)).await? {
            return Ok(lock);
        }
        if tokio::time::Instant::now() >= deadline {
            return Err(AuthError::Store(StoreFault::Busy));
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// Writes a slot and gives its lock back to the caller.
pub(super) async fn save(
    lock: Box<dyn StoreLock>,
    text: Secret,
) -> Result<Box<dyn StoreLock>, AuthError> {
    blocking(move || lock.save(&text).map(|()| lock)).await
}

/// Erases a slot.
pub(super) async fn erase(lock: Box<dyn StoreLock>) -> Result<(), AuthError> {
    blocking(move || lock.erase()).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreFault> + Send + 'static,
) -> Result<T, AuthError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(StoreFault::Io))
        .map_err(AuthError::Store)
}
