//! Calls over HTTP: what was sent when they end early, how many requests they make, and how they share the way (O2, O4,
//! S8, L8, H8).

use std::future::Future;
use std::time::{Duration, Instant};

use seawall::config::Protocol;
use seawall::{Arguments, HttpClient};
use seawall_testkit::{HttpAct, HttpPeer};

use super::http_support::*;
use super::*;

const SHORT: Duration = Duration::from_millis(300);

/// S8, O2: on a modern revision the stream is closed, and nothing is sent; the call is unknown.
#[tokio::test]
async fn modern_cancel() {
    for acts in [
        vec![HttpAct::Hang],
        vec![HttpAct::stream(), HttpAct::Hang],
        vec![
            HttpAct::head(
                200,
                &["content-type: application/json", "content-length: 9"],
            ),
            HttpAct::Hang,
        ],
        vec![
            HttpAct::head(
                500,
                &["content-type: application/json", "content-length: 9"],
            ),
            HttpAct::Hang,
        ],
    ] {
        let hanging = acts.clone();
        let peer = but_for_t(Kind::Modern, move |_| hanging.clone());
        let client = client_of(Kind::Modern, &peer).await;
        let began = Instant::now();
        let error = client
            .call("t", Arguments::none())
            .timeout(SHORT)
            .await
            .expect_err("too slow");
        assert_eq!(
            verdict_of(&error),
            (ErrorCode::Timeout, Outcome::NoResponse, None),
            "{acts:?}"
        );
        assert!(began.elapsed() < SHORT * 10);
        soon(|| peer.gone() == 1).await;
        let call = client.call("t", Arguments::none());
        let _ = tokio::time::timeout(SHORT, call).await;
        soon(|| peer.gone() == 2).await;
        client.call("ok", Arguments::none()).await.expect("goes on");
        assert_eq!(
            methods(&peer),
            [
                "server/discover",
                "tools/list",
                "tools/call",
                "tools/call",
                "tools/call"
            ]
        );
        assert_eq!(client.report().stats.cancelled, 2);
    }
}

/// O2: a call whose connection is refused was not sent; so says the text, and so does the next one.
#[tokio::test]
async fn refused_connections_are_not_sent() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = HttpPeer::start(move |_, request| honest(kind, request));
        let client = client_of(kind, &peer).await;
        let address = peer.url("/");
        drop(peer);
        // Held without listening, so that no other test's server is given the port meanwhile.
        let _held = held(&address).await;
        // A connection that stood may be served a moment longer, or close under a call.
        let gone = async || {
            let ended = client.call("ok", Arguments::none()).await;
            ended.is_err_and(|error| error.outcome() == Outcome::NotSent)
        };
        while !gone().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for _ in 0..3 {
            let error = client
                .call("ok", Arguments::none())
                .await
                .expect_err("nobody is there");
            assert_eq!(
                verdict_of(&error),
                (ErrorCode::ConnectionClosed, Outcome::NotSent, None),
                "{error}"
            );
            let said = error.message().matches("nothing was sent").count();
            assert_eq!(said, 1, "{error}");
        }
        client.close().await.expect("closes");
    }
}

/// The port of `address`, taken by somebody who does not listen, once whoever did is gone.
async fn held(address: &str) -> tokio::net::TcpSocket {
    let port = address
        .trim_end_matches('/')
        .rsplit_once(':')
        .and_then(|(_, port)| port.parse::<u16>().ok())
        .expect("a port");
    loop {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("an option");
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
        if socket.bind(address).is_ok() {
            return socket;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// O2: a pooled connection that the server closed meanwhile is never used twice for one call: each call arrives at most
/// once, and what is told `not_sent` did not arrive.
#[tokio::test]
async fn pooled_connections_that_close() {
    let peer = HttpPeer::start(move |_, request| {
        let mut acts = honest(Kind::Modern, request);
        if calls(request, "ok") {
            acts.push(HttpAct::Wait(Duration::from_millis(20)));
            acts.push(HttpAct::Close);
        }
        acts
    });
    let client = client_of(Kind::Modern, &peer).await;
    let mut arrived = 0;
    for pause in 0..40 {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let before = count(&peer, "tools/call");
        let called = client.call("ok", Arguments::none()).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        let came = count(&peer, "tools/call") - before;
        match called {
            Ok(_) => assert_eq!(came, 1),
            Err(error) if error.outcome() == Outcome::NotSent => assert_eq!(came, 0, "{error}"),
            Err(error) => {
                assert_eq!(error.outcome(), Outcome::NoResponse);
                assert!(came <= 1);
            }
        }
        arrived += came;
    }
    assert!(arrived > 0);
}

/// One pool: a warm call is one request on a connection that is there; a shared client shares it.
#[tokio::test]
async fn a_warm_call_is_one_request() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = HttpPeer::start(move |_, request| honest(kind, request));
        let http = HttpClient::new().expect("a client");
        let config = entry_of(&peer).protocol(protocol_of(kind)).build();
        let config = config.expect("a valid entry");
        let connect = || Client::builder(config.clone()).http(http.clone()).connect();
        let client = connect().await.expect("connects");
        client
            .call("ok", Arguments::none())
            .await
            .expect("answered");
        if kind == Kind::Legacy {
            soon(|| count(&peer, "GET") == 1).await;
        }
        let (requests, connections) = (peer.requests().len(), peer.connections());
        for _ in 0..50 {
            client
                .call("ok", Arguments::none())
                .await
                .expect("answered");
        }
        assert_eq!(peer.requests().len(), requests + 50);
        // A call right behind another may find its connection not back yet, and dial beside waiting for it.
        assert!(peer.connections() <= connections + 5);
        let second = connect().await.expect("connects");
        second
            .call("ok", Arguments::none())
            .await
            .expect("answered");
        assert!(peer.connections() <= connections + 6);
    }
}

/// H8: hundreds of calls under way at once, in any order of answers, and stuck ones delay nobody.
#[tokio::test]
async fn many_calls_and_stuck_ones() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = but_for_t(kind, |_| vec![HttpAct::Hang]);
        let client = client_of(kind, &peer).await;
        let mut stuck = tokio::task::JoinSet::new();
        for _ in 0..20 {
            stuck.spawn(client.call("t", Arguments::none()));
        }
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..200 {
            let call = client.call("ok", Arguments::none());
            calls.spawn(call.timeout(Duration::from_secs(30)));
        }
        while let Some(ended) = calls.join_next().await {
            ended.expect("no panic").expect("answered");
        }
        assert_eq!(stuck.len(), 20);
        stuck.shutdown().await;
        soon(|| peer.gone() >= 20).await;
        assert_eq!(count(&peer, "tools/call"), 220);
        client.call("ok", Arguments::none()).await.expect("goes on");
    }
}

/// S8: what waits behind the bound of requests under way is skipped once nobody waits for it, and was not sent.
#[tokio::test]
async fn what_waits_for_room_is_not_sent() {
    let peer = but_for_t(Kind::Modern, |_| vec![HttpAct::Hang]);
    let client = client_of(Kind::Modern, &peer).await;
    let mut stuck = tokio::task::JoinSet::new();
    for _ in 0..256 {
        stuck.spawn(client.call("t", Arguments::none()));
    }
    soon(|| count(&peer, "tools/call") == 256).await;
    let call = client.call("ok", Arguments::none()).timeout(SHORT);
    let error = call.await.expect_err("no room");
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::Timeout, Outcome::NotSent, None)
    );
    let waiting = client.call("ok", Arguments::none());
    let answered = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stuck.shutdown().await;
    };
    let (answered, ()) = tokio::join!(waiting, answered);
    answered.expect("room came");
    assert_eq!(count(&peer, "tools/call"), 257);
}

/// L4, S10: what is refused here makes no request.
#[tokio::test]
async fn refused_arguments_make_no_request() {
    let peer = HttpPeer::start(|_, request| honest(Kind::Modern, request));
    let client = client_of(Kind::Modern, &peer).await;
    let before = peer.requests().len();
    let long = format!("{{\"x\":\"{}\"}}", "x".repeat(1 << 20));
    for (tool, arguments) in [
        ("none", "{}".to_owned()),
        ("ok", "[]".to_owned()),
        ("ok", long),
    ] {
        let error = client
            .call(tool, Arguments::text(arguments))
            .await
            .expect_err("refused");
        assert_eq!(error.outcome(), Outcome::NotSent);
    }
    assert_eq!(peer.requests().len(), before);
}

/// L8: results that nobody takes pause the reading, not the deadlines; once they are taken it goes on.
#[tokio::test]
async fn results_that_nobody_takes() {
    let large = format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}",
        "x".repeat(500_000)
    );
    let peer = but_for_t(Kind::Modern, move |request| reply(request, &large));
    let mut limits = Limits::default();
    limits.max_buffered_bytes = 1 << 20;
    let config = entry_of(&peer).protocol(Protocol::Modern).limits(limits);
    let client = Client::connect(config.build().expect("a valid entry"))
        .await
        .expect("connects");
    let mut calls: Vec<_> = (0..8)
        .map(|_| {
            Box::pin(
                client
                    .call("t", Arguments::none())
                    .timeout(Duration::from_secs(20)),
            )
        })
        .collect();
    // Each is polled once, and then nobody takes what comes.
    for call in &mut calls {
        let first = std::future::poll_fn(|context| {
            std::task::Poll::Ready(call.as_mut().poll(context).is_pending())
        })
        .await;
        assert!(first);
    }
    soon(|| client.report().buffered_bytes > 1 << 20).await;
    tokio::time::sleep(SHORT).await;
    assert!(
        client.report().buffered_bytes < 3 << 20,
        "{}",
        client.report().buffered_bytes
    );
    let error = client
        .call("ok", Arguments::none())
        .await
        .expect_err("no room");
    assert_eq!(error.outcome(), Outcome::NotSent);
    let mut takers = tokio::task::JoinSet::new();
    for call in calls {
        takers.spawn(call);
    }
    while let Some(ended) = takers.join_next().await {
        ended.expect("no panic").expect("answered");
    }
    client.call("ok", Arguments::none()).await.expect("goes on");
    assert_eq!(client.report().buffered_bytes, 0);
}
