//! Finding and reading the file (K2, K3): the only part of the room that touches the system.

use std::io::{self, Read};
use std::path::Path;

/// The largest file that is read: 16 MiB.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;

/// Reads a file up to [`MAX_FILE_BYTES`].
pub(super) fn read_bounded(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read > MAX_FILE_BYTES) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}
