//! What parameters of MCPL are read with: members found once each, texts with bounds, and why parameters are invalid.
//!
//! **Invariant:** an error names members of the specification and says Seawall's words; nothing of the server's is in it.

use std::collections::{HashSet, VecDeque};
use std::fmt;

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::{ErrorObject, INVALID_PARAMS};
use serde_json::json;

#[cfg(test)]
mod tests;

/// The longest name of a thing (a feature set, a channel, a message, an event), in bytes.
pub const MAX_NAME_BYTES: usize = 512;
/// The longest date, in code points (RFC-005, section 8).
pub const MAX_DATE_CHARS: usize = 64;
/// The largest JSON value that is kept of a descriptor, an origin or a message's metadata, in bytes.
pub const MAX_KEPT_BYTES: usize = 16 * 1024;
/// So many occurrences are remembered, to know the same one again.
pub const MAX_SEEN: usize = 1_000;

/// Parameters are invalid (-32602). Display says which member and why, in Seawall's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{field} {fault}")]
pub struct Invalid {
    field: &'static str,
    fault: Fault,
}

/// What is wrong with a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// It has to be there.
    Missing,
    /// It is of another kind than the specification says, or another value than those that it lists.
    Kind,
    /// It is an empty text.
    Empty,
    /// It is longer than its bound.
    TooLong,
    /// It has more elements than its bound.
    TooMany,
    /// A member stands there twice.
    Twice,
    /// A member that the specification does not know stands there, where it allows no others.
    Unknown,
    /// There is nothing in it that a reader would see.
    NoContent,
    /// It is for a host that offers what this one does not.
    NotOffered,
    /// It contradicts another member.
    Contradiction,
}

impl Fault {
    /// The fault in one word, as it stands in an error's `data.reason`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Kind => "wrong-type",
            Self::Empty => "empty",
            Self::TooLong => "too-long",
            Self::TooMany => "too-many",
            Self::Twice => "duplicate-member",
            Self::Unknown => "unknown-member",
            Self::NoContent => "empty-content",
            Self::NotOffered => "not-offered",
            Self::Contradiction => "contradiction",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "is missing",
            Self::Kind => "is not what it has to be",
            Self::Empty => "is empty",
            Self::TooLong => "is too long",
            Self::TooMany => "has too many elements",
            Self::Twice => "has a member twice",
            Self::Unknown => "has a member that is not known",
            Self::NoContent => "shows a reader nothing",
            Self::NotOffered => "asks for what this host does not offer",
            Self::Contradiction => "contradicts another member",
        })
    }
}

impl Invalid {
    pub(in crate::mcpl) fn new(field: &'static str, fault: Fault) -> Self {
        Self { field, fault }
    }

    /// The member, as a path from the parameters: `payload.content`.
    #[must_use]
    pub fn field(self) -> &'static str {
        self.field
    }

    /// What is wrong with it.
    #[must_use]
    pub fn fault(self) -> Fault {
        self.fault
    }

    /// The answer: -32602 with `data: {field, reason}`, and `limit` where a bound was passed (RFC-006, section 13;
    /// RFC-007, section 6.6).
    #[must_use]
    pub fn error(self) -> ErrorObject {
        let mut data = json!({ "field": self.field, "reason": self.fault.as_str() });
        if matches!(self.fault, Fault::TooLong | Fault::TooMany)
            && let Some(members) = data.as_object_mut()
        {
            members.insert("limit".to_owned(), self.field.into());
        }
        ErrorObject::new(
            INVALID_PARAMS,
            format!("Invalid params: {self}"),
            Json::of(&data).ok(),
        )
    }
}

/// Which of the occurrences came before: a window of the latest [`MAX_SEEN`] (SPEC, section 9.4). One per connection.
#[derive(Default)]
pub struct Seen {
    order: VecDeque<String>,
    known: HashSet<String>,
}

impl Seen {
    /// Nothing was seen.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether this is the first time; from now on it is not. The oldest one is forgotten when there are too many.
    #[must_use = "what was seen before is a duplicate"]
    pub fn first(&mut self, occurrence: &str) -> bool {
        if !self.known.insert(occurrence.to_owned()) {
            return false;
        }
        self.order.push_back(occurrence.to_owned());
        if self.order.len() > MAX_SEEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    /// It did not come to anything, so it may come again.
    pub fn forget(&mut self, occurrence: &str) {
        if self.known.remove(occurrence) {
            self.order.retain(|known| known != occurrence);
        }
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen")
            .field("occurrences", &self.order.len())
            .finish_non_exhaustive()
    }
}

/// The members with these names, found in one pass.
pub(super) fn members<const N: usize>(
    object: &Json,
    field: &'static str,
    names: [&str; N],
) -> Result<[Option<Json>; N], Invalid> {
    if object.kind() != Kind::Object {
        return Err(Invalid::new(field, Fault::Kind));
    }
    object
        .pick(names)
        .map_err(|_| Invalid::new(field, Fault::Twice))
}

/// A member that may be absent; `null` is as good.
pub(super) fn present(member: Option<Json>) -> Option<Json> {
    member.filter(|member| member.kind() != Kind::Null)
}

/// A member that has to be there.
pub(super) fn required(field: &'static str, member: Option<Json>) -> Result<Json, Invalid> {
    present(member).ok_or(Invalid::new(field, Fault::Missing))
}

/// A text that is not empty and has at most so many bytes, of a member that has to be there.
pub(super) fn text(
    field: &'static str,
    member: Option<Json>,
    max_bytes: usize,
) -> Result<String, Invalid> {
    let member = required(field, member)?;
    let text = member.string().ok_or(Invalid::new(field, Fault::Kind))?;
    match text.len() {
        0 => Err(Invalid::new(field, Fault::Empty)),
        bytes if bytes > max_bytes => Err(Invalid::new(field, Fault::TooLong)),
        _ => Ok(text.into_owned()),
    }
}

/// As [`text`], of a member that may be absent.
pub(super) fn optional_text(
    field: &'static str,
    member: Option<Json>,
    max_bytes: usize,
) -> Result<Option<String>, Invalid> {
    present(member)
        .map(|member| text(field, Some(member), max_bytes))
        .transpose()
}

/// A name ([`MAX_NAME_BYTES`]) that has to be there.
pub(super) fn name(field: &'static str, member: Option<Json>) -> Result<String, Invalid> {
    text(field, member, MAX_NAME_BYTES)
}

/// A date that has to be there, as the server wrote it.
pub(super) fn date(field: &'static str, member: Option<Json>) -> Result<String, Invalid> {
    let date = text(field, member, MAX_DATE_CHARS * 4)?;
    if is_longer(&date, MAX_DATE_CHARS) {
        return Err(Invalid::new(field, Fault::TooLong));
    }
    Ok(date)
}

/// An object of at most [`MAX_KEPT_BYTES`] that may be absent.
pub(super) fn optional_object(
    field: &'static str,
    member: Option<Json>,
) -> Result<Option<Json>, Invalid> {
    match present(member) {
        Some(member) if member.kind() != Kind::Object => Err(Invalid::new(field, Fault::Kind)),
        Some(member) if member.len() > MAX_KEPT_BYTES => Err(Invalid::new(field, Fault::TooLong)),
        member => Ok(member.as_ref().map(kept)),
    }
}

/// The elements of an array with at most so many.
pub(super) fn elements(
    field: &'static str,
    array: &Json,
    max: usize,
) -> Result<Vec<Json>, Invalid> {
    if array.kind() != Kind::Array {
        return Err(Invalid::new(field, Fault::Kind));
    }
    let elements = array.elements();
    if elements.len() > max {
        return Err(Invalid::new(field, Fault::TooMany));
    }
    Ok(elements)
}

/// The texts of an array that may be absent.
pub(super) fn optional_texts(
    field: &'static str,
    member: Option<Json>,
    max: usize,
) -> Result<Vec<String>, Invalid> {
    let Some(member) = present(member) else {
        return Ok(Vec::new());
    };
    let texts = elements(field, &member, max)?;
    texts
        .into_iter()
        .map(|element| text(field, Some(element), MAX_NAME_BYTES))
        .collect()
}

/// Whether the text has more than so many code points.
pub(super) fn is_longer(text: &str, max_chars: usize) -> bool {
    text.chars().nth(max_chars).is_some()
}

/// The boolean, if it is one.
pub(super) fn boolean(value: &Json) -> Option<bool> {
    match value.as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// A copy, so that what is kept of a frame does not keep the whole frame.
pub(super) fn kept(json: &Json) -> Json {
    Json::check(json.as_bytes().to_vec()).unwrap_or_else(|_| json.clone())
}
