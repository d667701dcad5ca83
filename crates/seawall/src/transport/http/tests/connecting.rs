//! Servers that cannot be reached, and connections that are closed.

use super::*;

async fn unreached(url: &str) -> End {
    let mut http = StreamableHttp::new(modern(url));
    http.post(post(1, PostKind::Request));
    let outcome = outcome(&mut http, 1).await;
    assert!(!outcome.dispatched);
    outcome.end.unwrap()
}

/// O2: a refused connection, a name without an address, and TLS that fails are `not_sent`.
#[tokio::test]
async fn unreachable_server_is_not_sent() {
    // Nobody listens on the first port, and no test is given it.
    assert_eq!(
        unreached("http://127.0.0.1:1/").await,
        End::NotSent(HttpFault::Refused)
    );
    assert_eq!(
        unreached("http://no-such-host.invalid/").await,
        End::NotSent(HttpFault::Dns)
    );
    let peer = HttpPeer::at_once(vec![HttpAct::Send(b"HTTP/1.1 400 Bad\r\n\r\n".to_vec())]);
    let url = format!("https://{}/", peer.address());
    assert_eq!(unreached(&url).await, End::NotSent(HttpFault::Tls));
    let peer = HttpPeer::at_once(vec![HttpAct::Reset]);
    let url = format!("https://{}/", peer.address());
    assert!(matches!(unreached(&url).await, End::NotSent(_)));
}

/// T4: a certificate that nobody here trusts, or one for another name, ends it before anything is sent; a root that the
/// caller trusts is enough.
#[tokio::test]
async fn certificates_are_verified() {
    let peer = HttpPeer::start_tls(|_, _| vec![HttpAct::json(200, REPLY)]);
    let untrusted = End::NotSent(HttpFault::Certificate);
    assert_eq!(unreached(&peer.url("/")).await, untrusted);

    let mut http = StreamableHttp::new(trusting(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    assert_eq!(outcome(&mut http, 1).await, ended(&[(200, REPLY)], OK));

    let other_name = format!("https://127.0.0.2:{}/", peer.address().port());
    let mut http = StreamableHttp::new(trusting(&other_name));
    http.post(post(1, PostKind::Request));
    assert!(matches!(
        outcome(&mut http, 1).await.end,
        Some(End::NotSent(_))
    ));
    assert_eq!(peer.requests().len(), 1);
}

/// T4: a redirect from https to http is refused; nothing goes there.
#[tokio::test]
async fn redirect_to_cleartext_goes_nowhere() {
    let clear = HttpPeer::start(|_, _| vec![HttpAct::json(200, REPLY)]);
    let location = format!("location: {}", clear.url("/"));
    let peer = HttpPeer::start_tls(move |_, _| vec![HttpAct::answer(308, &[&location], "")]);
    let mut http = StreamableHttp::new(trusting(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    let origin = Some(format!("http://{}", clear.address()));
    assert_eq!(
        outcome(&mut http, 1).await,
        ended(&[], End::Redirect { origin })
    );
    assert_eq!(clear.connections(), 0);
}

/// T4: what the egress policy does not allow is never sent, not even looked up.
#[tokio::test]
async fn egress_policy_is_asked_before_the_first_byte() {
    let mut config = modern("http://no-such-host.invalid/mcp");
    config.client = HttpClient::builder()
        .egress(Arc::new(|_: &str, _: &str| false))
        .build()
        .unwrap();
    let mut http = StreamableHttp::new(config);
    http.post(post(1, PostKind::Request));
    let Some(End::NotSent(fault)) = outcome(&mut http, 1).await.end else {
        panic!("not sent");
    };
    assert_eq!(
        fault.to_string(),
        "the egress policy does not allow POST http://no-such-host.invalid"
    );
}

/// S8, O2: a server that accepts and says nothing is hung up on; the request was dispatched.
#[tokio::test]
async fn silent_server_is_hung_up_on() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::Hang]);
    let mut http = StreamableHttp::new(modern(&peer.url("/")));
    http.post(post(1, PostKind::Request));
    dispatched(&mut http, 1).await;
    nothing(&mut http, Duration::from_millis(100)).await;
    assert_eq!(http.hang_up(1), Handed::Yes);
    nothing(&mut http, Duration::from_millis(200)).await;
    assert_eq!(peer.gone(), 1);
}

/// O2: hung up on before a connection stood, a post is never sent, and the answer says so at once.
#[tokio::test]
async fn hung_up_before_the_connection_stands_is_never_sent() {
    let peer = HttpPeer::at_once(vec![HttpAct::Hang]);
    let url = format!("https://{}/", peer.address());
    let mut http = StreamableHttp::new(modern(&url));
    http.post(post(1, PostKind::Request));
    nothing(&mut http, Duration::from_millis(100)).await;
    assert_eq!(peer.connections(), 1);
    assert_eq!(http.hang_up(1), Handed::No);
    nothing(&mut http, Duration::from_millis(200)).await;
}

/// One connection serves one call after another; a warm call makes one request.
#[tokio::test]
async fn connection_is_used_again() {
    let peer = HttpPeer::start(|before, _| match before % 3 {
        0 => vec![HttpAct::json(200, REPLY)],
        1 => vec![
            HttpAct::stream(),
            HttpAct::chunk(format!("data: {REPLY}\n\n")),
            HttpAct::Wait(Duration::from_millis(20)),
            HttpAct::last_chunk(),
        ],
        _ => vec![HttpAct::answer(400, &[], "")],
    });
    let mut http = StreamableHttp::new(modern(&peer.url("/")));
    for key in 0..6 {
        http.post(post(key, PostKind::Request));
        outcome(&mut http, key).await;
    }
    assert_eq!((peer.requests().len(), peer.connections()), (6, 1));
}

/// A server that closes after each answer costs a connection each, with the header and without.
#[tokio::test]
async fn connection_closed_each_time_is_made_again() {
    for headers in [
        &["connection: close", "content-type: application/json"][..],
        &["content-type: application/json"],
    ] {
        let headers: Vec<String> = headers.iter().map(|&header| header.to_owned()).collect();
        let peer = HttpPeer::start(move |_, _| {
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            vec![HttpAct::answer(200, &headers, REPLY), HttpAct::Close]
        });
        let mut http = StreamableHttp::new(modern(&peer.url("/")));
        for key in 0..5 {
            http.post(post(key, PostKind::Request));
            assert_eq!(outcome(&mut http, key).await, ended(&[(200, REPLY)], OK));
            // So that the end of the connection is seen before it is taken again.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!((peer.requests().len(), peer.connections()), (5, 5));
    }
}

/// O2: a kept connection that the server closes while it is taken again never has a request sent twice: each is
/// answered, not sent, or unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_twice_over_a_closing_connection() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::json(200, REPLY), HttpAct::Close]);
    let mut http = StreamableHttp::new(modern(&peer.url("/")));
    let (mut answered, mut unknown, mut not_sent) = (0, 0, 0);
    for key in 0..300 {
        http.post(post(key, PostKind::Request));
        match outcome(&mut http, key).await.end {
            Some(End::Complete { .. }) => answered += 1,
            Some(End::Broken(_)) => unknown += 1,
            Some(End::NotSent(_)) => not_sent += 1,
            end => panic!("{end:?}"),
        }
    }
    let requests = peer.requests();
    let mut bodies: Vec<_> = requests.iter().map(|request| &request.body).collect();
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), requests.len(), "no body came twice");
    assert!(requests.len() >= answered && requests.len() <= answered + unknown);
    assert_eq!(answered + unknown + not_sent, 300);
}
