//! The closed set of leaf paths.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

macro_rules! vocabulary {
    ($($(#[$doc:meta])* $variant:ident = $path:literal;)*) => {
        /// One authority that a server can be granted: a leaf of the vocabulary.
        ///
        /// Source: MCP Live 0.5.0-draft §6.2, and RFC-007 §4.1 for the tool lifecycle.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Capability {
            $($(#[$doc])* $variant,)*
        }

        impl Capability {
            /// All of them, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The path, as it stands on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $path,)*
                }
            }
        }
    };
}

vocabulary! {
    /// Pushes events, which may wake a model.
    PushEvents = "pushEvents";
    /// Offers tools. Advertised by MCP's own `capabilities.tools`, never by `experimental.mcpl`.
    Tools = "tools";
    /// Asks which model it speaks to.
    ModelInfo = "modelInfo";
    /// Asks the host for inference.
    InferenceRequest = "inferenceRequest";
    /// Gets the inference that it asked for in pieces.
    InferenceRequestStreaming = "inferenceRequest.streaming";
    /// Is told when a turn begins and ends, never what it says.
    InferenceLifecycle = "inferenceLifecycle";
    /// Reads what the user says before each inference.
    Observe = "contextHooks.beforeInference.observe";
    /// Writes at the system position of a context.
    InjectSystem = "contextHooks.beforeInference.inject.system";
    /// Writes before the user's message.
    InjectBeforeUser = "contextHooks.beforeInference.inject.beforeUser";
    /// Writes after the user's message.
    InjectAfterUser = "contextHooks.beforeInference.inject.afterUser";
    /// Says which channels it has.
    ChannelsRegister = "channels.register";
    /// Opens and closes channels on the host's word.
    ChannelsLifecycle = "channels.lifecycle";
    /// Sends, in a channel, what the host says.
    ChannelsPublish = "channels.publish";
    /// Brings in messages of its channels, which may wake a model.
    ChannelsIncoming = "channels.incoming";
    /// Gets what a model says to a channel while it is said.
    ChannelsStreaming = "channels.streaming";
    /// Shows that a message was seen.
    ChannelsAcknowledge = "channels.acknowledge";
    /// Shows that somebody writes.
    ChannelsTyping = "channels.typing";
    /// Is told which tools of other servers are called.
    ToolLifecycleObserve = "toolLifecycle.observe";
    /// Is told with which arguments.
    ToolLifecycleInputs = "toolLifecycle.inputs";
}

impl Capability {
    /// Whether it is granted only where the operator names it in full: to write into a context, and to watch the tools of
    /// other servers.
    ///
    /// Source: MCP Live 0.5.0-draft §13.4; RFC-007 §4.1; RFC-010 for the two positions around the user's message.
    #[must_use]
    pub const fn is_denied_by_default(self) -> bool {
        matches!(
            self,
            Self::InjectSystem
                | Self::InjectBeforeUser
                | Self::InjectAfterUser
                | Self::ToolLifecycleObserve
                | Self::ToolLifecycleInputs
        )
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Capability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A path that is none of the vocabulary. A parent is none either: it names nothing beneath it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a capability of MCP Live")]
pub struct UnknownCapability;

impl FromStr for Capability {
    type Err = UnknownCapability;

    fn from_str(path: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.iter().copied();
        all.find(|each| each.as_str() == path)
            .ok_or(UnknownCapability)
    }
}

/// A set of capabilities, in the order of the specification. Serialises as an array of their paths.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct CapabilitySet(BTreeSet<Capability>);

impl CapabilitySet {
    /// The whole vocabulary.
    #[must_use]
    pub fn all() -> Self {
        Capability::ALL.iter().copied().collect()
    }

    /// Whether it holds a capability.
    #[must_use]
    pub fn contains(&self, capability: Capability) -> bool {
        self.0.contains(&capability)
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Its capabilities, in the order of the specification.
    pub fn iter(&self) -> impl Iterator<Item = Capability> {
        self.0.iter().copied()
    }

    /// Adds one.
    pub fn insert(&mut self, capability: Capability) {
        self.0.insert(capability);
    }

    /// Those that both hold.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// Those that the other one lacks.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }
}

impl FromIterator<Capability> for CapabilitySet {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Self {
        Self(capabilities.into_iter().collect())
    }
}

impl fmt::Display for CapabilitySet {
    /// The paths, between commas; `none` of an empty set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (index, capability) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            capability.fmt(f)?;
        }
        Ok(())
    }
}
