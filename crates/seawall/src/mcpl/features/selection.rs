//! Which feature sets are on, and what a message that names one may do.

use std::collections::BTreeMap;

use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;
use serde_json::{Value, json};

use super::declaration::{Feature, FeatureSets, Uses};
use crate::mcpl::capability::{Capability, CapabilitySet};
use crate::mcpl::grant::{CAPABILITY_DENIED, Grant};
use crate::mcpl::policy::McplPolicy;

/// The code of a message that names a feature set which is off.
pub const FEATURE_SET_NOT_ENABLED: i64 = -32001;
/// The code of a message that names a feature set which was not declared.
pub const UNKNOWN_FEATURE_SET: i64 = -32003;

/// The feature sets of one server under one grant. It is made anew whenever the grant or the manifest changes.
///
/// Source: MCP Live 0.5.0-draft §6.4.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection(BTreeMap<String, Result<CapabilitySet, Off>>);

/// A feature set that is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disabled<'a> {
    /// Its name.
    pub name: &'a str,
    /// Why it is off.
    pub why: &'a Off,
}

/// Why a feature set is off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Off {
    /// `invalid_uses`: what it uses cannot be told.
    #[error("its \"uses\" is not a list of capabilities")]
    InvalidUses {
        /// What names no capability. The server's text.
        unrecognized: Vec<String>,
    },
    /// `missing_capabilities`: it uses what is not granted.
    #[error("it uses what is not granted: {missing}")]
    MissingCapabilities {
        /// What is not granted.
        missing: CapabilitySet,
    },
    /// `not_selected`: the configuration leaves it out.
    #[error("the configuration does not select it")]
    NotSelected,
}

impl Off {
    /// The reason in one word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::InvalidUses { .. } => "invalid_uses",
            Self::MissingCapabilities { .. } => "missing_capabilities",
            Self::NotSelected => "not_selected",
        }
    }
}

/// Why a message that names a feature set is refused. Display says nothing of the server's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The set was not declared: -32003.
    #[error("unknown feature set")]
    Unknown,
    /// The set is off: -32001.
    #[error("feature set not enabled")]
    NotEnabled {
        /// Which.
        feature_set: String,
    },
    /// Declaration mismatch: the set does what it did not declare: -32002. The grant may well hold the capability; the
    /// refusal makes servers say what they use.
    #[error("the feature set does not declare that it uses {capability}")]
    Undeclared {
        /// Which.
        feature_set: String,
        /// What it did not declare.
        capability: Capability,
    },
}

impl Refused {
    /// The answer to a request, with the `data` that the specification gives its code (§6.6).
    #[must_use]
    pub fn error(&self) -> ErrorObject {
        let (code, text, data) = match self {
            Self::Unknown => (UNKNOWN_FEATURE_SET, "Unknown feature set", None),
            Self::NotEnabled { feature_set } => (
                FEATURE_SET_NOT_ENABLED,
                "Feature set not enabled",
                Some(json!({ "featureSet": feature_set })),
            ),
            Self::Undeclared {
                feature_set,
                capability,
            } => (
                CAPABILITY_DENIED,
                "Capability not declared by the feature set",
                Some(json!({ "capability": capability, "featureSet": feature_set })),
            ),
        };
        ErrorObject::new(code, text, data.and_then(|data| Json::of(&data).ok()))
    }
}

impl Selection {
    /// What is on of `declared`: what the policy selects and the grant covers. To name a set gives it no capability.
    #[must_use]
    pub fn of(declared: &FeatureSets, grant: &Grant, policy: &McplPolicy) -> Self {
        let state = |feature: &Feature| {
            let uses = match feature.uses() {
                Uses::Valid(uses) => uses,
                Uses::Invalid { unrecognized } => {
                    let unrecognized = unrecognized.clone();
                    return Err(Off::InvalidUses { unrecognized });
                }
            };
            if !is_selected(feature.name(), policy) {
                return Err(Off::NotSelected);
            }
            let missing = uses.difference(grant.effective());
            if missing.is_empty() {
                Ok(uses.clone())
            } else {
                Err(Off::MissingCapabilities { missing })
            }
        };
        let states = declared
            .iter()
            .map(|feature| (feature.name().to_owned(), state(feature)));
        Self(states.collect())
    }

    /// Whether the set of this name is on.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Ok(_)))
    }

    /// The names of the sets that are on.
    pub fn on(&self) -> impl Iterator<Item = &str> {
        let states = self.0.iter();
        states.filter_map(|(name, state)| state.is_ok().then_some(name.as_str()))
    }

    /// The sets that are off, and why.
    pub fn off(&self) -> impl Iterator<Item = Disabled<'_>> {
        self.0.iter().filter_map(|(name, state)| {
            let why = state.as_ref().err()?;
            Some(Disabled { name, why })
        })
    }

    /// Whether a message that names `feature_set` may use `capability`. The grant is asked besides: this alone allows
    /// nothing.
    ///
    /// # Errors
    /// [`Refused`], with the answer to give.
    pub fn check(&self, feature_set: &str, capability: Capability) -> Result<(), Refused> {
        match self.0.get(feature_set) {
            None => Err(Refused::Unknown),
            Some(Err(_)) => Err(Refused::NotEnabled {
                feature_set: feature_set.to_owned(),
            }),
            Some(Ok(uses)) if uses.contains(capability) => Ok(()),
            Some(Ok(_)) => Err(Refused::Undeclared {
                feature_set: feature_set.to_owned(),
                capability,
            }),
        }
    }

    /// The parameters of `featureSets/update`, always to be sent as a request: the grant whole, since what is absent is
    /// denied, what was denied of the advertisement, and what the configuration says of feature sets.
    ///
    /// Source: MCP Live 0.5.0-draft §5.3.
    #[must_use]
    pub fn update(&self, grant: &Grant, policy: &McplPolicy) -> Value {
        let denied: CapabilitySet = grant.denied().iter().map(|each| each.capability).collect();
        let off: Vec<&str> = self.off().map(|each| each.name).collect();
        let mut params = json!({
            "effectiveCapabilities": grant.effective(),
            "deniedCapabilities": denied,
            "disabled": off,
        });
        // Absent, it constrains nothing; present, it leaves out every set that it does not name.
        if policy.enabled_feature_sets.is_some()
            && let Some(members) = params.as_object_mut()
        {
            let on: Vec<&str> = self.on().collect();
            members.insert("enabled".to_owned(), on.into());
        }
        params
    }
}

fn is_selected(name: &str, policy: &McplPolicy) -> bool {
    let mut disabled = policy.disabled_feature_sets.iter();
    let enabled = policy.enabled_feature_sets.as_ref();
    let is_enabled =
        enabled.is_none_or(|enabled| enabled.iter().any(|pattern| pattern.allows(name)));
    is_enabled && !disabled.any(|pattern| pattern.denies(name))
}
