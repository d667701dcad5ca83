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
    assert_eq!(first.unwrap().connected, ["a", "b"]);
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
