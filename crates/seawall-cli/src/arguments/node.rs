//! A JSON text under construction, whose finished parts stay as they were written.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON value: text that is kept, or a container that is being filled.
#[derive(Debug)]
pub(super) enum Node {
    /// Checked JSON text without blanks around its tokens.
    Raw(String),
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
}

impl Node {
    /// Checks a JSON text and keeps it.
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Self::Raw(compact(raw.get())))
    }

    /// A JSON string with the value `text`.
    pub(super) fn string(text: &str) -> Self {
        Self::Raw(quoted(text))
    }

    pub(super) fn is_object(&self) -> bool {
        match self {
            Self::Raw(text) => text.starts_with('{'),
            Self::Object(_) => true,
            Self::Array(_) => false,
        }
    }

    /// The members, if this is an object.
    pub(super) fn members(&mut self) -> Option<&mut Vec<(String, Self)>> {
        if let Self::Raw(text) = self {
            let members: Members = serde_json::from_str(text).ok()?;
            let keep =
                |(name, value): (String, Box<RawValue>)| (name, Self::Raw(value.get().to_owned()));
            *self = Self::Object(members.0.into_iter().map(keep).collect());
        }
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The items, if this is an array.
    pub(super) fn items(&mut self) -> Option<&mut Vec<Self>> {
        if let Self::Raw(text) = self {
            let items: Vec<Box<RawValue>> = serde_json::from_str(text).ok()?;
            let keep = |item: Box<RawValue>| Self::Raw(item.get().to_owned());
            *self = Self::Array(items.into_iter().map(keep).collect());
        }
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Raw(text) => out.push_str(text),
            Self::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    out.push_str(&quoted(name));
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
            Self::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
        }
    }
}

/// The member `name`: the one that is there (the last of that name, which is then the only one), else a new empty object.
pub(super) fn entry<'a>(members: &'a mut Vec<(String, Node)>, name: &str) -> &'a mut Node {
    let at = match members.iter().rposition(|(known, _)| known == name) {
        Some(last) => {
            let before = members.len();
            let mut at = 0;
            members.retain(|(known, _)| {
                at += 1;
                at > last || known != name
            });
            last - (before - members.len())
        }
        None => {
            members.push((name.to_owned(), Node::Object(Vec::new())));
            members.len() - 1
        }
    };
    &mut members[at].1
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The text without the blanks between its tokens: a message is one line. `text` is valid JSON.
fn compact(text: &str) -> String {
    let mut inside_string = false;
    let mut escaped = false;
    let significant = |c: &char| {
        if inside_string {
            inside_string = escaped || *c != '"';
            escaped = !escaped && *c == '\\';
            return true;
        }
        inside_string = *c == '"';
        !matches!(c, ' ' | '\t' | '\n' | '\r')
    };
    text.chars().filter(significant).collect()
}

/// An object's members in their order, values unread, repeated names included.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}
