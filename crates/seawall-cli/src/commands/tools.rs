//! `seawall tools`: what the servers offer.

use std::collections::HashSet;

use seawall::Client;
use seawall::config::ServerConfig;
use seawall::flows::Flow;
use serde::Serialize;
use serde_json::Value;

use super::connect::{self, Means, connect_all};
use super::offers::first_line;
use super::outputs::{self, Unusable};
use super::servers::{ServerSet, hint_no_servers};
use crate::args::ToolsArgs;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::printer::{Place, Printer, Table, visible};

/// So many tools of a server that are left out are told of one by one.
const MAX_TOLD: usize = 10;

/// One tool in `tools --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    name: &'a str,
    server: &'a str,
    tool: &'a str,
    description: &'a str,
    input_schema: &'a seawall::Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a seawall::Json>,
    digest: String,
    /// Why it cannot be called, if its `outputSchema` cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    unusable: Option<&'a str>,
}

pub(crate) async fn run(
    args: ToolsArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let none = servers.is_empty();
    let ids: Vec<String> = args.server.into_iter().collect();
    let means = servers.means_of_a_look();
    let selected: Vec<ServerConfig> = servers.select(&ids)?;
    if none {
        hint_no_servers(printer);
    }
    let (clients, failures) = connect_all(selected.clone(), &means, interrupts, printer).await?;
    if printer.verbosity() == 0 {
        // Else it was told with each connection.
        tell_logins(&selected, &means, printer).await;
    }
    let nothing_else = clients.is_empty();
    let status = connect::tell_failures(&failures, nothing_else, printer);
    if nothing_else && !failures.is_empty() {
        return Ok(status);
    }
    let mut unusable = Vec::with_capacity(clients.len());
    for client in &clients {
        let of_client = interrupts.unless(outputs::unusable(client.flows())).await;
        unusable.push(of_client.unwrap_or_default());
    }
    print(&clients, &unusable, printer);
    for (client, unusable) in clients.iter().zip(&unusable) {
        tell_left_out(client, printer);
        tell_unusable(client, unusable, printer);
    }
    connect::close_all(clients, interrupts, printer).await;
    Ok(status)
}

/// One line of each server that there is a login for.
async fn tell_logins(configs: &[ServerConfig], means: &Means, printer: &mut Printer) {
    for config in configs {
        if let Some(login) = means.logins.state(config).await
            && login.is_there()
        {
            let server = visible(config.server(), Place::Line);
            printer.talk(&format!("{server}: {}", login.words()));
        }
    }
}

/// Warns of the tools that break a rule, and so are none (L7, T2).
fn tell_left_out(client: &Client, printer: &mut Printer) {
    let server = visible(client.server(), Place::Line);
    let left_out = client.catalog().quarantined();
    for tool in left_out.iter().take(MAX_TOLD) {
        let name = match &tool.name {
            Some(name) => format!("tool \"{}\"", visible(name, Place::Line)),
            None => format!("tool {} of its list", tool.index),
        };
        printer.warning(&format!("{server}: {name} is left out: it {}", tool.fault));
    }
    if let Some(more @ 1..) = left_out.len().checked_sub(MAX_TOLD) {
        printer.warning(&format!(
            "{server}: {more} more of its tools are left out; `seawall doctor` names them"
        ));
    }
}

/// Warns of the tools that cannot be called (S11).
fn tell_unusable(client: &Client, unusable: &[Unusable], printer: &mut Printer) {
    let server = visible(client.server(), Place::Line);
    for tool in unusable.iter().take(MAX_TOLD) {
        printer.warning(&format!("{server}: {}", tool.remedy()));
    }
    if let Some(more @ 1..) = unusable.len().checked_sub(MAX_TOLD) {
        printer.warning(&format!(
            "{server}: {more} more of its tools cannot be called; `seawall doctor` names them"
        ));
    }
}

/// What the servers offer; of each, besides, which of its tools cannot be called.
fn print(clients: &[Client], unusable: &[Vec<Unusable>], printer: &mut Printer) {
    if printer.is_json() {
        let mut all: Vec<Listed<'_>> = Vec::new();
        for (client, unusable) in clients.iter().zip(unusable) {
            all.extend(client.flows().iter().map(|flow| listed(flow, unusable)));
        }
        printer.json(&all);
        return;
    }
    if clients.iter().all(|client| client.flows().is_empty()) {
        if !clients.is_empty() {
            printer.talk("no tools");
        }
        return;
    }
    let mut table = Table::new(["FLOW", "ARGUMENTS", "WHAT THE SERVER SAYS OF IT"]);
    for client in clients {
        for flow in client.flows() {
            let said = client
                .catalog()
                .get(flow.tool())
                .and_then(|tool| tool.description())
                .unwrap_or_default();
            let said = if printer.verbosity() > 0 {
                said.trim()
            } else {
                first_line(said)
            };
            table.row([
                visible(flow.name(), Place::Line).into_owned(),
                visible(&arguments(flow), Place::Line).into_owned(),
                visible(said, Place::Block).into_owned(),
            ]);
        }
    }
    printer.table(&table);
}

fn listed<'a>(flow: &'a Flow, unusable: &'a [Unusable]) -> Listed<'a> {
    let unusable = unusable.iter().find(|tool| tool.tool == flow.tool());
    Listed {
        name: flow.name(),
        server: flow.server(),
        tool: flow.tool(),
        description: flow.description(),
        input_schema: flow.input_document(),
        output_schema: flow.output_document(),
        digest: flow.digest().to_string(),
        unusable: unusable.map(|tool| tool.reason.as_str()),
    }
}

/// The names of a tool's arguments, optional ones with a question mark.
fn arguments(flow: &Flow) -> String {
    let schema: Value = flow.input_document().parse_replacing().unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array);
    let required: HashSet<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return String::new();
    };
    let mut names: Vec<(bool, &String)> = properties
        .keys()
        .map(|name| (!required.contains(name.as_str()), name))
        .collect();
    names.sort();
    let names = names.iter().map(|(optional, name)| {
        if *optional {
            format!("{name}?")
        } else {
            (*name).clone()
        }
    });
    names.collect::<Vec<_>>().join(" ")
}
