//! Pointing hosts to the gateway, and back: their files, changed in place.
//!
//! **Invariant:** what is not a served server or the gateway's own entry is left as it stands, comments and all.
//! **Invariant:** nothing is written unless the file still has the text that was read.

mod json;
#[cfg(test)]
mod tests;
mod toml;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::entry::Entry;
use super::files;
use super::places::HostApp;
use super::source::{HostFile, Section, read_text};

/// The id of the gateway in a host's file.
pub(super) const GATEWAY: &str = "seawall";

/// How the gateway is started.
#[derive(Debug, Clone)]
pub(super) struct Gateway {
    pub(super) program: String,
    pub(super) config: String,
    /// The variables that its servers take something from.
    pub(super) variables: Vec<String>,
}

impl Gateway {
    /// Its entry in a host's file.
    fn entry(&self, host: HostApp) -> Entry {
        let mut entry = Entry::default();
        if matches!(host, HostApp::ClaudeCode | HostApp::VsCode) {
            entry.set("type", json!("stdio"));
        }
        entry.set("command", json!(self.program));
        entry.set("args", json!(["serve", "--mcp-config", self.config]));
        let names = self.variables.iter();
        match host {
            _ if self.variables.is_empty() => {}
            HostApp::Codex => entry.set("env_vars", json!(self.variables)),
            HostApp::Cursor | HostApp::VsCode => {
                let env = names.map(|name| (name.clone(), json!(format!("${{env:{name}}}"))));
                entry.set("env", Value::Object(env.collect()));
            }
            // The one hands on all that it has, the other has no way to.
            HostApp::ClaudeCode | HostApp::ClaudeDesktop => {}
        }
        entry
    }
}

/// What is to be taken out of a file.
pub(super) type Served<'a> = [(&'a Section, &'a str)];

/// What is to become of a host's file.
#[derive(Debug)]
pub(super) enum Wiring {
    /// It points to the gateway already.
    Done,
    Change {
        text: String,
    },
    Refused {
        why: String,
    },
}

/// What becomes of a file when its host is pointed to the gateway.
pub(super) fn wire(file: &HostFile, served: &Served<'_>, gateway: &Gateway) -> Wiring {
    let text = match &file.text {
        Ok(text) => text,
        Err(why) => return Wiring::Refused { why: why.clone() },
    };
    let host = file.place.host;
    let entry = gateway.entry(host);
    let wired = match host {
        HostApp::Codex => toml::wire(text, served, &entry),
        host => json::wire(text, host.map_key(), served, &entry),
    };
    match wired {
        Ok(wired) if wired == *text => Wiring::Done,
        Ok(text) => Wiring::Change { text },
        Err(why) => Wiring::Refused { why },
    }
}

/// Writes a change, and keeps what was there; the backup's path.
pub(super) fn apply(file: &HostFile, text: &str) -> Result<PathBuf, String> {
    let before = file.text.as_deref().unwrap_or_default();
    still_holds(&file.real, before)?;
    let backup = files::back_up(&file.real, before, text).map_err(|error| error.to_string())?;
    files::rewrite(&file.real, text).map_err(|error| error.to_string())?;
    Ok(backup)
}

/// How a file gets back to what it was.
#[derive(Debug)]
pub(super) enum Unwiring {
    /// There is nothing of the gateway in it.
    Untouched,
    /// Nobody changed it since: its backup, byte for byte.
    Back {
        text: String,
        spent: Vec<PathBuf>,
    },
    /// It was changed since: the servers are put back into it, the gateway is taken out.
    Merged {
        text: String,
        spent: Vec<PathBuf>,
    },
    Refused {
        why: String,
    },
}

/// How a file gets back to what it was before it was wired.
pub(super) fn unwire(file: &HostFile) -> Unwiring {
    let mut text = match &file.text {
        Ok(text) => text.clone(),
        Err(why) => return Unwiring::Refused { why: why.clone() },
    };
    let mut backups = files::backups_of(&file.real);
    let mut spent = Vec::new();
    loop {
        let wanted = files::backup_of(&file.real, &text);
        let Some(at) = backups.iter().position(|backup| *backup == wanted) else {
            break;
        };
        match read_text(&wanted) {
            Ok(before) => text = before,
            Err(why) => return Unwiring::Refused { why },
        }
        spent.push(backups.remove(at));
    }
    let host = file.place.host;
    let is_wired = match host {
        HostApp::Codex => toml::is_wired(&text),
        host => json::is_wired(&text, host.map_key()),
    };
    if !is_wired {
        return match spent.is_empty() {
            true => Unwiring::Untouched,
            false => Unwiring::Back { text, spent },
        };
    }
    let mut before = Vec::new();
    for backup in &backups {
        match read_text(backup) {
            Ok(text) => before.push(text),
            Err(why) => return Unwiring::Refused { why },
        }
    }
    let merged = match host {
        HostApp::Codex => toml::unwire(&text, &before),
        host => json::unwire(&text, host.map_key(), &before),
    };
    spent.extend(backups);
    match merged {
        Ok(text) => Unwiring::Merged { text, spent },
        Err(why) => Unwiring::Refused { why },
    }
}

/// Writes what a file was, and forgets its backups.
pub(super) fn take_back(file: &HostFile, text: &str, spent: &[PathBuf]) -> Result<(), String> {
    still_holds(&file.real, file.text.as_deref().unwrap_or_default())?;
    files::rewrite(&file.real, text).map_err(|error| error.to_string())?;
    for backup in spent {
        // The file is what it was; a backup that stays is a copy of it.
        let _ = std::fs::remove_file(backup);
    }
    Ok(())
}

fn still_holds(path: &Path, text: &str) -> Result<(), String> {
    match read_text(path)? == text {
        true => Ok(()),
        false => Err("somebody else is writing it: end that program, then try again".to_owned()),
    }
}
