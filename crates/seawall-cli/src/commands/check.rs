//! `seawall check`: what can be said of a configuration without starting anything.

use std::borrow::Cow;
use std::path::Path;

use seawall::config::{
    Checked, ClientConfig, GatewayConfig, Origin, Problem, Warning, check_file, load,
};
use serde::Serialize;

use crate::args::CheckArgs;
use crate::asker;
use crate::failure::{Failure, Status};
use crate::printer::{Look, Place, Printer, visible};
use crate::settings::Settings;

/// What `check --json` shows.
#[derive(Serialize)]
struct Findings<'a> {
    /// Null where no configuration was found.
    path: Option<Cow<'a, str>>,
    servers: Vec<&'a str>,
    disabled: &'a [String],
    gateway: &'a GatewayConfig,
    problems: &'a [Problem],
    warnings: &'a [Warning],
}

pub(crate) fn run(
    args: &CheckArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Status, Failure> {
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
    asker::unless_interrupted()?;
    if printer.is_json() {
        printer.json(&Findings {
            path: path.map(Path::to_string_lossy),
            servers: checked
                .servers
                .iter()
                .map(|config| config.server())
                .collect(),
            disabled: &checked.disabled,
            gateway: &checked.gateway,
            problems: &checked.problems,
            warnings: &checked.warnings,
        });
    } else {
        tell(path, &checked, printer);
    }
    Ok(if checked.problems.is_empty() {
        Status::Done
    } else {
        Status::Usage
    })
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
            if let Some(gateway) = of_gateway(&checked.gateway) {
                printer.data(&format!(
                    "{path}: gateway: {}",
                    visible(&gateway, Place::Line)
                ));
            }
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

/// Who may come to the gateway, and what they are asked for.
fn of_gateway(gateway: &GatewayConfig) -> Option<String> {
    if *gateway == GatewayConfig::default() {
        return None;
    }
    let client = |client: &ClientConfig| {
        let mut ways = Vec::new();
        ways.extend(client.token.map(|_| "token"));
        ways.extend(client.claims.as_ref().map(|_| "access token"));
        if ways.is_empty() {
            ways.push("stdio");
        }
        format!("{} ({})", client.name, ways.join(", "))
    };
    let clients: Vec<String> = gateway.clients.iter().map(client).collect();
    let mut parts = vec![match clients.is_empty() {
        true => "nobody is named".to_owned(),
        false => clients.join(", "),
    }];
    if let Some(auth) = &gateway.auth {
        parts.push(format!("access tokens of {}", auth.issuer));
    }
    if !gateway.hosts.is_empty() {
        parts.push(format!("at {}", gateway.hosts.join(", ")));
    }
    if gateway.tool_search {
        parts.push("tool search".to_owned());
    }
    Some(parts.join("; "))
}
