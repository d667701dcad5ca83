//! Who else is there of a child's tree: the rest of its group, and descendants that left the group.
//!
//! Those who left are found by the living parents between them and the child, by a group or session that one of them
//! leads, and, whoever their parents are by now, by the launch's mark in their environment. Where the launch has a control
//! group, whoever is in it is known without any of this.

use std::process::Command;
use std::time::Instant;

use rustix::process::{Pid, Signal};

#[cfg(target_os = "linux")]
use super::census::{Census, Process};
#[cfg(target_os = "linux")]
use super::{before_exec, cgroup::Cgroup};

/// What is known of a tree beside its leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nobody lives.
    Gone,
    /// Somebody lives.
    Alive,
    /// It cannot be told while the leader is unreaped.
    Unknown,
}

/// The descendants that left the group, as far as they were seen.
#[derive(Debug)]
pub(super) struct Others {
    #[cfg(target_os = "linux")]
    launch: u64,
    /// When the leader started. No descendant is older, so that only the younger are looked at for the mark.
    #[cfg(target_os = "linux")]
    since: u64,
    #[cfg(target_os = "linux")]
    strays: Vec<linux::Stray>,
    /// Those whom the server made our own children (`CLONE_PARENT`), and who died: nobody else reaps them.
    #[cfg(target_os = "linux")]
    adopted: Vec<linux::Stray>,
    #[cfg(target_os = "linux")]
    group: Option<Cgroup>,
}

#[cfg(target_os = "linux")]
impl Others {
    /// The others of the launch of that number.
    pub(super) fn new(launch: u64) -> Self {
        Self {
            launch,
            since: 0,
            strays: Vec::new(),
            adopted: Vec::new(),
            group: Cgroup::new(launch),
        }
    }

    /// Has the child go where all that it starts is known.
    pub(super) fn enter_before_exec(&self, command: &mut Command) {
        if let Some(group) = &self.group {
            before_exec::enter(command, group.entrance());
        }
    }

    /// Looks whether anybody is there, twice before it says that nobody is: one pass over the table misses whoever was
    /// forked behind it, and whoever is in the middle of an exec, without an environment for that moment.
    ///
    /// `asked` is when the answer began to matter: what was read of the table since then will do.
    pub(super) fn rest(&mut self, leader: Option<Pid>, asked: Instant) -> Rest {
        match self.see(leader, asked) {
            (Rest::Gone, Some(seen)) => self.look(leader, seen),
            (rest, _) => rest,
        }
    }

    /// Looks who is there, and remembers who left the group. The leader must be unreaped; `None` if its number may be
    /// another's by now.
    pub(super) fn look(&mut self, leader: Option<Pid>, asked: Instant) -> Rest {
        self.see(leader, asked).0
    }

    /// Who is there, and when all of it was seen.
    fn see(&mut self, leader: Option<Pid>, asked: Instant) -> (Rest, Option<Instant>) {
        let (rest, seen) = self.see_in_table(leader, asked);
        match self.group.as_ref().and_then(Cgroup::is_populated) {
            Some(true) => (Rest::Alive, seen),
            _ => (rest, seen),
        }
    }

    fn see_in_table(&mut self, leader: Option<Pid>, asked: Instant) -> (Rest, Option<Instant>) {
        let Some(census) = Census::since(asked) else {
            return (Rest::Unknown, None);
        };
        let processes = &census.processes;
        // No process has the number 0, and of the groups only the kernel's own.
        let group = leader.map_or(0, |leader| leader.as_raw_nonzero().get());
        if let Some(leader) = processes.iter().find(|process| process.pid == group) {
            self.since = leader.started;
        }
        let (launch, since) = (self.launch, self.since);
        let marked = |process: &Process| process.started >= since && process.is_of(launch);
        self.adopted = linux::adopted(processes, group, &self.strays, &self.adopted);
        self.strays = linux::strays(processes, group, &self.strays, marked);
        let member = |process: &Process| {
            group != 0 && process.group == group && process.pid != group && process.lives
        };
        let rest = if self.strays.is_empty() && !processes.iter().any(member) {
            Rest::Gone
        } else {
            Rest::Alive
        };
        (rest, Some(census.ended()))
    }

    /// Those who left the group, as last seen: number and start.
    pub(super) fn strays(&self) -> impl Iterator<Item = (u32, u64)> {
        self.strays.iter().map(|stray| stray.identity())
    }

    /// Signals those who left the group; SIGKILL reaches everybody in the control group.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(group) = self.group.as_ref().filter(|_| signal == Signal::KILL) {
            group.kill();
        }
        for stray in &self.strays {
            stray.signal(signal);
        }
    }
}

/// # Drop behavior
/// Those who died as our own children are reaped.
#[cfg(target_os = "linux")]
impl Drop for Others {
    fn drop(&mut self) {
        for zombie in &self.adopted {
            zombie.reap();
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Others {
    /// The others of the launch of that number.
    pub(super) fn new(_: u64) -> Self {
        Self {}
    }

    /// Nowhere to go in here.
    pub(super) fn enter_before_exec(&self, _: &mut Command) {}

    /// Looks whether anybody is there.
    pub(super) fn rest(&mut self, leader: Option<Pid>, asked: Instant) -> Rest {
        self.look(leader, asked)
    }

    /// Looks whether anybody of the group lives. The leader must be unreaped and, for an answer other than `Alive`, dead;
    /// `None` if its number may be another's by now.
    pub(super) fn look(&mut self, leader: Option<Pid>, _: Instant) -> Rest {
        let Some(leader) = leader else {
            return Rest::Gone;
        };
        // Elsewhere than on Linux a zombie is not counted as a member.
        match rustix::process::test_kill_process_group(leader) {
            Ok(()) => Rest::Alive,
            Err(rustix::io::Errno::SRCH | rustix::io::Errno::PERM) => Rest::Gone,
            Err(_) => Rest::Unknown,
        }
    }

    /// Nobody who left the group is known here.
    pub(super) fn strays(&self) -> impl Iterator<Item = (u32, u64)> {
        std::iter::empty()
    }

    /// Nobody who left the group is known here.
    pub(super) fn signal(&self, _: Signal) {}
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
    };

    use super::Process;

    /// A descendant that left the group.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Stray {
        pid: i32,
        started: u64,
    }

    impl Stray {
        fn of(process: &Process) -> Self {
            Self {
                pid: process.pid,
                started: process.started,
            }
        }

        pub(super) fn identity(self) -> (u32, u64) {
            (self.pid.unsigned_abs(), self.started)
        }

        pub(super) fn signal(self, signal: Signal) {
            let Some(pid) = Pid::from_raw(self.pid) else {
                return;
            };
            // The descriptor holds on to whoever has the number now; then it is certain who that is.
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
                return;
            };
            if Process::read(self.pid).is_some_and(|now| now.started == self.started) {
                // It may be gone since, or not ours to signal; the next look tells.
                pidfd_send_signal(process, signal).ok();
            }
        }

        /// Reaps it, if it is dead and a child of ours.
        pub(super) fn reap(self) {
            let (Some(pid), Some(now)) = (Pid::from_raw(self.pid), Process::read(self.pid)) else {
                return;
            };
            // An embedding program may wait for every child there is; then another may have the number.
            if !now.lives && now.started == self.started {
                let gone = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
                // Whose child it is not, it is no matter of ours.
                waitid(WaitId::Pid(pid), gone).ok();
            }
        }
    }

    /// The dead of the group and of the strays known before who are this process's own children, beside the leader.
    pub(super) fn adopted(
        all: &[Process],
        group: i32,
        strays: &[Stray],
        known: &[Stray],
    ) -> Vec<Stray> {
        let myself = std::process::id().cast_signed();
        all.iter()
            .filter(|process| !process.lives && process.parent == myself && process.pid != group)
            .map(|process| (process, Stray::of(process)))
            .filter(|(process, stray)| {
                let of_group = group != 0 && process.group == group;
                of_group || strays.contains(stray) || known.contains(stray)
            })
            .map(|(_, stray)| stray)
            .collect()
    }

    /// The living descendants of the group, of its leader, of the strays known before and of the `marked`, that are not
    /// of the group. A `group` of 0 is nobody's.
    pub(super) fn strays(
        all: &[Process],
        group: i32,
        known: &[Stray],
        marked: impl Fn(&Process) -> bool,
    ) -> Vec<Stray> {
        let is_known = |process: &Process| {
            known
                .iter()
                .any(|stray| stray.pid == process.pid && stray.started == process.started)
        };
        let mut family = Vec::new();
        for process in all {
            let of_group = group != 0 && (process.pid == group || process.group == group);
            if of_group || is_known(process) {
                gather(all, process.pid, &mut family);
            }
        }
        for process in all {
            if process.lives && !family.contains(&process.pid) && marked(process) {
                gather(all, process.pid, &mut family);
            }
        }
        all.iter()
            .filter(|process| process.lives && (group == 0 || process.group != group))
            .filter(|process| process.pid != group && family.contains(&process.pid))
            .map(Stray::of)
            .collect()
    }

    /// Adds one, whoever descends from it by living parents, and the groups and sessions that these lead. The number of a
    /// group or session is not given to a process as long as somebody is in it, so that whoever has it began it.
    fn gather(all: &[Process], first: i32, family: &mut Vec<i32>) {
        if family.contains(&first) {
            return;
        }
        let mut next = family.len();
        family.push(first);
        while let Some(pid) = family.get(next).copied() {
            next += 1;
            for process in all {
                let belongs = [process.parent, process.group, process.session].contains(&pid);
                if belongs && !family.contains(&process.pid) {
                    family.push(process.pid);
                }
            }
        }
    }
}
