//! Which processes that wrote are alive.
//!
//! Each holds a file of its own locked for as long as it lives; the system lets go of the lock when it ends, however it
//! ends. A process id would say nothing: another process may have it by now.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// So many names are tried.
const ATTEMPTS: u32 = 16;

/// A run that is alive as long as this value.
///
/// # Drop behavior
/// The run counts as gone from then on; its file stays.
pub(super) struct Run {
    /// The open file is the lock.
    _lock: File,
    pub(super) name: String,
}

impl Run {
    /// Begins one that writes to this journal.
    pub(super) fn begin(journal: &Path) -> io::Result<Self> {
        let mut last = io::ErrorKind::AlreadyExists.into();
        for attempt in 0..ATTEMPTS {
            let since = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            let pid = std::process::id();
            let name = format!("{pid:x}-{:x}-{attempt:x}", since.as_nanos());
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            match private(&mut options).open(lock_path(journal, &name)) {
                Ok(lock) => {
                    lock.lock()?;
                    return Ok(Self { _lock: lock, name });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

/// Whether the run of this name is alive. In doubt it is.
pub(super) fn is_alive(journal: &Path, name: &str) -> bool {
    match File::open(lock_path(journal, name)) {
        Ok(file) => match file.try_lock_shared() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(_)) => true,
        },
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Removes what a run that is gone has left.
pub(super) fn forget(journal: &Path, name: &str) {
    // It is empty; one that stays harms nobody.
    let _ = fs::remove_file(lock_path(journal, name));
}

fn lock_path(journal: &Path, name: &str) -> PathBuf {
    // What stands in the file decides no path.
    let name: String = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect();
    beside(journal, &format!("-run-{name}"))
}

/// The file beside `path` whose name is its own and `end`.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(not(unix))]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
