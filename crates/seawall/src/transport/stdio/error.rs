//! Why a child did not start, and why it is not gone.

use std::io;
use std::sync::Arc;

/// Why a child could not be started.
///
/// The text names no path, argument or environment (O1), so that it can be shown to anybody.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SpawnError {
    /// No such file, or none of that name in the child's `PATH`.
    #[error("the command was not found")]
    NotFound,
    /// The file, or the interpreter it names, cannot be executed.
    #[error("the command, or the interpreter that it names, is not executable")]
    NotExecutable,
    /// The command is a directory.
    #[error("the command is a directory")]
    IsDirectory,
    /// The file is there; the program that has to run it (`#!`, or the loader) is not.
    #[error("the interpreter that the command needs was not found")]
    InterpreterMissing,
    /// The working directory is gone, is no directory, or cannot be entered.
    #[error("the working directory does not exist or cannot be entered")]
    WorkingDirectory,
    /// No tokio runtime is running here.
    #[error("starting a process needs a tokio runtime with I/O enabled")]
    NoRuntime,
    /// Anything else.
    #[error("the process could not be started: {}", words(.0))]
    Io(#[source] io::Error),
}

impl From<io::Error> for SpawnError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

/// What failed, in the system's words, or else in the standard library's; never in those of whoever made the error.
fn words(error: &io::Error) -> String {
    // The standard library names few kinds: it has no word for a process that may open no more files.
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => error.kind().to_string(),
    }
}

/// A child, or somebody of its tree, that is still there after SIGKILL (T1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum NotReaped {
    /// The child itself was not seen to exit.
    #[error("stdio child {pid} of MCP server \"{server}\" did not exit within 2000ms of SIGKILL")]
    Leader {
        /// The child's process id.
        pid: u32,
        /// The server's id.
        server: Arc<str>,
    },
    /// The child exited, somebody else of its tree did not.
    #[error(
        "stdio child {pid} of MCP server \"{server}\" exited, but a process that it started did not exit within 2000ms of SIGKILL"
    )]
    Rest {
        /// The child's process id.
        pid: u32,
        /// The server's id.
        server: Arc<str>,
    },
}
