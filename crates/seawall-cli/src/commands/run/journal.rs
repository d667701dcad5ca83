//! The journal of a run that serves clients.

use std::future::pending;
use std::time::Duration;

use seawall::config::{JournalConfig, WhenUnwritable};
use seawall::journal::{Health, Journal};
use tokio::sync::watch;
use tokio::time::timeout;

use super::line::Line;
use crate::commands::journal::opened;
use crate::commands::serve::Wanted;
use crate::failure::UsageError;
use crate::printer::Printer;

/// How long the end waits for the last records.
const LAST_RECORDS: Duration = Duration::from_secs(5);

/// Where calls are recorded, if they are.
#[derive(Clone)]
pub(super) struct Recorded(Option<Open>);

#[derive(Clone)]
struct Open {
    journal: Journal,
    health: watch::Receiver<Health>,
    told: Health,
    policy: WhenUnwritable,
}

impl Recorded {
    /// The journal of a gateway; a run without one makes no calls.
    pub(super) fn of(
        wanted: Option<&Wanted>,
        config: &JournalConfig,
        printer: &mut Printer,
    ) -> Result<Self, UsageError> {
        let Some(wanted) = wanted else {
            return Ok(Self(None));
        };
        let Some(journal) = opened(wanted.journal.as_ref(), config)? else {
            return Ok(Self(None));
        };
        let mut health = journal.health();
        let told = health.borrow_and_update().clone();
        let policy = config.unwritable;
        if let Some(line) = news(&Health::default(), &told, policy) {
            printer.warning(&line.words());
        }
        Ok(Self(Some(Open {
            journal,
            health,
            told,
            policy,
        })))
    }

    pub(super) fn journal(&self) -> Option<Journal> {
        self.0.as_ref().map(|open| open.journal.clone())
    }

    /// What is new of the journal.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub(super) async fn news(&mut self) -> Line {
        let Some(open) = &mut self.0 else {
            return pending().await;
        };
        while open.health.changed().await.is_ok() {
            let now = open.health.borrow_and_update().clone();
            let line = news(&open.told, &now, open.policy);
            open.told = now;
            if let Some(line) = line {
                return line;
            }
        }
        pending().await
    }

    /// Waits for the last records, for a while.
    pub(super) async fn finish(&self) {
        if let Some(open) = &self.0 {
            // What is not written by then is found without an end.
            let _ = timeout(LAST_RECORDS, open.journal.written()).await;
        }
    }
}

fn news(told: &Health, now: &Health, policy: WhenUnwritable) -> Option<Line> {
    if let Some(aside) = now
        .set_aside
        .as_ref()
        .filter(|_| now.set_aside != told.set_aside)
    {
        let words = format!(
            "the journal was damaged: it was set aside as {}, whole, and a new one was begun",
            aside.display()
        );
        return Some(Line::journal("journal_set_aside", words, now.lost));
    }
    match (told.failing, now.failing) {
        (before, Some(fault)) if before != now.failing => {
            let then = match policy {
                WhenUnwritable::RefuseAll => "every call is refused until it can",
                WhenUnwritable::Allow => "calls are made all the same, and recorded once it can",
                _ => "calls of tools that are not marked read-only are refused until it can",
            };
            let words = format!("the journal cannot be written: {fault}; {then}");
            Some(Line::journal("journal_failing", words, now.lost))
        }
        (Some(_), None) => {
            let words = match now.lost {
                0 => "the journal is written again; nothing was lost".to_owned(),
                lost => format!("the journal is written again; {lost} records were lost"),
            };
            Some(Line::journal("journal_recovered", words, now.lost))
        }
        _ if now.lost > told.lost => {
            let words = format!("{} records of calls were lost so far", now.lost);
            Some(Line::journal("journal_lost", words, now.lost))
        }
        _ => None,
    }
}
