//! Scripted servers of MCP Live, over stdio and over a WebSocket.

use std::path::PathBuf;
use std::time::Duration;

use seawall::config::Protocol;
use seawall::inputs::BoxFuture;
use seawall::mcpl::callbacks::{Delivered, Delivery, Inbox, Reception};
use seawall::mcpl::hooks::BeforeInference;
use seawall::mcpl::inference::Turn;
use seawall::mcpl::{Callbacks, McplPolicy};
use seawall::{ClientBuilder, Mcpl};
use seawall_testkit::{McplPeer, McplServer};
use serde_json::Value;
use tempfile::TempDir;

use super::*;

/// A way to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Stdio,
    WebSocket,
}

pub(super) const BOTH: [Over; 2] = [Over::Stdio, Over::WebSocket];

/// Takes everything, and remembers it.
#[derive(Default)]
pub(super) struct Taken(Mutex<Vec<(String, String)>>);

impl Taken {
    /// Ids and texts.
    pub(super) fn all(&self) -> Vec<(String, String)> {
        self.0.lock().expect("not poisoned").clone()
    }
}

impl Inbox for Taken {
    fn take(&self, _: &str, delivery: Delivery) -> BoxFuture<Reception> {
        let (id, content) = match &delivery.what {
            Delivered::Push(event) => (event.event_id(), event.content()),
            Delivered::Message(message) => (message.message_id(), message.content()),
            _ => unreachable!("there is no third"),
        };
        let mut taken = self.0.lock().expect("not poisoned");
        taken.push((id.to_owned(), content.shown()));
        Box::pin(std::future::ready(Reception::accepted()))
    }
}

/// A scripted server that runs, or can.
pub(super) enum Running {
    Stdio {
        server: Server,
        record: PathBuf,
        #[expect(dead_code, reason = "held for its drop, which removes it")]
        folder: TempDir,
    },
    WebSocket(McplPeer),
}

impl Running {
    pub(super) fn start(server: McplServer, over: Over) -> Self {
        match over {
            Over::WebSocket => Self::WebSocket(server.websocket()),
            Over::Stdio => {
                let folder = tempfile::tempdir().expect("a folder");
                let record = folder.path().join("heard");
                Self::Stdio {
                    server: server.record(&record).stdio(),
                    record,
                    folder,
                }
            }
        }
    }

    pub(super) fn entry(&self) -> ServerConfigBuilder {
        let builder = match self {
            Self::Stdio { server, .. } => entry(server),
            Self::WebSocket(peer) => ServerConfig::url("test", peer.url("/")),
        };
        builder.protocol(Protocol::Mcpl)
    }

    /// Every message that the server heard.
    pub(super) fn heard(&self) -> Vec<Value> {
        match self {
            Self::WebSocket(peer) => peer.heard(),
            Self::Stdio { record, .. } => {
                let text = std::fs::read_to_string(record).unwrap_or_default();
                let whole = text.rfind('\n').map_or("", |end| &text[..end]);
                whole
                    .lines()
                    .map(|line| serde_json::from_str(line).expect("JSON"))
                    .collect()
            }
        }
    }

    /// Those of this method; the empty one is that of replies.
    pub(super) fn heard_of(&self, method: &str) -> Vec<Value> {
        let of = |message: &Value| message["method"].as_str().unwrap_or_default() == method;
        self.heard().into_iter().filter(of).collect()
    }

    /// The host's reply to the server's own request, once it is there.
    pub(super) async fn reply(&self, id: u64) -> Value {
        let mut reply = None;
        for _ in 0..1000 {
            reply = self
                .heard_of("")
                .into_iter()
                .find(|reply| reply["id"] == id);
            if reply.is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        reply.expect("a reply")
    }
}

/// A connection of MCP Live.
pub(super) struct Live {
    pub(super) running: Running,
    pub(super) client: Client,
    pub(super) inbox: Arc<Taken>,
}

impl Live {
    /// Connected, under this policy.
    pub(super) async fn with(server: McplServer, over: Over, policy: McplPolicy) -> Self {
        let running = Running::start(server, over);
        let inbox = Arc::<Taken>::default();
        let builder = builder(running.entry().mcpl(policy), &inbox);
        let client = builder.connect().await.expect("connects");
        Self {
            running,
            client,
            inbox,
        }
    }

    pub(super) async fn start(server: McplServer, over: Over) -> Self {
        Self::with(server, over, McplPolicy::default()).await
    }

    pub(super) fn mcpl(&self) -> Mcpl {
        self.client.mcpl().expect("it advertises it")
    }

    pub(super) async fn call(&self) {
        let called = self.client.call("echo", seawall::Arguments::none());
        called.await.expect("answered");
    }
}

pub(super) fn builder(entry: ServerConfigBuilder, inbox: &Arc<Taken>) -> ClientBuilder {
    let inbox: Arc<dyn Inbox> = Arc::<Taken>::clone(inbox);
    let callbacks = Callbacks::default().with_inbox(inbox);
    Client::builder(entry.build().expect("a valid entry")).mcpl(callbacks)
}

pub(super) fn before() -> BeforeInference {
    BeforeInference {
        turn: Turn {
            inference_id: "i-1".to_owned(),
            conversation_id: "c-1".to_owned(),
            index: 0,
            model: None,
        },
        user_message: Some("hello".to_owned()),
        channels: None,
    }
}
