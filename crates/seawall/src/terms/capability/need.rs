//! Which capability each method needs, in each direction.

use seawall_proto::Json;

use super::vocabulary::Capability;

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The server, to the host.
    FromServer,
    /// The host, to the server.
    ToServer,
}

/// What a grant has to hold for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// Nothing: the message gives no authority and uses none.
    Nothing,
    /// All of these.
    All(&'static [Capability]),
    /// One of these, whichever.
    Any(&'static [Capability]),
    /// What no grant gives: the message commands the host itself, and is denied whoever sends it.
    HostAuthority,
}

const PUSH_EVENTS: Need = Need::All(&[Capability::PushEvents]);
const MODEL_INFO: Need = Need::All(&[Capability::ModelInfo]);
const INFERENCE: Need = Need::All(&[Capability::InferenceRequest]);
const STREAMED_INFERENCE: Need = Need::All(&[
    Capability::InferenceRequest,
    Capability::InferenceRequestStreaming,
]);
const INFERENCE_LIFECYCLE: Need = Need::All(&[Capability::InferenceLifecycle]);
const BEFORE_INFERENCE: Need = Need::Any(&[
    Capability::Observe,
    Capability::InjectSystem,
    Capability::InjectBeforeUser,
    Capability::InjectAfterUser,
]);
const REGISTER: Need = Need::All(&[Capability::ChannelsRegister]);
const LIFECYCLE: Need = Need::All(&[Capability::ChannelsLifecycle]);
const PUBLISH: Need = Need::All(&[Capability::ChannelsPublish]);
const INCOMING: Need = Need::All(&[Capability::ChannelsIncoming]);
const STREAMING: Need = Need::All(&[Capability::ChannelsStreaming]);
const ACKNOWLEDGE: Need = Need::All(&[Capability::ChannelsAcknowledge]);
const TYPING: Need = Need::All(&[Capability::ChannelsTyping]);
const OBSERVE_TOOLS: Need = Need::All(&[Capability::ToolLifecycleObserve]);
const TOOLS: Need = Need::All(&[Capability::Tools]);

/// What a method needs in one direction; `None` of one that is no method of MCP Live there, which is answered with -32601.
/// Methods that 0.5 removed are none.
///
/// Source: MCP Live 0.5.0-draft §4.1, §14.1; RFC-002 §3; RFC-007.
#[must_use]
pub fn needed_for(direction: Direction, method: &str, params: Option<&Json>) -> Option<Need> {
    match direction {
        Direction::FromServer => from_server(method, params),
        Direction::ToServer => to_server(method),
    }
}

fn from_server(method: &str, params: Option<&Json>) -> Option<Need> {
    Some(match method {
        "push/event" => PUSH_EVENTS,
        "inference/request" if wants_stream(params) => STREAMED_INFERENCE,
        "inference/request" => INFERENCE,
        "model/info" => MODEL_INFO,
        "channels/register" | "channels/changed" | "channels/list" => REGISTER,
        "channels/incoming" => INCOMING,
        "tools/observe" => OBSERVE_TOOLS,
        // Ungated on purpose: to gate it would silence just the servers whose grants were narrowed (§17.3).
        "mcpl/manifestChanged" => Need::Nothing,
        "host/command" => Need::HostAuthority,
        _ => return None,
    })
}

fn to_server(method: &str) -> Option<Need> {
    Some(match method {
        "featureSets/update" | "mcpl/manifest" => Need::Nothing,
        "context/beforeInference" => BEFORE_INFERENCE,
        "inference/lifecycle" => INFERENCE_LIFECYCLE,
        "inference/chunk" => STREAMED_INFERENCE,
        "channels/list" => REGISTER,
        "channels/open" | "channels/close" => LIFECYCLE,
        "channels/publish" => PUBLISH,
        "channels/outgoing/chunk" | "channels/outgoing/complete" => STREAMING,
        "channels/acknowledge" => ACKNOWLEDGE,
        "channels/typing" => TYPING,
        "tools/lifecycle" => OBSERVE_TOOLS,
        "state/rollback" => TOOLS,
        _ => return None,
    })
}

/// Whether `stream` is asked for, also where it stands there twice: the more that is needed, the safer.
fn wants_stream(params: Option<&Json>) -> bool {
    params.is_some_and(|params| match params.pick(["stream"]) {
        Ok([stream]) => stream.is_some_and(|stream| stream.as_str() == "true"),
        Err(_) => true,
    })
}
