//! Where the checks write what they find.

use std::collections::BTreeMap;

use super::problem::{Place, Problem, ProblemKind, Warning, WarningKind};

/// The findings of one configuration, and where in it the checks are.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Warning>,
    /// Origin, path and the server of the entry at hand.
    base: Place,
    /// Line and column of the entry at hand.
    entry: Option<(usize, usize)>,
    /// Line and column of its fields, by their paths.
    fields: BTreeMap<String, (usize, usize)>,
}

impl Findings {
    pub(super) fn new(base: Place) -> Self {
        Self {
            base,
            ..Self::default()
        }
    }

    /// Everything after this is about the entry of `server`.
    pub(super) fn begin_entry(&mut self, server: Option<String>, position: Option<(usize, usize)>) {
        self.base.server = server;
        self.entry = position;
        self.fields.clear();
    }

    /// Remembers where a field is.
    pub(super) fn locate(&mut self, field: String, position: (usize, usize)) {
        self.fields.insert(field, position);
    }

    pub(super) fn problem(&mut self, field: impl Into<Option<String>>, kind: ProblemKind) {
        let place = self.place(field.into());
        self.problems.push(Problem { place, kind });
    }

    pub(super) fn problem_at(
        &mut self,
        position: (usize, usize),
        field: Option<String>,
        kind: ProblemKind,
    ) {
        let place = Place {
            position: Some(position),
            ..self.place(field)
        };
        self.problems.push(Problem { place, kind });
    }

    pub(super) fn warning(&mut self, field: impl Into<Option<String>>, kind: WarningKind) {
        let place = self.place(field.into());
        self.warnings.push(Warning { place, kind });
    }

    fn place(&self, field: Option<String>) -> Place {
        let position = field
            .as_deref()
            .and_then(|field| self.position_of(field))
            .or(self.entry);
        Place {
            position,
            field,
            ..self.base.clone()
        }
    }

    /// The position of a field, or of the nearest one that holds it.
    fn position_of(&self, field: &str) -> Option<(usize, usize)> {
        let mut path = field;
        loop {
            if let Some(position) = self.fields.get(path) {
                return Some(*position);
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }
}
