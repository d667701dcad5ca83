//! Servers of MCP Live of good will, over stdio and a WebSocket (T6, S1): the policy exchange, pushes, channels, hooks,
//! changes under way.

use std::time::Duration;

use seawall::mcpl::channels::{Delivery as Publication, text_blocks};
use seawall::mcpl::hooks::Position;
use seawall::mcpl::policy::Before05;
use seawall::mcpl::session::{Policy, Refusal};
use seawall::mcpl::{Capability, McplPolicy};
use seawall::{Destination, Host, Transport};
use seawall_testkit::{
    McplAct, McplAnswer, McplServer, mcpl_incoming, mcpl_notification, mcpl_push, mcpl_register,
};
use serde_json::{Value, json};

use super::http_support::soon;
use super::mcpl_support::*;
use super::*;

const SYSTEM: &str = "contextHooks.beforeInference.inject.system";

fn effective(update: &Value) -> Vec<String> {
    let paths = update["params"]["effectiveCapabilities"].as_array();
    let paths = paths.expect("an array").iter();
    paths
        .map(|path| path.as_str().expect("a path").to_owned())
        .collect()
}

/// T6, S1: everything that an honest server does, and is asked, both ways.
#[tokio::test]
async fn an_honest_server() {
    for over in BOTH {
        let server = McplServer::honest()
            .says_after("featureSets/update", &mcpl_push(1, "e-1", "it rains"))
            .says_after("featureSets/update", &mcpl_register(2))
            .says_after("channels/open", &mcpl_incoming(3, "m-7", "hello"))
            .result(
                "context/beforeInference",
                r#"{"featureSet":"notes","contextInjections":[{"namespace":"n","position":"beforeUser","content":"before"},{"namespace":"n","position":"system","content":"denied"}]}"#,
            );
        // What writes into a context is granted where it is named.
        let mut policy = McplPolicy::default();
        let all = Capability::ALL
            .iter()
            .filter(|one| **one != Capability::InjectSystem);
        let all = all.map(|one| one.as_str().parse().expect("a pattern"));
        policy.enabled_capabilities = Some(all.collect());
        let live = Live::with(server, over, policy).await;
        let mcpl = live.mcpl();
        assert_eq!(mcpl.settled().await, Policy::InForce, "{over:?}");
        let report = live.client.report();
        assert_eq!(report.revision.to_string(), "2024-11-05");
        let expected = match over {
            Over::Stdio => Transport::Stdio,
            Over::WebSocket => Transport::WebSocket,
        };
        assert_eq!(report.transport, expected);
        let update = &live.running.heard_of("featureSets/update")[0];
        assert!(effective(update).contains(&"channels.publish".to_owned()));
        assert_eq!(live.running.reply(1).await["result"]["accepted"], true);
        let registered = live.running.reply(2).await;
        assert_eq!(registered["result"]["results"][0]["accepted"], true);
        mcpl.open_channel("room:1").await.expect("opened");
        let received = live.running.reply(3).await;
        assert_eq!(received["result"]["results"][0]["accepted"], true);
        let taken = live.inbox.all();
        assert_eq!(
            taken,
            [
                ("e-1".into(), "it rains".into()),
                ("m-7".into(), "hello".into())
            ]
        );
        let to = Destination::channel("c-1", "room:1");
        let published = mcpl.publish(to, &text_blocks("hi")).await;
        let message_id = Some("m-1".to_owned());
        assert_eq!(
            published.expect("delivered"),
            Publication::Delivered { message_id }
        );
        let added = mcpl.before_inference(&before()).await;
        assert_eq!(added.len(), 1);
        assert_eq!(added[0].position, Position::BeforeUser);
        let hook = &live.running.heard_of("context/beforeInference")[0];
        assert_eq!(hook["params"]["userMessage"], "hello");
        mcpl.close_channel("room:1").await.expect("closed");
        live.call().await;
        live.client.close().await.expect("closes");
    }
}

/// MCPL §3.3: to a server of the base protocol no message of MCP Live goes, and none is taken from it.
#[tokio::test]
async fn a_plain_server() {
    for over in BOTH {
        let server = McplServer::plain()
            .says_after(
                "notifications/initialized",
                &mcpl_push(1, "e-1", "REMOTE-MARKER"),
            )
            .says_after(
                "tools/call",
                &mcpl_notification("mcpl/manifestChanged", &json!({})),
            );
        let live = Live::start(server, over).await;
        assert!(live.client.mcpl().is_none());
        assert_eq!(live.running.reply(1).await["error"]["code"], -32601);
        live.call().await;
        live.client.close().await.expect("closes");
        assert!(live.inbox.all().is_empty());
        for message in live.running.heard() {
            let method = message["method"].as_str().unwrap_or_default();
            let of_the_base = [
                "",
                "initialize",
                "notifications/initialized",
                "tools/list",
                "tools/call",
            ];
            assert!(of_the_base.contains(&method), "{over:?}: {method}");
        }
    }
}

/// MCPL §5.3: a push that comes before the server was heard what it is granted waits for that.
#[tokio::test]
async fn a_push_before_the_policy() {
    for over in BOTH {
        let server = McplServer::honest().before(
            "featureSets/update",
            [McplAct::Say(mcpl_push(1, "e-1", "early").to_string())],
        );
        let live = Live::start(server, over).await;
        assert_eq!(live.running.reply(1).await["result"]["accepted"], true);
        assert_eq!(live.mcpl().policy(), Policy::InForce);
        assert_eq!(live.inbox.all(), [("e-1".to_owned(), "early".to_owned())]);
    }
}

/// MCPL §5.4: what is denied is not granted, is told, and what needs it is refused, whatever the server thinks.
#[tokio::test]
async fn what_is_denied() {
    let mut policy = McplPolicy::default();
    policy.disabled_capabilities = vec!["pushEvents".parse().expect("a pattern")];
    let hooks = json!({ "beforeInference": true });
    for over in BOTH {
        let server = McplServer::honest()
            .manifest_member("contextHooks", hooks.clone())
            .result(
                "featureSets/update",
                &json!({ "accepted": true, "effectiveCapabilities": [SYSTEM, "pushEvents"] }).to_string(),
            )
            .says_after("featureSets/update", &mcpl_push(1, "e-1", "REMOTE-MARKER"))
            .result(
                "context/beforeInference",
                r#"{"featureSet":"notes","contextInjections":[{"namespace":"n","position":"system","content":"REMOTE-MARKER"}]}"#,
            );
        let live = Live::with(server, over, policy.clone()).await;
        let mcpl = live.mcpl();
        assert_eq!(mcpl.settled().await, Policy::InForce);
        let update = &live.running.heard_of("featureSets/update")[0];
        let effective = effective(update);
        assert!(
            !effective
                .iter()
                .any(|path| path == SYSTEM || path == "pushEvents")
        );
        assert!(!mcpl.grant().allows(Capability::PushEvents));
        let denied: Vec<Capability> = mcpl
            .wanted()
            .denied()
            .iter()
            .map(|denied| denied.capability)
            .collect();
        assert!(denied.contains(&Capability::PushEvents));
        assert!(denied.contains(&Capability::InjectSystem));
        let refusal = live.running.reply(1).await;
        assert_eq!(refusal["error"]["code"], -32002);
        assert_eq!(refusal["error"]["data"]["capability"], "pushEvents");
        assert!(mcpl.before_inference(&before()).await.is_empty());
        assert!(live.inbox.all().is_empty());
        live.call().await;
    }
}

/// MCPL.md, section 4: a server of a time before 0.5, as heartbeat-mcpl is one: it knows no policy and no ping, lists its
/// feature sets in an array, and pushes before its tool's result, with an id of its own. It keeps its tools; what it pushes is
/// taken where the configuration says so.
#[tokio::test]
async fn a_server_before_policies() {
    for over in BOTH {
        for before_05 in [Before05::Strict, Before05::Legacy] {
            let server = McplServer::before_policies().before(
                "tools/call",
                [McplAct::Say(mcpl_push(1, "e-1", "beat").to_string())],
            );
            let mut policy = McplPolicy::default();
            policy.before_05 = before_05;
            let live = Live::with(server, over, policy).await;
            let settled = live.mcpl().settled().await;
            live.call().await;
            let reply = live.running.reply(1).await;
            match before_05 {
                Before05::Legacy => {
                    assert_eq!(settled, Policy::InForce);
                    assert_eq!(reply["result"]["accepted"], true, "{over:?}");
                }
                _ => {
                    assert_eq!(settled, Policy::McpOnly(Refusal::Before05));
                    assert_eq!(reply["error"]["code"], -32002, "{over:?}");
                }
            }
            assert_eq!(
                live.inbox.all().len(),
                usize::from(before_05 == Before05::Legacy)
            );
            live.client.close().await.expect("closes");
        }
    }
}

/// MCPL §6.7: a server that refuses, or whose receipt is none, keeps its tools; one that wants the end gets it.
#[tokio::test]
async fn receipts_that_grant_nothing() {
    let mcp_only = [
        (
            r#"{"accepted":false,"fallback":"mcp-only","reason":"REMOTE-MARKER"}"#,
            Refusal::McpOnly,
        ),
        (r#"{"accepted":"yes"}"#, Refusal::Malformed),
        (r#"{"accepted":false}"#, Refusal::Malformed),
        ("[true]", Refusal::Malformed),
    ];
    for over in BOTH {
        for (receipt, refusal) in mcp_only {
            let server = McplServer::honest()
                .result("featureSets/update", receipt)
                .says_after("featureSets/update", &mcpl_push(1, "e-1", "REMOTE-MARKER"));
            let live = Live::start(server, over).await;
            assert_eq!(
                live.mcpl().settled().await,
                Policy::McpOnly(refusal),
                "{receipt}"
            );
            assert_eq!(live.running.reply(1).await["error"]["code"], -32002);
            live.call().await;
        }
        let server = McplServer::honest().error(
            "featureSets/update",
            r#"{"code":-32000,"message":"REMOTE-MARKER"}"#,
        );
        let live = Live::start(server, over).await;
        assert_eq!(
            live.mcpl().settled().await,
            Policy::McpOnly(Refusal::Error(-32000))
        );
        let server = McplServer::honest().result(
            "featureSets/update",
            r#"{"accepted":false,"fallback":"close"}"#,
        );
        let live = Live::start(server, over).await;
        let client = &live.client;
        soon(|| {
            client
                .mcpl()
                .is_none_or(|mcpl| mcpl.policy() == Policy::Ended)
        })
        .await;
        let error = client.call("echo", seawall::Arguments::none()).await;
        verdict(&error.expect_err("it is closed"));
    }
}

/// MCPL §17: a manifest that shrinks under way takes away at once; what it announces without end is fetched now and then.
#[tokio::test]
async fn a_manifest_that_changes() {
    for over in BOTH {
        let mut less = serde_json::to_value(json!({ "version": "0.5" })).expect("JSON");
        less["channels"] = json!({ "register": true });
        less["featureSets"] =
            json!({ "rooms": { "description": "r", "uses": ["channels.register"] } });
        let revision = format!("sha256:{}", "A".repeat(43));
        let changed = mcpl_notification(
            "mcpl/manifestChanged",
            &json!({ "revision": revision, "domains": ["capabilities", "featureSets"] }),
        );
        let server = McplServer::honest()
            .says_after("featureSets/update", &mcpl_push(1, "e-1", "before"))
            .before(
                "tools/call",
                [
                    McplAct::Answer(
                        "mcpl/manifest".to_owned(),
                        McplAnswer::Result(less.to_string()),
                    ),
                    McplAct::Flood(changed.to_string(), 500),
                ],
            )
            .says_after("tools/call", &mcpl_push(2, "e-2", "after"));
        let live = Live::start(server, over).await;
        let mcpl = live.mcpl();
        assert_eq!(mcpl.settled().await, Policy::InForce);
        assert_eq!(live.running.reply(1).await["result"]["accepted"], true);
        live.call().await;
        let updates = || live.running.heard_of("featureSets/update");
        soon(|| updates().len() == 2).await;
        assert!(!effective(&updates()[1]).contains(&"pushEvents".to_owned()));
        soon(|| !mcpl.grant().allows(Capability::PushEvents)).await;
        // It may have been pushed before the manifest was read.
        live.running.reply(2).await;
        let fetches = live.running.heard_of("mcpl/manifest").len();
        assert!(fetches <= 2, "{fetches}");
    }
}

/// MCPL §5.4, H2: a grant is of one connection; the next one is granted anew.
#[tokio::test]
async fn a_connection_made_again() {
    for over in BOTH {
        let server = McplServer::honest()
            .says_after("featureSets/update", &mcpl_push(1, "e-1", "again"))
            .after("tools/call", [McplAct::Drop]);
        let running = Running::start(server, over);
        let inbox = Arc::<Taken>::default();
        let receiver: Arc<dyn seawall::mcpl::callbacks::Inbox> = Arc::<Taken>::clone(&inbox);
        let callbacks = seawall::mcpl::Callbacks::default().with_inbox(receiver);
        let config = running
            .entry()
            .reconnect(seawall::config::Reconnect::On)
            .reconnect_intervals(Duration::from_millis(50), Duration::from_millis(50))
            .build()
            .expect("a valid entry");
        let host = Host::builder().mcpl(callbacks).build();
        host.connect(config).await.expect("connects");
        let first = host.mcpl("test").expect("it speaks it");
        assert_eq!(first.settled().await, Policy::InForce);
        soon(|| inbox.all().len() == 1).await;
        host.call("mcp/test/echo", seawall::Arguments::none())
            .await
            .expect("answered");
        soon(|| running.heard_of("featureSets/update").len() == 2).await;
        soon(|| inbox.all().len() == 2).await;
        assert_eq!(first.policy(), Policy::Ended);
        assert!(first.grant().effective().is_empty());
        let second = host.mcpl("test").expect("it is up again");
        assert_eq!(second.settled().await, Policy::InForce);
        host.stop(Duration::from_secs(20)).await.expect("stops");
    }
}
