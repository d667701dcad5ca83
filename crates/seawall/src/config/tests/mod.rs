//! The rules K1 to K12, L1 and H6.

mod credentials;
mod entries;
mod expansion;
mod files;
mod gateway;
mod journal;
mod mcpl;
mod messages;
mod properties;
mod purity;
mod shapes;
mod whole;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::*;

/// Surroundings made of maps.
#[derive(Default)]
pub(super) struct World {
    variables: BTreeMap<&'static str, &'static str>,
    files: BTreeMap<PathBuf, &'static str>,
    inputs: BTreeMap<&'static str, &'static str>,
    asked: std::cell::RefCell<Vec<Input>>,
}

impl Surroundings for World {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| (*value).to_owned())
    }

    fn env_file(&self, path: &Path) -> io::Result<String> {
        let text = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok((*text).to_owned())
    }

    fn input(&self, input: &Input) -> Option<String> {
        self.asked.borrow_mut().push(input.clone());
        self.inputs
            .get(input.id.as_str())
            .map(|value| (*value).to_owned())
    }
}

fn world() -> World {
    World {
        variables: BTreeMap::from([
            ("SET", "value"),
            ("EMPTY", ""),
            ("TWO_LINES", "t0ken\n"),
            ("TOKEN", "t0ken"),
            ("HOME", "/home/me"),
        ]),
        ..World::default()
    }
}

fn check_in(world: &World, text: &str) -> Checked {
    check(&Source {
        surroundings: world,
        workspace: Path::new("/ws/project"),
        ..Source::new(text)
    })
}

fn check_text(text: &str) -> Checked {
    check_in(&world(), text)
}

/// The one entry of a text that has no problem.
fn server(text: &str) -> ServerConfig {
    let mut servers = check_text(text).into_servers().unwrap();
    assert_eq!(servers.len(), 1);
    servers.remove(0)
}

/// An entry of the array shape with a program and these further members.
fn with(members: &str) -> String {
    format!(r#"[{{"server": "a", "command": "c", "args": [], {members}}}]"#)
}

/// An entry of the array shape at a URL with these further members.
fn at_url(url: &str, members: &str) -> String {
    format!(r#"[{{"server": "a", "url": "{url}" {members}}}]"#)
}

fn stdio(config: &ServerConfig) -> &StdioConfig {
    match config.endpoint() {
        Endpoint::Stdio(stdio) => stdio,
        other => panic!("not stdio: {other:?}"),
    }
}

fn network(config: &ServerConfig) -> &NetworkConfig {
    match config.endpoint() {
        Endpoint::Http(network) | Endpoint::WebSocket(network) => network,
        other => panic!("not a network: {other:?}"),
    }
}

/// Field and code of each problem.
fn problems(text: &str) -> Vec<(String, &'static str)> {
    let found = check_text(text).problems;
    let line = |problem: &Problem| {
        (
            problem.place().field().unwrap_or_default().to_owned(),
            problem.kind().code(),
        )
    };
    found.iter().map(line).collect()
}

/// Field and code of each warning of a text without problems.
fn warnings(text: &str) -> Vec<(String, &'static str)> {
    let checked = check_text(text);
    assert_eq!(checked.problems, []);
    let line = |warning: &Warning| {
        (
            warning.place().field().unwrap_or_default().to_owned(),
            warning.kind().code(),
        )
    };
    checked.warnings.iter().map(line).collect()
}

#[track_caller]
fn assert_problem(text: &str, field: &str, code: &str) {
    assert_eq!(problems(text), [(field.to_owned(), code)], "{text}");
}

#[track_caller]
fn assert_warning(text: &str, field: &str, code: &str) {
    assert_eq!(warnings(text), [(field.to_owned(), code)], "{text}");
}
