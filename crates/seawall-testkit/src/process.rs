//! What tests ask about processes.

use std::path::Path;
use std::time::{Duration, Instant};

/// What the system knows of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs, sleeps or is stopped.
    Alive,
    /// It has ended and nobody has collected its exit yet.
    Zombie,
    /// There is no such process.
    Gone,
}

/// Looks a process up now.
#[must_use]
pub fn process_state(pid: u32) -> ProcessState {
    match state_letter(pid) {
        None => ProcessState::Gone,
        Some('Z' | 'X' | 'x') => ProcessState::Zombie,
        Some(_) => ProcessState::Alive,
    }
}

/// Whether the process can still do anything. A zombie cannot, so it counts as dead.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    process_state(pid) == ProcessState::Alive
}

/// Whether the process has ended without having been reaped.
#[must_use]
pub fn is_zombie(pid: u32) -> bool {
    process_state(pid) == ProcessState::Zombie
}

/// Asks `condition` every 2 ms until it holds or `deadline` has passed; says whether it held.
///
/// It blocks the thread: in an async test, only on a runtime of several threads.
pub fn wait_until(deadline: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + deadline;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        pause(Duration::from_millis(2));
    }
}

/// Waits for a file with a process id, as [`Script::write_pid`](crate::Script::write_pid) and
/// [`Grandchild`](crate::Grandchild) write it.
#[must_use]
pub fn wait_for_pid(path: &Path, deadline: Duration) -> Option<u32> {
    let mut pid = None;
    wait_until(deadline, || {
        pid = std::fs::read_to_string(path)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        pid.is_some()
    });
    pid
}

/// Sleeps. The one place where the test kit does: a script's pauses are what it is for.
#[expect(clippy::disallowed_methods, reason = "a scripted pause is a real one")]
pub fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// The state letter of `ps`: the third field of `/proc/N/stat`, after a name that may hold anything.
#[cfg(target_os = "linux")]
fn state_letter(pid: u32) -> Option<char> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|&byte| byte == b')')?;
    stat.get(after_name + 2).map(|&byte| char::from(byte))
}

#[cfg(not(target_os = "linux"))]
fn state_letter(pid: u32) -> Option<char> {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    output
        .stdout
        .iter()
        .find(|byte| !byte.is_ascii_whitespace())
        .map(|&byte| char::from(byte))
}
