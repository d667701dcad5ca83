//! Reading a journal, also while it is written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, Row, params_from_iter, types::Value};
use seawall_proto::Outcome;
use serde::Serialize;

use super::record::ms_of;
use super::schema::{BUSY, Form, form};
use super::store::Identity;
use super::{Fault, JournalError, run};

/// So many calls are read at once.
const MAX_ENTRIES: usize = 10_000;

/// A journal, opened to be read. It changes nothing.
pub struct JournalReader {
    path: PathBuf,
    connection: Connection,
    file: Identity,
}

/// Which calls are meant. Default: all.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Filter {
    /// Those to this server.
    pub server: Option<String>,
    /// Those that ended so.
    pub outcome: Option<Outcome>,
    /// Those that began then, or later.
    pub since: Option<SystemTime>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Entry {
    /// Its number in the file: later ones are larger, and none is used again.
    pub id: i64,
    /// When it was recorded, right before it was sent, in milliseconds since 1970.
    pub began_ms: i64,
    /// The server's id; empty if the flow was nobody's.
    pub server: String,
    /// The flow's name.
    pub flow: String,
    /// The tool's own name, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The digest of its declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Who called, if they have a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// Whether the server marks the tool as one that only reads.
    pub read_only: bool,
    /// The size of the arguments; `None` if they were no JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_bytes: Option<i64>,
    /// The SHA-256 of the arguments, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_sha256: Option<String>,
    /// The arguments, if they are kept: redacted and cut, so not always JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// What became of it; `None` while it is under way.
    pub outcome: Option<&'static str>,
    /// The class of the failure, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Whether the tool said that it failed, if there is a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// The size of the result, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<i64>,
    /// The result, if it is kept: redacted and cut, so not always JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// From the record to the end, in microseconds, if the end was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_us: Option<i64>,
}

impl Entry {
    /// When it was recorded.
    #[must_use]
    pub fn began(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(u64::try_from(self.began_ms).unwrap_or(0))
    }

    /// How long it took, if its end was seen.
    #[must_use]
    pub fn took(&self) -> Option<Duration> {
        let micros = u64::try_from(self.took_us?).ok()?;
        Some(Duration::from_micros(micros))
    }
}

/// What was seen of a journal that is followed.
#[derive(Debug, Clone, Default)]
pub struct Cursor {
    seen: i64,
    /// Calls that were under way when they were seen.
    open: BTreeSet<i64>,
}

impl JournalReader {
    /// Opens a journal.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        let path = path.into();
        let file = Identity::of(&path)?;
        Ok(Self {
            connection: connect(&path)?,
            path,
            file,
        })
    }

    /// The newest calls that are meant, at most `limit` and 10 000, in the order in which they were recorded.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn newest(&self, filter: &Filter, limit: usize) -> Result<Vec<Entry>, JournalError> {
        let mut entries = self.select(filter, "1", "DESC", limit.min(MAX_ENTRIES))?;
        entries.reverse();
        Ok(entries)
    }

    /// The calls that are meant and have ended since they were asked for last; those of a new file, if it was replaced
    /// meanwhile. [`newest`](Self::newest) is not counted; see [`begin_at`](Self::begin_at).
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn ended(
        &mut self,
        cursor: &mut Cursor,
        filter: &Filter,
    ) -> Result<Vec<Entry>, JournalError> {
        match Identity::of(&self.path) {
            Ok(now) if now != self.file => {
                (self.connection, self.file) = (connect(&self.path)?, now);
                *cursor = Cursor::default();
            }
            _ => {}
        }
        let open: Vec<String> = cursor.open.iter().map(i64::to_string).collect();
        let range = format!("(id > {} OR id IN ({}))", cursor.seen, open.join(","));
        // What is not meant counts as seen too, so it is left out here and not there.
        let found = self.select(&Filter::default(), &range, "ASC", MAX_ENTRIES)?;
        let mut ended = Vec::new();
        for entry in found {
            cursor.see(&entry);
            if entry.outcome.is_some() && filter.takes(&entry) {
                ended.push(entry);
            }
        }
        Ok(ended)
    }

    /// A cursor after what is there now; what is under way counts as not yet seen.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn begin_at(&self) -> Result<Cursor, JournalError> {
        let seen =
            self.connection
                .query_row("SELECT ifnull(max(id), 0) FROM calls", (), |row| row.get(0))?;
        let mut cursor = Cursor {
            seen,
            open: BTreeSet::new(),
        };
        let open = self.select(&Filter::default(), "outcome IS NULL", "DESC", MAX_ENTRIES)?;
        open.iter().for_each(|entry| cursor.see(entry));
        Ok(cursor)
    }

    fn select(
        &self,
        filter: &Filter,
        range: &str,
        order: &str,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        // They come first: what one of them wrote before it went is seen by what follows.
        let gone = self.gone()?;
        let shown = format!(
            "CASE WHEN outcome IS NULL AND run IN ({gone}) THEN 'no_response' ELSE outcome END"
        );
        let mut text = format!(
            "SELECT id, began_ms, server, flow, tool, digest, caller, read_only, arguments_bytes,
                arguments_sha256, arguments, {shown} AS shown, code, is_error, result_bytes, result, took_us
            FROM calls WHERE {range}"
        );
        let mut values: Vec<Value> = Vec::new();
        if let Some(server) = &filter.server {
            text.push_str(" AND server = ?");
            values.push(server.clone().into());
        }
        if let Some(outcome) = filter.outcome {
            text.push_str(" AND shown = ?");
            values.push(outcome.as_str().to_owned().into());
        }
        if let Some(since) = filter.since {
            text.push_str(" AND began_ms >= ?");
            values.push(ms_of(since).into());
        }
        text.push_str(&format!(" ORDER BY id {order} LIMIT {limit}"));
        let mut statement = self.connection.prepare(&text)?;
        let entries = statement.query_map(params_from_iter(values), entry)?;
        Ok(entries.collect::<Result<_, _>>()?)
    }

    /// The rows of the runs that are gone, as SQL has lists.
    fn gone(&self) -> Result<String, JournalError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, lock FROM runs")?;
        let runs = statement.query_map((), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })?;
        let mut gone = Vec::new();
        for run in runs {
            let (id, name) = run?;
            if !run::is_alive(&self.path, &name) {
                gone.push(id.to_string());
            }
        }
        Ok(gone.join(","))
    }
}

impl std::fmt::Debug for JournalReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JournalReader").finish_non_exhaustive()
    }
}

impl Cursor {
    /// Whether this call is not told again.
    #[must_use]
    pub fn has_seen(&self, entry: &Entry) -> bool {
        entry.id <= self.seen && !self.open.contains(&entry.id)
    }

    fn see(&mut self, entry: &Entry) {
        self.seen = self.seen.max(entry.id);
        match entry.outcome {
            None => self.open.insert(entry.id),
            Some(_) => self.open.remove(&entry.id),
        };
    }
}

impl Filter {
    fn takes(&self, entry: &Entry) -> bool {
        let is = |wanted: Option<&str>, found: Option<&str>| wanted.is_none() || wanted == found;
        is(self.server.as_deref(), Some(&entry.server))
            && is(self.outcome.map(Outcome::as_str), entry.outcome)
            && self
                .since
                .is_none_or(|since| entry.began_ms >= ms_of(since))
    }
}

fn connect(path: &Path) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    match form(&connection)? {
        Form::Ours => Ok(connection),
        Form::New => Err(Fault::Missing.into()),
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let outcome: Option<String> = row.get(11)?;
    Ok(Entry {
        id: row.get(0)?,
        began_ms: row.get(1)?,
        server: row.get(2)?,
        flow: row.get(3)?,
        tool: row.get(4)?,
        digest: row.get(5)?,
        caller: row.get(6)?,
        read_only: row.get(7)?,
        arguments_bytes: row.get(8)?,
        arguments_sha256: row.get(9)?,
        arguments: row.get(10)?,
        outcome: outcome.map(|text| outcome_of(&text).as_str()),
        code: row.get(12)?,
        is_error: row.get(13)?,
        result_bytes: row.get(14)?,
        result: row.get(15)?,
        took_us: row.get(16)?,
    })
}

/// What nobody wrote is unknown.
fn outcome_of(text: &str) -> Outcome {
    let all = [Outcome::NotSent, Outcome::ErrorResponse, Outcome::Answered];
    let found = all.into_iter().find(|outcome| outcome.as_str() == text);
    found.unwrap_or(Outcome::NoResponse)
}
