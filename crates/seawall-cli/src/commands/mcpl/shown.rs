//! A channel, a denial and a policy, as they are shown.

use seawall::Json;
use seawall::mcpl::channels::{Channel, ChannelState};
use seawall::mcpl::session::{Policy, Refusal};
use seawall::mcpl::{Capability, Grant};
use serde::Serialize;

/// A channel, and what its server is granted there.
#[derive(Debug, Clone, Serialize)]
pub(in crate::commands) struct ShownChannel {
    pub(in crate::commands) server: String,
    pub(in crate::commands) id: String,
    #[serde(rename = "type")]
    pub(in crate::commands) kind: String,
    pub(in crate::commands) label: String,
    pub(in crate::commands) direction: &'static str,
    pub(in crate::commands) open: bool,
    /// What may be done there, by the grant and the channel's direction.
    pub(in crate::commands) may: Vec<&'static str>,
    /// As the server wrote it.
    descriptor: Json,
}

impl ShownChannel {
    pub(in crate::commands) fn of(server: &str, channel: &Channel, grant: &Grant) -> Self {
        let descriptor = channel.descriptor();
        let direction = descriptor.direction();
        let (takes, brings) = (direction.takes(), direction.brings());
        let all = [
            ("publish", takes, Capability::ChannelsPublish),
            ("stream", takes, Capability::ChannelsStreaming),
            ("receive", brings, Capability::ChannelsIncoming),
            ("acknowledge", brings, Capability::ChannelsAcknowledge),
            ("type", takes, Capability::ChannelsTyping),
            ("open", true, Capability::ChannelsLifecycle),
        ];
        let may = all
            .into_iter()
            .filter(|(_, fits, needs)| *fits && grant.allows(*needs))
            .map(|(word, ..)| word);
        Self {
            server: server.to_owned(),
            id: descriptor.id().to_owned(),
            kind: descriptor.kind().to_owned(),
            label: descriptor.label().to_owned(),
            direction: direction.as_str(),
            open: channel.state() == ChannelState::Open,
            may: may.collect(),
            descriptor: descriptor.json().clone(),
        }
    }
}

/// Where a policy exchange stands, in a word, and why a server is a plain one.
pub(in crate::commands) fn policy_words(policy: Policy) -> (&'static str, Option<Refusal>) {
    match policy {
        Policy::InForce => ("in_force", None),
        Policy::McpOnly(why) => ("mcp_only", Some(why)),
        Policy::Ended => ("ended", None),
        _ => ("pending", None),
    }
}

/// Why a server is not granted a capability, in words that follow "it".
pub(in crate::commands) fn denial(wanted: &Grant, capability: Capability) -> String {
    let denied = wanted.denied().iter();
    let why = denied
        .filter(|denied| denied.capability == capability)
        .map(|denied| denied.why.to_string())
        .next();
    match why {
        Some(why) => format!("is not granted {capability}: {why}"),
        None => format!("does not advertise {capability}"),
    }
}
