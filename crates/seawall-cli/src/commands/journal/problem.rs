//! Why there is no journal to write, or to show.

use std::path::PathBuf;

use seawall::journal::JournalError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalProblem {
    #[error(
        "the journal {} cannot be written: {}{}; name another file with --journal PATH, or go without with --journal off", .path.display(), .source.fault(), because(.source)
    )]
    Open { path: PathBuf, source: JournalError },
    #[error("the journal {} cannot be read: {}{}", .path.display(), .source.fault(), because(.source))]
    Read { path: PathBuf, source: JournalError },
    #[error(
        "this platform has no folder for the journal: name a file with --journal PATH, or go without with --journal off"
    )]
    Nowhere,
    #[error(
        "--since {text}: write an age (90s, 15m, 2h, 7d), a moment (2026-11-30T17:00:00Z), a day (2026-11-30) or a time of day (17:00)"
    )]
    Since { text: String },
}

/// What the system says of it.
fn because(error: &JournalError) -> String {
    std::error::Error::source(error).map_or_else(String::new, |source| format!(" ({source})"))
}
