//! Restarts (H3), and new configurations.

use super::faulty::Ending;
use super::*;

fn slow_end() -> Script {
    Script {
        end: ms(1_000),
        ..Script::default()
    }
}

/// H3: a restart under the same id replaces the server; the old child is gone before the new one starts.
#[tokio::test(start_paused = true)]
async fn restart_replaces_the_server() {
    let (faulty, host) = world();
    faulty.script("a", [slow_end(), Script::default()]);
    up(&host, "a").await;
    host.restart("a", entry("a").name_prefix("other").build().unwrap())
        .await
        .unwrap();
    assert_eq!(names(&host), ["other/one", "other/two"]);
    assert_eq!(faulty.children("a").len(), 2);
    // What it left is free.
    host.connect(entry("b").name_prefix("mcp/a").build().unwrap())
        .await
        .unwrap();
    faulty.check();
}

/// H3: what a restart moves to is checked before anything is torn down, and the server stays up where it is refused.
#[tokio::test(start_paused = true)]
async fn refused_restart_tears_nothing_down() {
    let (faulty, host) = world();
    up(&host, "a").await;
    up(&host, "b").await;
    let taken = host.restart("a", config("b")).await.unwrap_err();
    assert!(matches!(taken, HostError::Taken { .. }), "{taken:?}");
    let meets = entry("a").name_prefix("mcp/b/x").build().unwrap();
    let meets = host.restart("a", meets).await.unwrap_err();
    assert!(matches!(meets, HostError::PrefixMeets { .. }), "{meets:?}");
    let unknown = host.restart("c", config("c")).await.unwrap_err();
    assert!(
        matches!(unknown, HostError::NotRegistered { .. }),
        "{unknown:?}"
    );
    assert_eq!(state(&host, "a"), Some(ServerState::Up));
    assert_eq!(faulty.children("a").len(), 1);
    // Nothing stayed claimed.
    host.connect(entry("c").name_prefix("mcp/c").build().unwrap())
        .await
        .unwrap();
}

/// H3: from its checks through its connect a restart holds the id and the prefix that it moves to; refusals name it.
#[tokio::test(start_paused = true)]
async fn restart_holds_what_it_moves_to() {
    let (faulty, host) = world();
    faulty.script("a", [slow_end()]);
    up(&host, "a").await;
    let others = async {
        sleep(ms(500)).await;
        let taken = host.connect(config("b")).await.unwrap_err().to_string();
        assert!(
            taken.contains("a restart of MCP server \"a\" moves it to this id"),
            "{taken}"
        );
        let meets = entry("c").name_prefix("mcp/b").build().unwrap();
        let meets = host.connect(meets).await.unwrap_err().to_string();
        assert!(meets.contains("the restart of MCP server \"a\""), "{meets}");
        let again = host.restart("a", config("a")).await.unwrap_err();
        assert!(matches!(again, HostError::NotNow { .. }), "{again:?}");
    };
    let (restarted, ()) = tokio::join!(host.restart("a", config("b")), others);
    restarted.unwrap();
    assert_eq!(names(&host), ["mcp/b/one", "mcp/b/two"]);
    assert_eq!(state(&host, "a"), None);
    up(&host, "a").await;
    faulty.check();
}

/// H3: a disconnect of the id that a restart moves to ends the restart, which says first that the server is down.
#[tokio::test(start_paused = true)]
async fn disconnect_of_the_id_that_a_restart_moves_to_ends_it() {
    // During the teardown, and during the connect.
    for during in [500, 1_010] {
        let (faulty, host) = world();
        faulty.script("a", [slow_end()]);
        up(&host, "a").await;
        let disconnect = async {
            sleep(ms(during)).await;
            host.disconnect("b").await.unwrap();
        };
        let (restarted, ()) = tokio::join!(host.restart("a", config("b")), disconnect);
        let error = restarted.unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("MCP server \"a\" is down: it was disconnected for its restart"),
            "{text}"
        );
        assert!(
            matches!(&error, HostError::RestartFailed { cause, .. } if matches!(**cause, HostError::Ended { .. }))
        );
        assert!(faulty.alive().is_empty());
        assert!(host.status().is_empty(), "{:?}", host.status());
        up(&host, "b").await;
        faulty.check();
    }
}

/// H3: a restart whose connect fails says first that the server is down.
#[tokio::test(start_paused = true)]
async fn restart_whose_connect_fails_says_that_the_server_is_down() {
    let (faulty, host) = world();
    up(&host, "a").await;
    let failing = Script {
        ending: Ending::Fails,
        ..Script::default()
    };
    faulty.script("b", [failing]);
    let error = host.restart("a", config("b")).await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("MCP server \"a\" is down: it was disconnected for its restart, and the restart failed: MCP server \"b\""), "{text}");
    assert_eq!(state(&host, "a"), None);
    assert_eq!(state(&host, "b"), Some(ServerState::Down));
}

/// H3, H1: a restart whose old child cannot be reaped starts nothing, and gives up what it claimed.
#[tokio::test(start_paused = true)]
async fn restart_with_an_unreapable_child_starts_nothing() {
    let (faulty, host) = world();
    let deaf = Script {
        unreapable: 1,
        ..Script::default()
    };
    faulty.script("a", [deaf]);
    up(&host, "a").await;
    let error = host.restart("a", config("b")).await.unwrap_err();
    assert!(
        matches!(&error, HostError::RestartFailed { cause, .. } if matches!(**cause, HostError::Unreaped { .. }))
    );
    assert!(faulty.children("b").is_empty());
    assert_eq!(state(&host, "a"), Some(ServerState::Unreaped));
    up(&host, "b").await;
    host.disconnect("a").await.unwrap();
}

/// H3: a restart is refused while a connect of its server is in flight.
#[tokio::test(start_paused = true)]
async fn restart_during_a_connect_is_refused() {
    let (_, host) = world();
    let restart = async {
        settle().await;
        host.restart("a", config("b")).await.unwrap_err()
    };
    let (connected, refused) = tokio::join!(host.connect(config("a")), restart);
    connected.unwrap();
    assert!(matches!(refused, HostError::NotNow { .. }), "{refused:?}");
    up(&host, "b").await;
}

/// K12, H6: a new configuration touches only what differs; one whose entries meet changes nothing.
#[tokio::test(start_paused = true)]
async fn apply_touches_only_what_differs() {
    let (faulty, host) = world();
    for id in ["same", "gone", "changed", "moves", "follows"] {
        up(&host, id).await;
    }
    let bad = vec![
        config("same"),
        entry("new").name_prefix("mcp/same/x").build().unwrap(),
    ];
    assert!(host.apply(bad).await.is_err());
    assert_eq!(host.status().len(), 5);

    let prefixed = |id: &str, prefix: &str| entry(id).name_prefix(prefix).build().unwrap();
    let wanted = vec![
        config("same"),
        entry("changed").exclude(["x"]).build().unwrap(),
        config("new"),
        // Two that change places.
        prefixed("moves", "mcp/follows"),
        prefixed("follows", "mcp/moves"),
    ];
    let applied = host.apply(wanted).await.unwrap();
    assert!(applied.failed.is_empty(), "{:?}", applied.failed);
    assert_eq!(applied.disconnected, ["gone"]);
    assert_eq!(applied.restarted, ["changed"]);
    assert_eq!(applied.connected, ["new", "moves", "follows"]);
    assert_eq!(faulty.children("same").len(), 1);
    assert_eq!(
        host.tools().flow("mcp/moves/one").unwrap().server(),
        "follows"
    );
    faulty.check();
}
