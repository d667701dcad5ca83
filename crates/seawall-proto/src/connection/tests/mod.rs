//! The connection, driven by hand: what was written, what came, what time it is.

use std::task::{Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use super::{
    Binding, CallError, CallId, ClientConfig, CloseReason, Connection, Era, Event, ExchangeFault,
    InputId, Order, Time, Transmit,
};
use crate::json::Json;
use crate::jsonrpc::classify;
use crate::limits::Limits;
use crate::mcp::{ClientCapabilities, ToolResult};
use crate::outcome::ErrorCode;

mod calls;
mod cancel;
mod endings;
mod eras;
mod exchange;
mod extension;
mod handshake;
mod inbound;
mod inputs;
mod legs;
mod listen;
mod memory;
mod modern;
mod terms;
mod text;

pub(super) const INITIALIZE_RESULT: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1"}}"#;
pub(super) const LIST_RESULT: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"\u0061dd","inputSchema":{"type":"object"}}]}"#;
pub(super) const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"demo","version":"1"}}}"#;
pub(super) const RESULT: &str = r#"{"content":[{"type":"text","text":"hi"}]}"#;

/// A connection, its clock, and the server's side of its wire.
pub(super) struct Peer {
    pub(super) connection: Connection,
    pub(super) now: Time,
}

impl Peer {
    pub(super) fn with(config: ClientConfig) -> Self {
        let now = Time::from_epoch(Duration::from_secs(1_000));
        Self {
            connection: Connection::client(now, config),
            now,
        }
    }

    /// A peer whose handshake is over.
    pub(super) fn ready_with(config: ClientConfig) -> Self {
        Self::ready_on("2025-11-25", config)
    }

    pub(super) fn ready_on(revision: &str, config: ClientConfig) -> Self {
        let mut peer = Self::with(config);
        assert_eq!(peer.sent().len(), 1);
        peer.reply("1", &INITIALIZE_RESULT.replace("2025-11-25", revision));
        assert_eq!(peer.sent().len(), 2);
        peer.reply("2", LIST_RESULT);
        assert!(matches!(peer.connection.poll_event(), Some(Event::Ready)));
        peer
    }

    /// A peer of the revision without a handshake, ready.
    pub(super) fn modern_with(discovered: &str, config: ClientConfig) -> Self {
        let mut peer = Self::with(config);
        let http = peer.connection.config.binding == Binding::Http;
        peer.go();
        if http {
            peer.respond(1, 200, discovered);
        } else {
            peer.reply("1", discovered);
        }
        let asked = peer.go();
        let list = asked
            .iter()
            .find(|frame| field(frame, "/method") == "tools/list")
            .map(|frame| field(frame, "/id").as_u64().unwrap())
            .unwrap();
        if http {
            peer.respond(list, 200, LIST_RESULT);
        } else {
            peer.reply(&list.to_string(), LIST_RESULT);
        }
        assert!(matches!(peer.connection.poll_event(), Some(Event::Ready)));
        peer.orders();
        peer
    }

    /// Ready over exchanges, on a revision with a handshake.
    pub(super) fn legacy_http() -> Self {
        Self::legacy_http_with(ClientCapabilities::default())
    }

    pub(super) fn legacy_http_with(capabilities: ClientCapabilities) -> Self {
        let mut peer = Self::with(ClientConfig {
            binding: Binding::Http,
            capabilities,
            ..config(Limits::default())
        });
        peer.go();
        peer.respond(1, 200, INITIALIZE_RESULT);
        peer.take_introduction();
        peer.go();
        peer.respond(2, 200, LIST_RESULT);
        assert!(matches!(peer.connection.poll_event(), Some(Event::Ready)));
        peer.orders();
        peer
    }

    /// Everything that waits goes out, whatever the binding.
    pub(super) fn go(&mut self) -> Vec<String> {
        if self.connection.config.binding == Binding::Stream {
            return self.sent();
        }
        self.transmits()
            .into_iter()
            .map(|transmit| {
                assert!(transmit.handover.begin());
                String::from_utf8(transmit.body).unwrap()
            })
            .collect()
    }

    /// The messages that may go, not begun.
    pub(super) fn transmits(&mut self) -> Vec<Transmit> {
        std::iter::from_fn(|| self.connection.poll_transmit(true)).collect()
    }

    /// `notifications/initialized` goes, and is taken.
    pub(super) fn take_introduction(&mut self) {
        let transmit = self.connection.poll_transmit(true).unwrap();
        let body = String::from_utf8(transmit.body).unwrap();
        assert_eq!(field(&body, "/method"), "notifications/initialized");
        assert!(transmit.handover.begin());
        assert!(
            self.connection.poll_transmit(true).is_none(),
            "nothing overtakes it"
        );
        self.ended(transmit.key, fault(Some(202)));
    }

    pub(super) fn orders(&mut self) -> Vec<Order> {
        std::iter::from_fn(|| self.connection.poll_order()).collect()
    }

    /// A result on the stream of request `key`, which it answers.
    pub(super) fn respond(&mut self, key: u64, status: u16, result: &str) {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{key},"result":{result}}}"#);
        self.respond_with(Some(key), status, &frame);
    }

    pub(super) fn respond_with(&mut self, key: Option<u64>, status: u16, frame: &str) {
        let frame = Bytes::copy_from_slice(frame.as_bytes());
        self.connection
            .handle_response(self.now, key, status, &frame, classify(&frame));
    }

    pub(super) fn ended(&mut self, key: u64, fault: ExchangeFault) {
        self.connection.handle_exchange_end(self.now, key, fault);
    }

    /// What the server asks for now, each once.
    pub(super) fn asked(&mut self) -> Vec<InputId> {
        self.events()
            .into_iter()
            .filter_map(|event| match event {
                Event::Input { id, .. } => Some(id),
                _ => None,
            })
            .collect()
    }

    pub(super) fn supply(&mut self, input: InputId, answer: Option<&str>) {
        let answer = answer.map(|text| Json::check(text.to_owned()).unwrap());
        self.connection.supply(self.now, input, answer);
    }

    pub(super) fn ready() -> Self {
        Self::ready_with(config(Limits::default()))
    }

    /// Everything that waits to be written, now written, newlines checked and removed.
    pub(super) fn sent(&mut self) -> Vec<String> {
        let frames: Vec<Vec<u8>> = self.connection.transmit().map(<[u8]>::to_vec).collect();
        self.connection
            .handle_written(frames.iter().map(Vec::len).sum());
        assert!(self.connection.is_idle_out());
        frames
            .into_iter()
            .map(|frame| {
                let text = String::from_utf8(frame).unwrap();
                let line = text.strip_suffix('\n').unwrap().to_owned();
                assert!(!line.contains('\n'));
                line
            })
            .collect()
    }

    /// The transport takes `bytes` bytes.
    pub(super) fn write(&mut self, bytes: usize) {
        self.connection.handle_written(bytes);
    }

    pub(super) fn recv(&mut self, frame: &str) {
        self.connection
            .handle_frame(self.now, &Bytes::copy_from_slice(frame.as_bytes()));
    }

    /// The server answers `id` (its JSON text) with `result`.
    pub(super) fn reply(&mut self, id: &str, result: &str) {
        self.recv(&format!(
            r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#
        ));
    }

    pub(super) fn refuse(&mut self, id: &str, code: i64, message: &str) {
        self.recv(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#
        ));
    }

    pub(super) fn call(&mut self) -> CallId {
        self.try_call("echo", "{}").unwrap()
    }

    pub(super) fn try_call(&mut self, tool: &str, arguments: &str) -> Result<CallId, CallError> {
        let arguments = Json::check(arguments.to_owned()).unwrap();
        self.connection.call(self.now, tool, &arguments, None)
    }

    /// Moves the clock and tells the connection.
    pub(super) fn pass(&mut self, by: Duration) {
        self.now = self.now.after(by);
        self.connection.handle_timeout(self.now);
        let next = self.connection.poll_timeout();
        assert!(next.is_none_or(|next| next > self.now), "{next:?}");
    }

    /// The end of a call, which must have come.
    pub(super) fn take(&mut self, call: CallId) -> Result<ToolResult, CallError> {
        self.connection.take(call).expect("the call ended")
    }

    pub(super) fn is_pending(&mut self, call: CallId) -> bool {
        matches!(
            self.connection.poll_call(call, Waker::noop()),
            Poll::Pending
        )
    }

    pub(super) fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.connection.poll_event()).collect()
    }

    pub(super) fn reason(&self) -> &CloseReason {
        self.connection.close_reason().expect("the session ended")
    }

    pub(super) fn is_open(&self) -> bool {
        self.connection.close_reason().is_none()
    }
}

pub(super) fn modern() -> ClientConfig {
    ClientConfig {
        era: Era::Modern,
        ..config(Limits::default())
    }
}

pub(super) fn modern_http() -> ClientConfig {
    ClientConfig {
        binding: Binding::Http,
        ..modern()
    }
}

pub(super) fn all_capabilities() -> ClientCapabilities {
    ClientCapabilities {
        elicitation_form: true,
        elicitation_url: true,
        sampling: true,
        sampling_tools: false,
        sampling_context: false,
        roots: true,
    }
}

pub(super) fn fault(status: Option<u16>) -> ExchangeFault {
    let fault = ExchangeFault::new("its exchange ended", ErrorCode::ConnectionClosed);
    match status {
        Some(status) => fault.with_status(status),
        None => fault,
    }
}

pub(super) fn config(limits: Limits) -> ClientConfig {
    ClientConfig {
        limits,
        ..ClientConfig::new("0.0.0-test")
    }
}

/// The value of `pointer` in a frame that we wrote.
pub(super) fn field(frame: &str, pointer: &str) -> serde_json::Value {
    serde_json::from_str::<serde_json::Value>(frame)
        .unwrap()
        .pointer(pointer)
        .cloned()
        .unwrap_or_default()
}
