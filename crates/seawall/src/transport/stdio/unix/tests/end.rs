//! How a tree ends.

use std::os::unix::process::CommandExt as _;
use std::pin::pin;

use seawall_proto::connection::ExitReason;

use super::super::super::{GRACE, NotReaped};
use super::super::tree::ProcessTree;
use super::*;

const NINE: ExitReason = ExitReason::Signal(9);
const TERM: ExitReason = ExitReason::Signal(15);

/// T1: a server that exits once its stdin is closed is left to do so, and is reaped.
#[test]
fn child_that_exits_by_itself_is_not_signalled() {
    run(async {
        let child = start("cat; exit 3");
        let pid = raw(child.tree.pid());
        drop(child.stdin);
        assert_eq!(child.tree.end(BOUND).await, Ok(ExitReason::Code(3)));
        assert!(!exists(pid), "a zombie is left");
        assert_eq!(child.tree.end(BOUND).await, Ok(ExitReason::Code(3)));
        assert_eq!(child.tree.exited().await, ExitReason::Code(3));
    });
}

/// T1: one that does not is asked by SIGTERM after the grace.
#[test]
fn child_that_ignores_eof_gets_sigterm_after_the_grace() {
    run(async {
        let child = start("exec sleep 60");
        let pid = raw(child.tree.pid());
        drop(child.stdin);
        let begun = Instant::now();
        assert_eq!(child.tree.end(GRACE).await, Ok(TERM));
        assert!(begun.elapsed() >= GRACE);
        assert!(!exists(pid));
    });
}

/// T1: SIGKILL 2 s after a SIGTERM that was ignored; grandchildren too.
#[test]
fn tree_that_ignores_sigterm_is_killed_after_two_seconds() {
    run(async {
        let mut child = start("trap '' TERM; sleep 60 & echo $!; wait; wait; sleep 60");
        let grandchild = pid(&mut child.stdout).await;
        let leader = raw(child.tree.pid());
        drop(child.stdin);
        let begun = Instant::now();
        assert_eq!(child.tree.end(Duration::ZERO).await, Ok(NINE));
        assert!(begun.elapsed() >= Duration::from_secs(2));
        assert!(!exists(leader) && !lives(grandchild));
    });
}

/// T1: the leader obeys, its grandchild does not: the end waits for both.
#[test]
fn grandchild_that_ignores_sigterm_is_killed_after_its_leader_left() {
    run(async {
        let mut child = start("sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & wait");
        let grandchild = pid(&mut child.stdout).await;
        let leader = raw(child.tree.pid());
        assert_eq!(child.tree.end(Duration::ZERO).await, Ok(TERM));
        assert!(!exists(leader) && !lives(grandchild));
    });
}

/// T1: a server that forks and exits; its child holds the pipes. The exit is seen at once, the rest ended at the end.
#[test]
fn leader_that_leaves_a_child_behind_is_seen_and_the_child_is_ended() {
    run(async {
        let mut child = start("sleep 60 & echo $!; exit 4");
        let grandchild = pid(&mut child.stdout).await;
        assert_eq!(child.tree.exited().await, ExitReason::Code(4));
        assert!(lives(grandchild));
        assert!(
            exists(raw(child.tree.pid())),
            "the leader is reaped while its group lives"
        );
        assert_eq!(
            child.tree.end(Duration::from_millis(50)).await,
            Ok(ExitReason::Code(4))
        );
        assert!(!lives(grandchild) && !exists(raw(child.tree.pid())));
        let mut rest = Vec::new();
        assert_eq!(child.stdout.read_to_end(&mut rest).await.unwrap(), 0);
    });
}

/// S5: the signal that ended a child is known.
#[test]
fn exit_by_signal_is_seen() {
    run(async {
        let child = start("kill -9 $$");
        assert_eq!(child.tree.exited().await, NINE);
        assert_eq!(child.tree.end(GRACE).await, Ok(NINE));
    });
}

/// T1: a descendant that left the group is found while its parent lives.
#[cfg(target_os = "linux")]
#[test]
fn descendant_that_left_the_group_is_ended() {
    for ending in ["end", "kill_now"] {
        run(async {
            let mut child =
                start("setsid sh -c 'echo $$; trap \"\" TERM; sleep 60; sleep 60' & wait");
            let stray = pid(&mut child.stdout).await;
            match ending {
                "end" => drop(child.tree.end(Duration::ZERO).await.unwrap()),
                _ => child.tree.kill_now(),
            }
            assert!(
                gone_within(stray, Duration::from_secs(1)),
                "left alive by {ending}"
            );
            assert!(!exists(raw(child.tree.pid())));
        });
    }
}

/// T1: a leader that moved to another group is ended all the same.
#[test]
fn leader_that_left_its_group_is_ended() {
    run(async {
        let mut child = start(
            "exec python3 -c 'import os,time; p=os.fork() or (os.setpgid(0,0), time.sleep(60)); time.sleep(.2); \
             os.setpgid(0,p); print(p,flush=True); time.sleep(60)'",
        );
        let grandchild = pid(&mut child.stdout).await;
        assert!(child.tree.end(Duration::ZERO).await.is_ok());
        assert!(!exists(raw(child.tree.pid())));
        assert!(gone_within(grandchild, Duration::from_secs(1)));
    });
}

/// T1: two who end at once share one attempt, and both learn the exit.
#[test]
fn concurrent_ends_share_one_attempt() {
    run(async {
        let child = start("trap '' TERM; while :; do sleep 1; done");
        let begun = Instant::now();
        let (one, two) = tokio::join!(
            child.tree.end(Duration::ZERO),
            child.tree.end(Duration::ZERO)
        );
        assert_eq!((one, two), (Ok(NINE), Ok(NINE)));
        assert!(begun.elapsed() < Duration::from_secs(4));
    });
}

/// T1: an end that was let go of goes on where it stopped, and does not begin again.
#[test]
fn cancelled_end_is_taken_up() {
    run(async {
        let mut child = start("trap '' TERM; echo ready; while :; do sleep 1; done");
        line(&mut child.stdout).await;
        let begun = Instant::now();
        let cut =
            tokio::time::timeout(Duration::from_millis(1500), child.tree.end(Duration::ZERO)).await;
        assert!(cut.is_err());
        assert_eq!(child.tree.end(Duration::ZERO).await, Ok(NINE));
        assert!(
            begun.elapsed() < Duration::from_millis(3200),
            "{:?}",
            begun.elapsed()
        );
    });
}

/// T1: a kill while somebody waits for the end ends that wait.
#[test]
fn kill_now_ends_a_running_end() {
    run(async {
        let child = start("trap '' TERM; while :; do sleep 1; done");
        let mut end = pin!(child.tree.end(BOUND));
        assert!(
            tokio::time::timeout(Duration::from_millis(50), &mut end)
                .await
                .is_err()
        );
        child.tree.kill_now();
        assert_eq!(end.await, Ok(NINE));
    });
}

/// T1: dropping everything leaves nothing, without a runtime too.
#[test]
fn drop_without_a_runtime_leaves_nothing() {
    let (tree, leader, grandchild) = run(async {
        let mut child = start("trap '' TERM; sleep 60 & echo $!; wait; sleep 60");
        let grandchild = pid(&mut child.stdout).await;
        (child.tree.clone(), raw(child.tree.pid()), grandchild)
    });
    assert!(lives(leader) && lives(grandchild));
    drop(tree);
    assert!(!exists(leader) && !lives(grandchild));
}

/// T1: dropping the child inside a runtime leaves nothing.
#[test]
fn drop_inside_a_runtime_leaves_nothing() {
    run(async {
        let mut child = start("trap '' TERM; sleep 60 & echo $!; wait; sleep 60");
        let grandchild = pid(&mut child.stdout).await;
        let leader = raw(child.tree.pid());
        drop(child);
        assert!(!exists(leader) && !lives(grandchild));
    });
}

/// T1: what cannot be ended is reported, never claimed gone, and can be tried again; a number that may be another's is not
/// signalled.
#[test]
fn whoever_cannot_be_ended_is_reported_and_tried_again() {
    run(async {
        let mut stranger = std::process::Command::new("sleep")
            .arg("60")
            .process_group(0)
            .spawn()
            .unwrap();
        let tree = ProcessTree::reaped_by_somebody_else(stranger.id());
        let failure = NotReaped::Rest {
            pid: stranger.id(),
            server: "demo".into(),
        };
        tree.kill_now();
        assert_eq!(tree.end(Duration::ZERO).await, Err(failure.clone()));
        let begun = Instant::now();
        let (one, two) = tokio::join!(tree.end(Duration::ZERO), tree.end(Duration::ZERO));
        assert_eq!((one, two), (Err(failure.clone()), Err(failure)));
        assert!(
            begun.elapsed() < Duration::from_millis(3500),
            "each made an attempt of its own"
        );
        assert_eq!(stranger.try_wait().unwrap(), None, "it was signalled");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        assert_eq!(tree.end(Duration::ZERO).await, Ok(ExitReason::Unknown));
    });
}

/// T1: many children at once leave no zombie. Each looks at all of them, so that twice as many are four times the work.
#[test]
fn many_children_end_in_parallel() {
    run(async {
        let children: Vec<_> = (0..40).map(|_| start("exec cat")).collect();
        let mut ends = tokio::task::JoinSet::new();
        let pids: Vec<i32> = children.iter().map(|child| raw(child.tree.pid())).collect();
        for child in children {
            ends.spawn(async move {
                drop(child.stdin);
                child.tree.end(BOUND).await
            });
        }
        assert!(
            ends.join_all()
                .await
                .into_iter()
                .all(|end| end == Ok(ExitReason::Code(0)))
        );
        assert!(!pids.into_iter().any(exists));
    });
}
