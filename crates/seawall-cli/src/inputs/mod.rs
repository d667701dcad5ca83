//! What a person at the terminal supplies when a server asks: forms filled in, pages visited; and the folders of
//! `--root`.
//!
//! **Invariant:** without a terminal nobody can be asked, so nothing is declared. The terminal stays in the mode in which
//! it was found: there is nothing to restore, whatever ends a question. What a server wrote stands behind a bar, with all
//! that a terminal would obey or hide made visible, so that it can never pass for Seawall's own words.

mod console;
mod folders;
mod form;
mod page;
mod quote;
mod reader;
mod terminal;

use std::sync::Arc;

use seawall::inputs::{Root, Suppliers};

use crate::asker::Asker;
use crate::failure::UsageError;
use crate::printer::Printer;
use crate::settings::Settings;
use folders::Folders;
pub(crate) use reader::Reader;
use terminal::Terminal;

/// What this run supplies.
#[derive(Debug, Clone)]
pub(crate) struct Inputs {
    roots: Vec<Root>,
    asker: Asker,
}

impl Inputs {
    /// # Errors
    /// The `--root` that is no folder.
    pub(crate) fn resolve(settings: &Settings) -> Result<Self, UsageError> {
        Ok(Self {
            roots: folders::resolve(&settings.roots)?,
            asker: settings.asker,
        })
    }

    /// Whether there is somebody to ask.
    pub(crate) fn is_interactive(&self) -> bool {
        self.asker == Asker::Terminal
    }

    /// What the person says to a question of Seawall's own; no, if there is nobody.
    ///
    /// # Cancel safety
    /// An answer that nobody waits for any longer is forgotten.
    pub(crate) async fn agrees(&self, question: &str, printer: &Printer) -> bool {
        match self.asker {
            Asker::Nobody => false,
            Asker::Terminal => Terminal::new(printer).agrees(question).await,
        }
    }

    /// For commands that ask nothing of a server but what it is: the folders alone.
    pub(crate) fn of_a_look(&self) -> Suppliers {
        if self.roots.is_empty() {
            // None was named, so none is declared.
            return Suppliers::default();
        }
        Suppliers::default().with_roots(Arc::new(Folders(self.roots.clone())))
    }

    /// For commands that wait for an answer: the folders, and the person who waits.
    pub(crate) fn of_a_request(&self, printer: &Printer) -> Suppliers {
        let suppliers = self.of_a_look();
        match self.asker {
            Asker::Nobody => suppliers,
            Asker::Terminal => {
                let terminal = Arc::new(Terminal::new(printer));
                suppliers
                    .with_form(Arc::clone(&terminal) as _)
                    .with_url(terminal)
            }
        }
    }
}

#[cfg(test)]
mod tests;
