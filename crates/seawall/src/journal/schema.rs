//! The tables, and how the file is kept.

use rusqlite::{Connection, TransactionBehavior};

use super::{Durability, Fault, JournalError};

/// `seaw`: whose file it is.
const APPLICATION: i32 = 0x7365_6177;
/// The form of the tables.
const VERSION: i32 = 1;
/// How long a write waits for another process.
pub(super) const BUSY: std::time::Duration = std::time::Duration::from_secs(5);
/// SQLite's log is written back into the file at the latest once it has so many pages; sooner when there is time.
const LOG_PAGES: u32 = 4_000;
/// What is left of the log's file after it was written back.
const LOG_BYTES: u32 = 8 * 1024 * 1024;

/// `runs` has a row for each process that writes, or that ended without tidying up: `lock` is the file, beside this one,
/// that it holds locked for as long as it lives. A call without `outcome` is under way if its run is alive, else nobody
/// knows what became of it.
const TABLES: &str = "
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        began_ms INTEGER NOT NULL,
        lock TEXT NOT NULL
    ) STRICT;
    CREATE TABLE calls (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL,
        began_ms INTEGER NOT NULL,
        server TEXT NOT NULL,
        flow TEXT NOT NULL,
        tool TEXT,
        digest TEXT,
        caller TEXT,
        read_only INTEGER NOT NULL,
        arguments_bytes INTEGER,
        arguments_sha256 TEXT,
        arguments TEXT,
        outcome TEXT,
        code TEXT,
        is_error INTEGER,
        result_bytes INTEGER,
        result TEXT,
        took_us INTEGER
    ) STRICT;
    CREATE INDEX calls_began ON calls (began_ms);
    CREATE INDEX calls_open ON calls (run) WHERE outcome IS NULL;
";

/// Makes a connection to a file of this form, new or not, ready to write.
pub(super) fn prepare(
    connection: &mut Connection,
    durability: Durability,
) -> Result<(), JournalError> {
    connection.busy_timeout(BUSY)?;
    // The first look into the file: what is no database is found here.
    let form = form(connection)?;
    if form == Form::New {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    // Its functions and triggers could be anybody's.
    connection.pragma_update(None, "trusted_schema", false)?;
    if form == Form::New {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been first.
        if self::form(&transaction)? == Form::New {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    New,
    Ours,
}

/// What the file is.
///
/// # Errors
/// Something else's, or a newer Seawall's.
pub(super) fn form(connection: &Connection) -> Result<Form, JournalError> {
    let number =
        |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    match (application, version) {
        (APPLICATION, VERSION) => Ok(Form::Ours),
        (APPLICATION, newer) if newer > VERSION => Err(Fault::Newer.into()),
        (0, 0) => {
            let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| {
                row.get::<_, i64>(0)
            })?;
            match tables {
                0 => Ok(Form::New),
                _ => Err(Fault::Foreign.into()),
            }
        }
        _ => Err(Fault::Foreign.into()),
    }
}
