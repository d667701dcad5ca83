//! A WebSocket server that misbehaves on purpose: raw TCP on loopback, in this process, each connection served by the
//! test's own straight code. It is written without a WebSocket library, so that it can say what none would.

use std::io;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

mod frame;

pub use frame::{WsMessage, ws_frame};

use crate::door::{Door, Wire, lock};
use crate::http_peer::{HttpRequest, read_request};

/// What a client's key is joined with before it is hashed (RFC 6455, section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A running server. It ends, and closes its connections, when it is dropped.
pub struct WsPeer {
    door: Door,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
}

impl WsPeer {
    /// Serves each connection with `serve`, once its request was read; the connection closes when that returns.
    pub fn start(serve: impl Fn(WsSocket) + Send + Sync + 'static) -> Self {
        Self::listen("ws", serve)
    }

    /// The same over TLS, for `127.0.0.1`, with a certificate of [`TEST_ROOT`](crate::TEST_ROOT).
    pub fn start_tls(serve: impl Fn(WsSocket) + Send + Sync + 'static) -> Self {
        Self::listen("wss", serve)
    }

    fn listen(scheme: &'static str, serve: impl Fn(WsSocket) + Send + Sync + 'static) -> Self {
        let requests: Arc<Mutex<Vec<HttpRequest>>> = Arc::default();
        let read = Arc::clone(&requests);
        let serve = move |mut wire: Box<dyn Wire>, number| {
            let request = read_request(&mut *wire, number)?;
            lock(&read).push(request.clone());
            serve(WsSocket { wire, request });
            io::Result::Ok(())
        };
        Self {
            door: Door::open(scheme, serve),
            requests,
        }
    }

    /// The address of `path` here.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        self.door.url(path)
    }

    /// Every handshake's request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        lock(&self.requests).clone()
    }

    /// How many connections there were.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.door.connections()
    }

    /// How many connections are over on this side.
    #[must_use]
    pub fn ended(&self) -> usize {
        self.door.ended()
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
