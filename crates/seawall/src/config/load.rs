//! Finding and reading the file (K2, K3): the only part of the room that touches the system.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use super::check::{Checked, Source, check};
use super::problem::{Origin, Place, Problem, ProblemKind};
use super::surroundings::Surroundings;

/// The variable that names a configuration.
pub const CONFIG_VARIABLE: &str = "SEAWALL_MCP_CONFIG";
/// The name of a configuration that nothing names.
pub const CONFIG_FILE: &str = "seawall.json";
/// The largest file that is read: 16 MiB.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// Where a configuration may be.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Lookup {
    /// What `--mcp-config` names. Wins over everything.
    pub flag: Option<PathBuf>,
    /// What `SEAWALL_MCP_CONFIG` holds; nothing at all counts as not set.
    pub variable: Option<OsString>,
    /// The directory whose `seawall.json` is next, and the workspace of `${workspaceFolder}`.
    pub working_dir: PathBuf,
    /// The directory whose `seawall.json` is last.
    pub config_dir: Option<PathBuf>,
}

impl Lookup {
    /// The places of this process: its environment, its working directory and the directory `seawall` in the
    /// platform's directory for configurations (`$XDG_CONFIG_HOME` or `~/.config`; `%APPDATA%` on Windows).
    #[must_use]
    pub fn of_process(flag: Option<PathBuf>) -> Self {
        Self {
            flag,
            variable: std::env::var_os(CONFIG_VARIABLE),
            working_dir: std::env::current_dir().unwrap_or_default(),
            config_dir: etcetera::choose_base_strategy()
                .ok()
                .map(|strategy| strategy.config_dir().join("seawall")),
        }
    }

    /// The file to read and how it was named; `None` if nothing names one and none is there.
    ///
    /// A file that is named is not looked at; one that is not named counts if anything is there under its name.
    #[must_use]
    pub fn locate(&self) -> Option<(Origin, PathBuf)> {
        if let Some(path) = &self.flag {
            return Some((Origin::Flag, path.clone()));
        }
        if let Some(path) = self.variable.as_ref().filter(|path| !path.is_empty()) {
            return Some((Origin::Variable, PathBuf::from(path)));
        }
        let places = [
            Some((Origin::WorkingDirectory, self.working_dir.join(CONFIG_FILE))),
            self.config_dir
                .as_ref()
                .map(|dir| (Origin::ConfigDirectory, dir.join(CONFIG_FILE))),
        ];
        places
            .into_iter()
            .flatten()
            .find(|(_, path)| path.try_exists().unwrap_or(true))
    }
}

/// Finds, reads and checks the configuration. Nothing found is no servers, and no problem.
#[must_use]
pub fn load(lookup: &Lookup, surroundings: &dyn Surroundings) -> Checked {
    match lookup.locate() {
        Some((origin, path)) => check_file(&path, origin, &lookup.working_dir, surroundings),
        None => Checked::default(),
    }
}

/// Reads and checks one file. A relative path is relative to the process's working directory.
#[must_use]
pub fn check_file(
    path: &Path,
    origin: Origin,
    working_dir: &Path,
    surroundings: &dyn Surroundings,
) -> Checked {
    match read(path) {
        Ok(text) => check(&Source {
            path: Some(path),
            origin,
            workspace: workspace_of(path).unwrap_or(working_dir),
            surroundings,
            ..Source::new(&text)
        }),
        Err(kind) => {
            let place = Place {
                origin,
                path: Some(path.to_path_buf()),
                ..Place::default()
            };
            Checked {
                problems: vec![Problem { place, kind }],
                ..Checked::default()
            }
        }
    }
}

/// Reads a text of at most [`MAX_FILE_BYTES`].
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read > MAX_FILE_BYTES) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

fn read(path: &Path) -> Result<String, ProblemKind> {
    if path.as_os_str().is_empty() {
        return Err(ProblemKind::EmptyPath);
    }
    read_text(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ProblemKind::Missing,
        io::ErrorKind::FileTooLarge => ProblemKind::FileTooLarge {
            limit: MAX_FILE_BYTES,
        },
        io::ErrorKind::InvalidData => ProblemKind::NotUtf8,
        error => ProblemKind::Unreadable { error },
    })
}

/// The folder that an editor's own file is about: the parent of its `.vscode` or `.cursor`.
fn workspace_of(path: &Path) -> Option<&Path> {
    let parent = path.parent()?;
    let is_editors = matches!(parent.file_name()?.to_str()?, ".vscode" | ".cursor");
    parent
        .parent()
        .filter(|folder| is_editors && !folder.as_os_str().is_empty())
}
