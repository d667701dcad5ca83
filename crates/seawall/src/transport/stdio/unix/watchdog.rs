//! One shell per host process that outlives the host by a moment and kills what it left behind (T1).
//!
//! It holds a list of process groups and reads a pipe that only the host has open for writing. When the host is gone, however
//! it went, the pipe ends, and the shell kills what is still on the list, on Linux with the descendants that left their
//! group. It is started with the first child and stays.
//!
//! **Invariant:** a group leaves the list before its leader is reaped, so that the list never holds a number that may be
//! somebody else's. Beside the list it knows one mark, which on Linux all that this host's servers start inherit: who
//! carries it was left behind, whoever started it.
//!
//! **Invariant:** writing never blocks, and never raises SIGPIPE: the host keeps the reading end open too.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use super::before_exec;

pub(super) const SCRIPT: &str = include_str!("watchdog.sh");

/// At most so many of one server's descendants that left its group are told to the watchdog.
const MAX_STRAYS: usize = 64;

/// A watchdog that died is not replaced more often than this, except by a new child.
const MEND_PAUSE: Duration = Duration::from_secs(1);

static WATCHDOG: Mutex<Watchdog> = Mutex::new(Watchdog {
    shell: None,
    groups: BTreeMap::new(),
    tokens: 0,
});

/// One group's place on the list. Dropping it takes the group off.
#[derive(Debug)]
pub(super) struct Registration {
    token: u64,
    /// The pipe that the child writes into; `None` if there is no watchdog.
    pipe: Option<Arc<Pipe>>,
}

impl Registration {
    /// A place for a child to be started. Starts the watchdog if none lives.
    pub(super) fn new() -> Self {
        let mut watchdog = lock();
        watchdog.tokens += 1;
        let token = watchdog.tokens;
        watchdog.ensure();
        Self {
            token,
            pipe: watchdog.pipe(),
        }
    }

    /// The launch's number, which no other launch of this process has.
    pub(super) fn token(&self) -> u64 {
        self.token
    }

    /// Has the child register itself.
    pub(super) fn announce_before_exec(&self, command: &mut Command) {
        if let Some(pipe) = &self.pipe {
            before_exec::announce(command, Arc::clone(pipe), self.token);
        }
    }

    /// The child started, with this number. From here on it is registered again with every new watchdog.
    pub(super) fn confirm(&mut self, group: u32) {
        let mut watchdog = lock();
        let registered = Group {
            number: group,
            strays: Vec::new(),
        };
        watchdog.groups.insert(self.token, registered);
        watchdog.ensure();
        let told = self.pipe.take();
        let same = match (&told, &watchdog.shell) {
            (Some(told), Some(shell)) => Arc::ptr_eq(told, &shell.pipe),
            _ => false,
        };
        if !same {
            watchdog.tell(&Line::registered(self.token, group));
        }
    }
}

impl Registration {
    /// Adds who left the group, or may: its leader too. They are found by their parents, who may be gone by the time the
    /// host is, or have left the group themselves.
    pub(super) fn add(&self, strays: impl Iterator<Item = (u32, u64)>) {
        let mut watchdog = lock();
        let Watchdog { shell, groups, .. } = &mut *watchdog;
        let (Some(group), Some(shell)) = (groups.get_mut(&self.token), shell) else {
            return;
        };
        for (pid, started) in strays.take(MAX_STRAYS) {
            if group.strays.len() < MAX_STRAYS && !group.strays.contains(&(pid, started)) {
                group.strays.push((pid, started));
                // A full pipe is no dead watchdog, and these lines are the least: what is not told is not worth a new one.
                shell.pipe.write(&Line::left(self.token, pid, started)).ok();
            }
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut watchdog = lock();
        watchdog.groups.remove(&self.token);
        if let Some(shell) = &mut watchdog.shell {
            // A drop starts no process: a watchdog that could not be told is replaced by the next child, or by `mend`.
            shell.outdated |= shell.pipe.write(&Line::forgotten(self.token)).is_err();
        }
    }
}

/// Replaces a watchdog that died, so that the groups that live stay guarded. One that died young is not replaced before
/// this much time has passed: then it is to be looked at again.
pub(super) fn mend() -> Option<Duration> {
    let mut watchdog = lock();
    let shell = watchdog.shell.as_mut()?;
    let early = MEND_PAUSE.saturating_sub(shell.started.elapsed());
    if early.is_zero() {
        watchdog.ensure();
        return None;
    }
    let died = !matches!(shell.child.try_wait(), Ok(None));
    died.then_some(early)
}

/// The pid of the watchdog that is there now.
#[cfg(test)]
pub(super) fn shell() -> Option<u32> {
    lock().shell.as_ref().map(|shell| shell.child.id())
}

struct Watchdog {
    shell: Option<Shell>,
    /// The groups that live, by token.
    groups: BTreeMap<u64, Group>,
    tokens: u64,
}

/// A group, and its leader and who left it, each by number and start.
struct Group {
    number: u32,
    strays: Vec<(u32, u64)>,
}

struct Shell {
    child: Child,
    pipe: Arc<Pipe>,
    started: Instant,
    /// Whether its list names a group that is gone.
    outdated: bool,
}

fn lock() -> MutexGuard<'static, Watchdog> {
    WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watchdog {
    fn pipe(&self) -> Option<Arc<Pipe>> {
        self.shell.as_ref().map(|shell| Arc::clone(&shell.pipe))
    }

    fn ensure(&mut self) {
        let lives = self
            .shell
            .as_mut()
            .is_some_and(|shell| !shell.outdated && matches!(shell.child.try_wait(), Ok(None)));
        if !lives {
            self.replace();
        }
    }

    fn tell(&mut self, line: &Line) {
        let Some(shell) = &self.shell else { return };
        if shell.pipe.write(line).is_err() {
            // It does not read any more. A new one learns the list as it is now.
            self.replace();
        }
    }

    fn replace(&mut self) {
        if let Some(mut old) = self.shell.take() {
            // Before its pipe closes: that would have it kill the groups that it knows.
            if let Err(error) = old.child.kill().and_then(|()| old.child.wait()) {
                tracing::warn!(%error, "a watchdog could not be ended");
            }
        }
        match Shell::start() {
            Ok(shell) => {
                let told = self.groups.iter().try_for_each(|(token, group)| {
                    shell.pipe.write(&Line::registered(*token, group.number))
                });
                // After every group, so that one server's strays never cost another its place.
                for (token, group) in &self.groups {
                    for (pid, started) in &group.strays {
                        shell.pipe.write(&Line::left(*token, *pid, *started)).ok();
                    }
                }
                if let Err(error) = told {
                    tracing::warn!(%error, "the watchdog does not know every child");
                }
                self.shell = Some(shell);
            }
            Err(error) => tracing::warn!(
                %error,
                "no watchdog: if this process is killed, its children end only once they notice that their stdin did"
            ),
        }
    }
}

impl Shell {
    fn start() -> io::Result<Self> {
        let pipe = Pipe::new()?;
        #[cfg(target_os = "linux")]
        let mark = super::mark::host();
        #[cfg(not(target_os = "linux"))]
        let mark = "";
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "seawall-watchdog", mark]);
        #[cfg(target_os = "linux")]
        if let Some((parent, prefix)) = super::cgroup::place() {
            command.arg(parent).arg(prefix);
        }
        let child = command
            // Nothing but where `grep` is: it must not carry the mark of a host that this one descends from.
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .current_dir("/")
            .stdin(pipe.reader.try_clone()?)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Not the terminal's: a Ctrl-C there is for the host.
            .process_group(0)
            .spawn()?;
        Ok(Self {
            child,
            pipe: Arc::new(pipe),
            started: Instant::now(),
            outdated: false,
        })
    }
}

/// The pipe to one watchdog, both ends close-on-exec.
#[derive(Debug)]
pub(super) struct Pipe {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Pipe {
    fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        fcntl_setfl(&writer, fcntl_getfl(&writer)? | OFlags::NONBLOCK)?;
        Ok(Self { reader, writer })
    }

    /// Writes a line whole or not at all (it is shorter than `PIPE_BUF`), without blocking or allocating.
    pub(super) fn write(&self, line: &Line) -> io::Result<()> {
        loop {
            match rustix::io::write(&self.writer, line.as_bytes()) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// One line to the watchdog, made without allocating.
pub(super) struct Line {
    bytes: [u8; Self::LONGEST],
    start: usize,
}

impl Line {
    /// A sign, the longest `u64` twice, the longest `u32`, three blanks and a newline.
    const LONGEST: usize = 1 + 20 + 10 + 20 + 4;

    /// `+ TOKEN GROUP`
    pub(super) fn registered(token: u64, group: u32) -> Self {
        let mut line = Self::empty();
        line.prepend_number(group.into());
        line.prepend(b' ');
        line.prepend_number(token);
        line.prepend(b' ');
        line.prepend(b'+');
        line
    }

    /// `= TOKEN PID START`
    fn left(token: u64, pid: u32, started: u64) -> Self {
        let mut line = Self::empty();
        line.prepend_number(started);
        line.prepend(b' ');
        line.prepend_number(pid.into());
        line.prepend(b' ');
        line.prepend_number(token);
        line.prepend(b' ');
        line.prepend(b'=');
        line
    }

    /// `- TOKEN`
    pub(super) fn forgotten(token: u64) -> Self {
        let mut line = Self::empty();
        line.prepend_number(token);
        line.prepend(b' ');
        line.prepend(b'-');
        line
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    fn empty() -> Self {
        Self {
            bytes: [b'\n'; Self::LONGEST],
            start: Self::LONGEST - 1,
        }
    }

    fn prepend_number(&mut self, mut number: u64) {
        loop {
            let digit = u8::try_from(number % 10).unwrap_or_default();
            self.prepend(b'0' + digit);
            number /= 10;
            if number == 0 {
                break;
            }
        }
    }

    fn prepend(&mut self, byte: u8) {
        self.start = self.start.saturating_sub(1);
        if let Some(place) = self.bytes.get_mut(self.start) {
            *place = byte;
        }
    }
}
