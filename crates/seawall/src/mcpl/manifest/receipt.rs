//! What a changed manifest means here: one receipt for each change, in words of the host's own.

use std::collections::{BTreeMap, BTreeSet};

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use serde::{Serialize, Serializer};

use super::announcement::Domain;
use super::digest::{Revision, of_text};
use super::document::Manifest;
use crate::flows::canonical;
use crate::mcpl::features::{Feature, FeatureSets, Selection};
use crate::mcpl::grant::{Denial, Grant};

/// So many tags of one ontology are looked at.
const MAX_TAGS: usize = 1_024;

/// A manifest with what follows from it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Standing<'a> {
    /// The manifest.
    pub manifest: &'a Manifest,
    /// The grant under it.
    pub grant: &'a Grant,
    /// Which of its feature sets are on.
    pub selection: &'a Selection,
}

impl<'a> Standing<'a> {
    /// A manifest, the grant under it, and which of its feature sets are on.
    #[must_use]
    pub fn new(manifest: &'a Manifest, grant: &'a Grant, selection: &'a Selection) -> Self {
        Self {
            manifest,
            grant,
            selection,
        }
    }
}

/// What one change of a manifest means, for the one who runs the host. It names capabilities, feature sets and tags, and
/// holds no text that the server wrote for people.
///
/// Source: MCP Live 0.5.0-draft §17.6.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Receipt {
    /// The digest of the new manifest, if it has one.
    pub revision: Option<Revision>,
    /// The parts that changed, as the host found them.
    pub domains: Vec<Domain>,
    /// What follows.
    pub impacts: Vec<Entry>,
}

/// One thing that follows from a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// What.
    pub impact: Impact,
    /// To which capability, feature set, tag, or surface.
    pub subject: String,
    /// What becomes of it.
    pub disposition: Disposition,
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// The word for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

words! {
    /// What follows from a change: the closed vocabulary of the specification.
    Impact {
        /// A capability is granted no more.
        CapabilityRevoked = "capability-revoked";
        /// A capability is advertised now that was not, and is not in force yet.
        CapabilityExpansionPending = "capability-expansion-pending";
        /// A feature set went off.
        FeatureDegraded = "feature-degraded";
        /// A feature set that was off is on.
        FeatureRestored = "feature-restored";
        /// An ontology that was accepted is another now, or gone, and is accepted no more.
        OntologyAcceptanceInvalidated = "ontology-acceptance-invalidated";
        /// A rule of the host names a tag that is declared no more. It may be emitted all the same.
        OntologyReferenceUndeclared = "ontology-reference-undeclared";
        /// Tools, resources, prompts or channels changed.
        SurfaceChanged = "surface-changed";
    }
}

words! {
    /// What becomes of it.
    Disposition {
        /// It is done.
        Applied = "applied";
        /// Somebody has to decide.
        DecisionNeeded = "decision-needed";
        /// It is good to know.
        Informational = "informational";
    }
}

words! {
    /// What a server has beside its manifest, with a change notification of its own.
    Surface {
        /// Its tools.
        Tools = "tools";
        /// Its resources.
        Resources = "resources";
        /// Its prompts.
        Prompts = "prompts";
        /// Its channels.
        Channels = "channels";
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for Domain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Receipt {
    /// What the change from one standing to the next means. `accepted` loses what it can hold no more; `named` are the tags
    /// that the host's own rules name.
    #[must_use]
    pub fn of(
        before: &Standing<'_>,
        after: &Standing<'_>,
        accepted: &mut Accepted,
        named: &BTreeSet<String>,
    ) -> Self {
        let mut impacts = Vec::new();
        capabilities(before, after, &mut impacts);
        features(before, after, &mut impacts);
        let (old, new) = (before.manifest.features(), after.manifest.features());
        for feature in accepted.drop_outdated(new) {
            let impact = Impact::OntologyAcceptanceInvalidated;
            impacts.push(Entry::new(impact, feature, Disposition::Applied));
        }
        let (old, new) = (declared_tags(old), declared_tags(new));
        let is_gone = |tag: &&String| old.contains(*tag) && !new.contains(*tag);
        for tag in named.iter().filter(is_gone) {
            let impact = Impact::OntologyReferenceUndeclared;
            impacts.push(Entry::new(impact, tag, Disposition::Informational));
        }
        Self {
            revision: after.manifest.digest().ok().cloned(),
            domains: before.manifest.changed_domains(after.manifest),
            impacts,
        }
    }

    /// The receipt of a change that a notification of its own told (§17.7), for the same readers.
    #[must_use]
    pub fn of_surface(surface: Surface) -> Self {
        let impact = Impact::SurfaceChanged;
        Self {
            revision: None,
            domains: Vec::new(),
            impacts: vec![Entry::new(impact, surface.as_str(), Disposition::Applied)],
        }
    }
}

impl Entry {
    fn new(impact: Impact, subject: impl Into<String>, disposition: Disposition) -> Self {
        Self {
            impact,
            subject: subject.into(),
            disposition,
        }
    }
}

fn capabilities(before: &Standing<'_>, after: &Standing<'_>, impacts: &mut Vec<Entry>) {
    let change = before.grant.change_to(after.grant);
    for capability in change.reduced.iter() {
        let impact = Impact::CapabilityRevoked;
        impacts.push(Entry::new(
            impact,
            capability.as_str(),
            Disposition::Applied,
        ));
    }
    let had = before.manifest.advertised();
    let newly = after.manifest.advertised().capabilities().iter();
    for capability in newly.filter(|each| !had.has(*each)) {
        let mut denied = after.grant.denied().iter();
        let denied = denied.find(|denied| denied.capability == capability);
        let disposition = match denied.map(|denied| denied.why) {
            // The policy grants it: it comes into force with the server's receipt.
            None => Disposition::Informational,
            Some(Denial::ByDefault | Denial::ToolLifecycle) => Disposition::DecisionNeeded,
            // The policy has decided, so nothing is pending.
            Some(_) => continue,
        };
        let impact = Impact::CapabilityExpansionPending;
        impacts.push(Entry::new(impact, capability.as_str(), disposition));
    }
}

fn features(before: &Standing<'_>, after: &Standing<'_>, impacts: &mut Vec<Entry>) {
    for name in before.selection.on() {
        if !after.selection.is_on(name) {
            let impact = Impact::FeatureDegraded;
            impacts.push(Entry::new(impact, name, Disposition::Applied));
        }
    }
    for off in before.selection.off() {
        if after.selection.is_on(off.name) {
            let impact = Impact::FeatureRestored;
            impacts.push(Entry::new(impact, off.name, Disposition::Applied));
        }
    }
}

/// The tags that ontologies declare.
fn declared_tags(sets: &FeatureSets) -> BTreeSet<String> {
    let mut tags = BTreeSet::new();
    for ontology in sets.iter().filter_map(Feature::ontology) {
        let Ok([core, own]) = ontology.pick(["coreTags", "tags"]) else {
            continue;
        };
        let core = core.filter(|core| core.kind() == Kind::Array);
        let core = core.map(|core| core.elements()).unwrap_or_default();
        let text = |tag: &Json| Some(tag.string()?.into_owned());
        tags.extend(core.iter().take(MAX_TAGS).filter_map(text));
        let own = own.map(|own| own.members()).unwrap_or_default();
        tags.extend(own.into_iter().take(MAX_TAGS).map(|(tag, _)| tag));
    }
    tags
}

/// The ontologies of one server that somebody accepted, each as it was then. One that changes is accepted no more. The host
/// follows nothing that an ontology suggests without it.
///
/// Source: MCP Live 0.5.0-draft §16.5, §17.5.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accepted(BTreeMap<String, Revision>);

impl Accepted {
    /// Nothing was accepted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts the ontology that a feature set has now; `false` if it has none.
    pub fn accept(&mut self, feature: &Feature) -> bool {
        let digest = ontology_digest(feature);
        let is_there = digest.is_some();
        self.0
            .extend(digest.map(|digest| (feature.name().to_owned(), digest)));
        is_there
    }

    /// Accepts it no more; `false` if it was not accepted.
    pub fn revoke(&mut self, feature: &str) -> bool {
        self.0.remove(feature).is_some()
    }

    /// Whether the ontology that a feature set has now is the one that was accepted.
    #[must_use]
    pub fn covers(&self, feature: &Feature) -> bool {
        let accepted = self.0.get(feature.name());
        accepted.is_some() && accepted == ontology_digest(feature).as_ref()
    }

    /// Drops what is another ontology now, and names its feature sets.
    fn drop_outdated(&mut self, sets: &FeatureSets) -> Vec<String> {
        let mut dropped = Vec::new();
        self.0.retain(|name, accepted| {
            let digest = sets.get(name).and_then(ontology_digest);
            let is_current = digest.as_ref() == Some(accepted);
            if !is_current {
                dropped.push(name.clone());
            }
            is_current
        });
        dropped
    }
}

fn ontology_digest(feature: &Feature) -> Option<Revision> {
    let ontology = feature.ontology()?;
    Some(of_text(&canonical::text(ontology)))
}
