//! An HTTP server that misbehaves on purpose: raw TCP on loopback, in this process, told request by request what to do.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What to do next on a connection. After the last one, the next request is read.
#[derive(Debug, Clone)]
pub enum HttpAct {
    /// Writes these bytes.
    Send(Vec<u8>),
    /// Writes these bytes again and again until the client is gone.
    SendForever(Vec<u8>),
    /// Waits.
    Wait(Duration),
    /// Waits until the client is gone.
    Hang,
    /// Closes the connection in order.
    Close,
    /// Resets the connection (on Unix; elsewhere it is closed).
    Reset,
}

impl HttpAct {
    /// A whole answer with a length.
    #[must_use]
    pub fn answer(status: u16, headers: &[&str], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = format!("content-length: {}", body.len());
        let mut bytes = head(status, &[headers, &[&length]].concat());
        bytes.extend_from_slice(body);
        Self::Send(bytes)
    }

    /// A whole answer of JSON.
    #[must_use]
    pub fn json(status: u16, body: &str) -> Self {
        Self::answer(status, &["content-type: application/json"], body)
    }

    /// The head of an answer, exactly with these headers.
    #[must_use]
    pub fn head(status: u16, headers: &[&str]) -> Self {
        Self::Send(head(status, headers))
    }

    /// The head of a stream of events, chunked.
    #[must_use]
    pub fn stream() -> Self {
        Self::head(
            200,
            &[
                "content-type: text/event-stream",
                "transfer-encoding: chunked",
            ],
        )
    }

    /// One chunk of a chunked body.
    #[must_use]
    pub fn chunk(bytes: impl AsRef<[u8]>) -> Self {
        Self::Send(chunk(bytes.as_ref()))
    }

    /// The end of a chunked body.
    #[must_use]
    pub fn last_chunk() -> Self {
        Self::Send(b"0\r\n\r\n".to_vec())
    }

    /// One chunk of a chunked body, again and again until the client is gone.
    #[must_use]
    pub fn chunks_forever(bytes: impl AsRef<[u8]>) -> Self {
        Self::SendForever(chunk(bytes.as_ref()))
    }
}

fn head(status: u16, headers: &[&str]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Whatever\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// Which connection it came on, from 0.
    pub connection: usize,
    /// Its method.
    pub method: String,
    /// Its target: path and query.
    pub target: String,
    /// Its headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body, as long as it said.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The first header of this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }
}

type Answers = dyn Fn(usize, &HttpRequest) -> Vec<HttpAct> + Send + Sync;

/// A running server. It ends, and closes its connections, when it is dropped.
pub struct HttpPeer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    /// What to do at once with a new connection, before any request.
    at_once: Vec<HttpAct>,
    answers: Box<Answers>,
    requests: Mutex<Vec<HttpRequest>>,
    open: Mutex<HashMap<usize, TcpStream>>,
    connections: AtomicUsize,
    gone: AtomicUsize,
    stopped: AtomicBool,
}

impl HttpPeer {
    /// Serves what `answers` says to each request, which is told how many came before it.
    pub fn start(
        answers: impl Fn(usize, &HttpRequest) -> Vec<HttpAct> + Send + Sync + 'static,
    ) -> Self {
        Self::serve(Vec::new(), Box::new(answers))
    }

    /// Does this with each connection, and reads nothing.
    #[must_use]
    pub fn at_once(acts: Vec<HttpAct>) -> Self {
        Self::serve(acts, Box::new(|_, _| vec![HttpAct::Close]))
    }

    fn serve(at_once: Vec<HttpAct>, answers: Box<Answers>) -> Self {
        let (listener, address) = listen();
        let shared = Arc::new(Shared {
            at_once,
            answers,
            requests: Mutex::default(),
            open: Mutex::default(),
            connections: AtomicUsize::new(0),
            gone: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&accepting);
                thread::spawn(move || shared.connection(stream));
            }
        });
        Self { address, shared }
    }

    /// The address of `path` here.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Everything that was requested so far.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        lock(&self.shared.requests).clone()
    }

    /// How many connections there were.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How many connections the client left in the middle of an act.
    #[must_use]
    pub fn gone(&self) -> usize {
        self.shared.gone.load(Ordering::SeqCst)
    }
}

impl Drop for HttpPeer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The accepting thread looks only when somebody comes.
        let _ = TcpStream::connect(self.address);
        for (_, stream) in lock(&self.shared.open).drain() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn connection(&self, mut stream: TcpStream) {
        let number = self.connections.fetch_add(1, Ordering::SeqCst);
        let _ = stream.set_nodelay(true);
        if let Ok(clone) = stream.try_clone() {
            lock(&self.open).insert(number, clone);
        }
        if !self.at_once.is_empty() {
            if self.act(&mut stream, &self.at_once).is_ok() {
                let _ = self.hang(&mut stream);
            }
        } else {
            while let Ok(request) = read_request(&mut stream, number) {
                let before = {
                    let mut requests = lock(&self.requests);
                    requests.push(request.clone());
                    requests.len() - 1
                };
                let acts = (self.answers)(before, &request);
                if self.act(&mut stream, &acts).is_err() {
                    break;
                }
            }
        }
        // The last handle is what closes: in order, or with a reset if that was asked for.
        lock(&self.open).remove(&number);
    }

    /// Does `acts`; an error ends the connection.
    fn act(&self, stream: &mut TcpStream, acts: &[HttpAct]) -> io::Result<()> {
        for act in acts {
            match act {
                HttpAct::Send(bytes) => self.send(stream, bytes)?,
                HttpAct::SendForever(bytes) => loop {
                    self.send(stream, bytes)?;
                },
                HttpAct::Wait(pause) => crate::pause(*pause),
                HttpAct::Hang => return self.hang(stream),
                HttpAct::Close => return Err(io::ErrorKind::ConnectionAborted.into()),
                HttpAct::Reset => {
                    reset(stream);
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
            }
        }
        Ok(())
    }

    fn send(&self, stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
        stream.write_all(bytes).inspect_err(|_| {
            self.gone.fetch_add(1, Ordering::SeqCst);
        })
    }

    /// Waits until the client is gone.
    fn hang(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut buffer = [0; 1024];
        while matches!(stream.read(&mut buffer), Ok(length) if length > 0) {}
        self.gone.fetch_add(1, Ordering::SeqCst);
        Err(io::ErrorKind::ConnectionAborted.into())
    }
}

#[expect(clippy::expect_used, reason = "a test cannot go on without it")]
fn listen() -> (TcpListener, SocketAddr) {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback can be listened on");
    let address = listener.local_addr().expect("what listens has an address");
    (listener, address)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn reset(stream: &TcpStream) {
    let _ = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
}

#[cfg(not(unix))]
fn reset(_: &TcpStream) {}

fn read_request(stream: &mut TcpStream, connection: usize) -> io::Result<HttpRequest> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let mut more = |bytes: &mut Vec<u8>| match stream.read(&mut buffer)? {
        0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        length => {
            bytes.extend_from_slice(&buffer[..length]);
            Ok(())
        }
    };
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        more(&mut bytes)?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut first = lines
        .next()
        .unwrap_or_default()
        .split(' ')
        .map(str::to_owned);
    let mut request = HttpRequest {
        connection,
        method: first.next().unwrap_or_default(),
        target: first.next().unwrap_or_default(),
        headers: lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect(),
        body: Vec::new(),
    };
    let length = request
        .header("content-length")
        .and_then(|length| length.parse().ok());
    let length: usize = length.unwrap_or(0);
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        more(&mut body)?;
    }
    request.body = body;
    Ok(request)
}
