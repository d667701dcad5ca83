//! Child processes on Unix: groups, signals, reaping.

mod before_exec;
#[cfg(target_os = "linux")]
mod census;
#[cfg(target_os = "linux")]
mod cgroup;
mod leader;
mod lookup;
#[cfg(target_os = "linux")]
mod mark;
mod others;
mod tree;
mod watchdog;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use tokio::net::unix::pipe;
use tokio::runtime::Handle;

use self::leader::Leader;
use self::others::Others;
pub(crate) use self::tree::ProcessTree;
use self::watchdog::Registration;
use super::{Launch, SpawnError, StdioChild};

/// The near end of the child's stdin; it can also be written to without waiting.
pub(crate) type Stdin = pipe::Sender;
/// The near end of the child's stdout.
pub(crate) type Stdout = pipe::Receiver;
/// The near end of the child's stderr.
pub(crate) type Stderr = pipe::Receiver;

/// How much the pipes of stdin and stdout hold, where that can be chosen: fewer task switches for large frames.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 256 * 1024;

/// Starts a child in its own process group. Needs a tokio runtime with I/O enabled; blocks for the moment that a fork and
/// an exec take.
///
/// # Errors
/// [`SpawnError`] says what is missing. Nothing is left behind then.
pub(crate) fn spawn(launch: &Launch, server: &str) -> Result<StdioChild, SpawnError> {
    if Handle::try_current().is_err() {
        return Err(SpawnError::NoRuntime);
    }
    tree::sweep();
    let program = lookup::find(launch)?;
    let mut registration = Registration::new();
    let others = Others::new(registration.token());
    let mut command = Command::new(program);
    command
        .arg0(&launch.command)
        .args(&launch.args)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    #[cfg(target_os = "linux")]
    command.env(
        mark::VARIABLE,
        mark::Mark::new(registration.token()).value(std::env::var_os(mark::VARIABLE).as_deref()),
    );
    // First, so that nobody is ever known who is not in it.
    others.enter_before_exec(&mut command);
    registration.announce_before_exec(&mut command);
    let mut child = command
        .spawn()
        .map_err(|error| lookup::explain(launch, error))?;
    registration.confirm(child.id());
    #[cfg(target_os = "linux")]
    if let Some(seen) = census::Process::read(child.id().cast_signed()) {
        // It may leave its own group, and is then ended by its number, which has to be certain.
        registration.add(std::iter::once((child.id(), seen.started)));
    }

    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // From here on the tree's drop ends the child.
    let tree = ProcessTree::new(server, Leader::new(child, others, registration));
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
    };
    Ok(StdioChild {
        stdin: pipe::Sender::from_owned_fd(widened(stdin.into()))?,
        stdout: pipe::Receiver::from_owned_fd(widened(stdout.into()))?,
        stderr: pipe::Receiver::from_owned_fd(stderr.into())?,
        tree,
    })
}

/// The same pipe with room for more, if the system lets us.
fn widened(pipe: OwnedFd) -> OwnedFd {
    #[cfg(target_os = "linux")]
    if rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_BYTES).is_err() {
        // The user's budget for pipes is spent. The pipe works as it is.
    }
    pipe
}

#[cfg(test)]
mod tests;
