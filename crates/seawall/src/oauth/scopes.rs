//! Sets of scopes: bounded, and of the characters that RFC 6749 allows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// More scopes than this in one set are dropped.
const MAX_SCOPES: usize = 128;

/// A longer scope is dropped.
const MAX_SCOPE_BYTES: usize = 512;

/// The scope that asks for a refresh token where the authorization server lists it.
pub(super) const OFFLINE_ACCESS: &str = "offline_access";

/// A set of scopes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Scopes(BTreeSet<String>);

impl Scopes {
    /// The scopes of a space-separated text.
    pub(super) fn parse(text: &str) -> Self {
        text.split_ascii_whitespace().collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, scope: &str) -> bool {
        self.0.contains(scope)
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        other.0.is_subset(&self.0)
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The value of a `scope` parameter; `None` if there is nothing to ask for.
    pub(super) fn parameter(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.iter().collect::<Vec<_>>().join(" "))
    }
}

impl<'s> FromIterator<&'s str> for Scopes {
    fn from_iter<I: IntoIterator<Item = &'s str>>(scopes: I) -> Self {
        let sound = |scope: &&str| {
            !scope.is_empty()
                && scope.len() <= MAX_SCOPE_BYTES
                && scope
                    .bytes()
                    .all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
        };
        Self(
            scopes
                .into_iter()
                .filter(sound)
                .take(MAX_SCOPES)
                .map(str::to_owned)
                .collect(),
        )
    }
}
