//! A WebSocket server that misbehaves on purpose: raw TCP on loopback, in this process, each connection served by the
//! test's own straight code. It is written without a WebSocket library, so that it can say what none would.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

mod frame;

pub use frame::{WsMessage, ws_frame};

use crate::http_peer::{HttpRequest, read_request, test_tls};

/// What a client's key is joined with before it is hashed (RFC 6455, section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

trait Wire: Read + Write + Send {}

impl<T: Read + Write + Send> Wire for T {}

type Serve = dyn Fn(WsSocket) + Send + Sync;

/// A running server. It ends, and closes its connections, when it is dropped.
pub struct WsPeer {
    scheme: &'static str,
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    serve: Box<Serve>,
    requests: Mutex<Vec<HttpRequest>>,
    open: Mutex<HashMap<usize, TcpStream>>,
    connections: AtomicUsize,
    ended: AtomicUsize,
    stopped: AtomicBool,
}

impl WsPeer {
    /// Serves each connection with `serve`, once its request was read; the connection closes when that returns.
    pub fn start(serve: impl Fn(WsSocket) + Send + Sync + 'static) -> Self {
        Self::listen("ws", Box::new(serve))
    }

    /// The same over TLS, for `127.0.0.1`, with a certificate of [`TEST_ROOT`](crate::TEST_ROOT).
    pub fn start_tls(serve: impl Fn(WsSocket) + Send + Sync + 'static) -> Self {
        Self::listen("wss", Box::new(serve))
    }

    #[expect(clippy::expect_used, reason = "a test cannot go on without it")]
    fn listen(scheme: &'static str, serve: Box<Serve>) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback can be listened on");
        let address = listener.local_addr().expect("what listens has an address");
        let shared = Arc::new(Shared {
            serve,
            requests: Mutex::default(),
            open: Mutex::default(),
            connections: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let tls = (scheme == "wss").then(|| Arc::new(test_tls()));
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

    /// Every handshake's request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        lock(&self.shared.requests).clone()
    }

    /// How many connections there were.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How many connections are over on this side.
    #[must_use]
    pub fn ended(&self) -> usize {
        self.shared.ended.load(Ordering::SeqCst)
    }
}

impl Drop for WsPeer {
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
        if !self.stopped.load(Ordering::SeqCst) {
            // What a client never asked is nothing to serve.
            let _ = self.converse(stream, tls, number);
        }
        lock(&self.open).remove(&number);
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    fn converse(
        &self,
        stream: TcpStream,
        tls: Option<Arc<rustls::ServerConfig>>,
        number: usize,
    ) -> io::Result<()> {
        let mut wire: Box<dyn Wire> = match tls {
            None => Box::new(stream),
            Some(tls) => {
                let server = rustls::ServerConnection::new(tls).map_err(io::Error::other)?;
                Box::new(rustls::StreamOwned::new(server, stream))
            }
        };
        let request = read_request(&mut *wire, number)?;
        lock(&self.requests).push(request.clone());
        (self.serve)(WsSocket { wire, request });
        Ok(())
    }
}

/// One connection. What is said to a client that is gone is said to nobody, and told with `false`.
pub struct WsSocket {
    wire: Box<dyn Wire>,
    request: HttpRequest,
}

impl WsSocket {
    /// The request that it began with.
    #[must_use]
    pub fn request(&self) -> &HttpRequest {
        &self.request
    }

    /// The answer that `Sec-WebSocket-Accept` gives to the request's key.
    #[must_use]
    pub fn accept_key(&self) -> String {
        let key = self.request.header("sec-websocket-key").unwrap_or_default();
        STANDARD.encode(digest(
            &SHA1_FOR_LEGACY_USE_ONLY,
            format!("{key}{GUID}").as_bytes(),
        ))
    }

    /// Switches to WebSocket, honestly.
    pub fn accept(&mut self) -> bool {
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n\r\n",
            self.accept_key()
        );
        self.send(head.as_bytes())
    }

    /// Writes these bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        let written = self.wire.write_all(bytes);
        written.and_then(|()| self.wire.flush()).is_ok()
    }

    /// Writes one frame with this first byte, unmasked.
    pub fn frame(&mut self, first: u8, payload: &[u8]) -> bool {
        self.send(&ws_frame(first, payload))
    }

    /// Writes a text frame.
    pub fn text(&mut self, text: &str) -> bool {
        self.frame(0x81, text.as_bytes())
    }

    /// Writes a close frame.
    pub fn close(&mut self, code: u16, reason: &str) -> bool {
        let mut payload = code.to_be_bytes().to_vec();
        payload.extend_from_slice(reason.as_bytes());
        self.frame(0x88, &payload)
    }

    /// The next frame of the client; `None` once it is gone.
    pub fn receive(&mut self) -> Option<WsMessage> {
        frame::read(&mut *self.wire).ok()
    }

    /// The next text of the client, its pings answered; `None` once it closed or is gone.
    pub fn receive_text(&mut self) -> Option<String> {
        loop {
            match self.receive()? {
                WsMessage::Text(text) => return Some(text),
                WsMessage::Ping(payload) => {
                    self.frame(0x8a, &payload);
                }
                WsMessage::Close(_) => {
                    self.frame(0x88, &[]);
                    return None;
                }
                WsMessage::Binary(_) | WsMessage::Pong(_) | WsMessage::Unmasked => {}
            }
        }
    }

    /// Waits until the client is gone.
    pub fn hang(&mut self) {
        let mut buffer = [0; 16 * 1024];
        while matches!(self.wire.read(&mut buffer), Ok(length) if length > 0) {}
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
