//! What a tool says of itself: whether a call of it changes anything.

use std::fmt;

use seawall_proto::Json;

/// A tool by its own annotations: the server's hint, never a promise. Nothing is allowed because of it.
///
/// Source: 2026-07-28 and 2025-11-25, `schema`, `ToolAnnotations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolClass {
    /// It says that it changes nothing: `readOnlyHint` is true.
    ReadOnly,
    /// It says that it may destroy: `destructiveHint` is true, and `readOnlyHint` is not.
    Destructive,
    /// It says neither.
    Other,
}

impl ToolClass {
    /// The class in one word: `read_only`, `destructive`, `other`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Destructive => "destructive",
            Self::Other => "other",
        }
    }

    /// The class of an entry of a tool list.
    pub(super) fn of(entry: &Json) -> Self {
        let annotations = entry.member("annotations");
        let says = |hint| {
            let hint = annotations.as_ref().and_then(|hints| hints.member(hint));
            hint.is_some_and(|hint| hint.as_str() == "true")
        };
        if says("readOnlyHint") {
            Self::ReadOnly
        } else if says("destructiveHint") {
            Self::Destructive
        } else {
            Self::Other
        }
    }
}

impl fmt::Display for ToolClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
