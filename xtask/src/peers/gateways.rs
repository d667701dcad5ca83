//! Gateways that others wrote, for the benchmark to measure beside Seawall's.
//!
//! The list says how each is started: in front of a server behind a URL, for one client over stdio; and over HTTP, in front of a
//! program. In an argument `{url}` stands for that URL, `{port}` for a free port of 127.0.0.1, `{line}` for the program's command
//! line in one text, and an argument `{program}` for the program and its arguments. One that is given no port prints its URL.

use std::path::Path;

use serde_json::{Value, json};

use super::PeersError;
use super::catalog::{npm_version, python_version};
use super::parts::{self, VENV_PYTHON};

const NPM_LOCK: &str = "peers/gateways/package-lock.json";
const MCP_PROXY_LOCK: &str = "peers/python/requirements-mcp-proxy.txt";
const FASTMCP_LOCK: &str = "peers/python/requirements-fastmcp.txt";

/// Installs what is missing; the list as JSON: an array of `{name, version, stdio, http}`.
pub(super) fn install(root: &Path, cache: &Path) -> Result<String, PeersError> {
    let python = parts::python()?;
    parts::node()?;
    let peers = root.join("peers");
    let npm = parts::gateways(&peers, cache)?;
    let environment = |part, title, list| {
        parts::python_packages(part, title, list, &python, &peers, cache)
            .map(|place| text(&place.join(VENV_PYTHON)))
    };
    let mcp_proxy = environment("python-mcp-proxy", "mcp-proxy", "mcp-proxy")?;
    let fastmcp = environment("python-fastmcp", "FastMCP", "fastmcp")?;
    let lock = |path: &str| {
        std::fs::read_to_string(root.join(path)).map_err(PeersError::file(&root.join(path)))
    };
    let version = |path: &'static str, package: &'static str| {
        let lock = lock(path)?;
        let version = if path == NPM_LOCK {
            npm_version(&lock, package)
        } else {
            python_version(&lock, package)
        };
        version.ok_or(PeersError::NoVersion { path, package })
    };
    let supergateway = text(&npm.join("node_modules/supergateway/dist/index.js"));
    // The path of a module is a URL to Node.js.
    let loopback = format!("file://{}", text(&npm.join("loopback.mjs")));
    let proxy = text(&npm.join("proxy_fastmcp.py"));
    let list: Value = json!([
        {
            "name": "supergateway",
            "version": version(NPM_LOCK, "supergateway")?,
            "stdio": ["node", supergateway, "--streamableHttp", "{url}", "--logLevel", "none"],
            "http": [
                "node", "--import", loopback, supergateway, "--stdio", "{line}", "--outputTransport", "streamableHttp",
                "--stateful", "--logLevel", "none",
            ],
        },
        {
            "name": "mcp-proxy",
            "version": version(MCP_PROXY_LOCK, "mcp-proxy")?,
            "stdio": [
                mcp_proxy, "-m", "mcp_proxy", "--log-level", "ERROR", "--transport", "streamablehttp", "{url}",
            ],
            "http": [
                mcp_proxy, "-m", "mcp_proxy", "--log-level", "ERROR", "--host", "127.0.0.1", "--port", "{port}", "--",
                "{program}",
            ],
        },
        {
            "name": "FastMCP",
            "version": version(FASTMCP_LOCK, "fastmcp")?,
            "stdio": [fastmcp, proxy, "stdio", "{url}"],
            "http": [fastmcp, proxy, "http", "{port}", "{program}"],
        },
    ]);
    Ok(format!("{list:#}"))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
