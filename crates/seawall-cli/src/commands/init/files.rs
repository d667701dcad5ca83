//! Writing files whole or not at all, and the backups beside them.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

/// What a backup's name has after the file's own.
const BACKUP: &str = ".seawall-backup-";

/// Writes a file that its owner alone can read, making its folder if need be.
pub(super) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let folder = folder_of(path);
    make_private_folder(&folder)?;
    // A link stays one.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    write_whole(&real, text, None)
}

/// Writes a file anew, for those who may read it now.
pub(super) fn rewrite(path: &Path, text: &str) -> io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    write_whole(path, text, Some(permissions))
}

/// Keeps `text`, which `path` holds now, beside it, under a name that says what is written there in its stead.
pub(super) fn back_up(path: &Path, text: &str, instead: &str) -> io::Result<PathBuf> {
    let backup = backup_of(path, instead);
    let permissions = fs::metadata(path)?.permissions();
    write_whole(&backup, text, Some(permissions))?;
    Ok(backup)
}

/// Where the text is kept that `instead` was written in the place of.
pub(super) fn backup_of(path: &Path, instead: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(BACKUP);
    let mut digest = String::new();
    for byte in Sha256::digest(instead).iter().take(6) {
        // Writing to a String cannot fail.
        let _ = write!(digest, "{byte:02x}");
    }
    name.push(digest);
    path.with_file_name(name)
}

/// All backups of a file, the oldest first.
pub(super) fn backups_of(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let prefix = format!("{name}{BACKUP}");
    let entries = fs::read_dir(folder_of(path))
        .into_iter()
        .flatten()
        .flatten();
    let mut backups: Vec<_> = entries
        .filter(|entry| {
            let name = entry.file_name();
            name.to_str().is_some_and(|name| name.starts_with(&prefix))
        })
        .map(|entry| {
            let changed = entry.metadata().and_then(|data| data.modified()).ok();
            (changed, entry.path())
        })
        .collect();
    backups.sort();
    backups.into_iter().map(|(_, path)| path).collect()
}

fn write_whole(path: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    // It is its owner's alone from its first moment.
    let mut aside = NamedTempFile::new_in(folder_of(path))?;
    aside.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        aside.as_file().set_permissions(permissions)?;
    }
    aside.as_file().sync_all()?;
    aside.persist(path)?;
    Ok(())
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
