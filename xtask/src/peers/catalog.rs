//! Every peer: how it is started, and one harmless call of it.

use std::fmt;
use std::path::Path;

use serde_json::{Value, json};

use super::PeersError;
use super::install::Places;
use super::parts::{VENV_PYTHON, rmcp_program};

const NPM_LOCK: &str = "peers/npm/package-lock.json";
pub(super) const SERVERS_LOCK: &str = "peers/python/requirements-servers.txt";
pub(super) const FASTMCP_LOCK: &str = "peers/python/requirements-fastmcp.txt";
pub(super) const RMCP_LOCK: &str = "peers/rmcp-server/Cargo.lock";

/// Where a peer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Npm,
    PyPi,
    Rust,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::PyPi => "pypi",
            Self::Rust => "rust",
        }
    }
}

/// One server to test against.
#[derive(Debug)]
pub(crate) struct Peer {
    name: &'static str,
    /// The version of the package it is, or of the SDK it stands on.
    version: String,
    command: String,
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
    kind: Kind,
    /// A tool that it has, and arguments that it takes.
    call: (&'static str, Value),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} ({}): {}",
            self.name,
            self.version,
            self.kind.as_str(),
            self.command
        )?;
        self.args
            .iter()
            .try_for_each(|argument| write!(f, " {argument}"))
    }
}

/// The list as JSON: an array of `{name, version, kind, command, args, env, call: {tool, arguments}}`.
pub(super) fn json(peers: &[Peer]) -> String {
    let peers = peers.iter().map(|peer| {
        let env: serde_json::Map<_, _> = peer
            .env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str())))
            .collect();
        json!({
            "name": peer.name,
            "version": peer.version,
            "kind": peer.kind.as_str(),
            "command": peer.command,
            "args": peer.args,
            "env": env,
            "call": { "tool": peer.call.0, "arguments": peer.call.1 },
        })
    });
    format!("{:#}", Value::Array(peers.collect()))
}

/// Every peer, as installed.
pub(super) fn peers(root: &Path, cache: &Path, places: &Places) -> Result<Vec<Peer>, PeersError> {
    let files = text(&places.fixtures.join("files"));
    let repository = text(&places.fixtures.join("repository"));
    let memory = text(&cache.join("memory.jsonl"));
    let lock = |path: &'static str| {
        std::fs::read_to_string(root.join(path)).map_err(PeersError::file(&root.join(path)))
    };
    let (npm_lock, servers_lock, fastmcp_lock, rmcp_lock) = (
        lock(NPM_LOCK)?,
        lock(SERVERS_LOCK)?,
        lock(FASTMCP_LOCK)?,
        lock(RMCP_LOCK)?,
    );
    let npm = |name: &'static str, package: &'static str, more: &[&str], call| {
        let program = places
            .npm
            .join("node_modules")
            .join(package)
            .join("dist")
            .join("index.js");
        let version = npm_version(&npm_lock, package).ok_or(PeersError::NoVersion {
            path: NPM_LOCK,
            package,
        })?;
        Ok(Peer {
            name,
            version,
            command: "node".to_owned(),
            args: args(&text(&program), more),
            env: Vec::new(),
            kind: Kind::Npm,
            call,
        })
    };
    let python =
        |name: &'static str, package: &'static str, fastmcp: bool, arguments: &[&str], call| {
            let (place, lock, path) = if fastmcp {
                (&places.fastmcp, &fastmcp_lock, FASTMCP_LOCK)
            } else {
                (&places.servers, &servers_lock, SERVERS_LOCK)
            };
            let version =
                python_version(lock, package).ok_or(PeersError::NoVersion { path, package })?;
            let (command, args) = (
                text(&place.join(VENV_PYTHON)),
                arguments
                    .iter()
                    .map(|&argument| argument.to_owned())
                    .collect(),
            );
            Ok(Peer {
                name,
                version,
                command,
                args,
                env: Vec::new(),
                kind: Kind::PyPi,
                call,
            })
        };
    let script = |name: &str| text(&places.fixtures.join(name));
    let mut memory_server = npm(
        "server-memory",
        "@modelcontextprotocol/server-memory",
        &[],
        ("read_graph", json!({})),
    )?;
    memory_server.env.push(("MEMORY_FILE_PATH", memory));
    Ok(vec![
        npm(
            "server-everything",
            "@modelcontextprotocol/server-everything",
            &[],
            ("echo", json!({ "message": "hello" })),
        )?,
        npm(
            "server-filesystem",
            "@modelcontextprotocol/server-filesystem",
            &[&files],
            ("list_directory", json!({ "path": files })),
        )?,
        memory_server,
        npm(
            "server-sequential-thinking",
            "@modelcontextprotocol/server-sequential-thinking",
            &[],
            (
                "sequentialthinking",
                json!({ "thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 }),
            ),
        )?,
        python(
            "mcp-server-time",
            "mcp-server-time",
            false,
            &["-m", "mcp_server_time"],
            ("get_current_time", json!({ "timezone": "UTC" })),
        )?,
        python(
            "mcp-server-git",
            "mcp-server-git",
            false,
            &["-m", "mcp_server_git", "--repository", &repository],
            ("git_status", json!({ "repo_path": repository })),
        )?,
        python(
            "fastmcp-three",
            "fastmcp",
            true,
            &[&script("fastmcp_three.py")],
            ("add", json!({ "a": 2, "b": 3 })),
        )?,
        python(
            "python-sdk",
            "mcp",
            false,
            &[&script("sdk_server.py")],
            ("add", json!({ "a": 2, "b": 3 })),
        )?,
        Peer {
            name: "rmcp",
            version: cargo_version(&rmcp_lock, "rmcp").ok_or(PeersError::NoVersion {
                path: RMCP_LOCK,
                package: "rmcp",
            })?,
            command: text(&places.rmcp.join(rmcp_program())),
            args: Vec::new(),
            env: Vec::new(),
            kind: Kind::Rust,
            call: ("add", json!({ "a": 2, "b": 3 })),
        },
    ])
}

fn args(program: &str, more: &[&str]) -> Vec<String> {
    std::iter::once(program)
        .chain(more.iter().copied())
        .map(str::to_owned)
        .collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub(super) fn npm_version(lock: &str, package: &str) -> Option<String> {
    let lock: Value = serde_json::from_str(lock).ok()?;
    Some(
        lock["packages"][format!("node_modules/{package}")]["version"]
            .as_str()?
            .to_owned(),
    )
}

pub(super) fn python_version(lock: &str, package: &str) -> Option<String> {
    let line = lock
        .lines()
        .find_map(|line| line.strip_prefix(package)?.strip_prefix("=="))?;
    Some(line.trim().to_owned())
}

pub(super) fn cargo_version(lock: &str, package: &str) -> Option<String> {
    let rest = lock
        .split_once(&format!("name = \"{package}\"\nversion = \""))?
        .1;
    Some(rest.split_once('"')?.0.to_owned())
}
