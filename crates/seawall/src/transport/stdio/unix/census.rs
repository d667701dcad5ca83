//! The process table, read once for all who look at the same moment.
//!
//! A host that ends a hundred servers asks a hundred times who is left of each. One reading answers all who asked before it
//! began, so that the work does not grow with servers times processes.

use std::collections::VecDeque;
use std::fs;
use std::io::Read as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::mark;

/// Two, so that whoever looks twice finds both readings that others caused.
const KEPT: usize = 2;

static READ: Mutex<VecDeque<Arc<Census>>> = Mutex::new(VecDeque::new());

/// One reading of the process table.
#[derive(Debug)]
pub(super) struct Census {
    began: Instant,
    ended: Instant,
    pub(super) processes: Vec<Process>,
}

/// One line of the process table.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) lives: bool,
    /// In clock ticks since the boot; with `pid` it names one process for ever.
    pub(super) started: u64,
    /// The launches whose marks are in its environment, once somebody asked.
    launches: OnceLock<Vec<u64>>,
}

impl Census {
    /// The first reading that began no sooner than `asked`, made now if there is none; `None` if the table is not to be
    /// had, or is one of another namespace: its numbers are others' here.
    pub(super) fn since(asked: Instant) -> Option<Arc<Self>> {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(census) = read.iter().find(|census| census.began >= asked) {
            return Some(Arc::clone(census));
        }
        let census = Arc::new(Self::read()?);
        if read.len() == KEPT {
            read.pop_front();
        }
        read.push_back(Arc::clone(&census));
        Some(census)
    }

    /// When everybody in it was seen.
    pub(super) fn ended(&self) -> Instant {
        self.ended
    }

    fn read() -> Option<Self> {
        let began = Instant::now();
        let myself = fs::read_link("/proc/self").ok()?;
        if myself.as_os_str() != std::process::id().to_string().as_str() {
            return None;
        }
        let processes = fs::read_dir("/proc")
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Process::read)
            .collect();
        Some(Self {
            began,
            ended: Instant::now(),
            processes,
        })
    }
}

impl Process {
    /// The process of that number, now.
    pub(super) fn read(pid: i32) -> Option<Self> {
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
            launches: OnceLock::new(),
        })
    }

    /// Whether it carries the mark of this host's launch of that number. `false` as well where the system does not show us
    /// its environment.
    pub(super) fn is_of(&self, launch: u64) -> bool {
        let launches = self.launches.get_or_init(|| mark::launches_of(self.pid));
        launches.contains(&launch)
    }
}

#[cfg(test)]
mod tests;
