//! The host over real processes: pids are the point.

use std::time::{Duration, Instant};

use seawall::config::{Reconnect, ServerConfigBuilder};
use seawall::host::{Connected, ServerState};
use seawall::{Arguments, EraSource, Host, HostError, ServerConfig};
use seawall_testkit::{Script, Server, is_alive, is_zombie};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

fn named(id: &str, server: &Server) -> ServerConfigBuilder {
    ServerConfig::stdio(id, server.program_str()).args(server.args.iter().cloned())
}

fn pid(host: &Host, id: &str) -> Option<u32> {
    let status = host.status();
    let found = status.iter().find(|status| status.server == id)?;
    found.report.as_ref()?.pid
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(20), waiting).await.expect(what);
}

fn gone(pid: u32) -> bool {
    !is_alive(pid) && !is_zombie(pid)
}

const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}"#;

/// H1: a server is up with its tools, is called by a flow's name, and leaves no process when it is disconnected.
#[tokio::test]
async fn server_is_called_by_its_flow_and_leaves_no_process() {
    let host = Host::builder().build();
    let config = named("a", &Script::plain().server())
        .build()
        .expect("valid");
    let connected = host.connect(config).await.expect("connects");
    assert!(matches!(connected, Connected::Up));
    let child = pid(&host, "a").expect("a child");
    let result = host
        .call("mcp/a/echo", Arguments::text(r#"{"text":"hello"}"#))
        .await;
    assert!(result.expect("a result").raw().as_str().contains("hello"));
    let unknown = host
        .call("mcp/a/none", Arguments::none())
        .await
        .expect_err("no such flow");
    assert_eq!(unknown.code(), seawall::ErrorCode::ToolNotFound);
    host.disconnect("a").await.expect("ends");
    assert!(gone(child));
    assert!(host.status().is_empty() && host.tools().flows().count() == 0);
}

/// H1: a disconnect ends a handshake that never comes to its end, at once, though the child ignores SIGTERM; the id is
/// free once the child is gone.
#[tokio::test]
async fn disconnect_ends_a_handshake_and_its_deaf_child() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pid");
    let script = Script::new()
        .ignore_sigterm()
        .write_pid(&path)
        .expect("initialize")
        .hang();
    let host = Host::builder().build();
    let config = named("a", &script.server()).build().expect("valid");
    let again = config.clone();
    let connect = async { (host.connect(config).await, Instant::now()) };
    let disconnect = async {
        let mut child = None;
        until("the child starts", async || {
            let text = std::fs::read_to_string(&path).ok();
            child = text.and_then(|text| text.trim().parse().ok());
            child.is_some()
        })
        .await;
        let taken = host.connect(again).await.expect_err("the id is held");
        assert!(matches!(taken, HostError::Taken { .. }));
        let begun = Instant::now();
        host.disconnect("a").await.expect("ends");
        (child.expect("a pid"), begun)
    };
    let ((connected, ended), (child, begun)) = tokio::join!(connect, disconnect);
    assert!(
        matches!(connected, Err(HostError::Ended { .. })),
        "{connected:?}"
    );
    assert!(ended.duration_since(begun) < Duration::from_secs(1));
    assert!(gone(child));
}

/// H5: a real server's announced change is read and published.
#[tokio::test]
async fn announced_change_of_a_process_is_published() {
    let tools = |name: &str| {
        format!(r#"{{"tools":[{{"name":"{name}","inputSchema":{{"type":"object"}}}}]}}"#)
    };
    let script = Script::new()
        .expect("initialize")
        .reply(INITIALIZED)
        .expect("notifications/initialized")
        .expect("tools/list")
        .reply(&tools("old"))
        .line(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)
        .expect("tools/list")
        .reply(&tools("new"))
        .hang();
    let host = Host::builder().build();
    let mut snapshots = host.watch_tools();
    host.connect(named("a", &script.server()).build().expect("valid"))
        .await
        .expect("connects");
    let renewed = snapshots.wait_for(|snapshot| snapshot.flow("mcp/a/new").is_some());
    timeout(Duration::from_secs(20), renewed)
        .await
        .expect("in time")
        .expect("published");
    assert!(host.tools().flow("mcp/a/old").is_none());
    host.stop(Duration::from_secs(20)).await.expect("stops");
}

/// H2, S3, H7: a killed server comes back as another process, by the era that was found before; what its sessions counted is
/// told of all of them.
#[tokio::test]
async fn killed_server_comes_back_by_the_era_that_it_had() {
    let host = Host::builder().reconnect_default(Reconnect::On).build();
    let interval = Duration::from_millis(100);
    let config = named("a", &Script::plain().server())
        .protocol(seawall::config::Protocol::Auto)
        .reconnect_intervals(interval, interval);
    host.connect(config.build().expect("valid"))
        .await
        .expect("connects");
    let era = |host: &Host| {
        let status = host.status();
        status.first()?.report.as_ref().map(|report| report.era)
    };
    assert_eq!(era(&host), Some(EraSource::FellBack));
    let first = pid(&host, "a").expect("a child");
    let told = || host.status()[0].totals;
    let before = told();
    assert!(before.received_bytes > 0 && before.sent_bytes > 0);
    let killed = std::process::Command::new("kill")
        .args(["-9", &first.to_string()])
        .status();
    assert!(killed.expect("kill runs").success());
    until("another process", async || {
        pid(&host, "a").is_some_and(|next| next != first)
    })
    .await;
    assert!(gone(first));
    assert_eq!(era(&host), Some(EraSource::Remembered));
    let status = host.status();
    assert_eq!(status[0].connects, 2);
    let live = &status[0].report.as_ref().expect("it is up").stats;
    assert!(live.bytes_in > 0);
    assert!(told().received_bytes >= before.received_bytes + live.bytes_in);
    host.stop(Duration::from_secs(20)).await.expect("stops");
}

/// H4, H8: twenty servers come up side by side and go down in parallel; a dropped host leaves none either.
#[tokio::test]
async fn stop_and_drop_leave_no_process() {
    for ending in ["stop", "drop"] {
        let servers = (0..20).map(|index| {
            named(&format!("s{index}"), &Script::plain().server())
                .build()
                .expect("valid")
        });
        let host = Host::builder().servers(servers).build();
        let started = host.start(Duration::from_secs(20)).await.expect("starts");
        assert_eq!(started.up.len(), 20);
        let pids: Vec<u32> = (0..20)
            .map(|index| pid(&host, &format!("s{index}")).expect("a child"))
            .collect();
        assert!(pids.iter().all(|&pid| is_alive(pid)));
        assert!(
            host.status()
                .iter()
                .all(|status| status.state == ServerState::Up)
        );
        if ending == "stop" {
            host.stop(Duration::from_secs(30)).await.expect("stops");
            assert!(pids.iter().all(|&pid| gone(pid)));
        } else {
            drop(host);
            until("all are gone", async || pids.iter().all(|&pid| gone(pid))).await;
        }
    }
}

/// H8: a thousand calls are in flight over ten servers; an eleventh that never answers delays none, and costs its own
/// call, which a stop ends.
#[tokio::test]
async fn stuck_server_delays_no_call_of_another() {
    let tools = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#;
    let stuck = Script::new()
        .expect("initialize")
        .reply(INITIALIZED)
        .expect("notifications/initialized")
        .expect("tools/list")
        .reply(tools)
        .hang();
    let mut servers = vec![named("stuck", &stuck.server()).build().expect("valid")];
    servers.extend((0..10).map(|index| {
        named(&format!("s{index}"), &Script::plain().server())
            .build()
            .expect("valid")
    }));
    let host = Host::builder().servers(servers).build();
    host.start(Duration::from_secs(20)).await.expect("starts");
    let deadline = Duration::from_secs(60);
    let mut calls = JoinSet::new();
    calls.spawn(
        host.call("mcp/stuck/echo", Arguments::none())
            .timeout(deadline),
    );
    for index in 0..1_000 {
        let flow = format!("mcp/s{}/echo", index % 10);
        let arguments = Arguments::text(r#"{"text":"x"}"#);
        calls.spawn(host.call(&flow, arguments).timeout(deadline));
    }
    for _ in 0..1_000 {
        let result = calls
            .join_next()
            .await
            .expect("a call")
            .expect("not panicked");
        assert!(!result.expect("a result").is_error());
    }
    assert_eq!(calls.len(), 1);
    host.stop(Duration::from_secs(30)).await.expect("stops");
    let stuck = calls
        .join_next()
        .await
        .expect("a call")
        .expect("not panicked");
    assert_eq!(
        stuck.expect_err("no answer").outcome(),
        seawall::Outcome::NoResponse
    );
}
