//! Codex's `[mcp_servers.X]` as entries: the same things under other names, and its own kept from vanishing.

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, TableLike, Value as Toml};

use super::entry::Entry;
use super::source::{Found, Section};

/// A text as TOML, to be read or changed in place.
pub(super) fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        format!("not TOML: line {line}")
    })
}

/// The servers of a text.
pub(super) fn servers(text: &str) -> Result<Vec<Found>, String> {
    let document = parse(text)?;
    let Some(map) = document.get("mcp_servers") else {
        return Ok(Vec::new());
    };
    let map = map
        .as_table_like()
        .ok_or_else(|| "\"mcp_servers\" is no table".to_owned())?;
    let found = map.iter().map(|(id, item)| {
        let mut notes = Vec::new();
        let entry = match item.as_table_like() {
            Some(table) => entry(table, &mut notes),
            None => Err("no table".to_owned()),
        };
        Found {
            id: id.to_owned(),
            section: Section::Whole,
            entry,
            notes,
        }
    });
    Ok(found.collect())
}

fn entry(table: &dyn TableLike, notes: &mut Vec<String>) -> Result<Entry, String> {
    let mut entry = Entry::default();
    let mut headers = serde_json::Map::new();
    let mut oauth = serde_json::Map::new();
    for (key, item) in table.iter() {
        let value = json_of(item).ok_or_else(|| format!("{key}: of a type that JSON lacks"))?;
        match key {
            "command" | "args" | "env" | "cwd" | "url" | "required" => entry.set(key, value),
            "env_vars" => {
                let (names, remote) = names(&value);
                entry.set("passEnv", json!(names));
                for name in remote {
                    notes.push(format!(
                        "env_vars: {name} is not taken over: it comes from elsewhere"
                    ));
                }
            }
            "bearer_token_env_var" => entry.set("bearerTokenEnv", value),
            "http_headers" => headers.extend(value.as_object().cloned().unwrap_or_default()),
            "env_http_headers" => {
                for (name, variable) in value.as_object().into_iter().flatten() {
                    let variable = variable.as_str().unwrap_or_default();
                    headers.insert(name.clone(), json!(format!("${{{variable}}}")));
                }
            }
            "enabled" if value == json!(true) => {}
            "enabled" => entry.set("disabled", json!(true)),
            "enabled_tools" => entry.set("include", value),
            "disabled_tools" => entry.set("exclude", value),
            "startup_timeout_sec" => entry.set("handshakeTimeoutMs", milliseconds(&value)),
            "startup_timeout_ms" => entry.set("handshakeTimeoutMs", value),
            "tool_timeout_sec" => entry.set("requestTimeoutMs", milliseconds(&value)),
            "scopes" => {
                oauth.insert("scopes".to_owned(), value);
            }
            "oauth" if value.get("client_id").is_some() => {
                oauth.insert("clientId".to_owned(), value["client_id"].clone());
            }
            "bearer_token" => {
                return Err("bearer_token: a token itself, which Codex refuses too".to_owned());
            }
            "name" => {}
            key => notes.push(format!("{key} is not taken over: it is Codex's own")),
        }
    }
    if !headers.is_empty() {
        entry.set("headers", Value::Object(headers));
    }
    if !oauth.is_empty() {
        entry.set("oauth", Value::Object(oauth));
    }
    if entry.value().to_string().contains("${") && !table.contains_key("env_http_headers") {
        notes.push("it holds ${…}, which Codex takes as it is and Seawall replaces".to_owned());
    }
    Ok(entry)
}

/// Names of variables, and those of another machine's.
fn names(value: &Value) -> (Vec<String>, Vec<String>) {
    let (mut names, mut remote) = (Vec::new(), Vec::new());
    for variable in value.as_array().into_iter().flatten() {
        let name = variable.as_str().or_else(|| variable["name"].as_str());
        let name = name.unwrap_or_default().to_owned();
        if variable["source"] == "remote" {
            remote.push(name);
        } else {
            names.push(name);
        }
    }
    (names, remote)
}

/// Seconds as whole milliseconds; what is no number stays, to be refused by the checks.
fn milliseconds(seconds: &Value) -> Value {
    match seconds.as_f64() {
        Some(seconds) => {
            let text = format!("{:.0}", seconds * 1000.0);
            text.parse::<u64>().map_or(Value::Null, Value::from)
        }
        None => seconds.clone(),
    }
}

/// The value in JSON; `None` for dates and for numbers that are none.
pub(super) fn json_of(item: &Item) -> Option<Value> {
    match item {
        Item::Value(value) => json_of_value(value),
        Item::Table(table) => json_of_table(table),
        Item::ArrayOfTables(tables) => {
            let tables = tables.iter().map(|table| json_of_table(table));
            tables.collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        Item::None => None,
    }
}

fn json_of_table(table: &dyn TableLike) -> Option<Value> {
    let pairs = table
        .iter()
        .map(|(key, item)| Some((key.to_owned(), json_of(item)?)));
    pairs
        .collect::<Option<serde_json::Map<_, _>>>()
        .map(Value::Object)
}

fn json_of_value(value: &Toml) -> Option<Value> {
    Some(match value {
        Toml::String(text) => json!(text.value()),
        Toml::Integer(number) => json!(number.value()),
        Toml::Float(number) => Value::Number(serde_json::Number::from_f64(*number.value())?),
        Toml::Boolean(value) => json!(value.value()),
        Toml::Datetime(_) => return None,
        Toml::Array(array) => {
            let values = array.iter().map(json_of_value);
            Value::Array(values.collect::<Option<_>>()?)
        }
        Toml::InlineTable(table) => json_of_table(table)?,
    })
}
