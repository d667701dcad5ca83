//! `seawall doctor`: connects, looks, closes, and says how each server is.

mod checkup;
mod mcpl;
mod remedy;
mod table;

use std::sync::Arc;
use std::time::Instant;

use seawall::Observer;
use seawall::config::ServerConfig;

use super::connect::{self, Means};
use super::outputs;
use super::servers::{ServerSet, hint_no_servers};
use super::together::together;
use crate::args::DoctorArgs;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::printer::{Heard, Printer};
use checkup::{Checkup, Place, Seen};

pub(crate) async fn run(
    args: DoctorArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    if servers.is_empty() {
        hint_no_servers(printer);
    }
    let means = servers.means_of_a_look();
    let selected = servers.select(&args.servers)?;
    let many = selected.len();
    let spinner = printer.spinner(&format!(
        "looking at {many} server{}",
        if many == 1 { "" } else { "s" }
    ));
    let works: Vec<_> = selected
        .into_iter()
        .map(|config| look(config, means.clone(), printer.observer()))
        .collect();
    let checkups = together(works, interrupts).await;
    drop(spinner);
    let checkups = checkups?;
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

async fn look(config: ServerConfig, means: Means, aloud: Option<Arc<dyn Observer>>) -> Checkup {
    let mut place = Place::of(&config);
    place.login = means.logins.state(&config).await;
    let heard = Arc::new(Heard::before(aloud));
    let begun = Instant::now();
    let connected = connect::builder(&config, &means, Some(Arc::clone(&heard) as _))
        .connect()
        .await;
    let connect = begun.elapsed();
    let client = match connected {
        Ok(client) => client,
        Err(error) => return Checkup::of_failure(place, connect, &error, &heard),
    };
    let mut seen = Seen::of(&client, mcpl::look(&client, &config).await);
    let flows = client.flows().to_vec();
    let begun = Instant::now();
    let closed = client.close().await;
    let close = begun.elapsed();
    seen.unusable = outputs::unusable(&flows).await;
    Checkup::of_connection(place, connect, &seen, close, closed.err().as_ref(), &heard)
}
