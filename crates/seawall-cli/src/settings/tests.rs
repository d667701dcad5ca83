use std::ffi::OsString;
use std::path::PathBuf;

use super::{CONFIG_VARIABLE, ConfigChoice, Settings};
use crate::args::GlobalArgs;
use crate::printer::{Colour, Format};

fn global(config: Option<&str>, json: bool) -> GlobalArgs {
    GlobalArgs {
        mcp_config: config.map(PathBuf::from),
        json,
        verbose: 0,
        demo: false,
    }
}

fn resolved(global: &GlobalArgs, variables: &[(&str, &str)], terminal: bool) -> Settings {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| OsString::from(value))
    };
    Settings::from_parts(global, &variable, terminal, terminal)
}

/// BEHAVIOUR K2: the flag wins over the variable, the variable over the default places.
#[test]
fn flag_wins_over_variable_and_an_empty_variable_is_none() {
    let variable = [(CONFIG_VARIABLE, "v.json")];
    let both = resolved(&global(Some("f.json"), false), &variable, false);
    assert_eq!(both.config, ConfigChoice::Flag("f.json".into()));
    let one = resolved(&global(None, false), &variable, false);
    assert_eq!(one.config, ConfigChoice::Variable("v.json".into()));
    for empty in [&[][..], &[(CONFIG_VARIABLE, "")][..]] {
        assert_eq!(
            resolved(&global(None, false), empty, false).config,
            ConfigChoice::Default
        );
    }
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let colour = |variables: &[(&str, &str)], terminal| {
        resolved(&global(None, false), variables, terminal)
            .manner
            .stdout
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
        let settings = resolved(&global(None, json), &[], terminal);
        assert_eq!(settings.manner.spinner, spinner);
        assert_eq!(settings.manner.format == Format::Json, json);
    }
}
