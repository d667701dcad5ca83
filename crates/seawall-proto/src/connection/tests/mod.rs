//! The connection, driven by hand: what was written, what came, what time it is.

use std::task::{Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use super::{CallError, CallId, ClientConfig, CloseReason, Connection, Event, Time};
use crate::json::Json;
use crate::limits::Limits;
use crate::mcp::ToolResult;

mod calls;
mod cancel;
mod endings;
mod handshake;
mod inbound;
mod memory;
mod text;

pub(super) const INITIALIZE_RESULT: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1"}}"#;
pub(super) const LIST_RESULT: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"\u0061dd","inputSchema":{"type":"object"}}]}"#;
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
