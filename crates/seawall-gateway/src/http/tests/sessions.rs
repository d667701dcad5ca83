//! The revisions with a handshake: sessions and their streams.

use std::time::Duration;

use seawall_proto::server::NotSent;

use super::{Front, answer, event, json_of, plain, refused, text_of};

#[tokio::test]
async fn a_session_begins_is_used_and_ends() {
    let front = Front::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let id = front.session(revision).await;
        assert_eq!(id.len(), 32);
        let headers = [("mcp-session-id", &*id), ("mcp-protocol-version", revision)];
        let response = front.post(&headers, &plain(1, "tools/list")).await;
        assert_eq!(text_of(response).await, answer(1));
        let response = front.in_session(&id, &plain(2, "ping")).await;
        assert_eq!(
            text_of(response).await,
            r#"{"jsonrpc":"2.0","id":2,"result":{}}"#
        );
        let session = front.service.session();
        assert_eq!(front.send("DELETE", &headers, "").await.status(), 204);
        assert!(session.is_closed());
        assert_eq!(session.notify("x", None), Err(NotSent::Closed));
        for response in [
            front.in_session(&id, &plain(3, "ping")).await,
            front.listen(&id, None).await,
            front.send("DELETE", &headers, "").await,
        ] {
            assert_eq!(refused(response).await, (404, -32600));
        }
    }
}

#[tokio::test]
async fn what_has_no_session_is_refused() {
    let front = Front::new();
    let response = front.post(&[], &plain(1, "tools/list")).await;
    assert_eq!(refused(response).await, (400, -32600));
    let response = front.in_session("nobody", &plain(1, "tools/list")).await;
    assert_eq!(refused(response).await, (404, -32600));
    let wrong = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let response = front.post(&[], wrong).await;
    assert!(!response.headers().contains_key("mcp-session-id"));
    assert_eq!(refused(response).await, (200, -32602));
}

/// T3 from the other side: the version, once negotiated, is one of a session's.
#[tokio::test]
async fn an_unsupported_version_header_is_refused() {
    let front = Front::new();
    let id = front.session("2025-11-25").await;
    let headers = [
        ("mcp-session-id", &*id),
        ("mcp-protocol-version", "2025-12-31"),
    ];
    let response = front.post(&headers, &plain(1, "tools/list")).await;
    assert_eq!(response.status(), 400);
}

/// The newest revision with a handshake tells a place first; clients of earlier ones stumble over that.
#[tokio::test(start_paused = true)]
async fn a_slow_answer_becomes_a_stream() {
    let front = Front::new();
    for (revision, primed) in [("2025-06-18", false), ("2025-11-25", true)] {
        let id = front.session(revision).await;
        let response = front.in_session(&id, &plain(1, "test/slow")).await;
        let mut body = response.into_body();
        if primed {
            let first = event(&mut body).await.unwrap();
            assert!(first.ends_with("-0\nretry: 1000\ndata:\n\n"), "{first}");
        }
        let second = event(&mut body).await.unwrap();
        assert!(second.starts_with("id: "));
        assert!(second.ends_with(&format!("-1\ndata: {}\n\n", answer(1))));
        assert_eq!(event(&mut body).await, None);
    }
}

/// 2025-11-25, `basic/transports`: hanging up is not cancelling, and who comes back gets the rest, once.
#[tokio::test(start_paused = true)]
async fn a_broken_stream_is_resumed_where_it_broke() {
    let front = Front::new();
    let id = front.session("2025-11-25").await;
    let mut body = front
        .in_session(&id, &plain(1, "test/tell"))
        .await
        .into_body();
    event(&mut body).await.unwrap();
    let told = event(&mut body).await.unwrap();
    let place = told
        .lines()
        .next()
        .unwrap()
        .strip_prefix("id: ")
        .unwrap()
        .to_owned();
    drop(body);
    assert_eq!(front.service.running(), 1);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(front.service.running(), 0);
    for _ in 0..2 {
        let mut body = front.listen(&id, Some(&place)).await.into_body();
        assert!(event(&mut body).await.unwrap().contains("\"params\":2"));
        assert!(event(&mut body).await.unwrap().contains(&answer(1)));
        assert_eq!(event(&mut body).await, None);
    }
    for nowhere in ["99-0", "x", "", "1"] {
        let response = front.listen(&id, Some(nowhere)).await;
        assert_eq!(refused(response).await, (400, -32600), "{nowhere}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_was_hung_up_on_comes_back_for_its_answer() {
    let front = Front::new();
    let id = front.session("2025-11-25").await;
    let mut body = front
        .in_session(&id, &plain(1, "test/hang-up"))
        .await
        .into_body();
    let first = event(&mut body).await.unwrap();
    assert_eq!(event(&mut body).await, None);
    let place = first
        .lines()
        .next()
        .unwrap()
        .strip_prefix("id: ")
        .unwrap()
        .to_owned();
    let mut body = front.listen(&id, Some(&place)).await.into_body();
    assert!(event(&mut body).await.unwrap().contains(&answer(1)));
    let id = front.session("2025-06-18").await;
    let text = text_of(front.in_session(&id, &plain(1, "test/hang-up")).await).await;
    assert!(
        text.contains(&answer(1)),
        "earlier revisions cannot come back"
    );
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_no_request_is_on_the_stream_of_its_own() {
    let front = Front::new();
    let id = front.session("2025-11-25").await;
    let session = front.service.session();
    session.notify("early", None).unwrap();
    let mut one = front.listen(&id, None).await.into_body();
    assert!(event(&mut one).await.unwrap().contains("early"));
    session.notify("later", None).unwrap();
    assert!(event(&mut one).await.unwrap().contains("later"));
    let mut two = front.listen(&id, Some("0-2")).await.into_body();
    assert_eq!(
        event(&mut one).await,
        None,
        "the newest connection reads it"
    );
    session.notify("last", None).unwrap();
    assert!(event(&mut two).await.unwrap().contains("last"));
    assert_eq!(event(&mut two).await.as_deref(), Some(":\n\n"));
    front.endpoint.close();
    assert_eq!(event(&mut two).await, None);
}

/// S7 from the other side: what a tool asks is on its own stream, and the answer comes with a message of its own.
#[tokio::test(start_paused = true)]
async fn the_client_is_asked_on_the_stream_of_its_request() {
    let front = Front::new();
    let id = front.session("2025-06-18").await;
    let mut body = front
        .in_session(&id, &plain(1, "test/ask"))
        .await
        .into_body();
    assert!(
        event(&mut body)
            .await
            .unwrap()
            .contains(r#""id":1,"method":"roots/list""#)
    );
    let response = front
        .in_session(&id, r#"{"jsonrpc":"2.0","id":1,"result":{"roots" : []}}"#)
        .await;
    assert_eq!(response.status(), 202);
    let answer = event(&mut body).await.unwrap();
    assert!(answer.contains(r#"{"jsonrpc":"2.0","id":1,"result":{"roots" : []}}"#));
    assert_eq!(event(&mut body).await, None);
}

#[tokio::test(start_paused = true)]
async fn what_is_cancelled_ends_without_an_answer() {
    let front = Front::new();
    let id = front.session("2025-06-18").await;
    let mut body = front
        .in_session(&id, &plain(1, "test/never"))
        .await
        .into_body();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(front.in_session(&id, cancel).await.status(), 202);
    assert_eq!(event(&mut body).await, None);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(front.service.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_service_breaks_is_answered() {
    let front = Front::new();
    let id = front.session("2025-11-25").await;
    let response = front.in_session(&id, &plain(1, "test/panic")).await;
    assert_eq!(refused(response).await, (200, -32603));
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_answered_on_one_stream() {
    let front = Front::new();
    let id = front.session("2025-03-26").await;
    let batch = format!("[{},{},3]", plain(1, "tools/list"), plain(2, "test/slow"));
    let text = text_of(front.in_session(&id, &batch).await).await;
    assert!(text.contains(&answer(1)) && text.contains(&answer(2)) && text.contains("-32600"));
    let id = front.session("2025-11-25").await;
    assert_eq!(
        refused(front.in_session(&id, &batch).await).await,
        (400, -32600)
    );
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    assert_eq!(front.in_session(&id, notification).await.status(), 202);
    assert_eq!(*front.service.told.lock().unwrap(), ["notifications/x"]);
    let again = json_of(front.in_session(&id, &plain(2, "ping")).await).await;
    assert_eq!(again["id"], 2);
}
