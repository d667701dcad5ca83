//! The two ways of a dialogue: words to the person, lines from the person.

use std::future::Future;

use crate::printer::{Colour, Look, Place, show, visible};

use super::reader::Reader;

/// Where a dialogue takes place.
pub(super) trait Console: Send {
    /// Shows a text as it is. What a server wrote in it must be visible already.
    fn show(&mut self, text: &str);

    /// The next line without its end; `None` if there will be none.
    ///
    /// # Cancel safety
    /// A line that nobody waits for any longer is forgotten.
    fn line(&mut self) -> impl Future<Output = Option<String>> + Send;

    /// How wide it is, in columns.
    fn width(&self) -> usize;

    fn colour(&self) -> Colour;
}

/// stderr and stdin, both a terminal.
pub(super) struct Stdio<'a> {
    pub(super) reader: &'a Reader,
    pub(super) colour: Colour,
}

impl Console for Stdio<'_> {
    fn show(&mut self, text: &str) {
        show(text.to_owned());
    }

    async fn line(&mut self) -> Option<String> {
        let line = self.reader.line().await;
        // More lines, as of a paste, were not typed in answer to what is asked next.
        self.reader.forget();
        line
    }

    fn width(&self) -> usize {
        usize::from(console::Term::stderr().size().1)
    }

    fn colour(&self) -> Colour {
        self.colour
    }
}

/// What was said to a question that any dialogue can ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Yes,
    Edit,
    Decline,
    Cancel,
}

impl Word {
    pub(super) fn of(line: &str) -> Option<Self> {
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(Self::Yes),
            "e" | "edit" => Some(Self::Edit),
            "n" | "no" | "d" | "decline" | "/decline" => Some(Self::Decline),
            "c" | "cancel" | "/cancel" => Some(Self::Cancel),
            _ => None,
        }
    }
}

/// The server's id, looking as what one should look at.
pub(super) fn strong(console: &impl Console, text: &str) -> String {
    console
        .colour()
        .paint(Look::Strong, &visible(text, Place::Line))
}
