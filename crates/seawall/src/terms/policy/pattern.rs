//! Patterns over dotted names.

use std::fmt;
use std::str::FromStr;

/// A dotted name in which a segment can be `*`, which stands for exactly one segment.
///
/// What allows is matched whole, so a mistake grants too little and shows; what denies is matched with all beneath it, so a
/// mistake denies too much and shows.
///
/// Source: MCP Live 0.5.0-draft §5.4, §6.3.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(String);

/// Why a text is no [`Pattern`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPattern {
    /// A segment is empty, or holds something other than ASCII letters, digits, `_`, `:` and `-`.
    #[error("not a dotted name of letters, digits, \"_\", \":\" and \"-\"")]
    Name,
    /// `*` is a part of a segment.
    #[error("\"*\" stands for one whole segment between dots")]
    PartialWildcard,
}

impl Pattern {
    /// The text of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it allows the name: as many segments, each the same or `*`. A parent allows nothing beneath it.
    #[must_use]
    pub fn allows(&self, name: &str) -> bool {
        let mut segments = name.split('.');
        let mut own = self.0.split('.');
        loop {
            match (own.next(), segments.next()) {
                (None, None) => return true,
                (Some(own), Some(segment)) if fits(own, segment) => {}
                _ => return false,
            }
        }
    }

    /// Whether it denies the name: whether it is that name or stands above it.
    #[must_use]
    pub fn denies(&self, name: &str) -> bool {
        let mut segments = name.split('.');
        let mut own = self.0.split('.');
        own.all(|own| segments.next().is_some_and(|segment| fits(own, segment)))
    }

    /// Whether it is the name itself, without a `*`.
    #[must_use]
    pub fn is_exactly(&self, name: &str) -> bool {
        self.0 == name
    }
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-');
        for segment in text.split('.').filter(|segment| *segment != "*") {
            if segment.contains('*') {
                return Err(InvalidPattern::PartialWildcard);
            }
            if segment.is_empty() || !segment.bytes().all(is_plain) {
                return Err(InvalidPattern::Name);
            }
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn fits(own: &str, segment: &str) -> bool {
    own == "*" || own == segment
}
