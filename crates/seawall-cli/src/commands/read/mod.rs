//! `seawall read URI`: one resource, its bytes where they are wanted.

mod contents;

use std::path::Path;

use seawall::{Client, Json, Outcome};

use super::connect::{self, Means, Needs, connect, connect_all};
use super::offers::{Offer, asked};
use super::servers::ServerSet;
use crate::args::ReadArgs;
use crate::failure::{Failure, Status, Undone, UsageError};
use crate::interrupt::Interrupts;
use crate::printer::{Place, Printer, visible};
use contents::Part;

pub(crate) async fn run(
    args: ReadArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let means = servers.means_of_a_request(Needs::Anything, printer);
    let only = servers.only(args.server.as_deref())?;
    let client = match only {
        Some(config) => {
            let spinner = printer.spinner(&format!("connecting to {}", config.server()));
            let connected = connect(config, &means, interrupts, printer).await;
            drop(spinner);
            connected.map_err(|failure| Undone::Read.of(failure))?
        }
        None => find(&args.uri, servers, &means, interrupts, printer)
            .await
            .map_err(|failure| Undone::Read.of(failure))?,
    };
    let spinner = printer.spinner(&format!("reading {}", args.uri));
    let read = read(&client, &args.uri, interrupts).await;
    drop(spinner);
    let told =
        read.and_then(|result| show(&result, client.server(), args.output.as_deref(), printer));
    let status = match told {
        Ok(()) => Status::Done,
        Err(failure) => {
            failure.print(printer);
            if let Failure::Server(error) = &failure
                && error.outcome() == Outcome::ErrorResponse
                && !printer.is_json()
            {
                printer.hint(&format!(
                    "`seawall resources --server {}` lists what there is",
                    client.server()
                ));
            }
            failure.status()
        }
    };
    connect::close(client, interrupts, printer).await;
    Ok(status)
}

/// The one server whose list has the URI.
async fn find(
    uri: &str,
    servers: ServerSet,
    means: &Means,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Client, Failure> {
    let configured = servers.ids();
    let selected = servers.select(&[])?;
    let (clients, mut failures) = connect_all(selected, means, interrupts, printer).await?;
    let (offering, mut others): (Vec<Client>, Vec<Client>) = clients
        .into_iter()
        .partition(|client| Offer::Resources.check(client).is_ok());
    let (listed, unlisted) = Offer::Resources
        .list_all(&offering, interrupts, printer)
        .await?;
    failures.extend(unlisted);
    for failure in &failures {
        failure.tell(printer);
    }
    let has_it = |entry: &Json| {
        let listed = entry.member("uri");
        listed.as_ref().and_then(Json::string).as_deref() == Some(uri)
    };
    let servers: Vec<String> = listed
        .into_iter()
        .filter(|list| list.entries.iter().any(has_it))
        .map(|list| list.server)
        .collect();
    let (mut found, rest): (Vec<Client>, Vec<Client>) = offering
        .into_iter()
        .partition(|client| servers == [client.server()]);
    others.extend(rest);
    connect::close_all(others, interrupts, printer).await;
    let found = found.pop();
    found.ok_or_else(|| {
        let uri = uri.to_owned();
        match servers.len() {
            0 => UsageError::UnlistedUri { uri, configured },
            _ => UsageError::SharedUri { uri, servers },
        }
        .into()
    })
}

async fn read(client: &Client, uri: &str, interrupts: &mut Interrupts) -> Result<Json, Failure> {
    Offer::Resources.check(client)?;
    Ok(asked(client.read_resource(uri), interrupts).await?)
}

/// Puts what was read where it is wanted.
fn show(
    result: &Json,
    server: &str,
    output: Option<&Path>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    if printer.is_json() {
        printer.data(result.as_str());
        return Ok(());
    }
    let parts = contents::parts(result).map_err(|fault| Failure::Unusable {
        server: server.to_owned(),
        fault,
    })?;
    match output {
        Some(path) => {
            let bytes = contents::joined(&parts);
            std::fs::write(path, &bytes).map_err(|source| Failure::OutputFile {
                path: path.to_owned(),
                source,
            })?;
            printer.talk(&format!("{} bytes to {}", bytes.len(), path.display()));
        }
        None if !printer.is_terminal() => printer.bytes(&contents::joined(&parts)),
        None => {
            let binary = |part: &Part| match part {
                Part::Text(_) => None,
                Part::Binary(bytes) => Some(bytes.len()),
            };
            if let Some(bytes) = parts.iter().find_map(binary) {
                return Err(UsageError::BinaryToTerminal { bytes }.into());
            }
            let text = contents::joined(&parts);
            let text = String::from_utf8_lossy(&text);
            let text = visible(&text, Place::Block);
            printer.data(text.strip_suffix('\n').unwrap_or(&text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
