//! What a journal is told to be.

use std::path::PathBuf;
use std::time::Duration;

pub use crate::config::{Durability, WhenUnwritable};

/// How long calls are kept by default: 30 days.
pub const DEFAULT_MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How large the file may grow by default: 256 MiB, some 500 000 calls.
pub const DEFAULT_MAX_BYTES: u64 = 256 * 1024 * 1024;
/// At most so many bytes are kept of one call's arguments, and of its result, where they are kept at all: 64 KiB.
pub const MAX_STORED_BYTES: usize = 64 * 1024;

/// What a journal is told to be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JournalOptions {
    /// The file. Beside it stand SQLite's own (`-wal`, `-shm`), and one for each process that writes (`-run-…`).
    pub path: PathBuf,
    /// Calls that began longer ago are removed, unless they are under way. Default: [`DEFAULT_MAX_AGE`].
    pub max_age: Duration,
    /// The oldest calls are removed once the file holds more, unless they are under way; SQLite's log beside it, some MiB,
    /// is not counted. Default: [`DEFAULT_MAX_BYTES`].
    pub max_bytes: u64,
    /// What is kept of arguments and results. Default: their sizes and digests.
    pub texts: Texts,
    /// What becomes of a call that cannot be recorded. Default: it is refused, unless its tool is marked read-only.
    pub when_unwritable: WhenUnwritable,
    /// What a record survives. Default: the end of the process, however it ends.
    pub durability: Durability,
}

impl JournalOptions {
    /// A journal in this file, by the defaults.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_age: DEFAULT_MAX_AGE,
            max_bytes: DEFAULT_MAX_BYTES,
            texts: Texts::default(),
            when_unwritable: WhenUnwritable::default(),
            durability: Durability::default(),
        }
    }
}

/// What is kept of arguments and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Texts {
    /// Sizes, and the SHA-256 of the arguments.
    #[default]
    Digests,
    /// The texts too, each with the server's secrets taken out (R1), then cut to [`MAX_STORED_BYTES`].
    Stored,
}
