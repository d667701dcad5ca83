//! The scripted server does what its script says.
#![cfg(unix)]
#![expect(clippy::panic, reason = "helpers of tests")]

mod echo;
mod ends;
mod lines;
mod mcpl;
mod peer;
mod serving;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::time::Duration;

use seawall_testkit::{Server, wait_until};

const DEADLINE: Duration = Duration::from_secs(20);

/// A launched server; killed when dropped.
struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Peer {
    fn launch(server: &Server) -> Self {
        let mut child = server
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{error}"));
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap_or_else(|| panic!("stdout")));
        Self {
            child,
            stdin,
            stdout,
        }
    }

    fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap_or_else(|| panic!("stdin"));
        writeln!(stdin, "{line}").unwrap_or_else(|error| panic!("{error}"));
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout
            .read_line(&mut line)
            .unwrap_or_else(|error| panic!("{error}"));
        line
    }

    fn ask(&mut self, line: &str) -> String {
        self.send(line);
        self.line()
    }

    fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.stdout
            .read_to_end(&mut rest)
            .unwrap_or_else(|error| panic!("{error}"));
        rest
    }

    fn stderr(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr
                .read_to_string(&mut text)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        text
    }

    fn close_and_wait(&mut self) -> ExitStatus {
        self.stdin = None;
        self.wait()
    }

    fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        wait_until(DEADLINE, || {
            status = self
                .child
                .try_wait()
                .unwrap_or_else(|error| panic!("{error}"));
            status.is_some()
        });
        status.unwrap_or_else(|| panic!("still running"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn in_folder(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
