//! Arguments cut down: to the fields that a server asked for, then to a bound (RFC-007, sections 5.2 and 6.3).
//!
//! Values are carried as they stand in the call, byte for byte, but for a text that is cut.

use std::collections::BTreeMap;

use seawall_proto::Json;

/// The fields that a rule asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Fields(BTreeMap<String, Node>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Whole,
    Parts(Fields),
}

/// Arguments that fit.
pub(super) struct Bounded {
    pub(super) input: Json,
    /// Whether something was left out or cut to make them fit.
    pub(super) altered: bool,
}

impl Fields {
    /// Adds a path: members with `.` between them.
    pub(super) fn add(&mut self, path: &str) {
        let (first, rest) = match path.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        let empty = || Node::Parts(Self::default());
        match (self.0.entry(first.to_owned()).or_insert_with(empty), rest) {
            (node, None) => *node = Node::Whole,
            (Node::Whole, Some(_)) => {}
            (Node::Parts(parts), Some(rest)) => parts.add(rest),
        }
    }

    /// The object with these fields and no others; `{}` if it has none of them.
    pub(super) fn of(&self, arguments: &Json) -> Json {
        let selected = self.text(arguments).and_then(|text| Json::check(text).ok());
        selected.unwrap_or_else(Json::empty_object)
    }

    fn text(&self, object: &Json) -> Option<String> {
        let mut members = Members::default();
        // No path goes through what is no object, which has no members.
        for (key, value) in object.members() {
            match self.0.get(&key) {
                Some(Node::Whole) => members.push(&key, value.as_str()),
                Some(Node::Parts(parts)) => {
                    if let Some(text) = parts.text(&value) {
                        members.push(&key, &text);
                    }
                }
                None => {}
            }
        }
        members.finish()
    }
}

/// The arguments, an object, in at most so many bytes; `None` if not even `{}` fits. Members are taken in their order; of those that do
/// not fit, a text is cut and everything else left out.
pub(super) fn bounded(arguments: &Json, max_bytes: usize) -> Option<Bounded> {
    if max_bytes < 2 {
        return None;
    }
    if arguments.len() <= max_bytes {
        return Some(Bounded {
            input: arguments.clone(),
            altered: false,
        });
    }
    let mut members = Members::default();
    for (key, value) in arguments.members() {
        let left = max_bytes.saturating_sub(members.len_with(&key));
        if value.len() <= left {
            members.push(&key, value.as_str());
        } else if let Some(cut) = value.string().and_then(|text| prefix(&text, left)) {
            members.push(&key, &cut);
        }
    }
    let text = members.finish().unwrap_or_else(|| "{}".to_owned());
    Some(Bounded {
        input: Json::check(text).ok()?,
        altered: true,
    })
}

/// The longest beginning of a text whose JSON has at most so many bytes; `None` if that is an empty one.
fn prefix(text: &str, max_bytes: usize) -> Option<String> {
    let mut left = max_bytes.checked_sub(2)?;
    let mut end = 0;
    for c in text.chars() {
        let bytes = match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            c if c < ' ' => 6,
            c => c.len_utf8(),
        };
        let Some(rest) = left.checked_sub(bytes) else {
            break;
        };
        (left, end) = (rest, end + c.len_utf8());
    }
    let cut = text.get(..end).filter(|cut| !cut.is_empty())?;
    serde_json::to_string(cut).ok()
}

/// The members of an object that is being written.
#[derive(Default)]
struct Members {
    text: String,
}

impl Members {
    fn push(&mut self, key: &str, value: &str) {
        let Ok(key) = serde_json::to_string(key) else {
            return;
        };
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.push_str(&key);
        self.text.push(':');
        self.text.push_str(value);
    }

    /// How long the object would be with a member of no value.
    fn len_with(&self, key: &str) -> usize {
        let key = serde_json::to_string(key).map_or(usize::MAX / 2, |key| key.len());
        self.text.len() + 1 + key + 1 + 1
    }

    /// The object; `None` if it has no member.
    fn finish(mut self) -> Option<String> {
        if self.text.is_empty() {
            return None;
        }
        self.text.push('}');
        Some(self.text)
    }
}
