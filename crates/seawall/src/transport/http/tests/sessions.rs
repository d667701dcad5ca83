//! Sessions of the 2025 revisions, and the server's own stream.

use super::*;

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

fn initialized(id: &str) -> Vec<HttpAct> {
    let session = format!("Mcp-Session-Id: {id}");
    vec![HttpAct::answer(
        200,
        &["content-type: application/json", &session],
        REPLY,
    )]
}

/// A session that has been through its handshake.
async fn session(peer: &HttpPeer) -> StreamableHttp {
    let mut http = StreamableHttp::new(config(&peer.url("/mcp")));
    http.post(post(1, PostKind::Initialize));
    assert_eq!(outcome(&mut http, 1).await.end, Some(OK));
    http.negotiated(Revision::V2025_11_25);
    http.post(post(2, PostKind::Notification));
    outcome(&mut http, 2).await;
    http
}

fn methods(peer: &HttpPeer) -> Vec<(String, Option<String>)> {
    let request = |request: &seawall_testkit::HttpRequest| {
        let session = request.header("mcp-session-id").map(str::to_owned);
        (request.method.clone(), session)
    };
    peer.requests().iter().map(request).collect()
}

fn seen(seen: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
    seen.iter()
        .map(|(method, session)| ((*method).to_owned(), session.map(str::to_owned)))
        .collect()
}

/// T3: the id of the handshake goes with everything after it, the stream and the DELETE at the end too; 405 to both is
/// fine.
#[tokio::test]
async fn session_id_goes_with_everything() {
    let peer = HttpPeer::start(|before, request| match (before, request.method.as_str()) {
        (0, _) => initialized("s1"),
        (_, "GET" | "DELETE") => vec![HttpAct::answer(405, &[], "")],
        (1, _) => vec![HttpAct::answer(202, &[], "")],
        _ => vec![HttpAct::json(200, REPLY)],
    });
    let mut http = session(&peer).await;
    nothing(&mut http, Duration::from_millis(100)).await;
    http.post(post(3, PostKind::Request));
    assert_eq!(outcome(&mut http, 3).await, ended(&[(200, REPLY)], OK));
    http.end(LONG).await;
    let id = Some("s1");
    let expected = [
        ("POST", None),
        ("POST", id),
        ("GET", id),
        ("POST", id),
        ("DELETE", id),
    ];
    assert_eq!(methods(&peer), seen(&expected));
}

/// T3: the server's own stream is not asked for before `notifications/initialized` was taken.
#[tokio::test]
async fn server_stream_waits_for_initialized() {
    let peer = HttpPeer::start(|before, request| match (before, request.method.as_str()) {
        (0, _) => initialized("s1"),
        (_, "GET") => vec![HttpAct::answer(405, &[], "")],
        _ => vec![HttpAct::answer(202, &[], "")],
    });
    let mut http = StreamableHttp::new(config(&peer.url("/mcp")));
    http.post(post(1, PostKind::Initialize));
    loop {
        match next(&mut http).await {
            // A driver goes on at the reply, before the post ended.
            HttpEvent::Message { .. } => http.negotiated(Revision::V2025_11_25),
            HttpEvent::Ended { .. } => break,
            _ => {}
        }
    }
    nothing(&mut http, Duration::from_millis(100)).await;
    assert_eq!(peer.requests().len(), 1);
    http.post(post(2, PostKind::Notification));
    outcome(&mut http, 2).await;
    nothing(&mut http, Duration::from_millis(100)).await;
    let id = Some("s1");
    let expected = [("POST", None), ("POST", id), ("GET", id)];
    assert_eq!(methods(&peer), seen(&expected));
}

/// T3: a server that has enough to do is not asked for its stream before it wants that.
#[tokio::test]
async fn server_stream_is_asked_for_again_as_the_server_wishes() {
    for (status, waits) in [(429, true), (503, true), (500, false)] {
        let peer =
            HttpPeer::start(
                move |before, request| match (before, request.method.as_str()) {
                    (0, _) => initialized("s1"),
                    (2, "GET") => vec![HttpAct::answer(status, &["retry-after: 2"], "")],
                    (_, "GET") => vec![HttpAct::answer(405, &[], "")],
                    _ => vec![HttpAct::answer(202, &[], "")],
                },
            );
        let mut http = session(&peer).await;
        nothing(&mut http, Duration::from_millis(1_500)).await;
        assert_eq!(peer.requests().len(), if waits { 3 } else { 4 }, "{status}");
        nothing(&mut http, Duration::from_millis(1_500)).await;
        assert_eq!(peer.requests().len(), 4, "{status}");
    }
}

/// T3: requests of a lost session that are refused late do not cost the session that took its place.
#[tokio::test]
async fn late_refusals_do_not_cost_the_next_session() {
    let peer = HttpPeer::start(|before, request| match (before, request.method.as_str()) {
        (0, _) => initialized("s1"),
        (_, "GET") => vec![HttpAct::stream(), HttpAct::Hang],
        (1, _) => vec![HttpAct::answer(202, &[], "")],
        (_, "DELETE") => vec![HttpAct::answer(200, &[], "")],
        _ if request.body.ends_with(b"\"id\":9,\"method\":\"x\"}") => vec![
            HttpAct::Wait(Duration::from_millis(300)),
            HttpAct::answer(404, &[], ""),
        ],
        _ if request.header("mcp-session-id") == Some("s1") => {
            vec![HttpAct::answer(404, &[], "")]
        }
        _ => initialized("s2"),
    });
    let mut http = session(&peer).await;
    http.post(post(9, PostKind::Request));
    http.post(post(3, PostKind::Request));
    assert_eq!(outcome(&mut http, 3).await.end, None);
    http.post(post(4, PostKind::Initialize));
    assert_eq!(outcome(&mut http, 4).await.end, Some(OK));
    assert_eq!(outcome(&mut http, 9).await.end, None, "lost too");
    http.end(LONG).await;
    let last = methods(&peer).pop();
    assert_eq!(last, Some(("DELETE".to_owned(), Some("s2".to_owned()))));
}

/// T3: an id that comes with a refusal, or on a modern connection, is not adopted; nothing is deleted then.
#[tokio::test]
async fn session_id_is_adopted_from_a_legacy_success_alone() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::answer(400, &["mcp-session-id: x"], "")]);
    let mut http = StreamableHttp::new(config(&peer.url("/")));
    http.post(post(1, PostKind::Initialize));
    outcome(&mut http, 1).await;
    http.post(post(2, PostKind::Request));
    outcome(&mut http, 2).await;
    http.end(LONG).await;
    assert_eq!(methods(&peer), seen(&[("POST", None), ("POST", None)]));

    let peer = HttpPeer::start(|_, _| initialized("x"));
    let mut http = StreamableHttp::new(modern(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    outcome(&mut http, 1).await;
    http.post(post(2, PostKind::Request));
    outcome(&mut http, 2).await;
    http.end(LONG).await;
    assert_eq!(methods(&peer), seen(&[("POST", None), ("POST", None)]));
}

/// T3: messages of the server's own stream come with no key; the stream is opened again where it broke.
#[tokio::test]
async fn server_stream_is_kept_open() {
    let peer = HttpPeer::start(|before, request| match (before, request.method.as_str()) {
        (0, _) => initialized("s1"),
        (2, "GET") => vec![
            HttpAct::stream(),
            HttpAct::chunk(format!("id: 7\nretry: 100\ndata: {NOTE}\n\n")),
            HttpAct::last_chunk(),
        ],
        (_, "GET") => vec![
            HttpAct::stream(),
            HttpAct::chunk(format!("data: {NOTE}\n\n")),
            HttpAct::Hang,
        ],
        _ => vec![HttpAct::answer(202, &[], "")],
    });
    let mut http = session(&peer).await;
    for _ in 0..2 {
        let message = HttpEvent::Message {
            key: None,
            status: 200,
            frame: Bytes::from(NOTE),
        };
        assert_eq!(next(&mut http).await, message);
    }
    assert_eq!(peer.requests()[3].header("last-event-id"), Some("7"));
    http.end(LONG).await;
}

/// T3, L6: a server's stream that fails, floods or ends at once is never fatal and never spins.
#[tokio::test]
async fn bad_server_stream_is_backed_off_from() {
    for bad in [
        vec![HttpAct::answer(500, &[], "")],
        vec![HttpAct::answer(401, &[], "")],
        vec![HttpAct::json(200, "{}")],
        vec![HttpAct::Reset],
        vec![
            HttpAct::stream(),
            HttpAct::chunk("retry: 0\n\n"),
            HttpAct::last_chunk(),
        ],
        vec![
            HttpAct::stream(),
            HttpAct::chunk("retry: 0\ndata: "),
            HttpAct::chunks_forever(vec![b'x'; 9_000]),
        ],
    ] {
        let peer =
            HttpPeer::start(
                move |before, request| match (before, request.method.as_str()) {
                    (0, _) => initialized("s1"),
                    (_, "GET") => bad.clone(),
                    (_, "DELETE") => vec![HttpAct::answer(200, &[], "")],
                    (1, _) => vec![HttpAct::answer(202, &[], "")],
                    _ => vec![HttpAct::json(200, REPLY)],
                },
            );
        let mut http = session(&peer).await;
        nothing(&mut http, Duration::from_millis(700)).await;
        http.post(post(3, PostKind::Request));
        assert_eq!(outcome(&mut http, 3).await, ended(&[(200, REPLY)], OK));
        let gets = peer
            .requests()
            .iter()
            .filter(|request| request.method == "GET")
            .count();
        assert!((1..10).contains(&gets), "{gets}");
    }
}

/// T3: 404 to a request of a live session says that the session is gone; the id is forgotten, its stream closed, and the
/// next handshake begins a new one.
#[tokio::test]
async fn lost_session_is_told_and_forgotten() {
    let peer = HttpPeer::start(|before, request| match (before, request.method.as_str()) {
        (0, _) => initialized("s1"),
        (_, "GET") => vec![HttpAct::stream(), HttpAct::Hang],
        (1, _) => vec![HttpAct::answer(202, &[], "")],
        (3, _) => vec![HttpAct::json(404, REPLY)],
        (4, _) => initialized("s2"),
        _ => vec![HttpAct::json(200, REPLY)],
    });
    let mut http = session(&peer).await;
    nothing(&mut http, Duration::from_millis(100)).await;
    http.post(post(3, PostKind::Request));
    let lost = outcome(&mut http, 3).await;
    assert_eq!((lost.messages, lost.end), (vec![], None));
    nothing(&mut http, Duration::from_millis(100)).await;
    assert_eq!(peer.gone(), 1, "the stream is closed");
    http.post(post(4, PostKind::Initialize));
    outcome(&mut http, 4).await;
    http.post(post(5, PostKind::Request));
    outcome(&mut http, 5).await;
    let seen_all = methods(&peer);
    assert_eq!(
        seen_all[3..],
        seen(&[("POST", Some("s1")), ("POST", None), ("POST", Some("s2"))])
    );
}

/// T3: without a session, and for the handshake and for notifications, 404 is a status like any other.
#[tokio::test]
async fn other_404_are_refusals() {
    let peer = HttpPeer::start(|before, request| match (before, request.method.as_str()) {
        (1, _) => initialized("s1"),
        _ => vec![HttpAct::answer(404, &[], "")],
    });
    let mut http = StreamableHttp::new(config(&peer.url("/")));
    http.post(post(0, PostKind::Request));
    assert_eq!(outcome(&mut http, 0).await.end, Some(status(404)));
    http.post(post(1, PostKind::Initialize));
    assert_eq!(outcome(&mut http, 1).await.end, Some(OK));
    for (key, kind) in [(2, PostKind::Notification), (3, PostKind::Initialize)] {
        http.post(post(key, kind));
        assert_eq!(outcome(&mut http, key).await.end, Some(status(404)));
    }
}

/// T3: the end waits for the server's answer no longer than its budget.
#[tokio::test]
async fn end_is_bounded() {
    let peer = HttpPeer::start(|before, request| match (before, request.method.as_str()) {
        (0, _) => initialized("s1"),
        (_, "POST") => vec![HttpAct::answer(202, &[], "")],
        _ => vec![HttpAct::Hang],
    });
    let http = session(&peer).await;
    let began = std::time::Instant::now();
    http.end(Duration::from_millis(200)).await;
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(
        peer.requests()
            .iter()
            .any(|request| request.method == "DELETE")
    );
}

/// T3: 404 to the server's own stream, once that stood under the session, means the session; from a server that never had
/// a stream it means that there is none.
#[tokio::test]
async fn forgotten_session_shows_on_the_servers_own_stream() {
    for (had_one, expected) in [(true, 1), (false, 0)] {
        let peer =
            HttpPeer::start(
                move |before, request| match (before, request.method.as_str()) {
                    (0, _) => initialized("s1"),
                    (1, _) => vec![HttpAct::answer(202, &[], "")],
                    (2, "GET") if had_one => vec![HttpAct::answer(
                        200,
                        &["content-type: text/event-stream"],
                        "retry: 1\n\n",
                    )],
                    _ => vec![HttpAct::answer(404, &[], "")],
                },
            );
        let mut http = session(&peer).await;
        let gone = tokio::time::timeout(Duration::from_secs(3), next(&mut http)).await;
        assert_eq!(usize::from(gone == Ok(HttpEvent::SessionGone)), expected);
    }
}

/// T3: a post belongs to the session that stood when it was given, whatever becomes of that before it goes out: one that
/// goes without its session would be refused as what it is not.
#[tokio::test]
async fn post_keeps_its_session() {
    let peer = HttpPeer::start(|before, request| match (before, request.method.as_str()) {
        (0, _) => initialized("s1"),
        (_, "GET") => vec![HttpAct::answer(405, &[], "")],
        (1, _) => vec![HttpAct::answer(202, &[], "")],
        _ => vec![
            HttpAct::Wait(Duration::from_millis(300)),
            HttpAct::answer(404, &[], ""),
        ],
    });
    let mut http = session(&peer).await;
    http.post(post(3, PostKind::Request));
    dispatched(&mut http, 3).await;
    // The refusal is there, and nobody looked at it yet.
    tokio::time::sleep(Duration::from_millis(600)).await;
    http.post(post(4, PostKind::Request));
    assert_eq!(outcome(&mut http, 3).await.end, None);
    assert_eq!(outcome(&mut http, 4).await.end, None, "lost too");
    let sessions: Vec<_> = methods(&peer)
        .into_iter()
        .filter(|(method, session)| method == "POST" && session.is_none())
        .collect();
    assert_eq!(sessions.len(), 1, "the handshake alone");
}
