//! One file or folder per verb, and what they share.

mod call;
mod check;
mod completions;
mod connect;
mod demo_server;
mod doctor;
mod login;
mod offers;
mod prompt;
mod prompts;
mod read;
mod resources;
mod servers;
mod tools;

use crate::args::Command;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use crate::settings::Settings;
use servers::ServerSet;

/// Runs a command to its end.
///
/// # Errors
/// What kept it from being done.
pub(crate) fn run(
    command: Command,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    match command {
        Command::Tools(args) => {
            with_servers(settings, printer, async |servers, interrupts, printer| {
                tools::run(args, servers, interrupts, printer).await
            })
        }
        Command::Call(args) => {
            let request = call::Request::read(args)?;
            with_servers(settings, printer, async |servers, interrupts, printer| {
                call::run(request, servers, interrupts, printer).await
            })
        }
        Command::Resources(args) => {
            with_servers(settings, printer, async |servers, interrupts, printer| {
                resources::run(args, servers, interrupts, printer).await
            })
        }
        Command::Read(args) => {
            with_servers(settings, printer, async |servers, interrupts, printer| {
                read::run(args, servers, interrupts, printer).await
            })
        }
        Command::Prompts(args) => {
            with_servers(settings, printer, async |servers, interrupts, printer| {
                prompts::run(args, servers, interrupts, printer).await
            })
        }
        Command::Prompt(args) => {
            with_servers(settings, printer, async |servers, interrupts, printer| {
                prompt::run(args, servers, interrupts, printer).await
            })
        }
        Command::Doctor(args) => {
            with_servers(settings, printer, async |servers, interrupts, printer| {
                doctor::run(args, servers, interrupts, printer).await
            })
        }
        Command::Login(args) => {
            with_servers(settings, printer, async |servers, interrupts, printer| {
                login::login(args, servers, interrupts, printer).await
            })
        }
        Command::Logout(args) => {
            with_servers(settings, printer, async |servers, interrupts, printer| {
                login::logout(args, servers, interrupts, printer).await
            })
        }
        Command::Check(args) => Ok(check::run(&args, settings, printer)),
        Command::DemoServer => demo_server::run(printer),
        Command::Completions(args) => Ok(completions::run(&args, printer)),
    }
}

/// Reads the configuration, then runs `work` on a runtime of its own, listening for signals.
fn with_servers(
    settings: &Settings,
    printer: &mut Printer,
    work: impl AsyncFnOnce(ServerSet, &mut Interrupts, &mut Printer) -> Result<Status, Failure>,
) -> Result<Status, Failure> {
    let servers = ServerSet::load(settings, printer)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::Runtime)?;
    runtime.block_on(async {
        let mut interrupts = Interrupts::listen().map_err(Failure::Runtime)?;
        work(servers, &mut interrupts, printer).await
    })
}
