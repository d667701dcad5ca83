//! A call's arguments: one JSON text out of `--args` and `key=value` pairs.
//!
//! Values are typed by the tool's own input schema. Numbers are never decoded: what was written is what is sent.
//! The server validates the arguments; only what cannot be meant otherwise is refused here.
//!
//! **Invariant:** no input, and no schema, makes this recurse deeper than [`MAX_DEPTH`] or work without bound.

mod node;
mod prompt;
mod schema;
mod typing;

use std::collections::HashSet;

use seawall::visible::{Place, visible};
use serde_json::Value;

use node::Node;
use schema::Schema;

pub(crate) use prompt::{PromptError, of_prompt};
pub(crate) use typing::Kind;

/// How deep a dotted key may reach: what one message may nest, less the envelope.
const MAX_DEPTH: usize = 120;

/// The longest word of a server that is said to a person, in characters.
const MAX_SAID_CHARS: usize = 60;

/// Why arguments cannot be built. Text for a person at a terminal: the user's own words, and [said](said()) ones out of the
/// tool's schema. A program is told [without](ArgumentError::without_words) the latter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ArgumentError {
    #[error("--args is not JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("--args is not a JSON object; it is like '{{\"key\": \"value\"}}'")]
    NotAnObject,
    #[error("`{0}` is not key=value; write the key, an equals sign and the value, as in `limit=3`")]
    NotAPair(String),
    #[error("`{key}` takes {}, as in `{key}={}`; `{text}` is not", kinds(.expected), example(.expected))]
    WrongType {
        key: String,
        expected: Vec<Kind>,
        text: String,
    },
    #[error("`{key}` is given twice; it takes {}, so give it once", kinds(.expected))]
    GivenTwice { key: String, expected: Vec<Kind> },
    #[error(
        "`{key}` comes after one of its members and would replace it; give it before them, or them alone"
    )]
    AfterItsMember { key: String },
    #[error("the tool has no argument `{key}`{}", nearest_name(.nearest.as_deref()))]
    UnknownKey {
        key: String,
        nearest: Option<String>,
    },
    #[error("`{key}` has no members: it takes {}", kinds(.expected))]
    NoMembers { key: String, expected: Vec<Kind> },
    #[error("`{key}` was given as something that is no object, so it has no members")]
    GivenWithoutMembers { key: String },
    #[error("`{0}` reaches too deep")]
    TooDeep(String),
}

impl ArgumentError {
    /// The text without any word of the server's (O1).
    pub(crate) fn without_words(&self) -> String {
        let wordless = |expected: &[Kind]| expected.iter().map(Kind::without_words).collect();
        let error = match self {
            Self::WrongType {
                key,
                expected,
                text,
            } => Self::WrongType {
                key: key.clone(),
                expected: wordless(expected),
                text: text.clone(),
            },
            Self::GivenTwice { key, expected } => Self::GivenTwice {
                key: key.clone(),
                expected: wordless(expected),
            },
            Self::NoMembers { key, expected } => Self::NoMembers {
                key: key.clone(),
                expected: wordless(expected),
            },
            Self::UnknownKey { key, .. } => Self::UnknownKey {
                key: key.clone(),
                nearest: None,
            },
            other => return other.to_string(),
        };
        error.to_string()
    }
}

fn kinds(expected: &[Kind]) -> String {
    let names: Vec<String> = expected.iter().map(Kind::to_string).collect();
    names.join(" or ")
}

fn example(expected: &[Kind]) -> String {
    expected.first().map_or_else(String::new, Kind::example)
}

fn nearest_name(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| {
        format!("; did you mean `{}`?", said(name))
    })
}

/// A server's word as it is said to a person: short, on one line, with nothing hidden in it.
fn said(word: &str) -> String {
    let start: String = word.chars().take(MAX_SAID_CHARS).collect();
    let more = if start.len() < word.len() { "…" } else { "" };
    format!("{}{more}", visible(&start, Place::Line))
}

/// Builds the arguments of a call: `document` (the text of `--args`) with `pairs` laid over it, typed by
/// `input_schema`.
///
/// # Errors
/// The first thing that cannot be understood.
pub(crate) fn build(
    input_schema: &Value,
    document: Option<&str>,
    pairs: &[String],
) -> Result<String, ArgumentError> {
    let mut root = match document {
        None => Node::Object(Vec::new()),
        Some(text) => {
            let node = Node::parse(text).map_err(ArgumentError::NotJson)?;
            if !node.is_object() {
                return Err(ArgumentError::NotAnObject);
            }
            node
        }
    };
    let mut given = Given::default();
    for pair in pairs {
        let (key, text) = match pair.split_once('=') {
            Some((key, text)) if !key.is_empty() => (key, text),
            _ => return Err(ArgumentError::NotAPair(pair.clone())),
        };
        set(&mut root, Schema::root(input_schema), key, text, &mut given)?;
    }
    Ok(root.to_text())
}

/// What pairs gave before, each as the names on its way.
#[derive(Default)]
struct Given<'a> {
    whole: HashSet<Vec<&'a str>>,
    /// Of which members were given.
    parts: HashSet<Vec<&'a str>>,
}

/// Sets the member that the dotted `key` names.
fn set<'a>(
    root: &mut Node,
    root_schema: Schema<'_>,
    key: &'a str,
    text: &str,
    given: &mut Given<'a>,
) -> Result<(), ArgumentError> {
    let mut place = root;
    let mut schema = root_schema;
    let mut rest = key;
    let mut way = Vec::new();
    for _ in 0..MAX_DEPTH {
        let (name, after) = schema.split_key(rest);
        way.push(name);
        let member = schema
            .member(name)
            .map_err(|closed| ArgumentError::UnknownKey {
                key: written(key, after).to_owned(),
                nearest: nearest(&closed.names, name),
            })?;
        let members = place
            .members()
            .ok_or_else(|| ArgumentError::GivenWithoutMembers {
                key: parent(key, rest).to_owned(),
            })?;
        let Some(after) = after else {
            if given.parts.contains(&way) {
                let key = key.to_owned();
                return Err(ArgumentError::AfterItsMember { key });
            }
            let repeated = !given.whole.insert(way);
            return put(members, name, key, &member, text, repeated);
        };
        let expected = typing::kinds(&member);
        if !expected.iter().any(Kind::has_members) {
            let key = written(key, Some(after)).to_owned();
            return Err(ArgumentError::NoMembers { key, expected });
        }
        given.parts.insert(way.clone());
        place = node::entry(members, name);
        schema = member;
        rest = after;
    }
    Err(ArgumentError::TooDeep(key.to_owned()))
}

/// Puts a value into `members`: appends it if `key` is an array that was given before.
fn put(
    members: &mut Vec<(String, Node)>,
    name: &str,
    key: &str,
    schema: &Schema<'_>,
    text: &str,
    repeated: bool,
) -> Result<(), ArgumentError> {
    let value = typing::value(schema, text).map_err(|expected| ArgumentError::WrongType {
        key: key.to_owned(),
        expected,
        text: text.to_owned(),
    })?;
    let place = node::entry(members, name);
    if !repeated {
        *place = value;
        return Ok(());
    }
    match (place.items(), value) {
        (Some(items), Node::Array(more)) => {
            items.extend(more);
            Ok(())
        }
        _ => Err(ArgumentError::GivenTwice {
            key: key.to_owned(),
            expected: typing::kinds(schema),
        }),
    }
}

/// The part of `key` before the unread rest `after`.
fn written<'a>(key: &'a str, after: Option<&str>) -> &'a str {
    let unread = after.map_or(0, |after| after.len() + 1);
    key.get(..key.len() - unread).unwrap_or(key)
}

/// The part of `key` before `rest` and the dot between them.
fn parent<'a>(key: &'a str, rest: &str) -> &'a str {
    let read = (key.len() - rest.len()).saturating_sub(1);
    key.get(..read).unwrap_or(key)
}

/// The name out of `names` that `name` is most like, if it is like one.
pub(crate) fn nearest(names: &[String], name: &str) -> Option<String> {
    names
        .iter()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, known)| *distance <= 1 + known.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known.clone())
}

#[cfg(test)]
mod tests;
