//! One owner per id (H1), and names that never meet (H6).

use super::*;

/// H1: a disconnect during a handshake ends it at once, and the id is free once the child is gone.
#[tokio::test(start_paused = true)]
async fn disconnect_during_a_handshake_ends_it_at_once() {
    let (faulty, host) = world();
    let slow = Script {
        handshake: ms(8_000),
        end: ms(300),
        ..Script::default()
    };
    faulty.script("a", [slow, Script::default()]);
    let begun = Instant::now();
    let connect = async {
        let result = host.connect(config("a")).await;
        (result, begun.elapsed())
    };
    let disconnect = async {
        sleep(ms(100)).await;
        host.disconnect("a").await.unwrap();
        begun.elapsed()
    };
    let ((connected, ended), gone) = tokio::join!(connect, disconnect);
    let ended_by = EndedBy::Disconnect;
    assert!(matches!(connected, Err(HostError::Ended { by, .. }) if by == ended_by));
    assert!(ended < ms(110), "{ended:?}");
    assert!(gone >= ms(400), "the exit was not waited for: {gone:?}");
    assert!(faulty.alive().is_empty());
    assert_eq!(state(&host, "a"), None);
    up(&host, "a").await;
    faulty.check();
}

/// H1: a second connect is refused, in words that say why: while the first is in flight, up, and being torn down.
#[tokio::test(start_paused = true)]
async fn second_connect_is_refused_in_words() {
    let (faulty, host) = world();
    let refused = async |expected: &str| {
        let error = host.connect(config("a")).await.unwrap_err();
        assert!(matches!(error, HostError::Taken { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    let second = async {
        settle().await;
        refused("a connect in flight").await;
    };
    let (first, ()) = tokio::join!(host.connect(config("a")), second);
    first.unwrap();
    refused("registered already").await;
    let third = async {
        settle().await;
        refused("being torn down").await;
    };
    let (ended, ()) = tokio::join!(host.disconnect("a"), third);
    ended.unwrap();
    assert_eq!(faulty.children("a").len(), 1);
    faulty.check();
}

/// H1: a connect whose session is over when its list was read fails so, and leaves nothing.
#[tokio::test(start_paused = true)]
async fn connect_that_is_lost_while_its_tools_are_listed_fails_so() {
    let (faulty, host) = world();
    let lost = Script {
        ending: faulty::Ending::LostMeanwhile,
        ..Script::default()
    };
    faulty.script("a", [lost]);
    let error = host.connect(config("a")).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("lost while its tools were being listed"),
        "{error}"
    );
    assert!(faulty.alive().is_empty());
    assert!(names(&host).is_empty());
    assert_eq!(state(&host, "a"), Some(ServerState::Down));
}

/// H1: a child that outlives SIGKILL holds the id, without tools, until a retried disconnect confirms that it is gone.
#[tokio::test(start_paused = true)]
async fn unreapable_child_holds_the_id_until_a_disconnect_confirms() {
    let (faulty, host, alerts) = alerted();
    let deaf = Script {
        unreapable: 2,
        ..Script::default()
    };
    faulty.script("a", [deaf, Script::default()]);
    up(&host, "a").await;
    for _ in 0..2 {
        let error = host.disconnect("a").await.unwrap_err();
        assert!(matches!(error, HostError::Unreaped { .. }), "{error:?}");
        let text = error.to_string();
        assert!(
            text.contains("stdio child 7 of MCP server \"a\" did not exit"),
            "{text}"
        );
        assert_eq!(state(&host, "a"), Some(ServerState::Unreaped));
        assert!(names(&host).is_empty());
        let refused = host.connect(config("a")).await.unwrap_err();
        assert!(
            refused.to_string().contains("could not be reaped"),
            "{refused}"
        );
    }
    assert_eq!(alerts.told(), [("a".to_owned(), Outlook::Held)]);
    host.disconnect("a").await.unwrap();
    assert_eq!(state(&host, "a"), None);
    up(&host, "a").await;
    faulty.check();
}

/// H1: a connect that fails and whose child cannot be reaped is held the same way.
#[tokio::test(start_paused = true)]
async fn failed_connect_with_an_unreapable_child_holds_the_id() {
    let (faulty, host) = world();
    let script = Script {
        ending: faulty::Ending::Fails,
        unreapable: 1,
        ..Script::default()
    };
    faulty.script("a", [script]);
    let error = host.connect(keeping("a")).await.unwrap_err();
    assert!(matches!(error, HostError::Unreaped { .. }), "{error:?}");
    sleep(ms(1_000_000)).await;
    assert_eq!(
        faulty.children("a").len(),
        1,
        "nothing is started beside it"
    );
    host.disconnect("a").await.unwrap();
    assert_eq!(state(&host, "a"), None);
}

/// H1: disconnects at the same time share one end; a disconnect of what is not there says so.
#[tokio::test(start_paused = true)]
async fn disconnects_share_one_end() {
    let (_, host) = world();
    up(&host, "a").await;
    let (one, two) = tokio::join!(host.disconnect("a"), host.disconnect("a"));
    one.unwrap();
    two.unwrap();
    let error = host.disconnect("a").await.unwrap_err();
    assert!(matches!(error, HostError::NotRegistered { .. }));
}

/// T6, H1: a dial that hears nothing is let go of at once, and ended by force.
#[tokio::test(start_paused = true)]
async fn close_during_a_dial_does_not_wait_for_it() {
    let (faulty, host) = world();
    let stuck = Script {
        ending: faulty::Ending::Stuck,
        ..Script::default()
    };
    faulty.script("a", [stuck]);
    let begun = Instant::now();
    let disconnect = async {
        settle().await;
        host.disconnect("a").await
    };
    let connect = async {
        let result = host.connect(config("a")).await;
        (result, begun.elapsed())
    };
    let ((connected, after), ended) = tokio::join!(connect, disconnect);
    assert!(matches!(connected, Err(HostError::Ended { .. })));
    assert!(after < ms(10));
    ended.unwrap();
    assert!(faulty.alive().is_empty());
}

/// H6: equal and nested prefixes are refused at a connect, whoever came first; the words name the other server.
#[tokio::test(start_paused = true)]
async fn prefixes_that_meet_are_refused_at_connect() {
    let (faulty, host) = world();
    host.connect(entry("a").name_prefix("x").build().unwrap())
        .await
        .unwrap();
    for prefix in ["x", "x/y"] {
        let nested = entry("b").name_prefix(prefix).build().unwrap();
        let error = host.connect(nested).await.unwrap_err();
        assert!(matches!(error, HostError::PrefixMeets { .. }));
        assert!(error.to_string().contains("\"a\""), "{error}");
    }
    assert!(faulty.children("b").is_empty());
    host.disconnect("a").await.unwrap();
    host.connect(entry("b").name_prefix("x/y").build().unwrap())
        .await
        .unwrap();
    let outer = entry("a").name_prefix("x").build().unwrap();
    assert!(matches!(
        host.connect(outer).await,
        Err(HostError::PrefixMeets { .. })
    ));
}

/// H8: a hundred servers come up side by side; one that is stuck delays none, and costs only itself.
#[tokio::test(start_paused = true)]
async fn stuck_server_delays_no_other() {
    let (faulty, host) = world();
    let stuck = Script {
        ending: faulty::Ending::Stuck,
        ..Script::default()
    };
    faulty.script("s0", [stuck]);
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for index in 0..100 {
        let host = host.clone();
        tasks.spawn(async move {
            let id = format!("s{index}");
            let connected = host.connect(config(&id)).await;
            (index, connected.is_ok())
        });
    }
    for _ in 0..99 {
        let (index, connected) = tasks.join_next().await.unwrap().unwrap();
        assert!(index > 0 && connected);
    }
    assert!(begun.elapsed() < ms(50), "{:?}", begun.elapsed());
    assert_eq!(host.tools().flows().count(), 198);
    faulty.newest("s5").crash();
    settle().await;
    assert_eq!(host.tools().flows().count(), 196);
    assert_eq!(state(&host, "s0"), Some(ServerState::Connecting));
    host.stop(BUDGET).await.unwrap();
    assert!(faulty.alive().is_empty());
    faulty.check();
}

/// H1: once a disconnect has said so, id and prefix are free, on any number of threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn id_is_free_once_a_disconnect_has_said_so() {
    let (faulty, host) = world();
    let quick = Script::at_once();
    for id in ["a", "b"] {
        faulty.script(id, [quick.clone()]);
    }
    let mut tasks = JoinSet::new();
    for id in ["a", "b"] {
        let host = host.clone();
        tasks.spawn(async move {
            for _ in 0..300 {
                up(&host, id).await;
                host.disconnect(id).await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    host.stop(BUDGET).await.unwrap();
    faulty.check();
}
