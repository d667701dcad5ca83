//! What the flags and the environment come to, decided in this one place: a flag wins over a variable, a variable
//! over a file.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use crate::args::GlobalArgs;
use crate::printer::{Colour, Format, Manner, Printer};

/// The variable that names the configuration where no flag does.
pub(crate) const CONFIG_VARIABLE: &str = "SEAWALL_MCP_CONFIG";

/// Everything that the commands share.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) config: ConfigChoice,
    pub(crate) demo: bool,
    manner: Manner,
}

/// Which file holds the configuration (K2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigChoice {
    Flag(PathBuf),
    Variable(PathBuf),
    /// The first of the default places that has a file.
    Default,
}

impl Settings {
    pub(crate) fn resolve(global: &GlobalArgs) -> Self {
        Self::from_parts(
            global,
            &|name| env::var_os(name),
            io::stdout().is_terminal(),
            io::stderr().is_terminal(),
        )
    }

    fn from_parts(
        global: &GlobalArgs,
        variable: &dyn Fn(&str) -> Option<OsString>,
        stdout_is_terminal: bool,
        stderr_is_terminal: bool,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let config = match (&global.mcp_config, set(CONFIG_VARIABLE)) {
            (Some(path), _) => ConfigChoice::Flag(path.clone()),
            (None, Some(path)) => ConfigChoice::Variable(path.into()),
            (None, None) => ConfigChoice::Default,
        };
        let plain = set("NO_COLOR").is_some() || set("TERM").is_some_and(|term| term == "dumb");
        let colour = |is_terminal: bool| match is_terminal && !plain {
            true => Colour::Ansi,
            false => Colour::Plain,
        };
        Self {
            config,
            demo: global.demo,
            manner: Manner {
                format: if global.json {
                    Format::Json
                } else {
                    Format::Human
                },
                verbosity: global.verbose,
                stdout: colour(stdout_is_terminal),
                stderr: colour(stderr_is_terminal),
                spinner: stderr_is_terminal && !global.json,
            },
        }
    }

    /// For an error that comes before any flag is understood.
    pub(crate) fn json_only() -> Self {
        let manner = Manner {
            format: Format::Json,
            verbosity: 0,
            stdout: Colour::Plain,
            stderr: Colour::Plain,
            spinner: false,
        };
        Self {
            config: ConfigChoice::Default,
            demo: false,
            manner,
        }
    }

    /// A printer on the real stdout and stderr.
    pub(crate) fn printer(&self) -> Printer {
        Printer::new(self.manner, Box::new(io::stdout()), Box::new(io::stderr()))
    }
}

#[cfg(test)]
mod tests;
