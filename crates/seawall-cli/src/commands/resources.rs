//! `seawall resources`: what there is to read.

use super::offers::{self, Listed, Offer, cell, said};
use super::servers::ServerSet;
use crate::args::ResourcesArgs;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::printer::{Place, Printer, Table, visible};

pub(crate) async fn run(
    args: ResourcesArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let (offer, address) = if args.templates {
        (Offer::Templates, "uriTemplate")
    } else {
        (Offer::Resources, "uri")
    };
    let print = |listed: &[Listed], printer: &mut Printer| {
        let heading = if args.templates {
            "URI TEMPLATE"
        } else {
            "URI"
        };
        let mut table = Table::new([
            "SERVER",
            heading,
            "NAME",
            "TYPE",
            "WHAT THE SERVER SAYS OF IT",
        ]);
        for list in listed {
            for entry in &list.entries {
                table.row([
                    visible(&list.server, Place::Line).into_owned(),
                    cell(entry, address),
                    cell(entry, "name"),
                    cell(entry, "mimeType"),
                    said(entry, printer),
                ]);
            }
        }
        printer.table(&table);
    };
    offers::run(offer, args.server, servers, interrupts, printer, print).await
}
