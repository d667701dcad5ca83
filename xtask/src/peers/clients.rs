//! The clients that others wrote, which the tests send through the gateway.
//!
//! But for the Inspector's command line, each is started with an era and a way to its server, does the same things, and prints
//! what it saw of them as one JSON object.

use std::path::Path;

use serde_json::{Value, json};

use super::PeersError;
use super::catalog::{
    FASTMCP_LOCK, RMCP_LOCK, SERVERS_LOCK, cargo_version, npm_version, python_version,
};
use super::install::Places;
use super::parts::{VENV_PYTHON, rmcp_client};

const CLIENTS_LOCK: &str = "peers/clients/package-lock.json";

/// One client.
pub(super) struct Client {
    name: &'static str,
    version: String,
    /// What it can be told to speak.
    eras: &'static [&'static str],
    command: String,
    args: Vec<String>,
}

/// The list as JSON: an array of `{name, version, eras, command, args}`.
pub(super) fn json(clients: &[Client]) -> String {
    let clients = clients.iter().map(|client| {
        json!({
            "name": client.name,
            "version": client.version,
            "eras": client.eras,
            "command": client.command,
            "args": client.args,
        })
    });
    format!("{:#}", Value::Array(clients.collect()))
}

/// Every client, as installed.
pub(super) fn clients(root: &Path, places: &Places) -> Result<Vec<Client>, PeersError> {
    const BOTH: &[&str] = &["legacy", "modern"];
    const LEGACY: &[&str] = &["legacy"];
    let lock = |path: &'static str| {
        std::fs::read_to_string(root.join(path)).map_err(PeersError::file(&root.join(path)))
    };
    let (npm, servers, fastmcp, rmcp) = (
        lock(CLIENTS_LOCK)?,
        lock(SERVERS_LOCK)?,
        lock(FASTMCP_LOCK)?,
        lock(RMCP_LOCK)?,
    );
    let ours = |name: &str| text(&places.clients.join(name));
    let node = |name, package, eras, script: String| {
        let version = npm_version(&npm, package).ok_or(PeersError::NoVersion {
            path: CLIENTS_LOCK,
            package,
        })?;
        Ok(Client {
            name,
            version,
            eras,
            command: "node".to_owned(),
            args: vec![script],
        })
    };
    let python = |name, package, which: &str, place: &Path, (lock, path): (&str, _)| {
        let version =
            python_version(lock, package).ok_or(PeersError::NoVersion { path, package })?;
        Ok(Client {
            name,
            version,
            eras: BOTH,
            command: text(&place.join(VENV_PYTHON)),
            args: vec![ours("story.py"), which.to_owned()],
        })
    };
    let inspector = "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js";
    Ok(vec![
        node(
            "typescript-2",
            "@modelcontextprotocol/client",
            BOTH,
            ours("sdk2.mjs"),
        )?,
        node(
            "typescript-1",
            "@modelcontextprotocol/sdk",
            LEGACY,
            ours("sdk1.mjs"),
        )?,
        python(
            "python",
            "mcp",
            "sdk",
            &places.servers,
            (&servers, SERVERS_LOCK),
        )?,
        python(
            "fastmcp",
            "fastmcp",
            "fastmcp",
            &places.fastmcp,
            (&fastmcp, FASTMCP_LOCK),
        )?,
        Client {
            name: "rmcp",
            version: cargo_version(&rmcp, "rmcp").ok_or(PeersError::NoVersion {
                path: RMCP_LOCK,
                package: "rmcp",
            })?,
            eras: BOTH,
            command: text(&places.rmcp.join(rmcp_client())),
            args: Vec::new(),
        },
        node(
            "inspector",
            "@modelcontextprotocol/inspector",
            LEGACY,
            ours(inspector),
        )?,
    ])
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
