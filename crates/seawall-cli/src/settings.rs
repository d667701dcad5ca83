//! What the flags and the environment come to, decided in this one place: a flag wins over a variable, a variable
//! over a file.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use seawall::config::Lookup;

use crate::args::GlobalArgs;
use crate::asker::Asker;
use crate::printer::{Colour, Format, Manner, Printer};

/// Everything that the commands share.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Where the configuration may be (K2).
    pub(crate) lookup: Lookup,
    /// Whether the built-in server is added.
    pub(crate) demo: bool,
    /// What answers `${input:…}`: somebody at a terminal, or nobody.
    pub(crate) asker: Asker,
    /// The folders that servers are told of, as they were named.
    pub(crate) roots: Vec<PathBuf>,
    manner: Manner,
}

/// The terminals of the program.
#[derive(Debug, Clone, Copy, Default)]
struct Terminals {
    stdin: bool,
    stderr: bool,
    /// How wide the one on stdout is.
    stdout_width: Option<u16>,
}

impl Settings {
    pub(crate) fn resolve(global: &GlobalArgs) -> Self {
        let terminals = Terminals {
            stdin: io::stdin().is_terminal(),
            stderr: io::stderr().is_terminal(),
            stdout_width: io::stdout()
                .is_terminal()
                .then(|| console::Term::stdout().size().1),
        };
        let lookup = Lookup::of_process(global.mcp_config.clone());
        Self::from_parts(global, lookup, &|name| env::var_os(name), terminals)
    }

    fn from_parts(
        global: &GlobalArgs,
        lookup: Lookup,
        variable: &dyn Fn(&str) -> Option<OsString>,
        terminals: Terminals,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let plain = set("NO_COLOR").is_some() || set("TERM").is_some_and(|term| term == "dumb");
        let colour = |is_terminal: bool| match is_terminal && !plain {
            true => Colour::Ansi,
            false => Colour::Plain,
        };
        Self {
            lookup,
            demo: global.demo,
            asker: match terminals.stdin && terminals.stderr {
                true => Asker::Terminal,
                false => Asker::Nobody,
            },
            roots: global.roots.clone(),
            manner: Manner {
                format: if global.json {
                    Format::Json
                } else {
                    Format::Human
                },
                verbosity: global.verbose,
                stdout: colour(terminals.stdout_width.is_some()),
                stderr: colour(terminals.stderr),
                // What servers say would tear the spinner apart.
                spinner: terminals.stderr && !global.json && global.verbose < 2,
                width: terminals.stdout_width,
            },
        }
    }

    /// For an error that comes before any flag is understood.
    pub(crate) fn json_only() -> Self {
        let global = GlobalArgs {
            mcp_config: None,
            json: true,
            verbose: 0,
            demo: false,
            roots: Vec::new(),
        };
        Self::from_parts(&global, Lookup::default(), &|_| None, Terminals::default())
    }

    /// A printer on the real stdout and stderr.
    pub(crate) fn printer(&self) -> Printer {
        Printer::new(self.manner, Box::new(io::stdout()), Box::new(io::stderr()))
    }
}

#[cfg(test)]
mod tests;
