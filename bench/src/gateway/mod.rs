//! Calls through a gateway that joins two transports: over stdio in front of a server behind HTTP, and over HTTP in front of a
//! program. Through Seawall's, through those of others, and without any: one bare hop.
//!
//! Each measurement is a process of its own, which starts the gateway, calls as a bare client does, and ends it.

mod post;
mod start;
mod stdio;

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::measure::{pin, two_cores};
use crate::plan::{self, Cell, Effort, Kind, Load, Over, Sample};
use crate::{run, say};
use start::Standing;

/// Bytes of the text in each result.
pub(crate) const SIZES: [usize; 2] = [100, 100_000];
/// So many calls at a time.
pub(crate) const IN_FLIGHT: usize = 64;
/// No gateway.
pub(crate) const BARE: &str = "one bare hop";
pub(crate) const SEAWALL: &str = "Seawall";

/// One gateway, as it is started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Gateway {
    pub(crate) name: String,
    version: String,
    /// For one client over stdio, in front of a server behind a URL; nothing if there is no gateway.
    stdio: Vec<String>,
    /// Over HTTP, in front of a program.
    http: Vec<String>,
}

/// What one process is told. What goes over in a cell is what the client speaks.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    gateway: Gateway,
    job: plan::Job,
    /// Instead of a while: so many calls, with the memory after a tenth of them.
    calls: Option<u64>,
}

/// What one process found.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) sample: Option<Sample>,
    /// Resident bytes of the gateway's own process at the end; of none, 0.
    pub(crate) bytes: u64,
    /// After a tenth of the calls.
    pub(crate) bytes_before: u64,
}

/// What all repetitions gave.
pub(crate) struct Compared {
    pub(crate) gateways: Vec<Gateway>,
    samples: BTreeMap<(String, String), Vec<Result<Found, String>>>,
    /// Of Seawall, over HTTP: how many calls, and what was resident after a tenth and after all.
    pub(crate) long: Option<(u64, Found)>,
}

impl Compared {
    /// What each repetition gave of a gateway in a cell.
    pub(crate) fn found(&self, cell: Cell, gateway: &str) -> Vec<Option<Found>> {
        let key = (cell.label(), gateway.to_owned());
        let found = self.samples.get(&key).into_iter().flatten();
        found.map(|found| found.as_ref().ok().copied()).collect()
    }

    /// Every failure, in words.
    pub(crate) fn failures(&self) -> Vec<String> {
        let all = self.samples.iter().flat_map(|((cell, gateway), found)| {
            let mut failed = found.iter().filter_map(|found| found.as_ref().err());
            let count = failed.clone().count();
            let of = found.len();
            let last = failed.next_back();
            last.map(|reason| format!("{gateway}, {cell}: {count} of {of} failed: {reason}"))
        });
        all.collect()
    }
}

/// The cells, in the order of one repetition.
pub(crate) fn cells() -> Vec<Cell> {
    let loads = [Load::Alone, Load::InFlight(IN_FLIGHT)];
    let fronts = [Over::Stdio, Over::Http];
    let all = loads.into_iter().flat_map(|load| {
        let sized = SIZES.into_iter();
        sized.flat_map(move |size| fronts.map(|over| Cell::new(over, load, size)))
    });
    all.collect()
}

/// Measures, one process after the other.
pub(crate) fn run(effort: &Effort) -> Result<Compared> {
    let gateways = start::gateways()?;
    let mut compared = Compared {
        samples: BTreeMap::new(),
        gateways: gateways.clone(),
        long: None,
    };
    for repetition in 0..effort.repetitions {
        for cell in cells() {
            let (count, of) = (repetition + 1, effort.repetitions);
            say(&format!("{count} of {of}: gateways, {}\n", cell.label()));
            // Nobody is always first.
            let mut turns = gateways.clone();
            turns.rotate_left(repetition % gateways.len());
            for gateway in turns {
                let key = (cell.label(), gateway.name.clone());
                let found = measured(effort, cell, gateway, None);
                if let Err(reason) = &found {
                    say(&format!("  {}: {reason}\n", key.1));
                }
                compared.samples.entry(key).or_default().push(found);
            }
        }
    }
    if let Some(seawall) = gateways.into_iter().find(|one| one.name == SEAWALL) {
        // A smoke test has no time for a million.
        let calls = if effort.repetitions > 1 {
            1_000_000
        } else {
            20_000
        };
        say(&format!("{calls} calls through {SEAWALL}\n"));
        let cell = Cell::new(Over::Http, Load::InFlight(IN_FLIGHT), 100);
        match measured(effort, cell, seawall, Some(calls)) {
            Ok(found) => compared.long = Some((calls, found)),
            Err(reason) => say(&format!("  {reason}\n")),
        }
    }
    Ok(compared)
}

fn measured(
    effort: &Effort,
    cell: Cell,
    gateway: Gateway,
    calls: Option<u64>,
) -> Result<Found, String> {
    let job = Job {
        gateway,
        job: effort.job(Kind::Floor, cell, None),
        calls,
    };
    // The slowest imaginable still makes a thousand calls in a second.
    let time = effort.length * 2 + std::time::Duration::from_millis(calls.unwrap_or(0));
    let found = serde_json::to_string(&job)
        .map_err(anyhow::Error::from)
        .and_then(|job| run::process(&["gateway-client", &job], time))
        .and_then(|output| Ok(serde_json::from_slice(&output)?));
    found.map_err(|error| format!("{error:#}"))
}

/// One process's measurement.
pub(crate) fn measure(job: &str) -> Result<Found> {
    let job: Job = serde_json::from_str(job)?;
    let (own, other) = two_cores()?;
    let cell = job.job.cell;
    // One at a time, all share a core; in flight, the client has one and the rest the other.
    let theirs = if cell.load == Load::Alone { own } else { other };
    let (core, bytes) = (theirs, cell.result_bytes);
    pin(theirs)?;
    match cell.over {
        Over::Stdio => {
            let mut standing = Standing::stdio(&job.gateway, cell, core, bytes)?;
            pin(own)?;
            let sample = stdio::measure(&job.job, &mut standing.child)?;
            standing.found(Some(sample), 0)
        }
        Over::Http => {
            let standing = Standing::http(&job.gateway, cell, core, bytes)?;
            pin(own)?;
            let address = standing.address;
            if let Some(calls) = job.calls {
                post::many(address, calls / 10)?;
                let before = standing.resident_bytes();
                post::many(address, calls - calls / 10)?;
                return standing.found(None, before);
            }
            let sample = crate::client::drive::measure(&job.job, post::Post::connect(address))?;
            standing.found(Some(sample), 0)
        }
    }
}
