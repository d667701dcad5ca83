//! What the checks ask of the world, given by the caller so that they read nothing themselves (K12).

use std::io;
use std::path::Path;

/// Answers the questions of the checks.
///
/// The defaults are an empty world: no variable is set, no file exists, no input is given.
pub trait Surroundings {
    /// The value of an environment variable; `None` if it is not set.
    fn variable(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// The text of the `envFile` at `path`, which is absolute or relative to [`Source::workspace`](super::Source).
    ///
    /// # Errors
    ///
    /// Why the file cannot be read.
    fn env_file(&self, path: &Path) -> io::Result<String> {
        let _ = path;
        Err(io::ErrorKind::NotFound.into())
    }

    /// The answer to `${input:ID}`; `None` if there is nobody to ask.
    fn input(&self, input: &Input) -> Option<String> {
        let _ = input;
        None
    }
}

/// The empty world: no variable, no file, no input.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Surroundings for Nothing {}

/// The variables and files of this process; no input.
#[derive(Debug, Clone, Copy, Default)]
pub struct Process;

impl Surroundings for Process {
    fn variable(&self, name: &str) -> Option<String> {
        if name.is_empty() || name.contains(['=', '\0']) {
            return None;
        }
        std::env::var(name).ok()
    }

    fn env_file(&self, path: &Path) -> io::Result<String> {
        super::load::read_text(path)
    }
}

/// What a file's `inputs` say of an id that `${input:ID}` asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Input {
    /// The id.
    pub id: String,
    /// What to ask for.
    pub description: Option<String>,
    /// The value to offer.
    pub default: Option<String>,
    /// Whether the answer must not be shown while it is typed.
    pub password: bool,
}
