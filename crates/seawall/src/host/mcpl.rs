//! What a host does with all its servers of MCP Live at once, and with one of them.
//!
//! A server that is not up, or does not speak it, is passed over: a hook fails open, and a notification is best effort.

use std::sync::Arc;

use futures_util::future::join_all;

use super::Host;
use crate::client::Mcpl;
use crate::mcpl::hooks::{BeforeInference, Injection};
use crate::mcpl::inference::{Phase, Turn};
use crate::mcpl::lifecycle::ToolCall;
use crate::mcpl::session::CallPhase;

impl Host {
    /// The MCP Live side of a server's live session; `None` if it is not up, or does not speak it. Another session has
    /// another one, with a grant of its own.
    #[must_use]
    pub fn mcpl(&self, server: &str) -> Option<Mcpl> {
        self.live(&server.into()).ok()?.mcpl()
    }

    /// The MCP Live sides of all servers that are up and speak it, in the order of the configuration.
    #[must_use]
    pub fn mcpl_servers(&self) -> Vec<Mcpl> {
        let mut live: Vec<(u64, Mcpl)> = Vec::new();
        for (_, entry) in self.0.world.registry.servers() {
            let standing = entry.standing.borrow();
            let session = standing.session.as_ref();
            let client = session.and_then(|(_, session)| session.client());
            if let Some(mcpl) = client.and_then(crate::client::Client::mcpl) {
                live.push((entry.place(), mcpl));
            }
        }
        live.sort_by_key(|(place, _)| *place);
        live.into_iter().map(|(_, mcpl)| mcpl).collect()
    }

    /// Asks every server that may, side by side, what it has to add before an inference: with the server's id, in the order
    /// of the configuration and of each answer. It takes at most 5 s, and who is late adds nothing
    /// ([`Mcpl::before_inference`]).
    ///
    /// # Cancel safety
    /// Dropping the future abandons the hooks.
    pub async fn before_inference(&self, before: &BeforeInference) -> Vec<(Arc<str>, Injection)> {
        let servers = self.mcpl_servers();
        let hooks = servers.iter().map(|mcpl| mcpl.before_inference(before));
        let added = join_all(hooks).await;
        let mut all = Vec::new();
        for (mcpl, injections) in servers.iter().zip(added) {
            let server: Arc<str> = mcpl.server().into();
            let of_whom = |injection| (Arc::clone(&server), injection);
            all.extend(injections.into_iter().map(of_whom));
        }
        all
    }

    /// Tells every server that may know where a turn stands ([`Mcpl::inference_lifecycle`]); how many were told.
    pub fn inference_lifecycle(&self, turn: &Turn, phase: Phase) -> usize {
        let servers = self.mcpl_servers();
        let told = |mcpl: &&Mcpl| mcpl.inference_lifecycle(turn, phase).is_ok();
        servers.iter().filter(told).count()
    }

    /// Tells every server that may know of a call to a tool of another ([`Mcpl::tool_lifecycle`]); how many were told.
    pub fn tool_lifecycle(&self, call: &ToolCall, phase: CallPhase) -> usize {
        let servers = self.mcpl_servers();
        let told = |mcpl: &&Mcpl| mcpl.tool_lifecycle(call, phase);
        servers.iter().filter(told).count()
    }
}
