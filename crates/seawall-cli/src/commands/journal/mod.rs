//! `seawall journal`: the calls of `seawall serve`, and what became of them (J1).
//!
//! **Invariant:** it changes nothing in the journal, and starts no server.

mod place;
mod problem;
mod since;
#[cfg(test)]
mod tests;
mod view;

use std::path::PathBuf;
use std::time::Duration;

use seawall::config::load;
use seawall::journal::{Cursor, Fault, Filter, JournalError, JournalReader};
use tokio::runtime::Builder;

use crate::args::{JournalArgs, JournalPlace, OutcomeArg};
use crate::asker::Asker;
use crate::failure::{Failure, Status, UsageError};
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use crate::settings::Settings;

pub(super) use place::opened;
pub(crate) use problem::JournalProblem;

/// How often a journal that is followed is looked at.
const LOOK: Duration = Duration::from_millis(250);

pub(crate) fn run(
    args: &JournalArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let path = match &args.journal {
        Some(JournalPlace::File(path)) => path.clone(),
        // What else is in the configuration, good or bad, is of no concern here.
        _ => match load(&settings.lookup, &Asker::Nobody).gateway.journal.path {
            Some(path) => path,
            None => place::default_path().map_err(UsageError::from)?,
        },
    };
    let is_named = matches!(args.journal, Some(JournalPlace::File(_)));
    let mut filter = Filter::default();
    filter.server = args.server.clone();
    filter.outcome = args.outcome.map(OutcomeArg::outcome);
    filter.since = args
        .since
        .as_deref()
        .map(since::parse)
        .transpose()
        .map_err(UsageError::from)?;
    let looked = Looked {
        path,
        is_named,
        filter,
        limit: args.limit,
    };
    if args.follow {
        let runtime = super::built(&mut Builder::new_current_thread())?;
        return runtime.block_on(looked.follow(printer));
    }
    looked.once(printer)
}

/// What is looked at.
struct Looked {
    path: PathBuf,
    /// Whether somebody said that it is there.
    is_named: bool,
    filter: Filter,
    limit: usize,
}

impl Looked {
    fn once(&self, printer: &mut Printer) -> Result<Status, Failure> {
        let entries = match JournalReader::open(&self.path) {
            Ok(reader) => reader
                .newest(&self.filter, self.limit)
                .map_err(|error| self.unreadable(error))?,
            Err(error) if error.fault() == Fault::Missing && !self.is_named => {
                printer.hint(&format!(
                    "there is no journal yet: `seawall serve` writes it to {}",
                    self.path.display()
                ));
                return Ok(Status::Done);
            }
            Err(error) => return Err(self.unreadable(error)),
        };
        match printer.is_json() {
            true => entries.iter().for_each(|entry| printer.json(entry)),
            false if entries.is_empty() => printer.hint("no call in the journal is such a one"),
            false => view::table(&entries, printer),
        }
        Ok(Status::Done)
    }

    /// Prints what is there, then what comes, until a signal.
    async fn follow(&self, printer: &mut Printer) -> Result<Status, Failure> {
        let mut interrupts = Interrupts::listen().map_err(Failure::Runtime)?;
        let mut followed: Option<(JournalReader, Cursor)> = None;
        let mut told = false;
        loop {
            match &mut followed {
                Some((reader, cursor)) => match reader.ended(cursor, &self.filter) {
                    Ok(ended) => view::lines(&ended, printer),
                    // It is being replaced; what is there then is looked at again.
                    Err(error) if error.fault() == Fault::Missing => {}
                    Err(error) => return Err(self.unreadable(error)),
                },
                None => match JournalReader::open(&self.path) {
                    Ok(reader) => {
                        let unreadable = |error| self.unreadable(error);
                        let cursor = reader.begin_at().map_err(unreadable)?;
                        let newest = reader.newest(&self.filter, self.limit);
                        let newest = newest.map_err(unreadable)?;
                        let before: Vec<_> = newest
                            .into_iter()
                            .filter(|entry| cursor.has_seen(entry))
                            .collect();
                        view::lines(&before, printer);
                        followed = Some((reader, cursor));
                    }
                    Err(error) if error.fault() == Fault::Missing => {
                        if !std::mem::replace(&mut told, true) {
                            let path = self.path.display();
                            printer.hint(&format!("there is no journal yet at {path}; waiting"));
                        }
                    }
                    Err(error) => return Err(self.unreadable(error)),
                },
            }
            if printer.is_broken() {
                return Ok(Status::Done);
            }
            tokio::select! {
                biased;
                () = interrupts.next() => return Ok(Status::Done),
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    fn unreadable(&self, source: JournalError) -> Failure {
        let path = self.path.clone();
        UsageError::from(JournalProblem::Read { path, source }).into()
    }
}
