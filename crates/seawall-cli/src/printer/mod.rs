//! What leaves the program: data to stdout, talk to stderr.
//!
//! **Invariant:** a stdout that was closed (`| head`) is the quiet end of printing, not an error; colour only on a
//! terminal that wants it; what a server wrote is made visible before it is talk or a person's data.

mod board;
mod feed;
mod observer;
mod pretty;
mod spinner;
mod table;
mod talk;

use std::io::{self, Write};
use std::sync::Arc;

use observer::Aloud;
use seawall::events::Observer;
use serde::Serialize;

pub(crate) use board::Board;
pub(crate) use feed::Feed;
pub(crate) use observer::Heard;
pub(crate) use pretty::pretty;
pub(crate) use seawall::visible::{Place, count_invisible, visible};
pub(crate) use spinner::{Hushed, Spinner, Spinners};
pub(crate) use table::Table;

/// Has a text written to stderr, soon, as it is: no line of its own, nothing made visible.
pub(crate) fn show(text: String) {
    talk::show(text);
}

/// What stdout is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For a person to read.
    Human,
    /// For a program: exact.
    Json,
}

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Plain,
    Ansi,
}

/// How a piece of text is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Strong,
    Faint,
    Good,
    Warning,
    Bad,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "1;31",
        }
    }
}

impl Colour {
    /// The text, looking so. The text must hold no control characters of others.
    pub(crate) fn paint(self, look: Look, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\u{1b}[{}m{text}\u{1b}[0m", look.code()),
        }
    }
}

/// How the printer was asked to behave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) format: Format,
    /// 0: what matters; 1: what was done; 2: what servers say beside the protocol.
    pub(crate) verbosity: u8,
    pub(crate) stdout: Colour,
    pub(crate) stderr: Colour,
    /// Whether someone watches stderr, so that waiting is shown.
    pub(crate) spinner: bool,
    /// How wide the terminal on stdout is, if it is one.
    pub(crate) width: Option<u16>,
}

/// Both ways out.
pub(crate) struct Printer {
    manner: Manner,
    stdout: Box<dyn Write + Send>,
    stderr: Box<dyn Write + Send>,
    /// Why stdout takes no more, if it does not.
    broken: Option<io::Error>,
    spinners: Spinners,
}

impl Printer {
    pub(crate) fn new(
        manner: Manner,
        stdout: Box<dyn Write + Send>,
        stderr: Box<dyn Write + Send>,
    ) -> Self {
        Self {
            manner,
            stdout,
            stderr,
            broken: None,
            spinners: Spinners::default(),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.manner.format == Format::Json
    }

    pub(crate) fn verbosity(&self) -> u8 {
        self.manner.verbosity
    }

    /// Who listens to what servers say beside the protocol: nobody, unless `-vv` asks for it.
    pub(crate) fn observer(&self) -> Option<Arc<dyn Observer>> {
        (self.manner.verbosity > 1).then(|| Arc::new(Aloud::default()) as Arc<dyn Observer>)
    }

    /// Whether stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.manner.width.is_some()
    }

    /// The colour of stdout.
    pub(crate) fn colour(&self) -> Colour {
        self.manner.stdout
    }

    /// The colour of stderr.
    pub(crate) fn talk_colour(&self) -> Colour {
        self.manner.stderr
    }

    /// The spinners that this printer shows, to be hushed while somebody else has the terminal.
    pub(crate) fn spinners(&self) -> Spinners {
        self.spinners.clone()
    }

    /// Whether stdout takes no more.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Data, as it is, and a newline.
    pub(crate) fn data(&mut self, text: &str) {
        if self.broken.is_some() {
            return;
        }
        let written = self
            .stdout
            .write_all(text.as_bytes())
            .and_then(|()| self.stdout.write_all(b"\n"))
            .and_then(|()| self.stdout.flush());
        self.broken = written.err();
    }

    /// Data, byte for byte, with nothing added.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if self.broken.is_none() {
            let written = self.stdout.write_all(bytes);
            self.broken = written.and_then(|()| self.stdout.flush()).err();
        }
    }

    /// Data as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(text) => self.data(&text),
            Err(error) => self.broken = Some(error.into()),
        }
    }

    /// A table, as data.
    pub(crate) fn table(&mut self, table: &Table) {
        let drawn = table.draw(self.manner.stdout, self.manner.width);
        self.data(&drawn);
    }

    /// A plain word on stderr.
    pub(crate) fn talk(&mut self, text: &str) {
        self.say(visible(text, Place::Block).into());
    }

    /// A word for those who asked for more.
    pub(crate) fn detail(&mut self, text: &str) {
        if self.manner.verbosity > 0 {
            self.labelled(Look::Faint, "", text);
        }
    }

    pub(crate) fn warning(&mut self, text: &str) {
        self.labelled(Look::Warning, "warning: ", text);
    }

    pub(crate) fn error(&mut self, text: &str) {
        self.labelled(Look::Bad, "error: ", text);
    }

    /// What to do about it.
    pub(crate) fn hint(&mut self, text: &str) {
        self.labelled(Look::Good, "hint: ", text);
    }

    fn labelled(&mut self, look: Look, label: &str, text: &str) {
        let text = visible(text, Place::Block);
        let colour = self.manner.stderr;
        let line = if label.is_empty() {
            colour.paint(look, &text)
        } else {
            format!("{}{text}", colour.paint(look, label))
        };
        self.say(line);
    }

    fn say(&mut self, line: String) {
        if self.manner.verbosity > 1 || talk::is_used() {
            // What servers say, or ask, is written meanwhile, and may be stuck where nobody reads it.
            talk::say(line);
        } else {
            let stderr = &mut self.stderr;
            self.spinners.step_aside(|| {
                // Nobody is left to tell that stderr is gone.
                let _ = writeln!(stderr, "{line}");
            });
        }
    }

    /// A text kept up to date on stderr, where somebody watches that.
    pub(crate) fn board(&self) -> Option<Board> {
        let colour = self.manner.stderr;
        self.manner
            .spinner
            .then(|| Board::new(colour, &self.spinners))
    }

    /// Has all talk from here on written by a thread of its own, so that a stderr nobody reads holds up nothing. Not
    /// beside a board.
    pub(crate) fn talk_aside(&self) {
        talk::show(String::new());
    }

    /// Shows that something is awaited, until the spinner is dropped.
    pub(crate) fn spinner(&self, text: &str) -> Spinner {
        if self.manner.spinner {
            Spinner::shown(&visible(text, Place::Line), &self.spinners)
        } else {
            Spinner::hidden()
        }
    }

    /// Ends printing.
    ///
    /// # Errors
    /// Why data could not be written, unless its reader simply went away.
    pub(crate) fn finish(self) -> io::Result<()> {
        talk::finish();
        match self.broken {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(crate) use tests::Written;

#[cfg(test)]
mod tests;
