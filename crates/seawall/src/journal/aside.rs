//! A damaged file, set aside whole.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::record::now_ms;
use super::run::{beside, private};

/// What SQLite keeps beside a file.
const PARTS: [&str; 2] = ["-wal", "-shm"];

/// Has one process at a time look at what is to be set aside, for as long as the value lives.
pub(super) fn alone(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let lock = private(&mut options).open(beside(path, "-aside"))?;
    lock.lock()?;
    Ok(lock)
}

/// Gives a damaged file, and what belongs to it, another name; its new path.
pub(super) fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let now = now_ms();
    // A second one in the same millisecond has another name still.
    let mut names = (0..1_000).map(|count| match count {
        0 => beside(path, &format!(".damaged-{now}")),
        count => beside(path, &format!(".damaged-{now}-{count}")),
    });
    let aside = names
        .find(|name| !name.exists())
        .ok_or(io::ErrorKind::AlreadyExists)?;
    // What belongs to it first: a log left behind would be taken for the new file's.
    for part in PARTS {
        match fs::rename(beside(path, part), beside(&aside, part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, &aside)?;
    Ok(aside)
}
