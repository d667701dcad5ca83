//! What is removed, and when.

use super::*;

/// J1: what is too old goes, a part at a time; what is under way stays, however old.
#[tokio::test]
async fn old_calls_go_and_those_under_way_stay() {
    let folder = folder();
    let mut options = options(&folder);
    let [write, _] = flows();
    let journal = Journal::open(options.clone()).unwrap();
    let (_under_way, receipt) = begin(&journal, &write, "{}");
    recorded(receipt).await.unwrap();
    for _ in 0..500 {
        dropped(&journal, &write).await;
    }
    journal.written().await;
    let (mut store, _) = Store::open(&options).unwrap();
    assert!(!store.prune(&options).unwrap());
    options.max_age = Duration::from_secs(3_600);
    let aged = "UPDATE calls SET began_ms = began_ms - 7200000 WHERE id <= 450";
    store.connection().execute(aged, ()).unwrap();
    assert!(store.prune(&options).unwrap(), "more is left");
    let left = entries(&options.path).len();
    assert!((101..=400).contains(&left), "{left}");
    while store.prune(&options).unwrap() {}
    let all = entries(&options.path);
    assert_eq!(all.len(), 1 + 51);
    assert_eq!((all[0].id, all[0].outcome), (1, None));
    assert_eq!(all[1].id, 451);
}

/// J1: the file stays within its size, by itself, without anybody waiting long; the oldest calls go first.
#[tokio::test]
async fn the_file_stays_within_its_size() {
    let folder = folder();
    let mut options = options(&folder);
    options.max_bytes = 300_000;
    let journal = Journal::open(options.clone()).unwrap();
    let [_, read] = flows();
    for _ in 0..6_000 {
        let (record, receipt) = begin(&journal, &read, "{}");
        recorded(receipt).await.unwrap();
        drop(record);
    }
    journal.written().await;
    let size = || std::fs::metadata(&options.path).unwrap().len();
    let within = seawall_testkit::wait_until(LONG, || {
        let all = entries(&options.path);
        all.len() < 5_000
            && all.last().is_some_and(|entry| entry.id == 6_000)
            && size() < 2 * options.max_bytes
    });
    assert!(
        within,
        "{} calls in {} bytes",
        entries(&options.path).len(),
        size()
    );
    let all = entries(&options.path);
    assert!(all.windows(2).all(|two| two[0].id + 1 == two[1].id));
    assert_eq!(journal.health().borrow().lost, 0);
}
