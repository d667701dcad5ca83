//! Honest answers over HTTP, for tests that replace one of them by something else.

use std::time::Duration;

use seawall::config::{Protocol, ServerConfigBuilder};
use seawall_testkit::{HttpAct, HttpPeer, HttpRequest, tool};
use serde_json::Value;

use super::*;

/// The path and the query of every server here: no public text may hold the markers (O1).
pub(super) const TARGET: &str = "/PATH-MARKER/mcp?q=QUERY-MARKER";

/// Which kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// 2026-07-28.
    Modern,
    /// 2025-11-25, with a session id.
    Legacy,
}

/// An entry for `peer`, of whatever era it is.
pub(super) fn entry_of(peer: &HttpPeer) -> ServerConfigBuilder {
    ServerConfig::url("test", peer.url(TARGET))
}

pub(super) async fn connect_to(peer: &HttpPeer, protocol: Protocol) -> Result<Client, Error> {
    let config = entry_of(peer).protocol(protocol).build();
    Client::connect(config.expect("a valid entry")).await
}

/// A client of `peer`, of the era that `kind` is of.
pub(super) async fn client_of(kind: Kind, peer: &HttpPeer) -> Client {
    connect_to(peer, protocol_of(kind)).await.expect("connects")
}

pub(super) fn protocol_of(kind: Kind) -> Protocol {
    match kind {
        Kind::Modern => Protocol::Modern,
        Kind::Legacy => Protocol::Legacy,
    }
}

/// Code, outcome and status, once it is certain that the text is Seawall's own.
pub(super) fn verdict_of(error: &Error) -> (ErrorCode, Outcome, Option<u16>) {
    let (code, outcome) = verdict(error);
    for text in [error.to_string(), format!("{error:?}")] {
        for marker in ["PATH-MARKER", "QUERY-MARKER", "TOKEN-MARKER"] {
            assert!(!text.contains(marker), "{marker} in {text}");
        }
    }
    (code, outcome, error.http_status())
}

/// The message in a request; null if there is none.
pub(super) fn message(request: &HttpRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap_or_default()
}

pub(super) fn method_of(request: &HttpRequest) -> String {
    message(request)["method"]
        .as_str()
        .unwrap_or(&request.method)
        .to_owned()
}

/// Whether this is a call of `tool`.
pub(super) fn calls(request: &HttpRequest, tool: &str) -> bool {
    let message = message(request);
    message["method"] == "tools/call" && message["params"]["name"] == tool
}

/// The text of the reply to `request`.
pub(super) fn reply_text(request: &HttpRequest, result: &str) -> String {
    let id = &message(request)["id"];
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

pub(super) fn reply(request: &HttpRequest, result: &str) -> Vec<HttpAct> {
    vec![HttpAct::json(200, &reply_text(request, result))]
}

/// A stream of these chunks that then ends.
pub(super) fn stream(chunks: &[&[u8]]) -> Vec<HttpAct> {
    let mut acts = vec![HttpAct::stream()];
    acts.extend(chunks.iter().map(HttpAct::chunk));
    acts.push(HttpAct::last_chunk());
    acts
}

pub(super) const ANSWER: &str = r#"{"content":[{"type":"text","text":"é€😀"}]}"#;

/// What an honest server with the tools `t` and `ok` answers.
pub(super) fn honest(kind: Kind, request: &HttpRequest) -> Vec<HttpAct> {
    honest_with(kind, request, r#"{"tools":{}}"#)
}

pub(super) fn honest_with(kind: Kind, request: &HttpRequest, capabilities: &str) -> Vec<HttpAct> {
    let modern = kind == Kind::Modern;
    match method_of(request).as_str() {
        "server/discover" if modern => reply(
            request,
            &format!("{{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{capabilities}}}"),
        ),
        "initialize" if !modern => vec![HttpAct::answer(
            200,
            &["content-type: application/json", "mcp-session-id: one"],
            reply_text(
                request,
                &format!(
                    "{{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{capabilities},\"serverInfo\":{{\"name\":\"{MARKER}\",\"version\":\"1\"}}}}"
                ),
            ),
        )],
        "notifications/initialized" | "notifications/cancelled" if !modern => {
            vec![HttpAct::answer(202, &[], "")]
        }
        "tools/list" => reply(
            request,
            &format!("{{\"tools\":[{},{}]}}", tool("t"), tool("ok")),
        ),
        "tools/call" => reply(request, ANSWER),
        "GET" => vec![HttpAct::answer(405, &[], "")],
        "DELETE" => vec![HttpAct::answer(204, &[], "")],
        _ => vec![HttpAct::answer(400, &["content-type: text/html"], MARKER)],
    }
}

/// An honest server but for calls of the tool `t`.
pub(super) fn but_for_t(
    kind: Kind,
    acts: impl Fn(&HttpRequest) -> Vec<HttpAct> + Send + Sync + 'static,
) -> HttpPeer {
    HttpPeer::start(move |_, request| {
        if calls(request, "t") {
            acts(request)
        } else {
            honest(kind, request)
        }
    })
}

/// How many requests of this method came.
pub(super) fn count(peer: &HttpPeer, method: &str) -> usize {
    let requests = peer.requests();
    requests
        .iter()
        .filter(|request| method_of(request) == method)
        .count()
}

/// The methods that came, in order.
pub(super) fn methods(peer: &HttpPeer) -> Vec<String> {
    peer.requests().iter().map(method_of).collect()
}

/// Waits, a moment at most, until `what` holds.
pub(super) async fn soon(mut what: impl FnMut() -> bool) {
    let mut holds = what();
    for _ in 0..500 {
        if holds {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        holds = what();
    }
    assert!(holds, "it did not come to be");
}
