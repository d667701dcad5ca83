//! Who else is there of a child's tree: the rest of its group, and descendants that left the group.
//!
//! Those who left are found by the living parents between them and the child, by a group or session that one of them
//! leads, and, whoever their parents are by now, by the launch's mark in their environment.

use rustix::process::{Pid, Signal};

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
    mark: super::mark::Mark,
    /// When the leader started. No descendant is older, so that only the younger are looked at for the mark.
    #[cfg(target_os = "linux")]
    since: u64,
    #[cfg(target_os = "linux")]
    strays: Vec<linux::Stray>,
}

#[cfg(target_os = "linux")]
impl Others {
    /// The others of the launch of that number.
    pub(super) fn new(token: u64) -> Self {
        Self {
            mark: super::mark::Mark::new(token),
            since: 0,
            strays: Vec::new(),
        }
    }

    /// Looks whether anybody is there, twice before it says that nobody is: one pass over the table misses whoever was
    /// forked behind it, and whoever is in the middle of an exec, without an environment for that moment.
    pub(super) fn rest(&mut self, leader: Option<Pid>) -> Rest {
        match self.look(leader) {
            Rest::Gone => self.look(leader),
            other => other,
        }
    }

    /// Looks who is there, and remembers who left the group. The leader must be unreaped; `None` if its number may be
    /// another's by now.
    pub(super) fn look(&mut self, leader: Option<Pid>) -> Rest {
        let Some(processes) = linux::processes() else {
            return Rest::Unknown;
        };
        // No process has the number 0, and of the groups only the kernel's own.
        let group = leader.map_or(0, |leader| leader.as_raw_nonzero().get());
        if let Some(leader) = processes.iter().find(|process| process.pid == group) {
            self.since = leader.started;
        }
        let (mark, since) = (&self.mark, self.since);
        let marked = |process: &linux::Process| process.started >= since && mark.is_on(process.pid);
        self.strays = linux::strays(&processes, group, &self.strays, marked);
        let member = |process: &linux::Process| {
            group != 0 && process.group == group && process.pid != group && process.lives
        };
        if self.strays.is_empty() && !processes.iter().any(member) {
            Rest::Gone
        } else {
            Rest::Alive
        }
    }

    /// Those who left the group, as last seen: number and start.
    pub(super) fn strays(&self) -> impl Iterator<Item = (u32, u64)> {
        self.strays.iter().map(|stray| stray.identity())
    }

    /// Signals those who left the group.
    pub(super) fn signal(&self, signal: Signal) {
        for stray in &self.strays {
            stray.signal(signal);
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Others {
    /// The others of the launch of that number.
    pub(super) fn new(_: u64) -> Self {
        Self {}
    }

    /// Looks whether anybody is there.
    pub(super) fn rest(&mut self, leader: Option<Pid>) -> Rest {
        self.look(leader)
    }

    /// Looks whether anybody of the group lives. The leader must be unreaped and, for an answer other than `Alive`, dead;
    /// `None` if its number may be another's by now.
    pub(super) fn look(&mut self, leader: Option<Pid>) -> Rest {
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
    use std::fs;
    use std::io::Read as _;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// One line of the process table.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Process {
        pub(super) pid: i32,
        pub(super) group: i32,
        pub(super) lives: bool,
        /// In clock ticks since the boot; with `pid` it names one process for ever.
        pub(super) started: u64,
        parent: i32,
        session: i32,
    }

    /// A descendant that left the group.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Stray {
        pid: i32,
        started: u64,
    }

    impl Stray {
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
    }

    /// Everybody; `None` if the table is not to be had, or is one of another namespace: its numbers are others' here.
    pub(super) fn processes() -> Option<Vec<Process>> {
        let myself = fs::read_link("/proc/self").ok()?;
        if myself.as_os_str() != std::process::id().to_string().as_str() {
            return None;
        }
        let all = fs::read_dir("/proc")
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Process::read)
            .collect();
        Some(all)
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
            .map(|process| Stray {
                pid: process.pid,
                started: process.started,
            })
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

    impl Process {
        fn read(pid: i32) -> Option<Self> {
            // A line is some 300 bytes; one read takes it whole.
            let mut line = [0; 1024];
            let length = fs::File::open(format!("/proc/{pid}/stat"))
                .and_then(|mut file| file.read(&mut line))
                .ok()?;
            Self::parse(pid, line.get(..length)?)
        }

        /// `pid (name) state parent group session …`; the name may hold anything, parentheses too.
        pub(super) fn parse(pid: i32, line: &[u8]) -> Option<Self> {
            let name_end = line.iter().rposition(|byte| *byte == b')')?;
            let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
            let fields: Vec<&str> = rest.split_ascii_whitespace().take(20).collect();
            let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
            // A process whose first thread ended is shown as a zombie while its other threads run.
            let dead = matches!(*fields.first()?, "Z" | "X" | "x") && number(17)? <= 1;
            Some(Self {
                pid,
                parent: i32::try_from(number(1)?).ok()?,
                group: i32::try_from(number(2)?).ok()?,
                session: i32::try_from(number(3)?).ok()?,
                lives: !dead,
                started: number(19)?,
            })
        }
    }
}
