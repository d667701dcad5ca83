//! What an entry describes, started.

use crate::client::link::{Ends, Link, Sink, Source, Tree};
use crate::config::{Endpoint, ServerConfig};
use crate::error::ErrorKind;
use crate::redact::Redactor;
use crate::transport::stdio;

/// Starts the server of an entry, and gathers the secrets that it was given.
pub(super) fn open(config: &ServerConfig) -> Result<(Link, Redactor), ErrorKind> {
    let Endpoint::Stdio(entry) = config.endpoint() else {
        return Err(ErrorKind::NotBuilt("connecting to a URL"));
    };
    let launch = stdio::Launch::new(entry, std::env::vars_os());
    let redactor = Redactor::builder()
        .environment(launch.env.iter().map(|(name, value)| (name, value)))
        .build();
    let child = stdio::spawn(&launch, config.server()).map_err(ErrorKind::Spawn)?;
    let link = Link {
        sink: Sink::from(child.stdin),
        ends: Ends {
            stdout: Source::new(child.stdout),
            stderr: Some(Source::new(child.stderr)),
            tree: Tree::Process(child.tree),
        },
    };
    Ok((link, redactor))
}
