//! `seawall prompts`: what there is to start from.

use seawall::Json;

use super::offers::{self, Listed, Offer, cell, said};
use super::servers::ServerSet;
use crate::args::PromptsArgs;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::printer::{Place, Printer, Table, visible};

pub(crate) async fn run(
    args: PromptsArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    offers::run(
        Offer::Prompts,
        args.server,
        servers,
        interrupts,
        printer,
        print,
    )
    .await
}

fn print(listed: &[Listed], printer: &mut Printer) {
    let mut table = Table::new(["PROMPT", "ARGUMENTS", "WHAT THE SERVER SAYS OF IT"]);
    for list in listed {
        for entry in &list.entries {
            let server = visible(&list.server, Place::Line);
            table.row([
                format!("{server}/{}", cell(entry, "name")),
                arguments(entry),
                said(entry, printer),
            ]);
        }
    }
    printer.table(&table);
}

/// The names of a prompt's arguments, optional ones with a question mark.
fn arguments(entry: &Json) -> String {
    let listed = entry.member("arguments").map(|list| list.elements());
    let name = |argument: Json| {
        let required = argument.member("required");
        let is_required = required.is_some_and(|required| required.as_str() == "true");
        let mark = if is_required { "" } else { "?" };
        format!("{}{mark}", cell(&argument, "name"))
    };
    let names = listed.into_iter().flatten().map(name);
    names.collect::<Vec<_>>().join(" ")
}
