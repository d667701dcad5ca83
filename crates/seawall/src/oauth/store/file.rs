//! Logins in files that only their owner reads.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use super::{Slot, StoreLock, TokenStore};
use crate::config::Secret;
use crate::web::StoreFault;

/// A longer file is not one of ours.
const MAX_BYTES: u64 = 1024 * 1024;

/// Keeps each login in a file of its own, readable by its owner alone (0600 on Unix), replaced whole.
///
/// Beside it stands a file that is locked while somebody writes: the system lets go of that lock when a process ends,
/// however it ends. Lock files are never removed.
#[derive(Clone)]
pub struct FileStore {
    folder: PathBuf,
}

struct Locked {
    /// The open file is the lock.
    _lock: File,
    path: PathBuf,
}

impl FileStore {
    /// A store in `folder`, which is made when it is needed. On Unix a folder that others can write in is refused.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// A store in the platform's data folder: on Linux `$XDG_DATA_HOME/seawall/oauth`.
    ///
    /// # Errors
    /// [`StoreFault::NoFolder`]: the platform names none.
    pub fn in_data_folder() -> Result<Self, StoreFault> {
        let strategy = etcetera::choose_base_strategy().map_err(|_| StoreFault::NoFolder)?;
        Ok(Self::new(strategy.data_dir().join("seawall").join("oauth")))
    }

    /// The slot's lock file, locked, unless another one holds it.
    pub(super) fn lock_file(&self, slot: &Slot) -> Result<Option<File>, StoreFault> {
        make_folder(&self.folder).map_err(|_| StoreFault::Io)?;
        check_folder(&self.folder)?;
        let path = self.folder.join(format!("{}.lock", slot.name()));
        let file = private(OpenOptions::new().write(true).create(true).truncate(false))
            .open(path)
            .map_err(|_| StoreFault::Io)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(_)) => Err(StoreFault::Io),
        }
    }

    fn path(&self, slot: &Slot) -> PathBuf {
        self.folder.join(format!("{}.json", slot.name()))
    }
}

impl TokenStore for FileStore {
    fn load(&self, slot: &Slot) -> Result<Option<Secret>, StoreFault> {
        check_folder(&self.folder)?;
        let file = match File::open(self.path(slot)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(_) => return Err(StoreFault::Io),
        };
        let mut text = String::new();
        file.take(MAX_BYTES)
            .read_to_string(&mut text)
            .map_err(|_| StoreFault::Io)?;
        Ok(Some(Secret::new(text)))
    }

    fn try_lock(&self, slot: &Slot) -> Result<Option<Box<dyn StoreLock>>, StoreFault> {
        let lock = self.lock_file(slot)?;
        Ok(lock.map(|lock| {
            Box::new(Locked {
                _lock: lock,
                path: self.path(slot),
            }) as Box<dyn StoreLock>
        }))
    }
}

impl StoreLock for Locked {
    fn save(&self, text: &Secret) -> Result<(), StoreFault> {
        if text.reveal().len() as u64 > MAX_BYTES {
            // It could not be read again.
            return Err(StoreFault::Io);
        }
        replace(&self.path, text.reveal().as_bytes()).map_err(|_| StoreFault::Io)
    }

    fn erase(&self) -> Result<(), StoreFault> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreFault::Io),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileStore")
    }
}

/// Writes a file beside `path` and moves it there. One that a killed process left beside it is made anew.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    if let Err(error) = fs::remove_file(&beside)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&beside, path)
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Whoever can write in the folder can put a login of their own there.
#[cfg(unix)]
fn check_folder(folder: &Path) -> Result<(), StoreFault> {
    use std::os::unix::fs::PermissionsExt as _;
    match fs::metadata(folder) {
        Ok(found) if found.permissions().mode() & 0o022 != 0 => Err(StoreFault::Folder),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreFault::Io),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_folder(_: &Path) -> Result<(), StoreFault> {
    Ok(())
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}
