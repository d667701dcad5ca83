//! A host in a pid namespace of its own that sees the process table of the outer one, as in a sandbox that binds `/proc`.

use std::process::{Command, Stdio};

use super::super::others::{Others, Rest};
use super::super::watchdog::SCRIPT;
use super::host::{ROLE as HOST_ROLE, ROLE_TEST};

/// The role of the host in the namespace.
pub(super) const ROLE: &str = "in another namespace";

/// It tells what it makes of the table. It is process 1, and so is somebody in the outer table.
pub(super) fn be_host() {
    println!(
        "seen: {:?}",
        Others::new(u64::MAX).rest(None, std::time::Instant::now())
    );
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--pid", "--fork"]);
    command
}

fn is_possible() -> bool {
    let possible = unshare().arg("true").output();
    let possible = possible.is_ok_and(|tried| tried.status.success());
    if !possible {
        eprintln!("not tested: this system gives no namespace");
    }
    possible
}

/// T1: numbers of another namespace are others' here: nobody is found gone by them, and nobody is signalled.
#[test]
fn table_of_another_namespace_is_not_believed() {
    if !is_possible() {
        return;
    }
    let told = unshare()
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", ROLE_TEST])
        .env(HOST_ROLE, ROLE)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&told.stdout);
    assert!(
        said.contains(&format!("seen: {:?}", Rest::Unknown)),
        "{told:?}"
    );
}

/// T1: the watchdog signals nobody by such a number either, and still ends the groups that it was told of.
#[test]
fn watchdog_ends_only_groups_by_the_numbers_of_its_namespace() {
    if !is_possible() {
        return;
    }
    // In the namespace: a group to end, and the script, whose `kill` tells what it does before it does it.
    let told = "kill() { echo \"kill $*\" >&3; command kill \"$@\"; }; ";
    let script = format!(
        "exec 3>&1; setsid sleep 60 & echo \"+ 1 $!\" >&3; {{ echo \"+ 1 $!\"; echo \"= 1 $! 5\"; }} | sh -c \"$1\" w {}; wait $!",
        "0".repeat(32)
    );
    let marked = unshare()
        .args(["sh", "-c", &script, "sh", &format!("{told}{SCRIPT}")])
        .env("SEAWALL_LAUNCH", "0".repeat(32))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&marked.stdout);
    let group = said
        .lines()
        .find_map(|line| line.strip_prefix("+ 1 "))
        .unwrap();
    let kills: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("kill "))
        .collect();
    assert_eq!(kills, [format!("kill -s KILL -- -{group}")], "{marked:?}");
}
