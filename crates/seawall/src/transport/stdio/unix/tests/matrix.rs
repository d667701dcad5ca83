//! However a session ends, and wherever its processes went: nobody is left.

use std::io::Write as _;

use rustix::process::{Pid, Signal, kill_process};

use super::super::super::GRACE;
use super::*;

/// What the role of a host in this table begins with.
pub(super) const ROLE: &str = "matrix ";

/// The kinds of server. Each tells so many numbers; those of a second stage only after a line of input.
const ROWS: [(&str, &str, usize, usize); 10] = [
    ("plain", "echo $$; exec cat >/dev/null", 1, 0),
    (
        "wrapper",
        "sh -c 'echo $$; exec cat >/dev/null'; true",
        1,
        0,
    ),
    (
        "deaf",
        "trap '' TERM; echo $$; while :; do sleep 1; done",
        1,
        0,
    ),
    (
        "double fork at the start",
        "(setsid sh -c 'echo $$; exec sleep 987' &); exec cat >/dev/null",
        1,
        0,
    ),
    (
        "deaf double fork at the start",
        "(setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' &); exec cat >/dev/null",
        1,
        0,
    ),
    (
        "double fork during a call",
        "echo $$; read -r call; (setsid sh -c 'echo $$; exec sleep 987' &); exec cat >/dev/null",
        1,
        1,
    ),
    (
        "double fork at the end",
        "echo $$; cat >/dev/null; (setsid sh -c 'exec sleep 987' &)",
        1,
        0,
    ),
    (
        "double fork that hides the mark and keeps its parent",
        "(setsid sh -c 'env -i sh -c \"echo \\$\\$; exec sleep 987\" & echo $$; wait' &); exec cat >/dev/null",
        2,
        0,
    ),
    (
        "session with a group whose parents are gone",
        "(setsid sh -mc 'env -i sh -c \"(sleep 987 & echo \\$!)\"; echo $$; exec sleep 987' &); exec cat >/dev/null",
        2,
        0,
    ),
    (
        "double fork whose first thread is over",
        FIRST_THREAD_OVER,
        1,
        0,
    ),
];

/// The system shows no environment of such a process, but that of its other threads. It tells its number from one of them.
const FIRST_THREAD_OVER: &str = "(setsid python3 -c '
import ctypes, os, threading, time
def stay():
    while \") Z \" not in open(\"/proc/self/stat\").read():
        time.sleep(0.01)
    print(os.getpid(), flush=True)
    time.sleep(987)
threading.Thread(target=stay).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == \"x86_64\" else 93, 0)
' &); exec cat >/dev/null";

/// Starts the server of a row. All numbers that it tells, its own among them.
async fn begin(row: &str) -> (StdioChild, Vec<i32>) {
    let (_, script, first, second) = ROWS.into_iter().find(|(name, ..)| *name == row).unwrap();
    let mut child = start(script);
    let mut pids = vec![raw(child.tree.pid())];
    for _ in 0..first {
        pids.push(pid(&mut child.stdout).await);
    }
    child.tree.look();
    if second > 0 {
        assert_eq!(child.stdin.try_write(b"call\n").unwrap(), 5);
    }
    for _ in 0..second {
        pids.push(pid(&mut child.stdout).await);
    }
    (child, pids)
}

/// The host that the killed ones are.
pub(super) fn be_host(row: &str) {
    run(async {
        let (child, pids) = begin(row).await;
        for pid in pids {
            println!("pid {pid}");
        }
        println!("ready");
        std::io::stdout().flush().unwrap();
        tokio::time::sleep(BOUND).await;
        drop(child);
    });
}

/// The processes that carry a mark, as the kernel tells it.
fn carriers(mark: &str) -> Vec<i32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
            threads.into_iter().flatten().flatten().any(|thread| {
                std::fs::read(thread.path().join("environ"))
                    .is_ok_and(|text| String::from_utf8_lossy(&text).contains(mark))
            })
        })
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "nothing tells that an exec is over, and within it there is no environment"
)]
fn mark_of(pid: i32) -> String {
    let until = Instant::now() + BOUND;
    loop {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        let environment = String::from_utf8(environment).unwrap();
        let value = environment
            .split('\0')
            .find_map(|entry| entry.strip_prefix("SEAWALL_LAUNCH="));
        if let Some(value) = value {
            return value.rsplit(',').next().unwrap().to_owned();
        }
        assert!(Instant::now() < until, "{pid} has no mark");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "nothing tells that a process which is not a child is gone"
)]
fn all_gone(pids: &[i32], mark: &str, since: Instant, what: &str) {
    let bound = Duration::from_secs(5);
    loop {
        let left: Vec<i32> = pids.iter().copied().filter(|pid| lives(*pid)).collect();
        let marked = carriers(mark);
        if left.is_empty() && marked.is_empty() {
            return;
        }
        assert!(
            since.elapsed() < bound,
            "{what}: {left:?} and {marked:?} are left"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// T1: after a close nobody is left, and nobody is left to find at the moment it has returned.
#[test]
fn nobody_survives_a_close() {
    for (row, ..) in ROWS {
        run(async {
            let (child, pids) = begin(row).await;
            let mark = mark_of(pids[0]);
            let begun = Instant::now();
            drop(child.stdin);
            child.tree.end(GRACE).await.unwrap();
            assert!(begun.elapsed() < Duration::from_secs(5), "{row}");
            let left: Vec<i32> = pids.into_iter().filter(|pid| lives(*pid)).collect();
            assert_eq!((left, carriers(&mark)), (vec![], vec![]), "{row}");
        });
    }
}

/// T1: the same after a drop.
#[test]
fn nobody_survives_a_drop() {
    for (row, ..) in ROWS {
        let (child, pids) = run(begin(row));
        let mark = mark_of(pids[0]);
        let begun = Instant::now();
        drop(child);
        all_gone(&pids, &mark, begun, row);
    }
}

/// T1: the same after the host went by SIGTERM or SIGKILL and dropped nothing.
#[test]
fn nobody_survives_a_killed_host() {
    for signal in [Signal::TERM, Signal::KILL] {
        for (row, ..) in ROWS {
            let (mut host, pids) = host::host(&format!("{ROLE}{row}"));
            assert!(pids.len() >= 2, "{row}");
            let mark = mark_of(pids[0]);
            let begun = Instant::now();
            kill_process(Pid::from_child(&host), signal).unwrap();
            host.wait().unwrap();
            all_gone(&pids, &mark, begun, row);
        }
    }
}

/// T1: one whose leader somebody else reaped is still found by its mark.
#[test]
fn strays_of_a_lost_leader_are_ended() {
    run(async {
        let (child, pids) = begin("double fork at the start").await;
        let leader = Pid::from_raw(raw(child.tree.pid())).unwrap();
        kill_process(leader, Signal::KILL).unwrap();
        // As a host would that waits for every child there is.
        rustix::process::waitpid(Some(leader), rustix::process::WaitOptions::empty()).unwrap();
        assert!(lives(pids[1]));
        child.tree.end(Duration::ZERO).await.unwrap();
        assert!(!lives(pids[1]));
    });
}

/// T1: the processes of another launch are left alone.
#[test]
fn other_launches_are_left_alone() {
    run(async {
        let (one, of_one) = begin("double fork at the start").await;
        let (two, of_two) = begin("double fork at the start").await;
        one.tree.end(Duration::ZERO).await.unwrap();
        assert!(!of_one.into_iter().any(lives));
        assert!(of_two.iter().copied().all(lives));
        two.tree.kill_now();
        let begun = Instant::now();
        all_gone(&of_two, &"f".repeat(48), begun, "two");
    });
}

/// Makes its children those of its host: one that is over at once, and one that leaves the group and stays.
const CHILDREN_OF_ITS_HOST: &str = "exec python3 -c '
import ctypes, os, time
clone = 56 if os.uname().machine == \"x86_64\" else 220
clone_parent, sigchld = 0x8000, 17
for stays in (False, True):
    if ctypes.CDLL(None).syscall(clone, clone_parent | sigchld, 0, 0, 0, 0) == 0:
        if stays:
            os.setsid()
        print(os.getpid(), flush=True)
        if stays:
            time.sleep(987)
        os._exit(0)
time.sleep(987)
'";

/// T1: nobody is left as a zombie either, whose parent the server has the host be.
#[test]
fn children_that_a_server_made_its_hosts_are_reaped() {
    run(async {
        let mut child = start(CHILDREN_OF_ITS_HOST);
        let pids = [pid(&mut child.stdout).await, pid(&mut child.stdout).await];
        assert!(pids.into_iter().all(exists));
        child.tree.end(Duration::ZERO).await.unwrap();
        assert!(!pids.into_iter().any(exists), "{pids:?}");
    });
}
