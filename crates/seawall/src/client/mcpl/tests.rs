//! A connection of MCP Live against a peer in memory, on a paused clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Destination, Mcpl, McplError, Noticed};
use crate::client::Client;
use crate::client::tests::{Peer, link};
use crate::config::{Protocol, ServerConfig};
use crate::inputs::BoxFuture;
use crate::mcpl::callbacks::{
    Callbacks, Chunks, Delivered, Delivery, INBOX_TIMEOUT, Inbox, Inference, Models, Reception,
    Wake,
};
use crate::mcpl::capability::Capability;
use crate::mcpl::channels::{Delivery as Delivered2, TypingOp, text_blocks};
use crate::mcpl::hooks::{BeforeInference, HOOK_TIMEOUT};
use crate::mcpl::inference::{Finish, InferenceRequest, Inferred, Model, Phase, Turn, Usage};
use crate::mcpl::session::{Defect, Notice, POLICY_TIMEOUT, Policy, Refusal, Unsent};
use crate::{Arguments, ErrorCode};

/// Takes everything, after a while; a text of `panic` panics.
#[derive(Default)]
struct Everything {
    after: Duration,
    taken: Mutex<Vec<(String, bool)>>,
}

impl Inbox for Everything {
    fn take(&self, server: &str, delivery: Delivery) -> BoxFuture<Reception> {
        assert_eq!(server, "peer");
        let (id, text) = match &delivery.what {
            Delivered::Push(event) => (event.event_id().to_owned(), event.content().shown()),
            Delivered::Message(message) => {
                (message.message_id().to_owned(), message.content().shown())
            }
        };
        assert_ne!(text, "panic", "as asked");
        self.taken.lock().unwrap().push((id, delivery.wakes));
        let after = self.after;
        Box::pin(async move {
            tokio::time::sleep(after).await;
            Reception::accepted()
        })
    }
}

struct Panics;

impl Wake for Panics {
    fn should_wake(&self, _: &str, _: &Delivery) -> BoxFuture<bool> {
        Box::pin(async { panic!("as asked") })
    }
}

struct Talks;

impl Inference for Talks {
    fn infer(
        &self,
        _: &str,
        request: InferenceRequest,
        chunks: Chunks,
    ) -> BoxFuture<Option<Inferred>> {
        Box::pin(async move {
            for piece in ["a", "b"] {
                assert_eq!(chunks.tell(piece), request.stream);
            }
            Some(Inferred {
                content: "ab".to_owned(),
                model: "m".to_owned(),
                finish: Finish::MaxTokens,
                usage: Usage::default(),
            })
        })
    }

    fn streams(&self) -> bool {
        true
    }
}

impl Models for Talks {
    fn model(&self, _: &str) -> BoxFuture<Option<Model>> {
        Box::pin(std::future::pending())
    }
}

fn manifest() -> Value {
    json!({
        "version": "0.5",
        "pushEvents": true,
        "contextHooks": { "beforeInference": true },
        "inferenceLifecycle": true,
        "inferenceRequest": { "streaming": true },
        "modelInfo": true,
        "channels": true,
        "featureSets": {
            "push": { "description": "p", "uses": ["pushEvents"] },
            "infer": { "description": "i", "uses": ["inferenceRequest", "inferenceRequest.streaming"] },
            "add": { "description": "a", "uses": ["contextHooks.beforeInference.inject.beforeUser"] },
        },
    })
}

const INJECT: &str = "contextHooks.beforeInference.inject.beforeUser";

fn config() -> ServerConfig {
    let entry = ServerConfig::stdio("peer", "in-memory").protocol(Protocol::Mcpl);
    let mut all: Vec<String> = Capability::ALL.iter().map(ToString::to_string).collect();
    all.retain(|path| !path.starts_with("toolLifecycle"));
    entry.mcpl(policy(&all)).build().expect("a valid entry")
}

fn policy(enabled: &[String]) -> crate::mcpl::McplPolicy {
    let mut policy = crate::mcpl::McplPolicy::default();
    let enabled = enabled.iter().map(|path| path.parse().unwrap());
    policy.enabled_capabilities = Some(enabled.collect());
    policy
}

/// The server's side.
struct Server(Peer);

impl Server {
    async fn line(&mut self) -> Value {
        serde_json::from_str(&self.0.line().await).expect("JSON")
    }

    async fn write(&mut self, message: &Value) {
        self.0.write(&format!("{message}\n")).await;
    }

    async fn ask(&mut self, id: u64, method: &str, params: Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&request).await;
    }

    async fn reply(&mut self, id: &Value, result: Value) {
        let reply = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.write(&reply).await;
    }

    /// The handshake, with this beside the tools.
    async fn shake_hands(&mut self, experimental: Value) -> Value {
        let initialize = self.line().await;
        assert_eq!(initialize["method"], "initialize");
        let result = json!({
            "protocolVersion": "2024-11-05",
            "capabilities": { "tools": {}, "experimental": experimental },
            "serverInfo": { "name": "peer", "version": "1" },
        });
        self.reply(&json!(1), result).await;
        assert_eq!(self.line().await["method"], "notifications/initialized");
        assert_eq!(self.line().await["method"], "tools/list");
        let tools = json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] });
        self.reply(&json!(2), tools).await;
        initialize
    }

    async fn accept(&mut self) -> Value {
        let update = self.line().await;
        assert_eq!(update["method"], "featureSets/update");
        self.reply(&update["id"], json!({ "accepted": true })).await;
        update
    }
}

async fn shaken(callbacks: Callbacks, experimental: Value) -> (Client, Server, Value) {
    let (link, peer) = link(1 << 16);
    let mut server = Server(peer);
    let builder = Client::builder(config()).mcpl(callbacks);
    let connecting = builder.connect_link(link);
    let (client, initialize) = tokio::join!(connecting, server.shake_hands(experimental));
    (client.expect("connects"), server, initialize)
}

async fn live(callbacks: Callbacks) -> (Client, Mcpl, Server) {
    let (client, mut server, _) = shaken(callbacks, json!({ "mcpl": manifest() })).await;
    let mcpl = client.mcpl().expect("it advertises it");
    let (policy, _) = tokio::join!(mcpl.settled(), server.accept());
    assert_eq!(policy, Policy::InForce);
    (client, mcpl, server)
}

fn inbox(after: Duration) -> (Callbacks, Arc<Everything>) {
    let inbox = Arc::new(Everything {
        after,
        ..Everything::default()
    });
    (
        Callbacks::default().with_inbox(Arc::<Everything>::clone(&inbox)),
        inbox,
    )
}

fn push(event: &str, text: &str) -> Value {
    json!({
        "featureSet": "push",
        "eventId": event,
        "timestamp": "2026-01-23T10:30:00Z",
        "payload": { "content": [{ "type": "text", "text": text }] },
    })
}

fn turn() -> Turn {
    Turn {
        inference_id: "i".to_owned(),
        conversation_id: "c".to_owned(),
        index: 0,
        model: None,
    }
}

fn before() -> BeforeInference {
    BeforeInference {
        turn: turn(),
        user_message: Some("hello".to_owned()),
        channels: None,
    }
}

/// MCPL §3.3: a server that does not advertise it is a plain one: no message of MCP Live goes to it or is taken from it.
#[tokio::test(start_paused = true)]
async fn plain_server_has_nothing_of_it() {
    let (callbacks, inbox) = inbox(Duration::ZERO);
    for experimental in [json!({}), json!({ "mcpl": true }), json!(null)] {
        let (client, mut server, initialize) = shaken(callbacks.clone(), experimental).await;
        assert_eq!(initialize["params"]["protocolVersion"], "2024-11-05");
        assert_eq!(
            initialize["params"]["capabilities"]["experimental"]["mcpl"]["version"],
            "0.5"
        );
        assert!(client.mcpl().is_none());
        server.ask(7, "push/event", push("e", "x")).await;
        assert_eq!(server.line().await["error"]["code"], -32601);
        server.ask(8, "ping", json!({})).await;
        assert_eq!(
            server.line().await["result"],
            json!({}),
            "nothing else was sent"
        );
    }
    assert!(inbox.taken.lock().unwrap().is_empty());
}

/// MCPL §5.2: what nobody here takes is not offered.
#[tokio::test(start_paused = true)]
async fn host_advertises_what_somebody_takes() {
    let (_, _, initialize) = shaken(Callbacks::default(), json!({})).await;
    let offered = &initialize["params"]["capabilities"]["experimental"]["mcpl"];
    for member in ["pushEvents", "inferenceRequest", "modelInfo"] {
        assert!(
            !offered[member].is_boolean() || offered[member] == false,
            "{member}: {offered}"
        );
    }
    let all = Callbacks::default()
        .with_inference(Arc::new(Talks))
        .with_models(Arc::new(Talks));
    let (_, _, initialize) = shaken(all, json!({})).await;
    let offered = &initialize["params"]["capabilities"]["experimental"]["mcpl"];
    assert_eq!(offered["inferenceRequest"]["streaming"], true);
    assert_eq!(offered["modelInfo"], true);
}

/// MCPL §5.3, §9: a push before the receipt is answered after it, and given to who takes it.
#[tokio::test(start_paused = true)]
async fn early_push_is_answered_after_the_receipt() {
    let (callbacks, inbox) = inbox(Duration::ZERO);
    let (client, mut server, _) = shaken(callbacks, json!({ "mcpl": manifest() })).await;
    let mcpl = client.mcpl().expect("it advertises it");
    server.ask(1, "push/event", push("e", "x")).await;
    let update = server.line().await;
    assert_eq!(update["method"], "featureSets/update");
    assert!(mcpl.grant().effective().is_empty());
    assert!(inbox.taken.lock().unwrap().is_empty());
    server
        .reply(&update["id"], json!({ "accepted": true }))
        .await;
    let answer = server.line().await;
    assert_eq!(
        (&answer["id"], &answer["result"]),
        (&json!(1), &json!({ "accepted": true }))
    );
    assert_eq!(*inbox.taken.lock().unwrap(), [("e".to_owned(), true)]);
    assert!(mcpl.grant().allows(Capability::PushEvents));
}

/// MCPL: a server that does not acknowledge its grant within 15 s keeps its tools and nothing else.
#[tokio::test(start_paused = true)]
async fn unanswered_exchange_leaves_the_tools() {
    let (callbacks, _) = inbox(Duration::ZERO);
    let (client, mut server, _) = shaken(callbacks, json!({ "mcpl": manifest() })).await;
    let mcpl = client.mcpl().expect("it advertises it");
    let since = Instant::now();
    let policy = mcpl.settled().await;
    assert_eq!(policy, Policy::McpOnly(Refusal::Unanswered));
    assert_eq!(since.elapsed(), POLICY_TIMEOUT);
    assert_eq!(server.line().await["method"], "featureSets/update");
    assert_eq!(server.line().await["method"], "notifications/cancelled");
    server.ask(1, "push/event", push("e", "x")).await;
    assert_eq!(server.line().await["error"]["code"], -32002);
    let (result, ()) = tokio::join!(client.call("t", Arguments::none()), async {
        let call = server.line().await;
        assert_eq!(call["method"], "tools/call");
        server.reply(&call["id"], json!({ "content": [] })).await;
    });
    result.expect("tools stay");
}

/// MCPL §6.7: a server that wants the connection closed gets that, and the reason says so.
#[tokio::test(start_paused = true)]
async fn refusal_may_close_the_connection() {
    let (client, mut server, _) = shaken(Callbacks::default(), json!({ "mcpl": manifest() })).await;
    let update = server.line().await;
    let refusal = json!({ "accepted": false, "fallback": "close" });
    server.reply(&update["id"], refusal).await;
    assert!(client.changed().await.is_none());
    let error = client.closed().expect("it ended");
    assert_eq!(error.code(), ErrorCode::CapabilityRefused);
    let mcpl = client.mcpl().expect("it advertised it");
    assert!(mcpl.grant().effective().is_empty());
    assert!(matches!(
        mcpl.typing("a", TypingOp::Start),
        Err(McplError::Unsent(_))
    ));
}

/// MCPL, callbacks: who takes too long, or panics, has said no; what decides of waking and panics wakes nobody.
#[tokio::test(start_paused = true)]
async fn callbacks_fail_closed() {
    let (callbacks, taken) = inbox(INBOX_TIMEOUT + Duration::from_secs(1));
    let (_client, _mcpl, mut server) = live(callbacks.with_wake(Arc::new(Panics))).await;
    let since = Instant::now();
    server.ask(1, "push/event", push("e", "x")).await;
    let refused = json!({ "accepted": false, "reason": "no-answer" });
    assert_eq!(server.line().await["result"], refused);
    assert_eq!(since.elapsed(), INBOX_TIMEOUT);
    assert_eq!(*taken.taken.lock().unwrap(), [("e".to_owned(), false)]);
    server.ask(2, "push/event", push("f", "panic")).await;
    assert_eq!(server.line().await["result"], refused);
    let (_client, _mcpl, mut server) =
        live(Callbacks::default().with_models(Arc::new(Talks))).await;
    server.ask(3, "model/info", json!({})).await;
    assert_eq!(
        server.line().await["error"]["code"],
        -32603,
        "pending is a no"
    );
    server.ask(4, "push/event", push("e", "x")).await;
    assert_eq!(
        server.line().await["error"]["code"],
        -32002,
        "nobody takes it"
    );
}

/// MCPL §11.4: pieces go out under the server's own id of the request, and the whole after them.
#[tokio::test(start_paused = true)]
async fn inference_is_streamed_under_the_servers_id() {
    let (_client, _mcpl, mut server) =
        live(Callbacks::default().with_inference(Arc::new(Talks))).await;
    let request = |stream| json!({ "featureSet": "infer", "stream": stream, "messages": [{ "role": "user", "content": "x" }] });
    server.ask(41, "inference/request", request(true)).await;
    for (index, delta) in ["a", "b"].iter().enumerate() {
        let chunk = server.line().await;
        assert_eq!(chunk["method"], "inference/chunk");
        assert_eq!(
            chunk["params"],
            json!({ "requestId": 41, "index": index, "delta": delta })
        );
    }
    let answer = server.line().await;
    assert_eq!(answer["id"], 41);
    assert_eq!(answer["result"]["content"], "ab");
    assert_eq!(answer["result"]["finishReason"], "max_tokens");
    server.ask(42, "inference/request", request(false)).await;
    assert_eq!(server.line().await["id"], 42);
}

/// MCPL §10: a hook fails open after 5 s; in time, what may be added is; inference is refused meanwhile.
#[tokio::test(start_paused = true)]
async fn hook_fails_open_and_refuses_inference() {
    let (_client, mcpl, mut server) =
        live(Callbacks::default().with_inference(Arc::new(Talks))).await;
    let mut notices = mcpl.notices();
    let since = Instant::now();
    assert!(mcpl.before_inference(&before()).await.is_empty());
    assert_eq!(since.elapsed(), HOOK_TIMEOUT);
    assert!(matches!(
        notices.next().await,
        Some(Noticed::Notice(Notice::Defect(Defect::Hook)))
    ));
    let hook = server.line().await;
    assert_eq!(hook["params"]["userMessage"], "hello");
    assert_eq!(server.line().await["method"], "notifications/cancelled");
    let before = before();
    let (added, ()) = tokio::join!(mcpl.before_inference(&before), async {
        let hook = server.line().await;
        let request =
            json!({ "featureSet": "infer", "messages": [{ "role": "user", "content": "x" }] });
        server.ask(1, "inference/request", request.clone()).await;
        assert_eq!(server.line().await["error"]["code"], -32002);
        let injections = json!([{ "namespace": "n", "position": "beforeUser", "content": "more" }]);
        server
            .reply(
                &hook["id"],
                json!({ "featureSet": "add", "contextInjections": injections }),
            )
            .await;
        server.ask(2, "inference/request", request).await;
        assert_eq!(server.line().await["result"]["content"], "ab");
    });
    assert_eq!(added.len(), 1);
    assert_eq!(added[0].content.shown(), "more");
}

/// MCPL §5.4: what is taken away while a hook is under way counts for its answer.
#[tokio::test(start_paused = true)]
async fn answer_to_a_hook_is_authorised_when_it_comes() {
    let (_client, mcpl, mut server) = live(Callbacks::default()).await;
    assert!(mcpl.grant().allows(INJECT.parse().unwrap()));
    let before = before();
    let (added, ()) = tokio::join!(mcpl.before_inference(&before), async {
        let hook = server.line().await;
        let announced = json!({ "revision": format!("sha256:{}", "A".repeat(43)), "domains": ["capabilities"] });
        server
            .write(
                &json!({ "jsonrpc": "2.0", "method": "mcpl/manifestChanged", "params": announced }),
            )
            .await;
        let fetch = server.line().await;
        assert_eq!(fetch["method"], "mcpl/manifest");
        let mut less = manifest();
        less["contextHooks"] = json!({ "beforeInference": { "observe": true } });
        server.reply(&fetch["id"], less).await;
        let update = server.accept().await;
        let effective = update["params"]["effectiveCapabilities"]
            .as_array()
            .unwrap();
        assert!(!effective.contains(&json!(INJECT)));
        let injections = json!([{ "namespace": "n", "position": "beforeUser", "content": "more" }]);
        server
            .reply(
                &hook["id"],
                json!({ "featureSet": "add", "contextInjections": injections }),
            )
            .await;
    });
    assert!(added.is_empty());
}

/// MCPL §14: messages go to channels that are registered, and what became of them is told.
#[tokio::test(start_paused = true)]
async fn messages_go_to_registered_channels() {
    let (callbacks, taken) = inbox(Duration::ZERO);
    let (_client, mcpl, mut server) = live(callbacks).await;
    let text = text_blocks("hello");
    let to = Destination::channel("c", "a");
    let unknown = mcpl.publish(to, &text).await;
    assert!(matches!(
        unknown,
        Err(McplError::Unsent(Unsent::Publication(_)))
    ));
    let channel = json!({ "id": "a", "type": "t", "label": "a", "direction": "bidirectional" });
    server
        .ask(1, "channels/register", json!({ "channels": [channel] }))
        .await;
    assert_eq!(
        server.line().await["result"]["results"][0]["accepted"],
        true
    );
    let (delivered, ()) = tokio::join!(mcpl.publish(to, &text), async {
        let publish = server.line().await;
        assert_eq!(publish["method"], "channels/publish");
        assert_eq!(publish["params"]["channelId"], "a");
        server
            .reply(
                &publish["id"],
                json!({ "delivered": true, "messageId": "m" }),
            )
            .await;
    });
    let message_id = Some("m".to_owned());
    assert_eq!(
        delivered.expect("delivered"),
        Delivered2::Delivered { message_id }
    );
    mcpl.typing("a", TypingOp::Start).expect("told");
    assert_eq!(server.line().await["method"], "channels/typing");
    mcpl.inference_lifecycle(&turn(), Phase::Started)
        .expect("told");
    assert_eq!(server.line().await["params"]["phase"], "started");
    let message = json!({
        "channelId": "a", "messageId": "7", "author": { "id": "u", "name": "A" },
        "timestamp": "2026-01-23T10:30:00Z", "content": [{ "type": "text", "text": "hi" }],
    });
    server
        .ask(2, "channels/incoming", json!({ "messages": [message] }))
        .await;
    assert_eq!(
        server.line().await["result"]["results"][0]["accepted"],
        true
    );
    assert_eq!(*taken.taken.lock().unwrap(), [("7".to_owned(), true)]);
    assert_eq!(mcpl.channels().len(), 1);
}

/// MCPL §5.4: with the connection the grant is over, and who waits for the exchange is told.
#[tokio::test(start_paused = true)]
async fn end_of_the_connection_ends_the_grant() {
    let (client, mcpl, server) = live(Callbacks::default()).await;
    let mut notices = mcpl.notices();
    drop(server);
    client.closed_by_server().await;
    assert_eq!(mcpl.policy(), Policy::Ended);
    assert!(mcpl.grant().effective().is_empty());
    assert_eq!(mcpl.settled().await, Policy::Ended);
    let mut ended = false;
    while let Ok(Some(Noticed::Notice(notice))) =
        tokio::time::timeout(Duration::from_secs(1), notices.next()).await
    {
        ended |= matches!(notice, Notice::Policy(Policy::Ended));
    }
    assert!(ended);
    assert!(mcpl.before_inference(&before()).await.is_empty());
    let (client, mut server, _) = shaken(Callbacks::default(), json!({ "mcpl": manifest() })).await;
    assert_eq!(server.line().await["method"], "featureSets/update");
    let mcpl = client.mcpl().expect("it advertises it");
    let (settled, closed) = tokio::join!(mcpl.settled(), client.close());
    closed.expect("closes");
    assert_eq!(settled, Policy::Ended);
}

impl Client {
    /// Waits until the driver is done.
    async fn closed_by_server(&self) {
        self.handle.shared.finished().await;
    }
}
