//! Why a journal cannot be written, and how it is.

use std::fmt;
use std::path::PathBuf;

/// Why a journal cannot be written or read, as a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// No room is left on the disk.
    DiskFull,
    /// The file, or its folder, may not be written.
    ReadOnly,
    /// What is in the file is damaged.
    Damaged,
    /// Another process kept it locked for too long.
    Busy,
    /// It is not there.
    Missing,
    /// It is a database of something else.
    Foreign,
    /// It was made by a newer Seawall.
    Newer,
    /// It cannot be opened, or reading or writing failed.
    Io,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiskFull => "the disk is full",
            Self::ReadOnly => "it may not be written",
            Self::Damaged => "what is in it is damaged",
            Self::Busy => "another process keeps it locked",
            Self::Missing => "there is none",
            Self::Foreign => "it is a database of something else",
            Self::Newer => "it was made by a newer Seawall",
            Self::Io => "it cannot be opened, read or written",
        })
    }
}

/// A journal cannot be opened or read.
#[derive(Debug, thiserror::Error)]
#[error("the journal: {fault}")]
pub struct JournalError {
    pub(super) fault: Fault,
    #[source]
    pub(super) source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl JournalError {
    /// Why, as a class.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.fault
    }
}

impl From<Fault> for JournalError {
    fn from(fault: Fault) -> Self {
        Self {
            fault,
            source: None,
        }
    }
}

impl From<std::io::Error> for JournalError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        let fault = match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded => Fault::DiskFull,
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Fault::ReadOnly,
            Kind::NotFound => Fault::Missing,
            _ => Fault::Io,
        };
        Self {
            fault,
            source: Some(Box::new(error)),
        }
    }
}

#[cfg(feature = "journal")]
impl From<rusqlite::Error> for JournalError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let fault = match error.sqlite_error_code() {
            Some(Code::DiskFull) => Fault::DiskFull,
            Some(Code::ReadOnly | Code::PermissionDenied) => Fault::ReadOnly,
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Fault::Damaged,
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Fault::Busy,
            _ => Fault::Io,
        };
        Self {
            fault,
            source: Some(Box::new(error)),
        }
    }
}

/// How a journal is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Health {
    /// Why the last attempt to write failed, if it did. It is tried again with each call, and once a second.
    pub failing: Option<Fault>,
    /// Calls, or ends of calls, that were not recorded for good.
    pub lost: u64,
    /// Where the damaged file is that was replaced last, if one was. Nothing was taken out of it.
    pub set_aside: Option<PathBuf>,
}
