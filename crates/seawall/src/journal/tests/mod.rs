//! The journal's file: what is in it, whatever happens to it and to those who write it.

mod damage;
mod pruning;

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use seawall_proto::Outcome;
use tempfile::TempDir;
use tokio::time::timeout;

use super::store::Store;
use super::*;
use crate::client::Arguments;
use crate::error::{Error, ErrorKind};
use crate::flows::{Flow, default_prefix, project, tests::catalog};
use crate::policy::Grant;
use crate::redact::Redactor;

const LONG: Duration = Duration::from_secs(30);

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn options(folder: &TempDir) -> JournalOptions {
    JournalOptions::at(folder.path().join("deep").join("journal.db"))
}

/// The flows of `write`, and of `read`, which is marked read-only.
fn flows() -> [Flow; 2] {
    let catalog = catalog(
        r#"{"name":"write","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}},
           {"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
    );
    let server: Arc<str> = Arc::from("s");
    let prefix = default_prefix("s");
    let flows = project(&catalog, &server, &prefix, &[], &[], &Grant::default());
    flows.unwrap().try_into().unwrap()
}

/// A call of a flow, about to be sent.
fn begin(journal: &Journal, flow: &Flow, arguments: &str) -> (Record, Receipt) {
    let arguments = Arguments::text(arguments.to_owned());
    let mut record = journal.draft(flow.name(), Some("tester"), arguments.json());
    record.is_of(flow);
    let receipt = record.begin(&Redactor::default());
    (record, receipt)
}

async fn recorded(receipt: Receipt) -> Result<(), Fault> {
    timeout(LONG, receipt).await.expect("it is told")
}

/// Writes a call that was dropped once it was sent.
async fn dropped(journal: &Journal, flow: &Flow) {
    let (record, receipt) = begin(journal, flow, "{}");
    recorded(receipt).await.unwrap();
    drop(record);
}

fn unsent() -> Result<crate::ToolResult, Error> {
    let kind = ErrorKind::Abandoned(Outcome::NotSent);
    Err(Error::new(&Arc::from("s"), kind))
}

fn entries(path: &Path) -> Vec<Entry> {
    let reader = JournalReader::open(path).unwrap();
    reader.newest(&Filter::default(), 10_000).unwrap()
}

fn outcomes(path: &Path) -> Vec<Option<&'static str>> {
    entries(path).iter().map(|entry| entry.outcome).collect()
}

/// J1: a call of a tool that is not marked read-only waits for its record, which says who called what with what; that of one
/// that is marked waits for nothing, and is recorded all the same.
#[tokio::test]
async fn a_record_is_awaited_unless_the_tool_only_reads() {
    let folder = folder();
    let options = options(&folder);
    let journal = Journal::open(options.clone()).unwrap();
    let [write, read] = flows();

    let (record, receipt) = begin(&journal, &read, r#"{"a":1}"#);
    let mut receipt = pin!(receipt);
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(
        receipt.as_mut().poll(&mut context),
        Poll::Ready(Ok(()))
    ));
    drop(record);

    let (record, receipt) = begin(&journal, &write, r#"{"a":1}"#);
    recorded(receipt).await.unwrap();
    let all = entries(&options.path);
    let [first, second] = &all[..] else {
        panic!("{all:?}");
    };
    assert_eq!((first.flow.as_str(), first.read_only), ("mcp/s/read", true));
    assert_eq!(
        (second.flow.as_str(), second.read_only),
        ("mcp/s/write", false)
    );
    assert!(first.id < second.id);
    assert_eq!((first.outcome, second.outcome), (Some("no_response"), None));
    assert_eq!(
        (second.server.as_str(), second.tool.as_deref()),
        ("s", Some("write"))
    );
    assert_eq!(second.caller.as_deref(), Some("tester"));
    assert_eq!(second.digest, Some(write.digest().to_string()));
    assert_eq!(second.arguments_bytes, Some(7));
    let sha256 = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862";
    assert_eq!(second.arguments_sha256.as_deref(), Some(sha256));
    assert_eq!((&second.arguments, &second.result), (&None, &None));
    record.end(&unsent(), None);
    journal.written().await;
    assert_eq!(
        outcomes(&options.path),
        [Some("no_response"), Some("not_sent")]
    );
    assert_eq!(*journal.health().borrow(), Health::default());
}

/// J1: many calls that come at once are written together, and none is missing.
#[tokio::test]
async fn calls_that_come_together_are_written_together() {
    let folder = folder();
    let options = options(&folder);
    let journal = Journal::open(options.clone()).unwrap();
    let [write, _] = flows();
    // More than may wait.
    let many = MAX_WAITING + 100;
    let begun: Vec<_> = (0..many).map(|_| begin(&journal, &write, "{}")).collect();
    let mut records = Vec::new();
    for (record, receipt) in begun {
        recorded(receipt).await.unwrap();
        records.push(record);
    }
    records
        .drain(..)
        .for_each(|record| record.end(&unsent(), None));
    journal.written().await;
    let all = entries(&options.path);
    assert_eq!(all.len(), many);
    assert!(all.iter().all(|entry| entry.outcome == Some("not_sent")));
    assert!(all.windows(2).all(|two| two[0].id < two[1].id));
}

/// J1: a call without an end is under way while its run lives, and `no_response` once that is gone; a run that ended in order
/// leaves nothing open.
#[tokio::test]
async fn an_open_call_of_a_run_that_is_gone_is_no_response() {
    let folder = folder();
    let options = options(&folder);
    let [write, _] = flows();
    let alive = Journal::open(options.clone()).unwrap();
    let (_under_way, receipt) = begin(&alive, &write, "{}");
    recorded(receipt).await.unwrap();

    // Another one that goes without a word: its lock goes with it, its row stays.
    let (store, _) = Store::open(&options).unwrap();
    let insert = "INSERT INTO calls (run, began_ms, server, flow, read_only)
        SELECT max(id), 1, 'gone', 'f', 0 FROM runs";
    store.connection().execute(insert, ()).unwrap();
    assert_eq!(outcomes(&options.path), [None, None]);
    drop(store);
    assert_eq!(outcomes(&options.path), [None, Some("no_response")]);
    let unknown = Filter {
        outcome: Some(Outcome::NoResponse),
        ..Filter::default()
    };
    let reader = JournalReader::open(&options.path).unwrap();
    assert_eq!(reader.newest(&unknown, 10).unwrap().len(), 1);

    // The next one writes it down, and lets the living be.
    let next = Journal::open(options.clone()).unwrap();
    let stored = reader_of(&options.path);
    assert_eq!(stored, [None, Some("no_response".to_owned())]);
    drop(next);
    assert_eq!(outcomes(&options.path), [None, Some("no_response")]);
}

/// The outcomes as they stand in the file.
fn reader_of(path: &Path) -> Vec<Option<String>> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut statement = connection
        .prepare("SELECT outcome FROM calls ORDER BY id")
        .unwrap();
    let rows = statement.query_map((), |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// J1: the last clone's end ends the run in order; nothing of it is left beside the file.
#[tokio::test]
async fn the_end_leaves_nothing_open() {
    let folder = folder();
    let options = options(&folder);
    let [write, read] = flows();
    let journal = Journal::open(options.clone()).unwrap();
    let (record, receipt) = begin(&journal, &write, "{}");
    recorded(receipt).await.unwrap();
    // Nobody waits for this one, and it is written.
    let (last, _) = begin(&journal, &read, "{}");
    drop((last, record, journal));
    let names = || {
        let found = std::fs::read_dir(options.path.parent().unwrap()).unwrap();
        let mut names: Vec<String> = found
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let ended = seawall_testkit::wait_until(LONG, || names() == ["journal.db"]);
    assert!(ended, "{:?}", names());
    assert_eq!(
        outcomes(&options.path),
        [Some("no_response"), Some("no_response")]
    );
}

/// J1: two writers share a file; the numbers of their calls are one order.
#[tokio::test]
async fn two_writers_share_a_file() {
    let folder = folder();
    let options = options(&folder);
    let [write, _] = flows();
    let journals = [
        Journal::open(options.clone()).unwrap(),
        Journal::open(options.clone()).unwrap(),
    ];
    for _ in 0..50 {
        for journal in &journals {
            dropped(journal, &write).await;
        }
    }
    for journal in &journals {
        journal.written().await;
    }
    let all = entries(&options.path);
    assert_eq!(all.len(), 100);
    let ids: Vec<i64> = all.iter().map(|entry| entry.id).collect();
    assert_eq!(ids, (1..=100).collect::<Vec<_>>());
    assert!(all.iter().all(|entry| entry.outcome == Some("no_response")));
}

/// J1, R1, R2: texts are kept only if that is asked for: redacted, then cut.
#[tokio::test]
async fn texts_are_kept_redacted_and_cut() {
    let folder = folder();
    let mut options = options(&folder);
    options.texts = Texts::Stored;
    let journal = Journal::open(options.clone()).unwrap();
    let [write, _] = flows();
    let redactor = Redactor::builder().secret("s3cret-0123456789").build();
    let long = format!(
        r#"{{"k":"s3cret-0123456789","x":"{}"}}"#,
        "é".repeat(40_000)
    );
    let arguments = Arguments::text(long);
    let mut record = journal.draft(write.name(), None, arguments.json());
    record.is_of(&write);
    assert!(record.keeps_texts());
    recorded(record.begin(&redactor)).await.unwrap();
    let all = entries(&options.path);
    let kept = all[0].arguments.as_deref().unwrap();
    assert!(
        kept.starts_with(r#"{"k":"[redacted]","x":"éé"#),
        "{}",
        &kept[..40]
    );
    assert!((MAX_STORED_BYTES - 2..=MAX_STORED_BYTES).contains(&kept.len()));
    assert!(!kept.contains("s3cret"));
}

/// J1: the file is its owner's alone, its folder too.
#[cfg(unix)]
#[test]
fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let options = options(&folder);
    let _journal = Journal::open(options.clone()).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(options.path.parent().unwrap()), 0o700);
    for entry in std::fs::read_dir(options.path.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{path:?}");
    }
}

/// J1: whoever follows a journal sees each call once, when it has ended.
#[tokio::test]
async fn calls_are_followed_as_they_end() {
    let folder = folder();
    let options = options(&folder);
    let [write, _] = flows();
    let journal = Journal::open(options.clone()).unwrap();
    dropped(&journal, &write).await;
    let (first, receipt) = begin(&journal, &write, "{}");
    recorded(receipt).await.unwrap();

    let mut reader = JournalReader::open(&options.path).unwrap();
    let mut cursor = reader.begin_at().unwrap();
    let all = Filter::default();
    assert!(reader.ended(&mut cursor, &all).unwrap().is_empty());
    dropped(&journal, &write).await;
    first.end(&unsent(), None);
    journal.written().await;
    let ended = reader.ended(&mut cursor, &all).unwrap();
    let ended: Vec<_> = ended
        .iter()
        .map(|entry| (entry.id, entry.outcome))
        .collect();
    assert_eq!(ended, [(2, Some("not_sent")), (3, Some("no_response"))]);
    assert!(reader.ended(&mut cursor, &all).unwrap().is_empty());
}
