//! `cargo xtask tidy`: the rules of ARCHITECTURE.md and of the house style that a compiler does not check.
//!
//! It reads the tree and what cargo says of the dependencies; it changes nothing.

mod dependencies;
mod folders;
mod imports;
mod licences;
mod rules;
mod sources;
mod tables;
#[cfg(test)]
mod tests;

use std::fmt;
use std::process::ExitCode;
use std::time::Instant;

use crate::{talk, tree};

/// One thing that is not as it should be.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// The file or folder, from the root.
    path: String,
    /// The line, from 1, where there is one.
    line: Option<usize>,
    /// What is wrong.
    what: String,
    /// What to do about it.
    remedy: String,
}

impl Finding {
    fn new(
        path: &str,
        line: impl Into<Option<usize>>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            line: line.into(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}\n    {}", self.what, self.remedy)
    }
}

/// Runs every check and prints what it found; fails if there is anything.
pub(super) fn run() -> ExitCode {
    let started = Instant::now();
    let root = tree::root();
    let files = match tree::rust_files(&root) {
        Ok(files) => files,
        Err(error) => {
            talk::say(format_args!("tidy: the tree cannot be read: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let mut findings = sources::check(&files);
    findings.extend(imports::check(&files));
    findings.extend(folders::check(&root, &files));
    findings.extend(rules::check(&files));
    findings.extend(dependencies::check(&root));
    findings.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
    for finding in &findings {
        talk::say(finding);
    }
    let seconds = started.elapsed().as_secs_f64();
    if findings.is_empty() {
        talk::say(format_args!(
            "tidy: {} files as they should be ({seconds:.1} s)",
            files.len()
        ));
        return ExitCode::SUCCESS;
    }
    talk::say(format_args!(
        "tidy: {} to mend in {} files ({seconds:.1} s)",
        findings.len(),
        files.len()
    ));
    ExitCode::FAILURE
}
