//! What a caller is trusted with.

use std::sync::Arc;

use super::{Capability, InvalidPattern, Pattern};

/// The capabilities that a caller may use, as patterns (F4). Clones share them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Envelope(Arc<[Pattern]>);

impl Envelope {
    /// An envelope that covers every capability: `*:*:**`.
    #[must_use]
    pub fn everything() -> Self {
        "*:*:**".parse().into_iter().collect()
    }

    /// An envelope that covers nothing, so that its caller may call nothing. The default.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// An envelope of patterns.
    ///
    /// # Errors
    /// One of the texts is not a pattern. To leave those out instead, collect the [`Pattern`]s that parse.
    pub fn of<T: AsRef<str>>(
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidPattern> {
        let patterns = patterns.into_iter();
        patterns.map(|text| text.as_ref().parse()).collect()
    }

    /// The patterns.
    #[must_use]
    pub fn patterns(&self) -> &[Pattern] {
        &self.0
    }

    /// Whether one of the patterns covers the capability alone. Two that cover it between them do not.
    #[must_use]
    pub fn covers(&self, capability: &Capability) -> bool {
        self.0.iter().any(|pattern| pattern.covers(capability))
    }

    /// The same for a text; one that is no capability is never covered.
    #[must_use]
    pub fn covers_text(&self, capability: &str) -> bool {
        capability
            .parse()
            .is_ok_and(|capability| self.covers(&capability))
    }

    /// The first of the capabilities that is not covered.
    #[must_use]
    pub fn first_refused<'c>(&self, capabilities: &'c [Capability]) -> Option<&'c Capability> {
        let mut refused = capabilities.iter().filter(|each| !self.covers(each));
        refused.next()
    }
}

impl FromIterator<Pattern> for Envelope {
    fn from_iter<I: IntoIterator<Item = Pattern>>(patterns: I) -> Self {
        Self(patterns.into_iter().collect())
    }
}
