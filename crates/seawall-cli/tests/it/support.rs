//! Running the binary and reading what it says.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// The binary, knowing nothing of the machine's own configuration.
pub(crate) fn seawall(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seawall"));
    command
        .args(args)
        .env_remove("SEAWALL_MCP_CONFIG")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null());
    command
}

/// What one run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

pub(crate) fn run(args: &[&str]) -> Ran {
    seawall(args).output().expect("the binary runs").into()
}

/// Runs the binary with `input` on its stdin.
pub(crate) fn run_with_input(args: &[&str], input: &[u8]) -> Ran {
    let mut child = seawall(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that ends before it read everything closes its stdin.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    output.into()
}
