//! The `seawall` command line: arguments → settings → command → printer.
//!
//! stdout is data, stderr is talk; the exit status says what became of the request (see [`failure`]).

mod args;
mod arguments;
mod asker;
mod commands;
mod demo_server;
mod failure;
mod inputs;
mod interrupt;
mod logins;
mod printer;
mod settings;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;

use args::Cli;
use failure::{ErrorReport, Failure, Status};
use settings::Settings;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let settings = Settings::resolve(&cli.global);
    let mut printer = settings.printer();
    let status = commands::run(cli.command, &settings, &mut printer).unwrap_or_else(|failure| {
        failure.print(&mut printer);
        failure.status()
    });
    match printer.finish() {
        Ok(()) => status.into(),
        Err(error) => {
            let failure = Failure::Output(error);
            failure.tell(&mut settings.printer());
            // What became of the request outweighs what became of the text about it.
            match status {
                Status::Done => failure.status().into(),
                status => status.into(),
            }
        }
    }
}

/// What clap has to say: help and the version are done, anything else is a usage error.
fn refuse(error: &clap::Error) -> ExitCode {
    // Nobody is left to tell that the terminal is gone.
    let _ = error.print();
    if !error.use_stderr() {
        return Status::Done.into();
    }
    let wants_json = std::env::args_os()
        .take_while(|arg| arg != "--")
        .any(|arg| arg == "--json");
    if wants_json {
        let rendered = error.render().to_string();
        // What is missing stands on lines of its own, before the first empty one.
        let lines = rendered.lines().map(str::trim);
        let message: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        let message = message.join(" ");
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        let mut printer = Settings::json_only().printer();
        printer.json(&ErrorReport::usage(message));
    }
    Status::Usage.into()
}
