//! Answers that are streams of events.

use super::super::events::Events;
use super::super::resume::Cursor;
use super::*;

fn stream(chunks: &[&str]) -> Vec<HttpAct> {
    let mut acts = vec![HttpAct::stream()];
    acts.extend(chunks.iter().map(HttpAct::chunk));
    acts
}

fn ending(chunks: &[&str]) -> Vec<HttpAct> {
    let mut acts = stream(chunks);
    acts.push(HttpAct::last_chunk());
    acts
}

fn early(messages: &[(u16, &str)]) -> Outcome {
    ended(messages, End::Broken(HttpFault::EndedEarly))
}

/// T2: notifications, then the reply, then the end of the stream; other events are nothing.
#[tokio::test]
async fn messages_come_as_they_are_sent() {
    let reply = format!("event: message\r\ndata: {REPLY}\r\n\r\n");
    let acts = ending(&[
        ": hi\n\nevent: other\ndata: 1\n\ndata: {\"a\":\ndata: 1}\n\n",
        &reply,
    ]);
    assert_eq!(
        one(acts).await,
        ended(&[(200, "{\"a\":\n1}"), (200, REPLY)], OK)
    );
}

/// T2: a byte-order mark, lines that end with carriage returns alone, and characters cut in two.
#[tokio::test]
async fn odd_streams_are_read() {
    let text = r#"{"result":"é🦀"}"#;
    let whole = format!("\u{feff}: c\rid: 1\rretry: 5\rdata: {text}\r\r");
    let mut acts = vec![HttpAct::stream()];
    acts.extend(whole.as_bytes().chunks(1).map(HttpAct::chunk));
    acts.push(HttpAct::last_chunk());
    assert_eq!(one(acts).await, ended(&[(200, text)], OK));
}

/// L1 (maxFrameBytes): one event's data at the limit passes, one past it does not.
#[tokio::test]
async fn event_bound_is_inclusive() {
    let text = |length: usize| format!("\"result{}\"", "x".repeat(length - 8));
    let at = text(LIMIT);
    assert_eq!(
        one(ending(&[&format!("data: {at}\n\n")])).await,
        ended(&[(200, &at)], OK)
    );
    assert_eq!(
        one(stream(&[&format!("data: {}\n\n", text(LIMIT + 1))])).await,
        ended(&[], End::TooLong { limit: LIMIT })
    );
}

/// L6, O1: an event's other fields have a bound of their own, and that one is told.
#[tokio::test]
async fn long_id_is_told_with_its_own_bound() {
    for field in ["id", "event"] {
        let long = format!("{field}: {}\ndata: {REPLY}\n\n", "1".repeat(8 * 1024 + 1));
        let end = End::Broken(HttpFault::EventField);
        let text = end.fault().text;
        assert!(text.contains("8192") && !text.contains("maxFrameBytes"));
        assert_eq!(one(stream(&[&long])).await, ended(&[], end));
    }
}

/// L6: an event without end is cut at the bound, and its connection closed.
#[tokio::test]
async fn endless_event_is_cut_at_the_bound() {
    let mut acts = stream(&["data: "]);
    acts.push(HttpAct::chunks_forever(vec![b'x'; 5_000]));
    assert_eq!(one(acts).await, ended(&[], End::TooLong { limit: LIMIT }));
}

/// O2: a modern stream that ends or breaks without its reply leaves the request unknown, ids or not.
#[tokio::test]
async fn modern_stream_is_never_resumed() {
    assert_eq!(one(ending(&[])).await, early(&[]));
    assert_eq!(
        one(ending(&["data: {}"])).await,
        early(&[]),
        "an event without its end"
    );
    assert_eq!(
        one(ending(&["id: 1\nretry: 1\ndata: {}\n\n"])).await,
        early(&[(200, "{}")])
    );
    let mut gone = stream(&["id: 1\ndata: {}\n\n"]);
    gone.push(HttpAct::Reset);
    assert_eq!(
        one(gone).await,
        ended(&[(200, "{}")], End::Broken(HttpFault::Lost))
    );
}

/// T2: a stream that goes on after its reply is complete soon, and dropped.
#[tokio::test]
async fn stream_that_goes_on_after_its_reply_is_dropped() {
    let peer = HttpPeer::start(|_, _| {
        let mut acts = stream(&[&format!("data: {REPLY}\n\n")]);
        acts.push(HttpAct::Hang);
        acts
    });
    let mut http = StreamableHttp::new(modern(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    assert_eq!(outcome(&mut http, 1).await, ended(&[(200, REPLY)], OK));
    nothing(&mut http, Duration::from_millis(200)).await;
    assert_eq!(peer.gone(), 1);
}

/// L6, S8: comments without end are no event, keep nobody else waiting, and hanging up ends them.
#[tokio::test]
async fn endless_comments_keep_nobody_waiting() {
    let peer = HttpPeer::start(|before, _| {
        if before > 0 {
            return vec![HttpAct::json(200, REPLY)];
        }
        let mut acts = stream(&[":"]);
        acts.push(HttpAct::chunks_forever(vec![b'x'; 60_000]));
        acts
    });
    let mut http = StreamableHttp::new(modern(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    dispatched(&mut http, 1).await;
    nothing(&mut http, Duration::from_millis(100)).await;
    http.post(post(2, PostKind::Request));
    assert_eq!(outcome(&mut http, 2).await, ended(&[(200, REPLY)], OK));
    assert_eq!(http.hang_up(1), Handed::Yes);
    nothing(&mut http, Duration::from_millis(300)).await;
    assert_eq!(peer.gone(), 1);
}

/// L6, L8: what nobody asks for is not read: a flood of events waits with the server.
#[tokio::test]
async fn flood_waits_with_the_server() {
    let peer = HttpPeer::start(|_, _| {
        let flood = "data: {}\n\n".repeat(5_000);
        vec![HttpAct::stream(), HttpAct::chunks_forever(flood)]
    });
    let mut http = StreamableHttp::new(modern(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    for _ in 0..3 {
        next(&mut http).await;
    }
    // The system's buffers fill up, and then nothing moves.
    let mut before = usize::MAX;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let sent = peer.sent();
        if sent == before {
            break;
        }
        before = sent;
    }
    assert_eq!(peer.sent(), before, "it stands still");
    for _ in 0..20_000 {
        let event = next(&mut http).await;
        assert!(matches!(event, HttpEvent::Message { .. }), "{event:?}");
    }
    // Nor does it go on for ever after its reply.
    http.finish(1);
    let began = std::time::Instant::now();
    while !matches!(next(&mut http).await, HttpEvent::Ended { key: 1, end: OK }) {}
    assert!(began.elapsed() < Duration::from_secs(5));
}

/// T3: a stream that broke is resumed after its last whole event, by GET, after the pause it asked for.
#[tokio::test]
async fn legacy_stream_is_resumed() {
    let peer = HttpPeer::start(|before, _| match before {
        0 => {
            let mut acts = stream(&["id: a\nretry: 150\ndata:\n\n", "id: b\ndata: half"]);
            acts.push(HttpAct::Reset);
            acts
        }
        1 => ending(&["id: c\ndata: {}\n\n"]),
        _ => ending(&[&format!("data: {REPLY}\n\n")]),
    });
    let mut http = StreamableHttp::new(config(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    let began = std::time::Instant::now();
    assert_eq!(
        outcome(&mut http, 1).await,
        ended(&[(200, "{}"), (200, REPLY)], OK)
    );
    assert!(began.elapsed() >= Duration::from_millis(300));
    let requests = peer.requests();
    let seen: Vec<_> = requests
        .iter()
        .map(|request| (request.method.as_str(), request.header("last-event-id")))
        .collect();
    assert_eq!(
        seen,
        [("POST", None), ("GET", Some("a")), ("GET", Some("c"))]
    );
    assert_eq!(requests[1].header("accept"), Some("text/event-stream"));
    assert!(requests[1].body.is_empty());
}

/// T3: a server may end its streams again and again and have them polled: as long as it goes on in its events, or takes its
/// time, the reply is waited for.
#[tokio::test]
async fn polled_stream_is_resumed_until_its_reply() {
    let moving = |before: usize| format!("id: {before}\nretry: 0\ndata:\n\n");
    let slow = |_: usize| "id: a\nretry: 1000\ndata:\n\n".to_owned();
    for event in [moving as fn(usize) -> String, slow] {
        let peer = HttpPeer::start(move |before, _| match before {
            0..7 => ending(&[&event(before)]),
            _ => ending(&[&format!("data: {REPLY}\n\n")]),
        });
        let mut http = StreamableHttp::new(config(&peer.url("/")));
        http.post(post(1, PostKind::Request));
        assert_eq!(outcome(&mut http, 1).await, ended(&[(200, REPLY)], OK));
        assert_eq!(peer.requests().len(), 8);
    }
}

/// T3: the pause that a stream asks for is kept, however long it is (2025-11-25, `basic/transports`), and never none.
#[tokio::test]
async fn pause_before_a_resumption_is_the_streams() {
    for (said, pause) in [("45000", 45_000), ("86400000", 86_400_000), ("0", 100)] {
        let text = format!("id: a\nretry: {said}\ndata:\n\n");
        let mut events = Events::new(http::Response::new(text).into(), 100);
        while events.next().await.is_ok() {}
        let mut cursor = Cursor::default();
        let _ = cursor.follow(&events);
        assert_eq!(cursor.pause(), Duration::from_millis(pause));
    }
}

/// T3, O2: resumptions that answer 200 and end at once, with `retry: 0`, do not spin, and end as unknown.
#[tokio::test]
async fn resumption_without_progress_gives_up() {
    let peer = HttpPeer::start(|_, _| ending(&["id: 1\nretry: 0\ndata:\n\n"]));
    let mut http = StreamableHttp::new(config(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    let began = std::time::Instant::now();
    assert_eq!(outcome(&mut http, 1).await, early(&[]));
    assert_eq!(peer.requests().len(), 6);
    assert!(began.elapsed() >= Duration::from_millis(500));
}

/// T3: a refusal to resume is final, and a failing server is asked a few times.
#[tokio::test]
async fn refused_resumption_gives_up() {
    for (code, requests) in [(405, 2), (404, 2), (400, 2), (503, 6)] {
        let peer = HttpPeer::start(move |before, _| match before {
            0 => ending(&["id: 1\nretry: 0\ndata:\n\n"]),
            _ => vec![HttpAct::answer(code, &[], "")],
        });
        let mut http = StreamableHttp::new(config(&peer.url("/")));
        http.post(post(1, PostKind::Request));
        assert_eq!(outcome(&mut http, 1).await, early(&[]));
        assert_eq!(peer.requests().len(), requests, "{code}");
    }
}

/// T3: without an id there is nothing to resume from.
#[tokio::test]
async fn stream_without_ids_is_not_resumed() {
    let peer = HttpPeer::start(|_, _| ending(&["data: {}\n\n"]));
    let mut http = StreamableHttp::new(config(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    assert_eq!(outcome(&mut http, 1).await, early(&[(200, "{}")]));
    assert_eq!(peer.requests().len(), 1);
}
