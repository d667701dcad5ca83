//! Stops (H4), in every phase.

use super::faulty::Ending;
use super::*;

/// H4: a stop ends a connect in flight at once, and the connect says why.
#[tokio::test(start_paused = true)]
async fn stop_during_a_handshake_ends_the_connect() {
    for ending in [Ending::Never, Ending::Stuck] {
        let (faulty, host) = world();
        let slow = Script {
            handshake: ms(9_000),
            ending,
            ..Script::default()
        };
        faulty.script("a", [slow]);
        let stop = async {
            settle().await;
            host.stop(BUDGET).await
        };
        let (connected, stopped) = tokio::join!(host.connect(config("a")), stop);
        let error = connected.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the host stopped while it was connecting"),
            "{error}"
        );
        stopped.unwrap();
        assert!(faulty.alive().is_empty() && host.status().is_empty());
    }
}

/// H4: servers are ended in parallel: up, being read, waiting, being torn down, and being restarted.
#[tokio::test(start_paused = true)]
async fn stop_ends_every_phase_in_parallel() {
    let (faulty, host) = world();
    let slow = Script {
        end: ms(2_000),
        reading: ms(60_000),
        ..Script::default()
    };
    let ids = ["up", "reading", "closing", "restarting", "waiting"];
    for id in ids {
        faulty.script(id, [slow.clone()]);
    }
    let failing = Script {
        ending: Ending::Fails,
        ..Script::default()
    };
    faulty.script("waiting", [failing]);
    for id in ids {
        host.connect(keeping(id)).await.unwrap();
    }
    let mut tasks = JoinSet::new();
    let (reading, closing, restarting) = (host.clone(), host.clone(), host.clone());
    tasks.spawn(async move { reading.refresh("reading").await });
    tasks.spawn(async move { closing.disconnect("closing").await });
    tasks.spawn(async move { restarting.restart("restarting", config("moved")).await });
    settle().await;
    let begun = Instant::now();
    host.stop(BUDGET).await.unwrap();
    assert!(begun.elapsed() < ms(2_500), "{:?}", begun.elapsed());
    let mut failed = 0;
    while let Some(result) = tasks.join_next().await {
        failed += usize::from(result.unwrap().is_err());
    }
    assert_eq!(failed, 2, "the refresh and the restart were ended");
    assert!(faulty.alive().is_empty() && host.status().is_empty() && names(&host).is_empty());
    faulty.check();
}

/// H4: every operation is refused once a stop has begun.
#[tokio::test(start_paused = true)]
async fn operations_are_refused_once_a_stop_has_begun() {
    let (faulty, host) = world();
    let slow = Script {
        end: ms(1_000),
        ..Script::default()
    };
    faulty.script("a", [slow]);
    up(&host, "a").await;
    let others = async {
        settle().await;
        assert!(matches!(
            host.connect(config("b")).await,
            Err(HostError::Stopping { .. })
        ));
        assert!(matches!(
            host.restart("a", config("b")).await,
            Err(HostError::Stopping { .. })
        ));
        assert!(matches!(
            host.refresh("a").await,
            Err(HostError::Stopping { .. })
        ));
    };
    let (stopped, ()) = tokio::join!(host.stop(BUDGET), others);
    stopped.unwrap();
    assert!(faulty.children("b").is_empty());
}

/// H4: every failure is reported, naming server and child; a later stop tries to reap again.
#[tokio::test(start_paused = true)]
async fn later_stop_reaps_what_an_earlier_one_could_not() {
    let (faulty, host) = world();
    let deaf = Script {
        unreapable: 1,
        ..Script::default()
    };
    faulty.script("a", [deaf.clone()]);
    faulty.script("b", [deaf]);
    for id in ["a", "b", "c"] {
        up(&host, id).await;
    }
    let error = host.stop(BUDGET).await.unwrap_err();
    assert_eq!(error.failures.len(), 2);
    let text = error.to_string();
    for id in ["a", "b"] {
        assert!(
            text.contains(&format!("stdio child 7 of MCP server \"{id}\"")),
            "{text}"
        );
    }
    assert_eq!(faulty.alive(), ["a", "b"]);
    host.stop(BUDGET).await.unwrap();
    assert!(faulty.alive().is_empty() && host.status().is_empty());
    host.stop(BUDGET).await.unwrap();
}

/// H4: a stop ends within its budget, says who did not, and what it began goes on.
#[tokio::test(start_paused = true)]
async fn stop_keeps_to_its_budget() {
    let (faulty, host) = world();
    let slow = Script {
        end: ms(5_000),
        ..Script::default()
    };
    faulty.script("a", [slow]);
    up(&host, "a").await;
    up(&host, "b").await;
    let begun = Instant::now();
    let error = host.stop(ms(1_000)).await.unwrap_err();
    assert!(begun.elapsed() <= ms(1_010));
    assert!(
        matches!(&error.failures[..], [HostError::OutOfTime { .. }]),
        "{error:?}"
    );
    assert!(error.to_string().contains("\"a\""), "{error}");
    host.stop(ms(10_000)).await.unwrap();
    assert!(begun.elapsed() <= ms(5_100), "the end was not begun anew");
    assert!(faulty.alive().is_empty());
}
