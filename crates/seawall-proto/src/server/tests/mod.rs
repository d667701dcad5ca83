//! The server's side, driven by hand: what came, what was said.

use bytes::Bytes;

use super::{CloseReason, Event, Lane, NotSent, Request, RequestKey, ServerConnection, Taken};
use crate::json::Json;
use crate::jsonrpc::ErrorObject;
use crate::limits::ServerLimits;
use crate::mcp::Revision;

mod bounds;
mod legacy;
mod modern;
mod opening;
mod pair;
mod properties;

pub(super) const MODERN_META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}"#;

pub(super) struct Client {
    pub(super) server: ServerConnection,
}

impl Client {
    pub(super) fn new() -> Self {
        Self::with(ServerLimits::default())
    }

    pub(super) fn with(limits: ServerLimits) -> Self {
        Self {
            server: ServerConnection::new(limits),
        }
    }

    /// A session whose handshake is over.
    pub(super) fn legacy(revision: &str) -> Self {
        Self::legacy_with(revision, ServerLimits::default())
    }

    pub(super) fn legacy_with(revision: &str, limits: ServerLimits) -> Self {
        let mut client = Self::with(limits);
        client.say(&initialize(revision));
        let key = client.requests().remove(0).key;
        client.answer(key, "{}");
        client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client.events();
        client.heard();
        client
    }

    pub(super) fn modern() -> Self {
        let mut client = Self::new();
        client.say(&modern("0", "server/discover"));
        let key = client.requests().remove(0).key;
        client.answer(key, "{}");
        client.events();
        client.heard();
        client
    }

    pub(super) fn say(&mut self, frame: &str) -> Taken {
        self.server
            .handle_frame(&Bytes::copy_from_slice(frame.as_bytes()))
    }

    pub(super) fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.server.poll_event()).collect()
    }

    pub(super) fn requests(&mut self) -> Vec<Request> {
        self.events()
            .into_iter()
            .filter_map(|event| match event {
                Event::Request(request) => Some(request),
                _ => None,
            })
            .collect()
    }

    /// What waited to be sent.
    pub(super) fn heard(&mut self) -> Vec<String> {
        self.heard_on()
            .into_iter()
            .map(|(_, frame)| frame)
            .collect()
    }

    pub(super) fn heard_on(&mut self) -> Vec<(Lane, String)> {
        let all: Vec<_> = std::iter::from_fn(|| self.server.poll_transmit())
            .map(|outbound| {
                let text = String::from_utf8(outbound.frame.to_vec()).unwrap();
                assert!(!text.contains(['\n', '\r']));
                (outbound.lane, text)
            })
            .collect();
        assert_eq!(self.server.buffered_bytes(), 0);
        all
    }

    pub(super) fn answer(&mut self, key: RequestKey, result: &str) {
        self.server.respond(key, Ok(&json(result))).unwrap();
    }

    pub(super) fn refuse(&mut self, key: RequestKey) -> Result<(), NotSent> {
        self.server
            .respond(key, Err(&ErrorObject::new(-32603, "no", None)))
    }
}

pub(super) fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

pub(super) fn initialize(revision: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

pub(super) fn modern(id: &str, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{MODERN_META}}}}}"#)
}

pub(super) fn plain(id: &str, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

/// The code of an error frame, and whether it has an id.
pub(super) fn code(frame: &str) -> (i64, bool) {
    let frame: serde_json::Value = serde_json::from_str(frame).unwrap();
    let code = frame["error"]["code"].as_i64().unwrap();
    (code, frame.get("id").is_some())
}

#[test]
fn after_its_end_nothing_is_taken_and_nothing_is_said() {
    let mut client = Client::legacy("2025-11-25");
    client.say(&plain("1", "tools/list"));
    let key = client.requests().remove(0).key;
    client.server.notify(None, "x", None).unwrap();
    client.server.handle_closed(CloseReason::ClientGone);
    client.server.handle_closed(CloseReason::Transport);
    assert_eq!(client.server.close_reason(), Some(CloseReason::ClientGone));
    assert!(matches!(client.events()[..], [Event::Closed]));
    assert_eq!(client.refuse(key), Err(NotSent::Closed));
    assert_eq!(client.server.notify(None, "x", None), Err(NotSent::Closed));
    assert_eq!(client.say(&plain("2", "ping")), Taken::default());
    assert!(client.heard().is_empty() && client.events().is_empty());
    assert_eq!(client.server.revision(), None::<Revision>);
}
