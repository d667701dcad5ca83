//! A manifest, read.

use seawall_proto::Json;
use seawall_proto::framing::Kind;

use super::announcement::Domain;
use super::digest::{DigestError, Revision, digest};
use crate::flows::canonical;
use crate::mcpl::capability::Advertisement;
use crate::mcpl::features::FeatureSets;

/// The object `experimental.mcpl` of a server, as it was at `initialize` or as it was fetched.
///
/// Source: MCP Live 0.5.0-draft §17.1.
#[derive(Debug, Clone)]
pub struct Manifest {
    raw: Json,
    advertised: Advertisement,
    features: FeatureSets,
    claimed: Option<Revision>,
    digest: Result<Revision, DigestError>,
}

/// What was fetched is no manifest, so that nothing was learned and the one in force stands (§17.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a manifest: it has to be an object")]
pub struct NotAManifest;

impl Manifest {
    /// Reads one. A manifest with invalid declarations is one all the same: what it leaves out is taken away, and what is
    /// invalid in it grants nothing.
    ///
    /// # Errors
    /// [`NotAManifest`] of anything but an object.
    pub fn of(raw: &Json) -> Result<Self, NotAManifest> {
        if raw.kind() != Kind::Object {
            return Err(NotAManifest);
        }
        let claimed = raw.pick(["revision"]).ok().and_then(|[claimed]| claimed);
        let claimed = claimed.and_then(|claimed| claimed.string()?.parse().ok());
        Ok(Self {
            advertised: Advertisement::of(raw),
            features: FeatureSets::of(raw),
            claimed,
            digest: digest(raw),
            // A copy, so that it does not keep the whole frame that it came in.
            raw: Json::check(raw.as_bytes().to_vec()).unwrap_or_else(|_| raw.clone()),
        })
    }

    /// What it advertises; MCP's own tools are not in it.
    #[must_use]
    pub fn advertised(&self) -> &Advertisement {
        &self.advertised
    }

    /// The feature sets that it declares.
    #[must_use]
    pub fn features(&self) -> &FeatureSets {
        &self.features
    }

    /// The server's own bytes.
    #[must_use]
    pub fn raw(&self) -> &Json {
        &self.raw
    }

    /// The revision that the server gives it. Its claim: another manifest may have the same.
    #[must_use]
    pub fn claimed(&self) -> Option<&Revision> {
        self.claimed.as_ref()
    }

    /// The digest of what it holds.
    ///
    /// # Errors
    /// [`DigestError`] if it has none.
    pub fn digest(&self) -> Result<&Revision, DigestError> {
        self.digest.as_ref().map_err(|error| *error)
    }

    /// Whether the server claims another revision than its manifest has: a defect to tell of, and no reason to refuse it
    /// (§17.2).
    #[must_use]
    pub fn claims_falsely(&self) -> bool {
        self.claimed.is_some() && self.claimed.as_ref() != self.digest.as_ref().ok()
    }

    /// What changed from this manifest to the next, by domain (§17.3): a member that is absent differs from an empty one.
    #[must_use]
    pub fn changed_domains(&self, next: &Self) -> Vec<Domain> {
        let all = [
            Domain::Capabilities,
            Domain::FeatureSets,
            Domain::TagOntology,
        ];
        let changed = |domain: &Domain| self.part(*domain) != next.part(*domain);
        all.into_iter().filter(changed).collect()
    }

    /// The canonical text of one domain.
    fn part(&self, domain: Domain) -> Vec<String> {
        let members = self.raw.members();
        let sets = || members.iter().filter(|(key, _)| key == "featureSets");
        match domain {
            Domain::Capabilities => {
                let is_one = |key: &str| !matches!(key, "version" | "revision" | "featureSets");
                let mut parts: Vec<String> = members
                    .iter()
                    .filter(|(key, _)| is_one(key))
                    .map(|(key, value)| format!("{key:?}:{}", canonical::text(value)))
                    .collect();
                parts.sort();
                parts
            }
            Domain::FeatureSets => sets().flat_map(|(_, sets)| apart(sets)).collect(),
            // What carries ontologies is a part of what they are.
            Domain::TagOntology => sets()
                .flat_map(|(_, sets)| {
                    let ontologies = sets.members().into_iter().filter_map(|(name, set)| {
                        let ontology = set.member("tagOntology")?;
                        Some(format!("{name:?}:{}", canonical::text(&ontology)))
                    });
                    let mut ontologies: Vec<String> = ontologies.collect();
                    ontologies.sort();
                    std::iter::once(String::new()).chain(ontologies)
                })
                .collect(),
        }
    }
}

/// The canonical texts of feature sets, their ontologies left out.
fn apart(sets: &Json) -> Vec<String> {
    if sets.kind() != Kind::Object {
        return vec![canonical::text(sets)];
    }
    let mut parts = vec![String::new()];
    for (name, set) in sets.members() {
        if set.kind() != Kind::Object {
            parts.push(format!("{name:?}:{}", canonical::text(&set)));
            continue;
        }
        parts.push(format!("{name:?}"));
        let members = set.members().into_iter();
        let kept = members.filter(|(key, _)| key != "tagOntology");
        parts.extend(kept.map(|(key, value)| {
            let value = canonical::text(&value);
            format!("{name:?}:{key:?}:{value}")
        }));
    }
    parts.sort();
    parts
}
