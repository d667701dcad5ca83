//! The text of `--args`: itself, a file's, or stdin's.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use crate::failure::UsageError;

/// The longest text that is read: 64 MiB.
const MAX_BYTES: u64 = 64 << 20;

pub(in crate::commands) fn document(args: Option<&str>) -> Result<Option<String>, UsageError> {
    let Some(args) = args else {
        return Ok(None);
    };
    if args == "-" {
        return read(io::stdin().lock(), UsageError::ArgumentsStdin).map(Some);
    }
    let Some(path) = args.strip_prefix('@') else {
        return Ok(Some(args.to_owned()));
    };
    let path = PathBuf::from(path);
    let failed = |source| UsageError::ArgumentsFile {
        path: path.clone(),
        source,
    };
    let file = File::open(&path).map_err(failed)?;
    read(file, failed).map(Some)
}

fn read(from: impl Read, failed: impl Fn(io::Error) -> UsageError) -> Result<String, UsageError> {
    let mut text = String::new();
    let read = from
        .take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if read as u64 > MAX_BYTES {
        return Err(UsageError::ArgumentsTooLong { limit: MAX_BYTES });
    }
    Ok(text)
}
