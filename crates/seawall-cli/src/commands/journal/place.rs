//! Where the journal is.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use seawall::journal::{Journal, JournalOptions};

use super::JournalProblem;
use crate::args::JournalPlace;

/// The file in the platform's folder for the state of programs: on Linux `$XDG_STATE_HOME/seawall/journal.db`. Where the
/// platform has none, in that for their data.
pub(super) fn default_path() -> Result<PathBuf, JournalProblem> {
    let strategy = etcetera::choose_base_strategy().map_err(|_| JournalProblem::Nowhere)?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Ok(folder.join("seawall").join("journal.db"))
}

/// The journal that a gateway writes, opened, unless there is to be none.
pub(crate) fn opened(place: Option<&JournalPlace>) -> Result<Option<Journal>, JournalProblem> {
    let path = match place {
        Some(JournalPlace::Off) => return Ok(None),
        Some(JournalPlace::File(path)) => path.clone(),
        None => default_path()?,
    };
    match Journal::open(JournalOptions::at(&path)) {
        Ok(journal) => Ok(Some(journal)),
        Err(source) => Err(JournalProblem::Open { path, source }),
    }
}
