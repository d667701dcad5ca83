//! An HTTP server that misbehaves on purpose: raw TCP on loopback, in this process, told request by request what to do.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

mod act;
mod request;
mod tls;

pub use act::HttpAct;
pub use request::HttpRequest;
pub(crate) use request::read_request;
pub use tls::{TEST_ROOT, test_tls};

/// A connection, in clear or not.
trait Wire: Read + Write {}

impl<T: Read + Write> Wire for T {}

type Answers = dyn Fn(usize, &HttpRequest) -> Vec<HttpAct> + Send + Sync;

/// A running server. It ends, and closes its connections, when it is dropped.
pub struct HttpPeer {
    scheme: &'static str,
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
    sent: AtomicUsize,
    stopped: AtomicBool,
}

impl HttpPeer {
    /// Serves what `answers` says to each request, which is told how many came before it.
    pub fn start(
        answers: impl Fn(usize, &HttpRequest) -> Vec<HttpAct> + Send + Sync + 'static,
    ) -> Self {
        Self::serve("http", Vec::new(), Box::new(answers))
    }

    /// The same over TLS, for `127.0.0.1`, with a certificate of [`TEST_ROOT`].
    pub fn start_tls(
        answers: impl Fn(usize, &HttpRequest) -> Vec<HttpAct> + Send + Sync + 'static,
    ) -> Self {
        Self::serve("https", Vec::new(), Box::new(answers))
    }

    /// Does this with each connection, and reads nothing.
    #[must_use]
    pub fn at_once(acts: Vec<HttpAct>) -> Self {
        Self::serve("http", acts, Box::new(|_, _| vec![HttpAct::Close]))
    }

    fn serve(scheme: &'static str, at_once: Vec<HttpAct>, answers: Box<Answers>) -> Self {
        let (listener, address) = listen();
        let shared = Arc::new(Shared {
            at_once,
            answers,
            requests: Mutex::default(),
            open: Mutex::default(),
            connections: AtomicUsize::new(0),
            gone: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let tls = (scheme == "https").then(|| Arc::new(test_tls()));
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&accepting);
                let tls = tls.clone();
                thread::spawn(move || shared.connection(stream, tls));
            }
        });
        Self {
            scheme,
            address,
            shared,
        }
    }

    /// The address of `path` here.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
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

    /// How many bytes the client took, or the system for it.
    #[must_use]
    pub fn sent(&self) -> usize {
        self.shared.sent.load(Ordering::SeqCst)
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
    fn connection(&self, stream: TcpStream, tls: Option<Arc<rustls::ServerConfig>>) {
        let number = self.connections.fetch_add(1, Ordering::SeqCst);
        let _ = stream.set_nodelay(true);
        if let Ok(clone) = stream.try_clone() {
            lock(&self.open).insert(number, clone);
        }
        if self.stopped.load(Ordering::SeqCst) {
            // It came while the peer was going: nobody shuts it any more.
            lock(&self.open).remove(&number);
            return;
        }
        let socket = stream.try_clone();
        let mut wire: Box<dyn Wire> = match tls {
            None => Box::new(stream),
            Some(tls) => match rustls::ServerConnection::new(tls) {
                Ok(server) => Box::new(rustls::StreamOwned::new(server, stream)),
                Err(_) => return,
            },
        };
        if let Err(error) = self.converse(&mut *wire, number)
            && error.kind() == io::ErrorKind::ConnectionReset
            && let Ok(socket) = &socket
        {
            reset(socket);
        }
        // The last handle is what closes: in order, or with a reset if that was asked for.
        lock(&self.open).remove(&number);
    }

    /// Serves one connection until it ends, which is always an error.
    fn converse(&self, wire: &mut dyn Wire, number: usize) -> io::Result<()> {
        if !self.at_once.is_empty() {
            self.act(wire, &self.at_once)?;
            return self.hang(wire);
        }
        loop {
            let request = read_request(wire, number)?;
            let before = {
                let mut requests = lock(&self.requests);
                requests.push(request.clone());
                requests.len() - 1
            };
            let acts = (self.answers)(before, &request);
            self.act(wire, &acts)?;
        }
    }

    /// Does `acts`; an error ends the connection.
    fn act(&self, stream: &mut dyn Wire, acts: &[HttpAct]) -> io::Result<()> {
        for act in acts {
            match act {
                HttpAct::Send(bytes) => self.send(stream, bytes)?,
                HttpAct::SendForever(bytes) => loop {
                    self.send(stream, bytes)?;
                },
                HttpAct::Wait(pause) => crate::pause(*pause),
                HttpAct::Hang => return self.hang(stream),
                HttpAct::Close => return Err(io::ErrorKind::ConnectionAborted.into()),
                HttpAct::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
            }
        }
        Ok(())
    }

    fn send(&self, stream: &mut dyn Wire, bytes: &[u8]) -> io::Result<()> {
        let written = stream.write_all(bytes).and_then(|()| stream.flush());
        match &written {
            Ok(()) => self.sent.fetch_add(bytes.len(), Ordering::SeqCst),
            Err(_) => self.gone.fetch_add(1, Ordering::SeqCst),
        };
        written
    }

    /// Waits until the client is gone.
    fn hang(&self, stream: &mut dyn Wire) -> io::Result<()> {
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
    let _ = rustix::net::sockopt::set_socket_linger(stream, Some(std::time::Duration::ZERO));
}

#[cfg(not(unix))]
fn reset(_: &TcpStream) {}
