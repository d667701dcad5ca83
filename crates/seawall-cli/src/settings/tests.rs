use std::ffi::OsString;

use seawall::config::Lookup;

use super::{Settings, Terminals};
use crate::args::GlobalArgs;
use crate::asker::Asker;
use crate::printer::{Colour, Format};

fn global(json: bool) -> GlobalArgs {
    GlobalArgs {
        mcp_config: None,
        json,
        verbose: 0,
        demo: false,
        roots: Vec::new(),
    }
}

fn resolved(global: &GlobalArgs, variables: &[(&str, &str)], terminal: bool) -> Settings {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| OsString::from(value))
    };
    let terminals = Terminals {
        stdin: terminal,
        stderr: terminal,
        stdout_width: terminal.then_some(80),
    };
    Settings::from_parts(global, Lookup::default(), &variable, terminals)
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let colour = |variables: &[(&str, &str)], terminal| {
        resolved(&global(false), variables, terminal).manner.stdout
    };
    assert_eq!(colour(&[], true), Colour::Ansi);
    assert_eq!(colour(&[("NO_COLOR", "")], true), Colour::Ansi);
    assert_eq!(colour(&[("NO_COLOR", "1")], true), Colour::Plain);
    assert_eq!(colour(&[("TERM", "dumb")], true), Colour::Plain);
    assert_eq!(colour(&[], false), Colour::Plain);
}

#[test]
fn spinner_is_for_terminals_without_json() {
    for (json, terminal, spinner) in [
        (false, true, true),
        (true, true, false),
        (false, false, false),
    ] {
        let settings = resolved(&global(json), &[], terminal);
        assert_eq!(settings.manner.spinner, spinner);
        assert_eq!(settings.manner.format == Format::Json, json);
        assert_eq!(settings.asker == Asker::Terminal, terminal);
    }
}

/// What servers say would tear the spinner apart.
#[test]
fn spinner_is_not_for_who_hears_servers() {
    for (verbose, spinner) in [(0, true), (1, true), (2, false), (3, false)] {
        let global = GlobalArgs {
            verbose,
            ..global(false)
        };
        assert_eq!(resolved(&global, &[], true).manner.spinner, spinner);
    }
}
