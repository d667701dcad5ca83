//! Why a command failed: what is said of it, and the exit status.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use crate::arguments::ArgumentError;
use crate::printer::Printer;

/// The exit statuses; `args::EXIT_STATUSES` explains them to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Done = 0,
    ToolError = 1,
    Usage = 2,
    NotSent = 3,
    ErrorResponse = 4,
    Unusable = 5,
    NoResponse = 6,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The data could not be written where it was to go. Whatever was asked of a server has been answered.
    #[error("stdout takes no more: {0}")]
    Output(io::Error),
    #[error("the program cannot start: {0}")]
    Runtime(io::Error),
}

/// What was asked for cannot be meant.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    #[error("--args: cannot read {}: {source}", .path.display())]
    ArgumentsFile { path: PathBuf, source: io::Error },
    #[error("--args: cannot read stdin: {0}")]
    ArgumentsStdin(io::Error),
    #[error("--args: the text is longer than {limit} bytes")]
    ArgumentsTooLong { limit: u64 },
}

impl Failure {
    /// The one mapping of failures to exit statuses.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Usage(_) => Status::Usage,
            Self::Output(_) => Status::Unusable,
            Self::Runtime(_) => Status::NotSent,
        }
    }

    /// Says it: to people on stderr, to programs on stdout.
    pub(crate) fn print(&self, printer: &mut Printer) {
        if printer.is_json() {
            printer.json(&self.report());
        } else {
            printer.error(&self.to_string());
        }
    }

    fn report(&self) -> ErrorReport {
        ErrorReport::usage(&self.to_string())
    }
}

/// A failure as `--json` shows it.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorReport {
    error: ErrorBody,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorBody {
    code: &'static str,
    outcome: &'static str,
    /// Null where no server is concerned.
    server: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    json_rpc_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
}

impl ErrorReport {
    /// Nothing was asked of any server.
    pub(crate) fn usage(message: &str) -> Self {
        Self {
            error: ErrorBody {
                code: "configuration",
                outcome: "not_sent",
                server: None,
                message: message.to_owned(),
                json_rpc_code: None,
                http_status: None,
            },
        }
    }
}
