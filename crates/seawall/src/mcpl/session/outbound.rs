//! What the host sends a server: whether it may, and what it says.

use std::time::Duration;

use seawall_proto::Json;

use super::{Defect, Notice, Session};
use crate::mcpl::capability::Capability;
use crate::mcpl::channels::{self, Channel, Intent, Place, Publication, PublishError, TypingOp};
use crate::mcpl::content::Provenance;
use crate::mcpl::hooks::{BeforeInference, Contribution, Injection};
use crate::mcpl::inference::{Phase, Turn};
use crate::mcpl::lifecycle::{CallEnd, Granted, ToolCall};

/// Where a call of a tool stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallPhase {
    /// It waits for somebody's consent.
    Pending,
    /// It begins.
    Started,
    /// It ended, having run for so long, if it had begun.
    Ended(CallEnd, Option<Duration>),
}

/// Why nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsent {
    /// The server is not granted it, or has not acknowledged that it is.
    #[error("the server is not granted {0}")]
    Denied(Capability),
    /// There is no such channel (-32023).
    #[error("the channel is not registered")]
    UnknownChannel,
    /// The message may not go to that channel so.
    #[error("{0}")]
    Publication(PublishError),
    /// A turn's beginning was told before, or its end; or its beginning was not told.
    #[error("that was told of the turn before, or its beginning was not")]
    Turn,
    /// The server does not want it, or is not to know.
    #[error("the server is not told of that")]
    Unwanted,
    /// It is none of the host's methods.
    #[error("the host does not send that")]
    Method,
}

impl<K: Clone + PartialEq> Session<K> {
    /// Whether a message of this method may be sent now.
    pub(crate) fn sends(&self, method: &str) -> Result<(), Unsent> {
        self.may_send(method)
            .map_err(|lacking| lacking.map_or(Unsent::Method, Unsent::Denied))
    }

    /// What the hook shows this server, if it is to be asked at all.
    pub(crate) fn hook(&self, before: &BeforeInference) -> Option<Json> {
        self.sends("context/beforeInference").ok()?;
        let observes = self.in_force.allows(Capability::Observe);
        Json::of(&before.params(observes)).ok()
    }

    /// So many hooks wait for this server now; while there is one, it may ask for no inference.
    pub(crate) fn hooks_under_way(&mut self, hooks: usize) {
        self.hooks = hooks;
    }

    /// What of the answer to a hook may be added to the context, as things are at this moment (§5.4, §10.8).
    pub(crate) fn contribution(&mut self, result: &Json) -> Vec<Injection> {
        let Ok(contribution) = Contribution::of(result) else {
            self.defect(Defect::Contribution);
            return Vec::new();
        };
        if contribution.invalid > 0 {
            self.defect(Defect::Contribution);
        }
        let mut authorised = Vec::new();
        for mut injection in contribution.injections {
            let needs = injection.position.needs();
            if !self.in_force.allows(needs) {
                let position = injection.position;
                self.defect(Defect::Injection { position });
            } else if self.may_use(&contribution.feature_set, needs).is_err() {
                self.defect(Defect::Contribution);
            } else {
                self.references
                    .admit(&mut injection.content, Provenance::Injection);
                authorised.push(injection);
            }
        }
        if !authorised.is_empty() && !std::mem::replace(&mut self.injected, true) {
            self.defect(Defect::Deprecated);
        }
        authorised
    }

    /// The parameters of `tools/lifecycle` of a call, if this server is to be told.
    pub(crate) fn tool(&mut self, call: &ToolCall, phase: CallPhase) -> Option<Json> {
        let granted = match (
            self.in_force.allows(Capability::ToolLifecycleObserve),
            self.in_force.allows(Capability::ToolLifecycleInputs),
        ) {
            (false, _) => Granted::Nothing,
            (true, false) => Granted::Observe,
            (true, true) => Granted::ObserveAndInputs,
        };
        match phase {
            CallPhase::Pending => self.observer.pending(call, granted),
            CallPhase::Started => self.observer.started(call, granted),
            CallPhase::Ended(end, ran) => self.observer.ended(call, end, ran, granted),
        }
    }

    /// The parameters of `inference/lifecycle`.
    pub(crate) fn turn(&mut self, turn: &Turn, phase: Phase) -> Result<Json, Unsent> {
        self.sends("inference/lifecycle")?;
        let with_model = self.in_force.allows(Capability::ModelInfo);
        let params = self.turns.tell(turn, phase, with_model);
        let params = params.and_then(|params| Json::of(&params).ok());
        params.ok_or(Unsent::Turn)
    }

    /// A message to a channel.
    pub(crate) fn publication(
        &self,
        conversation: &str,
        channel: &str,
        place: Place,
        content: &Json,
    ) -> Result<Publication, Unsent> {
        self.sends("channels/publish")?;
        Publication::to(&self.registry, conversation, channel, place, content)
            .map_err(Unsent::Publication)
    }

    /// The parameters of `channels/open`, of a channel that is registered.
    pub(crate) fn opening(&self, channel: &str) -> Result<Json, Unsent> {
        self.sends("channels/open")?;
        Ok(channels::open(self.channel(channel)?.descriptor()))
    }

    /// Takes the answer to `channels/open`; the channel, if it was opened.
    pub(crate) fn opened(
        &mut self,
        channel: Option<&str>,
        result: Option<&Json>,
    ) -> Option<Channel> {
        // What was taken away meanwhile is not opened any more.
        self.sends("channels/open").ok()?;
        let opened = self.registry.opened(channel, result?, |_| true);
        let opened = opened.ok().cloned()?;
        self.tell(Notice::Channels);
        Some(opened)
    }

    /// The parameters of `channels/close`, of a channel that is registered.
    pub(crate) fn closing(&self, channel: &str) -> Result<Json, Unsent> {
        self.sends("channels/close")?;
        self.channel(channel)?;
        Ok(channels::close(channel))
    }

    /// Takes the answer to `channels/close`; whether it was closed.
    pub(crate) fn closed(&mut self, channel: &str, result: &Json) -> bool {
        let said = result.member("closed");
        let closed = said.is_some_and(|said| said.as_str() == "true");
        if closed {
            self.registry.closed(channel);
            self.tell(Notice::Channels);
        }
        closed
    }

    /// The parameters of `channels/acknowledge`.
    pub(crate) fn acknowledging(
        &self,
        channel: &str,
        message: &str,
        intent: Intent<'_>,
    ) -> Result<Json, Unsent> {
        self.sends("channels/acknowledge")?;
        self.channel(channel)?;
        Ok(channels::acknowledge(channel, message, intent))
    }

    /// The parameters of `channels/typing`.
    pub(crate) fn typing(&self, channel: &str, op: TypingOp) -> Result<Json, Unsent> {
        self.sends("channels/typing")?;
        self.channel(channel)?;
        Ok(channels::typing(channel, op))
    }

    /// Whether what a model says may be told to the server of this channel while it is said.
    pub(crate) fn streams_to(&self, channel: &str) -> Result<(), Unsent> {
        self.sends("channels/outgoing/chunk")?;
        let channel = self.channel(channel)?;
        if channel.descriptor().direction().takes() {
            Ok(())
        } else {
            Err(Unsent::Publication(PublishError::Inbound))
        }
    }

    fn channel(&self, channel: &str) -> Result<&Channel, Unsent> {
        self.registry.get(channel).ok_or(Unsent::UnknownChannel)
    }
}
