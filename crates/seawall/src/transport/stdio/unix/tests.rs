//! Real processes: pids are the point here.

#[cfg(target_os = "linux")]
pub(super) mod cgroup;
mod end;
mod host;
#[cfg(target_os = "linux")]
mod matrix;
#[cfg(target_os = "linux")]
mod namespace;
mod start;

use std::ffi::OsString;
use std::future::Future;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;

use super::super::{Launch, StdioChild};
use super::{Stdout, spawn};

/// No test lasts longer.
const BOUND: Duration = Duration::from_secs(20);

/// A shell that runs a script, with the host's `PATH` and nothing else.
fn shell(script: &str) -> Launch {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    Launch {
        command: "sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: None,
        env: vec![("PATH".into(), path)],
    }
}

fn start(script: &str) -> StdioChild {
    spawn(&shell(script), "demo").unwrap()
}

/// Runs a test's future on a runtime of its own, within the bound.
fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::time::timeout(BOUND, test)
            .await
            .expect("the test hangs")
    })
}

/// One line of a child's output.
async fn line(stdout: &mut Stdout) -> String {
    let mut line = Vec::new();
    loop {
        match stdout.read_u8().await {
            Ok(b'\n') => return String::from_utf8(line).unwrap(),
            Ok(byte) => line.push(byte),
            Err(error) => panic!("no whole line: {error}"),
        }
    }
}

/// A pid that a child printed.
async fn pid(stdout: &mut Stdout) -> i32 {
    line(stdout).await.parse().unwrap()
}

/// Whether a process is there at all, a zombie included.
fn exists(pid: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::test_kill_process(pid).is_ok()
}

/// Whether a process is there and not a zombie.
fn lives(pid: i32) -> bool {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// Waits until a process of somebody else's is gone.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing tells that a process which is not a child is gone"
)]
fn gone_within(pid: i32, bound: Duration) -> bool {
    let until = Instant::now() + bound;
    while lives(pid) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

fn raw(pid: u32) -> i32 {
    i32::try_from(pid).unwrap()
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}
