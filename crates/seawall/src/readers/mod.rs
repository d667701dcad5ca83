//! What each reader of a tool's result receives: a model, a module in this process, a script (N1–N3).
//!
//! All of them read the same raw [`ToolResult`]; nothing is fetched, and no text of a server decides a path. What a reader
//! cannot take as it is becomes a file in a [`Workspace`]. Main type: [`ResultReader`]; whoever knows its reader calls
//! [`ModelResult::read`], [`ModuleResult::read`] or [`ScriptResult::read`].
//!
//! ```
//! use seawall::readers::{ModelOutcome, ModelResult, Workspace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use seawall_proto::jsonrpc::{Inbound, classify};
//! # let folder = tempfile::tempdir()?;
//! # let frame = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[
//! #     {"type":"text","text":"It says hello."},
//! #     {"type":"audio","data":"UklGRg==","mimeType":"audio/wav"}]}}"#;
//! # let Ok(Inbound::Response { answer: Ok(reply), .. }) = classify(&frame.into()) else { return Ok(()) };
//! # let result = seawall::ToolResult::from_reply(reply)?;
//! // A folder for this server's files; at most 256 MiB and 1 000 of them.
//! let workspace = Workspace::open(folder.path())?;
//! // It writes files and waits for the disk: on an async runtime, do this in `spawn_blocking`.
//! let read = ModelResult::read(&result, &workspace);
//! match read.outcome() {
//!     ModelOutcome::Succeeded => println!("{}", read.to_text()),
//!     ModelOutcome::ToolFailed => println!("the tool failed: {}", read.to_text()),
//!     ModelOutcome::Incomplete(why) => println!("{why}"),
//!     _ => {}
//! }
//! # assert_eq!(read.blocks().len(), 2);
//! # assert!(read.to_text().starts_with("It says hello.\n[audio, declared as \"audio/wav\", 4 bytes, saved to tool-results/"));
//! # Ok(())
//! # }
//! ```
//!
//! **Blocking:** reading for a model or a script may write files and wait for the disk. There is no async version: call it
//! in `tokio::task::spawn_blocking`.
//!
//! **Invariant:** a success that lacks a part does not exist: a payload that could not be saved makes the result
//! [`Incomplete`].

use std::fmt;

use seawall_proto::mcp::ToolResult;

mod block;
mod model;
mod module;
mod payload;
mod script;
mod visible;
mod workspace;

#[cfg(test)]
mod tests;

pub use model::{Image, Link, ModelBlock, ModelOutcome, ModelResult, Stub};
pub use module::{ModuleFailure, ModuleResult};
pub use payload::{ImageKind, PayloadKind};
pub use script::ScriptResult;
pub use workspace::{Quota, SavedPath, Workspace, WorkspaceError};

/// The largest image that a model is shown, decoded, inclusive: 5 MiB. The largest result that a script is given as it is,
/// in UTF-8 bytes of its JSON, inclusive, is the same.
pub const MAX_SHOWN_BYTES: usize = 5 * 1024 * 1024;
/// The most Unicode code points of a name, a URI or an unknown block that a model is shown; a cut one ends in `…`.
pub const MAX_SHOWN_CHARS: usize = 2_048;
/// The most Unicode code points of a declared media type in a stub (RFC 6838 allows 255).
pub const MAX_MEDIA_TYPE_CHARS: usize = 255;

/// Who reads a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultReader {
    /// A model: text and images as they are, files for the rest (N1).
    Model,
    /// A caller in this process: the content unchanged (N2).
    Module,
    /// A script: one JSON object (N3).
    Script,
}

/// What a [`ResultReader`] received.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ReadResult {
    /// Of [`ResultReader::Model`].
    Model(ModelResult),
    /// Of [`ResultReader::Module`]; a failed tool is its failure.
    Module(Result<ModuleResult, ModuleFailure>),
    /// Of [`ResultReader::Script`].
    Script(ScriptResult),
}

impl ResultReader {
    /// The result as this reader receives it. Blocks on the disk where it saves files.
    #[must_use]
    pub fn read(self, result: &ToolResult, workspace: &Workspace) -> ReadResult {
        match self {
            Self::Model => ReadResult::Model(ModelResult::read(result, workspace)),
            Self::Module => ReadResult::Module(ModuleResult::read(result)),
            Self::Script => ReadResult::Script(ScriptResult::read(result, workspace)),
        }
    }
}

/// A result of which a part could not be saved. The call itself ended: the tool may already have done its work.
///
/// Displays as Seawall's own text, which says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incomplete {
    unsaved: usize,
    reason: WorkspaceError,
    tool_failed: bool,
}

impl Incomplete {
    /// How many payloads are missing.
    #[must_use]
    pub fn unsaved(&self) -> usize {
        self.unsaved
    }

    /// Why the first of them could not be saved.
    #[must_use]
    pub fn reason(&self) -> WorkspaceError {
        self.reason
    }

    /// Whether the tool said that it failed.
    #[must_use]
    pub fn tool_failed(&self) -> bool {
        self.tool_failed
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match self.tool_failed {
            true => "the tool reported a failure, but may have acted before it",
            false => "the tool may already have completed",
        };
        write!(
            f,
            "the result is incomplete: {} of its payloads could not be saved ({}); {end}: verify state before calling it again",
            self.unsaved, self.reason
        )
    }
}

impl std::error::Error for Incomplete {}
