//! The child that leads a group, until it is reaped.

use std::process::Child;
use std::time::Instant;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpgid, kill_process, kill_process_group,
    waitid,
};
use seawall_proto::connection::ExitReason;

use super::others::{Others, Rest};
use super::watchdog::Registration;

/// A child that was started and not reaped by us.
///
/// **Invariant:** while this exists the child's number is not free, unless [`Sight::Lost`] was seen.
#[derive(Debug)]
pub(super) struct Leader {
    child: Child,
    pid: Pid,
    others: Others,
    registration: Registration,
}

/// What is seen of a leader without reaping it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// It runs.
    Running,
    /// It exited.
    Exited(ExitReason),
    /// Somebody else reaped it: its number may be another's, and is not to be signalled any more.
    Lost,
}

impl Leader {
    pub(super) fn new(child: Child, others: Others, registration: Registration) -> Self {
        let pid = Pid::from_child(&child);
        Self {
            child,
            pid,
            others,
            registration,
        }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Looks whether it exited. Does not reap it.
    pub(super) fn sight(&self) -> Sight {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        loop {
            match waitid(WaitId::Pid(self.pid), options) {
                Ok(Some(status)) => return Sight::Exited(exit_reason(&status)),
                Ok(None) => return Sight::Running,
                Err(Errno::INTR) => {}
                Err(_) => return Sight::Lost,
            }
        }
    }

    /// Looks who else of the tree lives, and remembers who left the group.
    pub(super) fn rest(&mut self, asked: Instant) -> Rest {
        self.others.rest(self.pinned(), asked)
    }

    /// Looks who left the group, and tells the watchdog of them.
    pub(super) fn look(&mut self, asked: Instant) {
        self.others.look(self.pinned(), asked);
        self.registration.add(self.others.strays());
    }

    /// Signals everybody of the tree who is known.
    pub(super) fn signal(&mut self, signal: Signal, asked: Instant) {
        let leader = self.pinned();
        self.others.look(leader, asked);
        if let Some(pid) = leader {
            // Whether it reached anybody shows in the next look.
            kill_process_group(pid, signal).ok();
            if getpgid(Some(pid)) != Ok(pid) {
                // The leader itself moved to another group.
                kill_process(pid, signal).ok();
            }
        }
        self.others.signal(signal);
    }

    /// Its number while that is its own. Otherwise it may be another's by now, and so would be its group and children.
    fn pinned(&self) -> Option<Pid> {
        (self.sight() != Sight::Lost).then_some(self.pid)
    }

    /// Reaps it, and hands out who else may be there. Its exit must have been seen.
    pub(super) fn reap(self) -> Others {
        let Self {
            mut child,
            registration,
            others,
            ..
        } = self;
        // First: once it is reaped, its number may be another's.
        drop(registration);
        if let Err(error) = child.try_wait() {
            tracing::debug!(%error, "a child was reaped by somebody else");
        }
        others
    }
}

fn exit_reason(status: &WaitIdStatus) -> ExitReason {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitReason::Code(code),
        (None, Some(signal)) => ExitReason::Signal(signal),
        (None, None) => ExitReason::Unknown,
    }
}
