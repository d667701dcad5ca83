//! The text of one value, typed by what its schema allows.

use std::fmt;

use serde_json::Value;
use serde_json::value::RawValue;

use super::node::Node;
use super::said;
use super::schema::{Budget, Schema};

/// How many choices an error lists.
const LISTED_CHOICES: usize = 8;

/// What a value may be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Null,
    Object,
    /// An array, and what its items may be.
    Array(Vec<Kind>),
    /// One of these values; of none, if they are not to be said.
    Choice(Vec<Value>),
    /// The schema does not say.
    Any,
}

impl Kind {
    /// Whether a dotted key may reach inside.
    pub(super) fn has_members(&self) -> bool {
        matches!(self, Self::Object | Self::Any)
    }

    /// A value of this kind, as it is written after `key=`.
    pub(super) fn example(&self) -> String {
        match self {
            Self::String | Self::Any => "text".to_owned(),
            Self::Integer => "3".to_owned(),
            Self::Number => "2.5".to_owned(),
            Self::Boolean => "true".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Object => r#"'{"name": 1}'"#.to_owned(),
            Self::Array(items) => match items.first() {
                Some(item @ (Self::Integer | Self::Number | Self::Boolean)) => {
                    format!("'[{}]'", item.example())
                }
                Some(Self::Object) => r#"'[{"name": 1}]'"#.to_owned(),
                _ => r#"'["text"]'"#.to_owned(),
            },
            Self::Choice(values) => values.first().map_or_else(|| "…".to_owned(), choice_text),
        }
    }

    /// The same, to be said without a word of the server's.
    pub(super) fn without_words(&self) -> Self {
        match self {
            Self::Choice(_) => Self::Choice(Vec::new()),
            other => other.clone(),
        }
    }

    fn of_type(name: &str, items: impl Fn() -> Vec<Self>) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "null" => Self::Null,
            "object" => Self::Object,
            "array" => Self::Array(items()),
            _ => return None,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String => f.write_str("text"),
            Self::Integer => f.write_str("an integer"),
            Self::Number => f.write_str("a number"),
            Self::Boolean => f.write_str("true or false"),
            Self::Null => f.write_str("null"),
            Self::Object => f.write_str("a JSON object"),
            Self::Array(items) => {
                let what = match items.as_slice() {
                    [Self::String] => " of texts",
                    [Self::Integer] => " of integers",
                    [Self::Number] => " of numbers",
                    [Self::Boolean] => " of true or false",
                    [Self::Object] => " of objects",
                    _ => "",
                };
                write!(f, "a JSON array{what}")
            }
            Self::Choice(values) if values.is_empty() => {
                f.write_str("one of the values that the tool lists")
            }
            Self::Choice(values) => {
                f.write_str("one of ")?;
                let listed: Vec<String> = values
                    .iter()
                    .take(LISTED_CHOICES)
                    .map(choice_text)
                    .collect();
                f.write_str(&listed.join(", "))?;
                if values.len() > LISTED_CHOICES {
                    f.write_str(", …")?;
                }
                Ok(())
            }
            Self::Any => f.write_str("any value"),
        }
    }
}

fn choice_text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => said(text),
        None => said(&value.to_string()),
    }
}

/// What the schema allows, in its order.
pub(super) fn kinds(schema: &Schema<'_>) -> Vec<Kind> {
    nested_kinds(schema, 0, &Budget::new())
}

/// Arrays of arrays are looked into this deep; further down anything goes.
const MAX_ARRAY_NESTING: usize = 4;

fn nested_kinds(schema: &Schema<'_>, nesting: usize, budget: &Budget) -> Vec<Kind> {
    let mut found: Vec<Kind> = Vec::new();
    for place in schema.alternatives(budget) {
        let items = || {
            if nesting >= MAX_ARRAY_NESTING {
                return vec![Kind::Any];
            }
            nested_kinds(&schema.items_of(place), nesting + 1, budget)
        };
        let choices = place.get("enum").and_then(Value::as_array);
        let choices = choices.map(Vec::as_slice);
        if let Some(choices) = choices.or_else(|| place.get("const").map(std::slice::from_ref)) {
            found.push(if budget.copies(choices) {
                Kind::Choice(choices.to_vec())
            } else {
                Kind::Any
            });
            continue;
        }
        match place.get("type") {
            Some(Value::String(name)) => found.extend(Kind::of_type(name, items)),
            Some(Value::Array(names)) => {
                let mut said: Vec<&str> = Vec::new();
                for name in names.iter().filter_map(Value::as_str) {
                    if !said.contains(&name)
                        && let Some(kind) = Kind::of_type(name, items)
                    {
                        said.push(name);
                        found.push(kind);
                    }
                }
            }
            _ if place.get("properties").is_some() => found.push(Kind::Object),
            _ if place.get("items").is_some() => found.push(Kind::Array(items())),
            _ => found.push(Kind::Any),
        }
    }
    found.dedup();
    if found.is_empty() {
        found.push(Kind::Any);
    }
    found
}

/// Types `text` by `schema`: the first kind that it fits.
///
/// # Errors
/// The kinds that were tried.
pub(super) fn value(schema: &Schema<'_>, text: &str) -> Result<Node, Vec<Kind>> {
    let kinds = kinds(schema);
    if text == "null" && kinds.contains(&Kind::Null) && !kinds.iter().any(takes_null) {
        return Ok(Node::Raw(text.to_owned()));
    }
    match kinds.iter().find_map(|kind| as_kind(kind, text)) {
        Some(node) => Ok(node),
        None => Err(kinds),
    }
}

/// Whether `null` means something to this kind beside null itself: a text, or an element of an array that can be null.
fn takes_null(kind: &Kind) -> bool {
    match kind {
        Kind::String => true,
        Kind::Array(items) => items
            .iter()
            .any(|item| matches!(item, Kind::Null | Kind::Any) || is_null_choice(item)),
        kind => is_null_choice(kind),
    }
}

fn is_null_choice(kind: &Kind) -> bool {
    matches!(kind, Kind::Choice(values) if choice(values, "null").is_some())
}

fn as_kind(kind: &Kind, text: &str) -> Option<Node> {
    match kind {
        Kind::String => Some(Node::string(text)),
        Kind::Integer => number(text).filter(|_| !text.contains(['.', 'e', 'E'])),
        Kind::Number => number(text),
        Kind::Boolean => matches!(text, "true" | "false").then(|| Node::Raw(text.to_owned())),
        Kind::Null => (text == "null").then(|| Node::Raw(text.to_owned())),
        Kind::Object => Node::parse(text).ok().filter(Node::is_object),
        Kind::Array(items) => array(items, text),
        Kind::Choice(values) => choice(values, text),
        Kind::Any => Some(Node::parse(text).unwrap_or_else(|_| Node::string(text))),
    }
}

/// A JSON number and nothing beside it, kept as it was written; one that no f64 can hold is none.
fn number(text: &str) -> Option<Node> {
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    let finite = raw.get().parse::<f64>().is_ok_and(f64::is_finite);
    (finite && raw.get() == text).then(|| Node::Raw(text.to_owned()))
}

/// A whole array as JSON, or one item of it. What begins like a JSON array must be one.
fn array(items: &[Kind], text: &str) -> Option<Node> {
    if text.trim_start().starts_with('[') {
        let mut whole = Node::parse(text).ok()?;
        return whole
            .items()
            .map(|items| Node::Array(std::mem::take(items)));
    }
    let item = items.iter().find_map(|kind| as_kind(kind, text))?;
    Some(Node::Array(vec![item]))
}

fn choice(values: &[Value], text: &str) -> Option<Node> {
    if values.iter().any(|value| value.as_str() == Some(text)) {
        return Some(Node::string(text));
    }
    let parsed: Value = serde_json::from_str(text).ok()?;
    values.contains(&parsed).then(|| Node::parse(text).ok())?
}
