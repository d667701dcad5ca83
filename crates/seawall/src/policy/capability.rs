//! What a host lets flows do, and how that is written: `namespace:operation:resource` (F2).

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Writes the enum and its list in one go, so that a variant cannot be missing from [`HostAction::ALL`].
macro_rules! host_actions {
    ($($(#[$doc:meta])* $variant:ident = $namespace:literal : $operation:literal,)+) => {
        /// One thing that a host can let a flow do. Displayed as `namespace:operation`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum HostAction { $($(#[$doc])* $variant,)+ }

        impl HostAction {
            /// Every action, in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The action as it stands in a capability.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => concat!($namespace, ":", $operation),)+ }
            }

            /// The action that a capability is of; `None` if a host has no such action.
            #[must_use]
            pub fn of(capability: &Capability) -> Option<Self> {
                match (capability.namespace(), capability.operation()) {
                    $(($namespace, $operation) => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

host_actions! {
    /// Read files and list folders.
    FsRead = "fs":"read",
    /// Create, change and delete files and folders.
    FsWrite = "fs":"write",
    /// HTTP GET and HEAD.
    NetGet = "net":"get",
    /// HTTP POST.
    NetPost = "net":"post",
    /// HTTP PUT.
    NetPut = "net":"put",
    /// HTTP PATCH.
    NetPatch = "net":"patch",
    /// HTTP DELETE.
    NetDelete = "net":"delete",
    /// Any other connection to a peer.
    NetConnect = "net":"connect",
    /// Accept connections.
    NetListen = "net":"listen",
    /// Start a process.
    ProcSpawn = "proc":"spawn",
    /// Signal a process.
    ProcSignal = "proc":"signal",
    /// Read environment variables.
    EnvRead = "env":"read",
    /// Read stored credentials.
    SecretRead = "secret":"read",
}

impl fmt::Display for HostAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `namespace:operation:resource`, each part non-empty. The resource may itself hold colons, as a URL does, and the wildcards
/// `*` and `**` as segments ([`policy`](super)); namespace and operation are exact.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Capability {
    text: String,
    namespace_end: usize,
    operation_end: usize,
}

/// The text is not `namespace:operation:resource`. One that does not parse authorises nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a capability of the form namespace:operation:resource, where * and ** stand alone between \"/\" of the resource"
)]
pub struct InvalidCapability;

impl Capability {
    /// The part before the first colon.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.text.get(..self.namespace_end).unwrap_or_default()
    }

    /// The part between the first two colons.
    #[must_use]
    pub fn operation(&self) -> &str {
        let operation = self.namespace_end + 1..self.operation_end;
        self.text.get(operation).unwrap_or_default()
    }

    /// The part after the second colon; `**` is every resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        self.text.get(self.operation_end + 1..).unwrap_or_default()
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Capability {
    type Err = InvalidCapability;

    fn from_str(text: &str) -> Result<Self, InvalidCapability> {
        let (namespace, operation, resource) = parts(text).ok_or(InvalidCapability)?;
        if !is_name(namespace) || !is_name(operation) || !is_resource(resource) {
            return Err(InvalidCapability);
        }
        Ok(Self {
            namespace_end: namespace.len(),
            operation_end: namespace.len() + 1 + operation.len(),
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Capability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Capability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// Namespace, operation and resource.
pub(super) fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (namespace, rest) = text.split_once(':')?;
    let (operation, resource) = rest.split_once(':')?;
    Some((namespace, operation, resource))
}

/// Whether a namespace or an operation can be called this.
pub(super) fn is_name(text: &str) -> bool {
    let is_wrong =
        |each: char| matches!(each, '*' | '/') || each.is_whitespace() || each.is_control();
    !text.is_empty() && !text.contains(is_wrong)
}

/// Whether a resource can be written so.
pub(super) fn is_resource(text: &str) -> bool {
    let is_segment = |segment: &str| match segment {
        "*" | "**" => true,
        "." | ".." => false,
        other => !other.contains('*'),
    };
    !text.is_empty() && !text.contains(char::is_control) && text.split('/').all(is_segment)
}

/// What every tool declares unless a grant narrows it: each [`HostAction`] on `**` (F2).
///
/// Spelled out, not one wildcard: an envelope refuses what does not parse, and `*` parses as nothing.
#[must_use]
pub fn capabilities() -> &'static [Capability] {
    static ALL: LazyLock<Vec<Capability>> = LazyLock::new(|| {
        let whole = |action: &HostAction| format!("{action}:**").parse().ok();
        HostAction::ALL.iter().filter_map(whole).collect()
    });
    &ALL
}
