//! `seawall check`: what can be said of a configuration without starting anything.

use std::path::Path;

use seawall::config::{Checked, Origin, Problem, Warning, check_file, load};
use serde::Serialize;

use crate::args::CheckArgs;
use crate::failure::Status;
use crate::printer::{Look, Place, Printer, visible};
use crate::settings::Settings;

/// What `check --json` shows.
#[derive(Serialize)]
struct Findings<'a> {
    /// Null where no configuration was found.
    path: Option<&'a Path>,
    servers: Vec<&'a str>,
    disabled: &'a [String],
    problems: &'a [Problem],
    warnings: &'a [Warning],
}

pub(crate) fn run(args: &CheckArgs, settings: &Settings, printer: &mut Printer) -> Status {
    let found = match &args.file {
        Some(path) => Some((Origin::Argument, path.clone())),
        None => settings.lookup.locate(),
    };
    let path = found.as_ref().map(|(_, path)| path.as_path());
    let checked = match &args.file {
        Some(path) => check_file(
            path,
            Origin::Argument,
            &settings.lookup.working_dir,
            &settings.asker,
        ),
        None => load(&settings.lookup, &settings.asker),
    };
    if printer.is_json() {
        printer.json(&Findings {
            path,
            servers: checked
                .servers
                .iter()
                .map(|config| config.server())
                .collect(),
            disabled: &checked.disabled,
            problems: &checked.problems,
            warnings: &checked.warnings,
        });
    } else {
        tell(path, &checked, printer);
    }
    if checked.problems.is_empty() {
        Status::Done
    } else {
        Status::Usage
    }
}

fn tell(path: Option<&Path>, checked: &Checked, printer: &mut Printer) {
    for problem in &checked.problems {
        printer.error(&problem.to_string());
    }
    for warning in &checked.warnings {
        printer.warning(&warning.to_string());
    }
    let Some(path) = path else {
        super::servers::hint_no_servers(printer);
        return;
    };
    let colour = printer.colour();
    let path = path.display().to_string();
    let path = visible(&path, Place::Line);
    match checked.problems.len() {
        0 => {
            let ids: Vec<&str> = checked
                .servers
                .iter()
                .map(|config| config.server())
                .collect();
            let ids = if ids.is_empty() {
                "no servers".to_owned()
            } else {
                ids.join(", ")
            };
            let word = colour.paint(Look::Good, "good");
            printer.data(&format!("{path}: {word} ({})", visible(&ids, Place::Line)));
        }
        many => {
            let word = colour.paint(Look::Bad, if many == 1 { "1 problem" } else { "problems" });
            let count = if many == 1 {
                String::new()
            } else {
                format!("{many} ")
            };
            printer.data(&format!("{path}: {count}{word}"));
        }
    }
}
