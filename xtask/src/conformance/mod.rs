//! `cargo xtask conformance`: the official MCP conformance suite against a client on the library, against a server behind the
//! gateway's fronts, and against that server through the gateway.
//!
//! The suite and its Node.js are pinned by the lock in `peers/conformance`. A scenario is green if none of its checks failed
//! or warned, a client got to its end, and at least as many checks passed as `peers/conformance/passed.json` says:
//! the suite gives a client that does nothing a green mark on some scenarios.

mod suite;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::{peers, talk, tree};
use suite::{Leg, Scenario, Seen, Subject, Suite};
use table::Floors;

/// The sets of requirements that the suite has.
const SETS: [&str; 2] = ["2026-07-28", "2025-11-25"];

const FLOORS: &str = "peers/conformance/passed.json";
const PAGE: &str = "docs/conformance.md";

/// The suite runs a set's scenarios all at once, so those that measure time may suffer. This many are run again, alone.
const AGAIN: usize = 3;

/// Why the suite could not be run, or what it told could not be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConformanceError {
    #[error("{}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("`{program}` cannot be run")]
    Program { program: String, source: io::Error },
    #[error("who is to be tried cannot be built")]
    Build,
    #[error("{} is not what is expected there", path.display())]
    Form { path: PathBuf },
}

impl ConformanceError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::File {
            path: path.to_owned(),
            source,
        }
    }
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    Sets {
        sets: Vec<String>,
        legs: Vec<Leg>,
        write: bool,
    },
    One {
        scenario: String,
        revision: String,
        leg: Leg,
    },
}

/// Runs what the arguments ask for; success if all of it is green.
pub(super) fn run(arguments: &[String]) -> ExitCode {
    let Some(request) = request(arguments) else {
        return crate::usage();
    };
    let place = match peers::conformance() {
        Ok(place) => place,
        Err(error) => return peers::fail(&error),
    };
    let legs = match &request {
        Request::Sets { legs, .. } => legs.clone(),
        Request::One { leg, .. } => vec![*leg],
    };
    let mut green = Ok(true);
    for leg in legs {
        let so_far = run_leg(&place, leg, &request);
        green = match (green, so_far) {
            (Ok(one), Ok(other)) => Ok(one && other),
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
    }
    match green {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            talk::say(format_args!("conformance: {error}"));
            if let Some(cause) = std::error::Error::source(&error) {
                talk::say(format_args!("    {cause}"));
            }
            ExitCode::FAILURE
        }
    }
}

fn run_leg(place: &Path, leg: Leg, request: &Request) -> Result<bool, ConformanceError> {
    let sets = match request {
        Request::Sets { sets, .. } => sets.clone(),
        Request::One { revision, .. } => vec![revision.clone()],
    };
    let subject = match leg {
        Leg::Client => Some(Subject::Client(suite::build_client()?)),
        Leg::Server => Some(Subject::Server(suite::start_server()?)),
        Leg::Gateway | Leg::Across => None,
    };
    if let Some(subject) = subject {
        return run_suite(&Suite::new(place.to_owned(), subject), &sets, request);
    }
    let mut green = true;
    for set in sets.into_iter().filter(|set| leg.has(set)) {
        let subject = Subject::Gateway(leg, suite::start_gateway(leg, &set)?);
        let suite = Suite::new(place.to_owned(), subject);
        green &= run_suite(&suite, &[set], request)?;
    }
    Ok(green)
}

fn run_suite(suite: &Suite, sets: &[String], request: &Request) -> Result<bool, ConformanceError> {
    match request {
        Request::Sets { write, .. } => whole_sets(suite, sets, *write),
        Request::One {
            scenario,
            revision,
            leg,
        } => {
            let floors = Floors::read(&tree::root().join(FLOORS))?;
            let floor = floors.of(&leg.key(revision), scenario);
            one(suite, scenario, revision, floor)
        }
    }
}

fn request(arguments: &[String]) -> Option<Request> {
    let (mut sets, mut scenario, mut revision, mut write) = (Vec::new(), None, None, false);
    let mut legs = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--requirements" => {
                let set = arguments.next()?;
                SETS.contains(&set.as_str())
                    .then(|| sets.push(set.clone()))?;
            }
            "--scenario" => scenario = Some(arguments.next()?.clone()),
            "--spec-version" => revision = Some(arguments.next()?.clone()),
            "--client" => legs.push(Leg::Client),
            "--server" => legs.push(Leg::Server),
            "--gateway" => legs.push(Leg::Gateway),
            "--across" => legs.push(Leg::Across),
            "--write" => write = true,
            _ => return None,
        }
    }
    match (scenario, revision) {
        (Some(scenario), Some(revision)) if sets.is_empty() && !write && legs.len() <= 1 => {
            Some(Request::One {
                scenario,
                revision,
                leg: legs.pop().unwrap_or(Leg::Client),
            })
        }
        (None, None) => {
            if sets.is_empty() {
                sets = SETS.map(str::to_owned).to_vec();
            }
            if legs.is_empty() {
                legs = Leg::ALL.to_vec();
            }
            Some(Request::Sets { sets, legs, write })
        }
        _ => None,
    }
}

/// Runs every set, tells it as a table, and keeps it if asked to; whether all that is demanded is green.
fn whole_sets(suite: &Suite, sets: &[String], write: bool) -> Result<bool, ConformanceError> {
    let root = tree::root();
    let (floors_at, page_at) = (root.join(FLOORS), root.join(PAGE));
    let mut floors = Floors::read(&floors_at)?;
    let mut green = true;
    for set in sets {
        let key = suite.leg().key(set);
        let scenarios = suite.scenarios(set)?;
        let seen = run_set(suite, set, &scenarios, &floors)?;
        green &= tell_red(&key, &scenarios, &seen, &floors);
        if write {
            floors.raise(&key, &seen);
        }
        let markdown = table::markdown(&key, &scenarios, &seen, &floors);
        talk::data(&markdown);
        if write {
            table::write_into(&page_at, &key, &markdown)?;
        }
    }
    if write {
        floors.write(&floors_at)?;
    }
    Ok(green)
}

/// What was seen of each scenario of a set; a few that are red and demanded are run again alone, and that counts.
fn run_set(
    suite: &Suite,
    set: &str,
    scenarios: &[Scenario],
    floors: &Floors,
) -> Result<BTreeMap<String, Seen>, ConformanceError> {
    let out = suite.run_set(set)?;
    let key = suite.leg().key(set);
    let mut seen = BTreeMap::new();
    for Scenario { name, .. } in scenarios {
        seen.insert(name.clone(), suite.read(&out, name)?);
    }
    let red: Vec<String> = scenarios
        .iter()
        .filter(|one| one.required || floors.of(&key, &one.name).is_some())
        .map(|one| one.name.clone())
        .filter(|name| {
            let seen = seen.get(name);
            seen.is_some_and(|seen| table::fault(seen, floors.of(&key, name)).is_some())
        })
        .collect();
    if red.len() <= AGAIN {
        for name in red {
            talk::say(format_args!("conformance: {key}: {name} again, alone"));
            let out = suite.run_one(&name, set)?;
            seen.insert(name.clone(), suite.read(&out, &name)?);
        }
    }
    Ok(seen)
}

/// Says what is red and demanded; whether nothing is.
fn tell_red(
    set: &str,
    scenarios: &[Scenario],
    seen: &BTreeMap<String, Seen>,
    floors: &Floors,
) -> bool {
    let mut green = true;
    for name in floors.absent(set, scenarios) {
        green = false;
        talk::say(format_args!(
            "conformance: {set}: {name}: the suite has it no longer, or it was not read"
        ));
    }
    for Scenario { name, required } in scenarios {
        let floor = floors.of(set, name);
        let Some(seen) = seen.get(name) else { continue };
        if let Some(fault) = table::fault(seen, floor)
            && (*required || floor.is_some())
        {
            green = false;
            talk::say(format_args!("conformance: {set}: {name}: {fault}"));
        }
    }
    green
}

/// Runs one scenario and says every check that did not pass; whether it is green.
fn one(
    suite: &Suite,
    scenario: &str,
    revision: &str,
    floor: Option<usize>,
) -> Result<bool, ConformanceError> {
    let out = suite.run_one(scenario, revision)?;
    let seen = suite.read(&out, scenario)?;
    for trouble in &seen.troubles {
        talk::data(trouble);
    }
    talk::data(format_args!(
        "{} checks passed, {} of them different; {} did not",
        seen.passed,
        seen.different,
        seen.troubles.len()
    ));
    let fault = table::fault(&seen, floor);
    if let Some(fault) = &fault {
        talk::data(fault);
    }
    Ok(fault.is_none())
}
