//! The files of the project: where its root is, and its Rust files read once.

use std::io;
use std::path::{Component, Path, PathBuf};

mod code;
mod paths;
#[cfg(test)]
mod tests;

pub(crate) use paths::CodePath;

/// Folders that hold no source of ours.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// One Rust file.
pub(crate) struct SourceFile {
    /// Its path from the root, with `/` between its parts.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) text: String,
    /// The same lines with comments and the insides of strings blanked.
    pub(crate) code: String,
}

impl SourceFile {
    /// A file made of its text.
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let code = code::blank(&text);
        Self {
            path: path.into(),
            text,
            code,
        }
    }

    /// Whether it holds tests only: a `tests.rs`, or anything below a folder `tests`.
    pub(crate) fn is_test(&self) -> bool {
        self.path
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs")
    }

    /// Every path that its code names, `use` trees taken apart.
    pub(crate) fn paths(&self) -> Vec<CodePath> {
        paths::of(&self.code)
    }

    /// The folder that it is in.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// The root of the workspace that cargo runs this program from.
pub(crate) fn root() -> PathBuf {
    // A target folder may be shared between checkouts, so what was true at build time comes second.
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    own.parent().unwrap_or(&own).to_owned()
}

/// Reads every Rust file below `root`, in order of path.
///
/// # Errors
/// A folder or file that cannot be read.
pub(crate) fn rust_files(root: &Path) -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() {
                if !name.starts_with('.') && !SKIPPED.contains(&name.as_ref()) {
                    folders.push(path);
                }
            } else if kind.is_file() && name.ends_with(".rs") {
                files.push(SourceFile::new(
                    relative(root, &path),
                    std::fs::read_to_string(&path)?,
                ));
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn relative(root: &Path, path: &Path) -> String {
    let parts: Vec<_> = path
        .strip_prefix(root)
        .unwrap_or(path)
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}
