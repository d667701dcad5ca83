//! The one terminal: one question at a time, whoever asks.

use std::sync::Arc;

use seawall::inputs::{Answer, BoxFuture, Consent, Form, FormSupplier, Page, UrlSupplier};
use tokio::sync::{Mutex, MutexGuard};

use super::console::{Console, Stdio, Word};
use super::reader::Reader;
use super::{form, page};
use crate::printer::{Colour, Hushed, Printer, Spinners, show};

/// Asks the person at the terminal. Clones share it.
#[derive(Clone)]
pub(super) struct Terminal {
    reader: Arc<Mutex<Reader>>,
    spinners: Spinners,
    colour: Colour,
}

impl Terminal {
    pub(super) fn new(printer: &Printer) -> Self {
        Self {
            reader: Arc::default(),
            spinners: printer.spinners(),
            colour: printer.talk_colour(),
        }
    }

    /// Asks until there is a yes or a no; the end of the input is a no.
    pub(super) async fn agrees(&self, question: &str) -> bool {
        let mut taken = self.take().await;
        let mut console = taken.console(self.colour);
        let agreed = loop {
            console.show(&format!("{question} yes or no: "));
            let Some(line) = console.line().await else {
                console.show("\n");
                break false;
            };
            match Word::of(&line) {
                Some(Word::Yes) => break true,
                Some(Word::Decline | Word::Cancel) => break false,
                _ => {}
            }
        };
        taken.answered = true;
        agreed
    }

    /// Has the terminal for one question; other questions wait.
    async fn take(&self) -> Taken<'_> {
        let reader = self.reader.lock().await;
        let hushed = self.spinners.hush();
        reader.forget();
        Taken {
            reader,
            _hushed: hushed,
            answered: false,
        }
    }
}

impl FormSupplier for Terminal {
    fn fill(&self, server: &str, form: Form) -> BoxFuture<Answer> {
        let (terminal, server) = (self.clone(), server.to_owned());
        Box::pin(async move {
            let mut taken = terminal.take().await;
            let answer = form::fill(&mut taken.console(terminal.colour), &server, &form).await;
            taken.answered = true;
            answer
        })
    }
}

impl UrlSupplier for Terminal {
    fn visit(&self, server: &str, page: Page) -> BoxFuture<Consent> {
        let (terminal, server) = (self.clone(), server.to_owned());
        Box::pin(async move {
            let mut taken = terminal.take().await;
            let console = &mut taken.console(terminal.colour);
            let consent = page::visit(console, &server, &page, page::open).await;
            taken.answered = true;
            consent
        })
    }
}

/// The terminal, taken for one question.
struct Taken<'a> {
    reader: MutexGuard<'a, Reader>,
    /// No spinner turns meanwhile.
    _hushed: Hushed,
    answered: bool,
}

impl Taken<'_> {
    fn console(&self, colour: Colour) -> Stdio<'_> {
        Stdio {
            reader: &self.reader,
            colour,
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.answered {
            show("\n(nothing was sent: the request has ended, or the server took the question back)\n".to_owned());
            // Half a line may be typed; nobody is to get it.
            self.reader.forget();
        }
    }
}
