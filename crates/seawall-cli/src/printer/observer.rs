//! What servers say beside the protocol: kept for the doctor, or told aloud for those who asked (`-vv`).

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use seawall::events::{Diagnostic, Observer};

use super::{Place, visible};

/// How many of a server's last lines are kept.
const KEPT_LINES: usize = 5;

/// Keeps the last words that a server wrote on stderr.
#[derive(Default)]
pub(crate) struct Heard(Mutex<String>);

impl Heard {
    /// The last lines, oldest first. Text of the server: to be made visible before it is shown.
    pub(crate) fn last_words(&self) -> Vec<String> {
        let tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = tail.lines().filter(|line| !line.trim().is_empty()).collect();
        let from = lines.len().saturating_sub(KEPT_LINES);
        lines.iter().skip(from).map(|line| (*line).to_owned()).collect()
    }
}

impl Observer for Heard {
    fn observe(&self, event: &Diagnostic) {
        if let Diagnostic::Stderr { tail, .. } = event {
            tail.reveal().clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Tells everything on stderr, at once.
pub(crate) struct Aloud;

impl Observer for Aloud {
    fn observe(&self, event: &Diagnostic) {
        let (server, text) = words(event);
        let mut stderr = io::stderr().lock();
        for line in text.lines() {
            // Nobody is left to tell that stderr is gone.
            let _ = writeln!(stderr, "{}| {}", visible(server, Place::Line), visible(line, Place::Line));
        }
    }
}
