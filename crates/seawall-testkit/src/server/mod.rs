//! What `scripted-server` does: follows a script, serves, or echoes.
//!
//! **Invariant:** stdout is written only through `emit`, one whole buffer at a time, so replies of several threads never mix.

mod echo;
mod run;
mod serve;
mod wire;

use std::time::Duration;

use crate::{EXIT_IO, EXIT_UNEXPECTED, EXIT_USAGE, Grandchild, LIFETIME, Script, pause};
use run::Runner;

pub(crate) use wire::{Incoming, Wire, complain, emit};

/// Why a script ends before its last step.
#[derive(Debug)]
pub(crate) enum End {
    /// The script says so.
    Exit(u8),
    /// A line that the script does not expect, or none.
    Unexpected(String),
    /// Its own input or output failed.
    Io(std::io::Error),
}

impl From<std::io::Error> for End {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Runs the program with these arguments (its own name left out) and gives its exit status.
pub fn main(args: impl Iterator<Item = String>) -> u8 {
    limit_core_dumps();
    limit_lifetime();
    let args: Vec<String> = args.collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match *args.as_slice() {
        ["plain"] => status(Runner::new(Script::plain()).run()),
        ["script", text] => script(text),
        ["mcpl", text] => mcpl(text),
        [verb @ ("script-file" | "mcpl-file"), path] => match std::fs::read_to_string(path) {
            Ok(text) if verb == "mcpl-file" => mcpl(&text),
            Ok(text) => script(&text),
            Err(error) => usage(&format!("{path}: {error}")),
        },
        ["echo", "--bytes", bytes] => match bytes.parse() {
            Ok(bytes) => status(echo::echo(bytes).map_err(End::Io)),
            Err(_) => usage("--bytes takes a number"),
        },
        ["grandchild", text] => match serde_json::from_str::<Grandchild>(text) {
            Ok(grandchild) => status(run::be_grandchild(&grandchild)),
            Err(error) => usage(&error.to_string()),
        },
        ["parent", text] => status(run::be_parent(text)),
        _ => usage(
            "scripted-server plain | script JSON | script-file PATH | mcpl JSON | mcpl-file PATH | echo --bytes N",
        ),
    }
}

/// It ends with its input, or where its script breaks off; only a script that is none is told.
fn mcpl(text: &str) -> u8 {
    match crate::mcpl::play_stdio(text) {
        Ok(()) => 0,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => 1,
        Err(error) => status(Err(End::Io(error))),
    }
}

fn script(text: &str) -> u8 {
    match serde_json::from_str(text) {
        Ok(script) => status(Runner::new(script).run()),
        Err(error) => usage(&format!("not a script: {error}")),
    }
}

fn status(end: Result<(), End>) -> u8 {
    match end {
        Ok(()) => 0,
        Err(End::Exit(code)) => code,
        Err(End::Unexpected(reason)) => {
            complain(&reason);
            EXIT_UNEXPECTED
        }
        Err(End::Io(error)) => {
            complain(&error.to_string());
            EXIT_IO
        }
    }
}

fn usage(reason: &str) -> u8 {
    complain(reason);
    EXIT_USAGE
}

/// A script that dies by SIGSEGV must not litter the tests' folder.
fn limit_core_dumps() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Without the limit the test is still right, only less tidy.
    let _ = setrlimit(Resource::Core, none);
}

/// Whatever the script or its test does, the process ends some day.
fn limit_lifetime() {
    let watchdog = std::thread::Builder::new().stack_size(64 * 1024).spawn(|| {
        pause(LIFETIME);
        std::process::exit(EXIT_IO.into());
    });
    // A process without a watchdog is still right.
    drop(watchdog);
}

/// Lives on without reading or writing, for as long as the watchdog lets it.
pub(crate) fn hang() -> ! {
    loop {
        pause(Duration::from_secs(3600));
    }
}
