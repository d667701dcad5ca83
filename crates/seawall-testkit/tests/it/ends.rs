use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgid, getsid, kill_process};
use seawall_testkit::{
    Grandchild, ProcessState, Script, Stream, is_alive, is_zombie, process_state, wait_for_pid,
    wait_until,
};

use super::{DEADLINE, Peer, in_folder};

#[test]
fn exit_and_signal_are_the_scripts() {
    assert_eq!(
        Peer::launch(&Script::new().exit(9).server()).wait().code(),
        Some(9)
    );
    for (name, number) in [("KILL", 9), ("SEGV", 11), ("TERM", 15), ("ABRT", 6)] {
        assert_eq!(
            Peer::launch(&Script::new().die(name).server())
                .wait()
                .signal(),
            Some(number),
            "{name}"
        );
    }
}

#[test]
fn ended_child_is_a_zombie_until_reaped() {
    let mut peer = Peer::launch(&Script::new().line("up").expect_any().server());
    let pid = peer.child.id();
    assert_eq!(peer.line(), "up\n");
    assert!(is_alive(pid));
    peer.stdin = None;
    assert!(wait_until(DEADLINE, || is_zombie(pid)));
    assert!(!is_alive(pid));
    peer.wait();
    assert_eq!(process_state(pid), ProcessState::Gone);
}

#[test]
fn closed_stdout_ends_and_the_server_lives_on() {
    let mut peer = Peer::launch(
        &Script::new()
            .line("last")
            .close(Stream::Stdout)
            .hang()
            .server(),
    );
    assert_eq!(peer.rest(), b"last\n");
    assert!(is_alive(peer.child.id()));
}

#[test]
fn closed_stdin_breaks_the_hosts_pipe() {
    let mut peer = Peer::launch(
        &Script::new()
            .close(Stream::Stdin)
            .line("closed")
            .hang()
            .server(),
    );
    assert_eq!(peer.line(), "closed\n");
    let error = peer.stdin.as_mut().unwrap().write_all(b"x").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    assert!(is_alive(peer.child.id()));
}

#[test]
fn sigterm_is_ignored_only_if_told() {
    let mut deaf = Peer::launch(&Script::new().ignore_sigterm().line("up").hang().server());
    let mut normal = Peer::launch(&Script::new().line("up").hang().server());
    for peer in [&mut deaf, &mut normal] {
        assert_eq!(peer.line(), "up\n");
        kill_process(Pid::from_child(&peer.child), Signal::TERM).unwrap();
    }
    assert_eq!(normal.wait().signal(), Some(15));
    assert!(is_alive(deaf.child.id()));
}

#[test]
fn grandchild_is_as_described() {
    let folder = tempfile::tempdir().unwrap();
    let (pid_file, own_pid) = (in_folder(&folder, "grandchild"), in_folder(&folder, "own"));
    let grandchild = Grandchild::new(&pid_file)
        .holding_pipes()
        .ignoring_sigterm()
        .in_own_session();
    let mut peer = Peer::launch(
        &Script::new()
            .write_pid(&own_pid)
            .fork(grandchild)
            .line("forked")
            .exit(0)
            .server(),
    );
    assert_eq!(peer.line(), "forked\n");
    assert_eq!(wait_for_pid(&own_pid, DEADLINE), Some(peer.child.id()));
    let raw = wait_for_pid(&pid_file, DEADLINE).unwrap();
    let pid = Pid::from_raw(i32::try_from(raw).unwrap()).unwrap();
    assert!(peer.wait().success());
    assert_eq!((getsid(Some(pid)), getpgid(Some(pid))), (Ok(pid), Ok(pid)));
    kill_process(pid, Signal::TERM).unwrap();
    assert!(!wait_until(Duration::from_millis(100), || !is_alive(raw)));
    kill_process(pid, Signal::KILL).unwrap();
    // The pipe was held until now: this read ends only because the grandchild is gone.
    assert_eq!(peer.rest(), b"");
    assert!(wait_until(DEADLINE, || !is_alive(raw)));
}

#[test]
fn orphaned_grandchild_has_no_living_parent_in_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = in_folder(&folder, "grandchild");
    let mut peer = Peer::launch(
        &Script::new()
            .fork(Grandchild::new(&pid_file).in_own_session().orphaned())
            .line("forked")
            .hang()
            .server(),
    );
    assert_eq!(peer.line(), "forked\n");
    let raw = wait_for_pid(&pid_file, DEADLINE).unwrap();
    let status = std::process::Command::new("ps")
        .args(["-o", "ppid=", "-p", &raw.to_string()])
        .output()
        .unwrap();
    let parent: u32 = String::from_utf8(status.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(is_alive(raw) && is_alive(peer.child.id()));
    // Its parent is gone, so that it went to whoever takes orphans here.
    assert_ne!(parent, peer.child.id());
    let pid = Pid::from_raw(i32::try_from(raw).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    assert!(wait_until(DEADLINE, || !is_alive(raw)));
}

#[test]
fn plain_grandchild_holds_no_pipe_and_dies_by_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = in_folder(&folder, "grandchild");
    let mut peer = Peer::launch(
        &Script::new()
            .fork(Grandchild::new(&pid_file))
            .exit(0)
            .server(),
    );
    assert_eq!(peer.rest(), b"");
    let raw = wait_for_pid(&pid_file, DEADLINE).unwrap();
    let pid = Pid::from_raw(i32::try_from(raw).unwrap()).unwrap();
    assert!(is_alive(raw));
    kill_process(pid, Signal::TERM).unwrap();
    assert!(wait_until(DEADLINE, || !is_alive(raw)));
}
