//! A prompt's arguments: texts out of `key=value` pairs, held against what the server lists.

use seawall::Json;
use serde_json::{Map, Value};

use super::{nearest, nearest_name, said};

/// So many arguments that a prompt needs are named.
const NAMED: usize = 8;

/// Why a prompt cannot be asked for. Text for a person at a terminal: the user's own words, and [said](said()) ones out of the
/// server's list. A program is told [without](PromptError::without_words) the latter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PromptError {
    #[error("server \"{server}\" lists no prompt `{name}`{}", nearest_name(.nearest.as_deref()))]
    UnknownPrompt {
        server: String,
        name: String,
        nearest: Option<String>,
    },
    #[error(
        "`{0}` is not key=value; write the key, an equals sign and the value, as in `topic=ships`"
    )]
    NotAPair(String),
    #[error("`{0}` is given twice; a prompt takes each argument once")]
    GivenTwice(String),
    #[error("the prompt has no argument `{key}`{}", nearest_name(.nearest.as_deref()))]
    UnknownKey {
        key: String,
        nearest: Option<String>,
    },
    #[error("the prompt needs {}", needed(.keys))]
    Missing { keys: Vec<String> },
}

impl PromptError {
    /// The text without any word of the server's (O1).
    pub(crate) fn without_words(&self) -> String {
        let error = match self {
            Self::UnknownPrompt { server, name, .. } => Self::UnknownPrompt {
                server: server.clone(),
                name: name.clone(),
                nearest: None,
            },
            Self::UnknownKey { key, .. } => Self::UnknownKey {
                key: key.clone(),
                nearest: None,
            },
            Self::Missing { .. } => Self::Missing { keys: Vec::new() },
            other => return other.to_string(),
        };
        error.to_string()
    }
}

fn needed(keys: &[String]) -> String {
    let Some(first) = keys.first() else {
        return "an argument that was not given; `seawall prompts` lists them".to_owned();
    };
    let mut names: Vec<String> = keys
        .iter()
        .take(NAMED)
        .map(|key| format!("`{}`", said(key)))
        .collect();
    if keys.len() > NAMED {
        names.push("…".to_owned());
    }
    format!("{}, as in `{}=…`", names.join(", "), said(first))
}

/// The arguments for the prompt that is listed as `entry`. A prompt that lists no arguments at all takes any.
///
/// # Errors
/// The first thing that cannot be meant.
pub(crate) fn of_prompt(entry: &Json, pairs: &[String]) -> Result<Option<Json>, PromptError> {
    // Servers that serialise an absent value write null.
    let listed = entry
        .member("arguments")
        .filter(|list| list.as_str() != "null");
    let listed = listed.map(|list| list.elements());
    let names: Option<Vec<String>> = listed.as_ref().map(|list| {
        let name = |argument: &Json| Some(argument.member("name")?.string()?.into_owned());
        list.iter().filter_map(name).collect()
    });
    let mut arguments = Map::new();
    for pair in pairs {
        let (key, text) = pair
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| PromptError::NotAPair(pair.clone()))?;
        if let Some(names) = names
            .as_ref()
            .filter(|names| !names.iter().any(|n| n == key))
        {
            return Err(PromptError::UnknownKey {
                key: key.to_owned(),
                nearest: nearest(names, key),
            });
        }
        let before = arguments.insert(key.to_owned(), Value::from(text));
        if before.is_some() {
            return Err(PromptError::GivenTwice(key.to_owned()));
        }
    }
    let is_missing = |argument: &&Json| {
        let required = argument.member("required");
        let name = argument.member("name");
        let name = name.as_ref().and_then(Json::string);
        required.is_some_and(|required| required.as_str() == "true")
            && name.is_some_and(|name| !arguments.contains_key(name.as_ref()))
    };
    let missing: Vec<String> = listed
        .iter()
        .flatten()
        .filter(is_missing)
        .filter_map(|argument| Some(argument.member("name")?.string()?.into_owned()))
        .collect();
    if !missing.is_empty() {
        return Err(PromptError::Missing { keys: missing });
    }
    // An object of texts always has a JSON text.
    Ok((!arguments.is_empty())
        .then(|| Json::of(&arguments).ok())
        .flatten())
}
