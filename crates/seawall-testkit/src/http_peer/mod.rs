//! An HTTP server that misbehaves on purpose: raw TCP on loopback, in this process, told request by request what to do.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::door::{Door, Wire, lock};

mod act;
mod request;
mod tls;

pub use act::HttpAct;
pub use request::HttpRequest;
pub(crate) use request::read_request;
pub use tls::{TEST_ROOT, test_tls};

type Answers = dyn Fn(usize, &HttpRequest) -> Vec<HttpAct> + Send + Sync;

/// A running server. It ends, and closes its connections, when it is dropped.
pub struct HttpPeer {
    door: Door,
    shared: Arc<Shared>,
}

struct Shared {
    /// What to do at once with a new connection, before any request.
    at_once: Vec<HttpAct>,
    answers: Box<Answers>,
    requests: Mutex<Vec<HttpRequest>>,
    gone: AtomicUsize,
    sent: AtomicUsize,
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
        let shared = Arc::new(Shared {
            at_once,
            answers,
            requests: Mutex::default(),
            gone: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
        });
        let serving = Arc::clone(&shared);
        let serve = move |mut wire: Box<dyn Wire>, number| serving.converse(&mut *wire, number);
        Self {
            door: Door::open(scheme, serve),
            shared,
        }
    }

    /// The address of `path` here.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        self.door.url(path)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.door.address()
    }

    /// Everything that was requested so far.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        lock(&self.shared.requests).clone()
    }

    /// How many connections there were.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.door.connections()
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

impl Shared {
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
