//! `seawall doctor`: connects, looks, closes, and says how each server is.

mod checkup;
mod remedy;
mod table;

use std::sync::Arc;
use std::time::Instant;

use seawall::Observer;
use seawall::config::ServerConfig;
use seawall::inputs::Suppliers;
use tokio::task::JoinSet;

use super::connect;
use super::servers::{ServerSet, hint_no_servers};
use crate::args::DoctorArgs;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::printer::{Heard, Printer};
use checkup::Checkup;

pub(crate) async fn run(
    args: DoctorArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    if servers.is_empty() {
        hint_no_servers(printer);
    }
    let suppliers = servers.inputs().of_a_look();
    let selected = servers.select(&args.servers)?;
    let many = selected.len();
    let spinner = printer.spinner(&format!(
        "looking at {many} server{}",
        if many == 1 { "" } else { "s" }
    ));
    let mut looking = JoinSet::new();
    for (place, config) in selected.into_iter().enumerate() {
        let (suppliers, aloud) = (suppliers.clone(), printer.observer());
        looking.spawn(async move { (place, look(config, suppliers, aloud).await) });
    }
    let mut checkups: Vec<(usize, Checkup)> = Vec::with_capacity(many);
    loop {
        // Dropping the set ends whatever is still under way, and its children.
        match interrupts.unless(looking.join_next()).await {
            Ok(Some(Ok(found))) => checkups.push(found),
            Ok(Some(Err(error))) => return Err(Failure::Runtime(error.into())),
            Ok(None) => break,
            Err(_) => return Err(Failure::Interrupted { server: None }),
        }
    }
    drop(spinner);
    checkups.sort_by_key(|(place, _)| *place);
    let checkups: Vec<Checkup> = checkups.into_iter().map(|(_, checkup)| checkup).collect();
    let status = checkups
        .iter()
        .map(Checkup::status)
        .max()
        .unwrap_or(Status::Done);
    if printer.is_json() {
        printer.json(&checkups);
    } else {
        table::print(&checkups, printer);
    }
    Ok(status)
}

async fn look(
    config: ServerConfig,
    suppliers: Suppliers,
    aloud: Option<Arc<dyn Observer>>,
) -> Checkup {
    let server = config.server().to_owned();
    let heard = Arc::new(Heard::before(aloud));
    let begun = Instant::now();
    let connected = connect::builder(config, suppliers, Some(Arc::clone(&heard) as _))
        .connect()
        .await;
    let connect = begun.elapsed();
    let client = match connected {
        Ok(client) => client,
        Err(error) => return Checkup::of_failure(server, connect, &error, &heard),
    };
    let report = client.report();
    let invisible = checkup::invisible_texts(client.catalog());
    let begun = Instant::now();
    let closed = client.close().await;
    Checkup::of_connection(
        server,
        connect,
        &report,
        invisible,
        begun.elapsed(),
        closed.err().as_ref(),
        &heard,
    )
}
