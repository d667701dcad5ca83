//! What one server is granted on one connection: what it advertises, this host implements, and the operator allows.
//!
//! **Invariant:** what a grant does not hold is denied; there is no third state.
//! **Invariant:** a grant is of one connection. A new one begins with [`Grant::none`], and nothing survives it.

#[cfg(test)]
mod tests;

use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;
use serde_json::json;

use super::capability::{Advertisement, Capability, CapabilitySet, Need};
use super::policy::McplPolicy;

/// The code of a message that needs what is not granted. It is also the answer until the policy exchange is done.
///
/// Source: MCP Live 0.5.0-draft, appendix A.
pub const CAPABILITY_DENIED: i64 = -32002;

/// The capabilities that are granted, and those advertised that are not.
///
/// Source: MCP Live 0.5.0-draft §5.4.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    effective: CapabilitySet,
    denied: Vec<Denied>,
}

/// A capability that was advertised and is not granted. For people to read: no decision is made on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denied {
    /// Which.
    pub capability: Capability,
    /// Why not.
    pub why: Denial,
}

/// Why a capability that was advertised is not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Denial {
    /// This host does not implement it, or nobody here takes what comes of it.
    #[error("this host does not offer it")]
    NotOffered,
    /// It is in `disabledCapabilities`, itself or something above it.
    #[error("\"disabledCapabilities\" takes it away")]
    Disabled,
    /// It is granted only where it is named in full, and it is not.
    #[error("denied unless it is named in full")]
    ByDefault,
    /// It is one of the tool lifecycle's, and `toolLifecycle` does not permit it.
    #[error("\"toolLifecycle\" does not permit it")]
    ToolLifecycle,
    /// There are `enabledCapabilities`, and it is not among them.
    #[error("\"enabledCapabilities\" does not name it")]
    NotEnabled,
}

/// What a grant lacks for a message. The message is refused with -32002.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Shortfall {
    /// A capability that is not granted.
    #[error("{0} is not granted")]
    Capability(Capability),
    /// What the host keeps for itself.
    #[error("requires host-owned authority")]
    HostAuthority,
}

impl Shortfall {
    /// The capability, if it is one that is lacked.
    #[must_use]
    pub fn capability(self) -> Option<Capability> {
        match self {
            Self::Capability(capability) => Some(capability),
            Self::HostAuthority => None,
        }
    }

    /// The answer to a request: -32002, with `data: {capability}` (§6.6).
    #[must_use]
    pub fn error(self) -> ErrorObject {
        let capability = self.capability();
        let data = capability.and_then(|denied| Json::of(&json!({ "capability": denied })).ok());
        ErrorObject::new(
            CAPABILITY_DENIED,
            format!("Capability denied: {self}"),
            data,
        )
    }
}

/// What lies between two grants of one connection.
///
/// Source: MCP Live 0.5.0-draft §6.7.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Change {
    /// What is granted no more. It is taken away before the server is told.
    pub reduced: CapabilitySet,
    /// What is newly granted. It takes effect once the server's receipt is there, and never without.
    pub expanded: CapabilitySet,
}

impl Change {
    /// Whether the two grant the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reduced.is_empty() && self.expanded.is_empty()
    }
}

impl Grant {
    /// A grant of nothing: what a connection begins with, and what remains of one without a receipt.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// What of `advertised` this host implements (`offered`) and `policy` allows.
    #[must_use]
    pub fn of(advertised: &Advertisement, offered: &CapabilitySet, policy: &McplPolicy) -> Self {
        let mut grant = Self::none();
        for capability in advertised.capabilities().iter() {
            match denial(capability, offered, policy) {
                None => grant.effective.insert(capability),
                Some(why) => grant.denied.push(Denied { capability, why }),
            }
        }
        grant
    }

    /// What is granted: the only list that decides.
    #[must_use]
    pub fn effective(&self) -> &CapabilitySet {
        &self.effective
    }

    /// What was advertised and is not granted, in the order of the specification.
    #[must_use]
    pub fn denied(&self) -> &[Denied] {
        &self.denied
    }

    /// Whether a capability is granted.
    #[must_use]
    pub fn allows(&self, capability: Capability) -> bool {
        self.effective.contains(capability)
    }

    /// Whether it holds what a message needs.
    ///
    /// # Errors
    /// What it lacks; of several, the first.
    pub fn admits(&self, need: Need) -> Result<(), Shortfall> {
        let lacks = |capability: &&Capability| !self.allows(**capability);
        let lacked = match need {
            Need::Nothing => None,
            Need::All(needed) => needed.iter().find(lacks),
            Need::Any(needed) if needed.iter().all(|each| lacks(&each)) => needed.first(),
            Need::Any(_) => None,
            Need::HostAuthority => return Err(Shortfall::HostAuthority),
        };
        lacked.map_or(Ok(()), |capability| Err(Shortfall::Capability(*capability)))
    }

    /// What there is to do to come from this grant to the next.
    #[must_use]
    pub fn change_to(&self, next: &Self) -> Change {
        Change {
            reduced: self.effective.difference(&next.effective),
            expanded: next.effective.difference(&self.effective),
        }
    }

    /// What holds while the next grant is asked for: what both hold. Its denials are those of the next.
    #[must_use]
    pub fn reduced_to(&self, next: &Self) -> Self {
        Self {
            effective: self.effective.intersection(&next.effective),
            denied: next.denied.clone(),
        }
    }
}

/// Why a capability that is advertised is not granted, if it is not.
fn denial(capability: Capability, offered: &CapabilitySet, policy: &McplPolicy) -> Option<Denial> {
    let path = capability.as_str();
    if !offered.contains(capability) {
        return Some(Denial::NotOffered);
    }
    let mut disabled = policy.disabled_capabilities.iter();
    if disabled.any(|pattern| pattern.denies(path)) {
        return Some(Denial::Disabled);
    }
    if capability.is_denied_by_default() {
        let why = match capability {
            Capability::ToolLifecycleObserve | Capability::ToolLifecycleInputs => {
                Denial::ToolLifecycle
            }
            _ => Denial::ByDefault,
        };
        return (!policy.names(capability)).then_some(why);
    }
    let enabled = policy.enabled_capabilities.as_ref()?;
    let is_enabled = enabled.iter().any(|pattern| pattern.allows(path));
    (!is_enabled).then_some(Denial::NotEnabled)
}
