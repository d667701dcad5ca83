//! The file, for the one thread that writes it.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params};
use seawall_proto::Outcome;

use super::record::{End, Job, NewCall, now_ms};
use super::run::{self, Run, private};
use super::{Fault, JournalError, JournalOptions, aside, schema};
use crate::flows::Flow;

/// So many calls are removed at once, so that nobody waits long for it.
const PRUNED_AT_ONCE: u32 = 200;
/// So many pages are given back to the system at once.
const FREED_AT_ONCE: u32 = 200;

/// An open file.
pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
    file: Identity,
    run: Run,
    /// The run's row.
    id: i64,
}

/// A call that is under way, and its row.
pub(super) struct Open {
    pub(super) row: i64,
    pub(super) call: Box<NewCall>,
}

/// What a batch did.
#[derive(Default)]
pub(super) struct Written {
    /// The rows of the calls that began, by their numbers.
    pub(super) rows: HashMap<u64, i64>,
}

impl Store {
    /// Opens the file, or makes it; sets one that is damaged aside. The path of that, if there was one.
    pub(super) fn open(options: &JournalOptions) -> Result<(Self, Option<PathBuf>), JournalError> {
        match Self::open_as_is(options) {
            Err(error) if error.fault == Fault::Damaged => {
                let _alone = aside::alone(&options.path)?;
                // Another process may have been first.
                match Self::open_as_is(options) {
                    Err(error) if error.fault == Fault::Damaged => {
                        let aside = aside::set_aside(&options.path)?;
                        Ok((Self::open_as_is(options)?, Some(aside)))
                    }
                    opened => Ok((opened?, None)),
                }
            }
            opened => Ok((opened?, None)),
        }
    }

    /// Sets the file aside, if it is the one that was found damaged, and opens what is there then. The path of what was
    /// set aside.
    pub(super) fn replace(
        self,
        options: &JournalOptions,
    ) -> Result<(Self, Option<PathBuf>), JournalError> {
        let (found, run) = (self.file, self.run.name.clone());
        drop(self);
        run::forget(&options.path, &run);
        let _alone = aside::alone(&options.path)?;
        let aside = match Identity::of(&options.path) {
            Ok(now) if now == found => Some(aside::set_aside(&options.path)?),
            _ => None,
        };
        Ok((Self::open_as_is(options)?, aside))
    }

    fn open_as_is(options: &JournalOptions) -> Result<Self, JournalError> {
        let path = &options.path;
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            make_folder(folder)?;
        }
        let mut create = OpenOptions::new();
        // SQLite gives the files beside it the same mode.
        private(create.write(true).create(true).truncate(false)).open(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        schema::prepare(&mut connection, options.durability)?;
        let run = Run::begin(path)?;
        let mut store = Self {
            connection,
            path: path.clone(),
            file: Identity::of(path)?,
            run,
            id: 0,
        };
        let begun = store.begin_run();
        if begun.is_err() {
            run::forget(path, &store.run.name);
        }
        begun?;
        Ok(store)
    }

    /// Notes this run, and what became of the calls of those that are gone.
    fn begin_run(&mut self) -> Result<(), JournalError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let gone = gone(&transaction, &self.path)?;
        for (id, _) in &gone {
            transaction.execute(
                "UPDATE calls SET outcome = ?1 WHERE run = ?2 AND outcome IS NULL",
                params![Outcome::NoResponse.as_str(), id],
            )?;
            transaction.execute("DELETE FROM runs WHERE id = ?1", [id])?;
        }
        transaction.execute(
            "INSERT INTO runs (began_ms, lock) VALUES (?1, ?2)",
            params![now_ms(), self.run.name],
        )?;
        self.id = transaction.last_insert_rowid();
        transaction.commit()?;
        for (_, name) in gone {
            run::forget(&self.path, &name);
        }
        Ok(())
    }

    /// Whether the path still names the file that is open.
    pub(super) fn is_there(&self) -> bool {
        match Identity::of(&self.path) {
            Ok(now) => now == self.file,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Writes all of it, or nothing.
    pub(super) fn write(
        &mut self,
        jobs: &[Job],
        open: &HashMap<u64, Open>,
    ) -> Result<Written, JournalError> {
        let run = self.id;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut written = Written::default();
        for job in jobs {
            match job {
                Job::Begin { number, call, .. } => {
                    let row = insert(&transaction, run, call, None)?;
                    written.rows.insert(*number, row);
                }
                Job::End { number, end } => {
                    let row = written.rows.get(number).copied();
                    let row = row.or_else(|| open.get(number).map(|open| open.row));
                    // One that could not begin has no end.
                    if let Some(row) = row {
                        finish(&transaction, row, end)?;
                    }
                }
                Job::Unsent { call, end } => {
                    insert(&transaction, run, call, Some(end))?;
                }
                Job::Flush(_) => {}
            }
        }
        transaction.commit()?;
        Ok(written)
    }

    /// Records calls that are under way, and were recorded in a file that is no longer there.
    pub(super) fn adopt(&mut self, open: &mut HashMap<u64, Open>) -> Result<(), JournalError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut numbers: Vec<u64> = open.keys().copied().collect();
        numbers.sort_unstable();
        let mut rows = Vec::with_capacity(numbers.len());
        for number in numbers {
            if let Some(one) = open.get(&number) {
                rows.push((number, insert(&transaction, self.id, &one.call, None)?));
            }
        }
        transaction.commit()?;
        for (number, row) in rows {
            if let Some(one) = open.get_mut(&number) {
                one.row = row;
            }
        }
        Ok(())
    }

    /// Removes some of what is too old, or too much. Whether there may be more to do.
    pub(super) fn prune(&mut self, options: &JournalOptions) -> Result<bool, JournalError> {
        let age = i64::try_from(options.max_age.as_millis()).unwrap_or(i64::MAX);
        let old = self.connection.execute(
            "DELETE FROM calls WHERE id IN (
                SELECT id FROM calls WHERE began_ms < ?1 AND outcome IS NOT NULL ORDER BY began_ms LIMIT ?2
            )",
            params![now_ms().saturating_sub(age), PRUNED_AT_ONCE],
        )?;
        if old > 0 {
            return Ok(true);
        }
        let number = |pragma: &str| {
            self.connection
                .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
                .map(|number| u64::try_from(number).unwrap_or(0))
        };
        let (page, pages, free) = (
            number("page_size")?,
            number("page_count")?,
            number("freelist_count")?,
        );
        if pages.saturating_sub(free).saturating_mul(page) > options.max_bytes {
            let removed = self.connection.execute(
                "DELETE FROM calls WHERE id IN (
                    SELECT id FROM calls WHERE outcome IS NOT NULL ORDER BY began_ms LIMIT ?1
                )",
                [PRUNED_AT_ONCE],
            )?;
            return Ok(removed > 0);
        }
        // What was freed is used again; it is given back where it is a lot.
        if free > 0 && (pages.saturating_mul(page) > options.max_bytes || free > pages / 2) {
            self.connection
                .pragma(None, "incremental_vacuum", FREED_AT_ONCE, |_| Ok(()))?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Has what is in SQLite's log written back into the file, as far as nobody is in the way.
    pub(super) fn tidy(&self) -> Result<(), JournalError> {
        self.connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))?;
        Ok(())
    }

    /// Ends the run in order: whatever has no end by now is `no_response`.
    pub(super) fn end(mut self) -> Result<(), JournalError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(
            "UPDATE calls SET outcome = ?1 WHERE run = ?2 AND outcome IS NULL",
            params![Outcome::NoResponse.as_str(), self.id],
        )?;
        transaction.execute("DELETE FROM runs WHERE id = ?1", [self.id])?;
        transaction.commit()?;
        run::forget(&self.path, &self.run.name);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }
}

/// The runs that are gone, by their rows and names.
fn gone(transaction: &Transaction<'_>, path: &Path) -> Result<Vec<(i64, String)>, JournalError> {
    let mut statement = transaction.prepare("SELECT id, lock FROM runs")?;
    let runs = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut gone = Vec::new();
    for run in runs {
        let run: (i64, String) = run?;
        if !run::is_alive(path, &run.1) {
            gone.push(run);
        }
    }
    Ok(gone)
}

fn insert(
    transaction: &Transaction<'_>,
    run: i64,
    call: &NewCall,
    end: Option<&End>,
) -> Result<i64, JournalError> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO calls (
            run, began_ms, server, flow, tool, digest, caller, read_only,
            arguments_bytes, arguments_sha256, arguments, outcome, code, took_us
        ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    let flow = call.flow.as_ref();
    let (sha256, bytes) = call.arguments.unzip();
    let row = statement.insert(params![
        run,
        call.began_ms,
        flow.map_or(&*call.server, Flow::server),
        flow.map_or(&*call.name, Flow::name),
        flow.map(Flow::tool),
        flow.map(|flow| flow.digest().to_string()),
        call.caller,
        call.is_read_only(),
        bytes.map(signed),
        sha256.map(|bytes| hex(&bytes)),
        call.text,
        end.map(|end| end.outcome.as_str()),
        end.and_then(|end| end.code).map(|code| code.as_str()),
        end.map(micros),
    ])?;
    Ok(row)
}

fn finish(transaction: &Transaction<'_>, row: i64, end: &End) -> Result<(), JournalError> {
    let mut statement = transaction.prepare_cached(
        "UPDATE calls SET outcome = ?2, code = ?3, is_error = ?4, result_bytes = ?5, result = ?6, took_us = ?7
        WHERE id = ?1",
    )?;
    statement.execute(params![
        row,
        end.outcome.as_str(),
        end.code.map(|code| code.as_str()),
        end.is_error,
        end.result_bytes.map(signed),
        end.text,
        micros(end),
    ])?;
    Ok(())
}

fn micros(end: &End) -> i64 {
    i64::try_from(end.took.as_micros()).unwrap_or(i64::MAX)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // A String takes all.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(path)?;
        Ok(Self(found.dev(), found.ino()))
    }

    /// An open file is neither removed nor renamed here.
    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|_| Self(0, 0))
    }
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}
