//! One file or folder per verb, and what they share.

mod call;
mod check;
mod completions;
mod connect;
mod demo_server;
mod doctor;
mod init;
mod journal;
mod login;
mod mcpl;
mod offers;
mod outputs;
mod prompt;
mod prompts;
mod read;
mod resources;
mod run;
mod serve;
mod servers;
mod together;
mod tools;

pub(crate) use init::{HostApp, InitError};
pub(crate) use journal::JournalProblem;

use crate::args::Command;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use crate::settings::Settings;
use servers::ServerSet;
use tokio::runtime::{Builder, Runtime};

/// How many turns other tasks have before the command itself, signals and timers are looked at. Few: a server that
/// floods its output fills each turn, and with the usual 61 the command noticed its deadline 8 MiB of noise late.
const TURNS_BETWEEN_LOOKS: u32 = 4;

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
        Command::Tools(args) => with_servers(args, tools::run, settings, printer),
        Command::Call(args) => {
            let request = call::Request::read(args)?;
            with_servers(request, call::run, settings, printer)
        }
        Command::Resources(args) => with_servers(args, resources::run, settings, printer),
        Command::Read(args) => with_servers(args, read::run, settings, printer),
        Command::Prompts(args) => with_servers(args, prompts::run, settings, printer),
        Command::Prompt(args) => with_servers(args, prompt::run, settings, printer),
        Command::Channels(args) => with_servers(args, mcpl::channels, settings, printer),
        Command::Publish(args) => {
            let publication = mcpl::Publication::read(args)?;
            with_servers(publication, mcpl::publish, settings, printer)
        }
        Command::Doctor(args) => with_servers(args, doctor::run, settings, printer),
        Command::Run(args) => run::run(&args, settings, printer),
        Command::Serve(args) => serve::run(&args, settings, printer),
        Command::Init(args) => init::run(&args, settings, printer),
        Command::Journal(args) => journal::run(&args, settings, printer),
        Command::Login(args) => with_servers(args, login::login, settings, printer),
        Command::Logout(args) => with_servers(args, login::logout, settings, printer),
        Command::Check(args) => check::run(&args, settings, printer),
        Command::DemoServer => demo_server::run(printer),
        Command::Completions(args) => Ok(completions::run(&args, printer)),
    }
}

/// Reads the configuration, then runs `command` on a runtime of its own, listening for signals.
fn with_servers<Args>(
    args: Args,
    command: impl AsyncFnOnce(Args, ServerSet, &mut Interrupts, &mut Printer) -> Result<Status, Failure>,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let servers = ServerSet::load(settings, printer)?;
    let runtime = built(Builder::new_current_thread().event_interval(TURNS_BETWEEN_LOOKS))?;
    runtime.block_on(async {
        let mut interrupts = Interrupts::listen().map_err(Failure::Runtime)?;
        let logins = servers.logins().clone();
        let ended = command(args, servers, &mut interrupts, printer).await;
        logins.settle(&mut interrupts, printer).await;
        ended
    })
}

/// A runtime with I/O, time and signals.
///
/// # Errors
/// [`Failure::Runtime`] with what the system is out of.
fn built(builder: &mut Builder) -> Result<Runtime, Failure> {
    #[cfg(unix)]
    descriptors_to_spare().map_err(Failure::Runtime)?;
    builder.enable_all().build().map_err(Failure::Runtime)
}

/// Refuses where fewer files can be opened than the runtime and its signals need: tokio panics for want of them.
#[cfg(unix)]
fn descriptors_to_spare() -> std::io::Result<()> {
    const PAIRS: usize = 8;
    let pair = |_| std::os::unix::net::UnixStream::pair();
    let pairs: std::io::Result<Vec<_>> = (0..PAIRS).map(pair).collect();
    pairs.map(drop)
}
