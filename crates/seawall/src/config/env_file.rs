//! The `envFile` of VS Code: lines of `NAME=value`.

use std::collections::BTreeMap;

use super::names::is_plain_variable_name;

/// Reads the lines of an `envFile`: blank ones and `#` comments are skipped, `export` before a name too.
///
/// Single quotes keep a value as it is, double quotes know `\n`, `\r`, `\t`, `\"` and `\\`; an unquoted value ends
/// before a blank and `#`. Nothing is replaced in values.
///
/// # Errors
///
/// The number, from 1, of each line that is none of these.
pub(super) fn parse(text: &str) -> (BTreeMap<String, String>, Vec<usize>) {
    let mut variables = BTreeMap::new();
    let mut bad_lines = Vec::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match variable(line) {
            Some((name, value)) => {
                variables.insert(name, value);
            }
            None => bad_lines.push(index + 1),
        }
    }
    (variables, bad_lines)
}

fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    if !is_plain_variable_name(name) {
        return None;
    }
    let value = match value.trim_start().chars().next() {
        Some('\'') => quoted(value.trim_start(), '\'')?,
        Some('"') => quoted(value.trim_start(), '"')?,
        _ => unquoted(value).to_owned(),
    };
    Some((name.to_owned(), value))
}

/// The value that follows `=`, up to a `#` after a blank.
fn unquoted(text: &str) -> &str {
    let comment = text
        .match_indices([' ', '\t'])
        .map(|(blank, _)| blank)
        .find(|blank| {
            text.get(blank + 1..)
                .is_some_and(|rest| rest.starts_with('#'))
        });
    text.get(..comment.unwrap_or(text.len()))
        .unwrap_or_default()
        .trim()
}

/// The value between two quotes; what follows may only be a comment.
fn quoted(text: &str, quote: char) -> Option<String> {
    let mut out = String::new();
    let mut characters = text.chars();
    characters.next();
    while let Some(character) = characters.next() {
        match character {
            end if end == quote => {
                let rest = characters.as_str().trim_start();
                return (rest.is_empty() || rest.starts_with('#')).then_some(out);
            }
            '\\' if quote == '"' => match characters.next()? {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                plain @ ('"' | '\\') => out.push(plain),
                other => out.extend(['\\', other]),
            },
            plain => out.push(plain),
        }
    }
    None
}
