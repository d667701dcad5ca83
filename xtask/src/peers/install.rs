//! Installing each part once: built aside, then moved to its place whole.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use sha2::{Digest as _, Sha256};

use super::{PeersError, parts};
use crate::talk;

/// Where each part is.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) npm: PathBuf,
    pub(super) clients: PathBuf,
    pub(super) servers: PathBuf,
    pub(super) fastmcp: PathBuf,
    pub(super) rmcp: PathBuf,
    pub(super) fixtures: PathBuf,
}

/// One part of the cache.
pub(super) struct Part<'a> {
    /// The beginning of its folder's name.
    pub(super) name: &'static str,
    /// What it is, for people.
    pub(super) title: &'static str,
    /// What decides its contents: the text of lock files, the interpreter's version.
    pub(super) inputs: Vec<Vec<u8>>,
    /// Fills an empty folder.
    pub(super) build: &'a (dyn Fn(&Path) -> Result<(), PeersError> + Sync),
}

/// Installs all parts that are missing, side by side.
pub(super) fn everything(root: &Path, cache: &Path) -> Result<Places, PeersError> {
    let python = parts::python()?;
    parts::node()?;
    let peers = root.join("peers");
    std::thread::scope(|scope| {
        let npm = scope.spawn(|| parts::npm(&peers, cache));
        let clients = scope.spawn(|| parts::clients(&peers, cache));
        let rmcp = scope.spawn(|| parts::rmcp(&peers, cache));
        let servers = parts::python_packages(
            "python-servers",
            "Python servers",
            "servers",
            &python,
            &peers,
            cache,
        );
        let fastmcp = parts::python_packages(
            "python-fastmcp",
            "FastMCP",
            "fastmcp",
            &python,
            &peers,
            cache,
        );
        let fixtures = parts::fixtures(&peers, cache);
        let joined = |thread: std::thread::ScopedJoinHandle<'_, _>, part| {
            thread.join().unwrap_or(Err(PeersError::Stopped { part }))
        };
        let clients = joined(clients, "clients from npm");
        let (npm, rmcp) = (joined(npm, "npm packages"), joined(rmcp, "rmcp"));
        Ok(Places {
            npm: npm?,
            clients: clients?,
            servers: servers?,
            fastmcp: fastmcp?,
            rmcp: rmcp?,
            fixtures: fixtures?,
        })
    })
}

/// The folder of a part, installed now if it is missing.
pub(super) fn part(cache: &Path, part: &Part<'_>) -> Result<PathBuf, PeersError> {
    let place = cache.join(format!("{}-{}", part.name, key(&part.inputs)));
    if place.is_dir() {
        return Ok(place);
    }
    let started = Instant::now();
    talk::say(format_args!("peers: installing {} …", part.title));
    let aside = cache.join(format!(".{}-{}", part.name, std::process::id()));
    remove(&aside)?;
    std::fs::create_dir(&aside).map_err(PeersError::file(&aside))?;
    let built = (part.build)(&aside).and_then(|()| match std::fs::rename(&aside, &place) {
        // Another run was quicker.
        Err(_) if place.is_dir() => remove(&aside),
        renamed => renamed.map_err(PeersError::file(&place)),
    });
    if let Err(error) = built {
        drop(remove(&aside));
        return Err(error);
    }
    talk::say(format_args!(
        "peers: {} installed ({:.1} s)",
        part.title,
        started.elapsed().as_secs_f64()
    ));
    Ok(place)
}

fn remove(folder: &Path) -> Result<(), PeersError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(PeersError::file(folder)(error))
        }
        _ => Ok(()),
    }
}

/// Twelve hexadecimal digits that stand for the inputs.
pub(super) fn key(inputs: &[Vec<u8>]) -> String {
    let mut hash = Sha256::new();
    for input in inputs {
        hash.update(input.len().to_le_bytes());
        hash.update(input);
    }
    hash.finalize()
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Runs a command to its end; what it printed is shown only if it fails.
pub(super) fn finish(
    command: &mut Command,
    program: &'static str,
    remedy: &'static str,
) -> Result<String, PeersError> {
    let output = command.output().map_err(|source| PeersError::Missing {
        program,
        remedy,
        source,
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let mut talk = String::from_utf8_lossy(&output.stdout).into_owned();
    talk.push_str(&String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = talk.lines().collect();
    let tail = &lines[lines.len().saturating_sub(20)..];
    let talk = tail.iter().map(|line| format!("    {line}\n")).collect();
    Err(PeersError::Failed {
        command: format!("{command:?}"),
        status: output.status,
        talk,
    })
}

/// Writes a file so that a reader sees the old text or the new, never half.
pub(super) fn write_whole(path: &Path, text: &[u8]) -> io::Result<()> {
    let aside = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&aside, text)?;
    std::fs::rename(&aside, path)
}
