//! Launches in control groups of their own: whoever only these tell of, and everything that holds without them.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::super::super::GRACE;
use super::super::cgroup::{Cgroup, divisible, remove_forgotten};
use super::super::mark;
use super::*;

/// The variable that has the launches of this process have control groups.
pub(crate) const ASKED: &str = "SEAWALL_TEST_CGROUP";
/// The role of a host whose server lets a rabbit loose.
pub(super) const ROLE: &str = "with a rabbit";
/// Where the rabbit of that host is.
const RABBIT: &str = "SEAWALL_TEST_RABBIT";

/// T1: with control groups the same holds as without, and nobody gets away by forking for ever either.
#[test]
fn all_of_it_holds_with_control_groups() {
    if divisible().is_none_or(|own| Cgroup::within(&own, u64::MAX).is_none()) {
        eprintln!("not tested: this system does not let us divide our control group");
        return;
    }
    let told = Command::new(host::this_binary())
        .args(["--include-ignored", "--skip", "all_of_it_holds"])
        .args([
            "unix::tests::cgroup::",
            "unix::tests::matrix::",
            "unix::tests::end::",
        ])
        .env(ASKED, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success(), "{said}");
    assert!(
        said.contains("nobody_forks_faster_than_a_close ... ok"),
        "{said}"
    );
}

/// A server with a descendant in a session of its own, without the mark, that forks and exits for ever.
fn rabbit(script: &Path) -> String {
    std::fs::write(script, "sh \"$0\" & exit").unwrap();
    format!(
        "(env -i PATH=\"$PATH\" setsid sh {} &); echo; exec cat >/dev/null",
        script.display()
    )
}

/// Whether anybody runs the script, looked for so long that one who forks and exits is seen.
fn runs(script: &Path) -> bool {
    is_seen(script, Duration::from_millis(300))
}

/// Whether anybody begins to run the script.
fn begins(script: &Path) -> bool {
    is_seen(script, BOUND)
}

fn is_seen(script: &Path, bound: Duration) -> bool {
    let script = script.to_str().unwrap();
    let until = Instant::now() + bound;
    while Instant::now() < until {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let found = all
            .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
            .any(|line| String::from_utf8_lossy(&line).contains(script));
        if found {
            return true;
        }
    }
    false
}

/// Ends the rabbit, should the test fail.
struct Hunt<'a>(&'a Path);

impl Drop for Hunt<'_> {
    fn drop(&mut self) {
        // The next generation finds no script.
        std::fs::remove_file(self.0).ok();
    }
}

/// T1: after a close nobody is left who forks faster than the process table is read.
#[test]
#[ignore = "of launches with control groups; `all_of_it_holds_with_control_groups` runs it"]
fn nobody_forks_faster_than_a_close() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("rabbit-of-a-close");
    let _hunt = Hunt(&script);
    run(async {
        let mut child = start(&rabbit(&script));
        line(&mut child.stdout).await;
        assert!(begins(&script));
        drop(child.stdin);
        child.tree.end(GRACE).await.unwrap();
        assert!(!runs(&script));
    });
}

/// T1: nor after a drop.
#[test]
#[ignore = "of launches with control groups; `all_of_it_holds_with_control_groups` runs it"]
fn nobody_forks_faster_than_a_drop() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("rabbit-of-a-drop");
    let _hunt = Hunt(&script);
    let child = run(async {
        let mut child = start(&rabbit(&script));
        line(&mut child.stdout).await;
        child
    });
    assert!(begins(&script));
    drop(child);
    assert!(!runs(&script));
}

/// T1: nor after the host was killed; and no group is left, those that the server made in it neither.
#[test]
#[ignore = "of launches with control groups; `all_of_it_holds_with_control_groups` runs it"]
fn nobody_forks_faster_than_the_watchdog() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("rabbit-of-the-watchdog");
    let _hunt = Hunt(&script);
    let mut host = Command::new(host::this_binary());
    host.args(["--exact", "--nocapture", host::ROLE_TEST])
        .env(host::ROLE, ROLE)
        .env(RABBIT, &script)
        .stdout(std::process::Stdio::piped());
    let mut host = host.spawn().unwrap();
    let mut ready = std::io::BufReader::new(host.stdout.take().unwrap());
    let mut told = String::new();
    while !told.contains("group ") {
        told.clear();
        assert_ne!(
            std::io::BufRead::read_line(&mut ready, &mut told).unwrap(),
            0
        );
    }
    let (_, group) = told.trim().split_once("group ").unwrap();
    let group = Path::new(group);
    assert!(begins(&script) && group.exists());
    kill_process(Pid::from_child(&host), Signal::KILL).unwrap();
    host.wait().unwrap();
    let until = Instant::now() + BOUND;
    while runs(&script) || group.exists() {
        assert!(Instant::now() < until, "{told} is left");
    }
}

/// The host that is killed.
pub(super) fn be_host() {
    let script = std::env::var_os(RABBIT).unwrap();
    run(async {
        let mut child = start(&rabbit(Path::new(&script)));
        line(&mut child.stdout).await;
        let group = std::fs::read_to_string(format!("/proc/{}/cgroup", child.tree.pid())).unwrap();
        let group = group
            .lines()
            .find_map(|line| line.strip_prefix("0::/"))
            .unwrap();
        let group = divisible()
            .unwrap()
            .join(Path::new(group).file_name().unwrap());
        std::fs::create_dir_all(group.join(["c"; 30].join("/"))).unwrap();
        println!("group {}", group.display());
        std::io::stdout().flush().unwrap();
        tokio::time::sleep(BOUND).await;
        drop(child);
    });
}

/// T1: a launch's group goes with it, those that the server made in it too.
#[test]
#[ignore = "of launches with control groups; `all_of_it_holds_with_control_groups` runs it"]
fn a_group_goes_with_its_launch() {
    run(async {
        let mut child = start("echo $$; exec cat >/dev/null");
        let pid = pid(&mut child.stdout).await;
        let group = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
        let group = group
            .lines()
            .find_map(|line| line.strip_prefix("0::/"))
            .unwrap();
        let path = divisible()
            .unwrap()
            .join(Path::new(group).file_name().unwrap());
        assert!(path.exists(), "{group}");
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        std::fs::create_dir_all(path.join(["c"; 30].join("/"))).unwrap();
        drop(child.stdin);
        child.tree.end(GRACE).await.unwrap();
        assert!(!path.exists());
    });
}

/// T1: a server that makes groups without end does not hold up its end; what is too much for it, the watchdog removes.
#[test]
#[ignore = "of launches with control groups; `all_of_it_holds_with_control_groups` runs it"]
fn groups_without_end_hold_up_no_end() {
    let parent = divisible().unwrap();
    let group = Cgroup::within(&parent, u64::MAX - 1).unwrap();
    let path = parent.join(format!("seawall-{}-{:x}", mark::host(), u64::MAX - 1));
    for number in 0..1_200 {
        std::fs::create_dir(path.join(number.to_string())).unwrap();
    }
    let began = Instant::now();
    drop(group);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(path.exists());
    for entry in std::fs::read_dir(&path).unwrap().flatten() {
        std::fs::remove_dir(entry.path()).ok();
    }
    std::fs::remove_dir(&path).unwrap();
}

/// T1: groups that a host and its watchdog left, killed at once, are removed by a later host once they are old; a young one
/// may be another host's that nobody is in yet.
#[test]
#[ignore = "of launches with control groups; `all_of_it_holds_with_control_groups` runs it"]
fn only_old_groups_are_forgotten() {
    let parent = divisible().unwrap().join("not-seawalls");
    let old = parent.join("seawall-0123-1");
    let young = parent.join("seawall-0123-2");
    let other = parent.join("others-0123-3");
    for group in [&old, &young, &other] {
        std::fs::create_dir_all(group).unwrap();
    }
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(3_600);
    for group in [&old, &other] {
        let group = std::fs::File::open(group).unwrap();
        group.set_modified(long_ago).unwrap();
    }
    remove_forgotten(&parent);
    assert!(!old.exists() && young.exists() && other.exists());
    for group in [&young, &other, &parent] {
        std::fs::remove_dir(group).unwrap();
    }
}
