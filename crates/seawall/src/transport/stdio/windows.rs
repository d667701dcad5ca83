//! Child processes on Windows. Asking a console program to end has no counterpart to SIGTERM: after its grace a child is
//! killed, with whoever it started, by `taskkill`.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use seawall_proto::connection::ExitReason;
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::{KILL_NOW_WAIT, KILL_WAIT, Launch, NotReaped, SpawnError, StdioChild};

/// The near end of the child's stdin.
pub(crate) type Stdin = tokio::process::ChildStdin;
/// The near end of the child's stdout.
pub(crate) type Stdout = tokio::process::ChildStdout;
/// The near end of the child's stderr.
pub(crate) type Stderr = tokio::process::ChildStderr;

/// The pause between two looks at whether a child exited.
const PAUSE: Duration = Duration::from_millis(10);

/// What is tried after a name, if the child gets no `PATHEXT`.
const DEFAULT_EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// Starts a child. Needs a tokio runtime with I/O enabled.
///
/// # Errors
/// [`SpawnError`] says what is missing. Nothing is left behind then.
pub(crate) fn spawn(launch: &Launch, server: &str) -> Result<StdioChild, SpawnError> {
    if Handle::try_current().is_err() {
        return Err(SpawnError::NoRuntime);
    }
    let mut command = Command::new(find(launch)?);
    command
        .args(&launch.args)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    let mut child = command.spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let tree = ProcessTree(Arc::new(Tree {
        server: server.into(),
        pid: child.id(),
        child: Mutex::new(child),
    }));
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
    };
    Ok(StdioChild {
        stdin: Stdin::from_std(stdin)?,
        stdout: Stdout::from_std(stdout)?,
        stderr: Stderr::from_std(stderr)?,
        tree,
    })
}

/// The file that a command means: `npx` is `npx.cmd`.
fn find(launch: &Launch) -> Result<PathBuf, SpawnError> {
    if launch.cwd.as_deref().is_some_and(|cwd| !cwd.is_dir()) {
        return Err(SpawnError::WorkingDirectory);
    }
    let base = launch.cwd.as_deref().unwrap_or(Path::new(""));
    let command = Path::new(&launch.command);
    let empty = OsString::new();
    let folders: Vec<PathBuf> = if command.components().count() > 1 || command.is_absolute() {
        vec![PathBuf::new()]
    } else {
        std::env::split_paths(launch.variable("PATH").unwrap_or(&empty)).collect()
    };
    let extensions = launch
        .variable("PATHEXT")
        .and_then(|value| value.to_str())
        .unwrap_or(DEFAULT_EXTENSIONS);
    let own = command.extension().is_some().then_some("");
    for folder in &folders {
        for extension in own.into_iter().chain(
            extensions
                .split(';')
                .filter(|extension| !extension.is_empty()),
        ) {
            let mut name = folder.join(command).into_os_string();
            name.push(OsStr::new(extension));
            let file = base.join(name);
            if file.is_file() {
                return Ok(file);
            }
        }
    }
    let is_directory = folders
        .iter()
        .any(|folder| base.join(folder).join(command).is_dir());
    Err(if is_directory {
        SpawnError::IsDirectory
    } else {
        SpawnError::NotFound
    })
}

/// A child and whoever it started. Clones are handles to the same child.
///
/// # Drop behavior
/// Dropping the last handle does what [`kill_now`](Self::kill_now) does.
#[derive(Clone)]
pub(crate) struct ProcessTree(Arc<Tree>);

impl ProcessTree {
    /// The child's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.0.pid
    }

    /// Waits until the child's exit is seen. Cancel safe.
    pub(crate) async fn exited(&self) -> ExitReason {
        loop {
            if let Some(exit) = self.0.exit() {
                return exit;
            }
            sleep(PAUSE).await;
        }
    }

    /// Gives the child `grace` to exit by itself, kills the tree, and waits at most 2 s more. Cancel safe.
    ///
    /// # Errors
    /// [`NotReaped`]: the child is still there. It can be tried again.
    pub(crate) async fn end(&self, grace: Duration) -> Result<ExitReason, NotReaped> {
        if let Ok(exit) = tokio::time::timeout(grace, self.exited()).await {
            return Ok(exit);
        }
        self.0.kill();
        tokio::time::timeout(KILL_WAIT, self.exited())
            .await
            .map_err(|_| NotReaped::Leader {
                pid: self.0.pid,
                server: Arc::clone(&self.0.server),
            })
    }

    /// Nothing is looked up beforehand here.
    pub(crate) fn look(&self) {}

    /// Kills the tree at once, and waits at most 100 ms for the child's exit.
    pub(crate) fn kill_now(&self) {
        self.0.kill_now();
    }
}

impl fmt::Debug for ProcessTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessTree")
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

struct Tree {
    server: Arc<str>,
    pid: u32,
    child: Mutex<Child>,
}

impl Tree {
    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn exit(&self) -> Option<ExitReason> {
        match self.child().try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.code().map_or(ExitReason::Unknown, ExitReason::Code)),
            Err(_) => Some(ExitReason::Unknown),
        }
    }

    fn kill(&self) {
        if self.exit().is_some() {
            return;
        }
        // The child's handle is open, so its number is its own.
        let taskkill = std::env::var_os("SYSTEMROOT").map_or_else(
            || PathBuf::from("taskkill.exe"),
            |root| PathBuf::from(root).join("System32\\taskkill.exe"),
        );
        let ended = Command::new(taskkill)
            .args(["/T", "/F", "/PID", &self.pid.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !ended.is_ok_and(|status| status.success()) {
            // At least the child itself; whether it went shows in its exit.
            self.child().kill().ok();
        }
    }

    fn kill_now(&self) {
        self.kill();
        let until = Instant::now() + KILL_NOW_WAIT;
        while self.exit().is_none() && Instant::now() < until {
            pause_thread(PAUSE);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill_now();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the synchronous kill has no runtime to wait with; bounded by KILL_NOW_WAIT"
)]
fn pause_thread(pause: Duration) {
    std::thread::sleep(pause);
}
