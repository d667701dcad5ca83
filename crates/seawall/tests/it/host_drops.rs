//! Hosts that go without a stop, runtimes that go before them, and code of the embedder that panics: no process stays.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use seawall::config::{Reconnect, ServerConfigBuilder};
use seawall::host::ServerState;
use seawall::{Diagnostic, Host, HostError, InvalidTools, Limits, Observer, ServerConfig};
use seawall_testkit::{Grandchild, Script, Server, is_alive, is_zombie, wait_until};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

fn named(id: &str, server: &Server) -> ServerConfigBuilder {
    ServerConfig::stdio(id, server.program_str()).args(server.args.iter().cloned())
}

fn current_thread() -> Runtime {
    let built = Builder::new_current_thread().enable_all().build();
    built.expect("a runtime")
}

/// A server that never answers, deaf to SIGTERM, with a deaf grandchild in a session of its own.
fn stuck(folder: &Path, index: usize) -> Script {
    let pid_file = |who: &str| folder.join(format!("{who}{index}"));
    let grandchild = Grandchild::new(pid_file("grandchild"));
    Script::new()
        .ignore_sigterm()
        .fork(grandchild.in_own_session().ignoring_sigterm().orphaned())
        .write_pid(pid_file("child"))
        .expect("initialize")
        .hang()
}

/// Everybody who wrote a pid into the folder.
fn pids(folder: &Path) -> Vec<u32> {
    let files = fs::read_dir(folder).expect("a folder").flatten();
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts.filter_map(|text| text.trim().parse().ok()).collect()
}

fn all_gone(folder: &Path) -> bool {
    wait_until(Duration::from_secs(6), || {
        let pids = pids(folder);
        pids.iter().all(|&pid| !is_alive(pid) && !is_zombie(pid))
    })
}

/// T1, H4: a host that is dropped while nothing drives its runtime leaves nobody, up or within a connect.
#[test]
fn host_dropped_beside_an_idle_runtime_leaves_nobody() {
    for served in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let script = if served {
            let server = Script::new().write_pid(folder.path().join("child"));
            server.serve(seawall_testkit::Serve::new().tools(["t"]))
        } else {
            stuck(folder.path(), 0)
        };
        let runtime = current_thread();
        let host = Host::builder().build();
        let config = named("a", &script.server()).build().expect("valid");
        let patience = Duration::from_secs(if served { 20 } else { 1 });
        let connected = runtime.block_on(async { timeout(patience, host.connect(config)).await });
        assert_eq!(connected.is_ok(), served);
        assert!(!pids(folder.path()).is_empty());
        drop(host);
        assert!(all_gone(folder.path()), "served: {served}");
        drop(runtime);
    }
}

/// T1, H1: a runtime that ends at any moment of connects and disconnects leaves nobody, and the ids are free.
#[test]
fn runtime_that_ends_at_any_moment_leaves_nobody() {
    for round in 0..8_u64 {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = current_thread();
        let host = Host::builder().reconnect_default(Reconnect::On).build();
        runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for index in 0..4 {
                let script = match index % 2 {
                    0 => Script::plain(),
                    _ => stuck(folder.path(), index),
                };
                let config = named(&format!("s{index}"), &script.server());
                let (host, config) = (host.clone(), config.build().expect("valid"));
                tasks.spawn(async move { host.connect(config).await.map(drop) });
            }
            sleep(Duration::from_millis(round * 40)).await;
            if round % 2 == 0 {
                let (host, id) = (host.clone(), format!("s{}", round % 4));
                tasks.spawn(async move { host.disconnect(&id).await });
                sleep(Duration::from_millis(round)).await;
            }
        });
        if round % 4 < 2 {
            runtime.shutdown_background();
        } else {
            drop(runtime);
        }
        assert!(all_gone(folder.path()), "round {round}");
        let stopped = current_thread().block_on(host.stop(Duration::from_secs(5)));
        stopped.expect("nothing is left to end");
        assert!(host.status().is_empty());
    }
}

struct Panics;

impl Observer for Panics {
    fn observe(&self, _: &str, diagnostic: &Diagnostic) {
        let quarantined = matches!(diagnostic, Diagnostic::QuarantinedTool { .. });
        assert!(!quarantined, "an observer that panics, on purpose");
    }
}

/// H1, T1: an observer that panics within a connect fails it; the child is gone, and the server is shown as down.
#[tokio::test]
async fn observer_that_panics_within_a_connect_fails_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = Script::new()
        .write_pid(folder.path().join("child"))
        .serve(seawall_testkit::Serve::new().tools(["a/b"]));
    let mut limits = Limits::default();
    limits.invalid_tools = InvalidTools::Quarantine;
    let host = Host::builder().observer(Arc::new(Panics)).build();
    let config = named("a", &script.server()).limits(limits);
    let error = host.connect(config.build().expect("valid")).await;
    let error = error.expect_err("it panicked");
    assert!(matches!(error, HostError::Connect { .. }), "{error:?}");
    assert!(!pids(folder.path()).is_empty() && all_gone(folder.path()));
    assert_eq!(host.status()[0].state, ServerState::Down);
}
