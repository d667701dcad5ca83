//! What is published (H5).

use super::*;
use crate::config::CatalogMode;

/// H5: an announced change is read and published, as a snapshot with a higher number.
#[tokio::test(start_paused = true)]
async fn announced_change_is_published() {
    let (faulty, host) = world();
    up(&host, "a").await;
    let before = host.tools();
    faulty.newest("a").change(&["three"]);
    sleep(ms(100)).await;
    assert_eq!(names(&host), ["mcp/a/three"]);
    assert!(host.tools().number() > before.number());
    // The old snapshot is as it was.
    assert_eq!(before.flows().count(), 2);
    assert!(before.flow("mcp/a/one").is_some() && host.tools().flow("mcp/a/one").is_none());
}

/// H5: a change that comes while the list is read is read after it; however many come, one more reading suffices.
#[tokio::test(start_paused = true)]
async fn change_during_a_reading_is_read_once_more() {
    let (faulty, host) = world();
    up(&host, "a").await;
    let child = faulty.newest("a");
    child.change(&["old"]);
    sleep(ms(5)).await;
    for _ in 0..10 {
        child.change(&["new"]);
        settle().await;
    }
    sleep(ms(2_000)).await;
    assert_eq!(names(&host), ["mcp/a/new"]);
    assert_eq!(child.readings(), 2);
}

/// H5, H8: a server that announces without end is followed at a pace.
#[tokio::test(start_paused = true)]
async fn endless_announcements_are_followed_at_a_pace() {
    let (faulty, host) = world();
    up(&host, "a").await;
    let child = faulty.newest("a");
    for _ in 0..2_000 {
        child.change(&["one"]);
        sleep(ms(5)).await;
    }
    let readings = child.readings();
    assert!((30..=50).contains(&readings), "{readings}");
}

/// H5, H8: a list that takes long to read is read no more than a quarter of the time, whatever is announced; who asks for it
/// does not wait for that.
#[tokio::test(start_paused = true)]
async fn list_that_takes_long_is_read_less_often() {
    let (faulty, host) = world();
    let slow = Script {
        reading: ms(1_000),
        ..Script::default()
    };
    faulty.script("a", [slow]);
    up(&host, "a").await;
    let child = faulty.newest("a");
    for _ in 0..2_000 {
        child.change(&["one"]);
        sleep(ms(10)).await;
    }
    let readings = child.readings();
    assert!((4..=6).contains(&readings), "{readings}");
    let asked = Instant::now();
    host.refresh("a").await.unwrap();
    assert!(asked.elapsed() <= ms(2_001));
}

/// H5: a reading that its session does not outlive publishes nothing, though the server is back before it ended.
#[tokio::test(start_paused = true)]
async fn reading_of_a_lost_session_publishes_nothing() {
    let (faulty, host) = world();
    let slow = Script {
        reading: ms(20_000),
        tools: vec!["old"],
        ..Script::default()
    };
    let next = Script {
        tools: vec!["new"],
        ..Script::default()
    };
    faulty.script("a", [slow, next]);
    host.connect(keeping("a")).await.unwrap();
    let refresh = host.refresh("a");
    let crash = async {
        sleep(ms(10)).await;
        faulty.newest("a").crash();
        settle().await;
        assert!(names(&host).is_empty(), "a lost session publishes nothing");
    };
    let (refreshed, ()) = tokio::join!(refresh, crash);
    assert!(refreshed.is_err());
    sleep(ms(30_000)).await;
    assert_eq!(names(&host), ["mcp/a/new"]);
    faulty.check();
}

/// H5: the tools of a server are gone with the beginning of its end, not with its end.
#[tokio::test(start_paused = true)]
async fn closing_server_offers_nothing() {
    let (faulty, host) = world();
    let slow = Script {
        end: ms(3_000),
        ..Script::default()
    };
    faulty.script("a", [slow]);
    up(&host, "a").await;
    let during = async {
        settle().await;
        assert_eq!(state(&host, "a"), Some(ServerState::Closing));
        assert!(names(&host).is_empty());
        let refused = host.refresh("a").await.unwrap_err();
        assert!(matches!(refused, HostError::NotNow { .. }), "{refused:?}");
        let error = host
            .call("mcp/a/one", crate::Arguments::text("{}"))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("being torn down"), "{error}");
        assert_eq!(error.outcome(), crate::Outcome::NotSent);
    };
    let (ended, ()) = tokio::join!(host.disconnect("a"), during);
    ended.unwrap();
}

/// H5: a refresh that is asked for is read after it was asked for, and published before it is answered.
#[tokio::test(start_paused = true)]
async fn refresh_is_published_before_it_is_answered() {
    let (faulty, host) = world();
    up(&host, "a").await;
    let child = faulty.newest("a");
    child.change(&["old"]);
    sleep(ms(5)).await;
    child.change(&["new"]);
    host.refresh("a").await.unwrap();
    assert_eq!(names(&host), ["mcp/a/new"]);
    let unknown = host.refresh("b").await.unwrap_err();
    assert!(matches!(unknown, HostError::NotRegistered { .. }));
}

/// H5: `catalog: "frozen"` pins the tools until the next connect.
#[tokio::test(start_paused = true)]
async fn frozen_catalog_is_pinned_until_the_next_connect() {
    let (faulty, host) = world();
    let next = Script {
        tools: vec!["new"],
        ..Script::default()
    };
    faulty.script("a", [Script::default(), next]);
    let frozen = entry("a")
        .catalog(CatalogMode::Frozen)
        .reconnect(Reconnect::On);
    host.connect(frozen.build().unwrap()).await.unwrap();
    faulty.newest("a").change(&["other"]);
    sleep(ms(1_000)).await;
    assert_eq!(faulty.newest("a").readings(), 0);
    assert!(matches!(
        host.refresh("a").await,
        Err(HostError::Frozen { .. })
    ));
    assert_eq!(names(&host).len(), 2);
    faulty.newest("a").crash();
    sleep(ms(10_000)).await;
    assert_eq!(names(&host), ["mcp/a/new"]);
}
