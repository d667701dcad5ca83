//! What servers say beside the protocol: kept for the doctor, or told aloud for those who asked (`-vv`).

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use seawall::events::{Diagnostic, Observer};

use super::{Place, talk, visible};

/// How many of a server's last lines are kept.
const KEPT_LINES: usize = 5;

/// Keeps the last words that a server wrote on stderr, and passes on what it hears.
pub(crate) struct Heard {
    words: Mutex<String>,
    noisy: AtomicBool,
    next: Option<Arc<dyn Observer>>,
}

impl Heard {
    pub(crate) fn before(next: Option<Arc<dyn Observer>>) -> Self {
        Self {
            words: Mutex::default(),
            noisy: AtomicBool::default(),
            next,
        }
    }

    /// The last lines, oldest first. Text of the server: to be made visible before it is shown.
    pub(crate) fn last_words(&self) -> Vec<String> {
        last_lines(&unpoisoned(&self.words), KEPT_LINES)
    }

    /// Whether it wrote what is no protocol where only that belongs.
    pub(crate) fn is_noisy(&self) -> bool {
        self.noisy.load(Relaxed)
    }

    /// How much of stderr is kept.
    pub(crate) fn stderr_bytes(&self) -> usize {
        unpoisoned(&self.words).len()
    }
}

impl Observer for Heard {
    fn observe(&self, server: &str, diagnostic: &Diagnostic) {
        if let Diagnostic::Stderr { tail, .. } = diagnostic {
            tail.reveal().clone_into(&mut unpoisoned(&self.words));
        }
        if let Diagnostic::Noise { .. } = diagnostic {
            self.noisy.store(true, Relaxed);
        }
        if let Some(next) = &self.next {
            next.observe(server, diagnostic);
        }
    }
}

/// Tells everything on stderr, at once.
#[derive(Default)]
pub(super) struct Aloud {
    /// How many lines of each server's stderr were told.
    told: Mutex<HashMap<String, u64>>,
}

impl Aloud {
    /// What is new in a diagnostic.
    fn news(&self, server: &str, diagnostic: &Diagnostic) -> Vec<String> {
        let one = |text: String| vec![text];
        match diagnostic {
            Diagnostic::Stderr { tail, lines, .. } => {
                let mut told = unpoisoned(&self.told);
                let before = told.insert(server.to_owned(), *lines).unwrap_or(0);
                let new = usize::try_from(lines.saturating_sub(before)).unwrap_or(usize::MAX);
                last_lines(tail.reveal(), new)
            }
            Diagnostic::Noise { kind, text } => {
                one(format!("stdout, not protocol ({kind}): {}", text.reveal()))
            }
            Diagnostic::UncorrelatedError { code, message } => {
                one(format!("error {code} to no request: {}", message.reveal()))
            }
            Diagnostic::RemoteError { code, message } => {
                one(format!("error {code}: {}", message.reveal()))
            }
            Diagnostic::Log { level, text } => {
                let level = level.map_or("log", |level| level.as_str());
                one(format!("{level}: {}", text.reveal()))
            }
            Diagnostic::ServerRequest => one(String::from(
                "it sent a request, which servers of its revision do not; it was not answered",
            )),
            Diagnostic::QuarantinedTool { index, reason } => {
                one(format!("tool {index} is left out: it {reason}"))
            }
            _ => Vec::new(),
        }
    }
}

impl Observer for Aloud {
    fn observe(&self, server: &str, diagnostic: &Diagnostic) {
        for line in self.news(server, diagnostic) {
            let (server, line) = (visible(server, Place::Line), visible(&line, Place::Line));
            talk::pass_on(format!("{server}| {line}"));
        }
    }
}

fn last_lines(text: &str, count: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(count);
    lines
        .iter()
        .skip(from)
        .map(|line| (*line).to_owned())
        .collect()
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
