//! The journal: each tool call through a host, written down before it is dispatched, and what became of it (J1).
//!
//! A [`Journal`] is given to a [`HostBuilder`](crate::HostBuilder::journal). A call of a tool that is not marked
//! `readOnlyHint: true` waits until its record is in the file; that of one that is marked is written a moment later. What
//! is recorded is who called what, under which declaration, with how many bytes of arguments and their SHA-256, when, for
//! how long, and the [`Outcome`](crate::Outcome). Arguments and results themselves are kept only if [`Texts::Stored`] asks for it,
//! with the server's secrets taken out, and cut.
//!
//! The file is a SQLite database in WAL mode, which the feature `journal` brings; one thread writes it, many calls at a
//! time. Several processes may share one. A [`JournalReader`] reads it, also while others write.
//!
//! **Invariant:** no byte of a call that has to be recorded first is sent before its record is in the file.
//! **Invariant:** what cannot be recorded is refused, or counted and told ([`Journal::health`]); never silently left out.
//! **Invariant:** a call of a process that is gone, and that has no end, is `no_response`.
#![cfg_attr(
    not(feature = "journal"),
    expect(
        dead_code,
        reason = "without the feature nobody writes what is recorded"
    )
)]

mod fault;
mod options;
mod record;

#[cfg(feature = "journal")]
mod aside;
#[cfg(feature = "journal")]
mod reader;
#[cfg(feature = "journal")]
mod run;
#[cfg(feature = "journal")]
mod schema;
#[cfg(feature = "journal")]
mod store;
#[cfg(feature = "journal")]
mod writer;

#[cfg(feature = "journal")]
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::mpsc::Sender;

use tokio::sync::{Semaphore, oneshot, watch};

pub use fault::{Fault, Health, JournalError};
pub use options::{
    DEFAULT_MAX_AGE, DEFAULT_MAX_BYTES, Durability, JournalOptions, MAX_STORED_BYTES, Texts,
    WhenUnwritable,
};
#[cfg(feature = "journal")]
pub use reader::{Cursor, Entry, Filter, JournalReader};
pub(crate) use record::{Receipt, Record};

use record::Job;

/// So many records wait for the thread that writes; a call that comes then waits for room.
const MAX_WAITING: usize = 4_096;
/// So many bytes of texts wait; what comes then is recorded without its text.
const MAX_WAITING_BYTES: usize = 32 * 1024 * 1024;

/// Where calls are recorded. Clones share it.
///
/// # Drop behavior
/// Once the last clone, the host that has one, and its calls are gone, what waits is written and the file is closed, by the
/// journal's own thread. A program that ends at once waits for [`written`](Self::written) before.
#[derive(Clone)]
pub struct Journal(Arc<Inner>);

struct Inner {
    jobs: Sender<Job>,
    room: Arc<Semaphore>,
    health: watch::Receiver<Health>,
    unrecorded: Arc<AtomicU64>,
    waiting_bytes: Arc<AtomicUsize>,
    numbers: AtomicU64,
    when_unwritable: WhenUnwritable,
    texts: Texts,
}

impl Journal {
    /// Opens the file, or makes it and its folder, for its owner alone (0600, 0700), and starts the thread that writes it.
    /// Calls that processes left behind that are gone are set to `no_response`.
    ///
    /// A file that is damaged is set aside, under another name beside it, and a new one is begun: see
    /// [`Health::set_aside`].
    ///
    /// It reads and writes files, and waits up to 5 s for another process that writes: call it before there is anything
    /// to hold up.
    ///
    /// # Errors
    /// The file cannot be opened, is something else's, or of a newer Seawall.
    #[cfg(feature = "journal")]
    pub fn open(options: JournalOptions) -> Result<Self, JournalError> {
        writer::start(options)
    }

    /// How the journal is, now and at each change.
    #[must_use]
    pub fn health(&self) -> watch::Receiver<Health> {
        self.0.health.clone()
    }

    /// Waits until all that was recorded by now is in the file, or has failed to be.
    ///
    /// # Cancel safety
    /// It is written all the same.
    pub async fn written(&self) {
        let (tell, told) = oneshot::channel();
        if self.0.jobs.send(Job::Flush(tell)).is_ok() {
            // The thread is gone, if nobody tells.
            let _ = told.await;
        }
    }

    fn number(&self) -> u64 {
        self.0.numbers.fetch_add(1, Relaxed)
    }

    /// Whether a text of so many bytes may wait to be written.
    fn takes_text(&self, bytes: usize) -> bool {
        let waiting = &self.0.waiting_bytes;
        if waiting.load(Relaxed).saturating_add(bytes) > MAX_WAITING_BYTES {
            return false;
        }
        waiting.fetch_add(bytes, Relaxed);
        true
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("health", &*self.0.health.borrow())
            .finish_non_exhaustive()
    }
}
