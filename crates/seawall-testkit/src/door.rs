//! Where the test's own servers are come to: a listener on loopback, in clear or with TLS, and a thread for each connection.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::http_peer::test_tls;

/// A connection, in clear or not.
pub(crate) trait Wire: Read + Write + Send {}

impl<T: Read + Write + Send> Wire for T {}

/// Serves one connection, which has a number, to its end. [`io::ErrorKind::ConnectionReset`] ends it with a reset.
type Serve = dyn Fn(Box<dyn Wire>, usize) -> io::Result<()> + Send + Sync;

/// An open door. It closes, with all its connections, when it is dropped.
pub(crate) struct Door {
    scheme: &'static str,
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    serve: Box<Serve>,
    open: Mutex<HashMap<usize, TcpStream>>,
    connections: AtomicUsize,
    ended: AtomicUsize,
    stopped: AtomicBool,
}

impl Door {
    /// Listens, for URLs of this scheme: `https` and `wss` are TLS, with a certificate of [`TEST_ROOT`](crate::TEST_ROOT).
    #[expect(clippy::expect_used, reason = "a test cannot go on without it")]
    pub(crate) fn open(
        scheme: &'static str,
        serve: impl Fn(Box<dyn Wire>, usize) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback can be listened on");
        let address = listener.local_addr().expect("what listens has an address");
        let shared = Arc::new(Shared {
            serve: Box::new(serve),
            open: Mutex::default(),
            connections: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let secure = matches!(scheme, "https" | "wss");
        let tls = secure.then(|| Arc::new(test_tls()));
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

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections there were.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How many connections are over on this side.
    pub(crate) fn ended(&self) -> usize {
        self.shared.ended.load(Ordering::SeqCst)
    }
}

impl Drop for Door {
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
        // One that came while the door was closing, nobody shuts any more.
        if !self.stopped.load(Ordering::SeqCst) {
            let socket = stream.try_clone();
            let served = wire(stream, tls).and_then(|wire| (self.serve)(wire, number));
            if let (Err(error), Ok(socket)) = (served, socket)
                && error.kind() == io::ErrorKind::ConnectionReset
            {
                reset(&socket);
            }
        }
        // The last handle is what closes: in order, or with a reset if that was asked for.
        lock(&self.open).remove(&number);
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}

fn wire(stream: TcpStream, tls: Option<Arc<rustls::ServerConfig>>) -> io::Result<Box<dyn Wire>> {
    let Some(tls) = tls else {
        return Ok(Box::new(stream));
    };
    let server = rustls::ServerConnection::new(tls).map_err(io::Error::other)?;
    Ok(Box::new(rustls::StreamOwned::new(server, stream)))
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn reset(stream: &TcpStream) {
    let _ = rustix::net::sockopt::set_socket_linger(stream, Some(std::time::Duration::ZERO));
}

#[cfg(not(unix))]
fn reset(_: &TcpStream) {}
