//! The words for what a value had to be.

use std::fmt;

use seawall_proto::limits::{MAX_LIMIT, MAX_TIMEOUT_MS};

/// What a value had to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// A string.
    Text,
    /// A string that is not empty.
    NonEmptyText,
    /// `true` or `false`.
    Boolean,
    /// An object.
    Object,
    /// An object, or a switch.
    ObjectOrBoolean,
    /// An array of strings.
    TextArray,
    /// One of these words.
    OneOf(&'static str),
    /// A whole number, 1 to 2^53 - 1.
    Limit,
    /// A whole number of milliseconds, 1 to 2^31 - 1.
    Timeout,
    /// A whole number, 1 to 65 535.
    Port,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("a string"),
            Self::NonEmptyText => f.write_str("a string that is not empty"),
            Self::Boolean => f.write_str("true or false"),
            Self::Object => f.write_str("an object"),
            Self::ObjectOrBoolean => f.write_str("an object, true or false"),
            Self::TextArray => f.write_str("an array of strings"),
            Self::OneOf(words) => write!(f, "one of {words}"),
            Self::Port => f.write_str("a port: a whole number from 1 to 65535"),
            Self::Limit => write!(f, "a positive whole number of at most {MAX_LIMIT}"),
            Self::Timeout => write!(
                f,
                "a positive whole number of milliseconds of at most {MAX_TIMEOUT_MS}"
            ),
        }
    }
}
