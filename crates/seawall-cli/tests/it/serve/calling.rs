//! Calls through the gateway.

use seawall::Arguments;
use seawall_testkit::{CallRule, Script, Serve, Until, wait_until};
use serde_json::{Value, json};

use super::{LONG, Raw, WAYS, client, everything};
use crate::support::Config;

/// Numbers that a decoder would change, a member that nobody knows, and one key twice.
const RESULT: &str = r#"{ "content":[],"x-new": 1.50,"_meta":{"k":[1e2,"\u0041"]},"x-new":2}"#;

/// G2: a result passes byte for byte, whatever the client's revision; one that has to tell its type is told so before.
#[tokio::test]
async fn results_pass_unchanged() {
    let rule = CallRule::Result(RESULT.to_owned());
    let server = Script::new().serve(Serve::new().tools(["t"]).calls(rule));
    let config = Config::scripted(&server);
    for way in WAYS {
        let (client, _served) = client(&config, way).await;
        let result = client.call("s__t", Arguments::none()).await;
        let typed = format!(r#"{{"resultType":"complete",{}"#, &RESULT[1..]);
        let expected = match client.session().revision.is_legacy() {
            true => RESULT,
            false => &typed,
        };
        assert_eq!(
            result.expect("answered").raw().as_str(),
            expected,
            "{way:?}"
        );
    }
}

/// G2: arguments go as they came, and failures of tools, images, sounds, resources and structured content come back.
#[tokio::test]
async fn kinds_of_results() {
    let echo = Script::new().serve(Serve::new().tools(["t"]));
    let config = Config::of(&[("every", everything()), ("s", echo.server().entry())]);
    for way in WAYS {
        let (client, _served) = client(&config, way).await;
        let call = async |tool: &str| {
            let result = client.call(&format!("every__{tool}"), json!({})).await;
            result.expect("answered")
        };
        let kinds = call("test_multiple_content_types").await;
        let kinds: Value = kinds.content().expect("content").parse().expect("JSON");
        let kinds: Vec<&Value> = kinds
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| &one["type"])
            .collect();
        assert_eq!(kinds, ["text", "image", "resource"], "{way:?}");
        assert!(call("test_error_handling").await.is_error());
        let structured = call("test_structured_content").await;
        assert!(structured.structured_content().is_some());

        let odd = Arguments::text(r#"{"big":12345678901234567890,"f":1.0}"#);
        let echoed = client.call("s__t", odd).await.expect("answered");
        let echoed: Value = echoed.content().expect("content").parse().expect("JSON");
        assert_eq!(echoed[0]["text"], r#"{"big":12345678901234567890,"f":1.0}"#);
    }
}

/// G2: progress comes under the client's own token, before the answer.
#[test]
fn progress_is_the_clients() {
    let mut raw = Raw::start(&Config::of(&[("every", everything())]), &[]);
    let answer = raw.ask(
        "tools/call",
        &json!({"name": "every__test_tool_with_progress", "_meta": {"progressToken": "mine"}}),
    );
    assert!(answer["result"]["content"].is_array(), "{answer}");
    let told: Vec<&Value> = raw
        .told
        .iter()
        .filter(|one| one["method"] == "notifications/progress")
        .collect();
    let last = told.last().expect("some progress");
    assert!(
        told.iter()
            .all(|one| one["params"]["progressToken"] == "mine")
    );
    assert_eq!(last["params"]["progress"], json!(100));
    assert_eq!(last["params"]["total"], json!(100));
}

/// S8, G2: a call that a client drops is cancelled at the server too, by every way.
#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    for way in WAYS {
        let folder = tempfile::tempdir().expect("a folder");
        let (called, cancelled) = (
            folder.path().join("called"),
            folder.path().join("cancelled"),
        );
        let server = Script::new()
            .serve(
                Serve::new()
                    .tools(["t"])
                    .calls(CallRule::Never)
                    .until(Until::Calls(1)),
            )
            .write_pid(&called)
            .expect_cancel(&cancelled)
            .hang();
        let config = Config::scripted(&server);
        let (client, _served) = client(&config, way).await;
        let mut call = Box::pin(client.call("s__t", Arguments::none()));
        let is_called = async {
            while !called.exists() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            ended = &mut call => panic!("{way:?}: {ended:?}"),
            () = is_called => {}
        }
        drop(call);
        let seen = tokio::time::timeout(LONG, async {
            while !cancelled.exists() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        });
        assert!(seen.await.is_ok(), "{way:?}");
    }
}

/// O1, O2, G2: a server's error is told by its code, with Seawall's code and the outcome, and nothing of its text.
#[test]
fn a_refusal_tells_code_and_outcome() {
    let rule = |code: i64| {
        CallRule::Error(format!(
            r#"{{"code":{code},"message":"theirs","data":{{"a":1}}}}"#
        ))
    };
    let server = Script::new().serve(
        Serve::new()
            .tools(["own", "reserved"])
            .calls_of("own", rule(7))
            .calls_of("reserved", rule(-32_022)),
    );
    let more = ["--remote-errors", "withheld"];
    let mut raw = Raw::start(&Config::scripted(&server), &more);
    let error = raw.call("s__own", &json!({}))["error"].clone();
    let data = json!({"code": "tool_failed", "outcome": "error_response", "server": "s", "jsonRpcCode": 7});
    assert_eq!((&error["code"], &error["data"]), (&json!(7), &data));
    assert!(!error.to_string().contains("theirs"), "{error}");
    // A code of the protocol's would be taken for the gateway's word about itself.
    let error = raw.call("s__reserved", &json!({}))["error"].clone();
    assert_eq!(error["code"], -32_603);
    assert_eq!(error["data"]["jsonRpcCode"], -32_022);
    let error = raw.call("s__none", &json!({}))["error"].clone();
    assert_eq!(error["code"], -32_602);
    assert_eq!(
        error["data"],
        json!({"code": "tool_not_found", "outcome": "not_sent"})
    );
    let error = raw.ask("tools/call", &json!({"name": "s__own", "arguments": 7}))["error"].clone();
    assert_eq!(error["code"], -32_602);
    for method in ["tools/none", "subscriptions/listen"] {
        assert_eq!(
            raw.ask(method, &json!({}))["error"]["code"],
            -32_601,
            "{method}"
        );
    }
}

/// O2: of a server that dies in a call nobody knows what became of it, and the client is told to look first.
#[test]
fn a_death_in_a_call_is_no_response() {
    let server = Script::new()
        .serve(
            Serve::new()
                .tools(["t"])
                .calls(CallRule::Never)
                .until(Until::Calls(1)),
        )
        .exit(1);
    let mut raw = Raw::start(&Config::scripted(&server), &[]);
    let error = raw.call("s__t", &json!({}))["error"].clone();
    assert_eq!(error["code"], -32_603);
    assert_eq!(error["data"]["outcome"], "no_response");
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.contains("verify state before retrying"),
        "{message}"
    );
    // Its tools go with it (H5).
    assert!(wait_until(LONG, || raw.names().is_empty()));
    // Whoever calls it now learns that its server is gone, and not that there never was such a tool.
    let error = raw.call("s__t", &json!({}))["error"].clone();
    let data = json!({"code": "connection_closed", "outcome": "not_sent", "server": "s"});
    assert_eq!((&error["code"], &error["data"]), (&json!(-32_603), &data));
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.starts_with("the server \"s\" is not connected now (its last failure:"),
        "{message}"
    );
    assert_eq!(message.matches("nothing was sent").count(), 1, "{message}");
    let error = raw.call("none__t", &json!({}))["error"].clone();
    assert_eq!(error["data"]["code"], "tool_not_found");
}

/// L4: a call that is longer than its server takes is refused, and costs nobody the connection.
#[test]
fn a_call_too_long_for_its_server_is_refused() {
    let echo = Script::new().serve(Serve::new().tools(["t"]));
    let mut raw = Raw::start(&Config::scripted(&echo), &[]);
    let long = json!({"text": "x".repeat(1_200_000)});
    let error = raw.call("s__t", &long)["error"].clone();
    assert_eq!(error["data"]["outcome"], "not_sent", "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("maxOutboundFrameBytes"), "{message}");
    assert!(raw.call("s__t", &json!({}))["result"].is_object());
}

/// R1, R2: what a server says of an error is told by default, with its secrets taken out and what is hidden in it shown.
#[test]
fn a_refusal_tells_the_servers_words_redacted() {
    let secret = "s3cret-0123456789";
    let error = format!(
        r#"{{"code":7,"message":"no \u200b{secret} {}"}}"#,
        "x".repeat(9_000)
    );
    let server = Script::new().serve(Serve::new().tools(["t"]).calls(CallRule::Error(error)));
    let config = Config::scripted_with(&server, &json!({"env": {"API_TOKEN": secret}}));
    let mut raw = Raw::start(&config, &[]);
    let error = raw.call("s__t", &json!({}))["error"].clone();
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("; it said: no \\u{200b}"), "{message}");
    assert!(!message.contains(secret), "{message}");
    assert!(message.len() < 3_000, "{}", message.len());
}
