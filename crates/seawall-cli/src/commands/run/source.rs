//! The configuration of a run, read again whenever it is wanted.
//!
//! **Invariant:** once a file was found, it stays the one: that it is gone is a problem of it, and no other takes its place.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use seawall::config::{Checked, Input, Lookup, Origin, Surroundings, check_file};

use super::watch::Stamps;
use crate::asker::Asker;

/// Where the configuration is, and what was answered to it.
pub(super) struct Source {
    lookup: Lookup,
    found: Option<(Origin, PathBuf)>,
    memory: Memory,
}

impl Source {
    pub(super) fn new(lookup: Lookup, asker: Asker) -> Self {
        Self {
            lookup,
            found: None,
            memory: Memory {
                asker,
                asks: Cell::new(true),
                answers: RefCell::default(),
                files: RefCell::default(),
            },
        }
    }

    /// Reads and checks it. Only the first time somebody is asked for inputs; later the answers are known.
    pub(super) fn read(&mut self) -> Checked {
        if self.found.is_none() {
            self.found = self.lookup.locate();
        }
        let checked = match &self.found {
            Some((origin, path)) => {
                check_file(path, *origin, &self.lookup.working_dir, &self.memory)
            }
            None => Checked::default(),
        };
        self.memory.asks.set(false);
        checked
    }

    /// How every file of it stands now: its own, and those that its entries name.
    pub(super) fn stamps(&self) -> Stamps {
        let located;
        let own = match &self.found {
            Some((_, path)) => Some(path),
            None => {
                located = self.lookup.locate().map(|(_, path)| path);
                located.as_ref()
            }
        };
        let files = self.memory.files.borrow();
        Stamps::of(own.into_iter().chain(files.iter()))
    }
}

/// The process's variables and files, and what the person at the terminal answered.
struct Memory {
    asker: Asker,
    /// Whether somebody may be asked.
    asks: Cell<bool>,
    answers: RefCell<BTreeMap<String, String>>,
    /// Every file that an entry named.
    files: RefCell<BTreeSet<PathBuf>>,
}

impl Surroundings for Memory {
    fn variable(&self, name: &str) -> Option<String> {
        self.asker.variable(name)
    }

    fn env_file(&self, path: &Path) -> io::Result<String> {
        self.files.borrow_mut().insert(path.to_owned());
        self.asker.env_file(path)
    }

    fn input(&self, input: &Input) -> Option<String> {
        if let Some(known) = self.answers.borrow().get(&input.id) {
            return Some(known.clone());
        }
        if !self.asks.get() {
            return None;
        }
        let answer = self.asker.input(input)?;
        let mut answers = self.answers.borrow_mut();
        answers.insert(input.id.clone(), answer.clone());
        Some(answer)
    }
}
