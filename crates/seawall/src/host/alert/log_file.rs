//! Alerts as lines of JSON in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::super::{AlertSink, Down};
use super::Record;

/// Writes a line of JSON per alert: `time_ms`, `event` (`server_down`, `server_recovered`), `server`, `code`, `message`,
/// `outlook`. Lines of several hosts may share a file: each is one write at its end. A pipe that nobody reads holds up no
/// server: what it does not take at once is lost.
#[derive(Debug)]
pub struct AlertLog {
    file: File,
    lost: AtomicU64,
}

/// The file cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("the alert log cannot be opened")]
pub struct AlertLogError(#[source] io::Error);

impl AlertLog {
    /// Opens the file to write at its end; one that is new is its owner's alone.
    ///
    /// # Errors
    /// It cannot be opened or made.
    pub fn open(path: &Path) -> Result<Self, AlertLogError> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            let at_once = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
            options.mode(0o600).custom_flags(at_once);
        }
        let file = options.open(path).map_err(AlertLogError)?;
        let lost = AtomicU64::new(0);
        Ok(Self { file, lost })
    }

    /// Alerts that could not be written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    fn write(&self, record: &Record) {
        let line = serde_json::to_vec(record).map(|mut line| {
            line.push(b'\n');
            line
        });
        let written = line
            .map_err(io::Error::from)
            .and_then(|line| (&self.file).write_all(&line));
        if written.is_err() {
            self.lost.fetch_add(1, Relaxed);
        }
    }
}

impl AlertSink for AlertLog {
    fn server_down(&self, server: &str, down: &Down) {
        self.write(&Record::down(server, down));
    }

    fn recovered(&self, server: &str) {
        self.write(&Record::recovered(server));
    }
}
