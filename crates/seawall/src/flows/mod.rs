//! A tool as a flow: its name, its declaration, and the digest of that (F1, F2, F3, F5).
//!
//! A flow is what callers see of a tool: a name scoped by its server, a description that says whose text it is, the
//! server's own schemas by value, and one declaration of authority and effects that all tools share, since a tool is
//! code that nobody here controls. Arguments are never validated here: the server owns that decision.
//!
//! **Invariant:** a declaration is a function of the catalog entry, the server's id, the prefix and the [`Grant`] alone; the
//! same of them give the same [`Digest`] in every process.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use seawall_proto::Json;
use seawall_proto::mcp::{Catalog, Tool};
use tokio::task::yield_now;

pub(crate) mod canonical;
mod class;
mod digest;
mod effects;
#[cfg(test)]
pub(crate) mod tests;

pub use class::ToolClass;
pub use digest::{Digest, InvalidDigest};
pub use effects::{Effects, Mode, Tier};

pub use crate::policy::{Capability, HostAction, InvalidCapability, OnConflict, capabilities};

use crate::policy::Grant;
use digest::Shared;

/// So much of the tools is declared in one turn of the runtime.
const TURN_BYTES: usize = 64 * 1024;

/// A remote tool as callers see it. Clones share everything.
///
/// Its result is a [`ToolResult`](seawall_proto::mcp::ToolResult): `content`, `is_error`, and `structured_content` if the
/// server sent one. A result that says `isError` is data, not a failure of the call.
#[derive(Clone)]
pub struct Flow(Arc<Declaration>);

struct Declaration {
    name: String,
    server: Arc<str>,
    tool: String,
    description: String,
    input: Json,
    output: Option<Json>,
    capabilities: Arc<[Capability]>,
    effects: Effects,
    class: ToolClass,
    digest: Digest,
    entry: Json,
    read_only: bool,
}

impl Flow {
    /// The flow of one tool (F1), declared as the server's grant says (F4).
    #[must_use]
    pub fn of(tool: &Tool, server: &Arc<str>, prefix: &str, grant: &Grant) -> Self {
        Self::declared(tool, server, prefix, &Shared::of(grant))
    }

    fn declared(tool: &Tool, server: &Arc<str>, prefix: &str, shared: &Shared) -> Self {
        let name = format!("{prefix}/{}", tool.name());
        let mut description = format!("MCP tool \"{}\" on server \"{server}\"", tool.name());
        if let Some(text) = tool.description() {
            description.push_str(". Server-supplied description: ");
            description.push_str(text);
        }
        let digest = Digest::of_declaration(
            &name,
            &description,
            shared,
            tool.input_schema(),
            tool.output_schema(),
        );
        Self(Arc::new(Declaration {
            name,
            server: Arc::clone(server),
            tool: tool.name().to_owned(),
            description,
            input: tool.input_schema().clone(),
            output: tool.output_schema().cloned(),
            capabilities: Arc::clone(&shared.capabilities),
            effects: shared.effects,
            class: ToolClass::of(tool.raw()),
            digest,
            entry: tool.raw().clone(),
            read_only: says_read_only(tool.raw()),
        }))
    }

    /// `<prefix>/<tool>`. A tool's name has no `/`, so the last one ends the prefix.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The id of the server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// The tool's own name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    /// What the tool is, and the server's words about it marked as the server's. Text for display: not sanitised.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// The server's input schema, byte for byte. Any object is accepted as input: the server validates it.
    #[must_use]
    pub fn input_document(&self) -> &Json {
        &self.0.input
    }

    /// The server's output schema, byte for byte, if it declared one.
    #[must_use]
    pub fn output_document(&self) -> Option<&Json> {
        self.0.output.as_ref()
    }

    /// The server's own entry of its list, byte for byte, with everything in it that Seawall knows nothing of. Not a part of
    /// the declaration.
    #[must_use]
    pub fn entry(&self) -> &Json {
        &self.0.entry
    }

    /// Whether the server marks the tool as one that changes nothing (`annotations.readOnlyHint: true`). Its word, and no
    /// more; not a part of the declaration.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.0.read_only
    }

    /// What a call may do to the host: every [`HostAction`] on every resource (F2), or what the server's grant narrows that
    /// to (F4). The same for every tool of a server; a caller's envelope has to cover all of it.
    #[must_use]
    pub fn capabilities(&self) -> &[Capability] {
        &self.0.capabilities
    }

    /// What a call may do to the world (F2): the same for every tool of a server.
    #[must_use]
    pub fn effects(&self) -> Effects {
        self.0.effects
    }

    /// What the tool says of itself. Not a part of the declaration.
    #[must_use]
    pub fn class(&self) -> ToolClass {
        self.0.class
    }

    /// The digest of the declaration (F3). A call made under another digest was made for another declaration.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0.digest
    }
}

impl fmt::Debug for Flow {
    /// Name, server and digest; never the server's description or schemas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow")
            .field("name", &self.0.name)
            .field("server", &self.0.server)
            .field("digest", &self.0.digest)
            .finish_non_exhaustive()
    }
}

/// A selection of tools that the catalog cannot satisfy (K11).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// `include` names tools that the catalog lacks; the connect fails with `tool_not_found`.
    #[error(
        "its catalog lacks {}, which the configuration includes",
        quoted(missing)
    )]
    MissingTools {
        /// The names, as configured, each once, in the configured order.
        missing: Vec<String>,
    },
}

/// Two flows of one name (F5).
///
/// The text names the servers, whose ids are configured, and not the flow, whose name a server chose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "servers {first:?} and {second:?} give two flows the same name; set another namePrefix on one"
)]
pub struct DuplicateFlow {
    /// The name that both have.
    pub name: String,
    /// The server of the flow that came first.
    pub first: String,
    /// The server of the other one.
    pub second: String,
}

/// The prefix of a server's flows where its entry sets no `namePrefix`: `mcp/<server>`.
#[must_use]
pub fn default_prefix(server: &str) -> String {
    format!("mcp/{server}")
}

/// The flows of a catalog, in its order: tools that `include` names, or all if it is empty, without those that `exclude`
/// names (K11), declared as `grant` says (F4). Names are exact. A tool that was quarantined is not in the catalog.
///
/// # Errors
/// [`ProjectError::MissingTools`] if `include` names a tool that the catalog lacks, also when `exclude` names it too.
/// An `exclude` that matches nothing is fine: what it asks for is so.
pub fn project(
    catalog: &Catalog,
    server: &Arc<str>,
    prefix: &str,
    include: &[String],
    exclude: &[String],
    grant: &Grant,
) -> Result<Vec<Flow>, ProjectError> {
    let shared = Shared::of(grant);
    let tools = selected(catalog, include, exclude)?;
    Ok(tools
        .map(|tool| Flow::declared(tool, server, prefix, &shared))
        .collect())
}

/// As [`project`], and lets others run in between: a digest reads the whole of its tool, and a list may be long.
///
/// # Errors
/// As of [`project`].
///
/// # Cancel safety
/// Nothing is kept of it.
pub(crate) async fn project_in_turns(
    catalog: &Catalog,
    server: &Arc<str>,
    prefix: &str,
    include: &[String],
    exclude: &[String],
    grant: &Grant,
) -> Result<Vec<Flow>, ProjectError> {
    let shared = Shared::of(grant);
    let mut flows = Vec::new();
    let mut read = 0;
    for tool in selected(catalog, include, exclude)? {
        if read >= TURN_BYTES {
            read = 0;
            yield_now().await;
        }
        read += tool.raw().as_bytes().len();
        flows.push(Flow::declared(tool, server, prefix, &shared));
    }
    Ok(flows)
}

/// The tools that `include` names, or all if it is empty, without those that `exclude` names (K11).
fn selected<'c>(
    catalog: &'c Catalog,
    include: &'c [String],
    exclude: &'c [String],
) -> Result<impl Iterator<Item = &'c Tool>, ProjectError> {
    let mut included = BTreeSet::new();
    let mut missing = Vec::new();
    for name in include {
        if included.insert(name.as_str()) && catalog.get(name).is_none() {
            missing.push(name.clone());
        }
    }
    if !missing.is_empty() {
        return Err(ProjectError::MissingTools { missing });
    }
    let excluded: BTreeSet<&str> = exclude.iter().map(String::as_str).collect();
    Ok(catalog
        .tools()
        .iter()
        .filter(move |tool| included.is_empty() || included.contains(tool.name()))
        .filter(move |tool| !excluded.contains(tool.name())))
}

/// All flows together, in the order given (F5).
///
/// # Errors
/// [`DuplicateFlow`] for the first flow whose name an earlier one has.
pub fn compose(flows: impl IntoIterator<Item = Flow>) -> Result<Vec<Flow>, DuplicateFlow> {
    let flows: Vec<Flow> = flows.into_iter().collect();
    let mut seen: HashMap<&str, &Flow> = HashMap::with_capacity(flows.len());
    for flow in &flows {
        if let Some(first) = seen.insert(flow.name(), flow) {
            return Err(DuplicateFlow {
                name: flow.name().to_owned(),
                first: first.server().to_owned(),
                second: flow.server().to_owned(),
            });
        }
    }
    Ok(flows)
}

fn says_read_only(entry: &Json) -> bool {
    let hint = entry
        .member("annotations")
        .and_then(|annotations| annotations.member("readOnlyHint"));
    hint.is_some_and(|hint| hint.as_bytes() == b"true")
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    quoted.join(", ")
}
