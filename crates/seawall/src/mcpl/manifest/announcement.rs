//! `mcpl/manifestChanged`: a hint that the manifest changed.

use std::fmt;

use seawall_proto::Json;
use seawall_proto::framing::Kind;

use super::digest::Revision;

/// What a server says changed. It says nothing of how: the host fetches and compares.
///
/// Source: MCP Live 0.5.0-draft §17.3.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Announcement {
    /// The revision that it gives its manifest now.
    pub revision: Revision,
    /// The parts that it says changed: at least one, each once.
    pub domains: Vec<Domain>,
}

/// A part of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Domain {
    /// Every member but `version`, `revision` and `featureSets`.
    Capabilities,
    /// `featureSets`, without the ontologies in it.
    FeatureSets,
    /// The ontologies of feature sets.
    TagOntology,
}

impl Domain {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Capabilities => "capabilities",
            Self::FeatureSets => "featureSets",
            Self::TagOntology => "tagOntology",
        }
    }

    fn of(word: &str) -> Option<Self> {
        let all = [Self::Capabilities, Self::FeatureSets, Self::TagOntology];
        all.into_iter().find(|domain| domain.as_str() == word)
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An announcement that says something else than the specification lets it, and is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not \"revision\" and \"domains\" alone")]
pub struct InvalidAnnouncement;

impl Announcement {
    /// Reads the parameters: a revision and domains, and nothing else.
    ///
    /// # Errors
    /// [`InvalidAnnouncement`].
    pub fn of(params: &Json) -> Result<Self, InvalidAnnouncement> {
        const MAX_DOMAINS: usize = 3;
        let known = |(key, _): &(String, Json)| matches!(key.as_str(), "revision" | "domains");
        let Ok([Some(revision), Some(domains)]) = params.pick(["revision", "domains"]) else {
            return Err(InvalidAnnouncement);
        };
        let elements = domains.elements();
        let is_shaped = params.members().iter().all(known)
            && domains.kind() == Kind::Array
            && (1..=MAX_DOMAINS).contains(&elements.len());
        if !is_shaped {
            return Err(InvalidAnnouncement);
        }
        let revision = revision.string().and_then(|text| text.parse().ok());
        let domains: Option<Vec<Domain>> = elements
            .iter()
            .map(|word| Domain::of(&word.string()?))
            .collect();
        match (revision, domains) {
            (Some(revision), Some(mut domains)) => {
                domains.sort();
                domains.dedup();
                Ok(Self { revision, domains })
            }
            _ => Err(InvalidAnnouncement),
        }
    }
}
