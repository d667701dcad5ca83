use std::time::Duration;

use seawall::Host;
use tokio::time::Instant;

use super::{FIRST_CONNECTS, Gateway, Options, Readiness};

fn gateway(max_calls: usize) -> Gateway {
    let options = Options {
        max_calls,
        ..Options::default()
    };
    Gateway::new(Host::builder().build(), options)
}

/// L6: one call more than there may be is refused, and there is room again when one ends.
#[test]
fn calls_are_bounded() {
    let gateway = gateway(2);
    let first = gateway.begin_call().expect("room");
    let _second = gateway.begin_call().expect("room");
    let refused = gateway.begin_call().expect_err("full");
    assert_eq!(refused, "too many calls are under way through the gateway");
    drop(first);
    drop(gateway.begin_call().expect("room again"));
}

/// H8: a server whose first connect does not come out keeps no client waiting past the gateway's first moments, and the
/// gateway not unready.
#[tokio::test(start_paused = true)]
async fn first_connects_are_waited_for_once() {
    let gateway = gateway(2);
    let begun = Instant::now();
    assert_eq!(gateway.readiness(), Readiness::Starting);
    gateway.begun().await;
    assert_eq!(begun.elapsed(), FIRST_CONNECTS);
    gateway.begun().await;
    assert_eq!(begun.elapsed(), FIRST_CONNECTS);
    assert_eq!(gateway.readiness(), Readiness::Ready);
}

/// G3: an end begins nothing new, and waits for what is under way as long as it may.
#[tokio::test(start_paused = true)]
async fn an_end_waits_for_calls() {
    let gateway = gateway(2);
    gateway.started();
    let call = gateway.begin_call().expect("room");
    assert!(!gateway.drain(Duration::from_secs(5)).await);
    assert_eq!(gateway.begin_call().err(), Some("the gateway is ending"));
    let (ended, ()) = tokio::join!(gateway.drain(Duration::from_secs(5)), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(call);
    });
    assert!(ended);
    // It does not begin again.
    gateway.started();
    assert!(gateway.begin_call().is_err());
}
