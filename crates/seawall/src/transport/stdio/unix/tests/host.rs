//! A host that is killed. The host is this test binary, started again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use super::super::watchdog::{self, Line};
use super::*;

pub(super) const ROLE: &str = "SEAWALL_TEST_HOST";
/// What has this binary play its role.
pub(super) const ROLE_TEST: &str = "transport::stdio::unix::tests::host::role";

/// A server that neither an end of stdin nor SIGTERM ends, with a child of its own.
const STUBBORN: &str = "trap '' TERM HUP; sleep 60 & echo $!; while :; do sleep 1; done";

/// The same, and its child left the group.
const WITH_STRAY: &str =
    "trap '' TERM HUP; setsid sh -c 'sleep 60; sleep 60' & echo $!; while :; do sleep 1; done";

/// A server that exits at the end of its stdin, which a killed host brings about, and leaves a child that left the group.
/// The child tells its number once it has left.
const GONE_WITH_ITS_HOST: &str = "setsid sh -c 'echo $$; exec sleep 60' & exec cat >/dev/null";

/// A server that moves to its host's group and hides the mark.
#[cfg(target_os = "linux")]
const OUT_OF_ITS_OWN_GROUP: &str = "exec python3 -c 'import os; os.setpgid(0, os.getpgid(os.getppid())); \
    os.execve(\"/bin/sh\", [\"sh\", \"-c\", \"echo $$; exec sleep 60\"], {})'";

/// Not a test: the host, when this binary was started as one.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    #[cfg(target_os = "linux")]
    if let Some(row) = role.strip_prefix(matrix::ROLE) {
        return matrix::be_host(row);
    }
    #[cfg(target_os = "linux")]
    if role == namespace::ROLE {
        return namespace::be_host();
    }
    #[cfg(target_os = "linux")]
    if role == cgroup::ROLE {
        return cgroup::be_host();
    }
    run(async {
        let mut children = vec![start(STUBBORN)];
        if role == "without its watchdog for a moment" {
            let old = watchdog::shell().unwrap();
            kill(old);
            assert!(gone_within(raw(old), BOUND));
            children.push(start(STUBBORN));
            assert_ne!(watchdog::shell(), Some(old));
        }
        if role == "whose watchdog died young" {
            let old = watchdog::shell();
            kill(old.unwrap());
            let replaced = async {
                while watchdog::shell() == old {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            // Whoever waits for the exit of a child has it replaced, though nothing else happens.
            tokio::select! {
                _ = children[0].tree.exited() => panic!("the child lives"),
                replaced = tokio::time::timeout(BOUND, replaced) => replaced.unwrap(),
            }
        }
        if role == "with a stray" {
            children.push(start(WITH_STRAY));
        }
        if role == "with a stray whose parent goes first" {
            children.push(start(GONE_WITH_ITS_HOST));
        }
        #[cfg(target_os = "linux")]
        if role == "with one out of its own group" {
            children.push(start(OUT_OF_ITS_OWN_GROUP));
        }
        if role == "after an end" {
            children.push(start("exec cat"));
            let ended = children.pop().unwrap();
            drop(ended.stdin);
            ended.tree.end(BOUND).await.unwrap();
        }
        for child in &mut children {
            let grandchild = pid(&mut child.stdout).await;
            child.tree.look();
            println!("pid {}\npid {grandchild}", child.tree.pid());
        }
        println!("pid {}", watchdog::shell().unwrap());
        println!("ready");
        tokio::time::sleep(BOUND).await;
    });
}

/// The file may have been replaced by another build since.
pub(super) fn this_binary() -> std::path::PathBuf {
    if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe().unwrap()
    }
}

pub(super) fn host(role: &str) -> (Child, Vec<i32>) {
    let mut command = Command::new(this_binary());
    command
        .args(["--exact", "--nocapture", ROLE_TEST])
        .env(ROLE, role)
        .stdout(Stdio::piped());
    let mut host = command.spawn().unwrap();
    let mut pids = Vec::new();
    for line in BufReader::new(host.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line == "ready" {
            break;
        }
        if let Some((_, pid)) = line.split_once("pid ") {
            pids.push(pid.parse().unwrap());
        }
    }
    (host, pids)
}

#[expect(clippy::cast_possible_wrap, reason = "pids are small")]
pub(super) fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// T1: nobody survives a host that was killed, and the watchdog goes too.
#[test]
fn tree_dies_within_five_seconds_of_a_killed_host() {
    let mut roles = vec![
        ("plain", 3),
        ("without its watchdog for a moment", 5),
        ("after an end", 3),
        ("whose watchdog died young", 3),
    ];
    if cfg!(target_os = "linux") {
        roles.push(("with a stray", 5));
        roles.push(("with a stray whose parent goes first", 5));
        roles.push(("with one out of its own group", 5));
    }
    for (role, processes) in roles {
        let (mut host, pids) = host(role);
        assert_eq!(pids.len(), processes);
        assert!(pids.iter().all(|pid| lives(*pid)));
        let killed = Instant::now();
        host.kill().unwrap();
        host.wait().unwrap();
        for pid in pids {
            let left = Duration::from_secs(5).saturating_sub(killed.elapsed());
            assert!(gone_within(pid, left), "{pid} survives the host: {role}");
        }
    }
}

/// T1: the watchdog kills who is registered, and nobody who was forgotten or came in a broken line.
#[test]
fn watchdog_kills_exactly_who_is_registered() {
    let sleeper = || {
        Command::new("sleep")
            .arg("60")
            .process_group(0)
            .spawn()
            .unwrap()
    };
    let (mut kept, forgotten, broken) = (sleeper(), sleeper(), sleeper());
    let mut shell = Command::new("/bin/sh")
        .args([
            "-c",
            &watchdog::SCRIPT.replacen("live=' '", "echo up; live=' '", 1),
        ])
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut up = String::new();
    BufReader::new(shell.stdout.take().unwrap())
        .read_line(&mut up)
        .unwrap();
    assert_eq!(up, "up\n");
    let mut stdin = shell.stdin.take().unwrap();
    let mut tell = |line: &[u8]| stdin.write_all(line).unwrap();
    tell(Line::registered(1, forgotten.id()).as_bytes());
    tell(Line::registered(12, kept.id()).as_bytes());
    tell(Line::registered(1, forgotten.id()).as_bytes());
    tell(Line::registered(2, forgotten.id()).as_bytes());
    tell(Line::forgotten(1).as_bytes());
    tell(Line::forgotten(2).as_bytes());
    tell(Line::forgotten(3).as_bytes());
    for line in [
        "+ 9 1\n", "+ 9 0\n", "+ 9\n", "+ 9 01\n", "+ 9 -1\n", "+\n", "\n", "+ x 5\n", "* * *\n",
    ] {
        tell(line.as_bytes());
    }
    tell(format!("9 {}\n", broken.id()).as_bytes());
    tell(format!("+ 9 {}", broken.id()).as_bytes());
    for signal in [
        rustix::process::Signal::TERM,
        rustix::process::Signal::INT,
        rustix::process::Signal::HUP,
    ] {
        rustix::process::kill_process(rustix::process::Pid::from_child(&shell), signal).unwrap();
    }
    drop(stdin);
    assert_eq!(shell.wait().unwrap().code(), Some(0));
    assert!(!kept.wait().unwrap().success());
    for mut other in [forgotten, broken] {
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

/// T1: the longest line fits.
#[test]
fn lines_are_whole_at_both_ends_of_their_range() {
    assert_eq!(Line::registered(0, 0).as_bytes(), b"+ 0 0\n");
    assert_eq!(
        Line::registered(u64::MAX, u32::MAX).as_bytes(),
        b"+ 18446744073709551615 4294967295\n"
    );
    assert_eq!(
        Line::forgotten(u64::MAX).as_bytes(),
        b"- 18446744073709551615\n"
    );
}
