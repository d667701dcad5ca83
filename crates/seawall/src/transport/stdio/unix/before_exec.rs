//! What a child does between fork and exec: it goes into its control group, and tells the watchdog its number.
//!
//! Were it left to the host, a host killed between fork and registration would leave a child behind, and whoever the child
//! starts at once would be outside of the group.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

use super::watchdog::{Line, Pipe};

/// Has the child go into the control group whose `cgroup.procs` this is. One that may not is none the worse: its tree is known
/// in other ways too.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "code can run in a forked child only through `pre_exec`, which is unsafe"
)]
pub(super) fn enter(command: &mut Command, procs: Arc<std::fs::File>) {
    let write = move || -> io::Result<()> {
        rustix::io::write(&*procs, b"0").ok();
        Ok(())
    };
    // SAFETY: as of `announce`: one system call, no allocation, no lock, no panic; the descriptor is close-on-exec and is held
    // open by the host's copy of the `Arc` until `spawn` has returned.
    unsafe {
        command.pre_exec(write);
    }
}

/// Has the child write its own registration into `pipe` before it becomes the server.
#[expect(
    unsafe_code,
    reason = "code can run in a forked child only through `pre_exec`, which is unsafe"
)]
pub(super) fn announce(command: &mut Command, pipe: Arc<Pipe>, token: u64) {
    let write = move || -> io::Result<()> {
        let pid = rustix::process::getpid()
            .as_raw_nonzero()
            .get()
            .unsigned_abs();
        pipe.write(&Line::registered(token, pid))
    };
    // SAFETY: between fork and exec only async-signal-safe work is allowed. The closure makes two system calls (getpid and
    // a non-blocking write) and formats two integers into an array on its stack: it allocates nothing, takes no lock, and
    // cannot panic. It captures an `Arc` that was cloned before the fork, and nothing drops it in the child. The
    // descriptor is close-on-exec and stays open, since the host's copy of the `Arc` lives until `spawn` has returned.
    unsafe {
        command.pre_exec(write);
    }
}
