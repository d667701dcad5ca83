//! Which file a command means, looked up as the child would, so that a failure can say what is missing.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::{Launch, SpawnError};

/// Where commands are looked up if the child gets no `PATH`.
const DEFAULT_PATH: &str = "/usr/bin:/bin";

/// The file to execute, named as the child sees it once it is in its working directory.
///
/// # Errors
/// The command or the working directory is missing or cannot be used.
pub(super) fn find(launch: &Launch) -> Result<PathBuf, SpawnError> {
    let base = launch.cwd.as_deref().unwrap_or(Path::new(""));
    if !enterable(launch) {
        return Err(SpawnError::WorkingDirectory);
    }
    let command = Path::new(&launch.command);
    if launch.command.is_empty() {
        return Err(SpawnError::NotFound);
    }
    if launch.command.as_bytes().contains(&b'/') {
        return check(&base.join(command)).map(|()| command.to_owned());
    }
    let path = launch
        .variable("PATH")
        .map_or(OsStr::new(DEFAULT_PATH), |path| path);
    let mut closest = SpawnError::NotFound;
    for folder in std::env::split_paths(path) {
        // An empty entry is the working directory. The result always has a slash: it must not be looked up again.
        let candidate = if folder.as_os_str().is_empty() {
            Path::new(".").join(command)
        } else {
            folder.join(command)
        };
        match check(&base.join(&candidate)) {
            Ok(()) => return Ok(candidate),
            Err(SpawnError::NotExecutable) => closest = SpawnError::NotExecutable,
            Err(SpawnError::IsDirectory) if matches!(closest, SpawnError::NotFound) => {
                closest = SpawnError::IsDirectory;
            }
            Err(_) => {}
        }
    }
    Err(closest)
}

/// What the system's refusal of a command that [`find`] found means.
pub(super) fn explain(launch: &Launch, error: io::Error) -> SpawnError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if !enterable(launch) => {
            SpawnError::WorkingDirectory
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SpawnError::InterpreterMissing,
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable,
        _ => error.into(),
    }
}

fn check(file: &Path) -> Result<(), SpawnError> {
    let metadata = fs::metadata(file).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable,
        _ => SpawnError::NotFound,
    })?;
    if metadata.is_dir() {
        return Err(SpawnError::IsDirectory);
    }
    if !metadata.is_file() || access(file, Access::EXEC_OK).is_err() {
        return Err(SpawnError::NotExecutable);
    }
    Ok(())
}

fn enterable(launch: &Launch) -> bool {
    launch
        .cwd
        .as_deref()
        .is_none_or(|cwd| cwd.is_dir() && access(cwd, Access::EXEC_OK).is_ok())
}
