//! What a server says of one channel.
//!
//! Source: SPEC, section 14.2; RFC-011, section 3; the members `initiallyOpen` and `capabilities` as hosts in the field have
//! them.

use std::fmt;

use seawall_proto::Json;

use super::Reason;
use crate::mcpl::wire;

/// The largest descriptor, in bytes of JSON.
pub const MAX_DESCRIPTOR_BYTES: usize = 16 * 1024;

/// A channel as its server describes it. Debug shows its id, its direction and what it can do.
#[derive(Clone)]
pub struct Descriptor {
    id: String,
    kind: String,
    label: String,
    direction: Direction,
    initially_open: bool,
    capabilities: ChannelCapabilities,
    json: Json,
}

/// Which way messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// From the host only.
    Outbound,
    /// To the host only.
    Inbound,
    /// Both.
    Bidirectional,
}

/// What a channel declares beside its direction. It grants nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ChannelCapabilities {
    /// Whether a message can be put into a chosen place (RFC-011); `None`: no promise.
    pub target: Option<Target>,
}

/// What a channel promises of the place that it is asked to put a message in (RFC-011, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// Exactly there, in a thread or at the root, or nowhere.
    Exact,
    /// It has no threads: at the root, or nowhere.
    Root,
}

impl Descriptor {
    /// Reads one descriptor. Members that are not known are kept and ignored.
    ///
    /// # Errors
    /// [`Reason::Invalid`].
    pub fn of(json: &Json) -> Result<Self, Reason> {
        let names = [
            "id",
            "type",
            "label",
            "direction",
            "initiallyOpen",
            "capabilities",
        ];
        let read = || -> Result<Self, wire::Invalid> {
            let [id, kind, label, direction, open, capabilities] =
                wire::members(json, "descriptor", names)?;
            Ok(Self {
                id: wire::name("id", id)?,
                kind: wire::name("type", kind)?,
                label: wire::name("label", label)?,
                direction: Direction::of(&wire::name("direction", direction)?)?,
                initially_open: open.is_some_and(|open| wire::boolean(&open) == Some(true)),
                capabilities: ChannelCapabilities::of(capabilities.as_ref()),
                json: wire::kept(json),
            })
        };
        if json.len() > MAX_DESCRIPTOR_BYTES {
            return Err(Reason::Invalid);
        }
        read().map_err(|_| Reason::Invalid)
    }

    /// The channel's id, unique within its connection; at most 512 bytes.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The platform: `type`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// What people call it; a server's text.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Which way messages go.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether the server would have it opened at once. A wish.
    #[must_use]
    pub fn is_initially_open(&self) -> bool {
        self.initially_open
    }

    /// What it declares beside its direction.
    #[must_use]
    pub fn capabilities(&self) -> ChannelCapabilities {
        self.capabilities
    }

    /// The descriptor as the server sent it, `address` and `metadata` with it.
    #[must_use]
    pub fn json(&self) -> &Json {
        &self.json
    }
}

impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Descriptor")
            .field("id", &self.id)
            .field("direction", &self.direction)
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

impl Direction {
    fn of(text: &str) -> Result<Self, wire::Invalid> {
        match text {
            "outbound" => Ok(Self::Outbound),
            "inbound" => Ok(Self::Inbound),
            "bidirectional" => Ok(Self::Bidirectional),
            _ => Err(wire::Invalid::new("direction", wire::Fault::Kind)),
        }
    }

    /// The direction as the wire has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Outbound => "outbound",
            Self::Inbound => "inbound",
            Self::Bidirectional => "bidirectional",
        }
    }

    /// Whether messages of the server may come.
    #[must_use]
    pub fn brings(self) -> bool {
        self != Self::Outbound
    }

    /// Whether messages of the host may go.
    #[must_use]
    pub fn takes(self) -> bool {
        self != Self::Inbound
    }
}

impl ChannelCapabilities {
    /// What cannot be read is not declared.
    fn of(json: Option<&Json>) -> Self {
        let target = json
            .and_then(|json| json.member("publish"))
            .and_then(|publish| publish.member("target"))
            .and_then(|target| match target.string()?.as_ref() {
                "exact" => Some(Target::Exact),
                "root" => Some(Target::Root),
                _ => None,
            });
        Self { target }
    }
}
