//! What the operator of a host allows a server of MCP Live: the typed form of the keys in its entry.
//!
//! The default allows what is advertised but for what is [denied by default](super::capability::Capability::is_denied_by_default).

mod pattern;

#[cfg(test)]
mod tests;

pub use pattern::{InvalidPattern, Pattern};

use super::capability::Capability;

/// Default of [`Autofetch::max_bytes`]: 256 KiB.
pub const DEFAULT_AUTOFETCH_BYTES: u64 = 256 * 1024;
/// Default of [`Autofetch::max_total_bytes`]: 1 GiB.
pub const DEFAULT_AUTOFETCH_TOTAL_BYTES: u64 = 1024 * 1024 * 1024;
/// Default of [`ToolLifecycle::max_input_bytes`]: 16 KiB.
pub const DEFAULT_TOOL_INPUT_BYTES: u64 = 16 * 1024;

/// The policy for one server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct McplPolicy {
    /// The only capabilities to grant, of those advertised. `None`: every one that is not denied by default.
    /// `enabledCapabilities`.
    pub enabled_capabilities: Option<Vec<Pattern>>,
    /// Capabilities not to grant, with all beneath them; they win over those enabled. `disabledCapabilities`.
    pub disabled_capabilities: Vec<Pattern>,
    /// The only feature sets to select. `None`: every one that is declared. `enabledFeatureSets`.
    pub enabled_feature_sets: Option<Vec<Pattern>>,
    /// Feature sets not to select, with all beneath them; they win over those enabled. `disabledFeatureSets`.
    pub disabled_feature_sets: Vec<Pattern>,
    /// What to do with a server that does not know the policy exchange. `mcplPolicy`.
    pub before_05: Before05,
    /// Which of the channels that a server registers are opened. `channelSubscription`.
    pub channel_subscription: ChannelSubscription,
    /// What the host fetches of a server's references by itself. `None`: nothing. `autofetch`.
    pub autofetch: Option<Autofetch>,
    /// What a server is told of the calls to tools of other servers. `toolLifecycle`.
    pub tool_lifecycle: ToolLifecycle,
}

impl McplPolicy {
    /// Whether a capability is named in full, which is what one that is denied by default needs: in
    /// `enabledCapabilities`, or by what `toolLifecycle` permits.
    #[must_use]
    pub fn names(&self, capability: Capability) -> bool {
        let mut enabled = self.enabled_capabilities.iter().flatten();
        match capability {
            Capability::ToolLifecycleObserve => self.tool_lifecycle.observe.is_some(),
            Capability::ToolLifecycleInputs => self.tool_lifecycle.inputs.is_some(),
            _ => enabled.any(|pattern| pattern.is_exactly(capability.as_str())),
        }
    }
}

/// What to do with a server that answers the policy exchange with "no such method", as servers before 0.5 do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Before05 {
    /// It keeps its tools, and nothing of MCP Live. The default.
    #[default]
    Strict,
    /// It is taken as having accepted what it was granted.
    Legacy,
}

/// Which of the channels that a server registers are opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ChannelSubscription {
    /// None by itself. The default.
    #[default]
    Manual,
    /// Each.
    Auto,
    /// Those with these ids.
    Listed(Vec<String>),
}

impl ChannelSubscription {
    /// Whether the channel with this id is opened when it is registered.
    #[must_use]
    pub fn opens(&self, channel: &str) -> bool {
        match self {
            Self::Manual => false,
            Self::Auto => true,
            Self::Listed(channels) => channels.iter().any(|listed| listed == channel),
        }
    }
}

/// How much the host fetches of a server's references before anybody asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Autofetch {
    /// The largest reference, in bytes, by its own claim. Default: 256 KiB. `autofetch.maxBytes`.
    pub max_bytes: u64,
    /// All of a server's references together, in bytes. Default: 1 GiB. `autofetch.maxTotalBytes`.
    pub max_total_bytes: u64,
}

impl Default for Autofetch {
    fn default() -> Self {
        Self {
            max_bytes: DEFAULT_AUTOFETCH_BYTES,
            max_total_bytes: DEFAULT_AUTOFETCH_TOTAL_BYTES,
        }
    }
}

/// What a server is told of the calls to tools of other servers. The default is nothing.
///
/// Source: MCP Live RFC-007 §4.1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolLifecycle {
    /// Of which calls it is told that they happen. `None`: of none. `toolLifecycle.observe`.
    pub observe: Option<Narrowing>,
    /// Of which of those it is told the arguments, too. `None`: of none. `toolLifecycle.inputs`.
    pub inputs: Option<Narrowing>,
    /// The most of one call's arguments, in bytes. Default: 16 KiB. `toolLifecycle.maxInputBytes`.
    pub max_input_bytes: u64,
}

impl Default for ToolLifecycle {
    fn default() -> Self {
        Self {
            observe: None,
            inputs: None,
            max_input_bytes: DEFAULT_TOOL_INPUT_BYTES,
        }
    }
}

/// The classes of tools (RFC-008).
pub const TOOL_CLASSES: [&str; 10] = [
    "comms", "memory", "notes", "files", "shell", "web", "computer", "media", "body", "control",
];
/// What `"default"` stands for among [`Narrowing::classes`]: the classes whose tools do something in the world (RFC-007).
pub const DEFAULT_TOOL_CLASSES: [&str; 6] = ["computer", "shell", "files", "web", "media", "body"];

/// Which calls a permission is for: those that each list lets through. A list that is not there lets everything through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Narrowing {
    /// Globs over the name that a model calls the tool by; `*` is any run of characters.
    pub tools: Option<Vec<String>>,
    /// Classes of tools, of [`TOOL_CLASSES`].
    pub classes: Option<Vec<String>>,
    /// Globs over the conversation's id.
    pub conversations: Option<Vec<String>>,
}

impl Narrowing {
    /// Whether it narrows anything.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }
}
