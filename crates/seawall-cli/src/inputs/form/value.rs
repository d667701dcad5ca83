//! One value of a form: what may be typed, what was typed, and what it comes to.

use seawall::Json;
use seawall::inputs::{Choice, Fault, Field, FieldKind, NumberKind};
use serde::Serialize;
use serde_json::Value;

/// What may be typed, in Seawall's words.
pub(super) fn takes(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text {
            format,
            min_length,
            max_length,
            ..
        } => {
            let mut words = match format {
                None => "text".to_owned(),
                Some(format) => format!("text, {}", format.words()),
            };
            match (min_length, max_length) {
                (None | Some(0), None) => {}
                (None | Some(0), Some(most)) => words += &format!(", at most {most} characters"),
                (Some(least), None) => words += &format!(", at least {least} characters"),
                (Some(least), Some(most)) => words += &format!(", {least} to {most} characters"),
            }
            words
        }
        FieldKind::Number {
            kind,
            minimum,
            maximum,
        } => {
            let number = match kind {
                NumberKind::Whole => "a whole number",
                NumberKind::Any => "a number",
            };
            match (minimum, maximum) {
                (None, None) => number.to_owned(),
                (None, Some(most)) => format!("{number}, at most {most}"),
                (Some(least), None) => format!("{number}, at least {least}"),
                (Some(least), Some(most)) => format!("{number}, {least} to {most}"),
            }
        }
        FieldKind::Boolean => "yes or no".to_owned(),
        FieldKind::Choice { .. } => "one of these, by its number".to_owned(),
        FieldKind::Choices {
            min_items,
            max_items,
            ..
        } => {
            let how_many = match (min_items.filter(|least| *least > 0), max_items) {
                (None, None) => "any of these".to_owned(),
                (None, Some(most)) => format!("at most {most} of these"),
                (Some(least), None) => format!("at least {least} of these"),
                (Some(least), Some(most)) => format!("{least} to {most} of these"),
            };
            format!("{how_many}, by their numbers, as in 1,3; or none")
        }
        _ => "a value".to_owned(),
    }
}

/// An option as the list has it: the server's title, and what is sent for it. Not visible yet.
pub(super) fn option(option: &Choice) -> String {
    match &option.title {
        Some(title) => format!("{title}, sends {}", quoted(&option.value)),
        None => option.value.clone(),
    }
}

/// A value as it would be sent. Not visible yet.
pub(super) fn sent(value: &Json) -> String {
    match value.string() {
        // A default may be spelled with escapes, so that it says something else than it seems.
        Some(text) => quoted(&text),
        None if value.as_str().starts_with('[') => {
            let elements: Vec<String> = value.elements().iter().map(sent).collect();
            format!("[{}]", elements.join(", "))
        }
        None => value.as_str().to_owned(),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// What was typed, as a value that satisfies the field.
pub(super) fn read(field: &Field, text: &str) -> Result<Json, Fault> {
    let word = text.trim();
    let value = match field.kind() {
        FieldKind::Text { format: None, .. } => json(text, Fault::NotText),
        FieldKind::Number { .. } => Json::check(word.to_owned()).map_err(|_| Fault::NotNumber),
        FieldKind::Boolean => match word.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" => json(&true, Fault::NotBoolean),
            "n" | "no" | "false" => json(&false, Fault::NotBoolean),
            _ => Err(Fault::NotBoolean),
        },
        FieldKind::Choice { options } => {
            let chosen = choose(options, word).ok_or(Fault::NotOption)?;
            json(chosen, Fault::NotOption)
        }
        FieldKind::Choices { options, .. } => {
            let chosen = match choose(options, word) {
                Some(one) => vec![one],
                None if word.eq_ignore_ascii_case("none") => Vec::new(),
                None => word
                    .split([',', ' '])
                    .filter(|part| !part.is_empty())
                    .map(|part| choose(options, part).ok_or(Fault::NotOption))
                    .collect::<Result<_, _>>()?,
            };
            json(&chosen, Fault::NotOption)
        }
        _ => json(word, Fault::NotText),
    }?;
    match field.check(&value) {
        Some(fault) => Err(fault),
        None => Ok(value),
    }
}

/// The value of the option that is meant: by its number in the list, else by its own words.
fn choose<'a>(options: &'a [Choice], text: &str) -> Option<&'a str> {
    let by_number = || {
        let at = text.parse::<usize>().ok()?.checked_sub(1)?;
        options.get(at)
    };
    let by_words = || {
        let mut options = options.iter();
        options.find(|option| option.value == text || option.title.as_deref() == Some(text))
    };
    by_number()
        .or_else(by_words)
        .map(|option| option.value.as_str())
}

fn json(value: &(impl Serialize + ?Sized), fault: Fault) -> Result<Json, Fault> {
    Json::of(&value).map_err(|_| fault)
}
