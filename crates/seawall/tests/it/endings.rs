//! How sessions end, and that nothing stays behind (S5, T1).

use std::time::{Duration, Instant};

use seawall::Arguments;
use seawall_testkit::{
    CallRule, Grandchild, Script, Serve, Stream, Until, is_alive, is_zombie, wait_for_pid,
    wait_until,
};

use super::*;

const SOON: Duration = Duration::from_secs(5);

fn gone(pid: u32) -> bool {
    wait_until(SOON, || !is_alive(pid) && !is_zombie(pid))
}

/// The driver ends the server by itself; this lets it run meanwhile.
async fn goes(pid: u32) -> bool {
    let ended = async {
        while is_alive(pid) || is_zombie(pid) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, ended).await.is_ok()
}

/// T1: `close` leaves no process, not even a zombie; neither does a drop.
#[tokio::test]
async fn close_and_drop_leave_no_process() {
    let client = connected(&Script::plain().server()).await;
    let pid = client.report().pid.expect("a child");
    assert!(is_alive(pid));
    client.close().await.expect("closes");
    assert!(!is_alive(pid) && !is_zombie(pid));
    client.close().await.expect("closing again changes nothing");
    let error = client
        .call("echo", Arguments::none())
        .await
        .expect_err("closed");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );

    let client = connected(&Script::plain().server()).await;
    let pid = client.report().pid.expect("a child");
    drop(client);
    assert!(gone(pid));
}

/// T1: a handle dropped outside every runtime, after its runtime or while it stands still, leaves no process.
#[test]
fn drop_without_a_runtime_leaves_no_process() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
    };
    let first = runtime();
    let client = first.block_on(connected(&Script::plain().server()));
    let pid = client.report().pid.expect("a child");
    drop(client);
    assert!(gone(pid), "the runtime stands still");

    let client = first.block_on(connected(&Script::plain().server()));
    let pid = client.report().pid.expect("a child");
    drop(first);
    assert!(gone(pid), "the runtime is dropped");
    drop(client);
}

/// T1: dropping a connect in flight leaves no process.
#[tokio::test]
async fn a_dropped_connect_leaves_no_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let pid_file = folder.path().join("pid");
    let server = Script::new().write_pid(&pid_file).hang().server();
    let dropped = tokio::time::timeout(Duration::from_millis(500), connect(&server)).await;
    assert!(dropped.is_err());
    let pid = wait_for_pid(&pid_file, SOON).expect("it started");
    assert!(gone(pid));
}

/// T1: a server that ignores SIGTERM, and its grandchild that does too, are gone after `close`, within the budget.
#[tokio::test]
async fn a_deaf_server_and_its_grandchild_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let pid_file = folder.path().join("grandchild");
    let server = Script::new()
        .ignore_sigterm()
        .fork(
            Grandchild::new(&pid_file)
                .holding_pipes()
                .ignoring_sigterm(),
        )
        .serve(Serve::new().tools(["t"]).until(Until::Calls(1)))
        .hang()
        .server();
    let client = connected(&server).await;
    client.call("t", Arguments::none()).await.expect("answered");
    let pid = client.report().pid.expect("a child");
    let grandchild = wait_for_pid(&pid_file, SOON).expect("it forked");
    let before = Instant::now();
    client.close().await.expect("closes");
    assert!(
        before.elapsed() < Duration::from_secs(6),
        "{:?}",
        before.elapsed()
    );
    assert!(!is_alive(pid) && !is_alive(grandchild));
}

/// S5, O2: an exit is told with its code; what was dispatched is unknown, what comes later is not sent.
#[tokio::test]
async fn an_exit_is_told_with_its_code() {
    let server = Script::new()
        .serve(
            Serve::new()
                .tools(["t"])
                .calls(CallRule::Never)
                .until(Until::Calls(1)),
        )
        .exit(7)
        .server();
    let client = connected(&server).await;
    let pid = client.report().pid.expect("a child");
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("it exits");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse)
    );
    assert!(error.message().contains("exited with code 7"), "{error}");
    let later = client
        .call("t", Arguments::none())
        .await
        .expect_err("it is gone");
    assert_eq!(
        verdict(&later),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    assert!(later.message().contains("exited with code 7"), "{later}");
    client.close().await.expect("closes");
    assert!(!is_alive(pid) && !is_zombie(pid));
}

/// S5: a signal is told by its number.
#[tokio::test]
async fn a_signal_is_told() {
    let server = Script::new()
        .serve(
            Serve::new()
                .tools(["t"])
                .calls(CallRule::Never)
                .until(Until::Calls(1)),
        )
        .die("KILL")
        .server();
    let client = connected(&server).await;
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("it dies");
    assert!(error.message().contains("signal 9"), "{error}");
}

/// S5: a server that closes stdout and lives on is ended; one that closes only stdin is found at the next write.
#[tokio::test]
async fn closed_pipes_end_the_session_and_the_server() {
    let server = Script::new()
        .serve(
            Serve::new()
                .tools(["t"])
                .calls(CallRule::Never)
                .until(Until::Calls(1)),
        )
        .close(Stream::Stdout)
        .hang()
        .server();
    let client = connected(&server).await;
    let pid = client.report().pid.expect("a child");
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("no more output");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse)
    );
    assert!(error.message().contains("closed its stdout"), "{error}");
    assert!(goes(pid).await);

    let server = Script::new()
        .serve(Serve::new().tools(["t"]).until(Until::Listed))
        .close(Stream::Stdin)
        .hang()
        .server();
    let client = connected(&server).await;
    let pid = client.report().pid.expect("a child");
    // The server closes its end a moment after the connect.
    let closed = tokio::time::timeout(SOON, async {
        loop {
            let call = client
                .call("t", Arguments::none())
                .timeout(Duration::from_millis(400));
            let error = call.await.expect_err("nobody reads");
            if error.code() == ErrorCode::ConnectionClosed {
                break error;
            }
        }
    });
    let error = closed.await.expect("the broken pipe is found");
    assert!(error.message().contains("closed its stdin"), "{error}");
    let later = client
        .call("t", Arguments::none())
        .await
        .expect_err("closed");
    assert_eq!(
        verdict(&later),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    assert!(goes(pid).await);
}

/// T1: a wrapper that forks the server and exits leaves no grandchild behind.
#[tokio::test]
async fn a_server_that_forks_and_exits_leaves_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let pid_file = folder.path().join("grandchild");
    let server = Script::new()
        .fork(Grandchild::new(&pid_file).holding_pipes())
        .exit(0)
        .server();
    let error = connect(&server).await.expect_err("it exits");
    assert_eq!(error.code(), ErrorCode::ConnectionClosed);
    let grandchild = wait_for_pid(&pid_file, SOON).expect("it forked");
    assert!(!is_alive(grandchild));
}

/// S5: a reply that arrived whole before the exit is delivered.
#[tokio::test]
async fn a_reply_before_the_exit_is_delivered() {
    for _ in 0..20 {
        let server = Script::new()
            .serve(Serve::new().tools(["t"]).until(Until::Calls(1)))
            .exit(0)
            .server();
        let client = connected(&server).await;
        client
            .call("t", Arguments::none())
            .await
            .expect("answered before the exit");
    }
}

/// T1: a child that left the group for a session of its own goes too, though its parent exits at the end of its input.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_in_its_own_session_is_ended() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().expect("a folder");
        let pid_file = folder.path().join("grandchild");
        let server = Script::new()
            .fork(Grandchild::new(&pid_file).in_own_session())
            .serve(Serve::new().tools(["t"]))
            .server();
        let client = connected(&server).await;
        let grandchild = wait_for_pid(&pid_file, SOON).expect("it forked");
        client.close().await.expect("closes");
        assert!(!is_alive(grandchild));
    }
}

/// T1: the same, where the server died by itself before anybody looked again.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_in_its_own_session_is_ended_after_its_server_died() {
    let folder = tempfile::tempdir().expect("a folder");
    let pid_file = folder.path().join("grandchild");
    let server = Script::new()
        .fork(Grandchild::new(&pid_file).in_own_session())
        .serve(Serve::new().tools(["t"]).until(Until::Calls(1)))
        .die("KILL")
        .server();
    let client = connected(&server).await;
    let grandchild = wait_for_pid(&pid_file, SOON).expect("it forked");
    client.call("t", Arguments::none()).await.ok();
    client.close().await.expect("closes");
    assert!(!is_alive(grandchild));
}

/// T1: one that left both the group and its parents goes too, whether it did so before the handshake was over or during a
/// call, and whether the client is closed or dropped.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_orphan_in_its_own_session_is_ended() {
    for (during_a_call, closed) in [(false, true), (false, false), (true, true), (true, false)] {
        let folder = tempfile::tempdir().expect("a folder");
        let pid_file = folder.path().join("orphan");
        let orphan = Grandchild::new(&pid_file)
            .in_own_session()
            .orphaned()
            .ignoring_sigterm();
        let once = Serve::new().tools(["t"]).until(Until::Calls(1));
        let server = if during_a_call {
            Script::new().serve(once).fork(orphan)
        } else {
            Script::new().fork(orphan).serve(once)
        };
        let client = connected(&server.server()).await;
        client.call("t", Arguments::none()).await.expect("answered");
        let orphan = wait_for_pid(&pid_file, SOON).expect("it forked");
        if closed {
            client.close().await.expect("closes");
            assert!(!is_alive(orphan), "during a call: {during_a_call}");
        } else {
            drop(client);
            assert!(gone(orphan), "during a call: {during_a_call}");
        }
    }
}
