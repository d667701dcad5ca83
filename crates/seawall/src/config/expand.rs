//! `${…}` in a value: variables, the workspace, inputs.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::credentials::sayable;
use super::findings::Findings;
use super::names::is_plain_variable_name;
use super::problem::ProblemKind;
use super::surroundings::{Input, Surroundings};

/// Replaces `${…}`, and remembers the inputs that were given, so that each is asked for once.
pub(super) struct Expander<'a> {
    surroundings: &'a dyn Surroundings,
    workspace: &'a Path,
    inputs: BTreeMap<String, Input>,
    answers: BTreeMap<String, Option<String>>,
}

/// A value with its parts replaced.
pub(super) struct Expanded {
    pub(super) text: String,
    /// Whether the value is as it was written.
    pub(super) is_literal: bool,
}

impl<'a> Expander<'a> {
    pub(super) fn new(
        surroundings: &'a dyn Surroundings,
        workspace: &'a Path,
        inputs: BTreeMap<String, Input>,
    ) -> Self {
        Self {
            surroundings,
            workspace,
            inputs,
            answers: BTreeMap::new(),
        }
    }

    /// The text of a file that may be relative to the workspace.
    pub(super) fn env_file(&self, path: &str) -> io::Result<String> {
        self.surroundings.env_file(&self.workspace.join(path))
    }

    /// Replaces every `${…}` of `text` once; what was put in is not looked at again. A `${…}` that holds neither a
    /// name nor a word and a colon is left as it is.
    pub(super) fn expand(&mut self, text: &str, field: &str, findings: &mut Findings) -> Expanded {
        let mut out = String::with_capacity(text.len());
        let mut is_literal = true;
        let mut rest = text;
        // How much of `rest` is left at the next `}`, so that each byte is looked at for one once.
        let mut left_at_close = usize::MAX;
        while let Some((before, after)) = rest.split_once("${") {
            if left_at_close > after.len() {
                match after.find('}') {
                    Some(close) => left_at_close = after.len() - close,
                    None => break,
                }
            }
            let (inner, closed) = after.split_at(after.len() - left_at_close);
            let after = closed.get(1..).unwrap_or_default();
            out.push_str(before);
            match self.value_of(inner) {
                Ok(Some(value)) => {
                    is_literal = false;
                    out.push_str(&value);
                    rest = after;
                }
                Ok(None) => {
                    out.push_str("${");
                    rest = rest.get(before.len() + 2..).unwrap_or_default();
                }
                Err(kind) => {
                    is_literal = false;
                    findings.problem(field.to_owned(), kind);
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        Expanded {
            text: out,
            is_literal,
        }
    }

    fn value_of(&mut self, inner: &str) -> Result<Option<String>, ProblemKind> {
        match inner {
            "workspaceFolder" | "workspaceRoot" => {
                return Ok(Some(self.workspace.display().to_string()));
            }
            "workspaceFolderBasename" => {
                let name = self.workspace.file_name().unwrap_or_default();
                return Ok(Some(name.to_string_lossy().into_owned()));
            }
            "userHome" => {
                let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
                return self.variable(home).map(Some);
            }
            "pathSeparator" | "/" => return Ok(Some(std::path::MAIN_SEPARATOR.to_string())),
            _ => {}
        }
        // Only as far as a name goes: a text of many `${` is read once.
        let named = inner.strip_prefix("env:").unwrap_or(inner);
        for (name, tail) in [first_word(inner), first_word(named)] {
            if !is_plain_variable_name(name) {
                continue;
            }
            if tail.is_empty() {
                return self.variable(name).map(Some);
            }
            if let Some(default) = tail.strip_prefix(":-") {
                // It would end at the inner one's brace, and leave its own in the text.
                if default.contains("${") {
                    return Err(ProblemKind::NestedDefault {
                        name: sayable(name),
                    });
                }
                let value = self.surroundings.variable(name);
                let value = value.filter(|value| !value.is_empty());
                return Ok(Some(value.unwrap_or_else(|| default.to_owned())));
            }
        }
        let (word, tail) = first_word(inner);
        match tail.strip_prefix(':') {
            Some(id) if word == "input" => self.input(id).map(Some),
            Some(_) if is_plain_variable_name(word) => Err(ProblemKind::Substitution {
                word: sayable(word),
            }),
            _ => Ok(None),
        }
    }

    fn variable(&self, name: &str) -> Result<String, ProblemKind> {
        let value = self.surroundings.variable(name);
        value.ok_or_else(|| ProblemKind::UnsetVariable {
            name: sayable(name),
        })
    }

    fn input(&mut self, id: &str) -> Result<String, ProblemKind> {
        if !self.answers.contains_key(id) {
            let described = self.inputs.get(id).cloned();
            let input = described.unwrap_or_else(|| Input {
                id: id.to_owned(),
                ..Input::default()
            });
            self.answers
                .insert(id.to_owned(), self.surroundings.input(&input));
        }
        let answer = self.answers.get(id).cloned().flatten();
        answer.ok_or_else(|| ProblemKind::MissingInput { id: sayable(id) })
    }
}

/// What a text begins with that a name may hold, and the rest.
fn first_word(text: &str) -> (&str, &str) {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let end = text.bytes().position(|byte| !is_name(byte));
    text.split_at(end.unwrap_or(text.len()))
}
