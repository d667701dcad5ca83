//! What a client can size.

use std::time::Duration;

use super::{Front, HttpLimits, event, modern_headers, plain};

/// L1, L6: at the limit and one past it.
#[tokio::test]
async fn a_body_past_the_bound_is_refused() {
    let body = super::modern("tools/list", "");
    let limits = HttpLimits {
        max_body_bytes: body.len(),
        ..HttpLimits::default()
    };
    let front = Front::with(limits);
    let headers = modern_headers("tools/list");
    assert_eq!(front.post(&headers, &body).await.status(), 200);
    assert_eq!(
        front.post(&headers, &format!("{body} ")).await.status(),
        413
    );
}

/// L6: a session that nobody is connected to makes room; one that is in use does not.
#[tokio::test(start_paused = true)]
async fn sessions_are_bounded() {
    let limits = HttpLimits {
        max_sessions: 2,
        ..HttpLimits::default()
    };
    let front = Front::with(limits);
    let one = front.session("2025-11-25").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let two = front.session("2025-11-25").await;
    let listening = front.listen(&one, None).await;
    let three = front.session("2025-11-25").await;
    assert_eq!(
        front.in_session(&two, &plain(1, "ping")).await.status(),
        404
    );
    let running = front.in_session(&three, &plain(1, "test/never")).await;
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
    assert_eq!(front.post(&[], body).await.status(), 503);
    drop(listening);
    assert_eq!(front.post(&[], body).await.status(), 200);
    assert_eq!(
        front.in_session(&one, &plain(1, "ping")).await.status(),
        404
    );
    drop(running);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_uses_ends() {
    let front = Front::new();
    let one = front.session("2025-11-25").await;
    let two = front.session("2025-11-25").await;
    tokio::time::sleep(Duration::from_secs(1_700)).await;
    assert_eq!(
        front.in_session(&one, &plain(1, "ping")).await.status(),
        200
    );
    tokio::time::sleep(Duration::from_secs(200)).await;
    front.session("2025-11-25").await;
    assert_eq!(
        front.in_session(&one, &plain(1, "ping")).await.status(),
        200
    );
    assert_eq!(
        front.in_session(&two, &plain(1, "ping")).await.status(),
        404
    );
}

/// L6: what nobody fetches is dropped, the oldest first; answers stay.
#[tokio::test(start_paused = true)]
async fn what_nobody_fetches_is_bounded() {
    let front = Front::new();
    let id = front.session("2025-11-25").await;
    let session = front.service.session();
    for _ in 0..10_000 {
        session.notify("notifications/x", None).unwrap();
    }
    let long = crate::tests::json(&format!("\"{}\"", "x".repeat(1 << 20)));
    for _ in 0..100 {
        session.notify("notifications/long", Some(&long)).unwrap();
    }
    let mut body = front.listen(&id, None).await.into_body();
    let mut bytes = 0;
    let mut events = 0;
    loop {
        let event = event(&mut body).await.unwrap();
        if event == ":\n\n" {
            break;
        }
        bytes += event.len();
        events += 1;
    }
    assert_eq!(events, 256);
    assert!(bytes < 17 << 20);
    // Streams that are over and were never read.
    for at in 0..40 {
        drop(front.in_session(&id, &plain(at, "test/slow")).await);
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    let kept = async |stream: u32| {
        let place = format!("{stream}-0");
        front.listen(&id, Some(&place)).await.status() == 200
    };
    let mut streams = 0;
    for stream in 1..100 {
        streams += usize::from(kept(stream).await);
    }
    assert_eq!(streams, 16);
}
