//! Tables for people.

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Row, presets};

use super::Colour;

/// The width of a table that nobody's terminal limits.
const WIDTH: u16 = 100;

/// A word of more characters is written as several lines. The library takes a long word apart a line at a time and goes
/// through all that is left of it each time, so that one of a server's could keep it busy for ever.
const MAX_WORD_CHARS: usize = 512;

/// Rows of text under a heading. The text must be visible already.
pub(crate) struct Table {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
    right: Vec<usize>,
    short: bool,
}

impl Table {
    pub(crate) fn new<const N: usize>(heading: [&str; N]) -> Self {
        Self {
            heading: heading.map(str::to_owned).to_vec(),
            rows: Vec::new(),
            right: Vec::new(),
            short: false,
        }
    }

    /// Aligns a column to the right, as numbers are.
    pub(crate) fn right(mut self, column: usize) -> Self {
        self.right.push(column);
        self
    }

    /// Cuts what does not fit, so that each row is one line.
    pub(crate) fn short(mut self) -> Self {
        self.short = true;
        self
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(broken_up).into());
    }

    /// The table's text; `width` is the terminal's, if there is one.
    pub(super) fn draw(&self, colour: Colour, width: Option<u16>) -> String {
        let mut table = comfy_table::Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width.unwrap_or(WIDTH));
        match colour {
            Colour::Ansi => table.enforce_styling(),
            Colour::Plain => table.force_no_tty(),
        };
        table.set_header(
            self.heading
                .iter()
                .map(|text| Cell::new(text).add_attribute(Attribute::Bold)),
        );
        for row in &self.rows {
            let mut row = Row::from(row);
            if self.short {
                row.max_height(1);
            }
            table.add_row(row);
        }
        for column in &self.right {
            if let Some(column) = table.column_mut(*column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let drawn = table.to_string();
        let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
        lines.join("\n")
    }
}

/// The text with a line break in each word that is too long.
fn broken_up(text: String) -> String {
    if text.len() <= MAX_WORD_CHARS {
        return text;
    }
    let mut out = String::with_capacity(text.len() + text.len() / MAX_WORD_CHARS);
    let mut run = 0;
    for c in text.chars() {
        run = if matches!(c, ' ' | '\n') { 0 } else { run + 1 };
        if run > MAX_WORD_CHARS {
            out.push('\n');
            run = 1;
        }
        out.push(c);
    }
    out
}
