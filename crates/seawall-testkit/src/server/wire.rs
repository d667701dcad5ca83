//! Lines in, bytes out.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fd::BorrowedFd;
use serde::Deserialize;
use serde_json::value::RawValue;

static STDOUT: Mutex<()> = Mutex::new(());

/// What a server looks at in a line it received.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
}

/// Standard input by lines, recorded if asked.
pub(crate) struct Wire {
    input: BufReader<Fd>,
    record: Option<File>,
}

impl Wire {
    pub(crate) fn new() -> Self {
        Self {
            input: BufReader::with_capacity(64 * 1024, Fd(rustix::stdio::stdin())),
            record: None,
        }
    }

    pub(crate) fn record(&mut self, path: &Path) -> io::Result<()> {
        self.record = Some(append(path)?);
        Ok(())
    }

    /// The next line with its newline; `None` at the end of input.
    pub(crate) fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        if self.input.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if let Some(file) = &mut self.record {
            file.write_all(&line)?;
        }
        Ok(Some(line))
    }
}

/// Writes one whole buffer to stdout.
pub(crate) fn emit(bytes: &[u8]) -> io::Result<()> {
    let _turn = STDOUT.lock().unwrap_or_else(PoisonError::into_inner);
    Fd(rustix::stdio::stdout()).write_all(bytes)
}

/// Writes one whole buffer to stderr.
pub(crate) fn talk(bytes: &[u8]) -> io::Result<()> {
    Fd(rustix::stdio::stderr()).write_all(bytes)
}

/// Says on stderr why the server gives up.
pub(crate) fn complain(reason: &str) {
    // Nobody may be listening any more.
    let _ = talk(format!("scripted-server: {reason}\n").as_bytes());
}

/// Writes `copies` of `bytes` through `write`, some 64 KiB at a time.
pub(crate) fn flood(
    bytes: &[u8],
    copies: u64,
    write: fn(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let per_chunk = (64 * 1024 / bytes.len()).max(1);
    let chunk = bytes.repeat(usize::try_from(copies).unwrap_or(usize::MAX).min(per_chunk));
    let mut left = copies;
    while left >= per_chunk as u64 {
        write(&chunk)?;
        left -= per_chunk as u64;
    }
    let rest = usize::try_from(left).unwrap_or(0) * bytes.len();
    write(chunk.get(..rest).unwrap_or_default())
}

/// Opens a file to append to.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// A standard stream without the standard library's buffers.
pub(crate) struct Fd(pub(crate) BorrowedFd<'static>);

impl Read for Fd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| {
            rustix::io::read(self.0, &mut *buffer)
        })?)
    }
}

impl Write for Fd {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| {
            rustix::io::write(self.0, bytes)
        })?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
