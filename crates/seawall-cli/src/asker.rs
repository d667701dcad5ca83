//! What the checks of a configuration ask of the world: this process's variables and files, and the person at the
//! terminal (K1, `${input:ID}`).

use std::io::{self, Write};
use std::path::Path;

use console::Term;
use seawall::config::{Input, Process, Surroundings};

use crate::printer::{Place, visible};

/// Who answers `${input:ID}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Somebody at a terminal, asked on stderr.
    Terminal,
    /// Nobody: what is asked is a problem of the configuration.
    Nobody,
}

impl Surroundings for Asker {
    fn variable(&self, name: &str) -> Option<String> {
        Process.variable(name)
    }

    fn env_file(&self, path: &Path) -> io::Result<String> {
        Process.env_file(path)
    }

    fn input(&self, input: &Input) -> Option<String> {
        match self {
            Self::Nobody => None,
            Self::Terminal => ask(input).ok(),
        }
    }
}

/// Asks on stderr and reads one line; an empty one is the default, if there is one.
fn ask(input: &Input) -> io::Result<String> {
    let mut terminal = Term::stderr();
    let what = input.description.as_deref().unwrap_or(&input.id);
    let what = visible(what, Place::Line);
    match input.default.as_deref().filter(|_| !input.password) {
        Some(default) => {
            let default = visible(default, Place::Line);
            write!(terminal, "{what} [{default}]: ")?;
        }
        None => write!(terminal, "{what}: ")?,
    }
    terminal.flush()?;
    let answer = if input.password {
        terminal.read_secure_line()
    } else {
        terminal.read_line()
    }?;
    match &input.default {
        Some(default) if answer.is_empty() => Ok(default.clone()),
        _ => Ok(answer),
    }
}
