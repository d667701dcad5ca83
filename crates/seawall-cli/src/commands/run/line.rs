//! What happens, as lines: of JSON for programs, of words for people.

use std::time::{SystemTime, UNIX_EPOCH};

use seawall::Error;
use seawall::host::{Applied, EventKind, HostEvent, Outlook, Started};
use serde::Serialize;

use super::mcpl::{Live, Told};
use crate::failure::{ErrorBody, ErrorReport};
use crate::printer::{Place, visible};

/// One line. The events of the host have a `sequence` and a `server`; the others are of the run.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    /// Milliseconds since 1970.
    time_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(flatten)]
    detail: Detail,
    #[serde(flatten)]
    live: Option<Live>,
    /// The same in words.
    #[serde(skip)]
    words: String,
    /// Whether it matters to somebody who sees the servers' states.
    #[serde(skip)]
    pub(super) weight: Weight,
}

/// What a line is to somebody who watches the table.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// It is in the table.
    #[default]
    Usual,
    /// It is not, or is to be seen later too.
    News,
    Bad,
}

/// What each kind of line has beside; nothing that it does not have is shown.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantined: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outlook: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(flatten)]
    servers: Option<Servers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<Vec<String>>,
}

/// The servers of a start, or of a new configuration, by what became of them.
#[derive(Debug, Default, Serialize)]
struct Servers {
    #[serde(skip_serializing_if = "Option::is_none")]
    up: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retrying: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connected: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    restarted: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disconnected: Option<Vec<String>>,
    failed: Vec<Failed>,
}

#[derive(Debug, Serialize)]
struct Failed {
    server: String,
    message: String,
}

impl Line {
    /// The line as it is printed, without its end.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The line for people, with everything visible.
    pub(super) fn words(&self) -> String {
        let words = visible(&self.words, Place::Line);
        match &self.server {
            Some(server) => format!("{}: {words}", visible(server, Place::Line)),
            None => words.into_owned(),
        }
    }

    pub(super) fn of(event: &HostEvent) -> Self {
        let mut line = Self::of_kind(&event.kind);
        line.sequence = Some(event.sequence);
        line.server = Some(event.server.to_string());
        line
    }

    pub(super) fn missed(count: u64) -> Self {
        let words = format!("{count} events were missed: they came faster than they were read");
        let mut line = Self::new("missed", words).weighing(Weight::News);
        line.detail.count = Some(count);
        line
    }

    pub(super) fn started(started: &Started) -> Self {
        let names = |failed: &[(String, seawall::HostError)]| -> Vec<String> {
            failed.iter().map(|(server, _)| server.clone()).collect()
        };
        let (retrying, failed) = (names(&started.retrying), &started.failed);
        let mut words = format!("started: {} up", started.up.len());
        say_of(&mut words, "tried again", &retrying);
        say_of(&mut words, "down", &names(failed));
        let mut line = Self::new("started", words);
        let failed = failed.iter().map(|(_, error)| Failed::of(error));
        line.detail.servers = Some(Servers {
            up: Some(started.up.clone()),
            retrying: Some(retrying),
            failed: failed.collect(),
            ..Servers::default()
        });
        line
    }

    pub(super) fn reloaded(applied: &Applied) -> Self {
        let mut words = String::from("read the configuration again");
        let failed: Vec<Failed> = applied.failed.iter().map(Failed::of).collect();
        let names: Vec<String> = failed.iter().map(|one| one.server.clone()).collect();
        let whats = [
            ("connected", &applied.connected),
            ("restarted", &applied.restarted),
            ("disconnected", &applied.disconnected),
            ("failed", &names),
        ];
        for (what, ids) in whats {
            say_of(&mut words, what, ids);
        }
        if whats.iter().all(|(_, ids)| ids.is_empty()) {
            words.push_str("; nothing changed");
        }
        let weight = match failed.is_empty() {
            true => Weight::News,
            false => Weight::Bad,
        };
        let mut line = Self::new("reloaded", words).weighing(weight);
        line.detail.servers = Some(Servers {
            connected: Some(applied.connected.clone()),
            restarted: Some(applied.restarted.clone()),
            disconnected: Some(applied.disconnected.clone()),
            failed,
            ..Servers::default()
        });
        line
    }

    pub(super) fn refused(problems: Vec<String>) -> Self {
        let words = "the configuration has problems; everything stays as it is".to_owned();
        let mut line = Self::new("reload_refused", words).weighing(Weight::Bad);
        line.detail.problems = Some(problems);
        line
    }

    pub(super) fn stopping() -> Self {
        Self::new("stopping", "stopping".to_owned()).weighing(Weight::News)
    }

    pub(super) fn stopped() -> Self {
        Self::new("stopped", "stopped; every server is gone".to_owned()).weighing(Weight::News)
    }

    fn of_kind(kind: &EventKind) -> Self {
        match kind {
            EventKind::Connecting { failures } => {
                let mut line = Self::new("connecting", "connecting".to_owned());
                line.detail.failures = Some(*failures);
                line
            }
            EventKind::Connected {
                generation,
                quarantined,
            } => {
                let mut words = "connected".to_owned();
                if *quarantined > 0 {
                    words.push_str(&format!("; {quarantined} tools are left out"));
                }
                let mut line = Self::new("connected", words);
                line.detail.generation = Some(*generation);
                line.detail.quarantined = Some(*quarantined);
                line
            }
            EventKind::ConnectFailed { error } => Self::failure("connect_failed", "", error),
            EventKind::Lost { error } => {
                let mut line = Self::failure("lost", "", error);
                // What became of the calls under way is theirs to tell.
                line.words = format!("lost: {}", error.server_message());
                line
            }
            EventKind::Waiting { delay } => {
                let words = format!("next attempt in {:.1} s", delay.as_secs_f64());
                let mut line = Self::new("waiting", words);
                line.detail.delay_ms = Some(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));
                line
            }
            EventKind::Gone => Self::new("gone", "gone".to_owned()),
            EventKind::Unreaped { error } => {
                Self::failure("unreaped", "a child is left: ", error).weighing(Weight::Bad)
            }
            EventKind::Published { snapshot, flows } => {
                let words = match flows {
                    1 => "1 tool".to_owned(),
                    many => format!("{many} tools"),
                };
                let mut line = Self::new("published", words);
                line.detail.snapshot = Some(*snapshot);
                line.detail.tools = Some(*flows);
                line
            }
            EventKind::RefreshFailed { error } => Self::failure(
                "refresh_failed",
                "its tools could not be listed again: ",
                error,
            ),
            EventKind::PromptsChanged => {
                Self::new("prompts_changed", "its prompts changed".to_owned())
            }
            EventKind::ResourcesChanged => {
                Self::new("resources_changed", "its resources changed".to_owned())
            }
            EventKind::ResourceChanged { .. } => {
                Self::new("resource_changed", "a resource changed".to_owned())
            }
            EventKind::ServerDown(down) => {
                let (outlook, then) = match down.outlook {
                    Outlook::Retrying => ("retrying", "it is tried again"),
                    Outlook::Held => ("held", "a child is left, and nothing is tried"),
                    _ => ("halted", "it is not tried again"),
                };
                let mut line = Self::failure("server_down", "DOWN: ", &down.error);
                line.words.push_str(&format!("; {then}"));
                line.detail.outlook = Some(outlook);
                line.weighing(Weight::Bad)
            }
            EventKind::Recovered => {
                Self::new("recovered", "well again".to_owned()).weighing(Weight::News)
            }
            EventKind::Mcpl(event) => {
                let told = Told::of(event);
                let mut line = Self::new(told.event, told.words).weighing(told.weight);
                line.live = Some(told.live);
                line
            }
            _ => Self::new("other", "something happened".to_owned()),
        }
    }

    /// How the journal is, since that is news.
    pub(super) fn journal(event: &'static str, words: String, lost: u64) -> Self {
        let mut line = Self::new(event, words).weighing(Weight::Bad);
        line.detail.count = (lost > 0).then_some(lost);
        line
    }

    fn failure(event: &'static str, before: &str, error: &Error) -> Self {
        let mut line = Self::new(event, format!("{before}{}", error.message()));
        line.detail.error = Some(ErrorReport::of(error).into_body());
        line
    }

    fn new(event: &'static str, words: String) -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            time_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            event,
            words,
            ..Self::default()
        }
    }

    fn weighing(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }
}

impl Failed {
    fn of(error: &seawall::HostError) -> Self {
        Self {
            server: error.server().to_owned(),
            message: error.to_string(),
        }
    }
}

fn say_of(words: &mut String, what: &str, servers: &[String]) {
    if !servers.is_empty() {
        words.push_str(&format!("; {what}: {}", servers.join(", ")));
    }
}
