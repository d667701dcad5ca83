//! The server's channels: what it registers, each for itself, and those that the configuration opens.

use std::collections::VecDeque;

use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;

use super::admit::Admitted;
use super::{Act, Answer, Ask, Defect, Notice, Session};
use crate::mcpl::channels::{self, ChannelState, Verdict, verdicts};
use crate::mcpl::policy::ChannelSubscription;
use crate::mcpl::wire::Invalid;

/// The channels that the configuration opens, one after the other.
#[derive(Debug, Default)]
pub(super) struct Subscribing {
    waiting: VecDeque<String>,
    /// The one that is being opened.
    opening: Option<String>,
}

impl<K: Clone + PartialEq> Session<K> {
    pub(super) fn register(&mut self, _: Admitted, params: &Json) -> Result<Json, ErrorObject> {
        let judged = self.registry.register(params, |_| true);
        let judged = judged.map_err(Invalid::error)?;
        self.registered(&judged);
        Ok(verdicts(&judged))
    }

    /// `channels/changed` as a request, which has an answer.
    pub(super) fn channels_changed(
        &mut self,
        _: Admitted,
        params: &Json,
    ) -> Result<Json, ErrorObject> {
        let changed = self.registry.changed(params, |_| true);
        let changed = changed.map_err(Invalid::error)?;
        self.registered(&changed.verdicts);
        Ok(verdicts(&changed.verdicts))
    }

    /// `channels/changed` as a notification: what is not taken is told to people, as the server cannot be told (§14.5).
    pub(super) fn channels_told(&mut self, _: &Admitted, params: &Json) {
        match self.registry.changed(params, |_| true) {
            Err(_) => self.defect(Defect::Dropped),
            Ok(changed) => {
                let refused = changed.verdicts.iter();
                let refused = refused.filter(|verdict| verdict.outcome.is_err()).count();
                if refused > 0 {
                    self.defect(Defect::ChannelsRefused(refused));
                }
                self.registered(&changed.verdicts);
            }
        }
    }

    pub(super) fn list_channels(&self, _: Admitted) -> Json {
        self.registry.list()
    }

    /// Tells that channels changed, and opens those that are subscribed to.
    fn registered(&mut self, judged: &[Verdict]) {
        self.tell(Notice::Channels);
        if self.policy.channel_subscription == ChannelSubscription::Manual {
            return;
        }
        let taken = judged.iter().filter(|verdict| verdict.outcome.is_ok());
        for id in taken.filter_map(|verdict| verdict.id.as_deref()) {
            let wanted = self.policy.channel_subscription.opens(id);
            let known = self.subscribing.waiting.iter().any(|waiting| waiting == id)
                || self.subscribing.opening.as_deref() == Some(id);
            let closed = self.registry.get(id).map(|channel| channel.state());
            if wanted && !known && closed == Some(ChannelState::Closed) {
                self.subscribing.waiting.push_back(id.to_owned());
            }
        }
        self.open_next();
    }

    /// Opens the next channel that is subscribed to, if none is being opened.
    pub(super) fn open_next(&mut self) {
        while self.subscribing.opening.is_none()
            && let Some(id) = self.subscribing.waiting.pop_front()
        {
            if self.may_send("channels/open").is_err() {
                self.subscribing.waiting.clear();
                return;
            }
            // It may be gone, or opened, by now.
            if let Some(channel) = self.registry.get(&id)
                && channel.state() == ChannelState::Closed
            {
                let params = channels::open(channel.descriptor());
                self.subscribing.opening = Some(id.clone());
                self.act(Act::Ask(Ask::Open(id), params));
            }
        }
    }

    pub(super) fn opened_by_itself(&mut self, channel: &str, answer: Answer) {
        self.subscribing.opening = None;
        let result = match answer {
            Answer::Result(result) => Some(result),
            Answer::Error(_) | Answer::None => None,
        };
        if self.opened(Some(channel), result.as_ref()).is_none() {
            self.defect(Defect::Answer("channels/open"));
        }
        self.open_next();
    }
}
