//! Text that does not show itself.

use std::fmt;

use serde::{Serialize, Serializer};

/// Remote text. Debug, Display and serialisation give `[hidden]`; [`reveal`](Self::reveal) gives the text.
///
/// It is redacted already, and is hidden all the same: who wrote it is not to be trusted.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Hidden(String);

const SHOWN: &str = "[hidden]";

impl Hidden {
    /// Hides a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to reveal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SHOWN)
    }
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SHOWN)
    }
}

impl Serialize for Hidden {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(SHOWN)
    }
}
