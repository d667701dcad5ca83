//! `seawall serve`: the tools of all servers, to clients of every revision.

mod asking;
mod browser;
mod calling;
mod clients;
mod ending;
mod http;
mod journal;
mod listing;
mod offers;
#[cfg(unix)]
mod sockets;
#[cfg(feature = "otel")]
mod tracing;
mod watching;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use seawall::config::Protocol;
use seawall::{Client, ServerConfig};
use seawall_testkit::server_path;
use serde_json::{Value, json};

use crate::support::Config;

/// Far longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

/// The ways to the gateway: a transport, and an era.
const WAYS: [(bool, Protocol); 4] = [
    (false, Protocol::Legacy),
    (false, Protocol::Modern),
    (true, Protocol::Legacy),
    (true, Protocol::Modern),
];

/// The entry of the server with everything.
fn everything() -> Value {
    let scripted = server_path();
    let name = format!("everything-server{}", std::env::consts::EXE_SUFFIX);
    let path: PathBuf = scripted.with_file_name(name);
    json!({"command": path, "protocol": "auto"})
}

/// `serve --http`, ended with its value.
pub(crate) struct Served {
    child: Child,
    url: String,
    told: Receiver<String>,
}

impl Served {
    fn start(config: &Config) -> Self {
        Self::spawn(config.command(&["serve", "--http", "127.0.0.1:0"]))
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let (tell, told) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Nobody may listen any more.
                let _ = tell.send(line);
            }
        });
        let url = loop {
            let line = told.recv_timeout(LONG).expect("it tells its URL");
            if let Some(url) = line.strip_prefix("serving at ") {
                break url.to_owned();
            }
        };
        Self { child, url, told }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    fn address(&self) -> &str {
        let rest = self.url.strip_prefix("http://").expect("a URL");
        rest.strip_suffix("/mcp").expect("a path")
    }

    async fn client(&self, protocol: Protocol) -> Client {
        let config = ServerConfig::url("gate", &self.url).protocol(protocol);
        Client::connect(config.build().expect("a valid entry"))
            .await
            .expect("connects")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A client that came by one of the ways; what it came to is kept with it.
async fn client(config: &Config, way: (bool, Protocol)) -> (Client, Option<Served>) {
    let (over_http, protocol) = way;
    if over_http {
        let served = Served::start(config);
        return (served.client(protocol).await, Some(served));
    }
    let entry = ServerConfig::stdio("gate", env!("CARGO_BIN_EXE_seawall"))
        .args(["serve", "--mcp-config", &config.path()])
        .env("XDG_STATE_HOME", config.state())
        .protocol(protocol);
    let client = Client::connect(entry.build().expect("a valid entry")).await;
    (client.expect("connects"), None)
}

/// A client that writes lines, of the session's revision, and sees every byte that comes back.
struct Raw {
    child: Child,
    stdin: Option<ChildStdin>,
    /// `None` where somebody else reads.
    lines: Option<std::io::Lines<BufReader<ChildStdout>>>,
    /// What came that was no answer.
    told: Vec<Value>,
    next: u64,
    /// What every request says of itself: on 2026-07-28.
    meta: Option<Value>,
}

impl Raw {
    /// Shakes hands.
    fn start(config: &Config, more: &[&str]) -> Self {
        let mut args = vec!["serve"];
        args.extend(more);
        Self::spawn(config.command(&args))
    }

    /// A client with these capabilities: of 2025-11-25, or of 2026-07-28.
    fn with(config: &Config, modern: bool, capabilities: &Value) -> Self {
        let mut raw = Self::piped(config.command(&["serve"]));
        if modern {
            raw.meta = Some(json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            }));
            // It has read its configuration, which may go after this.
            raw.ask("server/discover", &json!({}));
        } else {
            raw.shake_hands(capabilities);
        }
        raw
    }

    fn spawn(command: Command) -> Self {
        let mut raw = Self::piped(command);
        raw.shake_hands(&json!({}));
        raw
    }

    fn piped(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let stdout = child.stdout.take().expect("stdout is piped");
        Self {
            stdin: child.stdin.take(),
            lines: Some(BufReader::new(stdout).lines()),
            child,
            told: Vec::new(),
            next: 1,
            meta: None,
        }
    }

    fn shake_hands(&mut self, capabilities: &Value) {
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "raw", "version": "1"},
        });
        let answer = self.ask("initialize", &hello);
        let offered = &answer["result"]["capabilities"];
        assert_eq!(offered["tools"], json!({"listChanged": true}));
        self.tell("notifications/initialized", &json!({}));
    }

    fn write(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("it is open");
        writeln!(stdin, "{message}").expect("it is read");
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request; its id.
    fn send(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let mut params = params.clone();
        for (key, value) in self.meta.iter().flat_map(|meta| meta.as_object()).flatten() {
            params["_meta"][key] = value.clone();
        }
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn read(&mut self) -> Value {
        let lines = self.lines.as_mut().expect("nobody else reads");
        let line = lines.next().expect("not the end").expect("readable");
        let message: Value = serde_json::from_str(&line).expect("nothing but protocol");
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// The next message of this method.
    fn hear(&mut self, method: &str) -> Value {
        loop {
            let message = self.read();
            if message["method"] == method {
                return message;
            }
            self.told.push(message);
        }
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn names(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().expect("a list");
        let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
        tools.iter().map(name).collect()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
