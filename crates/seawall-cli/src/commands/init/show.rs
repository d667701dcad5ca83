//! What init found and did, for people and for programs. Secrets are never in it.

use std::path::{Path, PathBuf};

use seawall::config::{is_credential_name, looks_like_credential};
use seawall::redact::shown_url;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::entry::Entry;
use super::places::HostApp;
use super::plan::{Fate, Row};
use super::source::Section;
use crate::printer::{Place, Printer, Table, visible};

/// What stands for a secret.
const HIDDEN: &str = "****";

/// What `init --json` prints.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) dry_run: bool,
    pub(super) config: Config,
    pub(super) files: Vec<File>,
    pub(super) servers: Vec<Server>,
}

/// Seawall's own file.
#[derive(Debug, Serialize)]
pub(super) struct Config {
    #[serde(serialize_with = "as_text")]
    pub(super) path: PathBuf,
    /// `written`, `unchanged`, `would_be_written`, `not_there`.
    pub(super) state: &'static str,
}

/// A host's file.
#[derive(Debug, Serialize)]
pub(super) struct File {
    pub(super) host: HostApp,
    #[serde(serialize_with = "as_text")]
    pub(super) path: PathBuf,
    /// `read`, `unreadable`, `wired`, `would_be_wired`, `wired_already`, `refused`, `restored`, `would_be_restored`,
    /// `merged`, `would_be_merged`, `not_wired`.
    pub(super) state: &'static str,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "as_text_if_any"
    )]
    pub(super) backup: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// A server that was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Server {
    host: HostApp,
    #[serde(serialize_with = "as_text")]
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// Its id in that file.
    name: String,
    /// `taken`, `same`, `off`, `left`, `gateway`.
    state: &'static str,
    /// Its id in Seawall's configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The command line or the URL, without secrets.
    target: String,
    /// Names of variables and headers, without values.
    secrets: Vec<String>,
    notes: Vec<String>,
}

impl Server {
    pub(super) fn of(row: &Row) -> Self {
        let (state, id, reason) = match &row.fate {
            Fate::Taken { id } => ("taken", Some(id), None),
            Fate::Same { id } => ("same", Some(id), None),
            Fate::Off { id, why } => ("off", Some(id), Some(why)),
            Fate::Left { why } => ("left", None, Some(why)),
            Fate::Gateway => ("gateway", None, None),
        };
        Self {
            host: row.host,
            path: row.path.clone(),
            project: match &row.section {
                Section::Whole => None,
                Section::Project(folder) => Some(folder.clone()),
            },
            name: row.id.clone(),
            state,
            id: id.cloned(),
            reason: reason.cloned(),
            target: target(&row.entry),
            secrets: row.secrets.clone(),
            notes: row.notes.clone(),
        }
    }
}

/// A path need not be text; what is not is replaced, as it is shown to people.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn as_text_if_any<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => as_text(path, serializer),
        None => serializer.serialize_none(),
    }
}

/// The table of what was found, with what is to be said of each below it.
pub(super) fn table(rows: &[Row], home: &Path, printer: &mut Printer) {
    let mut table = Table::new(["HOST", "FILE", "SERVER", "COMMAND OR URL"]);
    for row in rows {
        let mut file = short(&row.path, home);
        if let Section::Project(folder) = &row.section {
            file.push_str(" for ");
            file.push_str(&short(Path::new(folder), home));
        }
        let mut what = target(&row.entry);
        for line in given(&row.entry) {
            what.push('\n');
            what.push_str(&line);
        }
        let server = match &row.fate {
            Fate::Taken { id } => id.clone(),
            Fate::Same { id } => format!("{id} (the same)"),
            Fate::Off { id, .. } => format!("{id} (off)"),
            Fate::Left { .. } => format!("{} (left there)", row.id),
            Fate::Gateway => format!("{} (the gateway)", row.id),
        };
        table.row([
            row.host.name().to_owned(),
            visible(&file, Place::Line).into_owned(),
            visible(&server, Place::Line).into_owned(),
            visible(&what, Place::Block).into_owned(),
        ]);
    }
    printer.table(&table);
    for row in rows {
        let who = format!("{} of {}", row.id, row.host.name());
        match &row.fate {
            Fate::Off { why, .. } => printer.warning(&format!("{who} is switched off: {why}")),
            Fate::Left { why } => printer.warning(&format!("{who} is left where it is: {why}")),
            Fate::Taken { .. } | Fate::Same { .. } | Fate::Gateway => {}
        }
        for note in &row.notes {
            printer.warning(&format!("{who}: {note}"));
        }
        if !row.secrets.is_empty() && matches!(row.fate, Fate::Taken { .. } | Fate::Off { .. }) {
            printer.warning(&format!(
                "{who}: secrets in plain text are copied as they are ({}); ${{NAME}} would take them from a variable",
                row.secrets.join(", ")
            ));
        }
    }
}

/// A path, with `~` for the home.
pub(super) fn short(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) => Path::new("~").join(rest).display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// The command line or the URL, without secrets.
fn target(entry: &Entry) -> String {
    if let Some(url) = ["url", "httpUrl", "serverUrl"]
        .iter()
        .find_map(|key| entry.text(key))
    {
        return url_without_secrets(url);
    }
    let mut line = entry.text("command").unwrap_or_default().to_owned();
    let mut is_secret = false;
    let args = entry.get("args").and_then(Value::as_array);
    for arg in args.into_iter().flatten().filter_map(Value::as_str) {
        line.push(' ');
        line.push_str(&shown_arg(arg, is_secret));
        is_secret = arg.starts_with('-') && is_credential_name(arg);
    }
    line
}

fn shown_arg(arg: &str, is_secret: bool) -> String {
    if arg.starts_with("${") && arg.ends_with('}') {
        return shown_value(arg).to_owned();
    }
    if is_secret {
        return HIDDEN.to_owned();
    }
    // `--token=…`, `Authorization: …`
    for mark in ['=', ':'] {
        let Some((name, value)) = arg.split_once(mark) else {
            continue;
        };
        if !value.starts_with("//") && (is_credential_name(name) || looks_like_credential(value)) {
            return format!("{name}{mark}{}", shown_value(value.trim_start()));
        }
        if mark == '=' && value.contains("://") {
            return format!("{name}={}", url_without_secrets(value));
        }
    }
    if arg.contains("://") {
        return url_without_secrets(arg);
    }
    if looks_like_credential(arg) {
        return HIDDEN.to_owned();
    }
    arg.to_owned()
}

fn url_without_secrets(text: &str) -> String {
    match text.parse::<url::Url>() {
        Ok(url) => shown_url(&url),
        Err(_) if text.contains('@') || looks_like_credential(text) => HIDDEN.to_owned(),
        Err(_) => text.split(['?', '#']).next().unwrap_or_default().to_owned(),
    }
}

/// A reference as it is, anything else hidden.
fn shown_value(value: &str) -> &str {
    let is_reference = value.starts_with("${") && value.ends_with('}') && !value.contains(":-");
    if is_reference { value } else { HIDDEN }
}

/// The variables and headers that it is given, without their values.
fn given(entry: &Entry) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, joint) in [("env", "="), ("headers", ": ")] {
        for (name, value) in entry
            .get(key)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let value = value.as_str().map_or(HIDDEN, shown_value);
            lines.push(format!("{key} {name}{joint}{value}"));
        }
    }
    lines
}
