//! Servers of MCP Live that mean no good, over stdio and a WebSocket (T6, S5, L6, O1).

use std::time::{Duration, Instant};

use seawall::mcpl::McplPolicy;
use seawall::mcpl::session::Policy;
use seawall_testkit::{
    McplAct, McplServer, mcpl_incoming, mcpl_notification, mcpl_push, mcpl_register, mcpl_request,
};
use serde_json::json;

use super::http_support::soon;
use super::mcpl_support::*;
use super::*;

/// L6: a flood of pushes, of one event and of many, holds up nobody: a call is answered, and so is each push.
#[tokio::test]
async fn floods() {
    for over in BOTH {
        // Each request with an id of its own.
        let numbered = |mut message: serde_json::Value, kind: &str| {
            message["id"] = json!(format!("{kind}-{{n}}"));
            message.to_string()
        };
        let same = numbered(mcpl_push(0, "e-1", MARKER), "same");
        let others = numbered(mcpl_push(0, "e-{n}", MARKER), "other");
        let register = numbered(mcpl_register(0), "register");
        let elevate = mcpl_request(0, "scope/elevate", &json!({ "label": MARKER }));
        let unknown = numbered(elevate, "unknown");
        let dropped = mcpl_notification("featureSets/changed", &json!({})).to_string();
        let server = McplServer::honest().before(
            "tools/call",
            [same, others, register, unknown, dropped].map(|message| McplAct::Flood(message, 1000)),
        );
        let live = Live::start(server, over).await;
        assert_eq!(live.mcpl().settled().await, Policy::InForce);
        let began = Instant::now();
        live.call().await;
        assert!(began.elapsed() < Duration::from_secs(30));
        let replies = || live.running.heard_of("");
        soon(|| replies().len() >= 4000).await;
        let replies = replies();
        assert_eq!(replies.len(), 4000, "{over:?}");
        // So many wait at once; those beyond are refused.
        let taken = |reply: &&serde_json::Value| reply["error"]["code"] != -32603;
        for reply in replies.iter().filter(taken) {
            let id = reply["id"].as_str().expect("ours");
            let result = &reply["result"];
            let as_it_should = match id.split('-').next() {
                Some("same") if id == "same-0" => result["accepted"] == true,
                Some("same") => result["reason"] == "duplicate",
                Some("other") => result["accepted"] == true || id == "other-1",
                Some("register") => result["results"][0]["id"] == "room:1",
                _ => reply["error"]["code"] == -32601,
            };
            assert!(as_it_should, "{over:?}: {reply}");
        }
        assert!(replies.iter().filter(taken).count() >= 16, "{over:?}");
        live.client.close().await.expect("closes");
    }
}

/// MCPL §5.4, §6.5: whatever is used that was not granted, not declared or not registered is refused with the code of that.
#[tokio::test]
async fn what_was_not_granted() {
    let mut policy = McplPolicy::default();
    policy.disabled_capabilities = vec!["channels.register".parse().expect("a pattern")];
    let push_of = |id, feature: &str| {
        let mut push = mcpl_push(id, &format!("e-{id}"), "REMOTE-MARKER");
        push["params"]["featureSet"] = json!(feature);
        push
    };
    for over in BOTH {
        let server = McplServer::honest()
            .says_after("featureSets/update", &mcpl_register(1))
            .says_after(
                "featureSets/update",
                &mcpl_incoming(2, "m-1", "REMOTE-MARKER"),
            )
            .says_after("featureSets/update", &push_of(3, "unheard-of"))
            .says_after("featureSets/update", &push_of(4, "rooms"))
            .says_after(
                "featureSets/update",
                &mcpl_request(5, "model/info", &json!({})),
            )
            .says_after(
                "featureSets/update",
                &mcpl_request(6, "inference/request", &json!({})),
            )
            .says_after(
                "featureSets/update",
                &mcpl_request(7, "tools/observe", &json!({ "rules": null })),
            )
            .says_after(
                "featureSets/update",
                &mcpl_request(8, "host/command", &json!({ "command": "undo" })),
            )
            .says_after(
                "featureSets/update",
                &mcpl_request(9, "state/get", &json!({})),
            )
            .says_after("featureSets/update", &mcpl_request(10, "ping", &json!({})));
        let live = Live::with(server, over, policy.clone()).await;
        assert_eq!(live.mcpl().settled().await, Policy::InForce);
        let mut codes = Vec::new();
        for id in 1..10 {
            codes.push(live.running.reply(id).await["error"]["code"].as_i64());
        }
        let code = |at: usize| codes[at - 1];
        assert_eq!(code(1), Some(-32002), "{over:?}: {codes:?}");
        assert_eq!(code(3), Some(-32003), "{over:?}: {codes:?}");
        // Its set is off, as it lacks a capability.
        assert_eq!(code(4), Some(-32001), "{over:?}: {codes:?}");
        for at in [5, 6, 7, 8] {
            assert_eq!(code(at), Some(-32002), "{over:?}: {codes:?}");
        }
        assert_eq!(code(9), Some(-32601), "{over:?}: {codes:?}");
        assert_eq!(live.running.reply(10).await["result"], json!({}));
        assert!(live.inbox.all().is_empty());
        assert!(live.mcpl().channels().is_empty());
        live.call().await;
    }
}

/// S5, O1, H8: whenever a server closes, breaks off or tears a message, everybody who waits is told, in words of our own.
#[tokio::test]
async fn endings_in_every_phase() {
    let moments = [
        ("connect", true),
        ("initialize", true),
        ("initialize", false),
        ("notifications/initialized", false),
        ("tools/list", true),
        ("tools/list", false),
        ("featureSets/update", true),
        ("featureSets/update", false),
        ("tools/call", true),
    ];
    for over in BOTH {
        for (method, before) in moments {
            for act in [
                McplAct::Close(4003),
                McplAct::Drop,
                McplAct::Tear(mcpl_push(1, "e", MARKER).to_string()),
            ] {
                let server = McplServer::honest();
                let server = if before {
                    server.before(method, [act.clone()])
                } else {
                    server.after(method, [act.clone()])
                };
                let running = Running::start(server, over);
                let inbox = Arc::<Taken>::default();
                let began = Instant::now();
                let connected = builder(running.entry(), &inbox).connect().await;
                let error = match connected {
                    Err(error) => error,
                    Ok(client) => {
                        let mcpl = client.mcpl().expect("it advertises it");
                        mcpl.settled().await;
                        let called = client.call("echo", seawall::Arguments::none()).await;
                        let error = called.expect_err("it is gone");
                        assert_eq!(mcpl.policy(), Policy::Ended);
                        client.close().await.expect("closes");
                        error
                    }
                };
                let (code, _) = verdict(&error);
                assert_eq!(
                    code,
                    ErrorCode::ConnectionClosed,
                    "{over:?} {method} {act:?}: {error}"
                );
                assert!(
                    began.elapsed() < Duration::from_secs(15),
                    "{over:?} {method} {act:?}"
                );
            }
        }
    }
}

/// S6: binary frames, or lines that are none, are noise at any moment.
#[tokio::test]
async fn binary_frames() {
    for over in BOTH {
        let binary = || [McplAct::Binary(vec![0, 0xff, 0xfe])];
        let server = McplServer::honest()
            .before("initialize", binary())
            .before("featureSets/update", binary())
            .before("tools/call", binary());
        let live = Live::start(server, over).await;
        assert_eq!(live.mcpl().settled().await, Policy::InForce);
        live.call().await;
        assert_eq!(live.client.report().stats.noise, 3, "{over:?}");
    }
}

/// T6: a wrong token is refused by an error and a code; the error is told, and none of the server's text.
#[tokio::test]
async fn a_wrong_token() {
    let peer = McplServer::honest().token("right").websocket();
    let entry = ServerConfig::url("test", peer.url("/?token=wrong"));
    let error = builder(entry, &Arc::default()).connect().await;
    let error = error.expect_err("refused");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ProtocolError, Outcome::ErrorResponse)
    );
    assert_eq!(error.json_rpc_code(), Some(-32001));
    let entry = ServerConfig::url("test", peer.url("/?token=right"));
    let client = builder(entry, &Arc::default())
        .connect()
        .await
        .expect("connects");
    let mcpl = client.mcpl().expect("it advertises it");
    assert_eq!(mcpl.settled().await, Policy::InForce);
}
