//! Patterns with look-around, said without it: as several patterns of which each runs on the linear engine.
//!
//! A look-ahead at the very start and a look-behind at the very end consume nothing, so the pattern matches exactly when
//! each part does, or does not, on its own. What JSON Schema has for that is `allOf` and `not`: the work of the parts is
//! counted and bounded like that of any other subschema.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// The most look-arounds at one end of a pattern.
const MAX_LOOKS: usize = 32;
/// How far from the start of a pattern a look-ahead may stand, in bytes.
const MAX_START: usize = 64;
/// What repeats the character or the group before it.
const QUANTIFIERS: [char; 4] = ['*', '+', '?', '{'];

/// The objects of a schema, by their address.
pub(super) type Objects = HashSet<*const Map<String, Value>>;

/// One of the patterns that a pattern comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// It has to match.
    Match(String),
    /// It must not match.
    NoMatch(String),
}

/// Parts that together say what `pattern` does: `^(?=…)a(?!…)rest(?<=…)(?<!…)$`, where only single characters stand before a
/// look-ahead, and neither a choice nor a repetition reaches over a look-around. `None` if it has no such look-around. The
/// parts may still be no patterns, or have look-around of their own.
pub(super) fn parts(pattern: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let (start, rest) = leading(pattern, &mut parts)?;
    let looks_ahead = parts.len();
    let (rest, end) = trailing(rest, &mut parts)?;
    if parts.is_empty() || has_choice(rest) {
        return None;
    }
    parts.insert(looks_ahead, Part::Match(format!("{start}(?:{rest}){end}")));
    Some(parts)
}

/// Takes the look-aheads off a pattern: what it begins with, and what is left of it.
fn leading<'a>(pattern: &'a str, parts: &mut Vec<Part>) -> Option<(String, &'a str)> {
    let unchanged = (String::new(), pattern);
    let Some(mut rest) = pattern.strip_prefix('^') else {
        return Some(unchanged);
    };
    // A look-ahead stands where these characters end, and nowhere else.
    let mut start = "^".to_owned();
    loop {
        if let Some((opened, part)) = open(rest, &AHEAD) {
            let end = group_end(opened).filter(|_| parts.len() < MAX_LOOKS)?;
            parts.push(part(format!("{start}(?:{})", opened.get(..end)?)));
            rest = opened.get(end + 1..)?;
            if rest.starts_with(QUANTIFIERS) {
                return None;
            }
        } else if let Some(end) = one_character(rest).filter(|_| start.len() < MAX_START) {
            let (character, left) = rest.split_at_checked(end)?;
            start.push_str(character);
            rest = left;
        } else {
            break;
        }
    }
    Some(match parts.is_empty() {
        true => unchanged,
        false => (start, rest),
    })
}

/// Takes the look-behinds off a pattern: what is left of it, and what it ends with.
fn trailing<'a>(pattern: &'a str, parts: &mut Vec<Part>) -> Option<(&'a str, &'static str)> {
    let Some(mut rest) = ends_at_end(pattern) else {
        return Some((pattern, ""));
    };
    let before = parts.len();
    while let Some((start, body, part)) = last_look_behind(rest) {
        if parts.len() == before + MAX_LOOKS {
            return None;
        }
        parts.push(part(format!("(?:{body})$")));
        rest = rest.get(..start)?;
    }
    Some(match parts.len() == before {
        true => (pattern, ""),
        false => (rest, "$"),
    })
}

/// The schema with the `pattern` of each of these objects in parts.
pub(super) fn divide(schema: &mut Value, objects: &Objects) {
    // What is inside is changed first: it stays where it is while that is done, and may move when its owner is changed.
    match schema {
        Value::Array(elements) => elements.iter_mut().for_each(|inner| divide(inner, objects)),
        Value::Object(object) => {
            object.values_mut().for_each(|inner| divide(inner, objects));
            if objects.contains(&std::ptr::from_ref(object)) {
                divide_one(object);
            }
        }
        _ => {}
    }
}

fn divide_one(object: &mut Map<String, Value>) {
    let Some(parts) = object
        .get("pattern")
        .and_then(Value::as_str)
        .and_then(parts)
    else {
        return;
    };
    // References into `allOf` go by place, so what is there keeps its own.
    let all = object.entry("allOf").or_insert_with(|| json!([]));
    let Value::Array(all) = all else { return };
    all.extend(parts.into_iter().map(|part| match part {
        Part::Match(pattern) => json!({"pattern": pattern}),
        // A pattern says nothing of what is no string, and `not` would turn that round.
        Part::NoMatch(pattern) => json!({"not": {"type": "string", "pattern": pattern}}),
    }));
    object.remove("pattern");
}

/// What the body of a look-around comes to.
type Becomes = fn(String) -> Part;
type Look = (&'static str, Becomes);
const AHEAD: [Look; 2] = [("(?=", Part::Match), ("(?!", Part::NoMatch)];
const BEHIND: [Look; 2] = [("(?<=", Part::Match), ("(?<!", Part::NoMatch)];

/// What follows the opening of a look-around, if the text begins with one of these.
fn open<'a>(text: &'a str, looks: &[Look]) -> Option<(&'a str, Becomes)> {
    let mut looks = looks.iter();
    looks.find_map(|(opening, part)| Some((text.strip_prefix(opening)?, *part)))
}

/// The pattern before a `$` at its end that means the end.
fn ends_at_end(pattern: &str) -> Option<&str> {
    let before = pattern.strip_suffix('$')?;
    // The `$` is a token of its own, outside groups and classes: only then the scan comes to it.
    let at = scan(pattern, |at, _, depth| at == before.len() && depth == 0)?;
    (at == before.len()).then_some(before)
}

/// How long what matches one character is that the pattern begins with: a literal, a class, an escape of either; `None`
/// if there is none, or it is repeated.
fn one_character(pattern: &str) -> Option<usize> {
    let mut characters = pattern.char_indices();
    let (_, first) = characters.next()?;
    let end = match first {
        '\\' => {
            let (at, escaped) = characters.next()?;
            let one = escaped.is_ascii_punctuation() || "dDwWsSnrtfv".contains(escaped);
            at + one.then_some(escaped.len_utf8())?
        }
        '[' => {
            let mut is_escaped = false;
            let closes = |(_, c): &(usize, char)| {
                let closes = *c == ']' && !is_escaped;
                is_escaped = *c == '\\' && !is_escaped;
                closes
            };
            characters.find(closes)?.0 + 1
        }
        '(' | ')' | '|' | '^' | '$' | ']' | '}' => return None,
        first if QUANTIFIERS.contains(&first) => return None,
        first => first.len_utf8(),
    };
    let is_repeated = pattern.get(end..)?.starts_with(QUANTIFIERS);
    (!is_repeated).then_some(end)
}

/// Where the look-behind begins that ends the pattern, and its body.
fn last_look_behind(pattern: &str) -> Option<(usize, &str, Becomes)> {
    let mut from = 0;
    loop {
        let start = from + scan(pattern.get(from..)?, |_, c, depth| c == '(' && depth == 0)?;
        let text = pattern.get(start..)?;
        let inside = start + 1;
        let end = inside + group_end(pattern.get(inside..)?)?;
        if end + 1 == pattern.len() {
            let (opened, part) = open(text, &BEHIND)?;
            return Some((start, opened.strip_suffix(')')?, part));
        }
        from = end + 1;
    }
}

/// Where the group ends whose body the text begins with.
fn group_end(body: &str) -> Option<usize> {
    scan(body, |_, c, depth| c == ')' && depth == 0)
}

fn has_choice(pattern: &str) -> bool {
    scan(pattern, |_, c, depth| c == '|' && depth == 0).is_some()
}

/// The first character outside escapes and classes for which `stop` holds, given its place and how many groups are open
/// before it. `None` also if a group ends that never began.
fn scan(pattern: &str, mut stop: impl FnMut(usize, char, usize) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_class = false;
    let mut characters = pattern.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            ']' if in_class => in_class = false,
            _ if in_class => {}
            '[' => in_class = true,
            _ if stop(at, character, depth) => return Some(at),
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
