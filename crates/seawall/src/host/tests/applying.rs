//! A configuration that is applied while something else is under way.

use super::*;

fn slow_to_end() -> Script {
    Script {
        end: ms(1_000),
        ..Script::default()
    }
}

fn ids(host: &Host) -> Vec<String> {
    let all = host.status().into_iter();
    all.map(|status| status.server).collect()
}

/// H3: an entry that changed while its first connect is in flight is connected by the new one.
#[tokio::test(start_paused = true)]
async fn entry_that_changed_during_its_first_connect_is_applied() {
    let (faulty, host) = world();
    let slow = Script {
        handshake: ms(8_000),
        ..Script::default()
    };
    faulty.script("a", [slow, Script::default()]);
    let applying = async {
        settle().await;
        let changed = entry("a").name_prefix("new").build().unwrap();
        host.apply(vec![changed]).await.unwrap()
    };
    let (connected, applied) = tokio::join!(host.connect(config("a")), applying);
    assert!(matches!(connected, Err(HostError::Ended { .. })));
    assert!(applied.failed.is_empty(), "{applied:?}");
    assert_eq!(names(&host), ["new/one", "new/two"]);
    faulty.check();
}

/// H1: two configurations at once come out as the later one, never as a mixture.
#[tokio::test(start_paused = true)]
async fn configurations_are_applied_one_after_the_other() {
    let (faulty, host) = world();
    faulty.script("x", [slow_to_end()]);
    up(&host, "x").await;
    let first = host.apply(vec![config("a"), config("b")]);
    let second = async {
        settle().await;
        host.apply(vec![config("b"), config("c")]).await
    };
    let (first, second) = tokio::join!(first, second);
    let first = first.unwrap();
    assert_eq!(first.connected, ["b"]);
    // Its connect was under way when the later one, which does not have it, was applied.
    assert!(matches!(&*first.failed, [HostError::Ended { server, .. }] if &**server == "a"));
    let second = second.unwrap();
    assert_eq!(
        (second.connected, second.disconnected),
        (vec!["c".to_owned()], vec!["a".to_owned()])
    );
    assert_eq!(ids(&host), ["b", "c"]);
}

/// H1: what is being disconnected is connected again where the configuration has it.
#[tokio::test(start_paused = true)]
async fn server_that_is_being_disconnected_comes_back_by_a_configuration() {
    let (faulty, host) = world();
    faulty.script("x", [slow_to_end()]);
    up(&host, "x").await;
    let apply = async {
        settle().await;
        host.apply(vec![config("x")]).await.unwrap()
    };
    let (gone, applied) = tokio::join!(host.disconnect("x"), apply);
    gone.unwrap();
    assert_eq!(applied.restarted, ["x"]);
    assert_eq!(state(&host, "x"), Some(ServerState::Up));
    faulty.check();
}

/// H8: servers that take their time to come up, one that is new and one that changed, hold up no later configuration.
#[tokio::test(start_paused = true)]
async fn slow_connects_hold_up_no_later_configuration() {
    let (faulty, host) = world();
    let slow = Script {
        handshake: ms(300_000),
        ..Script::default()
    };
    faulty.script("new", [slow.clone()]);
    faulty.script("changed", [Script::default(), slow]);
    up(&host, "changed").await;
    let changed = entry("changed").name_prefix("other").build().unwrap();
    let first = host.apply(vec![config("new"), changed]);
    let begun = Instant::now();
    let second = async {
        sleep(ms(1_000)).await;
        let applied = host.apply(vec![config("b")]).await.unwrap();
        assert!(begun.elapsed() < ms(3_000), "{:?}", begun.elapsed());
        applied
    };
    let (first, second) = tokio::join!(first, second);
    let ended = first.unwrap().failed;
    assert_eq!(ended.len(), 2, "{ended:?}");
    assert_eq!(second.connected, ["b"]);
    assert_eq!(second.disconnected, ["changed", "new"]);
    assert!(second.failed.is_empty(), "{second:?}");
    assert_eq!(ids(&host), ["b"]);
    faulty.check();
}

/// H3: a restart that a configuration began and that has not moved its server yet is overtaken by the next one.
#[tokio::test(start_paused = true)]
async fn restart_of_one_configuration_is_overtaken_by_the_next() {
    let (faulty, host) = world();
    faulty.script("a", [slow_to_end(), Script::default()]);
    up(&host, "a").await;
    let with = |prefix: &str| vec![entry("a").name_prefix(prefix).build().unwrap()];
    let later = async {
        settle().await;
        host.apply(with("later")).await.unwrap()
    };
    let (first, later) = tokio::join!(host.apply(with("first")), later);
    assert!(later.failed.is_empty(), "{later:?}");
    assert_eq!(later.restarted, ["a"]);
    let ended = first.unwrap().failed;
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_eq!(names(&host), ["later/one", "later/two"]);
    faulty.check();
}
