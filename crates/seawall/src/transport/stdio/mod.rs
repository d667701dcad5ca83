//! A server as a child process: its start, its pipes, its end (T1).
//!
//! [`spawn`] starts the child in a process group of its own and hands out its pipes, non-blocking, with a
//! [`ProcessTree`], which sees the child's exit and ends the whole tree. Nothing here reads or writes the pipes.
//!
//! **Invariant:** the group's leader is reaped last. While it is unreaped its number, which is also the group's, cannot
//! be given to anybody else, so a signal never reaches a stranger.
//!
//! **Invariant:** nothing claims an exit that was not seen. What cannot be ended is [`NotReaped`], and the end can be
//! tried again.
//!
//! **Invariant:** no process outlives its handles. Dropping the last handle kills the group, with or without a runtime;
//! a watchdog shell kills it if the host dies without dropping anything.
//!
//! # Who left the group
//! On Linux a descendant that left the group (`setsid`), and its parents too (a double fork), is found by the launch's
//! mark: a variable, `SEAWALL_LAUNCH`, with digits that no other launch has, which it inherits through every fork and
//! exec, and which `/proc/PID/environ` shows. The watchdog finds it in the same way. What was tried beside it:
//! - To look for living parents alone, which misses a double fork that was over before anybody looked. It is done all the
//!   same: it finds who cleared the environment and kept a parent. So are the groups and sessions that a found one leads.
//! - `PR_SET_CHILD_SUBREAPER`, which makes orphans our children whatever their environment. It is a state of the whole
//!   process: it takes the orphans of everything else that an embedding program started, leaves their zombies to it,
//!   does not tell whose orphan one is, and ends with a host that is killed: all orphans went to init then.
//!
//! Where the host's control group is its to divide (Linux 5.14; one that systemd delegated, `Delegate=yes`, or where no systemd
//! runs and the tree is writable, as for root in many containers), each launch has one of its own too. Whoever is in it is
//! known and ended whatever it did to its environment and its parents, and however fast it forks.
//!
//! A found one is known by its number and its start, is held by a descriptor while these are compared, and is signalled
//! through that, so that a signal never reaches whoever has the number later. What a server starts for others to use (an
//! agent, a terminal multiplexer, a build daemon) goes with it.
//!
//! # What gets away
//! - With a control group: who moves itself into another, or makes its own one of threads alone (`cgroup.type`), which a process
//!   of the same user may where the tree is writable to it, or has another of the user's services start what stays.
//! - On Linux without one, one that has none of all that by the time of the first look (the handshake's end, and then the end): it
//!   cleared its environment or wrote over it (`env -i`; programs that set a long process title), and its parents are gone,
//!   and it is in nobody's group or session. The same goes for one whose environment is not shown to us: of another user
//!   (`setuid`), or not dumpable (`PR_SET_DUMPABLE`; agents that hold keys do that). It cannot be told from a stranger, so
//!   it is not reported either; once seen, it is ended, or reported if it cannot be.
//! - On Linux without one, one that forks and exits without end, each time into a session of its own: it can be another process at each
//!   reading of the table, and is then neither ended nor reported.
//! - A process that the server makes the host's child (`CLONE_PARENT`), and that is in a session of its own and exits before any
//!   look: it stays a zombie until the host ends, since nobody knows whose it was.
//! - On other systems, every descendant outside the group.
//! - Without `/proc`, or with that of another pid namespace (a sandbox that binds the outer one), every descendant outside
//!   the group; and whoever is left of the group after its leader exited is killed without being asked first.
//! - Without `/bin/sh` there is no watchdog: a host ended by SIGKILL leaves its children to notice the end of their stdin.
//!   Without `grep` it does not find the mark, and without `find` empty control groups stay in which a server made others.
//! - On Windows the tree is ended by `taskkill /T`, which follows living parents only, and a host that is killed leaves
//!   its children to notice the end of their stdin.

mod environment;
mod error;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use environment::child_environment;
pub(crate) use error::{NotReaped, SpawnError};
#[cfg(unix)]
pub(crate) use unix::{ProcessTree, Stderr, Stdin, Stdout, spawn};
#[cfg(windows)]
pub(crate) use windows::{ProcessTree, Stderr, Stdin, Stdout, spawn};

/// How long a child whose stdin was closed has to exit by itself.
pub(crate) const GRACE: Duration = Duration::from_millis(500);

/// How long the tree has between SIGTERM and SIGKILL.
const TERMINATE_WAIT: Duration = Duration::from_secs(2);

/// How long the tree's exit is waited for after SIGKILL.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// How long a synchronous kill waits for the exit, at most.
const KILL_NOW_WAIT: Duration = Duration::from_millis(100);

/// What to start, and with which surroundings.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The program. A bare name is looked up in the `PATH` of `env`; a relative path is relative to `cwd`.
    pub(crate) command: OsString,
    /// Its arguments.
    pub(crate) args: Vec<OsString>,
    /// Its working directory. `None`: the host's own.
    pub(crate) cwd: Option<PathBuf>,
    /// Its whole environment.
    pub(crate) env: Vec<(OsString, OsString)>,
}

impl Launch {
    /// The launch of a configured server, with the child's environment made from the host's (S13).
    pub(crate) fn new(
        config: &crate::config::StdioConfig,
        host: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            command: config.command.clone().into(),
            args: config.args.iter().map(OsString::from).collect(),
            cwd: config.cwd.clone(),
            env: child_environment(config, host),
        }
    }

    /// The value that the child gets for a variable.
    fn variable(&self, name: &str) -> Option<&OsString> {
        self.env
            .iter()
            .rev()
            .find(|(key, _)| environment::same_name(key, name))
            .map(|(_, value)| value)
    }
}

/// Hides the arguments and the environment, which may hold credentials.
impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

/// A child that runs, and the near ends of its pipes.
#[derive(Debug)]
pub(crate) struct StdioChild {
    /// Closed by dropping it, which asks the child to exit.
    pub(crate) stdin: Stdin,
    pub(crate) stdout: Stdout,
    pub(crate) stderr: Stderr,
    pub(crate) tree: ProcessTree,
}

#[cfg(test)]
mod tests;
