//! Where the journal is.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use seawall::config::JournalConfig;
use seawall::journal::{Journal, JournalOptions, Texts};

use super::JournalProblem;
use crate::args::JournalPlace;

/// The file in the platform's folder for the state of programs: on Linux `$XDG_STATE_HOME/seawall/journal.db`. Where the
/// platform has none, in that for their data.
pub(super) fn default_path() -> Result<PathBuf, JournalProblem> {
    let strategy = etcetera::choose_base_strategy().map_err(|_| JournalProblem::Nowhere)?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Ok(folder.join("seawall").join("journal.db"))
}

/// The journal that a gateway writes, opened, unless there is to be none. The flag wins over the configuration.
pub(crate) fn opened(
    place: Option<&JournalPlace>,
    config: &JournalConfig,
) -> Result<Option<Journal>, JournalProblem> {
    let path = match (place, &config.path) {
        (Some(JournalPlace::Off), _) => return Ok(None),
        (None, _) if config.off => return Ok(None),
        (Some(JournalPlace::File(path)), _) | (None, Some(path)) => path.clone(),
        (None, None) => default_path()?,
    };
    let mut options = JournalOptions::at(&path);
    options.max_age = config.max_age.unwrap_or(options.max_age);
    options.max_bytes = config.max_bytes.unwrap_or(options.max_bytes);
    if config.store {
        options.texts = Texts::Stored;
    }
    options.when_unwritable = config.unwritable;
    options.durability = config.durability;
    match Journal::open(options) {
        Ok(journal) => Ok(Some(journal)),
        Err(source) => Err(JournalProblem::Open { path, source }),
    }
}
