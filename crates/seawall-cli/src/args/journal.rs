//! What `journal` takes.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seawall::Outcome;

pub(super) const JOURNAL_EXAMPLES: &str = "\
Examples:
  seawall journal                              the newest calls through the gateway
  seawall journal --outcome no_response        what may have been carried out: verify before retrying
  seawall journal --server github --since 2h   one server's, of the last two hours
  seawall journal --follow --json | jq .flow   as they end, one JSON object a line

A call is recorded before it is sent. --since takes an age (90s, 15m, 2h, 7d), a moment (2026-11-30T17:00:00Z), a day \
or a time of day. The file is a SQLite database; `sqlite3` reads it too.";

#[derive(Debug, Args)]
pub(crate) struct JournalArgs {
    /// Only calls to this server
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
    /// Only calls that ended so
    #[arg(long, value_enum)]
    pub(crate) outcome: Option<OutcomeArg>,
    /// Only calls that began since then
    #[arg(long, value_name = "TIME|DURATION")]
    pub(crate) since: Option<String>,
    /// At most so many, the newest
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Go on with each call as it ends, until a signal
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// The file, if it is not where `seawall serve` puts it
    #[arg(long, value_name = "PATH")]
    pub(crate) journal: Option<JournalPlace>,
}

/// Where a journal is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JournalPlace {
    Off,
    File(PathBuf),
}

impl From<&OsStr> for JournalPlace {
    fn from(text: &OsStr) -> Self {
        match text == "off" {
            true => Self::Off,
            false => Self::File(text.into()),
        }
    }
}

impl From<OsString> for JournalPlace {
    fn from(text: OsString) -> Self {
        Self::from(text.as_os_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum OutcomeArg {
    /// Nothing of the request reached the server
    NotSent,
    /// The server refused it
    ErrorResponse,
    /// The server answered
    Answered,
    /// Unknown: it may have been carried out
    NoResponse,
}

impl OutcomeArg {
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::NotSent => Outcome::NotSent,
            Self::ErrorResponse => Outcome::ErrorResponse,
            Self::Answered => Outcome::Answered,
            Self::NoResponse => Outcome::NoResponse,
        }
    }
}
