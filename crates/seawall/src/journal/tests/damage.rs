//! Files that cannot be written, or read.

use std::fs;

use super::*;

/// J1: a file that is no database is set aside as it is, and told; a new one is begun.
#[tokio::test]
async fn a_damaged_file_is_set_aside_whole() {
    let folder = folder();
    let options = options(&folder);
    let garbage = "no database at all. ".repeat(1_000);
    fs::create_dir_all(options.path.parent().unwrap()).unwrap();
    fs::write(&options.path, &garbage).unwrap();
    let journal = Journal::open(options.clone()).unwrap();
    let aside = journal
        .health()
        .borrow()
        .set_aside
        .clone()
        .expect("it is told");
    assert_eq!(fs::read_to_string(&aside).unwrap(), garbage);
    let [write, _] = flows();
    dropped(&journal, &write).await;
    journal.written().await;
    assert_eq!(outcomes(&options.path), [Some("no_response")]);
}

/// J1: damage that is found while the journal is written sets the file aside too; calls under way are recorded anew.
#[tokio::test]
async fn damage_under_way_loses_nothing() {
    let folder = folder();
    let options = options(&folder);
    let [write, _] = flows();
    let journal = Journal::open(options.clone()).unwrap();
    let (under_way, receipt) = begin(&journal, &write, r#"{"a":1}"#);
    recorded(receipt).await.unwrap();
    // A tree of which no page can be understood.
    let connection = rusqlite::Connection::open(&options.path).unwrap();
    connection
        .pragma_update(None, "wal_checkpoint", "TRUNCATE")
        .unwrap();
    let pages: i64 = connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    let page: i64 = connection
        .pragma_query_value(None, "page_size", |row| row.get(0))
        .unwrap();
    let (pages, page) = (
        usize::try_from(pages).unwrap(),
        usize::try_from(page).unwrap(),
    );
    let mut bytes = fs::read(&options.path).unwrap();
    bytes.resize(pages * page, 0);
    bytes[page..].fill(0xa5);
    let damaged = bytes.clone();
    {
        use std::io::{Seek as _, Write as _};
        let mut file = fs::OpenOptions::new()
            .write(true)
            .open(&options.path)
            .unwrap();
        file.seek(std::io::SeekFrom::Start(page as u64)).unwrap();
        file.write_all(&bytes[page..]).unwrap();
    }
    // What other connections have in mind of it is outdated from here on.
    connection.pragma_update(None, "user_version", 1).unwrap();
    drop(connection);

    let (next, receipt) = begin(&journal, &write, "{}");
    recorded(receipt).await.unwrap();
    let aside = journal
        .health()
        .borrow()
        .set_aside
        .clone()
        .expect("it is told");
    let kept = fs::read(&aside).unwrap();
    assert_eq!(&kept[page..], &damaged[page..]);
    drop(under_way);
    next.end(&unsent(), None);
    journal.written().await;
    let all = entries(&options.path);
    let found: Vec<_> = all
        .iter()
        .map(|entry| (entry.arguments_bytes, entry.outcome))
        .collect();
    assert_eq!(
        found,
        [(Some(7), Some("no_response")), (Some(2), Some("not_sent"))]
    );
    assert_eq!(journal.health().borrow().lost, 0);
}

/// J1: a file of something else, or of a newer Seawall, is left as it is.
#[test]
fn what_is_not_ours_is_left_alone() {
    let folder = folder();
    let options = options(&folder);
    fs::create_dir_all(options.path.parent().unwrap()).unwrap();
    let connection = rusqlite::Connection::open(&options.path).unwrap();
    connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
    let fault = |options: JournalOptions| Journal::open(options).unwrap_err().fault();
    assert_eq!(fault(options.clone()), Fault::Foreign);
    let foreign = JournalReader::open(&options.path).unwrap_err();
    assert_eq!(foreign.fault(), Fault::Foreign);
    drop(connection);
    fs::remove_file(&options.path).unwrap();
    drop(Store::open(&options).unwrap());
    let connection = rusqlite::Connection::open(&options.path).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
    assert_eq!(fault(options), Fault::Newer);
}

/// Takes the file away, and leaves no way to make it.
fn make_unwritable(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(run::beside(path, end));
    }
    fs::create_dir(path).unwrap();
}

/// J1: while the journal cannot be written, a call of a tool that is not marked read-only is refused, one of a tool that is
/// goes on, and is recorded later; both are told.
#[tokio::test]
async fn what_cannot_be_recorded_is_refused_or_recorded_later() {
    let folder = folder();
    let options = options(&folder);
    let [write, read] = flows();
    let journal = Journal::open(options.clone()).unwrap();
    make_unwritable(&options.path);
    let mut health = journal.health();
    let (_refused, receipt) = begin(&journal, &write, "{}");
    assert_eq!(recorded(receipt).await, Err(Fault::Io));
    assert_eq!(health.borrow_and_update().failing, Some(Fault::Io));
    let (reading, receipt) = begin(&journal, &read, "{}");
    assert_eq!(recorded(receipt).await, Ok(()));
    reading.end(&unsent(), None);
    journal.written().await;

    fs::remove_dir(&options.path).unwrap();
    let well = health.wait_for(|health| health.failing.is_none());
    assert_eq!(timeout(LONG, well).await.unwrap().unwrap().lost, 0);
    let all = entries(&options.path);
    let found: Vec<_> = all
        .iter()
        .map(|entry| (entry.read_only, entry.outcome))
        .collect();
    assert_eq!(found, [(true, Some("not_sent"))]);
}

/// J1: by configuration everything that cannot be recorded is refused, or nothing.
#[tokio::test]
async fn what_becomes_of_the_unrecorded_is_configured() {
    for (policy, expected) in [
        (WhenUnwritable::RefuseAll, Err(Fault::Io)),
        (WhenUnwritable::Allow, Ok(())),
    ] {
        let folder = folder();
        let mut options = options(&folder);
        options.when_unwritable = policy;
        let journal = Journal::open(options.clone()).unwrap();
        make_unwritable(&options.path);
        let flows = flows();
        for flow in &flows {
            let (record, receipt) = begin(&journal, flow, "{}");
            assert_eq!(recorded(receipt).await, expected, "{policy:?}");
            drop(record);
        }
        fs::remove_dir(&options.path).unwrap();
        dropped(&journal, &flows[0]).await;
        journal.written().await;
        let found = outcomes(&options.path).len();
        assert_eq!(found, if expected.is_ok() { 3 } else { 1 }, "{policy:?}");
    }
}

/// J1: a full disk, and a file that may not be written, are known for what they are; what was not written leaves no trace.
#[test]
fn a_full_disk_is_known() {
    use super::super::record::{Job, NewCall};
    let folder = folder();
    let options = options(&folder);
    let (mut store, _) = Store::open(&options).unwrap();
    let job = |text: usize| Job::Begin {
        number: 1,
        call: Box::new(NewCall {
            began_ms: 1,
            flow: None,
            name: "f".into(),
            server: "s".into(),
            caller: None,
            arguments: None,
            text: Some("x".repeat(text)),
        }),
        tell: None,
    };
    let open = std::collections::HashMap::new();
    let pages: i64 = store
        .connection()
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    let bound = |store: &Store, pages: i64| {
        let set = store
            .connection()
            .pragma(None, "max_page_count", pages, |_| Ok(()));
        set.unwrap();
    };
    bound(&store, pages + 1);
    let full = store.write(&[job(1), job(100_000)], &open);
    assert_eq!(full.err().map(|error| error.fault), Some(Fault::DiskFull));
    bound(&store, 1_000_000);
    store
        .connection()
        .pragma_update(None, "query_only", true)
        .unwrap();
    let refused = store.write(&[job(1)], &open);
    assert_eq!(
        refused.err().map(|error| error.fault),
        Some(Fault::ReadOnly)
    );
    store
        .connection()
        .pragma_update(None, "query_only", false)
        .unwrap();
    store.write(&[job(100_000)], &open).map(drop).unwrap();
    assert_eq!(entries(&options.path).len(), 1);
}
