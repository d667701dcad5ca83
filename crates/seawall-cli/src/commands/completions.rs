//! `seawall completions SHELL`.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::failure::Status;
use crate::printer::Printer;

pub(crate) fn run(args: &CompletionsArgs, printer: &mut Printer) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "seawall", &mut script);
    printer.data(String::from_utf8_lossy(&script).trim_end());
    Status::Done
}
