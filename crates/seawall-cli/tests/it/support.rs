//! Running the binary and reading what it says.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use seawall_testkit::{CallRule, Script, Serve};
use serde_json::{Map, Value, json};

/// The binary, knowing nothing of the machine's own configuration.
pub(crate) fn seawall(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seawall"));
    command
        .args(args)
        .env_remove("SEAWALL_MCP_CONFIG")
        .env_remove("COLUMNS")
        .env_remove("CLICOLOR_FORCE")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("HOME", "/nonexistent")
        .env(
            "XDG_STATE_HOME",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/state"),
        )
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

/// A configuration file, gone with its last use.
pub(crate) struct Config(tempfile::TempDir);

impl Config {
    pub(crate) fn text(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("seawall.json"), text).expect("the file is written");
        Self(folder)
    }

    /// Entries by their ids, in the `mcpServers` shape.
    pub(crate) fn of(entries: &[(&str, Value)]) -> Self {
        let servers: Map<String, Value> = entries
            .iter()
            .map(|(id, entry)| ((*id).to_owned(), entry.clone()))
            .collect();
        Self::text(&json!({ "mcpServers": servers }).to_string())
    }

    /// One scripted server with the id `s`.
    pub(crate) fn scripted(script: &Script) -> Self {
        Self::of(&[("s", script.server().entry())])
    }

    /// One scripted server whose entry says more than how it is started.
    pub(crate) fn scripted_with(script: &Script, more: &Value) -> Self {
        let mut entry = script.server().entry();
        for (key, value) in more.as_object().expect("an object") {
            entry[key] = value.clone();
        }
        Self::of(&[("s", entry)])
    }

    pub(crate) fn path(&self) -> String {
        let path = self.0.path().join("seawall.json");
        path.to_str().expect("a UTF-8 path").to_owned()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    /// The binary with this configuration.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = seawall(args);
        command
            .args(["--mcp-config", &self.path()])
            .env("XDG_STATE_HOME", self.state());
        command
    }

    /// The folder for the states of programs.
    pub(crate) fn state(&self) -> String {
        let state = self.0.path().join("state");
        state.to_str().expect("a UTF-8 path").to_owned()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().expect("the binary runs").into()
    }
}

impl Ran {
    /// stdout as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts the exit status, showing everything if it is another.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self:?}");
        self
    }
}

/// The result of a scripted tool, as its server answers every call.
pub(crate) fn answering(result: &str) -> Script {
    Script::new().serve(
        Serve::new()
            .tools(["t"])
            .calls(CallRule::Result(result.to_owned())),
    )
}
