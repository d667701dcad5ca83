//! HTTP+SSE, revision 2024-11-05.

use super::*;

fn open(endpoint: &str) -> Vec<HttpAct> {
    vec![
        HttpAct::stream(),
        HttpAct::chunk(format!("event: endpoint\ndata: {endpoint}\n\n")),
    ]
}

fn closed(event: HttpEvent) -> End {
    match event {
        HttpEvent::Closed { end } => end,
        event => panic!("{event:?}"),
    }
}

/// T3: posts wait for the address that the stream names; replies come on the stream.
#[tokio::test]
async fn posts_go_where_the_stream_says() {
    let peer = HttpPeer::start(|before, _| match before {
        0 => {
            let mut acts = open("/messages?session=1");
            acts.extend([
                HttpAct::Wait(Duration::from_millis(300)),
                HttpAct::chunk(format!("event: message\ndata: {REPLY}\n\n")),
                HttpAct::Hang,
            ]);
            acts
        }
        _ => vec![HttpAct::answer(
            202,
            &["content-type: text/plain"],
            "Accepted",
        )],
    });
    let mut config = config(&peer.url("/sse"));
    config
        .headers
        .insert("x-key", HeaderValue::from_static("k"));
    let mut http = EventStreamHttp::new(config);
    http.post(post(1, PostKind::Initialize));
    let end = End::Complete { status: 202 };
    assert_eq!(outcome(&mut http, 1).await, ended(&[], end));
    let message = HttpEvent::Message {
        key: None,
        status: 200,
        frame: Bytes::from(REPLY),
    };
    assert_eq!(next(&mut http).await, message);
    http.finish(1);
    http.negotiated(Revision::V2024_11_05);
    let requests = peer.requests();
    let seen: Vec<_> = requests
        .iter()
        .map(|request| {
            (
                request.method.as_str(),
                request.target.as_str(),
                request.header("x-key"),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("GET", "/sse", Some("k")),
            ("POST", "/messages?session=1", Some("k"))
        ]
    );
    http.end(LONG).await;
}

/// T3, T4: a relative address counts from where redirects within the origin led.
#[tokio::test]
async fn relative_endpoint_counts_from_the_redirects_end() {
    let peer = HttpPeer::start(|before, _| match before {
        0 => vec![HttpAct::answer(307, &["location: /v1/sse"], "")],
        1 => {
            let mut acts = open("messages");
            acts.push(HttpAct::Hang);
            acts
        }
        _ => vec![HttpAct::answer(202, &[], "")],
    });
    let mut http = EventStreamHttp::new(config(&peer.url("/sse")));
    http.post(post(1, PostKind::Initialize));
    let end = End::Complete { status: 202 };
    assert_eq!(outcome(&mut http, 1).await, ended(&[], end));
    assert_eq!(peer.requests()[2].target, "/v1/messages");
}

/// T3: a post that the server never answers is complete once its reply was seen.
#[tokio::test]
async fn finished_post_does_not_wait_for_its_answer() {
    let peer = HttpPeer::start(|before, _| match before {
        0 => {
            let mut acts = open("/m");
            acts.push(HttpAct::Hang);
            acts
        }
        _ => vec![HttpAct::Hang],
    });
    let mut http = EventStreamHttp::new(config(&peer.url("/sse")));
    http.post(post(1, PostKind::Request));
    dispatched(&mut http, 1).await;
    http.finish(1);
    assert_eq!(next(&mut http).await, HttpEvent::Ended { key: 1, end: OK });
}

/// T3, T4: an address of another origin, or none, closes the transport; the posts that waited were not sent.
#[tokio::test]
async fn endpoint_of_another_origin_is_refused() {
    let other = HttpPeer::start(|_, _| vec![HttpAct::answer(202, &[], "")]);
    for endpoint in [
        other.url("/m"),
        "http://[".to_owned(),
        "javascript:1".to_owned(),
    ] {
        let peer = HttpPeer::start(move |_, _| open(&endpoint));
        let mut http = EventStreamHttp::new(config(&peer.url("/sse")));
        http.post(post(1, PostKind::Request));
        http.post(post(2, PostKind::Notification));
        assert_eq!(
            closed(next(&mut http).await),
            End::Broken(HttpFault::Endpoint)
        );
        for _ in 0..2 {
            let HttpEvent::Ended { end, .. } = next(&mut http).await else {
                panic!("they end");
            };
            assert_eq!(end, End::NotSent(HttpFault::StreamClosed));
        }
        http.post(post(3, PostKind::Request));
        let end = End::NotSent(HttpFault::StreamClosed);
        assert_eq!(next(&mut http).await, HttpEvent::Ended { key: 3, end });
    }
    assert_eq!(other.requests().len(), 0);
}

/// T3, L1: a stream that is none, ends, or passes the bound closes the transport, and says why.
#[tokio::test]
async fn stream_that_fails_closes_the_transport() {
    let flood = vec![
        HttpAct::stream(),
        HttpAct::chunk("data: "),
        HttpAct::chunks_forever(vec![b'x'; 9_000]),
    ];
    let mut gone = open("/m");
    gone.push(HttpAct::last_chunk());
    for (acts, end) in [
        (vec![HttpAct::answer(404, &[], "")], status(404)),
        (
            vec![HttpAct::json(200, "{}")],
            End::Broken(HttpFault::ContentType),
        ),
        (
            vec![HttpAct::stream(), HttpAct::last_chunk()],
            End::Broken(HttpFault::Endpoint),
        ),
        (gone, End::Broken(HttpFault::EndedEarly)),
        (flood, End::TooLong { limit: LIMIT }),
    ] {
        let peer = HttpPeer::start(move |_, _| acts.clone());
        let mut http = EventStreamHttp::new(config(&peer.url("/sse")));
        assert_eq!(closed(next(&mut http).await), end);
        nothing(&mut http, Duration::from_millis(50)).await;
        assert_eq!(peer.requests().len(), 1, "it is not asked again");
    }
}

/// S8: a post that waits for the address is taken back unsent; one that went out was handed over.
#[tokio::test]
async fn hung_up_posts_tell_whether_they_went_out() {
    let peer = HttpPeer::start(|before, _| match before {
        0 => {
            let mut acts = vec![HttpAct::Wait(Duration::from_millis(600))];
            acts.extend(open("/m"));
            acts.push(HttpAct::Hang);
            acts
        }
        _ => vec![HttpAct::Hang],
    });
    let mut http = EventStreamHttp::new(config(&peer.url("/sse")));
    http.post(post(1, PostKind::Request));
    http.post(post(2, PostKind::Request));
    nothing(&mut http, Duration::from_millis(20)).await;
    assert_eq!(http.hang_up(1), Handed::No);
    dispatched(&mut http, 2).await;
    assert_eq!(http.hang_up(2), Handed::Yes);
    nothing(&mut http, Duration::from_millis(100)).await;
    assert_eq!(peer.gone(), 1);
}
