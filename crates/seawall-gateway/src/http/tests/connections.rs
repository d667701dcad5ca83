//! What a connection may hold, and for how long: over loopback, with clients that behave badly.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::BodyExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::{Front, HttpLimits, answer, modern};
use crate::http::{Body, listen};

const SOON: Duration = Duration::from_millis(300);
/// Far longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

fn limits() -> HttpLimits {
    HttpLimits {
        header_timeout: SOON,
        connection_idle: SOON,
        taking_timeout: SOON,
        ..HttpLimits::default()
    }
}

/// A listener, until it is told to stop.
struct Served {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinSet<()>,
    /// Bodies that are not over, of those that never end by themselves.
    held: Arc<AtomicUsize>,
}

impl Served {
    /// `/flood` is answered without an end, everything else by the endpoint.
    async fn start(front: &Front, limits: HttpLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let held = Arc::new(AtomicUsize::new(0));
        let (endpoint, count) = (front.endpoint.clone(), Arc::clone(&held));
        let handler = move |request: Request<hyper::body::Incoming>| {
            let (endpoint, count) = (endpoint.clone(), Arc::clone(&count));
            async move {
                if request.uri().path() == "/flood" {
                    return Response::new(Flood::new(count).boxed_unsync());
                }
                endpoint.handle(request).await
            }
        };
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            listen(listener, &limits, handler, async {
                let _ = stopped.await;
            })
            .await;
        });
        Self {
            address,
            stop: Some(stop),
            serving,
            held,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    async fn until_held(&self, held: usize) {
        let reached = async {
            while self.held() != held {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(LONG, reached).await.unwrap();
    }
}

/// A body without an end.
struct Flood(Arc<AtomicUsize>);

impl Flood {
    fn new(held: Arc<AtomicUsize>) -> Self {
        held.fetch_add(1, Ordering::SeqCst);
        Self(held)
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl http_body::Body for Flood {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = Bytes::from_static(&[b'x'; 1 << 20]);
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

fn request(method: &str) -> String {
    let body = modern(method, "");
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Everything until the other side ends.
async fn rest(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    // A reset is an end too.
    let _ = timeout(LONG, stream.read_to_end(&mut all)).await.unwrap();
    String::from_utf8_lossy(&all).into_owned()
}

async fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut all = Vec::new();
    let read = async {
        while !String::from_utf8_lossy(&all).contains(end) {
            let mut buffer = [0; 4_096];
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0, "it ended");
            all.extend_from_slice(&buffer[..read]);
        }
    };
    timeout(LONG, read).await.unwrap();
    String::from_utf8_lossy(&all).into_owned()
}

/// L6, G3: a connection that never asks for anything ends, however far it came, and so does one that is done asking.
#[tokio::test]
async fn a_connection_that_asks_nothing_ends() {
    let front = Front::new();
    let served = Served::start(&front, limits()).await;
    for begun in [
        "",
        "P",
        "PRI * HTTP/2.0\r\n\r\nS",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: loc",
    ] {
        let mut stream = served.connect().await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        let before = Instant::now();
        rest(&mut stream).await;
        assert!(before.elapsed() < SOON * 10, "{begun:?}");
    }
    let mut stream = served.connect().await;
    stream
        .write_all(request("tools/list").as_bytes())
        .await
        .unwrap();
    until(&mut stream, &answer(1)).await;
    assert_eq!(rest(&mut stream).await, "");
}

/// L6, G3: headers are bounded in number and in size.
#[tokio::test]
async fn headers_are_bounded() {
    let front = Front::new();
    let served = Served::start(&front, HttpLimits::default()).await;
    let many = |count: usize| {
        (0..count)
            .map(|at| format!("x-{at}: y\r\n"))
            .collect::<String>()
    };
    let long = format!("x-long: {}\r\n", "y".repeat(80 * 1024));
    for (headers, status) in [(many(90), "405"), (many(101), "431"), (long, "431")] {
        let mut stream = served.connect().await;
        let head = format!("PUT /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        // It may be refused before all of it is sent.
        let _ = stream.write_all(head.as_bytes()).await;
        let said = timeout(LONG, async {
            let mut buffer = [0; 64];
            let read = stream.read(&mut buffer).await.unwrap();
            String::from_utf8_lossy(&buffer[..read]).into_owned()
        });
        let said = said.await.unwrap();
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{said}");
    }
}

/// L6, G3: a client that takes nothing of its answer is hung up on; one that takes some of it, however little, is not.
#[tokio::test]
async fn a_client_that_takes_nothing_is_hung_up_on() {
    let front = Front::new();
    let served = Served::start(&front, limits()).await;
    let get = "GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut slow = served.connect().await;
    slow.write_all(get.as_bytes()).await.unwrap();
    served.until_held(1).await;
    let mut stuck = served.connect().await;
    stuck.write_all(get.as_bytes()).await.unwrap();
    served.until_held(2).await;
    let begun = Instant::now();
    let mut buffer = vec![0; 256 * 1024];
    while begun.elapsed() < SOON * 4 {
        assert!(slow.read(&mut buffer).await.unwrap() > 0);
        sleep(SOON / 10).await;
    }
    assert_eq!(served.held(), 1);
    drop(slow);
    served.until_held(0).await;
    drop(stuck);
}

/// L6, G3: on HTTP/2 too, where the connection goes on and one stream is not taken.
#[tokio::test]
async fn a_stream_that_is_not_taken_ends_its_connection() {
    let front = Front::new();
    let served = Served::start(&front, limits()).await;
    let stream = served.connect().await;
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(connection);
    let url = format!("http://{}/flood", served.address);
    let (response, _) = client
        .send_request(Request::get(url).body(()).unwrap(), true)
        .unwrap();
    let body = response.await.unwrap().into_body();
    served.until_held(1).await;
    // Its window is never given back.
    let ended = timeout(LONG, tasks.join_next()).await.unwrap();
    assert!(ended.is_some());
    served.until_held(0).await;
    drop(body);
}

/// G3: HTTP/2 on the same port, without TLS, many requests on one connection.
#[tokio::test]
async fn http2_is_spoken() {
    let front = Front::new();
    let served = Served::start(&front, HttpLimits::default()).await;
    let stream = served.connect().await;
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let _ = connection.await;
    });
    for _ in 0..3 {
        let mut answers = Vec::new();
        for _ in 0..20 {
            let mut client = client.clone().ready().await.unwrap();
            let request = Request::post(format!("http://{}/mcp", served.address))
                .header("content-type", "application/json")
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "tools/list")
                .body(())
                .unwrap();
            let (response, mut sending) = client.send_request(request, false).unwrap();
            let body = Bytes::from(modern("tools/list", ""));
            sending.send_data(body, true).unwrap();
            answers.push(response);
        }
        for response in answers {
            let mut body = response.await.unwrap().into_body();
            let mut all = Vec::new();
            while let Some(data) = poll_fn(|cx| body.poll_data(cx)).await {
                all.extend_from_slice(&data.unwrap());
            }
            assert_eq!(String::from_utf8(all).unwrap(), answer(1));
        }
    }
}

/// G3: an end lets what is under way be answered, hangs up on who asks nothing, and takes nobody new.
#[tokio::test]
async fn an_end_lets_answers_out() {
    let front = Front::new();
    let mut served = Served::start(&front, HttpLimits::default()).await;
    let mut idle = served.connect().await;
    idle.write_all(request("tools/list").as_bytes())
        .await
        .unwrap();
    until(&mut idle, &answer(1)).await;
    let mut asking = served.connect().await;
    asking
        .write_all(request("test/tell").as_bytes())
        .await
        .unwrap();
    until(&mut asking, "data: ").await;
    served.stop.take().unwrap().send(()).unwrap();
    assert_eq!(rest(&mut idle).await, "");
    assert!(rest(&mut asking).await.contains(&answer(1)));
    timeout(LONG, served.serving.join_next()).await.unwrap();
    assert!(TcpStream::connect(served.address).await.is_err());
}

/// L6: one connection more than there may be waits until another ends.
#[tokio::test]
async fn connections_are_bounded() {
    let front = Front::new();
    let limits = HttpLimits {
        max_connections: 1,
        ..HttpLimits::default()
    };
    let served = Served::start(&front, limits).await;
    let mut first = served.connect().await;
    first
        .write_all(request("tools/list").as_bytes())
        .await
        .unwrap();
    until(&mut first, &answer(1)).await;
    let mut second = served.connect().await;
    second
        .write_all(request("tools/list").as_bytes())
        .await
        .unwrap();
    let early = timeout(SOON, second.read_u8()).await;
    assert!(early.is_err());
    drop(first);
    until(&mut second, &answer(1)).await;
}

/// A body comes as it was made: whole, with its length.
#[tokio::test]
async fn a_body_in_parts_is_the_same_body() {
    use crate::http::connection::{CHUNK, Life};
    let whole: Vec<u8> = (0..CHUNK * 2 + 7)
        .map(|at| u8::try_from(at % 251).unwrap())
        .collect();
    let body: Body = http_body_util::Full::new(Bytes::from(whole.clone())).boxed_unsync();
    let mut body = Life::new().begin().watch(body);
    let size = u64::try_from(whole.len()).unwrap();
    assert_eq!(http_body::Body::size_hint(&body).exact(), Some(size));
    let mut parts = Vec::new();
    while let Some(frame) = body.frame().await {
        let data = frame.unwrap().into_data().unwrap();
        assert!(data.len() <= CHUNK);
        parts.extend_from_slice(&data);
        let left = u64::try_from(whole.len() - parts.len()).unwrap();
        assert_eq!(http_body::Body::size_hint(&body).exact(), Some(left));
    }
    assert_eq!(parts, whole);
}
