//! What a caller in this process receives (N2).

use seawall_proto::Json;
use seawall_proto::mcp::ToolResult;

use super::block::failure_text;

/// A tool's success, its content unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleResult {
    content: Option<Json>,
    structured_content: Option<Json>,
}

/// A tool that said that it failed.
///
/// Displays without the tool's text: that is [`text`](Self::text).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the tool reported a failure")]
pub struct ModuleFailure {
    text: String,
    result: ModuleResult,
}

impl ModuleResult {
    /// Reads a result. It writes nothing and never blocks.
    ///
    /// # Errors
    /// [`ModuleFailure`] if the result says `isError: true`.
    pub fn read(result: &ToolResult) -> Result<Self, ModuleFailure> {
        let read = Self {
            content: result.content().cloned(),
            structured_content: result.structured_content().cloned(),
        };
        match result.is_error() {
            true => Err(ModuleFailure {
                text: failure_text(result),
                result: read,
            }),
            false => Ok(read),
        }
    }

    /// The content blocks as the server sent them, byte for byte; `None` if it sent none.
    #[must_use]
    pub fn content(&self) -> Option<&Json> {
        self.content.as_ref()
    }

    /// `structuredContent` by presence: `null`, `0` and `false` are values.
    #[must_use]
    pub fn structured_content(&self) -> Option<&Json> {
        self.structured_content.as_ref()
    }
}

impl ModuleFailure {
    /// The failed result's text: the server's text blocks, a line break between them, unchanged and unbounded; where it
    /// has none, its structured content as JSON; where it has neither, a sentence of Seawall's.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The failed result's content and structured content.
    #[must_use]
    pub fn result(&self) -> &ModuleResult {
        &self.result
    }
}
