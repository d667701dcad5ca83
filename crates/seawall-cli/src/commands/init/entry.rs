//! One server's entry on its way from a host's file into Seawall's.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use jsonc_parser::cst::{CstInputValue, CstObject};
use seawall::config::{
    Checked, Input, ProblemKind, Process, Source, Surroundings, WarningKind, check,
};
use serde_json::{Value, json};

/// An entry: its keys in the order in which its host has them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Entry(Vec<(String, Value)>);

impl Entry {
    /// An object of a file; a key that is there twice counts as its last.
    pub(super) fn of(object: &CstObject) -> Self {
        let mut entry = Self::default();
        for prop in object.properties() {
            if let (Some(key), Some(value)) = (prop.decoded_name(), prop.to_serde_value()) {
                entry.set(&key, value);
            }
        }
        entry
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        let mut pairs = self.0.iter();
        pairs.find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    pub(super) fn set(&mut self, key: &str, value: Value) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, place)) => *place = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    pub(super) fn value(&self) -> Value {
        Value::Object(self.0.iter().cloned().collect())
    }

    pub(super) fn written(&self) -> CstInputValue {
        let pairs = self.0.iter();
        CstInputValue::Object(
            pairs
                .map(|(key, value)| (key.clone(), written(value)))
                .collect(),
        )
    }

    pub(super) fn is_off(&self) -> bool {
        self.get("disabled") == Some(&Value::Bool(true))
            || self.get("enabled") == Some(&Value::Bool(false))
    }

    /// Whether this says all that `other` says, switches apart.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let said = other.0.iter();
        said.filter(|(key, _)| !is_switch(key))
            .all(|(key, value)| self.get(key) == Some(value))
    }

    /// Whether both are the same server, started or reached in the same way.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.covers(other) && other.covers(self)
    }

    /// Whether it starts a gateway of Seawall.
    pub(super) fn is_gateway(&self) -> bool {
        let program = self.text("command").map(|command| {
            let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
            name.strip_suffix(".exe").unwrap_or(name)
        });
        let args = self.get("args").and_then(Value::as_array);
        program == Some("seawall") && args.is_some_and(|args| args.iter().any(|arg| arg == "serve"))
    }

    /// Takes out what says nothing, so that two hosts' ways to write the same are the same.
    pub(super) fn normalise(&mut self) {
        let kind = self.text("type").or(self.text("transport"));
        let is_said = match kind {
            Some("stdio") => self.get("command").is_some() && self.get("url").is_none(),
            Some("http" | "sse" | "streamable-http" | "streamableHttp") => {
                self.get("url").is_some() && self.get("command").is_none()
            }
            _ => false,
        };
        if is_said {
            self.remove("type");
            self.remove("transport");
        }
        let is_nothing = |value: &Value| match value {
            Value::Object(object) => object.is_empty(),
            Value::Array(array) => array.is_empty(),
            Value::Null => true,
            _ => false,
        };
        self.0.retain(|(key, value)| {
            !(matches!(key.as_str(), "args" | "env" | "headers") && is_nothing(value))
        });
    }

    /// Makes what is relative to a project's folder say the same from anywhere.
    pub(super) fn settle_in(&mut self, folder: &Path) {
        let whole = folder.to_string_lossy();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let replace = |text: &str| {
            text.replace("${workspaceFolder}", &whole)
                .replace("${workspaceRoot}", &whole)
                .replace("${CLAUDE_PROJECT_DIR}", &whole)
                .replace("${workspaceFolderBasename}", &name)
        };
        self.replace(&replace);
        let absolute = |path: &str| {
            let is_relative = Path::new(path).is_relative() && !path.starts_with("${");
            is_relative.then(|| json!(folder.join(path)))
        };
        for key in ["cwd", "envFile"] {
            if let Some(path) = self.text(key).and_then(absolute) {
                self.set(key, path);
            }
        }
        if self.get("command").is_some() && self.get("cwd").is_none() {
            self.set("cwd", json!(folder));
        }
    }

    /// The ids of the inputs that it asks for.
    pub(super) fn inputs(&self) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        let mut look = |text: &str| {
            for (at, mark) in text.match_indices("${input:") {
                let rest = text.get(at + mark.len()..).unwrap_or_default();
                ids.extend(rest.split_once('}').map(|(id, _)| id.to_owned()));
            }
        };
        for (_, value) in &self.0 {
            texts(value, &mut look);
        }
        ids
    }

    pub(super) fn rename_input(&mut self, from: &str, to: &str) {
        let (from, to) = (format!("${{input:{from}}}"), format!("${{input:{to}}}"));
        self.replace(&|text: &str| text.replace(&from, &to));
    }

    fn replace(&mut self, with: &dyn Fn(&str) -> String) {
        for (_, value) in &mut self.0 {
            replace_in(value, with);
        }
    }

    /// What Seawall's own checks say of it; keys that have no meaning here are taken out of it.
    pub(super) fn inspect(&mut self, inputs: &[Value], workspace: &Path) -> Inspection {
        let mut seen = Inspection::default();
        let checked = checked_alone(self, inputs, workspace);
        for problem in &checked.problems {
            let field = problem.place().field();
            let text = match field {
                Some(field) => format!("{field}: {}", problem.kind()),
                None => problem.kind().to_string(),
            };
            match problem.kind() {
                ProblemKind::UnsetVariable { .. }
                | ProblemKind::EmptyVariable { .. }
                | ProblemKind::MissingInput { .. }
                | ProblemKind::EnvFile { .. }
                | ProblemKind::EnvFileLine { .. } => seen.missing.push(text),
                _ => seen.problems.push(text),
            }
        }
        for warning in &checked.warnings {
            let field = warning.place().field().unwrap_or_default().to_owned();
            match warning.kind() {
                WarningKind::UnknownKey { .. } | WarningKind::Ignored { .. } => {
                    self.remove(&field);
                    seen.notes
                        .push(format!("{field} is not taken over: {}", warning.kind()));
                }
                WarningKind::LiteralCredential => seen.secrets.push(field),
                kind => seen.notes.push(format!("{field}: {kind}")),
            }
        }
        seen
    }
}

/// What was found in an entry.
#[derive(Debug, Default)]
pub(super) struct Inspection {
    /// Why it cannot be an entry of Seawall.
    pub(super) problems: Vec<String>,
    /// What it needs that is not there now: variables, inputs, files.
    pub(super) missing: Vec<String>,
    /// Fields that hold a secret in plain text.
    pub(super) secrets: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// This process's variables, where each that is asked for and set is remembered; nobody to ask.
#[derive(Default)]
pub(super) struct Asked(RefCell<BTreeSet<String>>);

impl Asked {
    /// The variables, but for those that every program is started with.
    pub(super) fn into_names(self) -> BTreeSet<String> {
        let mut names = self.0.into_inner();
        names.retain(|name| !matches!(name.as_str(), "HOME" | "USERPROFILE" | "PATH" | "USER"));
        names
    }
}

impl Surroundings for Asked {
    fn variable(&self, name: &str) -> Option<String> {
        let value = Process.variable(name);
        if value.is_some() {
            self.0.borrow_mut().insert(name.to_owned());
        }
        value
    }

    fn env_file(&self, path: &Path) -> io::Result<String> {
        Process.env_file(path)
    }

    fn input(&self, _: &Input) -> Option<String> {
        None
    }
}

fn checked_alone(entry: &Entry, inputs: &[Value], workspace: &Path) -> Checked {
    let mut entry = entry.clone();
    entry.remove("disabled");
    entry.remove("enabled");
    let text = json!({"mcpServers": {"server": entry.value()}, "inputs": inputs}).to_string();
    let asked = Asked::default();
    let mut source = Source::new(&text);
    source.workspace = workspace;
    source.surroundings = &asked;
    check(&source)
}

fn is_switch(key: &str) -> bool {
    matches!(key, "disabled" | "enabled")
}

/// A value, to be written into a file.
pub(super) fn written(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(array) => CstInputValue::Array(array.iter().map(written).collect()),
        Value::Object(object) => CstInputValue::Object(
            object
                .iter()
                .map(|(key, value)| (key.clone(), written(value)))
                .collect(),
        ),
    }
}

fn texts(value: &Value, look: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(array) => array.iter().for_each(|value| texts(value, look)),
        Value::Object(object) => object.values().for_each(|value| texts(value, look)),
        _ => {}
    }
}

fn replace_in(value: &mut Value, with: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = with(text),
        Value::Array(array) => array.iter_mut().for_each(|value| replace_in(value, with)),
        Value::Object(object) => object
            .values_mut()
            .for_each(|value| replace_in(value, with)),
        _ => {}
    }
}
