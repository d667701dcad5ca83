//! `cargo xtask peers`: MCP servers and clients that others wrote, pinned, for Seawall's tests to talk to.
//!
//! They are installed below one cache folder outside the tree, each part under a name made of its lock files' hash:
//! a part that is there is complete, a changed lock is a new part. Nothing is ever changed in place, so two checkouts
//! share the folder; old parts stay until the folder is removed.

mod catalog;
mod clients;
mod gateways;
mod install;
mod parts;
mod six;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use crate::{talk, tree};

/// The variable that names the cache folder, for this command and for the tests.
pub(super) const VARIABLE: &str = "SEAWALL_PEERS";

/// The list of peers as JSON, in the cache folder.
const LIST: &str = "peers.json";

/// The list of clients.
const CLIENTS: &str = "clients.json";

/// The list of those with the six tools, over stdio and HTTP.
const SIX: &str = "six.json";

/// The list of gateways of others.
const GATEWAYS: &str = "gateways.json";

/// Why the peers could not be installed.
#[derive(Debug, thiserror::Error)]
pub(super) enum PeersError {
    #[error("no cache folder: set {VARIABLE}, XDG_CACHE_HOME or HOME")]
    NoCacheFolder,
    #[error("`{program}` cannot be run: {remedy}")]
    Missing {
        program: &'static str,
        remedy: &'static str,
        source: io::Error,
    },
    #[error("`{program}` is version {version}: {remedy}")]
    TooOld {
        program: &'static str,
        version: String,
        remedy: &'static str,
    },
    #[error("`{command}` failed ({status}):\n{talk}")]
    Failed {
        command: String,
        status: ExitStatus,
        talk: String,
    },
    #[error("{}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{path} does not say the version of `{package}`")]
    NoVersion {
        path: &'static str,
        package: &'static str,
    },
    #[error("the installation of {part} stopped halfway")]
    Stopped { part: &'static str },
}

impl PeersError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::File {
            path: path.to_owned(),
            source,
        }
    }
}

/// Installs what is missing; with `--list`, prints how each peer is started; with `--gateways`, installs what the benchmark
/// measures beside Seawall's gateway instead, and prints where their list is.
pub(super) fn run(arguments: &[String]) -> ExitCode {
    if let [only] = arguments
        && only == "--gateways"
    {
        return match gateways() {
            Ok(list) => {
                talk::data(list.display());
                ExitCode::SUCCESS
            }
            Err(error) => fail(&error),
        };
    }
    let (mut list, mut json) = (false, false);
    for argument in arguments {
        match argument.as_str() {
            "--list" => list = true,
            "--json" => json = true,
            _ => return crate::usage(),
        }
    }
    match install() {
        Ok((_, peers)) if list && json => talk::data(catalog::json(&peers)),
        Ok((_, peers)) if list => peers.iter().for_each(talk::data),
        Ok((cache, peers)) => talk::say(format_args!(
            "peers: {} ready in {}",
            peers.len(),
            cache.display()
        )),
        Err(error) => return fail(&error),
    }
    ExitCode::SUCCESS
}

/// Says what went wrong, with its cause.
pub(super) fn fail(error: &PeersError) -> ExitCode {
    talk::say(format_args!("peers: {error}"));
    if let Some(cause) = std::error::Error::source(error) {
        talk::say(format_args!("    {cause}"));
    }
    ExitCode::FAILURE
}

/// Installs what is missing and writes the list; the cache folder and its peers.
pub(super) fn install() -> Result<(PathBuf, Vec<catalog::Peer>), PeersError> {
    let cache = cache()?;
    let root = tree::root();
    let places = install::everything(&root, &cache)?;
    let peers = catalog::peers(&root, &cache, &places)?;
    let list = cache.join(LIST);
    install::write_whole(&list, catalog::json(&peers).as_bytes())
        .map_err(PeersError::file(&list))?;
    let list = cache.join(SIX);
    let six = six::json(&six::peers(&places));
    install::write_whole(&list, six.as_bytes()).map_err(PeersError::file(&list))?;
    let list = cache.join(CLIENTS);
    let clients = clients::json(&clients::clients(&root, &places)?);
    install::write_whole(&list, clients.as_bytes()).map_err(PeersError::file(&list))?;
    Ok((cache, peers))
}

/// Installs the gateways of others that are missing; the path of their list.
fn gateways() -> Result<PathBuf, PeersError> {
    let cache = cache()?;
    let list = cache.join(GATEWAYS);
    let text = gateways::install(&tree::root(), &cache)?;
    install::write_whole(&list, text.as_bytes()).map_err(PeersError::file(&list))?;
    Ok(list)
}

/// Installs the conformance suite if it is missing; its folder, which holds `node_modules`.
pub(super) fn conformance() -> Result<PathBuf, PeersError> {
    parts::node()?;
    parts::conformance(&tree::root().join("peers"), &cache()?)
}

/// The cache folder, made if it is missing.
fn cache() -> Result<PathBuf, PeersError> {
    let cache = cache_folder(|name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    })
    .ok_or(PeersError::NoCacheFolder)?;
    let cache = std::path::absolute(&cache).map_err(PeersError::file(&cache))?;
    std::fs::create_dir_all(&cache).map_err(PeersError::file(&cache))?;
    Ok(cache)
}

/// The folder that the variables name, ours first, else the platform's own.
fn cache_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if let Some(folder) = variable(VARIABLE) {
        return Some(folder);
    }
    let platform = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else {
        let own = || {
            variable("HOME").map(|home| {
                home.join(if cfg!(target_os = "macos") {
                    "Library/Caches"
                } else {
                    ".cache"
                })
            })
        };
        variable("XDG_CACHE_HOME").or_else(own)
    };
    platform.map(|folder| folder.join("seawall").join("peers"))
}
