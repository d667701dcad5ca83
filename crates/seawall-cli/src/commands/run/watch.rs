//! Whether files changed, by looking at them again and again.
//!
//! No notifications of the system: a look once a second is the same on every platform and file system, and sees a file that
//! was replaced by a rename, one behind a link, and one that is not there yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How often files are looked at.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// How files stand; a file that is not there has no stamp.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Stamps(BTreeMap<PathBuf, Option<Stamp>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device, number and last change of the file itself: another file under the name is another.
    identity: Option<(u64, u64, i64, i64)>,
}

impl Stamps {
    pub(super) fn of<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Self {
        Self(paths.map(|path| (path.clone(), stamp(path))).collect())
    }

    /// These, but each as `earlier` has it, where it does.
    pub(super) fn overlaid(mut self, earlier: &Self) -> Self {
        for (path, stamp) in &mut self.0 {
            if let Some(before) = earlier.0.get(path) {
                stamp.clone_from(before);
            }
        }
        self
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt as _;
        Some((
            metadata.dev(),
            metadata.ino(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        ))
    };
    #[cfg(not(unix))]
    let identity = None;
    Some(Stamp {
        bytes: metadata.len(),
        modified: metadata.modified().ok(),
        identity,
    })
}

/// Tells a change once, when it has stood for two looks: a file that is being written is not read half.
#[derive(Debug, Default)]
pub(super) struct Watch {
    read: Stamps,
    seen: Stamps,
}

impl Watch {
    /// So the files stood when they were read.
    pub(super) fn read(&mut self, stamps: Stamps) {
        self.seen.clone_from(&stamps);
        self.read = stamps;
    }

    /// Whether the files are to be read again, as they stand now.
    pub(super) fn look(&mut self, now: Stamps) -> bool {
        let stands = now == self.seen;
        self.seen = now;
        stands && self.seen != self.read
    }
}

#[cfg(test)]
mod tests;
