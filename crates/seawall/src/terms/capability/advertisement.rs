//! What the two sides say they can do, out of and into `experimental.mcpl`.

use seawall_proto::Json;
use serde_json::{Map, Value};

use super::vocabulary::{Capability, CapabilitySet};

/// The version of MCP Live that this host speaks. Nobody negotiates on it: what is advertised decides.
const VERSION: &str = "0.5";

/// The capabilities that a server says it has. An input to its grant, and never an authority.
///
/// Source: MCP Live 0.5.0-draft §5.1, §5.4.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Advertisement(CapabilitySet);

impl Advertisement {
    /// What an `experimental.mcpl` object advertises. `true` stands for every leaf beneath its node; what is unknown, stands
    /// there twice, or is of another type, mints nothing. MCP's own `tools` is not in that object, so it is not in here.
    #[must_use]
    pub fn of(manifest: &Json) -> Self {
        let vocabulary = Capability::ALL.iter().copied();
        Self(
            vocabulary
                .filter(|capability| *capability != Capability::Tools)
                .filter(|capability| advertises(manifest, *capability))
                .collect(),
        )
    }

    /// What the `capabilities` of an `initialize` result advertise, its tools included; `None` of a server that does not
    /// speak MCP Live.
    #[must_use]
    pub fn of_server(capabilities: &Json) -> Option<Self> {
        let advertised = Self::of(&manifest_of(capabilities)?);
        match capabilities.pick(["tools"]) {
            Ok([Some(tools)]) if is_object(&tools) => Some(advertised.with_tools()),
            _ => Some(advertised),
        }
    }

    /// The same of a server that offers tools.
    #[must_use]
    pub fn with_tools(mut self) -> Self {
        self.0.insert(Capability::Tools);
        self
    }

    /// Whether a capability is advertised.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        self.0.contains(capability)
    }

    /// The capabilities that are advertised.
    #[must_use]
    pub fn capabilities(&self) -> &CapabilitySet {
        &self.0
    }
}

/// The manifest of a server: the object `experimental.mcpl` in the `capabilities` of its `initialize` result. `None` of a
/// server that has none, or has two: it is a plain server of MCP.
///
/// Source: MCP Live 0.5.0-draft §3.3, §5.1.
#[must_use]
pub fn manifest_of(capabilities: &Json) -> Option<Json> {
    let only = |object: &Json, name| object.pick([name]).ok().and_then(|[found]| found);
    only(&only(capabilities, "experimental")?, "mcpl").filter(is_object)
}

/// What this host puts in `experimental.mcpl` of its `initialize`: each leaf that it implements, spelled out, since `true` on
/// a node would promise every leaf beneath it.
///
/// Source: MCP Live 0.5.0-draft §5.2.
#[must_use]
pub fn host_advertisement(offered: &CapabilitySet) -> Value {
    let mut root = Map::new();
    root.insert("version".to_owned(), VERSION.into());
    root.insert("featureSets".to_owned(), true.into());
    let said = offered.iter().filter(|each| *each != Capability::Tools);
    for capability in said {
        place(&mut root, capability.as_str());
    }
    let inference = Capability::InferenceRequest;
    if offered.contains(inference) && !offered.contains(Capability::InferenceRequestStreaming) {
        let alone = serde_json::json!({ "streaming": false });
        root.insert(inference.as_str().to_owned(), alone);
    }
    Value::Object(root)
}

/// Whether the manifest says `true` at the capability's path or above it. A leaf that has leaves beneath it, as
/// `inferenceRequest` does, is also advertised by the object that says which of them.
fn advertises(manifest: &Json, capability: Capability) -> bool {
    let path = capability.as_str();
    let mut node = manifest.clone();
    for name in path.split('.') {
        match node.pick([name]) {
            Ok([Some(value)]) => node = value,
            _ => return false,
        }
        if node.as_str() == "true" {
            return true;
        }
    }
    let is_above = |other: &&Capability| {
        let rest = other.as_str().strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    is_object(&node) && Capability::ALL.iter().any(|other| is_above(&other))
}

fn is_object(json: &Json) -> bool {
    json.as_bytes().first() == Some(&b'{')
}

/// Writes `true` at the path. A node that is a leaf too comes first and becomes an object by its leaves.
fn place(object: &mut Map<String, Value>, path: &str) {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), Value::Bool(true));
        }
        Some((name, beneath)) => {
            let node = object.entry(name).or_insert_with(|| Value::Bool(true));
            if node.is_boolean() {
                *node = Value::Object(Map::new());
            }
            if let Value::Object(node) = node {
                place(node, beneath);
            }
        }
    }
}
