//! The folder that payloads are saved to.
//!
//! It never follows a symbolic link below the workspace's root, never replaces a file, and takes no name from a server.

use std::fmt;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, OpenOptions};
use ring::rand::{SecureRandom as _, SystemRandom};

/// The one folder of a workspace that is written to.
const FOLDER: &str = "tool-results";
/// How often another name is tried if a file has it already.
const MAX_NAMES: usize = 16;

/// A folder whose `tool-results` holds what readers cannot take as it is. Clones share it.
///
/// * The folder is opened once and held: whatever its path leads to later, files go to the folder that was opened.
///   `tool-results` is made at the first save (mode 0700, its files 0600); a symbolic link or a file in its place is
///   refused.
/// * A file's name is 128 random bits and an ending from a fixed list. It appears whole or not at all: written beside its
///   place, synced, linked there without replacing anything. The file system must know hard links. A process that is
///   killed meanwhile can leave a `.….part` file, which counts against the quota until somebody removes it.
/// * The [`Quota`] counts all that stands in `tool-results`, also of earlier runs, before each save. Saves through one
///   `Workspace` and its clones take turns; two that were opened on one folder can together exceed it by what they write
///   at the same moment. Nothing is ever removed here.
///
/// A server can fill the workspace that its results are saved to: give each server its own.
#[derive(Clone)]
pub struct Workspace {
    shared: Arc<Shared>,
}

struct Shared {
    root: Dir,
    quota: Quota,
    /// Held from the counting to the end of the writing.
    turn: Mutex<()>,
}

/// How much may stand in a workspace's `tool-results`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quota {
    /// The sum of all its files, in bytes, inclusive. Default: 268 435 456 (256 MiB).
    pub max_bytes: u64,
    /// How many files. Default: 1 000.
    pub max_files: usize,
}

/// Why a payload could not be saved, or a workspace not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// It would exceed [`Quota::max_bytes`].
    #[error("the workspace may hold {max_bytes} bytes of tool results")]
    TooManyBytes {
        /// The quota.
        max_bytes: u64,
    },
    /// It would exceed [`Quota::max_files`].
    #[error("the workspace may hold {max_files} files of tool results")]
    TooManyFiles {
        /// The quota.
        max_files: usize,
    },
    /// `tool-results` is a symbolic link, a file or something else that is no folder.
    #[error("tool-results in the workspace is not a folder")]
    NotAFolder,
    /// The operating system refused.
    #[error("the workspace cannot be written: {0}")]
    Io(ErrorKind),
}

/// Where a file stands: its path relative to the workspace, `tool-results/<name>`, always with `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SavedPath(String);

impl Quota {
    /// A quota of its own.
    #[must_use]
    pub fn new(max_bytes: u64, max_files: usize) -> Self {
        Self {
            max_bytes,
            max_files,
        }
    }
}

impl Default for Quota {
    fn default() -> Self {
        Self::new(256 * 1024 * 1024, 1_000)
    }
}

impl Workspace {
    /// Opens an existing folder, with the default [`Quota`]. The path may lead through symbolic links: it is the caller's.
    /// Blocks on the disk.
    ///
    /// # Errors
    /// [`WorkspaceError::Io`] if it cannot be opened as a folder.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        Self::with_quota(folder, Quota::default())
    }

    /// As [`open`](Self::open), with another quota.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn with_quota(folder: impl AsRef<Path>, quota: Quota) -> Result<Self, WorkspaceError> {
        let root = Dir::open_ambient_dir(folder, ambient_authority())?;
        let turn = Mutex::new(());
        let shared = Arc::new(Shared { root, quota, turn });
        Ok(Self { shared })
    }

    /// What may stand in it.
    #[must_use]
    pub fn quota(&self) -> Quota {
        self.shared.quota
    }

    /// Saves under a new name that ends in `extension`, one of Seawall's own.
    pub(super) fn save(
        &self,
        bytes: &[u8],
        extension: &'static str,
    ) -> Result<SavedPath, WorkspaceError> {
        self.save_as(bytes, || Ok(format!("{}.{extension}", random_name()?)))
    }

    /// Saves under the first of the names that no file has.
    pub(super) fn save_as(
        &self,
        bytes: &[u8],
        mut name: impl FnMut() -> Result<String, WorkspaceError>,
    ) -> Result<SavedPath, WorkspaceError> {
        let _turn = self
            .shared
            .turn
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let folder = self.folder()?;
        self.check_quota(&folder, bytes.len() as u64)?;
        let part = Part::write(&folder, bytes)?;
        for _ in 0..MAX_NAMES {
            let name = name()?;
            match folder.hard_link(&part.name, &folder, &name) {
                Ok(()) => {
                    drop(part);
                    // Where a folder cannot be synced, the file is there all the same.
                    let _ = sync(&folder);
                    return Ok(SavedPath(format!("{FOLDER}/{name}")));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(WorkspaceError::Io(ErrorKind::AlreadyExists))
    }

    pub(super) fn folder(&self) -> Result<Dir, WorkspaceError> {
        let root = &self.shared.root;
        let opened = match root.open_dir_nofollow(FOLDER) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                match root.create_dir_with(FOLDER, &private_folder()) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                        return Err(error.into());
                    }
                    _ => root.open_dir_nofollow(FOLDER),
                }
            }
            opened => opened,
        };
        opened.map_err(|error| match root.symlink_metadata(FOLDER) {
            Ok(found) if !found.is_dir() => WorkspaceError::NotAFolder,
            _ => error.into(),
        })
    }

    fn check_quota(&self, folder: &Dir, more: u64) -> Result<(), WorkspaceError> {
        let Quota {
            max_bytes,
            max_files,
        } = self.shared.quota;
        let too_many_files = Err(WorkspaceError::TooManyFiles { max_files });
        let (mut files, mut bytes) = (0, more);
        if max_files == 0 {
            return too_many_files;
        }
        for entry in folder.entries()? {
            files += 1;
            if files >= max_files {
                return too_many_files;
            }
            match entry?.metadata() {
                Ok(found) => bytes = bytes.saturating_add(found.len()),
                // Somebody removed it meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        match bytes > max_bytes {
            true => Err(WorkspaceError::TooManyBytes { max_bytes }),
            false => Ok(()),
        }
    }
}

/// A file beside its place, removed when dropped.
struct Part<'a> {
    folder: &'a Dir,
    name: String,
}

impl<'a> Part<'a> {
    fn write(folder: &'a Dir, bytes: &[u8]) -> Result<Self, WorkspaceError> {
        let name = format!(".{}.part", random_name()?);
        let mut file = folder.open_with(&name, &private_file())?;
        let part = Self { folder, name };
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(part)
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.folder.remove_file(&self.name) {
            tracing::warn!(%error, "the unfinished file of a tool result cannot be removed");
        }
    }
}

/// 128 random bits in hexadecimal, so that nobody can be there first.
fn random_name() -> Result<String, WorkspaceError> {
    let mut bits = [0; 16];
    SystemRandom::new()
        .fill(&mut bits)
        .map_err(|_| WorkspaceError::Io(ErrorKind::Other))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bits)))
}

/// So that the name lasts too. The handle of a `Dir` may be one for looking up only, which cannot be synced.
pub(super) fn sync(folder: &Dir) -> io::Result<()> {
    folder.open(".")?.sync_all()
}

fn private_folder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are Unix's"))]
    let mut folder = DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder
}

fn private_file() -> OpenOptions {
    let mut file = OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut file, 0o600);
    file
}

impl From<io::Error> for WorkspaceError {
    /// Its kind only: the text of an error can hold a path.
    fn from(error: io::Error) -> Self {
        Self::Io(error.kind())
    }
}

impl SavedPath {
    /// The path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<Path> for SavedPath {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl fmt::Display for SavedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Workspace {
    /// Without its path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace")
            .field("quota", &self.shared.quota)
            .finish_non_exhaustive()
    }
}
