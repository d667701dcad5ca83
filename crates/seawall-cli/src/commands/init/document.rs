//! Seawall's own file: what is in it already, and with what is new.

use std::path::Path;

use jsonc_parser::cst::{CstNode, CstObject};
use seawall::config::{Problems, Source, check};
use serde_json::Value;

use super::entry::{Asked, Entry, written};
use super::plan::Plan;
use super::source::parse;

/// A file that begins with nothing in it.
const EMPTY: &str = "{\n  \"mcpServers\": {\n  }\n}\n";

/// What the configuration has before anything is gathered.
#[derive(Debug, Default)]
pub(super) struct Existing {
    /// Its text, if there is one.
    pub(super) text: Option<String>,
    pub(super) entries: Vec<(String, Entry)>,
    pub(super) inputs: Vec<Value>,
}

impl Existing {
    /// Reads a text.
    ///
    /// # Errors
    /// Why nothing can be added to it.
    pub(super) fn of(text: String) -> Result<Self, String> {
        let (_, root) = parse(&text).map_err(|fault| match fault.as_str() {
            "not a JSON object" => {
                "an array of entries; init adds to an object with \"mcpServers\"".to_owned()
            }
            _ => fault,
        })?;
        let mut existing = Self::default();
        if let Some(map) = root.object_value(map_key(&root)) {
            for prop in map.properties() {
                let entry = match prop.value() {
                    Some(CstNode::Container(value)) => value.as_object(),
                    _ => None,
                };
                let mut entry = entry.map(|entry| Entry::of(&entry)).unwrap_or_default();
                entry.normalise();
                existing
                    .entries
                    .extend(prop.decoded_name().map(|id| (id, entry)));
            }
        }
        if let Some(Value::Array(inputs)) =
            root.get("inputs").and_then(|prop| prop.to_serde_value())
        {
            existing.inputs = inputs;
        }
        existing.text = Some(text);
        Ok(existing)
    }

    /// The text with what is new; everything that was there stays as it stands.
    ///
    /// # Errors
    /// Why nothing can be added to it.
    pub(super) fn with(&self, plan: &Plan) -> Result<String, String> {
        let text = self.text.as_deref().unwrap_or(EMPTY);
        if plan.new.is_empty() && plan.inputs.is_empty() {
            return Ok(text.to_owned());
        }
        let (tree, root) = parse(text)?;
        let key = map_key(&root);
        let map = root
            .object_value_or_create(key)
            .ok_or_else(|| format!("\"{key}\" is not an object"))?;
        for (id, entry) in &plan.new {
            map.append(id, entry.written());
        }
        if !plan.inputs.is_empty() {
            let list = root
                .array_value_or_create("inputs")
                .ok_or_else(|| "\"inputs\" is not an array".to_owned())?;
            for input in &plan.inputs {
                list.append(written(input));
            }
        }
        Ok(with_mark(text, &tree.to_string()))
    }
}

/// Checks a configuration whole; the names of the variables that it takes something from.
///
/// # Errors
/// Every problem in it.
pub(super) fn variables_of(
    text: &str,
    path: &Path,
    workspace: &Path,
) -> Result<Vec<String>, Problems> {
    let asked = Asked::default();
    let mut source = Source::new(text);
    source.path = Some(path);
    source.workspace = workspace;
    source.surroundings = &asked;
    check(&source).into_servers()?;
    let mut names = asked.into_names();
    if let Ok(existing) = Existing::of(text.to_owned()) {
        for (_, entry) in existing.entries.iter().filter(|(_, entry)| !entry.is_off()) {
            let passed = entry.get("passEnv").and_then(Value::as_array);
            let passed = passed.into_iter().flatten().filter_map(Value::as_str);
            names.extend(passed.map(str::to_owned));
        }
    }
    Ok(names.into_iter().collect())
}

/// The text, with the mark of UTF-8 that another one begins with.
pub(super) fn with_mark(like: &str, text: &str) -> String {
    match like.strip_prefix('\u{feff}') {
        Some(_) => format!("\u{feff}{text}"),
        None => text.to_owned(),
    }
}

fn map_key(root: &CstObject) -> &'static str {
    if root.get("mcpServers").is_none() && root.get("servers").is_some() {
        "servers"
    } else {
        "mcpServers"
    }
}
