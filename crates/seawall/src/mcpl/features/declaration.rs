//! What a server declares under `featureSets`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use seawall_proto::Json;
use seawall_proto::framing::Kind;

use crate::mcpl::capability::{Capability, CapabilitySet};

/// So many feature sets of one server are read; those after them are ignored.
pub const MAX_FEATURE_SETS: usize = 256;
/// The longest name of a feature set, and of a capability that one uses, in bytes.
pub const MAX_NAME_BYTES: usize = 128;
/// So many entries of `uses` are read; with more of them, the declaration is invalid.
pub const MAX_USES: usize = 64;

/// The feature sets that a server declares, by their names.
///
/// Source: MCP Live 0.5.0-draft §6.1, §6.2.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeatureSets {
    features: BTreeMap<String, Feature>,
    ignored: usize,
}

/// One declared feature set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    name: String,
    description: Option<String>,
    uses: Uses,
    rollback: bool,
    ontology: Option<Json>,
}

/// What a feature set says that it uses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uses {
    /// These, at least one.
    Valid(CapabilitySet),
    /// Nothing that can be told: it is absent, empty, no array of texts, or holds a text that names no capability.
    Invalid {
        /// The texts that name none, as far as they are short.
        unrecognized: Vec<String>,
    },
}

impl FeatureSets {
    /// The feature sets of a manifest (`experimental.mcpl`): an object by name, as the specification has it, or an array of
    /// objects with a `name`, as servers in the field send it. What has no usable name, stands there twice, or is past
    /// [`MAX_FEATURE_SETS`], is ignored, and so is unknown to every message.
    #[must_use]
    pub fn of(manifest: &Json) -> Self {
        let mut sets = Self::default();
        let Ok([Some(declared)]) = manifest.pick(["featureSets"]) else {
            return sets;
        };
        match declared.kind() {
            Kind::Object => {
                for (name, feature) in declared.members() {
                    sets.declare(Some(name), &feature);
                }
            }
            Kind::Array => {
                for feature in declared.elements() {
                    let name = feature.pick(["name"]).ok().and_then(|[name]| name);
                    let name = name.and_then(|name| Some(name.string()?.into_owned()));
                    sets.declare(name, &feature);
                }
            }
            _ => {}
        }
        sets
    }

    /// The feature set of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Feature> {
        self.features.get(name)
    }

    /// The feature sets, by their names.
    pub fn iter(&self) -> impl Iterator<Item = &Feature> {
        self.features.values()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// Whether there are none. A server without feature sets is a server all the same: its channels need none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    /// How many declarations were ignored.
    #[must_use]
    pub fn ignored(&self) -> usize {
        self.ignored
    }

    fn declare(&mut self, name: Option<String>, feature: &Json) {
        let Some(name) = name.filter(|name| is_name(name)) else {
            self.ignored += 1;
            return;
        };
        if self.features.len() >= MAX_FEATURE_SETS {
            self.ignored += 1;
            return;
        }
        match self.features.entry(name) {
            // Which of the two is meant is not known, so what they use is not.
            Entry::Occupied(mut twice) => {
                twice.get_mut().uses = Uses::unreadable();
                self.ignored += 1;
            }
            Entry::Vacant(vacant) => {
                let feature = Feature::of(vacant.key().clone(), feature);
                vacant.insert(feature);
            }
        }
    }
}

impl Feature {
    fn of(name: String, declared: &Json) -> Self {
        let members = declared.pick(["description", "uses", "rollback", "tagOntology"]);
        let Ok([description, uses, rollback, ontology]) = members else {
            return Self {
                name,
                description: None,
                uses: Uses::unreadable(),
                rollback: false,
                ontology: None,
            };
        };
        Self {
            name,
            description: description.and_then(|text| Some(text.string()?.into_owned())),
            uses: Uses::of(uses.as_ref()),
            rollback: rollback.is_some_and(|rollback| rollback.as_str() == "true"),
            ontology: ontology.filter(|ontology| ontology.kind() == Kind::Object),
        }
    }

    /// Its name: ASCII letters, digits and `._:*-`, at most [`MAX_NAME_BYTES`].
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server's words for it. Text for display: not sanitised.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// What it says that it uses.
    #[must_use]
    pub fn uses(&self) -> &Uses {
        &self.uses
    }

    /// Whether its state can be rolled back (§8.1).
    #[must_use]
    pub fn can_roll_back(&self) -> bool {
        self.rollback
    }

    /// What the server says of the tags that it emits: hints, which nothing here follows (§16.5).
    #[must_use]
    pub fn ontology(&self) -> Option<&Json> {
        self.ontology.as_ref()
    }
}

impl Uses {
    fn of(uses: Option<&Json>) -> Self {
        let elements = match uses {
            Some(uses) if uses.kind() == Kind::Array => uses.elements(),
            _ => return Self::unreadable(),
        };
        let mut capabilities = CapabilitySet::default();
        let mut unrecognized = Vec::new();
        let is_usable = !elements.is_empty() && elements.len() <= MAX_USES;
        let mut is_valid = is_usable;
        for element in elements.iter().take(MAX_USES) {
            let text = element.string();
            match text.as_deref().map(str::parse::<Capability>) {
                Some(Ok(capability)) => capabilities.insert(capability),
                _ => {
                    is_valid = false;
                    let short = text.filter(|text| text.len() <= MAX_NAME_BYTES);
                    unrecognized.extend(short.map(Cow::into_owned));
                }
            }
        }
        if is_valid {
            Self::Valid(capabilities)
        } else {
            Self::Invalid { unrecognized }
        }
    }

    fn unreadable() -> Self {
        Self::Invalid {
            unrecognized: Vec::new(),
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'*' | b'-');
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_plain)
}
