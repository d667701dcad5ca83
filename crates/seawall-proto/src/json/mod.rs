//! JSON carried unchanged: one checked text, kept byte for byte.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::framing::{Kind, Scan, scan};
use crate::limits::MAX_JSON_DEPTH;
use replace::without_lone_surrogates;

mod replace;
mod text;

#[cfg(test)]
mod tests;

pub use text::{DecodedString, decode_string};

/// One JSON text: UTF-8, grammar, depth and finite numbers checked; its bytes never changed. Clones share them.
#[derive(Clone)]
pub struct Json {
    text: Bytes,
    /// Its depth, where the text was checked by itself and not as a part of another.
    depth: Option<usize>,
}

impl From<&Json> for Json {
    /// Another handle on the same text.
    fn from(json: &Json) -> Self {
        json.clone()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Json {}

impl std::hash::Hash for Json {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// Why a text is not a [`Json`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// It is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// It is not JSON.
    #[error("not JSON at byte {at}")]
    NotJson {
        /// Where the grammar broke.
        at: usize,
    },
    /// It nests more than [`MAX_JSON_DEPTH`] containers.
    #[error("nested deeper than {MAX_JSON_DEPTH} containers")]
    TooDeep,
    /// One of its numbers is infinite as a double.
    #[error("a number is too large")]
    NumberOverflow,
}

/// A key that is looked for stands twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the same key stands twice")]
pub struct DuplicateKey;

impl Json {
    /// Checks a text and keeps it.
    ///
    /// # Errors
    /// [`JsonError`] names the first rule that the text breaks.
    pub fn check(text: impl Into<Bytes>) -> Result<Self, JsonError> {
        let bytes: Bytes = text.into();
        let text = std::str::from_utf8(&bytes).map_err(|_| JsonError::NotUtf8)?;
        let found = scan(text, |_| {}).map_err(|error| JsonError::NotJson { at: error.at })?;
        if found.depth > MAX_JSON_DEPTH {
            return Err(JsonError::TooDeep);
        }
        if !found.finite {
            return Err(JsonError::NumberOverflow);
        }
        let start = text.len() - text.trim_ascii_start().len();
        let end = text.trim_ascii_end().len();
        Ok(Self {
            text: bytes.slice(start..end),
            depth: Some(found.depth),
        })
    }

    /// The JSON text of `value`.
    ///
    /// # Errors
    /// The error of its `Serialize`, or a [`JsonError`] as one.
    pub fn of(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        let bytes = serde_json::to_vec(value)?;
        Self::check(bytes).map_err(serde::ser::Error::custom)
    }

    /// `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self::part_of_checked(Bytes::from_static(b"{}"))
    }

    /// A slice of a text that was checked whole.
    pub(crate) fn part_of_checked(bytes: Bytes) -> Self {
        Self {
            text: bytes,
            depth: None,
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text).unwrap_or_default()
    }

    /// The bytes of the text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// Its length in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no JSON text is empty")]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// The kind of its root.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.text.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// Decodes it, copying.
    ///
    /// # Errors
    /// What serde says; also of a lone surrogate, which a [`Json`] may hold and a Rust string may not.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.text)
    }

    /// Decodes it, copying; each lone surrogate becomes U+FFFD.
    ///
    /// # Errors
    /// What serde says of anything else.
    pub fn parse_replacing<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.parse()
            .or_else(|_| serde_json::from_str(&without_lone_surrogates(self.as_str())))
    }

    /// The members of an object, in their order, keys decoded; empty for any other kind.
    ///
    /// Duplicate keys appear as often as they stand.
    #[must_use]
    pub fn members(&self) -> Vec<(String, Self)> {
        let mut members = Vec::new();
        self.children(|key, value| {
            if let Some(key) = key {
                members.push((decode_string(key).text.into_owned(), value));
            }
        });
        members
    }

    /// The first member of an object with this key.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Self> {
        let mut found = None;
        self.children(|key, value| {
            if found.is_none() && key.is_some_and(|key| decode_string(key).text == name) {
                found = Some(value);
            }
        });
        found
    }

    /// The members of an object with these keys, found in one pass.
    ///
    /// # Errors
    /// [`DuplicateKey`] if one of them stands there twice.
    pub fn pick<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<[Option<Self>; N], DuplicateKey> {
        let mut found = [const { None }; N];
        let mut twice = false;
        self.children(|key, value| {
            let key = key.map(|key| decode_string(key).text);
            let slot = names.iter().position(|name| key.as_deref() == Some(name));
            if let Some(slot) = slot.and_then(|at| found.get_mut(at)) {
                twice |= slot.replace(value).is_some();
            }
        });
        if twice { Err(DuplicateKey) } else { Ok(found) }
    }

    /// The object with other values for some of its members; every other byte stays as it is.
    ///
    /// `replace` is shown each member, its key decoded, and may give another value. Any other kind comes back as it is.
    #[must_use]
    pub fn with_values(&self, mut replace: impl FnMut(&str, &Self) -> Option<Self>) -> Self {
        let text = self.as_str();
        let mut changed = Vec::new();
        let mut kept = 0;
        // The text was checked when it became a `Json`, so the scan cannot fail.
        let _ = scan(text, |child| {
            let key = child.key.clone().and_then(|key| text.get(key));
            let (Some(key), 1) = (key, child.level) else {
                return;
            };
            let value = Self::part_of_checked(self.text.slice(child.value.clone()));
            let other = replace(&decode_string(key).text, &value);
            if let (Some(other), Some(before)) = (other, text.get(kept..child.value.start)) {
                changed.extend_from_slice(before.as_bytes());
                changed.extend_from_slice(other.as_bytes());
                kept = child.value.end;
            }
        });
        if kept == 0 {
            return self.clone();
        }
        changed.extend_from_slice(text.get(kept..).unwrap_or_default().as_bytes());
        Self::part_of_checked(changed.into())
    }

    /// The object with one more member, before its others; every byte of these stays as it is. The name is for a key that is
    /// written without an escape. Any other kind comes back as it is.
    #[must_use]
    pub fn with_first(&self, name: &'static str, value: &Self) -> Self {
        let Some(rest) = self.as_str().strip_prefix('{') else {
            return self.clone();
        };
        let comma = match rest.trim_ascii_start() {
            "}" => "",
            _ => ",",
        };
        let text = format!("{{\"{name}\":{}{comma}{rest}", value.as_str());
        Self::part_of_checked(text.into())
    }

    /// The elements of an array, in their order; empty for any other kind.
    #[must_use]
    pub fn elements(&self) -> Vec<Self> {
        let mut elements = Vec::new();
        self.children(|key, value| {
            if key.is_none() {
                elements.push(value);
            }
        });
        elements
    }

    /// The text of a string, lone surrogates replaced by U+FFFD; `None` for any other kind.
    #[must_use]
    pub fn string(&self) -> Option<Cow<'_, str>> {
        let inside = self.as_str().strip_prefix('"')?.strip_suffix('"')?;
        Some(decode_string(inside).text)
    }

    /// The deepest nesting of containers.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
            .unwrap_or_else(|| scan(self.as_str(), |_| {}).map_or(0, |Scan { depth, .. }| depth))
    }

    /// Its depth, where it was checked by itself: a part of another text is no deeper than that text may be.
    pub(crate) fn checked_depth(&self) -> Option<usize> {
        self.depth
    }

    /// Tells each child of the root with its raw key (quotes excluded).
    pub(crate) fn children(&self, mut visit: impl FnMut(Option<&str>, Self)) {
        let text = self.as_str();
        // The text was checked when it became a `Json`, so the scan cannot fail.
        let _ = scan(text, |child| {
            if child.level == 1 {
                let key = child.key.clone().and_then(|key| text.get(key));
                visit(
                    key,
                    Self::part_of_checked(self.text.slice(child.value.clone())),
                );
            }
        });
    }
}

impl fmt::Debug for Json {
    /// The size only: the text is a server's or a caller's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({} bytes)", self.text.len())
    }
}

impl Serialize for Json {
    /// Writes the text as it is, where the serializer is `serde_json`'s.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(self.as_str()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}
