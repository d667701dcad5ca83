//! What a call may do to the world, as declared for every tool (F2).

use serde::Serialize;

use crate::policy::OnConflict;

/// The effects that a flow declares: [`Effects::OPAQUE`], as a tool is code that nobody here controls and a narrower claim
/// would be a guess; but `on_conflict` is what the server's grant says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Effects {
    /// Patterns of what it may read.
    pub reads: &'static [&'static str],
    /// Patterns of what it may write.
    pub writes: &'static [&'static str],
    /// How sure the declaration is.
    pub mode: Mode,
    /// What to do with two calls whose effects overlap.
    pub on_conflict: OnConflict,
    /// Whether an effect can be taken back.
    pub tier: Tier,
}

impl Effects {
    /// Reads and writes anything, expected, conflicts serialised, irreversible.
    pub const OPAQUE: Self = Self {
        reads: &["**"],
        writes: &["**"],
        mode: Mode::Expected,
        on_conflict: OnConflict::Serialize,
        tier: Tier::Irreversible,
    };
}

/// How sure a declaration of effects is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// What is expected of the flow; nothing enforces it.
    Expected,
}

/// Whether an effect can be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Tier {
    /// It cannot. So an abandoned call is cancelled, and an unknown outcome is never retried.
    Irreversible,
}
