//! The peers that have the same six tools (`echo`, `add`, `fail`, `slow`, `ask`, `image`), over stdio and HTTP, and those that have
//! their own: server-everything, which is made to serve HTTP, and one behind a login.
//!
//! A peer over HTTP prints its URL, serves 127.0.0.1 only, and ends when its stdin does.

use std::path::Path;

use serde_json::{Value, json};

use super::install::Places;
use super::parts::{VENV_PYTHON, rmcp_program};

/// What one peer is asked to speak: the values of `protocol` in an entry for it.
type Protocols = &'static [&'static str];

const LEGACY: Protocols = &["2025-11-25", "2025-06-18", "2025-03-26"];
const MODERN: Protocols = &["2026-07-28"];

/// One way to start one peer.
pub(super) struct Peer {
    name: String,
    http: bool,
    /// Whether it has the six tools; otherwise it has its own.
    six: bool,
    protocols: Vec<&'static str>,
    command: String,
    args: Vec<String>,
    env: Vec<(&'static str, &'static str)>,
}

/// The list as JSON: an array of `{name, transport, six, protocols, command, args, env}`.
pub(super) fn json(peers: &[Peer]) -> String {
    let peers = peers.iter().map(|peer| {
        let env: serde_json::Map<_, _> = peer
            .env
            .iter()
            .map(|&(name, value)| (name.to_owned(), Value::from(value)))
            .collect();
        json!({
            "name": peer.name,
            "transport": if peer.http { "http" } else { "stdio" },
            "six": peer.six,
            "protocols": peer.protocols,
            "command": peer.command,
            "args": peer.args,
            "env": env,
        })
    });
    format!("{:#}", Value::Array(peers.collect()))
}

/// Every one of them, as installed.
pub(super) fn peers(places: &Places) -> Vec<Peer> {
    let rmcp = text(&places.rmcp.join(rmcp_program()));
    let script = |name: &str| text(&places.fixtures.join(name));
    let ours = |name: &str| text(&places.npm.join(name));
    let python = |place: &Path| text(&place.join(VENV_PYTHON));
    // rmcp serves six tools only if it is told to; over HTTP it has no others.
    let programs: [(&str, String, Vec<String>, &[Protocols]); 7] = [
        (
            "rmcp",
            rmcp.clone(),
            vec!["--six".to_owned()],
            &[MODERN, LEGACY],
        ),
        (
            "rmcp-modern",
            rmcp.clone(),
            vec!["--six".to_owned(), "--modern".to_owned()],
            &[MODERN],
        ),
        (
            "rmcp-legacy",
            rmcp,
            vec!["--six".to_owned(), "--legacy".to_owned()],
            &[LEGACY],
        ),
        (
            "typescript-2",
            "node".to_owned(),
            vec![ours("sdk2_server.mjs")],
            &[MODERN, LEGACY],
        ),
        (
            "typescript-1",
            "node".to_owned(),
            vec![ours("sdk1_server.mjs")],
            &[LEGACY],
        ),
        (
            "python",
            python(&places.servers),
            vec![script("six_sdk.py")],
            &[MODERN, LEGACY],
        ),
        (
            "fastmcp",
            python(&places.fastmcp),
            vec![script("six_fastmcp.py")],
            &[MODERN, LEGACY],
        ),
    ];
    let mut peers = Vec::new();
    for (name, command, args, eras) in programs {
        for http in [false, true] {
            // Over stdio each call starts it anew, which takes seconds: the newest revision of each era says enough there.
            let mut protocols = if http {
                eras.concat()
            } else {
                eras.iter().filter_map(|era| era.first().copied()).collect()
            };
            protocols.extend((http || name.starts_with("rmcp")).then_some("auto"));
            let mut args = args.clone();
            let transport = if http { "http" } else { "stdio" };
            args.extend(http.then(|| "--http".to_owned()));
            peers.push(Peer {
                name: format!("{name}-{transport}"),
                http,
                six: true,
                protocols,
                command: command.clone(),
                args,
                env: Vec::new(),
            });
        }
    }
    let everything = places
        .npm
        .join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let of_others = |name: &str, mode: &str, path, protocols: &[&'static str]| Peer {
        name: name.to_owned(),
        http: true,
        six: false,
        protocols: protocols.to_vec(),
        command: "node".to_owned(),
        args: vec![
            "--import".to_owned(),
            ours("http.mjs"),
            text(&everything),
            mode.to_owned(),
        ],
        env: vec![("PEER_PATH", path)],
    };
    let both = [LEGACY, &["auto"]].concat();
    peers.push(of_others(
        "everything-http",
        "streamableHttp",
        "/mcp",
        &both,
    ));
    peers.push(of_others(
        "everything-sse",
        "sse",
        "/sse",
        &["2024-11-05", "auto"],
    ));
    peers.push(Peer {
        name: "guarded-fastmcp".to_owned(),
        http: true,
        six: false,
        protocols: vec!["auto"],
        command: python(&places.fastmcp),
        args: vec![script("guarded_fastmcp.py")],
        env: Vec::new(),
    });
    peers
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
