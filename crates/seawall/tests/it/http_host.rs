//! The host over servers behind a URL.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use seawall::config::Reconnect;
use seawall::host::{Connected, ServerState};
use seawall::{
    Arguments, EgressPolicy, ErrorCode, Host, HostError, HttpClient, Outcome, ServerConfig,
};
use seawall_testkit::{HttpAct, HttpPeer, HttpRequest, tool};
use tokio::time::timeout;

use super::http_support::*;

const BUDGET: Duration = Duration::from_secs(20);
const LISTS: &str = r#"{"tools":{"listChanged":true}}"#;

fn config(kind: Kind, peer: &HttpPeer) -> ServerConfig {
    let entry = entry_of(peer).protocol(protocol_of(kind));
    let quick = Duration::from_millis(50);
    let entry = entry
        .reconnect(Reconnect::On)
        .reconnect_intervals(quick, quick);
    entry.build().expect("a valid entry")
}

fn state(host: &Host) -> Option<ServerState> {
    host.status().first().map(|status| status.state)
}

/// H1, H4: a server behind a URL is up, is called by its flow's name, and its session is ended by a stop.
#[tokio::test]
async fn server_behind_a_url_is_called_and_told_that_it_is_over() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = HttpPeer::start(move |_, request| honest(kind, request));
        let host = Host::builder().build();
        let connected = host.connect(config(kind, &peer)).await.expect("connects");
        assert!(matches!(connected, Connected::Up));
        let status = host.status();
        assert!(!format!("{:?}", status[0].url).contains("QUERY-MARKER"));
        let called = host.call("mcp/test/ok", Arguments::none()).await;
        called.expect("a result");
        host.stop(BUDGET).await.expect("stops");
        let deleted = usize::from(kind == Kind::Legacy);
        assert_eq!(count(&peer, "DELETE"), deleted, "{kind:?}");
        assert!(host.status().is_empty() && host.tools().flows().count() == 0);
    }
}

/// H5: a change that a server announces on its own stream is read and published.
#[tokio::test]
async fn change_announced_over_http_is_published() {
    let changed = Arc::new(AtomicBool::new(false));
    let after = Arc::clone(&changed);
    let peer = HttpPeer::start(move |_, request| match method_of(request).as_str() {
        "GET" => {
            after.store(true, Ordering::SeqCst);
            let news = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
            let event = format!("data: {news}\n\n");
            vec![HttpAct::stream(), HttpAct::chunk(event), HttpAct::Hang]
        }
        "tools/list" if after.load(Ordering::SeqCst) => {
            reply(request, &format!(r#"{{"tools":[{}]}}"#, tool("new")))
        }
        _ => honest_with(Kind::Legacy, request, LISTS),
    });
    let host = Host::builder().build();
    let mut snapshots = host.watch_tools();
    host.connect(config(Kind::Legacy, &peer))
        .await
        .expect("connects");
    let renewed = snapshots.wait_for(|snapshot| snapshot.flow("mcp/test/new").is_some());
    let renewed = timeout(BUDGET, renewed).await.expect("in time");
    assert!(renewed.expect("published").flow("mcp/test/ok").is_none());
    host.stop(BUDGET).await.expect("stops");
}

/// H2, H5: a server that breaks the protocol is lost, its tools with it, and is connected to anew.
#[tokio::test]
async fn session_that_ends_over_http_is_made_anew() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = but_for_t(kind, |_| vec![HttpAct::json(200, r#"{"jsonrpc":"1.0"}"#)]);
        let host = Host::builder().build();
        host.connect(config(kind, &peer)).await.expect("connects");
        let failed = host.call("mcp/test/t", Arguments::none()).await;
        assert_eq!(
            failed.expect_err("no answer").outcome(),
            Outcome::NoResponse
        );
        let again = || {
            let status = host.status();
            status[0].connects == 2 && status[0].state == ServerState::Up
        };
        soon(again).await;
        let called = host.call("mcp/test/ok", Arguments::none()).await;
        called.expect("a result");
        assert_eq!(host.tools().flows().count(), 2);
        host.stop(BUDGET).await.expect("stops");
    }
}

/// H2, T3: a session that the server forgot is no loss: the host's connection stays, and so do its tools.
#[tokio::test]
async fn session_that_the_server_forgot_keeps_its_place() {
    let forgot = Arc::new(AtomicUsize::new(0));
    let calls_of_t = Arc::clone(&forgot);
    let peer = HttpPeer::start(move |_, request: &HttpRequest| {
        if calls(request, "t") && calls_of_t.fetch_add(1, Ordering::SeqCst) == 0 {
            return vec![HttpAct::answer(404, &[], "")];
        }
        honest(Kind::Legacy, request)
    });
    let host = Host::builder().build();
    host.connect(config(Kind::Legacy, &peer))
        .await
        .expect("connects");
    let called = host.call("mcp/test/t", Arguments::none()).await;
    called.expect("a result");
    assert_eq!(
        (host.status()[0].connects, count(&peer, "initialize")),
        (1, 2)
    );
    assert_eq!(host.tools().flows().count(), 2);
    host.stop(BUDGET).await.expect("stops");
}

/// H2: a server that wants a login fails the connect; it is tried again, since a login may come, and a disconnect ends
/// that.
#[tokio::test]
async fn missing_login_is_tried_again_until_a_disconnect() {
    let refuse =
        |_: usize, _: &HttpRequest| vec![HttpAct::answer(401, &["www-authenticate: Bearer"], "")];
    let peer = HttpPeer::start(refuse);
    let host = Host::builder().build();
    let connected = host.connect(config(Kind::Legacy, &peer)).await;
    let Ok(Connected::Retrying(error)) = connected else {
        panic!("{connected:?}");
    };
    assert_eq!(verdict_of(&error).2, Some(401));
    soon(|| host.status()[0].failures > 2).await;
    assert_eq!(host.tools().flows().count(), 0);
    host.disconnect("test").await.expect("ends");
    assert_eq!(state(&host), None);
    let asked = peer.requests().len();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(peer.requests().len(), asked);
}

/// H1, T6: a disconnect ends a handshake that the server leaves open, at once.
#[tokio::test]
async fn disconnect_ends_a_handshake_over_http() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::Hang]);
    let host = Host::builder().build();
    let connect = host.connect(config(Kind::Legacy, &peer));
    let disconnect = async {
        soon(|| !peer.requests().is_empty()).await;
        let begun = std::time::Instant::now();
        host.disconnect("test").await.expect("ends");
        begun.elapsed()
    };
    let (connected, took) = tokio::join!(connect, disconnect);
    assert!(
        matches!(connected, Err(HostError::Ended { .. })),
        "{connected:?}"
    );
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// H9: what the host's own egress policy forbids stops it at its start, whatever the entry says of reconnect, and nothing is
/// tried again.
#[tokio::test]
async fn forbidden_server_stops_the_host_at_its_start() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = HttpPeer::start(move |_, request| honest(kind, request));
        let http = HttpClient::builder()
            .egress(Arc::new(|_: &str, _: &str| false) as Arc<dyn EgressPolicy>)
            .build()
            .expect("a client");
        let host = Host::builder()
            .http(http)
            .servers([config(kind, &peer)])
            .build();
        let refused = host.start(BUDGET).await.expect_err("forbidden");
        let [HostError::Connect { error }] = &refused.failures[..] else {
            panic!("{refused}");
        };
        assert_eq!(error.code(), ErrorCode::CapabilityRefused);
        assert_eq!(error.outcome(), Outcome::NotSent);
        assert!(refused.stop.is_none() && host.status().is_empty());
        assert_eq!(peer.connections(), 0);
    }
}
