//! A server with the MCP Live extension that follows a script, over stdio or a WebSocket: honest by default, and in any of
//! its moments whatever a test wants it to be.
//!
//! [`McplServer`] is the script. [`McplServer::stdio`] makes a program of it, [`McplServer::websocket`] a server in the
//! test's own process; both go by the same engine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Server, WsPeer};

mod defaults;
mod engine;
#[cfg(unix)]
mod stdio;

#[cfg(unix)]
pub(crate) use stdio::play_stdio;

/// What it does at some moment, beside answering.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum McplAct {
    /// Says this, a raw JSON text in one line or frame.
    Say(String),
    /// Says it so many times. `{n}` in it is the number of the copy, from 0.
    Flood(String, u64),
    /// A binary frame of these bytes; over stdio, a line of them.
    Binary(Vec<u8>),
    /// Waits so many milliseconds.
    Wait(u64),
    /// From now on requests of this method are answered so.
    Answer(String, McplAnswer),
    /// Closes the WebSocket with this code; over stdio, exits.
    Close(u16),
    /// Breaks off without a word: the socket is dropped, the process exits.
    Drop,
    /// Says the beginning of a message, and breaks off.
    Tear(String),
}

/// How it answers a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McplAnswer {
    /// With this result, raw JSON.
    Result(String),
    /// With this error object, raw JSON.
    Error(String),
    /// Not at all.
    Never,
}

/// A scripted server with the MCP Live extension.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct McplServer {
    /// What it says of itself as `experimental.mcpl`.
    manifest: Value,
    /// What it answers beside that; `initialize` and `mcpl/manifest` are made of the manifest unless they stand here.
    answers: BTreeMap<String, McplAnswer>,
    tools: Vec<String>,
    /// What it does before it answers a message of a method, and after.
    before: BTreeMap<String, Vec<McplAct>>,
    after: BTreeMap<String, Vec<McplAct>>,
    /// The token that a WebSocket must come with.
    token: Option<String>,
    record: Option<PathBuf>,
}

/// A [`McplServer`] on a WebSocket of this process.
pub struct McplPeer {
    peer: WsPeer,
    heard: Heard,
}

/// Every message that came, in order.
type Heard = Arc<Mutex<Vec<Value>>>;

impl Default for McplServer {
    fn default() -> Self {
        Self::honest()
    }
}

impl McplServer {
    /// Advertises pushes, channels, hooks and lifecycles in three feature sets, takes whatever policy it is told, offers the
    /// tool `echo`, and says nothing by itself.
    #[must_use]
    pub fn honest() -> Self {
        Self {
            manifest: defaults::manifest(),
            answers: defaults::answers(),
            tools: vec!["echo".to_owned()],
            before: BTreeMap::new(),
            after: BTreeMap::new(),
            token: None,
            record: None,
        }
    }

    /// As [`honest`](Self::honest), of a time before 0.5: knows no policy, no manifest and no ping, and lists its feature
    /// sets in an array.
    #[must_use]
    pub fn before_policies() -> Self {
        let unknown = || McplAnswer::Error(defaults::UNKNOWN.to_owned());
        Self::honest()
            .manifest_member("version", json!("0.4"))
            .features_as_array()
            .answer("featureSets/update", unknown())
            .answer("mcpl/manifest", unknown())
            .answer("ping", unknown())
    }

    /// A server of the base protocol alone.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            manifest: Value::Null,
            ..Self::honest()
        }
    }

    /// Another manifest, whole.
    #[must_use]
    pub fn manifest(mut self, manifest: Value) -> Self {
        self.manifest = manifest;
        self
    }

    /// One member of the manifest.
    #[must_use]
    pub fn manifest_member(mut self, name: &str, value: Value) -> Self {
        if let Value::Object(members) = &mut self.manifest {
            members.insert(name.to_owned(), value);
        }
        self
    }

    /// Its feature sets as an array of objects with names, as servers in the field have them.
    #[must_use]
    pub fn features_as_array(mut self) -> Self {
        let Some(sets) = self.manifest.get_mut("featureSets") else {
            return self;
        };
        if let Value::Object(named) = sets.take() {
            let listed = named.into_iter().map(|(name, mut set)| {
                if let Value::Object(members) = &mut set {
                    members.insert("name".to_owned(), Value::String(name));
                }
                set
            });
            *sets = Value::Array(listed.collect());
        }
        self
    }

    /// How requests of a method are answered.
    #[must_use]
    pub fn answer(mut self, method: &str, answer: McplAnswer) -> Self {
        self.answers.insert(method.to_owned(), answer);
        self
    }

    /// With which result requests of a method are answered, raw JSON.
    #[must_use]
    pub fn result(self, method: &str, result: &str) -> Self {
        self.answer(method, McplAnswer::Result(result.to_owned()))
    }

    /// With which error object requests of a method are answered, raw JSON.
    #[must_use]
    pub fn error(self, method: &str, error: &str) -> Self {
        self.answer(method, McplAnswer::Error(error.to_owned()))
    }

    /// Its tools, by their names.
    #[must_use]
    pub fn tools<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.tools = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// Does this when a message of this method came, before it answers. The method of a reply is empty; `connect` is the
    /// moment before anything came.
    #[must_use]
    pub fn before(mut self, method: &str, acts: impl IntoIterator<Item = McplAct>) -> Self {
        let planned = self.before.entry(method.to_owned()).or_default();
        planned.extend(acts);
        self
    }

    /// Does this once it answered a message of this method.
    #[must_use]
    pub fn after(mut self, method: &str, acts: impl IntoIterator<Item = McplAct>) -> Self {
        let planned = self.after.entry(method.to_owned()).or_default();
        planned.extend(acts);
        self
    }

    /// Says this after it answered a message of this method.
    #[must_use]
    pub fn says_after(self, method: &str, message: &Value) -> Self {
        self.after(method, [McplAct::Say(message.to_string())])
    }

    /// Over a WebSocket, wants this token in the query: without it, `initialize` is answered with -32001, and the socket is
    /// closed with 4001.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Over stdio, appends every line that came to this file.
    #[must_use]
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(path.into());
        self
    }

    /// The program that follows this script over stdio.
    ///
    /// # Panics
    /// If `scripted-server` cannot be built, or a long script cannot be written to a temporary file.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test cannot go on without its server")]
    pub fn stdio(&self) -> Server {
        let text = serde_json::to_string(self).expect("a script is JSON");
        Server::following("mcpl", &text)
    }

    /// Follows this script over WebSockets, each from its beginning.
    #[must_use]
    pub fn websocket(self) -> McplPeer {
        self.listening(false)
    }

    /// The same over TLS.
    #[must_use]
    pub fn websocket_tls(self) -> McplPeer {
        self.listening(true)
    }

    fn listening(self, tls: bool) -> McplPeer {
        let heard = Heard::default();
        let hears = Arc::clone(&heard);
        let serve = move |socket| engine::play_websocket(self.clone(), socket, &hears);
        let peer = if tls {
            WsPeer::start_tls(serve)
        } else {
            WsPeer::start(serve)
        };
        McplPeer { peer, heard }
    }
}

impl McplPeer {
    /// The address of `path` here.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        self.peer.url(path)
    }

    /// The connections below.
    #[must_use]
    pub fn sockets(&self) -> &WsPeer {
        &self.peer
    }

    /// Every message that came so far, on whatever connection.
    #[must_use]
    pub fn heard(&self) -> Vec<Value> {
        let heard = self.heard.lock();
        heard.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The messages of this method that came so far; the empty one is that of replies.
    #[must_use]
    pub fn heard_of(&self, method: &str) -> Vec<Value> {
        let of = |message: &Value| message["method"].as_str().unwrap_or_default() == method;
        self.heard().into_iter().filter(of).collect()
    }
}

/// A request to the host, with this id.
#[must_use]
pub fn mcpl_request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A notification to the host.
#[must_use]
pub fn mcpl_notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// A push of the feature set `alerts` with this text.
#[must_use]
pub fn mcpl_push(id: u64, event: &str, text: &str) -> Value {
    let params = json!({
        "featureSet": "alerts",
        "eventId": event,
        "timestamp": "2026-11-30T12:00:00Z",
        "payload": { "content": [{ "type": "text", "text": text }] },
    });
    mcpl_request(id, "push/event", &params)
}

/// The registration of the channel `room:1`.
#[must_use]
pub fn mcpl_register(id: u64) -> Value {
    let channel =
        json!({ "id": "room:1", "type": "room", "label": "Room 1", "direction": "bidirectional" });
    mcpl_request(id, "channels/register", &json!({ "channels": [channel] }))
}

/// One message that comes in on the channel `room:1`.
#[must_use]
pub fn mcpl_incoming(id: u64, message: &str, text: &str) -> Value {
    let incoming = json!({
        "channelId": "room:1",
        "messageId": message,
        "author": { "id": "u1", "name": "Ann" },
        "timestamp": "2026-11-30T12:00:00Z",
        "content": [{ "type": "text", "text": text }],
    });
    mcpl_request(id, "channels/incoming", &json!({ "messages": [incoming] }))
}

/// A pause, as an act.
#[must_use]
pub fn mcpl_wait(pause: Duration) -> McplAct {
    McplAct::Wait(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX))
}
