//! Restarts that move a server to another id: what others see meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// H3, H4: at no moment is a server without an id that a stop would end it by.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn server_is_never_without_an_id() {
    let (faulty, host) = world();
    let quick = Script::at_once();
    for id in ["a", "b"] {
        faulty.script(id, [quick.clone()]);
    }
    up(&host, "a").await;
    let (looking, done) = (host.clone(), Arc::new(AtomicBool::new(false)));
    let until = Arc::clone(&done);
    let looks = std::thread::spawn(move || {
        let mut missed = 0;
        while !until.load(Ordering::Relaxed) {
            missed += usize::from(looking.status().len() != 1);
        }
        missed
    });
    for _ in 0..1_000 {
        host.restart("a", config("b")).await.unwrap();
        host.restart("b", config("a")).await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    assert_eq!(looks.join().unwrap(), 0);
    faulty.check();
}

/// H7: a server that moves to the id of one that is down is shown once.
#[tokio::test(start_paused = true)]
async fn server_that_moves_to_the_id_of_one_that_is_down_is_shown_once() {
    let (faulty, host) = world();
    let fails = Script {
        ending: faulty::Ending::Fails,
        ..Script::default()
    };
    faulty.script("b", [fails, Script::default()]);
    host.connect(config("b")).await.unwrap_err();
    up(&host, "a").await;
    host.restart("a", config("b")).await.unwrap();
    let shown: Vec<_> = host
        .status()
        .into_iter()
        .map(|status| (status.server, status.state))
        .collect();
    assert_eq!(shown, [("b".to_owned(), ServerState::Up)]);
}

/// H7: the id that a restart leaves is told gone, before the connect by the new one.
#[tokio::test(start_paused = true)]
async fn id_that_a_restart_leaves_is_told_gone() {
    let (_, host) = world();
    up(&host, "a").await;
    let mut events = host.events();
    host.restart("a", config("b")).await.unwrap();
    let mut told = Vec::new();
    while told.len() < 2 {
        let Some(Heard::Event(event)) = events.next().await else {
            panic!("nothing more is told: {told:?}");
        };
        told.push((event.server.to_string(), event.kind));
    }
    assert!(
        matches!(&told[0], (id, EventKind::Gone) if id == "a"),
        "{told:?}"
    );
    assert!(
        matches!(&told[1], (id, EventKind::Connecting { .. }) if id == "b"),
        "{told:?}"
    );
}
