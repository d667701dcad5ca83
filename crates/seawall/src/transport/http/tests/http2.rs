//! Over HTTP/2, which most servers behind TLS speak.

use std::net::Ipv4Addr;
use std::sync::Mutex;

use h2::Reason;
use h2::server::{Connection, SendResponse};
use http::{Request, Response};
use seawall_testkit::test_tls;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::*;

/// What to do with a request.
#[derive(Clone, Copy)]
enum Act {
    Reply,
    Reset(Reason),
    GoAway(Reason),
}

/// A server, and the bodies that it read with the number of the connection that they came on.
struct Peer {
    url: String,
    bodies: Arc<Mutex<Vec<(usize, Bytes)>>>,
    _tasks: JoinSet<()>,
}

type Server = Connection<TlsStream<TcpStream>, Bytes>;

impl Peer {
    async fn start(acts: &'static [Act]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("https://{}/mcp", listener.local_addr().unwrap());
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let mut tls = test_tls();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let seen = Arc::clone(&bodies);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            for number in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let stream = acceptor.accept(stream).await.unwrap();
                let server = h2::server::handshake(stream).await.unwrap();
                serve(server, number, acts, &seen).await;
            }
        });
        Self {
            url,
            bodies,
            _tasks: tasks,
        }
    }

    fn connections_of_bodies(&self) -> Vec<usize> {
        self.bodies
            .lock()
            .unwrap()
            .iter()
            .map(|(at, _)| *at)
            .collect()
    }
}

async fn serve(mut server: Server, number: usize, acts: &[Act], seen: &Mutex<Vec<(usize, Bytes)>>) {
    while let Some(Ok((request, respond))) = server.accept().await {
        // The connection goes on while the body is read.
        let body = {
            tokio::select! {
                body = read(request) => body,
                _ = poll_fn(|cx| server.poll_closed(cx)) => return,
            }
        };
        let at = {
            let mut seen = seen.lock().unwrap();
            seen.push((number, body));
            seen.len() - 1
        };
        match acts.get(at).copied().unwrap_or(Act::Reply) {
            Act::Reply => reply(respond),
            Act::Reset(reason) => {
                let mut respond = respond;
                respond.send_reset(reason);
            }
            Act::GoAway(reason) => {
                server.abrupt_shutdown(reason);
                drop(respond);
            }
        }
    }
}

async fn read(request: Request<h2::RecvStream>) -> Bytes {
    let mut stream = request.into_body();
    let mut body = Vec::new();
    while let Some(Ok(chunk)) = stream.data().await {
        let _ = stream.flow_control().release_capacity(chunk.len());
        body.extend_from_slice(&chunk);
    }
    Bytes::from(body)
}

fn reply(mut respond: SendResponse<Bytes>) {
    let head = Response::builder().header("content-type", "application/json");
    let mut stream = respond
        .send_response(head.body(()).unwrap(), false)
        .unwrap();
    stream.send_data(Bytes::from(REPLY), true).unwrap();
}

async fn ends(peer: &Peer, posts: u64) -> Vec<End> {
    let mut http = StreamableHttp::new(trusting(&peer.url));
    let mut ends = Vec::new();
    for key in 0..posts {
        http.post(post(key, PostKind::Request));
        let outcome = outcome(&mut http, key).await;
        assert!(outcome.dispatched);
        ends.extend(outcome.end);
    }
    ends
}

/// T2: one connection serves all.
#[tokio::test]
async fn one_connection_serves_all() {
    let peer = Peer::start(&[]).await;
    assert_eq!(ends(&peer, 3).await, [OK, OK, OK]);
    assert_eq!(peer.connections_of_bodies(), [0, 0, 0]);
    assert_eq!(
        peer.bodies.lock().unwrap()[2].1,
        post(2, PostKind::Request).body
    );
}

/// O2: neither a refused stream nor a connection that goes away has a request sent again behind our back.
#[tokio::test]
async fn nothing_is_sent_twice() {
    for act in [
        &[Act::Reset(Reason::REFUSED_STREAM)][..],
        &[Act::Reset(Reason::CANCEL)],
        &[Act::GoAway(Reason::NO_ERROR)],
        &[Act::GoAway(Reason::INTERNAL_ERROR)],
    ] {
        let peer = Peer::start(act).await;
        assert_eq!(ends(&peer, 2).await, [End::Broken(HttpFault::Lost), OK]);
        let bodies = peer.bodies.lock().unwrap();
        assert_eq!(bodies.len(), 2, "each came once");
        assert_ne!(bodies[0].1, bodies[1].1);
    }
}
