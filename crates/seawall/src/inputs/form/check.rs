//! Whether an answer satisfies its form.

use jsonschema::Draft;
use seawall_proto::Json;
use seawall_proto::framing::Kind;

use super::{Choice, FieldKind, Form, NumberKind, TextFormat};

/// What is wrong with one member of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldProblem {
    /// The member's name; empty if the answer as a whole is no object.
    pub field: String,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a value. Its text is for the person who typed it; it repeats nothing of the server's.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A required field is absent.
    #[error("a value is needed")]
    Missing,
    /// The form has no such field.
    #[error("the form has no such field")]
    Unasked,
    /// The field, or one of its options, is there twice.
    #[error("given twice")]
    Repeated,
    /// Not text.
    #[error("not text")]
    NotText,
    /// Not a number.
    #[error("not a number")]
    NotNumber,
    /// Not a whole number.
    #[error("not a whole number")]
    NotWhole,
    /// Neither true nor false.
    #[error("neither true nor false")]
    NotBoolean,
    /// Not a list.
    #[error("not a list")]
    NotList,
    /// Not an object; of an answer as a whole.
    #[error("not an object")]
    NotObject,
    /// Fewer characters than this.
    #[error("shorter than {0} characters")]
    TooShort(u64),
    /// More characters than this.
    #[error("longer than {0} characters")]
    TooLong(u64),
    /// Not of this format.
    #[error("not {}", .0.words())]
    Format(TextFormat),
    /// Does not match the pattern.
    #[error("does not have the form that is asked for")]
    Pattern,
    /// Smaller than this.
    #[error("smaller than {0}")]
    TooSmall(f64),
    /// Larger than this.
    #[error("larger than {0}")]
    TooLarge(f64),
    /// None of the options.
    #[error("none of the options")]
    NotOption,
    /// Fewer chosen than this.
    #[error("fewer than {0} chosen")]
    TooFew(u64),
    /// More chosen than this.
    #[error("more than {0} chosen")]
    TooMany(u64),
}

pub(super) fn content(form: &Form, content: &Json) -> Vec<FieldProblem> {
    let problem = |field: &str, fault| FieldProblem {
        field: field.to_owned(),
        fault,
    };
    if content.kind() != Kind::Object {
        return vec![problem("", Fault::NotObject)];
    }
    let members = content.members();
    let mut problems = Vec::new();
    for (at, (name, given)) in members.iter().enumerate() {
        let before = members.get(..at).unwrap_or_default();
        let fault = match form.field(name) {
            None => Some(Fault::Unasked),
            Some(_) if before.iter().any(|(other, _)| other == name) => Some(Fault::Repeated),
            Some(field) => value(&field.kind, given),
        };
        problems.extend(fault.map(|fault| problem(name, fault)));
    }
    for field in &form.fields {
        if field.required && !members.iter().any(|(name, _)| *name == field.name) {
            problems.push(problem(&field.name, Fault::Missing));
        }
    }
    problems
}

pub(super) fn value(kind: &FieldKind, value: &Json) -> Option<Fault> {
    match kind {
        FieldKind::Boolean => (value.kind() != Kind::Bool).then_some(Fault::NotBoolean),
        FieldKind::Number {
            kind,
            minimum,
            maximum,
        } => number(value, *kind, *minimum, *maximum),
        FieldKind::Choice { options } => {
            let Some(chosen) = string(value) else {
                return Some(Fault::NotText);
            };
            (!is_option(options, &chosen)).then_some(Fault::NotOption)
        }
        FieldKind::Choices {
            options,
            min_items,
            max_items,
        } => choices(value, options, *min_items, *max_items),
        FieldKind::Text {
            format,
            min_length,
            max_length,
            pattern,
        } => {
            let Some(text) = string(value) else {
                return Some(Fault::NotText);
            };
            let length = text.chars().count() as u64;
            let too_short = min_length.filter(|least| length < *least);
            let too_long = max_length.filter(|most| length > *most);
            let text = serde_json::Value::String(text);
            let lacks_format = || format.filter(|format| !has_format(*format, &text));
            let mismatch = || {
                let mut pattern = pattern.iter();
                pattern.any(|pattern| !pattern.validator.is_valid(&text))
            };
            too_short
                .map(Fault::TooShort)
                .or(too_long.map(Fault::TooLong))
                .or_else(|| lacks_format().map(Fault::Format))
                .or_else(|| mismatch().then_some(Fault::Pattern))
        }
    }
}

/// The text of a string that a Rust string can hold.
fn string(value: &Json) -> Option<String> {
    if value.kind() == Kind::String {
        value.parse().ok()
    } else {
        None
    }
}

fn number(
    value: &Json,
    kind: NumberKind,
    minimum: Option<f64>,
    maximum: Option<f64>,
) -> Option<Fault> {
    let number: Option<f64> = Some(value)
        .filter(|value| value.kind() == Kind::Number)
        .and_then(|value| value.as_str().parse().ok());
    let Some(number) = number else {
        return Some(Fault::NotNumber);
    };
    if kind == NumberKind::Whole && number.fract() != 0.0 {
        return Some(Fault::NotWhole);
    }
    let too_small = minimum.filter(|least| number < *least);
    let too_large = maximum.filter(|most| number > *most);
    too_small
        .map(Fault::TooSmall)
        .or(too_large.map(Fault::TooLarge))
}

fn choices(
    value: &Json,
    options: &[Choice],
    min_items: Option<u64>,
    max_items: Option<u64>,
) -> Option<Fault> {
    if value.kind() != Kind::Array {
        return Some(Fault::NotList);
    }
    let elements = value.elements();
    let count = elements.len() as u64;
    if let Some(least) = min_items.filter(|least| count < *least) {
        return Some(Fault::TooFew(least));
    }
    if let Some(most) = max_items.filter(|most| count > *most) {
        return Some(Fault::TooMany(most));
    }
    let mut chosen: Vec<String> = Vec::new();
    for element in &elements {
        let Some(text) = string(element) else {
            return Some(Fault::NotText);
        };
        if !is_option(options, &text) {
            return Some(Fault::NotOption);
        }
        // As many as there are options at most: each is there once.
        if chosen.contains(&text) {
            return Some(Fault::Repeated);
        }
        chosen.push(text);
    }
    None
}

fn is_option(options: &[Choice], value: &str) -> bool {
    options.iter().any(|option| option.value == value)
}

fn has_format(format: TextFormat, text: &serde_json::Value) -> bool {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .build(&serde_json::json!({ "format": format.name() }))
        .is_ok_and(|validator| validator.is_valid(text))
}
