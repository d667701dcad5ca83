//! One call of a tool, as the host knows it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use seawall_proto::Json;

use super::class::Classes;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A call, the same for every server that is told of it.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Its id: what pairs its phases.
    pub id: ToolCallId,
    /// The inference that asked for it.
    pub inference_id: String,
    /// The conversation of that inference.
    pub conversation_id: String,
    /// The tool's name as the model has it.
    pub tool: String,
    /// The tool's classes ([`effective`](super::effective)).
    pub classes: Classes,
    /// Whose tool it is; `None`: the host's own.
    pub provider: Option<Provider>,
    /// The arguments as the model gave them.
    pub arguments: Json,
}

/// The server that a tool is of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Provider {
    /// Its id in the host; it goes to other servers.
    pub server_id: String,
    /// The tool's name as the server has it.
    pub server_tool: String,
}

/// The name of a call. Minted always: a model's own ids may come again (RFC-007, section 3).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolCallId(String);

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallEnd {
    /// With a result.
    Completed,
    /// With a result that says that the tool failed.
    CompletedWithError,
    /// Without one: the server is gone, it took too long, or it could not be sent.
    Failed,
    /// It was cancelled or refused before.
    Aborted,
}

impl ToolCallId {
    /// An id that no other call of this process has.
    #[must_use]
    pub fn mint() -> Self {
        Self(format!("call_{}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolCallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
