//! The dated revisions of the protocol, and which of them this build speaks.

use std::fmt;
use std::str::FromStr;

/// A dated MCP protocol revision that Seawall knows.
///
/// Ordered by date. Source: the `protocolVersion` of each revision's lifecycle page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// 2024-11-05: the first revision with a handshake.
    V2024_11_05,
    /// 2025-03-26: the only revision with JSON-RPC batches.
    V2025_03_26,
    /// 2025-06-18: structured output.
    V2025_06_18,
    /// 2025-11-25: the newest revision with a handshake.
    V2025_11_25,
    /// 2026-07-28: stateless, per-request metadata.
    V2026_07_28,
}

impl Revision {
    /// The revisions that begin with an `initialize` handshake, oldest first.
    pub const LEGACY: [Self; 4] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
    ];
    /// The newest revision that begins with a handshake: what `initialize` proposes.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    /// The revision as it stands on the wire, `YYYY-MM-DD`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether the revision begins with an `initialize` handshake.
    #[must_use]
    pub const fn is_legacy(self) -> bool {
        !matches!(self, Self::V2026_07_28)
    }

    /// Whether the revision has JSON-RPC batches (2025-03-26, basic/index, "Batching").
    #[must_use]
    pub const fn has_batches(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not a revision that this build knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a known protocol revision")]
pub struct UnknownRevision;

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::LEGACY
            .into_iter()
            .chain([Self::V2026_07_28])
            .find(|revision| revision.as_str() == text)
            .ok_or(UnknownRevision)
    }
}

/// Whether `text` has the form of a revision, `YYYY-MM-DD`: only such text may be repeated from a server (S1).
#[must_use]
pub fn has_revision_form(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}
