//! Streams of events as answers, from the caller's side (T2, T3, L1, L6).

use std::time::Duration;

use seawall::Arguments;
use seawall::config::Protocol;
use seawall_testkit::{HttpAct, HttpPeer, HttpRequest};

use super::http_support::*;
use super::*;

/// A call of `t` answered with a stream of these chunks, on both eras.
async fn answered(chunks: impl Fn(&str) -> Vec<Vec<u8>> + Clone + Send + Sync + 'static) {
    for kind in [Kind::Modern, Kind::Legacy] {
        let chunks = chunks.clone();
        let peer = but_for_t(kind, move |request| {
            let chunks = chunks(&reply_text(request, ANSWER));
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            stream(&chunks)
        });
        let client = client_of(kind, &peer).await;
        let call = client
            .call("t", Arguments::none())
            .timeout(Duration::from_secs(20));
        let result = call.await.expect("answered");
        assert!(result.raw().as_str().contains("é€😀"));
        client.call("ok", Arguments::none()).await.expect("goes on");
        assert!(client.closed().is_none());
        client.close().await.expect("closes");
    }
}

/// L3: however a stream is written, the reply in it is the reply.
#[tokio::test]
async fn streams_that_are_odd() {
    answered(|reply| vec![format!("data: {reply}\n\n").into_bytes()]).await;
    answered(|reply| vec![format!("\u{feff}data:{reply}\n\n").into_bytes()]).await;
    answered(|reply| vec![format!("data: {reply}\r\r").into_bytes()]).await;
    answered(|reply| vec![format!("data: {reply}\r\n\r\n").into_bytes()]).await;
    answered(|reply| {
        vec![format!("event: message\nid: \nretry: 0\ndata: {reply}\n\n").into_bytes()]
    })
    .await;
    answered(|reply| {
        vec![
            format!("id: a\0b\nretry: x\nid: 7\nid\nunknown: x\nevent\ndata: {reply}\n\n")
                .into_bytes(),
        ]
    })
    .await;
    // A JSON text over several lines of data.
    answered(|reply| {
        vec![format!("data: {}\n\n", reply.replacen(',', ",\ndata: ", 3)).into_bytes()]
    })
    .await;
    // Comments, events of other kinds, events without data, and noise before it.
    answered(|reply| {
        let odd = ": ping\n\n:\n\nevent: REMOTE-MARKER\ndata: x\n\ndata\n\ndata:\n\nid: 1\n\ndata: REMOTE-MARKER\n\n";
        vec![odd.as_bytes().to_vec(), format!("data: {reply}\n\n").into_bytes()]
    })
    .await;
    // Byte by byte, in the middle of characters.
    answered(|reply| {
        let text = format!("data: {reply}\n\n");
        text.bytes().map(|byte| vec![byte]).collect()
    })
    .await;
    // And what comes after it.
    answered(|reply| {
        vec![
            format!("data: {reply}\n\n").into_bytes(),
            format!("data: {reply}\n\ndata: REMOTE-MARKER\n\n").into_bytes(),
        ]
    })
    .await;
}

/// Two replies on one stream: the first is the answer, the other is counted; so is one to another request.
#[tokio::test]
async fn replies_too_many() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = but_for_t(kind, |request| {
            let first = reply_text(request, r#"{"content":[],"n":1}"#);
            let second = reply_text(request, r#"{"content":[],"n":2}"#);
            let others = (1..40)
                .map(|id| {
                    format!(
                        "data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"content\":[]}}}}\n\n",
                        id + message(request)["id"].as_u64().expect("an id")
                    )
                })
                .collect::<String>();
            let text = format!("{others}data: {first}\n\ndata: {second}\n\n");
            stream(&[text.as_bytes()])
        });
        let client = client_of(kind, &peer).await;
        let (one, two) = tokio::join!(
            client.call("t", Arguments::none()),
            client.call("ok", Arguments::none())
        );
        assert!(one.expect("answered").raw().as_str().contains("\"n\":1"));
        assert!(two.expect("answered").raw().as_str().contains("é€😀"));
        assert!(client.report().stats.stray_replies >= 39);
        assert!(client.closed().is_none());
    }
}

/// O2, T2: on a modern revision a stream that ends without its reply leaves the call unknown, at once; nothing resumes it.
#[tokio::test]
async fn modern_streams_that_end_early() {
    for end in [HttpAct::last_chunk(), HttpAct::Close, HttpAct::Reset] {
        let ending = end.clone();
        let peer = but_for_t(Kind::Modern, move |_| {
            vec![
                HttpAct::stream(),
                HttpAct::chunk("id: 1\nretry: 100\ndata: {\"half\n\n"),
                ending.clone(),
            ]
        });
        let client = client_of(Kind::Modern, &peer).await;
        let error = client
            .call("t", Arguments::none())
            .await
            .expect_err("no reply");
        assert_eq!(
            verdict_of(&error),
            (ErrorCode::ConnectionClosed, Outcome::NoResponse, None),
            "{end:?}"
        );
        client.call("ok", Arguments::none()).await.expect("goes on");
        assert_eq!(count(&peer, "GET"), 0);
    }
}

/// T3: on a legacy revision it is resumed from its last event, and the call is said once.
#[tokio::test]
async fn legacy_stream_is_resumed() {
    let wanted = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&wanted);
    let peer = HttpPeer::start(move |_, request| {
        if calls(request, "t") {
            *kept.lock().expect("fine") = reply_text(request, ANSWER);
            return vec![
                HttpAct::stream(),
                HttpAct::chunk("id: e-1\nretry: 100\ndata:\n\n"),
                HttpAct::last_chunk(),
            ];
        }
        match request.header("last-event-id") {
            Some("e-1") => {
                let reply = kept.lock().expect("fine").clone();
                stream(&[format!("data: {reply}\n\n").as_bytes()])
            }
            _ => honest(Kind::Legacy, request),
        }
    });
    let client = client_of(Kind::Legacy, &peer).await;
    client.call("t", Arguments::none()).await.expect("resumed");
    assert_eq!(count(&peer, "tools/call"), 1);
}

/// T3: an event id that no header can carry is none to resume from; another stream is not asked for in its stead.
#[tokio::test]
async fn an_id_that_no_header_carries_resumes_nothing() {
    let peer = but_for_t(Kind::Legacy, |_| {
        vec![
            HttpAct::stream(),
            HttpAct::chunk("id: e\u{1}1\nretry: 100\ndata:\n\n"),
            HttpAct::last_chunk(),
        ]
    });
    let client = client_of(Kind::Legacy, &peer).await;
    soon(|| count(&peer, "GET") == 1).await;
    let error = client.call("t", Arguments::none()).await;
    assert_eq!(
        verdict_of(&error.expect_err("no reply")),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse, None)
    );
    assert_eq!(count(&peer, "GET"), 1);
}

/// T3: a resumption of which nothing comes does not spin, and leaves the call unknown.
#[tokio::test]
async fn resumption_without_progress_ends() {
    let peer = HttpPeer::start(move |_, request| {
        if calls(request, "t") || request.header("last-event-id").is_some() {
            return stream(&[b"id: e-1\nretry: 0\ndata:\n\n"]);
        }
        honest(Kind::Legacy, request)
    });
    let client = client_of(Kind::Legacy, &peer).await;
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("nothing comes");
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse, None)
    );
    let resumed = |request: &HttpRequest| request.header("last-event-id").is_some();
    assert!(peer.requests().iter().filter(|one| resumed(one)).count() <= 5);
    client.call("ok", Arguments::none()).await.expect("goes on");
}

/// O4: the one deadline bounds the resumptions too.
#[tokio::test]
async fn resumption_ends_at_the_deadline() {
    let peer = HttpPeer::start(move |_, request| {
        if calls(request, "t") || request.header("last-event-id").is_some() {
            return stream(&[b"id: e-1\nretry: 99999999\ndata:\n\n"]);
        }
        honest(Kind::Legacy, request)
    });
    let client = client_of(Kind::Legacy, &peer).await;
    let call = client
        .call("t", Arguments::none())
        .timeout(Duration::from_millis(500));
    let error = call.await.expect_err("nothing comes");
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::Timeout, Outcome::NoResponse, None)
    );
}

/// L6: a flood of notifications on a call's stream costs nothing that stays, and the reply behind it arrives.
#[tokio::test]
async fn a_flood_on_a_stream_is_survived() {
    const COPIES: usize = 200_000;
    let flood =
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n";
    let peer = but_for_t(Kind::Modern, move |request| {
        let block = flood.repeat(1000);
        let mut acts = vec![HttpAct::stream()];
        acts.extend((0..COPIES / 1000).map(|_| HttpAct::chunk(&block)));
        acts.push(HttpAct::chunk(format!(
            "data: {}\n\n",
            reply_text(request, ANSWER)
        )));
        acts.push(HttpAct::last_chunk());
        acts
    });
    let client = client_of(Kind::Modern, &peer).await;
    // Another call is not kept waiting by it.
    let (flooded, other) = tokio::join!(
        client
            .call("t", Arguments::none())
            .timeout(Duration::from_secs(60)),
        client
            .call("ok", Arguments::none())
            .timeout(Duration::from_secs(10)),
    );
    flooded.expect("answered");
    other.expect("answered");
    let report = client.report();
    assert_eq!(report.stats.notifications, COPIES as u64);
    assert_eq!(report.buffered_bytes, 0);
}

/// O4: progress, however much of it, does not move the bound that the caller gave the call.
#[tokio::test]
async fn progress_for_ever() {
    let peer = but_for_t(Kind::Modern, |request| {
        let token = &message(request)["params"]["_meta"]["progressToken"];
        let progress = format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{token},\"progress\":1,\"message\":\"REMOTE-MARKER\"}}}}\n\n"
        );
        vec![
            HttpAct::stream(),
            HttpAct::chunks_forever(progress.repeat(20)),
        ]
    });
    let client = client_of(Kind::Modern, &peer).await;
    let call = client
        .call("t", Arguments::none())
        .timeout(Duration::from_secs(1));
    let ended = tokio::time::timeout(Duration::from_secs(20), call).await;
    let error = ended.expect("at its bound").expect_err("no reply");
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::Timeout, Outcome::NoResponse, None)
    );
    client.call("ok", Arguments::none()).await.expect("goes on");
}

/// S7: what a server asks on a modern stream is answered by nothing, and the reply behind it counts.
#[tokio::test]
async fn requests_on_a_modern_stream_are_not_answered() {
    let peer = but_for_t(Kind::Modern, |request| {
        let asks = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"roots/list\"}\n\n";
        let reply = format!("data: {}\n\n", reply_text(request, ANSWER));
        stream(&[asks.as_bytes(), reply.as_bytes()])
    });
    let client = connect_to(&peer, Protocol::Modern).await.expect("connects");
    client.call("t", Arguments::none()).await.expect("answered");
    client
        .call("ok", Arguments::none())
        .await
        .expect("answered");
    assert_eq!(
        methods(&peer),
        ["server/discover", "tools/list", "tools/call", "tools/call"]
    );
}
