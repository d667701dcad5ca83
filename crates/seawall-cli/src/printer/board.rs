//! A table on stderr, drawn again in its place.

use console::Term;

use super::spinner::{Spinner, Spinners};
use super::{Colour, Table};

/// Lines that a board leaves to what is said beside it.
const SPARE_LINES: u16 = 4;

/// Shown until it is dropped; talk is written above it.
pub(crate) struct Board {
    shown: Spinner,
    colour: Colour,
}

impl Board {
    pub(super) fn new(colour: Colour, among: &Spinners) -> Self {
        Self {
            shown: Spinner::still(among),
            colour,
        }
    }

    /// How many rows fit now.
    pub(crate) fn rows(&self) -> usize {
        let (height, _) = Term::stderr().size();
        usize::from(height.saturating_sub(SPARE_LINES).max(1))
    }

    /// Shows this instead, and a line below it. Everything must be visible already.
    pub(crate) fn show(&self, table: &Table, below: &str) {
        let (_, width) = Term::stderr().size();
        let drawn = table.draw(self.colour, Some(width));
        self.shown.say(&format!("{drawn}\n{below}"));
    }
}
