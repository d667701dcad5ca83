//! Runs the plan, one process per measurement.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::plan::{Cell, Effort, Job, Kind, Over, Sample, cells};
use crate::say;
use crate::server::HttpServer;

/// A measurement that takes longer than its own time and this has hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// What all repetitions gave.
pub(crate) struct Results {
    rows: Vec<(Cell, Row)>,
}

/// What one client gave in one cell, per repetition.
#[derive(Default)]
struct Row {
    samples: BTreeMap<&'static str, Vec<Result<Sample, String>>>,
}

impl Results {
    /// The samples of a client, in the order of the repetitions; those that failed are left out.
    pub(crate) fn samples(&self, cell: Cell, kind: Kind) -> Vec<Option<Sample>> {
        let row = self.rows.iter().find(|(other, _)| *other == cell);
        let samples = row.and_then(|(_, row)| row.samples.get(kind.name()));
        let samples = samples.map_or(&[][..], Vec::as_slice);
        samples
            .iter()
            .map(|sample| sample.as_ref().ok().copied())
            .collect()
    }

    /// Every failure of a half, in words.
    pub(crate) fn failures(&self, over: Over) -> Vec<String> {
        let mut failures = Vec::new();
        for (cell, row) in self.rows.iter().filter(|(cell, _)| cell.over == over) {
            for (name, samples) in &row.samples {
                let mut failed = samples.iter().filter_map(|sample| sample.as_ref().err());
                let count = failed.clone().count();
                if let Some(reason) = failed.next_back() {
                    let of = samples.len();
                    failures.push(format!(
                        "{name}, {}: {count} of {of} failed: {reason}",
                        cell.label()
                    ));
                }
            }
        }
        failures
    }
}

/// Measures these halves.
pub(crate) fn run(effort: &Effort, halves: &[Over]) -> Result<Results> {
    let mut results = Results {
        rows: cells(halves)
            .into_iter()
            .map(|cell| (cell, Row::default()))
            .collect(),
    };
    for repetition in 0..effort.repetitions {
        for (cell, row) in &mut results.rows {
            say(&format!(
                "{} of {}: {}\n",
                repetition + 1,
                effort.repetitions,
                cell.label()
            ));
            let server = match cell.over {
                Over::Stdio => None,
                Over::Http => Some(HttpServer::start(*cell)?),
            };
            let address = server.as_ref().map(|server| server.address);
            // Nobody is always first.
            for turn in 0..Kind::ALL.len() {
                let Some(&kind) = Kind::ALL.get((turn + repetition) % Kind::ALL.len()) else {
                    continue;
                };
                let sample = measure(&effort.job(kind, *cell, address))
                    .map_err(|error| format!("{error:#}"));
                if let Err(reason) = &sample {
                    say(&format!("  {}: {reason}\n", kind.name()));
                }
                row.samples.entry(kind.name()).or_default().push(sample);
            }
        }
    }
    Ok(results)
}

fn measure(job: &Job) -> Result<Sample> {
    let output = process(
        &["client", &serde_json::to_string(job)?],
        job.warm_up + job.length,
    )?;
    Ok(serde_json::from_slice(&output)?)
}

/// What this program prints when it is run with these arguments; its own time is that long.
pub(crate) fn process(args: &[&str], time: Duration) -> Result<Vec<u8>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(args)
        // Every client honours it, and nothing here leaves the machine.
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let bound = time + PATIENCE;
    let output = read_within(&mut child, bound);
    if output.is_err() {
        // It may have ended meanwhile.
        let _ = child.kill();
    }
    let status = child.wait()?;
    let output = output?;
    if !status.success() {
        let mut reason = String::new();
        child
            .stderr
            .take()
            .context("no stderr")?
            .take(1 << 16)
            .read_to_string(&mut reason)?;
        bail!("{}", reason.trim());
    }
    Ok(output)
}

/// All that the child prints, if it ends in time.
fn read_within(child: &mut Child, bound: Duration) -> Result<Vec<u8>> {
    let mut stdout = child.stdout.take().context("no stdout")?;
    let until = Instant::now() + bound;
    let mut output = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left)?;
        if poll(&mut [PollFd::new(&stdout, PollFlags::IN)], Some(&left))? == 0 {
            bail!("no end within {} s", bound.as_secs());
        }
        match stdout.read(&mut chunk)? {
            0 => return Ok(output),
            read => output.extend_from_slice(chunk.get(..read).unwrap_or_default()),
        }
    }
}
