//! Seawall's client, `rmcp`'s, and a raw floor (write the line, read the line, match nothing) against the same server, over
//! stdio and over HTTP.
//!
//! One run interleaves them: each repetition goes through all cells, each cell through all clients, so that whatever
//! drifts hits all alike. Every measurement is a process of its own, so that its CPU time and its memory are its own;
//! the server is this same program again.
//!
//! It reports ratios and says of each aim whether it is met; it never passes or fails.

mod client;
mod measure;
mod plan;
mod report;
mod run;
mod server;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use plan::{Effort, Job, Over};

const USAGE: &str = "usage: cargo bench [-- [stdio|http] [--quick] [--repetitions N] [--no-write]]

  stdio, http        only this half; the other half of the report stays as it is
  --quick            a smoke test of under a minute, which writes nothing
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
        ["client", job] => measure_one(job),
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
    let mut halves = &Over::ALL[..];
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            // Cargo's own.
            "--bench" => {}
            "--quick" => {
                effort = Effort::quick();
                write = false;
            }
            "stdio" => halves = &[Over::Stdio],
            "http" => halves = &[Over::Http],
            "--no-write" => write = false,
            "--repetitions" => {
                let count = args.next().context("--repetitions takes a number")?;
                effort.repetitions = count.parse().context("--repetitions takes a number")?;
            }
            _ => bail!("{arg} is not known\n{USAGE}"),
        }
    }
    let results = run::run(&effort, halves)?;
    let machine = report::Machine::look(&effort);
    for &over in halves {
        let tables = report::markdown(&results, &machine, over);
        io::stdout().write_all(tables.as_bytes())?;
        if write {
            let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
            report::write(&docs, over, &tables, &report::svg(&results, over))?;
        }
    }
    Ok(())
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
fn measure_one(job: &str) -> Result<()> {
    let job: Job = serde_json::from_str(job)?;
    let sample = client::measure(&job)?;
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
