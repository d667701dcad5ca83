//! How many exchanges are under way at once.

use super::super::limits::{MAX_IN_FLIGHT, MAX_SIDE_IN_FLIGHT};
use super::*;

/// L6: past the bound requests wait in order; a notification does not wait behind them; one that waits was not handed
/// to anybody.
#[tokio::test]
async fn requests_past_the_bound_wait_and_notifications_do_not() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::Hang]);
    let mut http = StreamableHttp::new(modern(&peer.url("/")));
    let most = u64::try_from(MAX_IN_FLIGHT).unwrap();
    for key in 0..most + 2 {
        http.post(post(key, PostKind::Request));
    }
    for key in 0..most {
        dispatched(&mut http, key).await;
    }
    nothing(&mut http, Duration::from_millis(50)).await;
    assert!(!is_dispatched(most));
    http.post(post(most + 2, PostKind::Notification));
    dispatched(&mut http, most + 2).await;
    assert_eq!(http.hang_up(most), Handed::No);
    assert_eq!(http.hang_up(0), Handed::Yes);
    dispatched(&mut http, most + 1).await;
}

/// L6: notifications and replies are bounded too.
#[tokio::test]
async fn notifications_past_the_bound_wait() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::Hang]);
    let mut http = StreamableHttp::new(modern(&peer.url("/")));
    for key in 0..=u64::try_from(MAX_SIDE_IN_FLIGHT).unwrap() {
        http.post(post(key, PostKind::Reply));
    }
    for key in 0..u64::try_from(MAX_SIDE_IN_FLIGHT).unwrap() {
        dispatched(&mut http, key).await;
    }
    nothing(&mut http, Duration::from_millis(50)).await;
    assert_eq!(peer.requests().len(), MAX_SIDE_IN_FLIGHT);
}
