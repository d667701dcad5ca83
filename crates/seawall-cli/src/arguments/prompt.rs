//! A prompt's arguments: texts out of `key=value` pairs, held against what the server lists.

use seawall::Json;
use serde_json::{Map, Value};

use super::{nearest, nearest_name};

/// Why a prompt cannot be asked for. Public text: the user's own words, and names out of the server's list.
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
    #[error("the prompt needs {}, as in `{}=…`", .keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "), .keys.first().map_or("", String::as_str))]
    Missing { keys: Vec<String> },
}

/// The arguments for the prompt that is listed as `entry`. A prompt that lists no arguments at all takes any.
///
/// # Errors
/// The first thing that cannot be meant.
pub(crate) fn of_prompt(entry: &Json, pairs: &[String]) -> Result<Option<Json>, PromptError> {
    let listed = entry.member("arguments").map(|list| list.elements());
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
