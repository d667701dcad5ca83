//! Sessions of the 2025 revisions over HTTP, from the caller's side (T3, S8, H5).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use seawall::{Arguments, Change};
use seawall_testkit::{HttpAct, HttpPeer};

use super::http_support::*;
use super::*;

/// T3: a session that the server forgot is made anew once, the refused call is said once more, and the change is told.
#[tokio::test]
async fn a_forgotten_session_is_made_anew() {
    let initialized = AtomicUsize::new(0);
    let peer = HttpPeer::start(move |_, request| {
        let method = method_of(request);
        if method == "initialize" {
            initialized.fetch_add(1, Ordering::SeqCst);
        }
        if method == "tools/call" && initialized.load(Ordering::SeqCst) == 1 {
            return vec![HttpAct::answer(404, &["content-type: text/html"], MARKER)];
        }
        honest(Kind::Legacy, request)
    });
    let client = client_of(Kind::Legacy, &peer).await;
    let answers = tokio::join!(
        client.call("t", Arguments::none()),
        client.call("ok", Arguments::none()),
        client.call("ok", Arguments::none()),
    );
    answers.0.expect("answered");
    answers.1.expect("answered");
    answers.2.expect("answered");
    assert_eq!(count(&peer, "initialize"), 2);
    assert!(count(&peer, "tools/call") <= 6);
    assert_eq!(client.changed().await, Some(Change::Tools));
    // The new handshake went without the old session's id.
    let second = peer
        .requests()
        .into_iter()
        .filter(|one| method_of(one) == "initialize")
        .nth(1);
    assert_eq!(second.expect("a second").header("mcp-session-id"), None);
}

/// T3: one that is forgotten again and again is not made anew for ever, and the call was refused each time.
#[tokio::test]
async fn a_session_that_is_always_forgotten() {
    let peer = but_for_t(Kind::Legacy, |_| vec![HttpAct::answer(404, &[], MARKER)]);
    let client = client_of(Kind::Legacy, &peer).await;
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("forgotten");
    assert_eq!(
        verdict_of(&error),
        (
            ErrorCode::ConnectionClosed,
            Outcome::ErrorResponse,
            Some(404)
        )
    );
    assert_eq!(count(&peer, "tools/call"), 2);
    assert_eq!(count(&peer, "initialize"), 2);
    client.call("ok", Arguments::none()).await.expect("goes on");
}

/// A legacy server that knows one session at a time, `s1` first, and refuses with 400 what names none.
fn strict(
    acts: impl Fn(usize, &seawall_testkit::HttpRequest) -> Option<Vec<HttpAct>> + Send + Sync + 'static,
) -> HttpPeer {
    let sessions = AtomicUsize::new(0);
    HttpPeer::start(move |_, request| {
        let method = method_of(request);
        if method == "initialize" {
            let session = sessions.fetch_add(1, Ordering::SeqCst) + 1;
            let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true}}}"#;
            return vec![HttpAct::answer(
                200,
                &[
                    "content-type: application/json",
                    &format!("mcp-session-id: s{session}"),
                ],
                reply_text(request, result),
            )];
        }
        let session = sessions.load(Ordering::SeqCst);
        if let Some(acts) = acts(session, request) {
            return acts;
        }
        match request.header("mcp-session-id") {
            None => vec![HttpAct::answer(400, &[], MARKER)],
            Some(id) if *id != format!("s{session}") => vec![HttpAct::answer(404, &[], MARKER)],
            Some(_) if method.starts_with("resources/") => reply(request, "{}"),
            Some(_) => honest(Kind::Legacy, request),
        }
    })
}

/// T3: a call that lost two sessions is over, and what comes after it has a session all the same.
#[tokio::test]
async fn a_session_that_is_forgotten_twice_is_made_anew() {
    let peer = strict(|session, request| {
        let lost = session < 3 && calls(request, "t");
        lost.then(|| vec![HttpAct::answer(404, &[], MARKER)])
    });
    let client = client_of(Kind::Legacy, &peer).await;
    let error = client.call("t", Arguments::none()).await.expect_err("lost");
    assert_eq!(verdict_of(&error).1, Outcome::ErrorResponse);
    client.call("ok", Arguments::none()).await.expect("goes on");
    assert_eq!(count(&peer, "initialize"), 3);
}

/// T3: a session that is lost before its tools are read is made anew, once; one lost again fails the connect.
#[tokio::test]
async fn a_session_that_is_forgotten_in_the_connect() {
    let lost_in = |sessions: usize| {
        move |session: usize, request: &seawall_testkit::HttpRequest| {
            let lost = session <= sessions && method_of(request) == "tools/list";
            lost.then(|| vec![HttpAct::answer(404, &[], MARKER)])
        }
    };
    let peer = strict(lost_in(1));
    let client = client_of(Kind::Legacy, &peer).await;
    client.call("ok", Arguments::none()).await.expect("goes on");
    assert_eq!(count(&peer, "initialize"), 2);

    let peer = strict(lost_in(usize::MAX));
    let failed = connect_to(&peer, protocol_of(Kind::Legacy)).await;
    let error = failed.expect_err("forgotten twice");
    assert_eq!(verdict_of(&error).2, Some(404));
    assert_eq!(count(&peer, "initialize"), 2);
}

/// T3: what was asked of a session and answered is asked of the one after it too, though nobody took the answer meanwhile.
#[tokio::test]
async fn what_was_answered_before_a_renewal_is_asked_anew() {
    let peer = strict(|session, request| {
        let lost = session == 1 && calls(request, "t");
        lost.then(|| vec![HttpAct::answer(404, &[], MARKER)])
    });
    let client = client_of(Kind::Legacy, &peer).await;
    let uris = ["file:///a".to_owned()];
    let mut subscribing = std::pin::pin!(client.subscribe(&uris));
    tokio::select! {
        biased;
        _ = &mut subscribing => panic!("nobody answered yet"),
        () = std::future::ready(()) => {}
    }
    soon(|| count(&peer, "resources/subscribe") == 1).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    client
        .call("t", Arguments::none())
        .await
        .expect("said again");
    subscribing.await.expect("subscribed");
    let sessions: Vec<_> = peer
        .requests()
        .iter()
        .filter(|request| method_of(request) == "resources/subscribe")
        .map(|request| request.header("mcp-session-id").map(str::to_owned))
        .collect();
    assert_eq!(sessions, [Some("s1".to_owned()), Some("s2".to_owned())]);
}

/// T3: a list that lost two sessions is not read, and what comes after it has a session all the same.
#[tokio::test]
async fn a_session_that_is_forgotten_twice_by_a_list() {
    let listed = AtomicUsize::new(0);
    let peer = strict(move |_, request| {
        let again = method_of(request) == "tools/list"
            && (1..3).contains(&listed.fetch_add(1, Ordering::SeqCst));
        again.then(|| vec![HttpAct::answer(404, &[], MARKER)])
    });
    let client = client_of(Kind::Legacy, &peer).await;
    client.refresh().await.expect_err("lost");
    client.call("ok", Arguments::none()).await.expect("goes on");
    assert_eq!(count(&peer, "initialize"), 3);
}

/// T3: a session that is lost by what was asked of it anew is made anew too, but not as fast as the server forgets.
#[tokio::test]
async fn a_session_that_is_forgotten_at_once() {
    let peer = strict(|session, request| {
        let lost = calls(request, "t") && session == 1
            || method_of(request) == "resources/subscribe" && (2..4).contains(&session);
        lost.then(|| vec![HttpAct::answer(404, &[], MARKER)])
    });
    let client = client_of(Kind::Legacy, &peer).await;
    client
        .subscribe(&["file:///a".to_owned()])
        .await
        .expect("subscribed");
    client
        .call("t", Arguments::none())
        .await
        .expect("said again");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(count(&peer, "initialize") <= 2, "no faster");
    soon(|| count(&peer, "initialize") == 4).await;
    client.call("ok", Arguments::none()).await.expect("goes on");
}

/// T3: what was asked anew and is answered is over: its stream is not resumed.
#[tokio::test]
async fn what_was_asked_anew_is_not_resumed() {
    let peer = strict(|session, request| match method_of(request).as_str() {
        "tools/call" if session == 1 => Some(vec![HttpAct::answer(404, &[], MARKER)]),
        "resources/subscribe" => {
            let event = format!("id: 7\nretry: 100\ndata: {}\n\n", reply_text(request, "{}"));
            Some(stream(&[event.as_bytes()]))
        }
        _ => None,
    });
    let client = client_of(Kind::Legacy, &peer).await;
    client
        .subscribe(&["file:///a".to_owned()])
        .await
        .expect("subscribed");
    client
        .call("t", Arguments::none())
        .await
        .expect("said again");
    soon(|| count(&peer, "resources/subscribe") == 2).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let resumed = |one: &seawall_testkit::HttpRequest| one.header("last-event-id").is_some();
    assert!(!peer.requests().iter().any(resumed));
    client.close().await.expect("closes");
}

/// T3: a handshake that fails while a session is made anew ends what waits for it, in time and in truth.
#[tokio::test]
async fn a_session_that_cannot_be_made_anew() {
    for failure in [
        HttpAct::answer(500, &[], MARKER),
        HttpAct::answer(401, &[], MARKER),
        HttpAct::answer(404, &[], MARKER),
        HttpAct::Close,
    ] {
        let initialized = AtomicUsize::new(0);
        let acts = failure.clone();
        let peer = HttpPeer::start(move |_, request| match method_of(request).as_str() {
            "initialize" if initialized.fetch_add(1, Ordering::SeqCst) > 0 => vec![acts.clone()],
            "tools/call" => vec![HttpAct::answer(404, &[], MARKER)],
            _ => honest(Kind::Legacy, request),
        });
        let client = client_of(Kind::Legacy, &peer).await;
        let call = client
            .call("t", Arguments::none())
            .timeout(Duration::from_secs(5));
        let error = call.await.expect_err("no session");
        let (_, outcome, _) = verdict_of(&error);
        // The call itself was refused, whatever became of the handshake after it.
        assert_eq!(outcome, Outcome::ErrorResponse, "{failure:?}: {error}");
    }
}

/// S8: a call that nobody waits for is cancelled once, by a notification; before it was sent, by nothing.
#[tokio::test]
async fn legacy_cancel() {
    let peer = but_for_t(Kind::Legacy, |_| vec![HttpAct::stream(), HttpAct::Hang]);
    let client = client_of(Kind::Legacy, &peer).await;
    let call = client
        .call("t", Arguments::none())
        .timeout(Duration::from_millis(300));
    let error = call.await.expect_err("too slow");
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::Timeout, Outcome::NoResponse, None)
    );
    soon(|| count(&peer, "notifications/cancelled") == 1).await;
    soon(|| peer.gone() == 1).await;
    // Abandoned by its caller.
    let call = client.call("t", Arguments::none());
    let _ = tokio::time::timeout(Duration::from_millis(300), call).await;
    soon(|| count(&peer, "notifications/cancelled") == 2).await;
    client.call("ok", Arguments::none()).await.expect("goes on");
    client.close().await.expect("closes");
    assert_eq!(count(&peer, "notifications/cancelled"), 2);
    let cancelled = peer
        .requests()
        .into_iter()
        .find(|one| method_of(one) == "notifications/cancelled");
    let asked = peer.requests().into_iter().find(|one| calls(one, "t"));
    let (cancelled, asked) = (cancelled.expect("one"), asked.expect("one"));
    assert_eq!(
        message(&cancelled)["params"]["requestId"],
        message(&asked)["id"]
    );
    assert_eq!(cancelled.header("mcp-session-id"), Some("one"));
}

/// S8: a call that is let go of right before the close is cancelled all the same, and then the session is ended.
#[tokio::test]
async fn cancel_right_before_the_close() {
    let peer = but_for_t(Kind::Legacy, |_| vec![HttpAct::stream(), HttpAct::Hang]);
    let client = client_of(Kind::Legacy, &peer).await;
    let mut call = Box::pin(client.call("t", Arguments::none()));
    let _ = tokio::time::timeout(Duration::from_millis(300), &mut call).await;
    drop(call);
    client.close().await.expect("closes");
    let said = methods(&peer);
    assert_eq!(
        said[said.len() - 2..],
        ["notifications/cancelled", "DELETE"]
    );
}

/// S8: a server that does not take the cancellation delays the close no longer than its bound.
#[tokio::test]
async fn cancel_that_hangs_before_the_close() {
    let peer = HttpPeer::start(|_, request| match method_of(request).as_str() {
        "tools/call" | "notifications/cancelled" | "DELETE" => vec![HttpAct::Hang],
        _ => honest(Kind::Legacy, request),
    });
    let client = client_of(Kind::Legacy, &peer).await;
    let mut call = Box::pin(client.call("t", Arguments::none()));
    let _ = tokio::time::timeout(Duration::from_millis(300), &mut call).await;
    drop(call);
    let began = std::time::Instant::now();
    client.close().await.expect("closes");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(count(&peer, "DELETE"), 1);
}

/// T3: a close says so to the server, once; a drop does not wait for it.
#[tokio::test]
async fn close_deletes_the_session() {
    let peer = HttpPeer::start(|_, request| honest(Kind::Legacy, request));
    let client = client_of(Kind::Legacy, &peer).await;
    client.close().await.expect("closes");
    assert_eq!(count(&peer, "DELETE"), 1);
    client.close().await.expect("again");
    assert_eq!(count(&peer, "DELETE"), 1);
    let error = client
        .call("ok", Arguments::none())
        .await
        .expect_err("closed");
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::ConnectionClosed, Outcome::NotSent, None)
    );

    let stubborn = HttpPeer::start(|_, request| match request.method.as_str() {
        "DELETE" => vec![HttpAct::Hang],
        _ => honest(Kind::Legacy, request),
    });
    let client = client_of(Kind::Legacy, &stubborn).await;
    let began = std::time::Instant::now();
    client.close().await.expect("closes");
    assert!(began.elapsed() < Duration::from_secs(5));
}

/// Dropping the client without a close lets go of everything at once; a call under way ends.
#[tokio::test]
async fn drop_lets_go() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = but_for_t(kind, |_| vec![HttpAct::Hang]);
        let client = client_of(kind, &peer).await;
        let call = client.call("t", Arguments::none());
        drop(client);
        let _ = tokio::time::timeout(Duration::from_millis(200), call).await;
        soon(|| peer.gone() >= 1).await;
    }
}

/// Closing while calls are under way ends them with the truth.
#[tokio::test]
async fn close_ends_calls_under_way() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = but_for_t(kind, |_| vec![HttpAct::Hang]);
        let client = client_of(kind, &peer).await;
        let call = client.call("t", Arguments::none());
        let closing = async {
            soon(|| count(&peer, "tools/call") == 1).await;
            client.close().await.expect("closes");
        };
        let (error, ()) = tokio::join!(call, closing);
        assert_eq!(
            verdict_of(&error.expect_err("closed")),
            (ErrorCode::ConnectionClosed, Outcome::NoResponse, None)
        );
    }
}

/// H5, T3: `list_changed` on the server's own stream is told; the stream is opened again when it ends, and is not spun on.
#[tokio::test]
async fn legacy_list_changed() {
    let peer = HttpPeer::start(|_, request| match request.method.as_str() {
        "GET" => stream(&[
            b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n",
        ]),
        _ => honest_with(Kind::Legacy, request, r#"{"tools":{"listChanged":true}}"#),
    });
    let client = client_of(Kind::Legacy, &peer).await;
    for _ in 0..2 {
        let change = tokio::time::timeout(Duration::from_secs(20), client.changed()).await;
        assert_eq!(change.expect("told"), Some(Change::Tools));
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(count(&peer, "GET") <= 4, "{}", count(&peer, "GET"));
    client.close().await.expect("closes");
    assert_eq!(client.changed().await, None);
}

/// T3: whatever the server does with its own stream costs no call.
#[tokio::test]
async fn bad_own_streams_cost_no_call() {
    for acts in [
        vec![HttpAct::answer(405, &[], "")],
        vec![HttpAct::answer(404, &["content-type: text/html"], MARKER)],
        vec![HttpAct::answer(401, &[], MARKER)],
        vec![HttpAct::answer(500, &[], MARKER)],
        vec![HttpAct::json(200, "{}")],
        vec![HttpAct::Close],
        vec![HttpAct::Hang],
        vec![
            HttpAct::stream(),
            HttpAct::chunks_forever(b"data: xxxxxxxxxxxxxxxxxxxxxxxx\n"),
        ],
        vec![HttpAct::stream(), HttpAct::chunks_forever(b": ping\n\n")],
        vec![
            HttpAct::stream(),
            HttpAct::chunk(b"data: {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"content\":[]}}\n\n"),
            HttpAct::Hang,
        ],
    ] {
        let own = acts.clone();
        let peer = HttpPeer::start(move |_, request| match request.method.as_str() {
            "GET" => own.clone(),
            _ => honest(Kind::Legacy, request),
        });
        let client = client_of(Kind::Legacy, &peer).await;
        for _ in 0..10 {
            let call = client
                .call("ok", Arguments::none())
                .timeout(Duration::from_secs(10));
            let result = call.await;
            assert!(result.is_ok(), "{acts:?}: {result:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(count(&peer, "GET") <= 3, "{acts:?}");
        client.close().await.expect("closes");
    }
}

/// S7: a legacy server's requests, on a call's stream and on its own, are answered each once, as what they are.
#[tokio::test]
async fn legacy_requests_are_answered() {
    let peer = but_for_t(Kind::Legacy, |request| {
        let asks = "data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"roots/list\"}\n\n";
        let reply = format!("data: {}\n\n", reply_text(request, ANSWER));
        vec![
            HttpAct::stream(),
            HttpAct::chunk(asks),
            HttpAct::Wait(Duration::from_millis(300)),
            HttpAct::chunk(reply),
            HttpAct::last_chunk(),
        ]
    });
    let client = client_of(Kind::Legacy, &peer).await;
    client.call("t", Arguments::none()).await.expect("answered");
    let answers = || {
        let requests = peer.requests();
        let replies = requests
            .iter()
            .map(message)
            .filter(|one| one.get("method").is_none());
        replies
            .filter(|one| !one["id"].is_null())
            .collect::<Vec<_>>()
    };
    soon(|| answers().len() == 2).await;
    let answers = answers();
    let of = |id: serde_json::Value| {
        answers
            .iter()
            .find(|one| one["id"] == id)
            .expect("answered")
    };
    assert_eq!(of("p".into())["result"], serde_json::json!({}));
    assert_eq!(of(2.into())["error"]["code"], -32601);
}
