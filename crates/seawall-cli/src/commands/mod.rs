//! One file per verb.

mod completions;
mod demo_server;

use crate::args::Command;
use crate::failure::{Failure, Status};
use crate::printer::Printer;
use crate::settings::Settings;

/// Runs a command to its end.
///
/// # Errors
/// What kept it from being done.
pub(crate) fn run(
    command: Command,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let _ = settings;
    match command {
        Command::DemoServer => demo_server::run(printer),
        Command::Completions(args) => Ok(completions::run(&args, printer)),
        _ => Ok(Status::Done),
    }
}
