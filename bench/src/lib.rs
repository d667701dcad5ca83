//! Calls: Seawall's client, `rmcp`'s, and a raw floor (write the line, read the line, match nothing) against the same server, over
//! stdio and over HTTP. Many servers: Seawall's host, and `rmcp` in a loop. Redaction: beside a plain search. Gateways: Seawall's
//! beside those of others.
//!
//! One run interleaves them: each repetition goes through all cells, each cell through all clients, so that whatever
//! drifts hits all alike. Every measurement is a process of its own, so that its CPU time and its memory are its own;
//! the server is this same program again.
//!
//! It reports ratios and says of each aim whether it is met; it never passes or fails.

mod client;
mod gateway;
mod measure;
mod plan;
mod redact;
mod report;
mod run;
mod scale;
mod server;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use plan::{Effort, Over};
use serde::Serialize;

const USAGE: &str =
    "usage: cargo bench [-- [stdio|http|host|redact|gateway] [--quick] [--repetitions N] [--no-write]]

  stdio, http, host, redact
                     only this part; the others of the report stay as they are
  gateway            the part that is not in a run of all: it takes ten minutes, and `cargo xtask peers --gateways` first
  --quick            a smoke test of a minute or two, which writes nothing
  --repetitions N    how often each cell is measured (default 7)
  --no-write         print the table only, leave docs/ alone
";

/// The command.
pub fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match *args.as_slice() {
        ["server", core, ref rest @ ..] => return serve(core, rest),
        ["http-server", core, bytes] => serve_http(core, bytes),
        ["client", job] => print(client::measure, job),
        ["gateway-client", job] => print(gateway::measure, job),
        ["scale", job] => print(scale::measure, job),
        ["scale-server", core, tools, manner] => scale::serve(core, tools, manner),
        _ => bench(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{error:#}\n"));
            ExitCode::from(2)
        }
    }
}

/// Runs the whole plan and reports it.
fn bench(args: &[&str]) -> Result<()> {
    let mut effort = Effort::full();
    let mut write = true;
    let mut parts = &Part::ALL[..];
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            // Cargo's own.
            "--bench" => {}
            "--quick" => {
                effort = Effort::quick();
                write = false;
            }
            "stdio" => parts = &[Part::Calls(Over::Stdio)],
            "http" => parts = &[Part::Calls(Over::Http)],
            "host" => parts = &[Part::Host],
            "redact" => parts = &[Part::Redact],
            "gateway" => parts = &[Part::Gateway],
            "--no-write" => write = false,
            "--repetitions" => {
                let count = args.next().context("--repetitions takes a number")?;
                effort.repetitions = count.parse().context("--repetitions takes a number")?;
            }
            _ => bail!("{arg} is not known\n{USAGE}"),
        }
    }
    let machine = report::Machine::look(&effort);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let docs = write.then_some(&*docs);
    let halves: Vec<Over> = parts.iter().copied().filter_map(Part::over).collect();
    let results = run::run(&effort, &halves)?;
    for &over in &halves {
        let tables = report::markdown(&results, &machine, over);
        publish(docs, over.name(), &tables)?;
        if let Some(docs) = docs {
            report::write_chart(docs, over, &report::svg(&results, over))?;
        }
    }
    if parts.contains(&Part::Host) {
        let tables = report::host(&scale::run(&effort)?, &machine);
        publish(docs, "host", &tables)?;
    }
    if parts.contains(&Part::Redact) {
        let tables = report::redact(&redact::run(&effort)?, &machine);
        publish(docs, "redact", &tables)?;
    }
    if parts.contains(&Part::Gateway) {
        let tables = report::gateway(&gateway::run(&effort)?, &machine);
        publish(docs, "gateway", &tables)?;
    }
    Ok(())
}

/// What can be measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Calls(Over),
    Host,
    Redact,
    Gateway,
}

impl Part {
    /// Of a run of all.
    const ALL: [Self; 4] = [
        Self::Calls(Over::Stdio),
        Self::Calls(Over::Http),
        Self::Host,
        Self::Redact,
    ];

    fn over(self) -> Option<Over> {
        match self {
            Self::Calls(over) => Some(over),
            Self::Host | Self::Redact | Self::Gateway => None,
        }
    }
}

/// Prints a part's tables, and writes them to their place of the page.
fn publish(docs: Option<&Path>, part: &str, tables: &str) -> Result<()> {
    io::stdout().write_all(tables.as_bytes())?;
    docs.map_or(Ok(()), |docs| report::write(docs, part, tables))
}

/// The server: pinned to a core if one is named, else as it was started.
fn serve(core: &str, args: &[&str]) -> ExitCode {
    if let Ok(core) = core.parse() {
        // Unpinned it still answers; the measurement is only noisier.
        let _ = measure::pin(core);
    }
    let args = args.iter().map(|&arg| arg.to_owned());
    ExitCode::from(seawall_testkit::server::main(args))
}

/// The server of a cell over HTTP.
fn serve_http(core: &str, bytes: &str) -> Result<()> {
    server::run(core.parse()?, bytes.parse()?)
}

/// One measurement, its sample on stdout.
fn print<S: Serialize>(measure: impl Fn(&str) -> Result<S>, job: &str) -> Result<()> {
    let sample = measure(job)?;
    let mut stdout = io::stdout();
    serde_json::to_writer(&mut stdout, &sample)?;
    stdout.flush()?;
    // What is still in flight dies with the process, and the server with its stdin.
    std::process::exit(0)
}

/// Talk goes to stderr.
fn say(text: &str) {
    // Nobody may be listening any more.
    let _ = io::stderr().write_all(text.as_bytes());
}
