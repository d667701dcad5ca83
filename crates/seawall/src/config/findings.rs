//! Where the checks write what they find.

use std::collections::BTreeMap;

use super::credentials::sayable;
use super::problem::{Place, Problem, ProblemKind, Warning, WarningKind};

/// The findings of one configuration, and where in it the checks are. Positions are byte offsets until the end.
#[derive(Debug, Default)]
pub(super) struct Findings {
    problems: Vec<(Option<usize>, Problem)>,
    warnings: Vec<(Option<usize>, Warning)>,
    /// Origin, path and the server of the entry at hand.
    base: Place,
    /// Where the entry at hand is.
    entry: Option<usize>,
    /// How many problems there were before it.
    problems_before: usize,
    /// Where its fields are, by their paths.
    fields: BTreeMap<String, usize>,
    /// Keys that were written as another host writes them.
    written: BTreeMap<&'static str, String>,
}

impl Findings {
    pub(super) fn new(base: Place) -> Self {
        Self {
            base,
            ..Self::default()
        }
    }

    /// Everything after this is about the entry of `server`; `None` is the file as a whole.
    pub(super) fn begin_entry(&mut self, server: Option<&str>, offset: Option<usize>) {
        self.base.server = server.map(sayable);
        self.entry = offset;
        self.problems_before = self.problems.len();
        self.fields.clear();
        self.written.clear();
    }

    /// Remembers where a field is.
    pub(super) fn locate(&mut self, field: String, offset: usize) {
        self.fields.insert(field, offset);
    }

    /// Messages about `key` are to say `written`.
    pub(super) fn rename(&mut self, key: &'static str, written: &str) {
        self.written.insert(key, written.to_owned());
    }

    pub(super) fn problem(&mut self, field: impl Into<Option<String>>, kind: ProblemKind) {
        let (offset, place) = self.place(field.into());
        self.problems.push((offset, Problem { place, kind }));
    }

    pub(super) fn problem_at(&mut self, offset: usize, kind: ProblemKind) {
        let (_, place) = self.place(None);
        self.problems.push((Some(offset), Problem { place, kind }));
    }

    pub(super) fn warning(&mut self, field: impl Into<Option<String>>, kind: WarningKind) {
        let (offset, place) = self.place(field.into());
        self.warnings.push((offset, Warning { place, kind }));
    }

    /// Whether the entry at hand has no problem so far.
    pub(super) fn entry_is_sound(&self) -> bool {
        self.problems.len() == self.problems_before
    }

    /// How many problems there are so far.
    pub(super) fn problem_count(&self) -> usize {
        self.problems.len()
    }

    /// How many warnings there are so far.
    pub(super) fn warning_count(&self) -> usize {
        self.warnings.len()
    }

    /// The warnings from the `first` on, without their positions.
    pub(super) fn warnings_since(&self, first: usize) -> Vec<Warning> {
        let since = self.warnings.get(first..).unwrap_or_default();
        since.iter().map(|(_, warning)| warning.clone()).collect()
    }

    /// Everything in the order of `text`, with lines and columns.
    pub(super) fn finish(mut self, text: &str) -> (Vec<Problem>, Vec<Warning>) {
        self.problems.sort_by_key(|(offset, _)| *offset);
        self.warnings.sort_by_key(|(offset, _)| *offset);
        let mut cursor = Cursor::new(text);
        let problems = self.problems.into_iter().map(|(offset, mut problem)| {
            problem.place.position = offset.map(|offset| cursor.advance_to(offset));
            problem
        });
        let problems = problems.collect();
        let mut cursor = Cursor::new(text);
        let warnings = self.warnings.into_iter().map(|(offset, mut warning)| {
            warning.place.position = offset.map(|offset| cursor.advance_to(offset));
            warning
        });
        (problems, warnings.collect())
    }

    fn place(&self, field: Option<String>) -> (Option<usize>, Place) {
        let offset = field.as_deref().and_then(|field| self.offset_of(field));
        let place = Place {
            field: field.map(|field| sayable(&self.as_written(field))),
            ..self.base.clone()
        };
        (offset.or(self.entry), place)
    }

    fn as_written(&self, field: String) -> String {
        let end = field.find(['.', '[']).unwrap_or(field.len());
        let (key, rest) = field.split_at(end);
        match self.written.get(key) {
            Some(written) => format!("{written}{rest}"),
            None => field,
        }
    }

    /// Where a field is, or the nearest one that holds it.
    fn offset_of(&self, field: &str) -> Option<usize> {
        let mut path = field;
        loop {
            if let Some(offset) = self.fields.get(path) {
                return Some(*offset);
            }
            path = path.get(..path.rfind(['.', '['])?)?;
        }
    }
}

/// Turns ascending byte offsets into lines and columns in one pass over the text.
struct Cursor<'a> {
    rest: std::iter::Peekable<std::str::CharIndices<'a>>,
    line: usize,
    column: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text.char_indices().peekable(),
            line: 1,
            column: 1,
        }
    }

    /// The line and the column, from 1, of a byte offset that is not before the last one.
    fn advance_to(&mut self, offset: usize) -> (usize, usize) {
        while let Some((_, character)) = self.rest.next_if(|(at, _)| *at < offset) {
            let is_break = match character {
                '\n' => true,
                '\r' => self.rest.peek().is_none_or(|(_, next)| *next != '\n'),
                _ => false,
            };
            if is_break {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        (self.line, self.column)
    }
}
