//! Staying up (H2), and what is told of it (H7).

use super::faulty::Ending;
use super::*;

fn dying(after: Duration) -> Script {
    Script {
        ending: Ending::Dies(after),
        ..Script::default()
    }
}

/// H2: a lost connection is made again, after the first interval, once its child is gone; the library's default is not.
#[tokio::test(start_paused = true)]
async fn lost_connection_is_made_again_where_the_entry_says_so() {
    let (faulty, host) = world();
    let slow_end = Script {
        end: ms(4_000),
        ..dying(ms(100))
    };
    faulty.script("a", [slow_end, Script::default()]);
    host.connect(keeping("a")).await.unwrap();
    let lost = Instant::now() + ms(100);
    up(&host, "b").await;
    faulty.newest("b").crash();
    sleep(ms(60_000)).await;
    assert_eq!(state(&host, "a"), Some(ServerState::Up));
    let pause = faulty.newest("a").launched() - lost;
    assert!(
        (ms(4_000 + 3_750)..=ms(4_100 + 6_250)).contains(&pause),
        "{pause:?}"
    );
    assert_eq!(state(&host, "b"), Some(ServerState::Down));
    assert_eq!(faulty.children("b").len(), 1);
    faulty.check();
}

/// H2, H7: a server that connects and dies, again and again, backs off further each time and is an incident, told once;
/// 30 s up end it, and the next one is told again.
#[tokio::test(start_paused = true)]
async fn connect_then_die_loop_backs_off_and_alerts_once() {
    let (faulty, host, alerts) = alerted();
    faulty.script("a", [dying(ms(1_000))]);
    host.connect(keeping("a")).await.unwrap();
    sleep(ms(250_000)).await;
    let launched: Vec<Instant> = faulty
        .children("a")
        .iter()
        .map(|child| child.launched())
        .collect();
    assert!((5..=8).contains(&launched.len()), "{}", launched.len());
    let pauses: Vec<Duration> = launched.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(
        pauses.windows(2).all(|pair| pair[0] < pair[1]),
        "{pauses:?}"
    );
    assert_eq!(alerts.told(), [("a".to_owned(), Outlook::Retrying)]);

    let mut events = host.events();
    faulty.script("a", [dying(ms(31_000)), dying(ms(1_000))]);
    sleep(ms(3_000_000)).await;
    assert_eq!(alerts.told().len(), 2, "{:?}", alerts.told());
    let mut recovered = 0;
    while let Ok(Some(heard)) = tokio::time::timeout(ms(1), events.next()).await {
        if let Heard::Event(event) = heard {
            recovered += usize::from(matches!(event.kind, EventKind::Recovered));
        }
    }
    assert_eq!(recovered, 1);
    faulty.check();
}

/// H2: a verdict that cannot change halts reconnecting and raises the alert.
#[tokio::test(start_paused = true)]
async fn permanent_verdict_halts_reconnecting() {
    let (faulty, host, alerts) = alerted();
    let refusing = Script {
        ending: Ending::Refuses,
        ..Script::default()
    };
    faulty.script("a", [dying(ms(100)), refusing]);
    host.connect(keeping("a")).await.unwrap();
    sleep(ms(1_000_000)).await;
    assert_eq!(faulty.children("a").len(), 2);
    assert_eq!(state(&host, "a"), Some(ServerState::Down));
    assert_eq!(alerts.told(), [("a".to_owned(), Outlook::Halted)]);
}

/// H2: a child that cannot be reaped halts reconnecting and raises the alert.
#[tokio::test(start_paused = true)]
async fn unreapable_child_halts_reconnecting() {
    let (faulty, host, alerts) = alerted();
    let deaf = Script {
        unreapable: 1,
        ..dying(ms(100))
    };
    faulty.script("a", [deaf, Script::default()]);
    host.connect(keeping("a")).await.unwrap();
    sleep(ms(1_000_000)).await;
    assert_eq!(faulty.children("a").len(), 1);
    assert_eq!(state(&host, "a"), Some(ServerState::Unreaped));
    assert_eq!(alerts.told(), [("a".to_owned(), Outlook::Held)]);
    host.disconnect("a").await.unwrap();
    assert!(faulty.alive().is_empty());
}

/// H2: a disconnect ends the wait for the next attempt, and an attempt that nobody waits for.
#[tokio::test(start_paused = true)]
async fn disconnect_ends_reconnecting() {
    for during in [1_000, 8_000] {
        let (faulty, host) = world();
        let slow = Script {
            handshake: ms(20_000),
            ..Script::default()
        };
        faulty.script("a", [dying(ms(100)), slow]);
        host.connect(keeping("a")).await.unwrap();
        sleep(ms(during)).await;
        host.disconnect("a").await.unwrap();
        let launched = faulty.children("a").len();
        sleep(ms(1_000_000)).await;
        assert_eq!(faulty.children("a").len(), launched);
        assert!(faulty.alive().is_empty());
    }
}

/// H7: events are typed and counted without a gap, in the order of what happened; a slow listener is told what it missed.
#[tokio::test(start_paused = true)]
async fn events_are_sequenced_and_bounded() {
    let (faulty, host) = world();
    let mut events = host.events();
    let mut slow = host.events();
    up(&host, "a").await;
    let mut kinds = Vec::new();
    for expected in 1..=3 {
        let Some(Heard::Event(event)) = events.next().await else {
            panic!("an event");
        };
        assert_eq!((event.sequence, &*event.server), (expected, "a"));
        kinds.push(event.kind);
    }
    assert!(matches!(
        kinds[..],
        [
            EventKind::Connecting { failures: 0 },
            EventKind::Connected { .. },
            EventKind::Published { flows: 2, .. }
        ]
    ));
    for _ in 0..1_100 {
        faulty.newest("a").change(&["one"]);
        sleep(ms(300)).await;
    }
    assert!(matches!(slow.next().await, Some(Heard::Missed(missed)) if missed > 0));
}

/// H7: `status()` tells how each server stands and what failed last.
#[tokio::test(start_paused = true)]
async fn status_tells_how_each_server_stands() {
    let (faulty, host) = world();
    let failing = Script {
        ending: Ending::Fails,
        ..Script::default()
    };
    faulty.script("b", [failing.clone()]);
    faulty.script("c", [failing]);
    up(&host, "a").await;
    host.connect(config("b")).await.unwrap_err();
    let retrying = host.connect(keeping("c")).await.unwrap();
    assert!(matches!(retrying, Connected::Retrying(_)));
    let status = host.status();
    let states: Vec<_> = status
        .iter()
        .map(|status| (status.server.as_str(), status.state))
        .collect();
    let expected = [
        ("a", ServerState::Up),
        ("b", ServerState::Down),
        ("c", ServerState::Waiting),
    ];
    assert_eq!(states, expected);
    assert!(status[1].last_error.is_some() && status[2].failures == 1);
    assert_eq!((status[0].flows, status[0].generation), (2, Some(1)));
    host.disconnect("b").await.unwrap();
    assert_eq!(state(&host, "b"), None);
}

/// H8, H7: a server that announces without end does not push the events of others out of what is kept, and is told lost all
/// the same.
#[tokio::test(start_paused = true)]
async fn flood_of_announcements_leaves_room_for_others() {
    let (faulty, host) = world();
    up(&host, "a").await;
    up(&host, "b").await;
    let mut events = host.events();
    let flood = faulty.newest("a");
    let begun = Instant::now();
    for _ in 0..5_000 {
        flood.announce(crate::Change::Prompts);
        settle().await;
    }
    let windows = begun.elapsed().as_millis() / 250 + 2;
    faulty.newest("b").crash();
    flood.crash();
    settle().await;
    assert!(names(&host).is_empty(), "a lost session offers nothing");
    sleep(ms(1_000)).await;
    let (mut prompts, mut lost) = (0, Vec::new());
    while let Ok(Some(heard)) = tokio::time::timeout(ms(1), events.next()).await {
        let Heard::Event(event) = heard else {
            panic!("nothing is missed: {heard:?}");
        };
        match event.kind {
            EventKind::PromptsChanged => prompts += 1,
            EventKind::Lost { .. } => lost.push(event.server.to_string()),
            _ => {}
        }
    }
    assert!(
        prompts > 8 && prompts <= windows * 8,
        "{prompts} in {windows}"
    );
    lost.sort();
    assert_eq!(lost, ["a", "b"]);
}
