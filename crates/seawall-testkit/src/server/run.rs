//! Follows a script.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::process::Signal;

use super::wire::{append, flood, talk};
use super::{End, Incoming, Wire, emit, hang, serve};
use crate::{Grandchild, Script, Step, Stream, pause, wait_for_pid};

/// How long a server waits for its grandchild to be ready.
const FORK_DEADLINE: Duration = Duration::from_secs(20);

/// One server in the middle of its script.
pub(crate) struct Runner {
    script: Script,
    state: State,
}

struct State {
    wire: Wire,
    /// Raw id texts: the latest under the empty name.
    ids: BTreeMap<String, String>,
}

impl Runner {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            script,
            state: State {
                wire: Wire::new(),
                ids: BTreeMap::new(),
            },
        }
    }

    /// Takes every step, then reads to the end of input.
    pub(crate) fn run(mut self) -> Result<(), End> {
        for step in &self.script.steps {
            self.state.take(step)?;
        }
        while self.state.wire.line()?.is_some() {}
        Ok(())
    }
}

impl State {
    fn take(&mut self, step: &Step) -> Result<(), End> {
        match step {
            Step::Expect { method, name } => self.expect(method, name.as_deref())?,
            Step::ExpectAny => {
                let line = self.line("any line")?;
                self.remember(&line, None);
            }
            Step::ExpectCancel { path } => self.expect_cancel(path)?,
            Step::Reply {
                member,
                payload,
                to,
                id,
            } => {
                let id = match id {
                    Some(id) => id,
                    None => self
                        .ids
                        .get(to.as_deref().unwrap_or_default())
                        .ok_or_else(|| End::Unexpected("no such request to reply to".to_owned()))?,
                };
                emit(
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":{payload}}}\n")
                        .as_bytes(),
                )?;
            }
            Step::Write { bytes } => emit(bytes.as_bytes())?,
            Step::WritePieces {
                bytes,
                size,
                pause_ms,
            } => {
                for piece in bytes.as_bytes().chunks((*size).max(1)) {
                    emit(piece)?;
                    pause(Duration::from_millis(*pause_ms));
                }
            }
            Step::Flood { bytes, copies } => flood(bytes.as_bytes(), *copies, emit)?,
            Step::Stderr { bytes, copies } => flood(bytes.as_bytes(), *copies, talk)?,
            Step::Sleep { ms } => pause(Duration::from_millis(*ms)),
            Step::Close { stream } => close(*stream)?,
            Step::Exit { code } => return Err(End::Exit(*code)),
            Step::Die { signal } => die(signal)?,
            Step::Hang => hang(),
            Step::IgnoreSigterm => ignore_sigterm()?,
            Step::Fork(grandchild) => fork(grandchild)?,
            Step::WritePid { path } => write_pid(path)?,
            Step::Record { path } => self.wire.record(path)?,
            Step::Serve(rules) => serve::serve(&mut self.wire, rules)?,
        }
        Ok(())
    }

    fn line(&mut self, wanted: &str) -> Result<Vec<u8>, End> {
        self.wire
            .line()?
            .ok_or_else(|| End::Unexpected(format!("expected {wanted}, got the end of input")))
    }

    fn expect(&mut self, method: &str, name: Option<&str>) -> Result<(), End> {
        let line = self.line(method)?;
        let got = self.remember(&line, name).unwrap_or_default();
        if got == method {
            return Ok(());
        }
        let line = String::from_utf8_lossy(&line);
        Err(End::Unexpected(format!(
            "expected {method}, got {}",
            line.trim_end()
        )))
    }

    fn expect_cancel(&mut self, path: &Path) -> Result<(), End> {
        loop {
            let line = self.line("notifications/cancelled")?;
            if self.remember(&line, None).as_deref() == Some("notifications/cancelled") {
                append(path)?.write_all(&line)?;
                return Ok(());
            }
        }
    }

    /// Keeps the line's id, if it has one, and gives its method.
    fn remember(&mut self, line: &[u8], name: Option<&str>) -> Option<String> {
        let incoming: Incoming<'_> = serde_json::from_slice(line).ok()?;
        if let Some(id) = incoming.id {
            self.ids.insert(String::new(), id.get().to_owned());
            if let Some(name) = name {
                self.ids.insert(name.to_owned(), id.get().to_owned());
            }
        }
        incoming.method.map(std::borrow::Cow::into_owned)
    }
}

/// The whole life of a grandchild.
pub(crate) fn be_grandchild(grandchild: &Grandchild) -> Result<(), End> {
    if grandchild.own_session {
        rustix::process::setsid().map_err(std::io::Error::from)?;
    }
    if grandchild.ignores_sigterm {
        ignore_sigterm()?;
    }
    write_pid(&grandchild.pid_file)?;
    hang()
}

/// The whole life of a grandchild's parent, if that is not the server.
pub(crate) fn be_parent(grandchild: &str) -> Result<(), End> {
    Command::new(std::env::current_exe()?)
        .args(["grandchild", grandchild])
        .spawn()?;
    Ok(())
}

fn fork(grandchild: &Grandchild) -> Result<(), End> {
    let text = serde_json::to_string(grandchild).map_err(std::io::Error::from)?;
    let role = if grandchild.orphaned {
        "parent"
    } else {
        "grandchild"
    };
    let mut command = Command::new(std::env::current_exe()?);
    command.args([role, &text]);
    if !grandchild.holds_pipes {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
    }
    let mut child = command.spawn()?;
    if grandchild.orphaned {
        child.wait()?;
    }
    match wait_for_pid(&grandchild.pid_file, FORK_DEADLINE) {
        Some(_) => Ok(()),
        None => Err(End::Unexpected("the grandchild is not ready".to_owned())),
    }
}

/// The file appears whole: a reader never sees half a number.
fn write_pid(path: &Path) -> std::io::Result<()> {
    let draft = path.with_extension("draft");
    std::fs::write(&draft, std::process::id().to_string())?;
    std::fs::rename(&draft, path)
}

/// A stream is closed by putting the null device in its place: the host sees the end of its pipe.
fn close(stream: Stream) -> std::io::Result<()> {
    let null = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    match stream {
        Stream::Stdin => rustix::stdio::dup2_stdin(null)?,
        Stream::Stdout => rustix::stdio::dup2_stdout(null)?,
        Stream::Stderr => rustix::stdio::dup2_stderr(null)?,
    }
    Ok(())
}

/// A handler that only sets a flag nobody reads.
fn ignore_sigterm() -> std::io::Result<()> {
    signal_hook::flag::register(
        signal_hook::consts::SIGTERM,
        Arc::new(AtomicBool::new(false)),
    )?;
    Ok(())
}

fn die(name: &str) -> Result<(), End> {
    let signal = match name {
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "QUIT" => Signal::QUIT,
        "ILL" => Signal::ILL,
        "ABRT" => Signal::ABORT,
        "BUS" => Signal::BUS,
        "FPE" => Signal::FPE,
        "KILL" => Signal::KILL,
        "SEGV" => Signal::SEGV,
        "TERM" => Signal::TERM,
        other => return Err(End::Unexpected(format!("no signal {other}"))),
    };
    // The standard library's handler takes the first SIGSEGV and SIGBUS and restores the default, so once is not enough.
    loop {
        rustix::process::kill_process(rustix::process::getpid(), signal)
            .map_err(std::io::Error::from)?;
        pause(Duration::from_millis(1));
    }
}
