//! Clients that others wrote, through `seawall serve`, over stdio and HTTP, in front of a server of either era: each lists, calls,
//! and sees what the server gave.

mod inspector;
mod story;

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use seawall_testkit::server_path;
use serde_json::{Value, json};

use crate::serve::Served;
use crate::support::Config;

/// How long one client may take for all that it does, on a busy machine.
const LONG: Duration = Duration::from_secs(120);

/// The eras of a server behind the gateway.
const ERAS: [&str; 2] = ["legacy", "modern"];

/// The installed clients.
fn clients() -> Vec<Value> {
    let cache =
        std::env::var_os("SEAWALL_PEERS").expect("SEAWALL_PEERS: `cargo xtask test` sets it");
    let list = PathBuf::from(cache).join("clients.json");
    let text = std::fs::read_to_string(&list)
        .unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    serde_json::from_str(&text).expect("the list is JSON")
}

/// The server with everything, spoken to in one era.
fn config(era: &str) -> Config {
    let name = format!("everything-server{}", std::env::consts::EXE_SUFFIX);
    let path = server_path().with_file_name(name);
    Config::of(&[("e", json!({"command": path, "protocol": era}))])
}

/// How a client gets to the gateway.
enum Way {
    Stdio,
    Http(Served),
}

impl Way {
    fn both(config: &Config) -> [Self; 2] {
        let plain = ["serve", "--names", "plain", "--http", "127.0.0.1:0"];
        [
            Self::Stdio,
            Self::Http(Served::spawn(config.command(&plain))),
        ]
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http(_) => "http",
        }
    }
}

/// The command line of a gateway that a client starts.
fn gateway(config: &Config) -> [String; 6] {
    [
        env!("CARGO_BIN_EXE_seawall"),
        "serve",
        "--names",
        "plain",
        "--mcp-config",
        &config.path(),
    ]
    .map(str::to_owned)
}

fn command(client: &Value) -> Command {
    let mut command = Command::new(client["command"].as_str().expect("a command"));
    let args = client["args"].as_array().expect("arguments");
    command
        .args(args.iter().map(|arg| arg.as_str().expect("text")))
        .env_remove("SEAWALL_MCP_CONFIG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Waits for the end of a program, and ends it if that is too long.
fn ended(mut command: Command) -> Output {
    let mut child = command.spawn().expect("the client runs");
    let stdout = bytes_of(child.stdout.take().expect("piped"));
    let stderr = bytes_of(child.stderr.take().expect("piped"));
    let stdout = stdout.recv_timeout(LONG);
    if stdout.is_err() {
        child.kill().ok();
    }
    let status = child.wait().expect("it ends");
    let stderr = stderr.recv_timeout(LONG).unwrap_or_default();
    Output {
        status,
        stdout: stdout.unwrap_or_default(),
        stderr,
    }
}

/// All that comes out of a pipe, once it has ended.
fn bytes_of(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (tell, told) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until then is shown; nobody may wait any more.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = tell.send(bytes);
    });
    told
}
