//! A host with servers of MCP Live and one that is none.

use std::time::Duration;

use seawall::config::Protocol;
use seawall::host::{EventKind, Events, Heard};
use seawall::inputs::BoxFuture;
use seawall::mcpl::callbacks::{Delivery, Inbox, Reception};
use seawall::mcpl::hooks::BeforeInference;
use seawall::mcpl::inference::{Phase, Turn};
use seawall::mcpl::session::{Outcome as Became, Policy};
use seawall::mcpl::{Callbacks, Capability, McplPolicy};
use seawall::{Host, client::McplEvent};
use seawall_testkit::McplServer;
use serde_json::json;
use tokio::time::timeout;

use super::*;

struct Takes;

impl Inbox for Takes {
    fn take(&self, server: &str, _: Delivery) -> BoxFuture<Reception> {
        let id = Some(format!("inference of {server}"));
        Box::pin(std::future::ready(Reception::Accepted { id }))
    }
}

fn live(id: &str, server: &McplServer) -> ServerConfig {
    let mut policy = McplPolicy::default();
    let granted = [
        "pushEvents",
        "inferenceLifecycle",
        "contextHooks.beforeInference.inject.beforeUser",
        "channels.register",
        "channels.lifecycle",
        "channels.publish",
        "channels.incoming",
    ];
    policy.enabled_capabilities = Some(
        granted
            .iter()
            .map(|path| path.parse().expect("a path"))
            .collect(),
    );
    let program = server.stdio();
    ServerConfig::stdio(id, program.program_str())
        .args(program.args)
        .protocol(Protocol::Mcpl)
        .mcpl(policy)
        .build()
        .expect("a valid entry")
}

fn plain(id: &str) -> ServerConfig {
    let server = seawall_testkit::Script::plain().server();
    ServerConfig::stdio(id, server.program_str())
        .args(server.args)
        .build()
        .expect("a valid entry")
}

fn injecting(text: &str) -> McplServer {
    let injection = json!({ "namespace": "n", "position": "beforeUser", "content": text });
    let result = json!({ "featureSet": "notes", "contextInjections": [injection] });
    McplServer::honest().result("context/beforeInference", &result.to_string())
}

fn before() -> BeforeInference {
    BeforeInference {
        turn: Turn {
            inference_id: "i".to_owned(),
            conversation_id: "c".to_owned(),
            index: 0,
            model: None,
        },
        user_message: Some("hello".to_owned()),
        channels: None,
    }
}

/// The next event of MCP Live that `wanted` finds something in.
async fn event<T>(events: &mut Events, wanted: impl Fn(&str, &McplEvent) -> Option<T>) -> T {
    let found = async {
        loop {
            let heard = events.next().await.expect("the host is there");
            if let Heard::Event(event) = heard
                && let EventKind::Mcpl(kind) = &event.kind
                && let Some(found) = wanted(&event.server, kind)
            {
                return found;
            }
        }
    };
    let found = timeout(Duration::from_secs(20), found).await;
    found.expect("it happens")
}

/// MCPL, H7: what a server pushes is an event of the host, its text hidden and without secrets; with the connection its grant
/// is gone, and the next one is granted anew.
#[tokio::test]
async fn pushes_are_events_of_the_host_and_grants_are_of_one_connection() {
    let push = json!({ "jsonrpc": "2.0", "id": 1, "method": "push/event", "params": {
        "featureSet": "alerts", "eventId": "e-1", "timestamp": "2026-01-23T10:30:00Z",
        "payload": { "content": [{ "type": "text", "text": MARKER }] },
    } });
    let server = McplServer::honest().says_after("featureSets/update", &push);
    let callbacks = Callbacks::default().with_inbox(Arc::new(Takes));
    let host = Host::builder().mcpl(callbacks).build();
    let mut events = host.events();
    host.connect(live("a", &server)).await.expect("connects");
    host.connect(plain("p")).await.expect("connects");
    let settled = event(&mut events, |of, event| match event {
        McplEvent::Policy(policy) => Some((of.to_owned(), *policy)),
        _ => None,
    });
    assert_eq!(settled.await, ("a".to_owned(), Policy::InForce));
    let said = event(&mut events, |_, event| match event {
        McplEvent::Pushed(said) => Some(said.clone()),
        _ => None,
    });
    let said = said.await;
    assert_eq!(said.id.reveal(), "e-1");
    assert_eq!(said.from.reveal(), "alerts");
    assert_eq!(said.text.reveal(), MARKER);
    assert!(!format!("{said:?}").contains(MARKER));
    let id = Some("inference of a".to_owned());
    assert_eq!(said.outcome, Became::Received(Reception::Accepted { id }));

    assert!(host.mcpl("p").is_none(), "a plain server has none");
    assert!(host.mcpl("none").is_none());
    let first = host.mcpl("a").expect("it speaks it");
    assert!(first.grant().allows(Capability::PushEvents));
    host.restart("a", live("a", &server))
        .await
        .expect("connects again");
    assert_eq!(first.policy(), Policy::Ended);
    assert!(first.grant().effective().is_empty());
    let second = host.mcpl("a").expect("it speaks it");
    assert_eq!(second.settled().await, Policy::InForce);
    assert!(second.grant().allows(Capability::PushEvents));
    host.disconnect("a").await.expect("ends");
    assert!(host.mcpl("a").is_none());
    assert!(second.grant().effective().is_empty());
    host.stop(Duration::from_secs(10)).await.expect("stops");
}

/// MCPL §10: every server that may is asked, in the order of the configuration; who fails adds nothing and costs nobody
/// anything; plain servers are not asked.
#[tokio::test]
async fn hooks_fan_out_over_servers() {
    let failing = McplServer::honest().error(
        "context/beforeInference",
        r#"{"code":-32603,"message":"REMOTE-MARKER"}"#,
    );
    let callbacks = Callbacks::default().with_inbox(Arc::new(Takes));
    let host = Host::builder().mcpl(callbacks).build();
    for config in [
        live("b", &injecting("of b")),
        live("f", &failing),
        plain("p"),
        live("a", &injecting("of a")),
    ] {
        host.connect(config).await.expect("connects");
    }
    for mcpl in host.mcpl_servers() {
        assert_eq!(mcpl.settled().await, Policy::InForce);
    }
    let added: Vec<(String, String)> = host
        .before_inference(&before())
        .await
        .into_iter()
        .map(|(server, injection)| (server.to_string(), injection.content.shown()))
        .collect();
    let expected = [("b", "of b"), ("a", "of a")];
    assert_eq!(
        added,
        expected.map(|(server, text)| (server.to_owned(), text.to_owned()))
    );
    let turn = before().turn;
    assert_eq!(host.inference_lifecycle(&turn, Phase::Started), 3);
    assert_eq!(host.inference_lifecycle(&turn, Phase::Aborted), 3);
    assert_eq!(
        host.inference_lifecycle(&turn, Phase::Failed),
        0,
        "told once"
    );
    host.stop(Duration::from_secs(10)).await.expect("stops");
}
